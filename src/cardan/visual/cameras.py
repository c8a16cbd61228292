"""Stages that set the cameras and lights of the scene, and add symbols of the model's cameras and lights."""

from __future__ import annotations

from math import cos, pi, sin, tan

from cardan.enums import mjtCamera
from cardan.enums.codes import CAMERA_TRACKING, CAT_DECOR, GEOM_BOX, GEOM_CYLINDER, OBJ_CAMERA
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Array2, Mat3, Vec3, Vec4
from cardan.maths.vector import add3, add_scaled3, column3, cross, get3, get4, get9, norm3, normalize3, scale3, sub3
from cardan.model.kernel_views import Data, Model
from cardan.model.lights import DIRECTIONAL, IMAGE, POINT, light_type
from cardan.visual.append import (
    GEOM_LINE,
    GEOM_TRIANGLE,
    OBJ_LIGHT,
    decorate,
    frame_axes,
    link,
    name_it,
    rgba_of,
    z_to,
)
from cardan.visual.fields import MAXLIGHT
from cardan.visual.memory import (
    AZIMUTH,
    CAM_FIXED,
    CAM_ORTHOGRAPHIC,
    CAM_TRACK,
    CAM_TYPE,
    CAMERA,
    DISTANCE,
    ELEVATION,
    FRAME,
    FRAMES,
    LABELS,
    LIGHT,
    LOOKAT,
    NLIGHT,
)

FREE, FIXED = int(mjtCamera.mjCAMERA_FREE), int(mjtCamera.mjCAMERA_FIXED)
POS, FORWARD, UP, NEAR, FAR = (CAMERA[k] for k in ("pos", "forward", "up", "frustum_near", "frustum_far"))
CENTER, WIDTH, BOTTOM, TOP = (CAMERA[f"frustum_{k}"] for k in ("center", "width", "bottom", "top"))
ORTHOGRAPHIC = 1
"""Value of `cam_projection` for orthographic cameras; their field of view is a height, m."""
NO_CONE = 180.0
"""Cutoff angle, degrees, of lights that shine in all directions."""
TRACKED = 0.2
"""Fraction of the distance to the tracked centre of mass by which `lookat` moves at each update. In MuJoCo 4.0
(``m.is_4_0``), it moves there at once."""
LABEL_CAMERA, LABEL_LIGHT = LABELS["CAMERA"], LABELS["LIGHT"]
FRAME_CAMERA, FRAME_LIGHT = FRAMES["CAMERA"], FRAMES["LIGHT"]
LINE_WIDTH = 3.0
CLEARANCE = 1e-4
"""Distance, m, of a light's symbol behind the light, so that the symbol casts no shadow."""
LIGHT_POS, DIR, ATTENUATION, CUTOFF, EXPONENT = (LIGHT[k] for k in ("pos", "dir", "attenuation", "cutoff", "exponent"))
AMBIENT, DIFFUSE, SPECULAR, BYTES = (LIGHT[k] for k in ("ambient", "diffuse", "specular", "headlight"))
BULBRADIUS = LIGHT["bulbradius"]
CAM_POS, CAM_FORWARD = CAMERA["pos"], CAMERA["forward"]
IS_HEADLIGHT, IS_DIRECTIONAL, CASTS_SHADOW = 1, 1 << 8, 1 << 16


@kernel
def camera_average(d: Data, word: int) -> Vec3:
    """Return the average of a vector of both cameras of the scene; `word` is the index of the vector's first word."""
    left = (d.work.scn_camera[0, word], d.work.scn_camera[0, word + 1], d.work.scn_camera[0, word + 2])
    right = (d.work.scn_camera[1, word], d.work.scn_camera[1, word + 1], d.work.scn_camera[1, word + 2])
    return scale3(add3(left, right), 0.5)


@kernel
def aim(azimuth: float, elevation: float) -> tuple[Vec3, Vec3]:
    """Return the forward and up unit vectors (3 each) of a camera with an azimuth and an elevation, degrees."""
    a, e = azimuth * pi / 180.0, elevation * pi / 180.0
    forward = (cos(e) * cos(a), cos(e) * sin(a), sin(e))
    up = (-sin(e) * cos(a), -sin(e) * sin(a), cos(e))
    return forward, up


