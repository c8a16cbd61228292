"""Sensors of the position stage (spec: modeling, sensor). Each public function computes sensor `i` of its type.

If the distance between two geoms exceeds the cutoff, the measured distance is the cutoff; normal and end points are 0.
"""

from __future__ import annotations

from math import inf, pi, tan

from numpy import float32

from cardan.collision.distance import smallest_distance, with_pieces
from cardan.collision.enclosure import frame_of_site, geom_shape, protrusion, site_shape
from cardan.collision.inside import inside_site
from cardan.dynamics.com import object_mat, object_pos
from cardan.enums.codes import (
    CNSTR_LIMIT_JOINT,
    CNSTR_LIMIT_TENDON,
    GEOM_MESH,
    GEOM_SPHERE,
    OBJ_GEOM,
    OBJ_SITE,
    OBJ_XBODY,
)
from cardan.jit import kernel
from cardan.maths.quaternion import mul_quat, neg_quat, normalize4
from cardan.maths.types import Vec2, Vec3
from cardan.maths.vector import MINVAL, column3, get3, get9, mul_mat_t_vec3, norm3, scale3, sub3
from cardan.model.kernel_views import Data, Model
from cardan.sensor.output import in_subtree, limit_row, object_quaternion, put1, put3, put4, put_outputs


@kernel
def magnetometer(m: Model, d: Data, i: int) -> None:
    """Magnetic flux density (``opt.magnetic``) in a site's frame."""
    flux = (m.opt.magnetic[0], m.opt.magnetic[1], m.opt.magnetic[2])
    put3(m, d, i, mul_mat_t_vec3(get9(d.site_xmat, m.sensor_objid[i]), flux))


@kernel
def focal_lengths(m: Model, camera: int) -> Vec2:
    """Focal lengths of a camera in pixels, from its lens and sensor size if given, else from its field of view.

    Parameters of the lens are stored in single precision; the focal lengths are rounded to single precision, too.
    """
    width = m.cam_sensorsize[camera, 0]
    height = m.cam_sensorsize[camera, 1]
    if width > 0.0 and height > 0.0:
        fx = float(float32(m.cam_intrinsic[camera, 0] / width)) * m.cam_resolution[camera, 0]
        fy = float(float32(m.cam_intrinsic[camera, 1] / height)) * m.cam_resolution[camera, 1]
        return float(float32(fx)), float(float32(fy))
    f = 0.5 * m.cam_resolution[camera, 1] / tan(m.cam_fovy[camera] * pi / 360.0)
    return f, f


@kernel
def camprojection(m: Model, d: Data, i: int) -> None:
    """Pixel coordinates of a site in a camera's image, from the upper left corner. The camera looks along its -z."""
    camera = m.sensor_refid[i]
    x, y, z = mul_mat_t_vec3(
        get9(d.cam_xmat, camera), sub3(get3(d.site_xpos, m.sensor_objid[i]), get3(d.cam_xpos, camera))
    )
    fx, fy = focal_lengths(m, camera)
    depth = -z
    if abs(depth) < MINVAL:
        depth = MINVAL if depth >= 0.0 else -MINVAL
    adr = m.sensor_adr[i]
    d.sensordata[adr] = 0.5 * m.cam_resolution[camera, 0] + fx * x / depth
    d.sensordata[adr + 1] = 0.5 * m.cam_resolution[camera, 1] - fy * y / depth


@kernel
def jointpos(m: Model, d: Data, i: int) -> None:
    """Position of a hinge (rad) or slide (m) joint."""
    put1(m, d, i, d.qpos[m.jnt_qposadr[m.sensor_objid[i]]])


@kernel
def tendonpos(m: Model, d: Data, i: int) -> None:
    """Length of a tendon."""
    put1(m, d, i, d.ten_length[m.sensor_objid[i]])


@kernel
def actuatorpos(m: Model, d: Data, i: int) -> None:
    """Lengths of an actuator's transmission: one value for each of its outputs."""
    put_outputs(m, d, i, d.actuator_length)


@kernel
def ballquat(m: Model, d: Data, i: int) -> None:
    """Orientation of a ball joint, normalised."""
    a = m.jnt_qposadr[m.sensor_objid[i]]
    put4(m, d, i, normalize4((d.qpos[a], d.qpos[a + 1], d.qpos[a + 2], d.qpos[a + 3])))


@kernel
def _limit_distance(m: Model, d: Data, i: int, kind: int) -> None:
    row = limit_row(d, kind, m.sensor_objid[i])
    put1(m, d, i, d.efc_pos[row] - d.efc_margin[row] if row >= 0 else 0.0)


@kernel
def jointlimitpos(m: Model, d: Data, i: int) -> None:
    """Distance of a joint from its limit, minus the limit's margin; 0 if the limit is inactive."""
    _limit_distance(m, d, i, CNSTR_LIMIT_JOINT)


@kernel
def tendonlimitpos(m: Model, d: Data, i: int) -> None:
    """Distance of a tendon from its limit, minus the limit's margin; 0 if the limit is inactive."""
    _limit_distance(m, d, i, CNSTR_LIMIT_TENDON)


@kernel
def framepos(m: Model, d: Data, i: int) -> None:
    """Position of an object, in the frame of the reference object if there is one (m)."""
    p = object_pos(d, m.sensor_objtype[i], m.sensor_objid[i])
    ref = m.sensor_refid[i]
    if ref >= 0:
        kind = m.sensor_reftype[i]
        p = mul_mat_t_vec3(object_mat(d, kind, ref), sub3(p, object_pos(d, kind, ref)))
    put3(m, d, i, p)


