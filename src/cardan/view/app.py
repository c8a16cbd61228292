"""The viewer: a session with its physics, its pages, and their controls, which are panels in tabs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from cardan.api.pipeline import mj_resetDataKeyframe
from cardan.constants import mjRNDSTRING, mjVISSTRING
from cardan.model import MjData, MjModel
from cardan.view.capture import Film
from cardan.view.inputs import Act, Inputs, Worker
from cardan.view.panels.files import CapturePanel, FilePanel
from cardan.view.panels.overlays import OverlayPanel
from cardan.view.panels.panel import Panel
from cardan.view.panels.physics import ActuatorPanel, JointPanel, PhysicsPanel
from cardan.view.panels.plots import EnergyPanel, ProfilerPanel, SensorPanel
from cardan.view.panels.rendering import EFFECTS, RenderingPanel
from cardan.view.panels.simulation import SimulationPanel, WarningPanel
from cardan.view.physics import Physics
from cardan.view.publisher import Publisher
from cardan.view.server import PORT, PageServer
from cardan.view.session import Session
from cardan.view.source import PATH, Source, Uploads, receiver

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
CODES = {
    **{letter: ord(letter) for letter in LETTERS},
    "space": 32, "escape": 256, "enter": 257, "tab": 258, "backspace": 259, "insert": 260, "delete": 261,
    "arrowright": 262, "arrowleft": 263, "arrowdown": 264, "arrowup": 265, "pageup": 266, "pagedown": 267,
    "home": 268, "end": 269,
}  # fmt: skip
"""GLFW's codes of the keys that pages report."""


def simulation_keys(viewer: Viewer) -> dict[tuple[str, bool], tuple[str, Act]]:
    """Return the actions of keys: (description, function) for each (key, whether Shift is held)."""
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
    """Assign the actions of MuJoCo's `simulate` to the keys of the pages, and call a script's callback for each key."""
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
    ("Simulation", (SimulationPanel, OverlayPanel, FilePanel, CapturePanel, WarningPanel)),
    ("Physics", (PhysicsPanel,)),
    ("Rendering", (RenderingPanel,)),
    ("Control", (ActuatorPanel,)),
    ("Joints", (JointPanel,)),
    ("Plots", (SensorPanel, EnergyPanel, ProfilerPanel)),
)
"""Titles of the tabs, and the panels in each."""


class Controls:
    """All controls of a viewer; `panels` contains the panel of each class."""

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
        """Release all resources of the panels except their controls."""
        for panel in self.panels.values():
            panel.discard()

    def refresh(self) -> None:
        """Update the controls of all panels whose period has passed.

        If the session shows another model, first build all panels again.
        """
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


MOST_WORLDS = 64
PATIENCE = 10.0
"""Longest time, s, to wait for a thread to end; the thread may be compiling."""


class Viewer:
    """A viewer that shows a model in the browser; most arguments are those of `launching.view`.

    If the viewer is `passive`, a script steps the data, and `physics` is None; else the thread `physics` steps them.
    All worlds are stepped with the controls of the first world. `key_callback` is called with each key that is
    pressed in a page; `show_ui` opens the panel of controls at the beginning.

    The thread `loading` checks for changed files and loads models. `waiting` lists uploaded models that could not be
    loaded yet. `film` is the video that is being recorded; the lock `filming` is held while a recording begins or ends.
    """

    def __init__(
        self,
        model: MjModel,
        data: MjData,
        *,
        passive: bool = False,
        source: Source | None = None,
        port: int = PORT,
        worlds: int = 1,
        keyframe: int | None = None,
        key_callback: Callable[[int], None] | None = None,
        show_ui: bool = True,
        leave: float | None = None,
    ) -> None:
        if not 1 <= worlds <= MOST_WORLDS:
            raise ValueError(f"the number of worlds must be 1 to {MOST_WORLDS}, not {worlds}")
        if keyframe is not None:
            mj_resetDataKeyframe(model, data, keyframe)
        self.session = Session(model, data, worlds)
        self.source, self.key_callback = source or Source(), key_callback
        self.uploads = Uploads()
        self.loading, self._one_loads = Worker("cardan files"), threading.RLock()
        self.waiting: list[Path] = []
        self.film: Film | None = None
        self.filming = threading.Lock()
        self._leave, self._left = leave, 0.0
        frames = {f"/{PATH}": receiver(self.uploads, self.show_first)}
        self.server = PageServer("Cardan", port, frames)
        self.address = self.server.address
        self.physics = None if passive else Physics(self.session)
        self.publisher = Publisher(self.session, self.server.viser)
        self.inputs = Inputs(self.server.viser, self.session)
        self.controls = Controls(self)
        if not show_ui:
            self.server.viser.gui.main_panel.minimize()
        self.publisher.also += [self.controls.refresh, self._look_for_pages]
        self.publisher.start()
        if self.physics is not None:
            self.physics.start()

    def _look_for_pages(self) -> None:
        """End the viewer if the last page was closed more than `leave` seconds ago."""
        if self._leave is None:
            return
        now = time.perf_counter()
        if self.server.viser.get_clients():
            self._left = now
        elif self._left and now - self._left > self._leave:
            self.session.closed.set()

    def reload(self) -> str:
        """Load the model again and return an empty string.

        If that fails, keep the old model and return the error message.
        """
        try:
            with self._one_loads:
                model, data = self.source.load()
        except (ValueError, OSError) as error:
            return str(error)
        except Exception as error:  # error of a user's loader
            return f"{type(error).__name__}: {error}"
        self.session.post(lambda m, d: self.session.load(model, data))
        return ""

    def show_first(self, models: list[Path]) -> str:
        """Show the first model that can be loaded from `models` or, if `models` is empty, from `waiting`.

        If no model can be loaded, keep the old model, and store the paths in `waiting`. Return a message for the user.
        """
        with self._one_loads:
            old, models, trouble = self.source, models or self.waiting, ""
            for path in models:
                self.source = Source(path)
                error = self.reload()
                if not error:
                    self.waiting = []
                    return f"{path.name} is shown"
                trouble = trouble or error
            self.source, self.waiting = old, models
        return trouble or "the files are kept; now send the model"

    def close(self) -> None:
        """Close all pages and end the threads."""
        self.session.closed.set()
        if self.physics is not None:
            self.physics.join(PATIENCE)
        self.publisher.join(PATIENCE)
        self.inputs.close(PATIENCE)
        self.loading.close(PATIENCE)
        self.controls.discard()
        if self.film is not None:
            self.film.drop()
        self.uploads.close()
        self.server.close()
