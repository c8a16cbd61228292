"""Velocity and acceleration of bodies, geoms, sites and cameras (spec: mj_objectVelocity, mj_objectAcceleration).

Results are spatial vectors (rotation, translation) at the object's centre, in the world's orientation or in the
object's own.
"""

from __future__ import annotations

from cardan.enums.codes import OBJ_BODY, OBJ_GEOM, OBJ_SITE, OBJ_XBODY
from cardan.jit import kernel
from cardan.maths.spatial import get6
from cardan.maths.types import Mat3, Vec3, Vec6
from cardan.maths.vector import add3, cross, get3, get9, mul_mat_t_vec3, sub3
from cardan.model.kernel_views import Data, Model


@kernel
def object_body(m: Model, kind: int, k: int) -> int:
    """Body to which an object belongs."""
    if kind in (OBJ_BODY, OBJ_XBODY):
        return k
    if kind == OBJ_GEOM:
        return m.geom_bodyid[k]
    if kind == OBJ_SITE:
        return m.site_bodyid[k]
    return m.cam_bodyid[k]


@kernel
def object_pos(d: Data, kind: int, k: int) -> Vec3:
    """Centre of an object in the world frame; for a body (`mjOBJ_BODY`), that of its inertial frame."""
    if kind == OBJ_BODY:
        return get3(d.xipos, k)
    if kind == OBJ_XBODY:
        return get3(d.xpos, k)
    if kind == OBJ_GEOM:
        return get3(d.geom_xpos, k)
    if kind == OBJ_SITE:
        return get3(d.site_xpos, k)
    return get3(d.cam_xpos, k)


@kernel
def object_mat(d: Data, kind: int, k: int) -> Mat3:
    """Orientation of an object, a 3 x 3 matrix; for a body (`mjOBJ_BODY`), that of its inertial frame."""
    if kind == OBJ_BODY:
        return get9(d.ximat, k)
    if kind == OBJ_XBODY:
        return get9(d.xmat, k)
    if kind == OBJ_GEOM:
        return get9(d.geom_xmat, k)
    if kind == OBJ_SITE:
        return get9(d.site_xmat, k)
    return get9(d.cam_xmat, k)


@kernel
def _shifted(m: Model, d: Data, spatial: Vec6, body: int, point: Vec3) -> Vec6:
    """Transform a body's motion vector from the centre of mass of its tree to a point."""
    arm = sub3(point, get3(d.subtree_com, m.body_rootid[body]))
    angular = (spatial[0], spatial[1], spatial[2])
    linear = add3((spatial[3], spatial[4], spatial[5]), cross(angular, arm))
    return (angular[0], angular[1], angular[2], linear[0], linear[1], linear[2])


@kernel
def _in_frame(mat: Mat3, spatial: Vec6) -> Vec6:
    """Express a spatial vector in the orientation of a frame."""
    angular = mul_mat_t_vec3(mat, (spatial[0], spatial[1], spatial[2]))
    linear = mul_mat_t_vec3(mat, (spatial[3], spatial[4], spatial[5]))
    return (angular[0], angular[1], angular[2], linear[0], linear[1], linear[2])


@kernel
def velocity_at(m: Model, d: Data, body: int, point: Vec3) -> Vec6:
    """Velocity of a body at a point (world frame)."""
    return _shifted(m, d, get6(d.cvel, body), body, point)


@kernel
def acceleration_at(m: Model, d: Data, body: int, point: Vec3) -> Vec6:
    """Acceleration of a body at a point (world frame); gravity is included as an upward acceleration of the world."""
    velocity = velocity_at(m, d, body, point)
    acceleration = _shifted(m, d, get6(d.cacc, body), body, point)
    # from the spatial acceleration to that of the material point
    turn = cross((velocity[0], velocity[1], velocity[2]), (velocity[3], velocity[4], velocity[5]))
    linear = add3((acceleration[3], acceleration[4], acceleration[5]), turn)
    return (acceleration[0], acceleration[1], acceleration[2], linear[0], linear[1], linear[2])


@kernel
def object_velocity(m: Model, d: Data, kind: int, k: int, local: bool) -> Vec6:
    """Velocity of an object at its centre, in its own orientation if `local`, else in the world's. Needs `com_vel`."""
    velocity = velocity_at(m, d, object_body(m, kind, k), object_pos(d, kind, k))
    if local:
        return _in_frame(object_mat(d, kind, k), velocity)
    return velocity


@kernel
def object_acceleration(m: Model, d: Data, kind: int, k: int, local: bool) -> Vec6:
    """Acceleration of an object at its centre, in its own orientation if `local`, else in the world's.

    Needs `rne_post_constraint`.
    """
    acceleration = acceleration_at(m, d, object_body(m, kind, k), object_pos(d, kind, k))
    if local:
        return _in_frame(object_mat(d, kind, k), acceleration)
    return acceleration
