"""Options of the physics (the members and flags of `option`), controls of actuators, positions of joints."""

from __future__ import annotations

from functools import partial
from math import pi
from typing import Any

import numpy as np

from cardan import constants
from cardan.api.names import mj_actuatorInputName
from cardan.enums import mjtCone, mjtIntegrator, mjtJacobian, mjtJoint, mjtSolver
from cardan.enums.base import MjEnum
from cardan.enums.numbering import is_later
from cardan.model import MjData, MjModel
from cardan.view.panels.panel import Panel, within

CHOICES: dict[str, type[MjEnum]] = {
    "integrator": mjtIntegrator,
    "cone": mjtCone,
    "jacobian": mjtJacobian,
    "solver": mjtSolver,
}
NUMBERS = (
    *("timestep", "iterations", "tolerance", "ls_iterations", "ls_tolerance", "noslip_iterations", "noslip_tolerance"),
    *("impratio", "density", "viscosity", "o_margin"),
)
VECTORS = ("gravity", "wind", "magnetic")


def _words(kinds: type[MjEnum]) -> list[str]:
    """Return short names of an enumeration's members, such as ``rk4`` for ``mjINT_RK4``."""
    return [name.partition("_")[2].lower() for name in kinds.__members__]


class PhysicsPanel(Panel):
    """Controls for the algorithms, numbers, vectors and flags in `option`."""

    period = 0.5

    def _build(self) -> None:
        opt = self.session.model.opt
        self.handles: dict[str, Any] = {}
        with self.gui.add_folder("Algorithms"):
            for name, kinds in CHOICES.items():
                words = _words(kinds)
                now = words[int(getattr(opt, name))]
                choose = partial(lambda name, words, word: self._set(name, words.index(word)), name, words)
                self.handles[name] = self.dropdown(name, words, now, choose)
        with self.gui.add_folder("Parameters"):
            for name in NUMBERS:
                self.handles[name] = self.number(name, getattr(opt, name), partial(self._set, name), None)
            for name in VECTORS:
                self.handles[name] = self.vector(name, np.array(getattr(opt, name)), partial(self._set_vector, name))
        self.flags: list[tuple[str, int, Any]] = []
        strings = constants.LATER if is_later() else vars(constants)
        for title, member, names in (
            ("Disable flags", "disableflags", strings["mjDISABLESTRING"]),
            ("Enable flags", "enableflags", strings["mjENABLESTRING"]),
        ):
            with self.gui.add_folder(title, expand_by_default=False):
                for k, name in enumerate(names):
                    on = bool(getattr(opt, member) >> k & 1)
                    self.flags.append((member, k, self.checkbox(name, on, partial(self._set_bit, member, k))))

    def _set(self, name: str, value: float) -> None:
        """Set a number of `option`; ignore a time step that is not positive."""

        def command(m: MjModel, d: MjData) -> None:
            if name != "timestep" or value > 0.0:
                setattr(m.opt, name, type(getattr(m.opt, name))(value))

        self.ask(command)

    def _set_vector(self, name: str, value: tuple[float, float, float]) -> None:
        def command(m: MjModel, d: MjData) -> None:
            getattr(m.opt, name)[:] = value

        self.ask(command)

    def _set_bit(self, member: str, bit: int, on: bool) -> None:

        def command(m: MjModel, d: MjData) -> None:
            old = int(getattr(m.opt, member))
            setattr(m.opt, member, old | 1 << bit if on else old & ~(1 << bit))

        self.ask(command)

    def refresh(self) -> None:
        """Show the current options, which a script may have changed."""
        with self.session.lock:
            opt = self.session.model.opt
            values: dict[str, Any] = {name: getattr(opt, name) for name in (*CHOICES, *NUMBERS)}
            values |= {name: tuple(float(x) for x in getattr(opt, name)) for name in VECTORS}
            bits = {member: int(getattr(opt, member)) for member in ("disableflags", "enableflags")}
        for name, kinds in CHOICES.items():
            values[name] = _words(kinds)[int(values[name])]
        for name, handle in self.handles.items():
            self.put(handle, values[name])
        for member, bit, handle in self.flags:
            self.put(handle, bool(bits[member] >> bit & 1))


SLIDE, HINGE = mjtJoint.mjJNT_SLIDE.value, mjtJoint.mjJNT_HINGE.value
MOST = 200
"""Largest number of sliders of one kind; further objects have no slider."""
VALUES = 400
"""Approximate limit on slider values sent per second; each value is a separate message."""


class SliderPanel(Panel):
    """A panel of sliders that set and show elements of `field`, an array of the data."""

    field = ""

    def _slide(self, name: str, index: int, low: float, high: float) -> None:
        """Add a slider from `low` to `high` for element `index` of the field; do nothing after `MOST` sliders."""
        if len(self.sliders) < MOST:
            value = float(getattr(self.session.data, self.field)[index])
            handle = self.slider(name, low, max(high, low + 1e-6), value, partial(self._set, index))
            self.sliders.append((index, handle))

    def _set(self, index: int | slice, value: float) -> None:
        def command(m: MjModel, d: MjData) -> None:
            getattr(d, self.field)[index] = value

        self.ask(command)

    def _begin(self, what: str, count: int) -> None:
        """Begin the list of sliders. Add a note if the number of objects (`what`) is 0 or more than `MOST`."""
        self.sliders: list[tuple[int, Any]] = []
        self.period = max(0.1, min(count, MOST) / VALUES)
        if not count:
            self.gui.add_markdown(f"The model has no {what}.")
        elif count > MOST:
            self.gui.add_markdown(f"The first {MOST} of {count} {what} have sliders; scripts move the others.")

    def refresh(self) -> None:
        """Show the current values of the field."""
        with self.session.lock:
            values = getattr(self.session.data, self.field).tolist()
        for index, handle in self.sliders:
            self.put(handle, within(values[index], handle.min, handle.max))


class ActuatorPanel(SliderPanel):
    """A slider for each control of each actuator."""

    field = "ctrl"

    def _build(self) -> None:
        m = self.session.model
        if m.nu:
            self.button("Clear all", partial(self._set, slice(None), 0.0))
        self._begin("controls", m.nu)
        for actuator in range(m.nactuator):
            name = m.actuator(actuator).name or f"actuator {actuator}"
            first, count = int(m.actuator_ctrladr[actuator]), int(m.actuator_ctrlnum[actuator])
            for k in range(first, first + count):
                low, high = (float(x) for x in m.actuator_ctrlrange[k]) if m.actuator_ctrllimited[k] else (-1.0, 1.0)
                word = mj_actuatorInputName(m, actuator, k - first) if count > 1 else None
                self._slide(f"{name} {word}" if word else name, k, low, high)


class JointPanel(SliderPanel):
    """A slider for each joint with one degree of freedom."""

    field = "qpos"

    def _build(self) -> None:
        m = self.session.model
        joints = [j for j in range(m.njnt) if int(m.jnt_type[j]) in (SLIDE, HINGE)]
        self._begin("joints with one degree of freedom", len(joints))
        for j in joints:
            reach = pi if int(m.jnt_type[j]) == HINGE else max(1.0, float(m.stat.extent))
            low, high = (float(x) for x in m.jnt_range[j]) if m.jnt_limited[j] else (-reach, reach)
            self._slide(m.jnt(j).name or f"joint {j}", int(m.jnt_qposadr[j]), low, high)
