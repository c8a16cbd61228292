"""The viewer: a session, its physics, and its pages."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from cardan.api.pipeline import mj_resetDataKeyframe
from cardan.model import MjData, MjModel
from cardan.view.capture import Film
from cardan.view.controls import Controls
from cardan.view.inputs import Inputs, Worker
from cardan.view.physics import Physics
from cardan.view.publisher import Publisher
from cardan.view.server import PORT, PageServer
from cardan.view.session import Session
from cardan.view.source import Source
from cardan.view.uploads import PATH, Uploads, receiver

MOST_WORLDS = 64
PATIENCE = 10.0
"""Time limit for the threads to end, s; they may be compiling."""


class Viewer:
    """A viewer that shows a model in the browser.

    Args:
        model: the model.
        data: data of the model.
        passive: whether a script steps the physics; else a thread of the viewer steps it.
        source: source of the model.
        port: port of the server; if it is taken, the next free one; any free port if 0.
        worlds: number of worlds side by side; those after the first are stepped with the same controls.
        keyframe: number of the initial keyframe.
        key_callback: called with each key that is pressed in a page.
        show_ui: whether the panel of controls is open at the beginning.
        leave: time after which the viewer ends when its last page was closed, s; None: it does not end.

    Attributes:
        physics: the thread that steps; None if a script steps.
        loading: the thread that checks for changed files and loads models.
        waiting: uploaded models that could not be loaded yet.
        film: the video that is being recorded, if any; `filming` is held while a recording begins or ends.

    Raises:
        ValueError: the keyframe does not exist, or the number of worlds is not 1 to 64.
        ImportError: the package viser isn't installed.
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
        """Load the model again, and return an empty text; if that fails, keep the old model, and return the error."""
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
        """Show the first of these model files that can be loaded. If the list is empty, try the files in `waiting`.

        Return a message for the user.
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
