"""Cameras of the browser pages, the session's camera, and mouse input from the pages.

A click selects a body; dragging with Ctrl pulls and rotates the body, as in `simulate`. Any other mouse input moves the
camera of the page that receives the input. If a script, a control of the panel, or the body to which the camera is
fixed moves the session's camera, the new pose is sent to the pages. A tracking camera moves the world in place of the
pages' cameras, so that the tracked body stays at its position in the picture.
"""

from __future__ import annotations

from math import asin, atan, atan2, degrees, pi, radians, tan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cardan.enums import mjtCamera, mjtMouse, mjtPertBit
from cardan.model import MjData, MjModel
from cardan.visual import MjvCamera, MjvScene, mjv_averageCamera, mjv_initPerturb, mjv_movePerturb, mjv_select
from cardan.visual.cameras import aim

if TYPE_CHECKING:
    from viser import CameraHandle, ClientHandle, ViserServer

    from cardan.view.publisher import Publisher
    from cardan.view.session import Session

FREE, TRACKING, FIXED = (getattr(mjtCamera, f"mjCAMERA_{name}").value for name in ("FREE", "TRACKING", "FIXED"))
UP = np.array([0.0, 0.0, 1.0])


class View(NamedTuple):
    """View of a page: position (m), unit vectors forward and up (3,), vertical field of view (rad), aspect ratio."""

    pos: np.ndarray
    forward: np.ndarray
    up: np.ndarray
    fovy: float
    aspect: float


def view_of(camera: CameraHandle, origin: np.ndarray) -> View:
    """Return the view of a page in the frame of the model, whose origin is at `origin` in the page."""
    forward = np.asarray(camera.look_at, float) - camera.position
    forward /= max(float(np.linalg.norm(forward)), 1e-12)
    right = np.cross(forward, camera.up_direction)
    up = np.cross(right, forward)
    up /= max(float(np.linalg.norm(up)), 1e-12)
    return View(np.asarray(camera.position, float) - origin, forward, up, float(camera.fov), float(camera.aspect))


def set_cameras(scene: MjvScene, view: View, m: MjModel) -> None:
    """Set both cameras of a scene (left and right eye) to the view of a page."""
    near, far = float(m.vis.map.znear * m.stat.extent), float(m.vis.map.zfar * m.stat.extent)
    for camera in scene.camera:
        camera.pos, camera.forward, camera.up = view.pos, view.forward, view.up
        camera.frustum_near, camera.frustum_far = near, far
        camera.frustum_top = near * tan(0.5 * view.fovy)
        camera.frustum_bottom = -camera.frustum_top
        camera.frustum_center = camera.frustum_width = 0.0
        camera.orthographic = 0


def free_fovy(m: MjModel, camera: MjvCamera) -> float:
    """Return the vertical field of view of a free camera, rad.

    Pages show perspective pictures only. For an orthographic camera, return the field of view that shows the same
    height at the distance of `lookat`.
    """
    fovy = float(m.vis.global_.fovy)
    return 2.0 * atan(0.5 * fovy / max(float(camera.distance), 1e-9)) if camera.orthographic else radians(fovy)


def set_orbit(camera: MjvCamera, pos: np.ndarray, lookat: np.ndarray) -> None:
    """Set distance and angles of an abstract camera at `pos` that looks at `lookat`."""
    forward = lookat - pos
    distance = float(np.linalg.norm(forward))
    if distance > 0.0:
        camera.distance = distance
        camera.azimuth = degrees(atan2(forward[1], forward[0]))
        camera.elevation = degrees(asin(max(-1.0, min(1.0, forward[2] / distance))))


def orbit_of(camera: MjvCamera) -> tuple[np.ndarray, np.ndarray]:
    """Return the position of a free or tracking camera and the point that the camera looks at, (3,) each."""
    forward, _ = aim(camera.azimuth, max(-89.9, min(89.9, camera.elevation)))
    lookat = np.array(camera.lookat, float)
    return lookat - camera.distance * np.array(forward), lookat


