"""Bits of the options ``disableflags`` and ``enableflags`` as programs see them.

The memory contains the bits of the engine (those of MuJoCo 3.1.6). In a process with compat 4.0, programs see and set
the bits of 4.0.0 (see `cardan.enums.flags`).
"""

from __future__ import annotations

from typing import Any

from cardan.enums.flags import flags_inward, flags_outward
from cardan.model.attributes import number_of

DISABLE, ENABLE = "opt.disableflags", "opt.enableflags"


def _seen(memory: Any) -> tuple[int, int]:
    """Return both options as programs see them."""
    return flags_outward(memory.scalars[DISABLE].item(), memory.scalars[ENABLE].item())


def _set_disabled(memory: Any, value: int) -> None:
    """Set ``disableflags``, in bits that programs see; features with inverted bits are enabled or not."""
    disable, enable = flags_inward(value, _seen(memory)[1])
    memory.scalars[DISABLE][0], memory.scalars[ENABLE][0] = disable, enable


def _set_enabled(memory: Any, value: int) -> None:
    """Set ``enableflags``, in bits that programs see; features with inverted bits are kept."""
    memory.scalars[ENABLE][0] = flags_inward(_seen(memory)[0], value)[1]


def _flags(name: str, doc: str) -> property:
    """Return the property of `MjOption` for one of the two options."""
    place, put = (0, _set_disabled) if name == DISABLE else (1, _set_enabled)

    def read(self: Any) -> int:
        return _seen(self._memory)[place]

    def write(self: Any, value: Any) -> None:
        put(self._memory, number_of(name, value, "i"))
        self._changed(name)

    return property(read, write, doc=doc)


disableflags = _flags(DISABLE, "bits of the features that are switched off (mjtDisableBit)")
enableflags = _flags(ENABLE, "bits of the optional features that are switched on (mjtEnableBit)")
