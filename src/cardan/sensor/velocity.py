"""Sensors of the velocity stage (spec: modeling, sensor). Each function computes sensor `i` of its type."""

from __future__ import annotations

from typing import Any

from cardan.jit import kernel
from cardan.maths.vector import cross, get3, get9, mul_mat_t_vec3, sub3
from cardan.sensor.frame import angular_velocity, object_body, object_position, object_rotation, point_velocity
from cardan.sensor.output import LIMIT_JOINT, LIMIT_TENDON, limit_row, put1, put3


@kernel
def velocimeter(m: Any, d: Any, i: int) -> None:
    """Linear velocity of a site in its own frame, m/s."""
    site = m.sensor_objid[i]
    v = point_velocity(m, d, m.site_bodyid[site], get3(d.site_xpos, site))
    put3(m, d, i, mul_mat_t_vec3(get9(d.site_xmat, site), v))


@kernel
def gyro(m: Any, d: Any, i: int) -> None:
    """Angular velocity of a site in its own frame, rad/s."""
    site = m.sensor_objid[i]
    put3(m, d, i, mul_mat_t_vec3(get9(d.site_xmat, site), angular_velocity(d, m.site_bodyid[site])))


@kernel
def jointvel(m: Any, d: Any, i: int) -> None:
    """Velocity of a hinge (rad/s) or slide (m/s)."""
    put1(m, d, i, d.qvel[m.jnt_dofadr[m.sensor_objid[i]]])


@kernel
def tendonvel(m: Any, d: Any, i: int) -> None:
    """Velocity of a tendon."""
    put1(m, d, i, d.ten_velocity[m.sensor_objid[i]])


@kernel
def actuatorvel(m: Any, d: Any, i: int) -> None:
    """Velocity of an actuator's transmission."""
    put1(m, d, i, d.actuator_velocity[m.sensor_objid[i]])


@kernel
def ballangvel(m: Any, d: Any, i: int) -> None:
    """Angular velocity of a ball joint in the child's frame, rad/s."""
    a = m.jnt_dofadr[m.sensor_objid[i]]
    put3(m, d, i, (d.qvel[a], d.qvel[a + 1], d.qvel[a + 2]))


@kernel
def _limit_velocity(m: Any, d: Any, i: int, kind: int) -> None:
    row = limit_row(d, kind, m.sensor_objid[i])
    put1(m, d, i, d.efc_vel[row] if row >= 0 else 0.0)


@kernel
def jointlimitvel(m: Any, d: Any, i: int) -> None:
    """Velocity of a joint's distance from its limit; 0 while the limit is inactive."""
    _limit_velocity(m, d, i, LIMIT_JOINT)


@kernel
def tendonlimitvel(m: Any, d: Any, i: int) -> None:
    """Velocity of a tendon's distance from its limit; 0 while the limit is inactive."""
    _limit_velocity(m, d, i, LIMIT_TENDON)


@kernel
def framelinvel(m: Any, d: Any, i: int) -> None:
    """Linear velocity of an object, as seen from the frame of the reference object if there is one, m/s."""
    kind = m.sensor_objtype[i]
    p = object_position(d, kind, m.sensor_objid[i])
    v = point_velocity(m, d, object_body(m, kind, m.sensor_objid[i]), p)
    ref = m.sensor_refid[i]
    if ref >= 0:
        kind = m.sensor_reftype[i]
        body = object_body(m, kind, ref)
        origin = object_position(d, kind, ref)
        carried = cross(angular_velocity(d, body), sub3(p, origin))
        relative = sub3(sub3(v, point_velocity(m, d, body, origin)), carried)
        v = mul_mat_t_vec3(object_rotation(d, kind, ref), relative)
    put3(m, d, i, v)


@kernel
def frameangvel(m: Any, d: Any, i: int) -> None:
    """Angular velocity of an object, as seen from the frame of the reference object if there is one, rad/s."""
    w = angular_velocity(d, object_body(m, m.sensor_objtype[i], m.sensor_objid[i]))
    ref = m.sensor_refid[i]
    if ref >= 0:
        kind = m.sensor_reftype[i]
        relative = sub3(w, angular_velocity(d, object_body(m, kind, ref)))
        w = mul_mat_t_vec3(object_rotation(d, kind, ref), relative)
    put3(m, d, i, w)


@kernel
def subtreelinvel(m: Any, d: Any, i: int) -> None:
    """Velocity of the centre of mass of a subtree in the world frame, m/s (needs `subtree_vel`)."""
    put3(m, d, i, get3(d.subtree_linvel, m.sensor_objid[i]))


@kernel
def subtreeangmom(m: Any, d: Any, i: int) -> None:
    """Angular momentum of a subtree about its centre of mass in the world frame, kg m^2/s (needs `subtree_vel`)."""
    put3(m, d, i, get3(d.subtree_angmom, m.sensor_objid[i]))