class Cameras:
    """Synchronisation of the session's camera and the cameras of the pages.

    `origin` is the position of the model's origin in the pages, (3,), m; `root` is the parent node of the world.
    """

    def __init__(self, session: Session, server: ViserServer, root: Any) -> None:
        self.session, self._server, self._root = session, server, root
        self.origin = np.zeros(3)
        self._known: bytes | None = None
        self._tracked: tuple[int, np.ndarray] | None = None
        self._fixed: tuple[float, ...] | None = None
        server.on_client_connect(self._greet)

    def _greet(self, client: ClientHandle) -> None:
        """Connect a new page, so that movements of the page's camera change the session's camera."""

        @client.camera.on_update
        async def _moved(camera: CameraHandle) -> None:
            pos, lookat = np.array(camera.position, float), np.array(camera.look_at, float)
            self.session.post(lambda m, d: self._take(pos, lookat))

        self._fixed = None

    def _take(self, pos: np.ndarray, lookat: np.ndarray) -> None:
        """Set the session's camera to the pose of a page's camera; the caller holds the session's lock.

        A fixed camera, or one with changes that were not sent to the pages yet, stays unchanged.
        """
        camera = self.session.camera
        if camera.type == FIXED or self._values() != self._known:
            return  # changes by a script or a control have not been sent to the pages yet
        set_orbit(camera, pos, lookat)
        if camera.type == FREE:
            camera.lookat = lookat - self.origin
        self._known = self._values()

    def _values(self) -> bytes:
        return self.session.camera.values.tobytes()

    def look(self, scene: MjvScene) -> Pose | None:
        """Return the camera pose to send to the pages, or None if none is needed; the caller holds the session's lock.

        Call this function after the scene has been updated, because the update moves a tracking camera.
        """
        camera, m = self.session.camera, self.session.model
        fovy = free_fovy(m, camera)
        if camera.type == FIXED:
            self._known, self._tracked = self._values(), None
            eye = mjv_averageCamera(*scene.camera)
            pos, forward = np.array(eye.pos, float), np.array(eye.forward, float)
            depth = float((m.stat.center - pos) @ forward) if eye.orthographic else float(eye.frustum_near)
            top = float(eye.frustum_top) / max(depth, 1e-9)
            pose = Pose(pos, pos + forward, np.array(eye.up, float), 2.0 * atan(top))
            old, self._fixed = self._fixed, (*pose.pos, *pose.lookat, *pose.up, pose.fovy)
            return pose if self._fixed != old else None
        told = self._values() != self._known
        if camera.type == TRACKING:
            told = self._track(camera)
        else:
            self._tracked = None
        self._known = self._values()
        if not told and self._fixed is None:
            return None
        self._fixed = None
        return Pose(*orbit_of(camera), UP, fovy)

    def _track(self, camera: MjvCamera) -> bool:
        """Move the world so that the tracked point stays in place; return whether to send a pose to the pages."""
        lookat, known = np.array(camera.lookat, float), MjvCamera()
        if self._known is not None:
            known.values[...] = np.frombuffer(self._known, known.values.dtype)[0]
        begins = self._known is None or known.type == FIXED
        if self._tracked is None or self._tracked[0] != camera.trackbodyid:
            point = lookat if begins else np.array(known.lookat, float)
            self._tracked = (int(camera.trackbodyid), point + self.origin)
        self.origin = self._tracked[1] - lookat
        before = (known.distance, known.azimuth, known.elevation)
        return begins or before != (camera.distance, camera.azimuth, camera.elevation)

    def tell(self, pose: Pose | None) -> None:
        """Send to all pages the position of the world and, unless `pose` is None, the pose of their cameras."""
        self._root.position = self.origin
        if pose is None:
            return
        initial = self._server.initial_camera
        initial.position, initial.look_at = pose.pos + self.origin, pose.lookat + self.origin
        initial.up, initial.fov = pose.up, pose.fovy
        for client in self._server.get_clients().values():
            camera = client.camera
            camera.up_direction = pose.up
            camera.position = pose.pos + self.origin
            camera.look_at = pose.lookat + self.origin
            camera.fov = pose.fovy

    def reset(self, m: MjModel) -> None:
        """Reset the cameras for a new model."""
        self.origin, self._known, self._tracked, self._fixed = np.zeros(3), None, None, None
        extent = float(m.stat.extent)
        initial = self._server.initial_camera
        initial.near, initial.far = float(m.vis.map.znear) * extent, float(m.vis.map.zfar) * extent
        initial.fov = radians(float(m.vis.global_.fovy)) or pi / 4


