"""Options of the physics: the members and flags of `option`."""

from __future__ import annotations

from functools import partial
from math import pi
from typing import Any

import numpy as np

from cardan.constants import mjDISABLESTRING, mjENABLESTRING
from cardan.enums import mjtCone, mjtIntegrator, mjtJacobian, mjtJoint, mjtSolver
from cardan.enums.base import MjEnum
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
    """Convert names of an enumeration: ``mjINT_RK4`` -> ``rk4``."""
    return [name.partition("_")[2].lower() for name in kinds.__members__]


class PhysicsPanel(Panel):
    """Algorithms, numbers, vectors, and flags of `option`."""

    period = 0.5

    def build(self) -> None:
        """Make the controls."""
        opt = self.session.model.opt
        self.handles: dict[str, Any] = {}
        with self.gui.add_folder("Algorithms"):
            for name, kinds in CHOICES.items():
                words = _words(kinds)
                now = words[int(getattr(opt, name))]
                self.handles[name] = self.dropdown(name, words, now, partial(self._choose, name, words))
        with self.gui.add_folder("Parameters"):
            for name in NUMBERS:
                self.handles[name] = self.number(name, getattr(opt, name), partial(self.set, name), None)
            for name in VECTORS:
                self.handles[name] = self.vector(name, np.array(getattr(opt, name)), partial(self.set_vector, name))
        self.flags: list[tuple[str, int, Any]] = []
        for title, member, names in (
            ("Disable flags", "disableflags", mjDISABLESTRING),
            ("Enable flags", "enableflags", mjENABLESTRING),
        ):
            with self.gui.add_folder(title, expand_by_default=False):
                for k, name in enumerate(names):
                    on = bool(getattr(opt, member) >> k & 1)
                    self.flags.append((member, k, self.checkbox(name, on, partial(self.set_bit, member, k))))

    def _choose(self, name: str, words: list[str], word: str) -> None:
        self.set(name, words.index(word))

    def set(self, name: str, value: float) -> None:
        """Set a number; a time step must be positive."""

        def command(m: MjModel, d: MjData) -> None:
            if name != "timestep" or value > 0.0:
                setattr(m.opt, name, type(getattr(m.opt, name))(value))

        self.ask(command)

    def set_vector(self, name: str, value: tuple[float, float, float]) -> None:
        """Set a vector."""

        def command(m: MjModel, d: MjData) -> None:
            getattr(m.opt, name)[:] = value

        self.ask(command)

    def set_bit(self, member: str, bit: int, on: bool) -> None:
        """Set or clear a flag."""

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
"""Largest number of sliders of one kind; scripts move the others."""


VALUES = 400
"""Approximate number of slider values that are sent per second; each is a separate message."""


def note(gui: Any, what: str, shown: int, count: int) -> None:
    """Add a note if the model has nothing to slide, or more objects than sliders."""
    if not count:
        gui.add_markdown(f"The model has no {what}.")
    elif shown < count:
        gui.add_markdown(f"The first {shown} of {count} {what} have sliders; scripts move the others.")


class ActuatorPanel(Panel):
    """A slider for each actuator."""

    def build(self) -> None:
        """Make the controls."""
        m = self.session.model
        self.handles = []
        if m.nu:
            self.button("Clear all", self.clear)
        note(self.gui, "actuators", min(m.nu, MOST), m.nu)
        for k in range(min(m.nu, MOST)):
            low, high = (float(x) for x in m.actuator_ctrlrange[k]) if m.actuator_ctrllimited[k] else (-1.0, 1.0)
            name = m.actuator(k).name or f"actuator {k}"
            value = float(self.session.data.ctrl[k])
            self.handles.append(self.slider(name, low, max(high, low + 1e-6), value, partial(self.set, k)))
        self.period = max(0.1, len(self.handles) / VALUES)

    def set(self, actuator: int, value: float) -> None:
        """Set a control."""

        def command(m: MjModel, d: MjData) -> None:
            d.ctrl[actuator] = value

        self.ask(command)

    def clear(self) -> None:
        """Set all controls to 0."""

        def command(m: MjModel, d: MjData) -> None:
            d.ctrl[:] = 0.0

        self.ask(command)

    def refresh(self) -> None:
        """Show the current controls."""
        with self.session.lock:
            values = self.session.data.ctrl.tolist()
        for handle, value in zip(self.handles, values, strict=False):
            self.put(handle, within(value, handle.min, handle.max))


class JointPanel(Panel):
    """A slider for each joint with one degree of freedom."""

    def build(self) -> None:
        """Make the controls."""
        m = self.session.model
        self.joints: list[tuple[int, Any]] = []
        count = 0
        for j in range(m.njnt):
            kind = int(m.jnt_type[j])
            if kind not in (SLIDE, HINGE):
                continue
            count += 1
            if count > MOST:
                continue
            reach = pi if kind == HINGE else max(1.0, float(m.stat.extent))
            low, high = (float(x) for x in m.jnt_range[j]) if m.jnt_limited[j] else (-reach, reach)
            adr = int(m.jnt_qposadr[j])
            name = m.jnt(j).name or f"joint {j}"
            value = float(self.session.data.qpos[adr])
            handle = self.slider(name, low, max(high, low + 1e-6), value, partial(self.set, adr))
            self.joints.append((adr, handle))
        note(self.gui, "joints with one degree of freedom", len(self.joints), count)
        self.period = max(0.1, len(self.joints) / VALUES)

    def set(self, adr: int, value: float) -> None:
        """Set a position."""

        def command(m: MjModel, d: MjData) -> None:
            d.qpos[adr] = value

        self.ask(command)

    def refresh(self) -> None:
        """Show the current positions."""
        with self.session.lock:
            values = self.session.data.qpos.tolist()
        for adr, handle in self.joints:
            self.put(handle, within(values[adr], handle.min, handle.max))
