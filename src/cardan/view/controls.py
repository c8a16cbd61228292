"""The controls of the pages: panels in tabs, made for a model and updated regularly."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any

from cardan.constants import mjRNDSTRING, mjVISSTRING
from cardan.view.inputs import Act, Inputs
from cardan.view.panels.files import CapturePanel, FilePanel
from cardan.view.panels.panel import Panel
from cardan.view.panels.physics import ActuatorPanel, JointPanel, PhysicsPanel
from cardan.view.panels.plots import EnergyPanel, ProfilerPanel, SensorPanel
from cardan.view.panels.rendering import EFFECTS, RenderingPanel
from cardan.view.panels.simulation import SimulationPanel, WarningPanel

if TYPE_CHECKING:
    from cardan.view.app import Viewer


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
CODES = {
    **{letter: ord(letter) for letter in LETTERS},
    "space": 32, "escape": 256, "enter": 257, "tab": 258, "backspace": 259, "insert": 260, "delete": 261,
    "arrowright": 262, "arrowleft": 263, "arrowdown": 264, "arrowup": 265, "pageup": 266, "pagedown": 267,
    "home": 268, "end": 269,
}  # fmt: skip
"""GLFW's codes of the keys that pages report."""

Pressed = Callable[[Any], Coroutine[Any, Any, None]]


def simulation_keys(viewer: Viewer) -> dict[tuple[str, bool], tuple[str, Act]]:
    """Return the actions of keys: (key, whether Shift is held) -> (description, function)."""
    panel, rendering = viewer.controls.panels[SimulationPanel], viewer.controls.panels[RenderingPanel]
    assert isinstance(panel, SimulationPanel) and isinstance(rendering, RenderingPanel)
    keys: dict[tuple[str, bool], tuple[str, Act]] = {("backspace", False): ("Reset", panel.reset)}
    if viewer.physics is not None:
        keys |= {
            ("space", False): ("Run or pause", panel.toggle),
            ("arrowright", False): ("Step, or forward in history", panel.step_forward),
            ("arrowleft", False): ("Back in history", partial(panel.go_back_by, 1)),
            ("arrowup", False): ("Faster", partial(panel.change_speed, -1)),
            ("arrowdown", False): ("Slower", partial(panel.change_speed, 1)),
        }
    for k, (name, _, key) in enumerate(mjVISSTRING):
        if key and key in LETTERS:
            keys[key, False] = (name, partial(rendering.set_flag, "flags", k))
    for k, (name, _, key) in enumerate(mjRNDSTRING):
        if key and key in LETTERS:
            keys[key, True] = (f"{name} (effect)", partial(rendering.set_flag, EFFECTS, k))
    keys["escape", False] = ("Free camera", partial(rendering.set_camera, "Free"))
    return keys


def listen(viewer: Viewer, key_callback: Callable[[int], None] | None) -> None:
    """Let keys in the pages act as in `simulate`, and call a script's callback for each key."""
    gui = viewer.server.viser.gui
    acts = simulation_keys(viewer)
    heard = {(key, False) for key in CODES} if key_callback is not None else set()
    for key, shifted in sorted({*acts, *heard}):
        words, act = acts.get((key, shifted), (f"Key {key}", None))
        command = gui.add_command(words, hotkey=key, modifier="shift" if shifted else None)  # type: ignore[arg-type]
        done = [act] if act is not None else []
        if key_callback is not None:
            done.append(partial(key_callback, CODES[key]))
        command.on_trigger(partial(_pressed, viewer.inputs, done))


async def _pressed(inputs: Inputs, acts: list[Act], event: Any) -> None:
    for act in acts:  # keys are handled in their order
        inputs.do(act)


PANELS: tuple[tuple[str, tuple[type[Panel], ...]], ...] = (
    ("Simulation", (SimulationPanel, FilePanel, CapturePanel, WarningPanel)),
    ("Physics", (PhysicsPanel,)),
    ("Rendering", (RenderingPanel,)),
    ("Control", (ActuatorPanel,)),
    ("Joints", (JointPanel,)),
    ("Plots", (SensorPanel, EnergyPanel, ProfilerPanel)),
)
"""The tabs and their panels."""


class Controls:
    """All controls of a viewer; `panels` are the panels by their class."""

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        self._generation = -1
        self.panels: dict[type[Panel], Panel] = {}
        self._viewer.controls = self
        self.refresh()

    def _build(self) -> None:
        gui = self._viewer.server.viser.gui
        self.discard()
        self._viewer.inputs.forget()
        gui.reset()
        gui.main_panel.dock_right()
        self.panels = {}
        tabs = gui.add_tab_group()
        for title, kinds in PANELS:
            with tabs.add_tab(title):
                for kind in kinds:
                    self.panels[kind] = kind(self._viewer)
        listen(self._viewer, self._viewer.key_callback)

    def discard(self) -> None:
        """Release resources of the panels other than their controls."""
        for panel in self.panels.values():
            panel.discard()

    def refresh(self) -> None:
        """Update the controls of all panels that are due."""
        session = self._viewer.session
        if session.generation != self._generation:
            self._generation = session.generation
            self._build()
        self._viewer.inputs.settle()
        now = time.perf_counter()
        due = [panel for panel in self.panels.values() if now >= panel.due]
        if due:
            # in one message: otherwise each value wakes the server's thread
            with self._viewer.server.viser.atomic():
                for panel in due:
                    panel.due = now + panel.period
                    panel.refresh()
