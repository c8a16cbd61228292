"""State shared by physics, pages and scripts: the model, its data, and the display settings."""

from __future__ import annotations

import threading
from collections.abc import Callable
from copy import copy
from math import ceil, sqrt
from queue import Empty, SimpleQueue

import numpy as np

from cardan.enums import mjtCatBit, mjtGeom
from cardan.model import MjData, MjModel
from cardan.view.overlays import Overlays
from cardan.visual import MjvCamera, MjvOption, MjvPerturb, MjvScene, mjv_addGeoms, mjv_defaultFreeCamera

Command = Callable[[MjModel, MjData], None]
"""Change requested by a page. The thread that steps the data executes the command between two steps."""

USER_GEOMS = 10000
"""Largest number of geoms that a script can add to the scene."""


class Session:
    """A model, its data, and the display settings.

    All members except `post`, `posted`, `obeyed` and `closed` are used only while the reentrant `lock` is held.
    `others` are data of further worlds, which start as copies of `data` and are displayed beside the first world.
    `flags` contains rendering flags (mjtRndFlag). A script adds `user_geoms` (`MjvGeom`) and `overlays`. `speed` is
    simulated seconds per second. `posted` and `obeyed` count requested and executed commands. `generation` counts
    models loaded after the first.
    """

    def __init__(self, model: MjModel, data: MjData, worlds: int = 1) -> None:
        self.lock = threading.RLock()
        self.closed = threading.Event()
        self.option, self.perturb, self.camera = MjvOption(), MjvPerturb(), MjvCamera()
        self.flags = np.array(MjvScene().values["flags"])
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
        self.overlays = Overlays()
        self.perturb = MjvPerturb()
        mjv_defaultFreeCamera(model, self.camera)

    @property
    def worlds(self) -> list[MjData]:
        """Data of all worlds, the first world first."""
        return [self.data, *self.others]

    def load(self, model: MjModel, data: MjData) -> None:
        """Show another model."""
        with self.lock:
            self._take(model, data)
            self.generation += 1

    def post(self, command: Command) -> None:
        """Request a change of the model or the data; return at once."""
        with self._posting:
            self._commands.put(command)
            self.posted += 1

    def obey(self, model: MjModel, data: MjData) -> bool:
        """Execute all requested changes; return whether there were any requests."""
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


MOVING = mjtCatBit.mjCAT_DYNAMIC.value | mjtCatBit.mjCAT_DECOR.value
"""Categories of geoms (mjtCatBit) that are shown for worlds after the first."""
ALL = mjtCatBit.mjCAT_ALL.value
SOFT = (mjtGeom.mjGEOM_FLEX.value, mjtGeom.mjGEOM_SKIN.value)
SPACING = 1.0
"""Distance between worlds, relative to the extent of the model."""


def place_of_world(k: int, count: int, spacing: float) -> np.ndarray:
    """Return the origin (3,), m, of world `k` of `count` worlds, which form a square grid. World 0 is at (0, 0, 0)."""
    side = ceil(sqrt(count))
    return np.array([spacing * (k // side), spacing * (k % side), 0.0])


def places_of_others(m: MjModel, count: int) -> list[np.ndarray]:
    """Return the origins of the worlds after the first, (3,) each, m."""
    return [place_of_world(k, count, SPACING * float(m.stat.extent)) for k in range(1, count)]


def add_others(m: MjModel, others: list[MjData], option: MjvOption, scene: MjvScene) -> None:
    """Add the moving objects of further worlds (data `others`) to a `scene` of the first world, each at its origin.

    `option` selects the visible elements. A scene contains the vertices of one world only, so the flexes and skins of
    other worlds are omitted.
    """
    for d, origin in zip(others, places_of_others(m, 1 + len(others)), strict=True):
        start = scene.ngeom
        mjv_addGeoms(m, d, option, None, MOVING, scene)
        added = scene.geom_values[start : scene.ngeom]
        added["pos"] += origin
        rigid = added[~np.isin(added["type"], SOFT)]
        scene.ngeom = start + len(rigid)
        scene.geom_values[start : scene.ngeom] = rigid