class Pose(NamedTuple):
    """Pose of a camera in the model's frame: position, target and up vector, (3,), and vertical field of view, rad."""

    pos: np.ndarray
    lookat: np.ndarray
    up: np.ndarray
    fovy: float


DRAGS = {
    "left": (mjtPertBit.mjPERT_ROTATE.value, mjtMouse.mjMOUSE_ROTATE_V.value, mjtMouse.mjMOUSE_ROTATE_H.value),
    "right": (mjtPertBit.mjPERT_TRANSLATE.value, mjtMouse.mjMOUSE_MOVE_V.value, mjtMouse.mjMOUSE_MOVE_H.value),
}
"""Effect of each mouse button while Ctrl is held: mjtPertBit, then mjtMouse without Shift and with Shift."""


class Mouse:
    """Selection and movement of bodies with the mouse in the pages.

    Mouse events become commands to the session, so that a page never waits for physics.
    """

    def __init__(self, publisher: Publisher) -> None:
        self._publisher, self.session = publisher, publisher.session
        self._scene = MjvScene()
        self._at = (0.0, 0.0)

    def watch(self, handle: Any) -> None:
        """Handle clicks on a node of the scene, and drags that begin on it."""
        handle.on_click(self._clicked)
        for button in DRAGS:
            for modifier in ("cmd/ctrl", "cmd/ctrl+shift"):
                handle.on_drag(button, modifier=modifier)(self._dragged)

    async def _clicked(self, event: Any) -> None:
        view, place = view_of(event.client.camera, self._publisher.cameras.origin), event.screen_pos
        self.session.post(lambda m, d: self.select(m, d, view, place))

    async def _dragged(self, event: Any) -> None:
        view = view_of(event.client.camera, self._publisher.cameras.origin)
        phase, button, shifted = event.phase, event.button, "shift" in event.modifier
        first, place = event.start_screen_pos, event.end_screen_pos
        self.session.post(lambda m, d: self.drag(m, d, view, phase, button, shifted, first, place))

    def select(self, m: MjModel, d: MjData, view: View, place: tuple[float, float], keep: bool = False) -> None:
        """Select the body at a point of a page's picture: (0, 0) is the upper left corner, (1, 1) the lower right.

        If `keep` is set and no movable body is visible there, the selection does not change.
        """
        scene, session = self._publisher.picture.scene, self.session
        if self._publisher.generation != session.generation:
            return  # the scene belongs to the previous model
        set_cameras(scene, view, m)
        point = np.zeros(3)
        ids = [np.full(1, -1, np.int32) for _ in range(3)]
        body = mjv_select(m, d, session.option, view.aspect, place[0], 1.0 - place[1], scene, point, *ids)
        if keep and (body <= 0 or m.body_weldid[body] == 0 > m.body_mocapid[body]):
            return
        pert = session.perturb
        pert.select, pert.flexselect, pert.skinselect = max(body, 0), int(ids[1][0]), int(ids[2][0])
        if body > 0:
            pert.localpos = d.xmat[body].reshape(3, 3).T @ (point - d.xpos[body])

    def drag(
        self,
        m: MjModel,
        d: MjData,
        view: View,
        phase: str,
        button: str,
        shifted: bool,
        first: tuple[float, float],
        place: tuple[float, float],
    ) -> None:
        """Pull or rotate the selected body. If the drag begins on a movable body, select that body first.

        `phase` is ``start``, ``update`` or ``end``, `button` is ``left`` or ``right``, and `shifted` is whether Shift
        is held. The drag began at the point `first` and is now at the point `place`, in the coordinates of `select`.
        """
        pert, (bit, *actions) = self.session.perturb, DRAGS[button]
        if phase == "start":
            self.select(m, d, view, first, keep=True)
            set_cameras(self._scene, view, m)
            mjv_initPerturb(m, d, self._scene, pert)
            pert.active, self._at = bit if pert.select > 0 else 0, first
        if pert.active:
            right, down = (place[0] - self._at[0]) * view.aspect, place[1] - self._at[1]
            set_cameras(self._scene, view, m)
            mjv_movePerturb(m, d, actions[shifted], right, down, self._scene, pert)
        self._at = place
        if phase == "end":
            pert.active = 0