@kernel
def _put_eyes(d: Data, pos: Vec3, forward: Vec3, up: Vec3, right: Vec3, ipd: float) -> None:
    """Place both cameras at a distance of `ipd` / 2 to the left and right of `pos`, and set their orientation."""
    cameras = d.work.scn_camera
    for eye in range(2):
        place = add_scaled3(pos, right, (eye - 0.5) * ipd)
        for k in range(3):
            cameras[eye, POS + k] = place[k]
            cameras[eye, FORWARD + k] = forward[k]
            cameras[eye, UP + k] = up[k]


@kernel
def _put_window(m: Model, d: Data, height: float) -> None:
    """Make both cameras orthographic, with windows of the given `height`, m; set their clipping planes."""
    _put_planes(m, d, (0.0, 0.0, -0.5 * height, 0.5 * height), 1.0)
    d.work.scn_state[CAM_ORTHOGRAPHIC] = 1


@kernel
def _put_frustum(m: Model, d: Data, frustum: Vec4) -> None:
    """Make both cameras perspective with the given `frustum` (centre, half width, bottom, top) at distance 1."""
    _put_planes(m, d, frustum, m.vis.map.znear * m.stat.extent)
    d.work.scn_state[CAM_ORTHOGRAPHIC] = 0


@kernel
def _put_planes(m: Model, d: Data, frustum: Vec4, scale: float) -> None:
    """Set clipping planes of both cameras, and their windows: `frustum` (centre, half width, bottom, top) * `scale`."""
    near = m.vis.map.znear * m.stat.extent
    far = m.vis.map.zfar * m.stat.extent
    cameras = d.work.scn_camera
    for eye in range(2):
        cameras[eye, CENTER] = frustum[0] * scale
        cameras[eye, WIDTH] = frustum[1] * scale
        cameras[eye, BOTTOM] = frustum[2] * scale
        cameras[eye, TOP] = frustum[3] * scale
        cameras[eye, NEAR] = near
        cameras[eye, FAR] = far


@kernel
def symmetric_frustum(fovy: float) -> Vec4:
    """Return the frustum (centre, half width, bottom, top) at distance 1 for a vertical field of view, degrees."""
    half = tan(fovy * pi / 360.0)
    return (0.0, 0.0, -half, half)


@kernel
def intrinsic_frustum(m: Model, cam: int) -> Vec4:
    """Return the frustum (centre, half width, bottom, top) at distance 1 of a camera that has a sensor size."""
    fx, fy, cx, cy = get4(m.cam_intrinsic, cam)
    width, height = m.cam_sensorsize[cam, 0], m.cam_sensorsize[cam, 1]
    return (cx / fx, 0.5 * width / fx, (cy - 0.5 * height) / fy, (cy + 0.5 * height) / fy)


@kernel
def viewed_frustum(m: Model, cam: int) -> Vec4:
    """Return the frustum that pictures of a camera with a sensor show, at distance 1.

    In MuJoCo 4.0 (``m.is_4_0``), the principal point moves the picture down, not up.
    """
    center, width, bottom, top = intrinsic_frustum(m, cam)
    if m.is_4_0:
        return (center, width, -top, -bottom)
    return (center, width, bottom, top)


@stage
def update_camera(m: Model, d: Data) -> int:
    """Set both cameras of the scene from the abstract camera. A tracking camera first moves its `lookat`."""
    kind = d.work.scn_state[CAM_TYPE]
    if kind == CAMERA_TRACKING:
        body, part = d.work.scn_state[CAM_TRACK], 1.0 if m.is_4_0 else TRACKED
        for k in range(3):
            d.work.scn_pose[LOOKAT + k] += part * (d.subtree_com[body, k] - d.work.scn_pose[LOOKAT + k])
    if kind in (FREE, CAMERA_TRACKING):
        pose = d.work.scn_pose
        forward, up = aim(pose[AZIMUTH], pose[ELEVATION])
        a = pose[AZIMUTH] * pi / 180.0
        right = (sin(a), -cos(a), 0.0)
        lookat = (pose[LOOKAT], pose[LOOKAT + 1], pose[LOOKAT + 2])
        _put_eyes(d, add_scaled3(lookat, forward, -pose[DISTANCE]), forward, up, right, m.vis.global_.ipd)
        if d.work.scn_state[CAM_ORTHOGRAPHIC] != 0:
            _put_window(m, d, m.vis.global_.fovy)
        else:
            _put_frustum(m, d, symmetric_frustum(m.vis.global_.fovy))
    elif kind == FIXED:
        _fixed(m, d, d.work.scn_state[CAM_FIXED])
    return OK


