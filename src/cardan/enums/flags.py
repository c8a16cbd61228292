"""Conversion of the options ``disableflags`` and ``enableflags`` between the engine and the version of the process.

The engine has the bits of MuJoCo 3.1.6. In MuJoCo 4.0, three features that the engine enables are disabled instead, and
two bits replace the bit of all passive forces.
"""

from __future__ import annotations

from cardan.enums.numbering import bits_inward, bits_outward, is_later, later
from cardan.enums.options import mjtDisableBit, mjtEnableBit

PASSIVE = int(mjtDisableBit.mjDSBL_PASSIVE)
PASSIVE_PARTS = mjtDisableBit.mjDSBL_SPRING | mjtDisableBit.mjDSBL_DAMPER

_BITS_OF_4_0 = later(mjtDisableBit)
INVERTED = {
    int(mjtEnableBit.mjENBL_NATIVECCD): int(_BITS_OF_4_0.mjDSBL_NATIVECCD),
    int(mjtEnableBit.mjENBL_ISLAND): int(_BITS_OF_4_0.mjDSBL_ISLAND),
    int(mjtEnableBit.mjENBL_MULTICCD): int(_BITS_OF_4_0.mjDSBL_MULTICCD),
}
"""Bits that enable features, by which the engine knows them, and the bits of 4.0 that disable them."""


def flags_outward(disable: int, enable: int) -> tuple[int, int]:
    """Convert ``disableflags`` and ``enableflags`` of the engine to the bits that programs see."""
    if not is_later():
        return disable, enable
    if disable & PASSIVE:
        disable |= PASSIVE_PARTS
    inverted = sum(bit for feature, bit in INVERTED.items() if not enable & feature)
    return bits_outward(mjtDisableBit, disable) | inverted, bits_outward(mjtEnableBit, enable)


def flags_inward(disable: int, enable: int) -> tuple[int, int]:
    """Convert ``disableflags`` and ``enableflags`` from the bits that programs see to those of the engine.

    Raises:
        ValueError: the enumeration has no members with some of the bits.
    """
    if not is_later():
        return disable, enable
    features = sum(feature for feature, bit in INVERTED.items() if not disable & bit)
    return bits_inward(mjtDisableBit, disable & ~sum(INVERTED.values())), bits_inward(mjtEnableBit, enable) | features


def marks_outward(disable: int, enable: int) -> tuple[int, int]:
    """Convert marks of single flags, at the bits of the engine, to the bits of these flags that programs see."""
    if not is_later():
        return disable, enable
    inverted = sum(bit for feature, bit in INVERTED.items() if enable & feature)
    if disable & PASSIVE:
        disable |= PASSIVE_PARTS
    return bits_outward(mjtDisableBit, disable) | inverted, bits_outward(mjtEnableBit, enable)
