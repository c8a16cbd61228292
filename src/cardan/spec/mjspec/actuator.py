"""Actuators as structs: always in the general form, independent of the shortcut in the text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.enums import mjtTrn
from cardan.spec.mjspec.plugin import plugin_of_actuator
from cardan.spec.mjspec.struct import Named, fields
from cardan.spec.schema.actuator import ACTUATOR, DYNAMICS, GENERAL, TARGETS

if TYPE_CHECKING:
    from cardan.spec.schema.rows import Attribute

_TRANSMISSION: dict[int, str] = {
    mjtTrn.mjTRN_JOINT: "joint",
    mjtTrn.mjTRN_JOINTINPARENT: "jointinparent",
    mjtTrn.mjTRN_SLIDERCRANK: "cranksite",
    mjtTrn.mjTRN_TENDON: "tendon",
    mjtTrn.mjTRN_SITE: "site",
    mjtTrn.mjTRN_BODY: "body",
}
_TRNTYPE = {name: mjtTrn(number) for number, name in _TRANSMISSION.items()}
_FORM = (*(row.name for row in DYNAMICS), "actdim")


@fields(GENERAL, drop=TARGETS)
class MjsActuator(Named):
    """An actuator. ``trntype`` and ``target`` specify its target."""

    plugin = plugin_of_actuator

    def __init__(self, spec: Any, element: Any) -> None:
        super().__init__(spec, element)
        found = next((name for name in TARGETS if name in element.attributes), None)
        aim = {"trntype": _TRNTYPE[found] if found else mjtTrn.mjTRN_UNDEFINED,
               "target": element.attributes[found] if found else ""}  # fmt: skip
        object.__setattr__(self, "_aim", aim)

    # --- target ------------------------------------------------------------------------------------------------------

    def _take_aim(self, **changed: Any) -> None:
        """Change kind or name of the target, and write it after both are known."""
        self._aim.update(changed)
        kind, target = _TRANSMISSION.get(self._aim["trntype"]), getattr(self._aim["target"], "name", None)
        for name in TARGETS:
            self.element.attributes.pop(name, None)
        if kind is not None:
            self._reach(kind)
            self.write(self.element.row.attributes[kind], "target", target or self._aim["target"])

    def _reach(self, attribute: str) -> None:
        """Convert the element to a form that can hold an attribute of a general actuator."""
        if attribute not in self.element.row.attributes and attribute in GENERAL.attributes:
            self._generalize()

    @property
    def trntype(self) -> mjtTrn:
        """Kind of the target."""
        return self._aim["trntype"]

    @trntype.setter
    def trntype(self, value: int) -> None:
        if value not in _TRANSMISSION:
            known = ", ".join(kind.name for kind in _TRNTYPE.values())
            raise self.element.error(f"{value!r} is no transmission; expected one of {known}", "trntype")
        self._take_aim(trntype=mjtTrn(value))

    @property
    def target(self) -> str:
        """Name of the actuator's target."""
        return getattr(self._aim["target"], "name", self._aim["target"])

    @target.setter
    def target(self, value: Any) -> None:
        self._take_aim(target=value)

    def pending(self) -> Any:
        """An error if there is no target, else None."""
        for name, value in self._aim.items():
            if not value or value == mjtTrn.mjTRN_UNDEFINED:
                return self.element.error("an actuator needs trntype and target", name)
        return None

    # --- form --------------------------------------------------------------------------------------------------------

    def write(self, row: Attribute, name: str, value: Any) -> None:
        """Write an attribute; if a shortcut cannot hold it, the element becomes a general actuator first."""
        if not self.element.row.is_entry:
            self._reach(row.name)
        super().write(row, name, value)

    @property
    def inheritrange(self) -> float:
        """Scale of the target's range in the range of the control; 0: the range is not inherited."""
        return self.element.resolved()["inheritrange"]

    @inheritrange.setter
    def inheritrange(self, value: float) -> None:
        # the language has it only for some shortcuts, but the general form can hold it
        self.element.attributes["inheritrange"] = float(value)

    def _generalize(self) -> None:
        """Replace a shortcut by the equivalent general actuator."""
        tree_element: Any = self.element
        values = tree_element.resolved()
        given = {name: value for name, value in tree_element.attributes.items() if name in GENERAL.attributes}
        given.update({name: values[name] for name in (*_FORM, "inheritrange") if name in values})
        tree_element.attributes.clear()
        tree_element.attributes.update(given)
        tree_element.row = GENERAL

    def _set_to(self, tag: str, **values: Any) -> None:
        """Convert the actuator to this shortcut; negative values mean the defaults."""
        row = ACTUATOR.children[tag]
        element: Any = self.element
        if element.row.is_entry:
            raise element.error("default classes of actuators are set by gaintype, gainprm, biastype, ...")
        if row.later:
            raise element.unsupported(row.later)
        given = {name: value for name, value in element.attributes.items() if name not in _FORM}
        lost = next((name for name in given if name not in row.attributes and name in GENERAL.attributes), None)
        if lost is not None:
            raise element.error(f"a {tag} actuator has no {lost}", lost)
        element.attributes.clear()
        element.attributes.update({name: value for name, value in given.items() if name in GENERAL.attributes})
        element.row = row
        for name, value in values.items():
            if np.any(np.asarray(value) >= 0):
                super().write(row.attributes[name], name, value)
        element.tree.changed()

    def set_to_motor(self) -> None:
        """Direct drive: force equals control."""
        self._set_to("motor")

    def set_to_position(
        self, kp: float, kv: float = -1, dampratio: float = -1, timeconst: float = -1, inheritrange: float = 0
    ) -> None:
        """Position servo with gain ``kp``; negative values are undefined."""
        self._set_to("position", kp=kp, kv=kv, dampratio=dampratio, timeconst=timeconst, inheritrange=inheritrange)

    def set_to_intvelocity(self, kp: float, kv: float = -1, dampratio: float = -1, inheritrange: float = 0) -> None:
        """Servo whose set point is the integral of the control; negative values are undefined."""
        self._set_to("intvelocity", kp=kp, kv=kv, dampratio=dampratio, inheritrange=inheritrange)

    def set_to_velocity(self, kv: float) -> None:
        """Velocity servo with gain ``kv``."""
        self._set_to("velocity", kv=kv)

    def set_to_damper(self, kv: float) -> None:
        """Damper whose coefficient is ``kv`` times the control."""
        self._set_to("damper", kv=kv)

    def set_to_cylinder(self, timeconst: float, bias: Any, area: float, diameter: float = -1) -> None:
        """Pneumatic or hydraulic cylinder; ``diameter``, if given, replaces ``area``."""
        self._set_to("cylinder", timeconst=timeconst, area=area, diameter=diameter)
        super().write(self.element.row.attributes["bias"], "bias", np.broadcast_to(bias, 3) if np.ndim(bias) else
                      (bias, 0.0, 0.0))  # fmt: skip

    def set_to_muscle(self, timeconst: Any = -1, tausmooth: float = -1, range: Any = -1, force: float = -1,
                      scale: float = -1, lmin: float = -1, lmax: float = -1, vmax: float = -1, fpmax: float = -1,
                      fvmax: float = -1) -> None:  # fmt: skip
        """Muscle; negative values are undefined."""
        self._set_to("muscle", timeconst=timeconst, tausmooth=tausmooth, range=range, force=force, scale=scale,
                     lmin=lmin, lmax=lmax, vmax=vmax, fpmax=fpmax, fvmax=fvmax)  # fmt: skip

    def set_to_adhesion(self, gain: float) -> None:
        """Adhesion at the contacts of a body."""
        self._set_to("adhesion", gain=gain)
