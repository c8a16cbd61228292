"""Settings as structs: physics options, compiler settings, visual settings, statistics."""

from __future__ import annotations

from typing import Any

from cardan.enums import mjtDisableBit, mjtEnableBit
from cardan.spec.mjspec.enumerations import mjtInertiaFromGeom
from cardan.spec.mjspec.struct import Struct, fields
from cardan.spec.schema.settings import COMPILER, FLAG, LENGTH_RANGE_ROW, OPTION, STATISTIC, VISUAL

_DISABLE = {name: getattr(mjtDisableBit, f"mjDSBL_{name.upper()}", None) for name in FLAG.attributes}
_ENABLE = {name: getattr(mjtEnableBit, f"mjENBL_{name.upper()}", None) for name in FLAG.attributes}


@fields(OPTION, drop=("actuatorgroupdisable",))
class MjsOption(Struct):
    """Physics options, with the names of ``mjOption``."""

    def _flags(self, bits: dict[str, Any], value: bool) -> int:
        """Return the bits of the flags that have the value."""
        flags = self.element.child("flag").resolved()
        return sum(int(bit) for name, bit in bits.items() if bit is not None and flags[name] is value)

    def _set_flags(self, bits: dict[str, Any], value: bool, number: int, attribute: str) -> None:
        known = sum(int(bit) for bit in bits.values() if bit is not None)
        if int(number) & ~known:
            raise self.element.error(f"unknown bits in {int(number):#x}", attribute)
        flags = self.element.child("flag")
        for name, bit in bits.items():
            if bit is not None:
                Struct(self.spec, flags).write(FLAG.attributes[name], attribute, (int(number) & bit != 0) is value)

    @property
    def disableflags(self) -> int:
        """Bits (``mjtDisableBit``) of the disabled parts of the pipeline."""
        return self._flags(_DISABLE, False)

    @disableflags.setter
    def disableflags(self, value: int) -> None:
        self._set_flags(_DISABLE, False, value, "disableflags")

    @property
    def enableflags(self) -> int:
        """Bits (``mjtEnableBit``) of the enabled parts of the pipeline."""
        return self._flags(_ENABLE, True)

    @enableflags.setter
    def enableflags(self, value: int) -> None:
        self._set_flags(_ENABLE, True, value, "enableflags")

    @property
    def disableactuator(self) -> int:
        """Bits of the disabled actuator groups."""
        return sum(1 << group for group in self.element.resolved()["actuatorgroupdisable"] or ())

    @disableactuator.setter
    def disableactuator(self, value: int) -> None:
        groups = tuple(group for group in range(31) if value >> group & 1)
        self.write(OPTION.attributes["actuatorgroupdisable"], "disableactuator", groups or None)


@fields(LENGTH_RANGE_ROW)
class MjsLROpt(Struct):
    """Settings of the computation of actuators' length ranges."""


@fields(COMPILER, drop=("angle", "inertiafromgeom"))
class MjsCompiler(Struct):
    """Compiler settings."""

    @property
    def degree(self) -> bool:
        """Whether angles are in degrees, not radians."""
        return self.element.resolved()["angle"] == "degree"

    @degree.setter
    def degree(self, value: bool) -> None:
        self.write(COMPILER.attributes["angle"], "degree", "degree" if value else "radian")

    @property
    def inertiafromgeom(self) -> mjtInertiaFromGeom:
        """Whether body inertias are inferred from geoms."""
        row = COMPILER.attributes["inertiafromgeom"]
        return mjtInertiaFromGeom(row.keywords[self.read(row)])

    @inertiafromgeom.setter
    def inertiafromgeom(self, value: Any) -> None:
        self.write(COMPILER.attributes["inertiafromgeom"], "inertiafromgeom", value)

    @property
    def LRopt(self) -> MjsLROpt:
        """Settings of the computation of actuators' length ranges."""
        return MjsLROpt(self.spec, self.element.child("lengthrange"))


@fields(STATISTIC)
class MjsStatistic(Struct):
    """Statistics that override the computed ones; NaN: computed."""


class MjsVisual(Struct):
    """Visual settings, in groups: ``global_``, ``quality``, ``headlight``, ``map``, ``scale``, ``rgba``."""


def _visual_group(tag: str) -> property:
    """Return a property for one group of visual settings."""
    row = VISUAL.children[tag]
    struct = fields(row)(type("MjsVisual" + tag.capitalize(), (Struct,), {"__doc__": row.meaning}))

    def get(self: MjsVisual) -> Struct:
        return struct(self.spec, self.element.child(tag))

    return property(get, doc=row.meaning)


for _tag in VISUAL.children:
    setattr(MjsVisual, "global_" if _tag == "global" else _tag, _visual_group(_tag))