@kernel
def _fixed(m: Model, d: Data, cam: int) -> None:
    """Set both cameras from a camera of the model. Such a camera looks along its negative z axis, and y is up."""
    mat = get9(d.cam_xmat, cam)
    right, up, back = (mat[0], mat[3], mat[6]), (mat[1], mat[4], mat[7]), (mat[2], mat[5], mat[8])
    _put_eyes(d, get3(d.cam_xpos, cam), scale3(back, -1.0), up, right, m.cam_ipd[cam])
    if m.cam_projection[cam] == ORTHOGRAPHIC:
        _put_window(m, d, m.cam_fovy[cam])
    elif m.cam_sensorsize[cam, 0] != 0.0 and m.cam_sensorsize[cam, 1] != 0.0:
        _put_frustum(m, d, viewed_frustum(m, cam))
    else:
        _put_frustum(m, d, symmetric_frustum(m.cam_fovy[cam]))


@kernel
def _triangle(d: Data, cam: int, a: Vec3, b: Vec3, c: Vec3, rgba: Vec4) -> None:
    """Add a triangle geom. Its position is corner `a`; its axes are the edges from there, and their cross product."""
    x, y = sub3(b, a), sub3(c, a)
    z = cross(x, y)
    size = (norm3(x), norm3(y), norm3(z))
    x, y, z = scale3(x, 1.0 / size[0]), scale3(y, 1.0 / size[1]), scale3(z, 1.0 / size[2])
    mat = (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2])
    decorate(d, OBJ_CAMERA, cam, GEOM_TRIANGLE, size, a, mat, rgba)


@kernel
def _corner(pos: Vec3, mat: Mat3, frustum: Vec4, depth: float, k: int) -> Vec3:
    """Return corner `k` of a frustum at a depth, world frame; corners are counter-clockwise from the lower left."""
    center, width, bottom, top = frustum
    x = center + (width if k == 1 or k == 2 else -width)
    y = top if k >= 2 else bottom
    point = add_scaled3(pos, column3(mat, 0), x * depth)
    point = add_scaled3(point, column3(mat, 1), y * depth)
    return add_scaled3(point, column3(mat, 2), -depth)


@kernel
def _frustum(m: Model, d: Data, cam: int) -> None:
    """Add the frustum of a camera that has a sensor size: triangles and lines for its four sides."""
    pos, mat = get3(d.cam_xpos, cam), get9(d.cam_xmat, cam)
    frustum, rgba = intrinsic_frustum(m, cam), rgba_of(m.vis.rgba.frustum)
    near = m.vis.map.znear * m.stat.extent
    far = m.vis.scale.frustum * m.stat.meansize
    for k in range(4):
        after = (k + 1) % 4
        near0, near1 = _corner(pos, mat, frustum, near, k), _corner(pos, mat, frustum, near, after)
        far0, far1 = _corner(pos, mat, frustum, far, k), _corner(pos, mat, frustum, far, after)
        _triangle(d, cam, near0, far0, near1, rgba)
        _triangle(d, cam, far0, far1, near1, rgba)
        link(d, CAT_DECOR, OBJ_CAMERA, cam, GEOM_LINE, LINE_WIDTH, near0, near1, rgba)
        link(d, CAT_DECOR, OBJ_CAMERA, cam, GEOM_LINE, LINE_WIDTH, far0, far1, rgba)
        link(d, CAT_DECOR, OBJ_CAMERA, cam, GEOM_LINE, LINE_WIDTH, near0, far0, rgba)


