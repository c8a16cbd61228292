"""Views, which convert world points to pixels, and pixels to rays (OpenGL 1.5, section 2.11)."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from cardan.visual import MjvGLCamera, MjvScene
from cardan.visual.rooms import matrix_of, transform_of


@dataclass(frozen=True, eq=False)
class View:
    """Camera as kernels see it; objects are compared by identity.

    Attributes:
        rows: (4, 4), maps a point (x, y, z, 1) to w times pixel x, w times pixel y, w, and depth along the axis, m.
        eye: position of the camera, m.
        base, ray: (3, 3), map (1, x, y) to the origin of a pixel's ray, m, and to the ray's vector for a depth of 1 m.
        width, height: size of the picture, pixels.
        perspective: whether the projection is perspective; else it is orthographic.
        near, far: distances of the clipping planes, m.
        focal: pixels per metre; in a perspective projection, at a distance of 1 m.
        limit: (3,), largest visible inverse depth as a linear function: coefficients of pixel x, pixel y and 1. In an
            orthographic projection, `far` - depth replaces the inverse depth, here and in all kernels.
        flip: whether the view shows a mirrored world.
        mirror: geom that is the mirror, or -1.
        shadow: whether the view is that of a light, for a shadow map.
    """

    rows: np.ndarray
    eye: np.ndarray
    base: np.ndarray
    ray: np.ndarray
    width: int
    height: int
    perspective: bool
    near: float
    far: float
    focal: float
    limit: np.ndarray
    flip: bool = False
    mirror: int = -1
    shadow: bool = False


def average_camera(scene: MjvScene) -> MjvGLCamera:
    """Return the mean of the two cameras of a scene (left and right eye)."""
    middle = MjvGLCamera()
    words = scene.camera_values.view(np.float32).reshape(2, -1)
    middle.values[...] = (0.5 * (words[0] + words[1])).view(middle.dtype)[0]
    middle.values["orthographic"] = scene.camera_values["orthographic"][0]
    return middle


def in_model(scene: MjvScene, camera: MjvGLCamera) -> MjvGLCamera:
    """Convert a camera from room space to model space, the space of geoms and lights.

    If the scene has a transform (`enabletransform`), the model is scaled, rotated and moved in the room.
    """
    if not scene.enabletransform:
        return camera
    translate, rotate, scale = transform_of("mjr_render", scene)
    to_model = matrix_of(rotate).T
    turned = copy(camera)
    turned.pos = to_model @ (np.asarray(camera.pos, float) - translate) / scale
    turned.forward, turned.up = to_model @ camera.forward, to_model @ camera.up
    for side in ("center", "width", "bottom", "top", "near", "far"):
        setattr(turned, f"frustum_{side}", getattr(camera, f"frustum_{side}") / scale)
    return turned


def length_of(vector: np.ndarray) -> float:
    """Return the length of a vector. This is three times as fast as NumPy's function."""
    return sqrt(vector.dot(vector))


def axes_of(forward: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Return right, up and forward unit vectors as rows (3, 3); `forward` and `up` need not be perpendicular."""
    forward = forward / length_of(forward)
    up = up - forward * (up @ forward)
    length = length_of(up)
    if length < 1e-9:
        up = np.eye(3)[np.argmin(np.abs(forward))]
        up = up - forward * (up @ forward)
        length = length_of(up)
    up = up / length
    (a, b, c), (x, y, z) = forward.tolist(), up.tolist()
    return np.array([(b * z - c * y, c * x - a * z, a * y - b * x), (x, y, z), (a, b, c)])


def make_view(
    axes: np.ndarray,
    position: np.ndarray,
    window: tuple[float, float, float, float],
    size: tuple[int, int],
    perspective: bool,
    near: float,
    far: float,
    shadow: bool = False,
) -> View:
    """Make a view through a window.

    The axes (3, 3) are right, up and forward as rows. The edges of the window are left, right, lower and upper, m; in a
    perspective projection they are at a distance of 1 m. `size` is the size of the picture, pixels; `near` and `far`
    are the distances of the clipping planes, m. Set `shadow` for the view of a light. The few numbers are computed one
    by one, because NumPy calls take longer.
    """
    left, right, bottom, top = window
    width, height = size
    sx, sy = width / (right - left), height / (top - bottom)
    across, up, ahead = axes.tolist()
    from_eye = (-(axes @ position)).tolist()
    depth = [*ahead, from_eye[2]]
    w = depth if perspective else [0.0, 0.0, 0.0, 1.0]
    x = [sx * (e - left * k) for e, k in zip([*across, from_eye[0]], w, strict=True)]
    y = [sy * (e - bottom * k) for e, k in zip([*up, from_eye[1]], w, strict=True)]
    # pixel (x, y) is right (left + x / sx) + up (bottom + y / sy) in the window, which is part of the ray or its origin
    moving = ahead if perspective else position.tolist()
    window_of = [
        (m + (r * left + u * bottom), 0.0 + r / sx, 0.0 + u / sy) for m, r, u in zip(moving, across, up, strict=True)
    ]
    still = [(s, 0.0, 0.0) for s in (position.tolist() if perspective else ahead)]
    base, ray = (still, window_of) if perspective else (window_of, still)
    limit = np.array([0.0, 0.0, 1.0 / near if perspective else far - near])
    rows = np.array([x, y, w, depth])
    base, ray = np.array(base), np.array(ray)
    return View(rows, position, base, ray, width, height, perspective, near, far, sy, limit, shadow=shadow)


def view_of(camera: MjvGLCamera, width: int, height: int) -> View:
    """Make the view of a scene's `camera` for a picture of `width` by `height` pixels."""
    axes = axes_of(np.asarray(camera.forward, float), np.asarray(camera.up, float))
    bottom, top, near = camera.frustum_bottom, camera.frustum_top, camera.frustum_near
    half = camera.frustum_width or 0.5 * (top - bottom) * width / height
    perspective = not camera.orthographic
    scale = 1.0 / near if perspective else 1.0
    window = np.array([camera.frustum_center - half, camera.frustum_center + half, bottom, top]) * scale
    left, right, low, high = (float(edge) for edge in window)
    position = np.asarray(camera.pos, float)
    return make_view(axes, position, (left, right, low, high), (width, height), perspective, near, camera.frustum_far)


def mirrored(view: View, point: np.ndarray, normal: np.ndarray, geom: int) -> View:
    """Make the view of the mirrored world, clipped at the mirror: a plane through `point`, m, with unit `normal`."""
    turn = np.eye(3) - 2.0 * np.outer(normal, normal)
    shift = 2.0 * normal * (normal @ point)
    matrix = np.block([[turn, shift[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])
    base, ray = turn @ view.base, turn @ view.ray
    base[:, 0] += shift
    # depth of the mirror: normal (base + depth ray - point) = 0
    along, away = normal @ view.ray, normal @ view.base
    away[0] -= normal @ point
    if view.perspective:  # 1 / depth is linear in the pixel
        near = -along / (away[0] if abs(away[0]) > 1e-12 else 1e-12)
        limit = np.array([near[1], near[2], near[0]])
    else:
        depth = -away / (along[0] if abs(along[0]) > 1e-12 else 1e-12)
        limit = np.array([-depth[1], -depth[2], view.far - depth[0]])
    return replace(
        view,
        rows=view.rows @ matrix,
        eye=turn @ view.eye + shift,
        base=base,
        ray=ray,
        limit=limit,
        flip=True,
        mirror=geom,
    )
