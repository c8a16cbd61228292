"""Thread that builds the session's scene and sends it to the pages, at most 60 times per second."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from cardan.render.assets import PLANE_REACH
from cardan.step.report import tell
from cardan.view.camera import Cameras, Mouse, Pose
from cardan.view.instances import Lines, ModelSurfaces, Unit, instances_of, joined, lines_of, unit
from cardan.view.lights import Effects, has_horizon
from cardan.view.nodes import ROOT, Nodes, Painter
from cardan.view.objects import Labels, LineNode, Planes, Soft, SoftGeoms, soft_scene
from cardan.view.session import ALL, MOVING, Session, places_of_others
from cardan.visual import MjvCamera, MjvScene, mjv_updateScene

if TYPE_CHECKING:
    from viser import ViserServer

RATE = 60.0
"""Largest number of updates per second."""
MAXGEOM = 20000


class Picture:
    """Copy of a session's scene that can be sent to the pages without holding the lock.

    The copy contains geoms (`MjvGeom`) with their world indices, lights (`MjvLight`), rendering flags, and the flexes
    and skins of each world.
    """

    def __init__(self, session: Session) -> None:
        self.scene = MjvScene(session.model, MAXGEOM)
        self._camera = MjvCamera()
        self.geoms = self.scene.geom_values[:0]
        self.world = np.zeros(0, int)
        self.soft = [soft_scene(self.scene)]
        self.lights = self.scene.light_values[:0]
        self.flags = session.flags.copy()

    def take(self, session: Session) -> None:
        """Update the scene from the current state; the caller holds the session's lock."""
        m, scene = session.model, self.scene
        self.flags = session.flags.copy()
        has_soft = bool(m.nflex or m.nskin)
        count = 1 + len(session.others)
        parts, softs = [], []
        for other, origin in zip(session.others, places_of_others(m, count), strict=True):
            mjv_updateScene(m, other, session.option, None, self._camera, MOVING, scene)
            parts.append(scene.geom_values[: scene.ngeom].copy())
            parts[-1]["pos"] += origin
            if has_soft:
                softs.append(soft_scene(scene).moved(origin))
        mjv_updateScene(m, session.data, session.option, session.perturb, session.camera, ALL, scene)
        parts.append(scene.geom_values[: scene.ngeom].copy())
        parts.append(session.user_geoms)
        self.geoms = np.concatenate(parts)
        self.world = np.repeat([*range(1, count), 0, 0], [len(part) for part in parts])
        self.lights = scene.light_values[: scene.nlight].copy()
        if has_soft:
            self.soft = [soft_scene(scene), *softs]

    def content(self) -> list[np.ndarray]:
        """Return all arrays to be sent; later updates do not modify them."""
        soft = [np.asarray(part) for scene in self.soft for part in scene]
        return [self.geoms, self.world, self.lights, self.flags, *soft]


class Publisher:
    """Thread that sends a session's scene to all pages. `sent` counts the updates; `rate` is updates per second.

    `picture` is the last scene; `generation` is the session's number of the model shown in it. The functions in
    `also`, such as updates of the controls, are called at each update without the lock.
    """

    def __init__(self, session: Session, server: ViserServer) -> None:
        self.session, self._server = session, server
        self.also: list[Callable[[], None]] = []
        self.sent, self.rate, self._counted = 0, 0.0, (time.perf_counter(), 0)
        self._thread: threading.Thread | None = None
        self.generation, self._trouble = -1, ""
        self._content: list[np.ndarray] = []
        self._renewed: list[tuple[str, int]] = []
        self.cameras = Cameras(session, server, server.scene.add_frame(ROOT, show_axes=False))
        self.mouse = Mouse(self)
        with session.lock:
            self._prepare()

    def _prepare(self) -> None:
        """Prepare for the session's current model."""
        session, scene = self.session, self._server.scene
        m, self._content = session.model, []
        if self.generation >= 0:
            for part in (self.nodes, self.planes, self.soft, self.labels, self.lines, self.effects):
                part.clear()
        self.generation = session.generation
        self.picture = Picture(session)
        self.surfaces = ModelSurfaces(m)
        self.painter = Painter(self.surfaces)
        self.cameras.reset(m)
        reach = PLANE_REACH * float(m.vis.map.zfar * m.stat.extent)
        self.nodes = Nodes(scene, self.surfaces, self.mouse.watch)
        self.planes = Planes(scene, self.surfaces, reach, self.mouse.watch)
        self.soft = Soft(scene, m, self.mouse.watch)
        self.effects = Effects(scene, m, self.surfaces)
        self.labels, self.lines = Labels(scene), LineNode(scene)

    def start(self) -> None:
        """Start the thread; it ends when the session is closed."""
        self._thread = threading.Thread(target=self._run, name="cardan pages", daemon=True)
        self._thread.start()

    def join(self, timeout: float | None = None) -> None:
        """Wait for the thread to end."""
        if self._thread is not None:
            self._thread.join(timeout)

    def _run(self) -> None:
        due = time.perf_counter()
        while not self.session.closed.is_set():
            try:
                self.update()
            except Exception as error:  # a failing panel or node must not stop the updates
                text = f"{type(error).__name__}: {error}"
                if not self.session.closed.is_set() and text != self._trouble:
                    self._trouble = text
                    traceback.print_exception(error)
                    tell(f"The viewer had trouble: {text}")
            due = max(due + 1.0 / RATE, time.perf_counter() - 1.0 / RATE)
            time.sleep(max(0.0, due - time.perf_counter()))

    def update(self) -> None:
        """Update the scene, send what has changed, and call the functions in `also`."""
        with self.session.lock:
            if self.session.generation != self.generation:
                self._prepare()
            for kind, number in self._renewed:
                self.surfaces.update(self.session.model, kind, number)
            if self._renewed:
                self._content = []
                self._renewed.clear()
                for part in (self.painter, self.nodes, self.planes):
                    part.clear()
            self.picture.take(self.session)
            pose = self.cameras.look(self.picture.scene)
        content = self.picture.content()
        # in structures, padding between the fields is not compared
        if len(content) == len(self._content) and all(map(np.array_equal, content, self._content)):
            self.cameras.tell(pose)
        else:
            self._content = []  # until everything was sent
            self._show(pose)
            self._content = content
        self._server.flush()  # at once, not at viser's next tick
        self.sent += 1
        now = time.perf_counter()
        if now - self._counted[0] > 1.0:
            self.rate = (self.sent - self._counted[1]) / (now - self._counted[0])
            self._counted = (now, self.sent)
        for function in self.also:
            function()

    def renew(self, kind: str, number: int) -> None:
        """Show a mesh, height field (`hfield`) or texture with its current values; the caller holds the lock."""
        self._renewed.append((kind, number))

    def _show(self, pose: Pose | None) -> None:
        picture = self.picture
        geoms, soft, flags = picture.geoms, SoftGeoms(picture.geoms, picture.world, picture.soft), picture.flags
        looks = self.painter.looks(geoms, flags)
        batches = instances_of(geoms)
        points = self.soft.points(soft)
        if points is not None:
            spheres = unit(Unit.SPHERE)
            batches[spheres] = joined([batches[spheres], points]) if spheres in batches else points
        lines = Lines(*map(np.concatenate, zip(lines_of(geoms), self.soft.edges(soft), strict=True)))
        with self._server.atomic():
            self.effects.show(flags, picture.lights, has_horizon(geoms))
            self.nodes.show(batches, looks)
            self.planes.show(geoms, looks)
            self.soft.show(soft, looks)
            self.labels.show(geoms)
            self.lines.show(lines, looks.rgb)
            self.cameras.tell(pose)
