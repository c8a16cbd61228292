"""What physics, pages and scripts share: the model, its data, and how they are shown."""

from __future__ import annotations

import threading
from collections.abc import Callable
from copy import copy
from queue import Empty, SimpleQueue

import numpy as np

from cardan.model import MjData, MjModel
from cardan.visual import MjvCamera, MjvOption, MjvPerturb, MjvScene, mjv_defaultFreeCamera

Command = Callable[[MjModel, MjData], None]
"""A change that a page asks for. It is made by whoever owns the data, between two steps."""

USER_GEOMS = 10000
"""Room for geoms of the user's scene."""


class Session:
    """A model, its data, and how they are shown.

    Everything but `post`, `posted`, `obeyed` and `closed` is read and written while `lock` is held.

    Args:
        model: the model.
        data: its data.
        worlds: number of worlds; the further ones start as copies.

    Attributes:
        lock: held by whoever reads or writes what is here; it may be taken again by its holder.
        model, data: what is shown.
        others: data of further worlds of the same model, shown beside it.
        option, perturb, camera: what is shown, what the mouse does to it, and from where it is seen.
        flags: rendering flags (mjtRndFlag), one byte each.
        user_geoms: geoms that a script adds, (n,) array of the structure of `MjvGeom`.
        paused, speed: whether physics stands still, and its simulated seconds a second.
        generation: counts the models that were loaded.
        posted, obeyed: count the changes that were asked for, and those that were made.
        closed: set when the viewer is closed.
    """

    def __init__(self, model: MjModel, data: MjData, worlds: int = 1) -> None:
        self.lock = threading.RLock()
        self.closed = threading.Event()
        self.option, self.perturb, self.camera = MjvOption(), MjvPerturb(), MjvCamera()
        self.flags = np.array(MjvScene().flags)
        self.paused, self.speed = False, 1.0
        self.generation = 0
        self._commands: SimpleQueue[Command] = SimpleQueue()
        self._posting = threading.Lock()
        self.posted = self.obeyed = 0
        self._worlds = worlds
        self._take(model, data)

    def _take(self, model: MjModel, data: MjData) -> None:
        self.model, self.data = model, data
        self.others = [copy(data) for _ in range(self._worlds - 1)]
        self.user_geoms = MjvScene().geom_values
        self.perturb = MjvPerturb()
        mjv_defaultFreeCamera(model, self.camera)

    @property
    def worlds(self) -> list[MjData]:
        """Data of all worlds, the first one first."""
        return [self.data, *self.others]

    def load(self, model: MjModel, data: MjData) -> None:
        """Show another model."""
        with self.lock:
            self._take(model, data)
            self.generation += 1

    def post(self, command: Command) -> None:
        """Ask for a change of the model or the data; returns at once."""
        with self._posting:
            self._commands.put(command)
            self.posted += 1

    def obey(self, model: MjModel, data: MjData) -> bool:
        """Make the changes that were asked for; returns whether there were any."""
        some = False
        while True:
            try:
                command = self._commands.get_nowait()
            except Empty:
                return some
            try:
                command(model, data)
            finally:
                self.obeyed += 1
            some = True
