"""Bits of the options ``disableflags`` and ``enableflags`` as programs see them.

The memory contains the bits of the engine (those of MuJoCo 3.1.6). In a process with compat 4.0, programs see the bits
of 4.0.0, where three features that the engine enables are disabled instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cardan.enums.numbering import bits_inward, bits_outward, is_later, later
from cardan.enums.options import mjtDisableBit, mjtEnableBit
from cardan.model.attributes import number_of

DISABLE, ENABLE = "opt.disableflags", "opt.enableflags"
PASSIVE = int(mjtDisableBit.mjDSBL_PASSIVE)
PASSIVE_PARTS = mjtDisableBit.mjDSBL_SPRING | mjtDisableBit.mjDSBL_DAMPER

_BITS_OF_4_0 = later(mjtDisableBit)
INVERTED = {
    int(mjtEnableBit.mjENBL_NATIVECCD): int(_BITS_OF_4_0.mjDSBL_NATIVECCD),
    int(mjtEnableBit.mjENBL_ISLAND): int(_BITS_OF_4_0.mjDSBL_ISLAND),
    int(mjtEnableBit.mjENBL_MULTICCD): int(_BITS_OF_4_0.mjDSBL_MULTICCD),
}
"""Bits that enable features, by which the engine knows them, and the bits of 4.0 that disable them."""


def _disabled(disable: int, enable: int) -> int:
    """Return ``disableflags`` of MuJoCo 4.0 for the bits of the engine."""
    if disable & PASSIVE:
        disable |= PASSIVE_PARTS
    inverted = sum(bit for feature, bit in INVERTED.items() if not enable & feature)
    return bits_outward(mjtDisableBit, disable) | inverted


def _set_disabled(memory: Any, value: int) -> None:
    rest = value & ~sum(INVERTED.values())
    enable = memory.scalars[ENABLE].item() & ~sum(INVERTED)
    memory.scalars[ENABLE][0] = enable | sum(feature for feature, bit in INVERTED.items() if not value & bit)
    memory.scalars[DISABLE][0] = bits_inward(mjtDisableBit, rest)


def _set_enabled(memory: Any, value: int) -> None:
    inverted = memory.scalars[ENABLE].item() & sum(INVERTED)
    memory.scalars[ENABLE][0] = inverted | bits_inward(mjtEnableBit, value)


def _flags(name: str, doc: str, get: Callable[[int, int], int], put: Callable[[Any, int], None]) -> property:
    """Return the property of `MjOption` for one of the two options; `get` and `put` convert for MuJoCo 4.0."""

    def read(self: Any) -> int:
        scalars = self._memory.scalars
        if is_later():
            return get(scalars[DISABLE].item(), scalars[ENABLE].item())
        return scalars[name].item()

    def write(self: Any, value: Any) -> None:
        number = number_of(name, value, "i")
        if is_later():
            put(self._memory, number)
        else:
            self._memory.scalars[name][0] = number
        self._changed(name)

    return property(read, write, doc=doc)


disableflags = _flags(DISABLE, "bits of the features that are switched off (mjtDisableBit)", _disabled, _set_disabled)
enableflags = _flags(
    ENABLE,
    "bits of the optional features that are switched on (mjtEnableBit)",
    lambda disable, enable: bits_outward(mjtEnableBit, enable),
    _set_enabled,
)
