"""Sliders: controls of actuators, positions of joints."""

from __future__ import annotations

from functools import partial
from math import pi
from typing import Any

from cardan.enums import mjtJoint
from cardan.model import MjData, MjModel
from cardan.view.panels.panel import Panel, within

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
