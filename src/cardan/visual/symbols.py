"""Symbols of the model's cameras and lights in the scene (stages)."""

from __future__ import annotations

from typing import Any

from cardan.enums import mjtFrame, mjtLabel, mjtObj
from cardan.jit import OK, kernel, stage
from cardan.maths.vector import add_scaled3, column3, cross, get3, get9, norm3, scale3, sub3
from cardan.model.kernel_views import Data, Model
from cardan.visual.append import (
    DECOR,
    GEOM_BOX,
    GEOM_CYLINDER,
    GEOM_LINE,
    GEOM_TRIANGLE,
    connect,
    decorate,
    name_it,
    new_geom,
    put,
    put_rgba,
    rgba_of,
    z_to,
)
from cardan.visual.axes import frame_axes
from cardan.visual.cameras import intrinsic_frustum
from cardan.visual.memory import FRAME

OBJ_CAMERA, OBJ_LIGHT = int(mjtObj.mjOBJ_CAMERA), int(mjtObj.mjOBJ_LIGHT)
LABEL_CAMERA, LABEL_LIGHT = int(mjtLabel.mjLABEL_CAMERA), int(mjtLabel.mjLABEL_LIGHT)
CAMERA_FRAME, LIGHT_FRAME = int(mjtFrame.mjFRAME_CAMERA), int(mjtFrame.mjFRAME_LIGHT)
LINE_WIDTH = 3.0
CLEARANCE = 1e-4
"""Distance of the symbol behind its light, m, so that it casts no shadow."""


@kernel
def _camera(m: Model, d: Data, cam: int) -> None:
    """Add a box, and a cylinder in a darker colour as its lens."""
    size = m.vis.scale.camera * m.stat.meansize
    pos, mat = get3(d.cam_xpos, cam), get9(d.cam_xmat, cam)
    rgba = rgba_of(m.vis.rgba.camera)
    g = decorate(d, OBJ_CAMERA, cam, GEOM_BOX, (size, 0.8 * size, 0.4 * size), pos, mat, rgba)
    name_it(d, g, LABEL_CAMERA, cam)
    lens = add_scaled3(pos, column3(mat, 2), -0.6 * size)
    dark = (0.5 * rgba[0], 0.5 * rgba[1], 0.5 * rgba[2], rgba[3])
    decorate(d, OBJ_CAMERA, cam, GEOM_CYLINDER, (0.4 * size, 0.4 * size, 0.3 * size), lens, mat, dark)


@kernel
def _triangle(m: Model, d: Data, cam: int, a: Any, b: Any, c: Any) -> None:
    """Add a triangle: its position is the first corner, its axes are two edges and their cross product."""
    g = new_geom(d, DECOR, OBJ_CAMERA, cam)
    if g < 0:
        return
    x, y = sub3(b, a), sub3(c, a)
    z = cross(x, y)
    size = (norm3(x), norm3(y), norm3(z))
    x, y, z = scale3(x, 1.0 / size[0]), scale3(y, 1.0 / size[1]), scale3(z, 1.0 / size[2])
    put(d, g, GEOM_TRIANGLE, size, a, (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]))
    put_rgba(d, g, rgba_of(m.vis.rgba.frustum))


@kernel
def _line(m: Model, d: Data, cam: int, a: Any, b: Any) -> None:
    g = new_geom(d, DECOR, OBJ_CAMERA, cam)
    if g >= 0:
        connect(d, g, GEOM_LINE, LINE_WIDTH, a, b)
        put_rgba(d, g, rgba_of(m.vis.rgba.frustum))


@kernel
def _corner(pos: Any, mat: Any, frustum: Any, depth: float, k: int) -> Any:
    """Corner `k` of the frustum at a depth, world frame: counter-clockwise from the lower left, seen by the camera."""
    center, width, bottom, top = frustum
    x = center + (width if k == 1 or k == 2 else -width)
    y = top if k >= 2 else bottom
    point = add_scaled3(pos, column3(mat, 0), x * depth)
    point = add_scaled3(point, column3(mat, 1), y * depth)
    return add_scaled3(point, column3(mat, 2), -depth)


@kernel
def _frustum(m: Model, d: Data, cam: int) -> None:
    """Add the four sides of the frustum of a camera with a sensor, as triangles and lines."""
    pos, mat = get3(d.cam_xpos, cam), get9(d.cam_xmat, cam)
    frustum = intrinsic_frustum(m, cam)
    near = m.vis.map.znear * m.stat.extent
    far = m.vis.scale.frustum * m.stat.meansize
    for k in range(4):
        after = (k + 1) % 4
        near0, near1 = _corner(pos, mat, frustum, near, k), _corner(pos, mat, frustum, near, after)
        far0, far1 = _corner(pos, mat, frustum, far, k), _corner(pos, mat, frustum, far, after)
        _triangle(m, d, cam, near0, far0, near1)
        _triangle(m, d, cam, far0, far1, near1)
        _line(m, d, cam, near0, near1)
        _line(m, d, cam, far0, far1)
        _line(m, d, cam, near0, far0)


@stage
def add_cameras(m: Model, d: Data) -> int:
    """Add the cameras, with their frames if these are requested."""
    for cam in range(m.ncam):
        _camera(m, d, cam)
        if d.work.scn_state[FRAME] == CAMERA_FRAME:
            frame_axes(m, d, cam, get3(d.cam_xpos, cam), get9(d.cam_xmat, cam), 1.0)
    return OK


@stage
def add_frustums(m: Model, d: Data) -> int:
    """Add the frustums of the cameras with a sensor."""
    for cam in range(m.ncam):
        if m.cam_sensorsize[cam, 0] > 0.0 and m.cam_sensorsize[cam, 1] > 0.0:
            _frustum(m, d, cam)
    return OK


@stage
def add_lights(m: Model, d: Data) -> int:
    """Add the lights, with their frames if these are requested."""
    size = m.vis.scale.light * m.stat.meansize
    for light in range(m.nlight):
        aim = get3(d.light_xdir, light)
        pos = add_scaled3(get3(d.light_xpos, light), aim, -(size + CLEARANCE))
        shape = (0.8 * size, 0.8 * size, size)
        g = decorate(d, OBJ_LIGHT, light, GEOM_CYLINDER, shape, pos, z_to(aim), rgba_of(m.vis.rgba.light))
        name_it(d, g, LABEL_LIGHT, light)
        if d.work.scn_state[FRAME] == LIGHT_FRAME:
            frame_axes(m, d, light, get3(d.light_xpos, light), z_to(aim), 1.0)
    return OK