@kernel
def framequat(m: Model, d: Data, i: int) -> None:
    """Orientation of an object, relative to the reference object if there is one."""
    q = object_quaternion(m, d, m.sensor_objtype[i], m.sensor_objid[i])
    ref = m.sensor_refid[i]
    if ref >= 0:
        q = mul_quat(neg_quat(object_quaternion(m, d, m.sensor_reftype[i], ref)), q)
    put4(m, d, i, q)


@kernel
def _frame_axis(m: Model, d: Data, i: int, k: int) -> None:
    axis = column3(object_mat(d, m.sensor_objtype[i], m.sensor_objid[i]), k)
    ref = m.sensor_refid[i]
    if ref >= 0:
        axis = mul_mat_t_vec3(object_mat(d, m.sensor_reftype[i], ref), axis)
    put3(m, d, i, axis)


@kernel
def framexaxis(m: Model, d: Data, i: int) -> None:
    """X axis of an object, in the frame of the reference object if there is one."""
    _frame_axis(m, d, i, 0)


@kernel
def frameyaxis(m: Model, d: Data, i: int) -> None:
    """Y axis of an object, in the frame of the reference object if there is one."""
    _frame_axis(m, d, i, 1)


@kernel
def framezaxis(m: Model, d: Data, i: int) -> None:
    """Z axis of an object, in the frame of the reference object if there is one."""
    _frame_axis(m, d, i, 2)


@kernel
def subtreecom(m: Model, d: Data, i: int) -> None:
    """Centre of mass of a subtree in the world frame, m."""
    put3(m, d, i, get3(d.subtree_com, m.sensor_objid[i]))


@kernel
def _protrusion(m: Model, d: Data, site: int, kind: int, number: int) -> float:
    """Return how far an object juts out of a site: a geom, a site, or the geoms of a body or of its subtree."""
    outer, own = frame_of_site(m, d, site), site_shape(m, site)
    first, last = number, number + 1
    if kind not in (OBJ_GEOM, OBJ_SITE):
        first, last = 0, m.ngeom
    farthest = -inf
    for k in range(first, last):
        shape, inner, counts = own, outer, True
        if kind == OBJ_SITE:
            shape, inner = site_shape(m, k), frame_of_site(m, d, k)
        else:
            body = m.geom_bodyid[k]
            shape, inner = geom_shape(m, k), (get3(d.geom_xpos, k), get9(d.geom_xmat, k))
            counts = kind == OBJ_GEOM or body == number or (kind == OBJ_XBODY and in_subtree(m, body, number))
            counts = counts and m.geom_piece[k] == 0
        if counts and shape[0] >= GEOM_SPHERE and shape[0] <= GEOM_MESH:
            farthest = max(farthest, protrusion(m, own, outer, shape, inner))
    return farthest


@kernel
def insidesite(m: Model, d: Data, i: int) -> None:
    """1 if the origin of an object is inside the volume of a site, otherwise 0; or how far the object juts out, m."""
    if m.sensor_intprm[i, 0] & 1:
        put1(m, d, i, _protrusion(m, d, m.sensor_refid[i], m.sensor_objtype[i], m.sensor_objid[i]))
        return
    point = object_pos(d, m.sensor_objtype[i], m.sensor_objid[i])
    put1(m, d, i, 1.0 if inside_site(m, d, m.sensor_refid[i], point) else 0.0)


@kernel
def e_potential(m: Model, d: Data, i: int) -> None:
    """Potential energy, J (needs `energy_pos`)."""
    put1(m, d, i, d.energy[0])


@kernel
def clock(m: Model, d: Data, i: int) -> None:
    """Simulation time, s."""
    put1(m, d, i, d.time)


@kernel
def _geom_range(m: Model, kind: int, k: int) -> tuple[int, int]:
    """Return the first and last (exclusive) geom of an object: a geom with its convex pieces, or a body."""
    if kind == OBJ_GEOM:
        return with_pieces(m, k)
    return m.body_geomadr[k], m.body_geomadr[k] + m.body_geomnum[k]


@kernel
def closest_geoms(m: Model, d: Data, i: int) -> tuple[float, Vec3, Vec3]:
    """Find the smallest distance between the geoms of sensor `i`; return the distance and the two closest points."""
    range1 = _geom_range(m, m.sensor_objtype[i], m.sensor_objid[i])
    range2 = _geom_range(m, m.sensor_reftype[i], m.sensor_refid[i])
    best = smallest_distance(m, d, range1, range2, m.sensor_cutoff[i])
    return best, get3(d.work.witness, 0), get3(d.work.witness, 1)


@kernel
def distance(m: Model, d: Data, i: int) -> None:
    """Smallest signed distance between the geoms of a sensor's two objects, m; at most the cutoff."""
    best, _, _ = closest_geoms(m, d, i)
    put1(m, d, i, best)


@kernel
def normal(m: Model, d: Data, i: int) -> None:
    """Unit vector along the shortest segment between the geoms, from first to second; 0 beyond the cutoff."""
    _, start, end = closest_geoms(m, d, i)
    between = sub3(end, start)
    length = norm3(between)
    put3(m, d, i, scale3(between, 1.0 / length if length > 0.0 else 0.0))


@kernel
def fromto(m: Model, d: Data, i: int) -> None:
    """End points of the shortest segment between the geoms, world frame; 0 beyond the cutoff."""
    _, start, end = closest_geoms(m, d, i)
    put3(m, d, i, start)
    adr = m.sensor_adr[i] + 3
    for k in range(3):
        d.sensordata[adr + k] = end[k]
