"""Rangefinders: one ray from a site, or a ray through each pixel of a camera (spec 4.0: XML reference, rangefinder).

A camera's rays go from the top row to the bottom row, from left to right, through the centres of the pixels. The values
of each ray are chosen by bits (`sensor_intprm[0]`); the values of one ray follow one another.
"""

from __future__ import annotations

from math import pi, tan

from cardan.collision.ray_scene import normal_at, ray_scene
from cardan.enums import mjtProjection
from cardan.enums.codes import OBJ_CAMERA
from cardan.jit import kernel
from cardan.maths.types import Vec3, Vec4
from cardan.maths.vector import add_scaled3, column3, dot3, get3, get9, mul_mat_vec3, normalize3
from cardan.model.kernel_views import Data, Model
from cardan.sensor.position import focal_lengths

DIST, DIR, ORIGIN, POINT, NORMAL, DEPTH = (1 << bit for bit in range(6))
"""Bits of the data, in the order of the values."""
WIDTHS = (1, 3, 3, 3, 3, 1)
"""Number of values of each bit of the data."""
NOTHING = -1.0
"""Distance and depth of a ray that hits no geom."""
ORTHOGRAPHIC = int(mjtProjection.mjPROJ_ORTHOGRAPHIC)
ZERO = (0.0, 0.0, 0.0)


@kernel
def _width(k: int) -> int:
    """Return the number of values of bit `k`; an element of `WIDTHS`, which a kernel cannot index by a variable."""
    return 3 if 0 < k < len(WIDTHS) - 1 else 1


@kernel
def data_of_rays(m: Model, i: int) -> tuple[int, int]:
    """Return the bits of a rangefinder's data, and the number of values of a ray."""
    bits, width = m.sensor_intprm[i, 0], 0
    if bits == 0:
        bits = DIST
    for k in range(len(WIDTHS)):
        if bits >> k & 1:
            width += _width(k)
    return bits, width


@kernel
def place_of(bits: int, bit: int) -> int:
    """Return the index of the value `bit` among the values of a ray, or -1 if it is not one of them."""
    if not bits & bit:
        return -1
    place = 0
    for k in range(len(WIDTHS)):
        if 1 << k == bit:
            return place
        if bits >> k & 1:
            place += _width(k)
    return -1


@kernel
def _slopes(m: Model, camera: int) -> Vec4:
    """Return the pixel at which a camera looks (column, row), and the slopes between neighbouring columns and rows.

    The pixel is that of the camera's axis, or of the principal point. Slopes are 0 if there is no focal length.
    """
    width, height = float(m.cam_resolution[camera, 0]), float(m.cam_resolution[camera, 1])
    x, y = 0.5 * width, 0.5 * height
    if m.cam_sensorsize[camera, 0] > 0.0 and m.cam_sensorsize[camera, 1] > 0.0:
        fx, fy = focal_lengths(m, camera)
        x -= m.cam_intrinsic[camera, 2] / m.cam_sensorsize[camera, 0] * width
        y += m.cam_intrinsic[camera, 3] / m.cam_sensorsize[camera, 1] * height
        return (x, y, 1.0 / fx if fx > 0.0 else 0.0, 1.0 / fy if fy > 0.0 else 0.0)
    slope = 2.0 * tan(m.cam_fovy[camera] * pi / 360.0) / height
    return (x, y, slope, slope)


@kernel
def _ray_of_camera(m: Model, d: Data, camera: int, k: int) -> tuple[Vec3, Vec3]:
    """Return start and direction of the ray through pixel `k` of a camera; see `ray_of`."""
    pos, mat = get3(d.cam_xpos, camera), get9(d.cam_xmat, camera)
    width, height = int(m.cam_resolution[camera, 0]), int(m.cam_resolution[camera, 1])
    if width < 1 or height < 1:  # edited
        return pos, ZERO
    column, row = k % width + 0.5, k // width + 0.5
    if m.cam_projection[camera] == ORTHOGRAPHIC:
        # as in 4.0.0, rays cover a square whose sides are the height of the view, whatever the resolution
        view = m.cam_fovy[camera]
        shift = ((column / width - 0.5) * view, (0.5 - row / height) * view, 0.0)
        return add_scaled3(pos, mul_mat_vec3(mat, shift), 1.0), mul_mat_vec3(mat, (0.0, 0.0, -1.0))
    x, y, horizontal, vertical = _slopes(m, camera)
    if m.cam_sensorsize[camera, 0] > 0.0 and (horizontal == 0.0 or vertical == 0.0):
        return pos, ZERO
    line = ((column - x) * horizontal, (y - row) * vertical, -1.0)
    return pos, mul_mat_vec3(mat, normalize3(line))


@kernel
def ray_of(m: Model, d: Data, i: int, k: int) -> tuple[Vec3, Vec3]:
    """Return start and unit direction of ray `k` of a rangefinder, world frame.

    The direction is 0 for a camera with a sensor size and without a focal length.
    """
    number = m.sensor_objid[i]
    if m.sensor_objtype[i] == OBJ_CAMERA:
        return _ray_of_camera(m, d, number, k)
    return get3(d.site_xpos, number), column3(get9(d.site_xmat, number), 2)


@kernel
def _put(d: Data, at: int, v: Vec3) -> int:
    """Store three values from `at` on; return the index after them."""
    for k in range(3):
        d.sensordata[at + k] = v[k]
    return at + 3


@kernel
def _put_ray(d: Data, bits: int, at: int, dist: float, dir: Vec3, start: Vec3, normal: Vec3, depth: float) -> None:
    """Store the values of a ray from `at` on; `dist` is `NOTHING` if the ray hits nothing."""
    hit = dist >= 0.0
    if bits & DIST:
        d.sensordata[at] = dist
        at += 1
    if bits & DIR:
        at = _put(d, at, dir if hit else ZERO)
    if bits & ORIGIN:
        at = _put(d, at, start)
    if bits & POINT:
        at = _put(d, at, add_scaled3(start, dir, dist) if hit else ZERO)
    if bits & NORMAL:
        at = _put(d, at, normal)
    if bits & DEPTH:
        d.sensordata[at] = depth


@kernel
def rangefinder(m: Model, d: Data, i: int) -> None:
    """Data of the nearest visible geoms on the rays of a site or camera; geoms of its own body are not seen."""
    camera, number = m.sensor_objtype[i] == OBJ_CAMERA, m.sensor_objid[i]
    body = m.cam_bodyid[number] if camera else m.site_bodyid[number]
    bits, width = data_of_rays(m, i)
    for k in range(m.sensor_dim[i] // width):
        start, direction = ray_of(m, d, i, k)
        dist, geom = NOTHING, -1
        if dot3(direction, direction) > 0.0:
            dist, geom = ray_scene(m, d, start, direction, False, True, body)
        normal, depth = ZERO, dist
        if bits & NORMAL and geom >= 0:
            normal = normal_at(m, d, geom, start, direction, dist)
        if camera and geom >= 0:
            depth = -dist * dot3(direction, column3(get9(d.cam_xmat, number), 2))
        _put_ray(d, bits, m.sensor_adr[i] + k * width, dist, direction, start, normal, depth)