@stage
def add_cameras(m: Model, d: Data) -> int:
    """Add each camera as a box, with a cylinder in a darker colour as its lens; add the camera's frame if requested."""
    size, rgba = m.vis.scale.camera * m.stat.meansize, rgba_of(m.vis.rgba.camera)
    dark = (0.5 * rgba[0], 0.5 * rgba[1], 0.5 * rgba[2], rgba[3])
    for cam in range(m.ncam):
        pos, mat = get3(d.cam_xpos, cam), get9(d.cam_xmat, cam)
        g = decorate(d, OBJ_CAMERA, cam, GEOM_BOX, (size, 0.8 * size, 0.4 * size), pos, mat, rgba)
        name_it(d, g, LABEL_CAMERA, cam)
        lens = add_scaled3(pos, column3(mat, 2), -0.6 * size)
        decorate(d, OBJ_CAMERA, cam, GEOM_CYLINDER, (0.4 * size, 0.4 * size, 0.3 * size), lens, mat, dark)
        if d.work.scn_state[FRAME] == FRAME_CAMERA:
            frame_axes(m, d, cam, pos, mat, 1.0)
    return OK


@stage
def add_frustums(m: Model, d: Data) -> int:
    """Add the frustums of all cameras with a sensor size."""
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
        if d.work.scn_state[FRAME] == FRAME_LIGHT:
            frame_axes(m, d, light, get3(d.light_xpos, light), z_to(aim), 1.0)
    return OK


@kernel
def _put3(array: Array2, i: int, word: int, v: Vec3) -> None:
    """Write three numbers to consecutive words of light `i`, from `word` on."""
    for k in range(3):
        array[i, word + k] = v[k]


@kernel
def _clear(d: Data, i: int) -> None:
    d.work.scn_light_i[i, BYTES] = 0
    for k in range(BYTES):
        d.work.scn_light_f[i, k] = 0.0
    d.work.scn_light_f[i, BULBRADIUS] = 0.0


@kernel
def _model_light(m: Model, d: Data, light: int, i: int) -> None:
    """Set light `i` of the scene from a light of the model. Directional lights have no cone and no attenuation."""
    lights = d.work.scn_light_f
    _clear(d, i)
    kind = light_type(m, light)
    directional = kind == DIRECTIONAL
    d.work.scn_light_i[i, BYTES] = IS_DIRECTIONAL * directional + CASTS_SHADOW * (m.light_castshadow[light] != 0)
    _put3(lights, i, LIGHT_POS, get3(d.light_xpos, light))
    _put3(lights, i, DIR, get3(d.light_xdir, light))
    _put3(lights, i, AMBIENT, get3(m.light_ambient, light))
    _put3(lights, i, DIFFUSE, get3(m.light_diffuse, light))
    _put3(lights, i, SPECULAR, get3(m.light_specular, light))
    lights[i, BULBRADIUS] = m.light_bulbradius[light]
    if not directional:
        _put3(lights, i, ATTENUATION, get3(m.light_attenuation, light))
        lights[i, CUTOFF] = NO_CONE if kind == POINT else m.light_cutoff[light]
        lights[i, EXPONENT] = 0.0 if kind == POINT else m.light_exponent[light]


@stage
def make_lights(m: Model, d: Data) -> int:
    """Set the headlight if it is on, then the active lights of the model, up to the largest number of lights.

    Lights of the type ``image`` are for physically based renderers and are left out.
    """
    count = 0
    if m.vis.headlight.active != 0:  # directional, at the camera
        lights = d.work.scn_light_f
        _clear(d, 0)
        d.work.scn_light_i[0, BYTES] = IS_HEADLIGHT | IS_DIRECTIONAL
        _put3(lights, 0, LIGHT_POS, camera_average(d, CAM_POS))
        _put3(lights, 0, DIR, normalize3(camera_average(d, CAM_FORWARD)))
        for k in range(3):
            lights[0, AMBIENT + k] = m.vis.headlight.ambient[k]
            lights[0, DIFFUSE + k] = m.vis.headlight.diffuse[k]
            lights[0, SPECULAR + k] = m.vis.headlight.specular[k]
        count = 1
    for light in range(m.nlight):
        if m.light_active[light] != 0 and count < MAXLIGHT and light_type(m, light) != IMAGE:
            _model_light(m, d, light, count)
            count += 1
    d.work.scn_state[NLIGHT] = count
    return OK
