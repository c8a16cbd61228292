"""Sensors of the velocity stage (spec: modeling, sensor). Each function computes sensor `i` of its type."""

from __future__ import annotations

from cardan.dynamics.object import object_body, object_mat, object_pos, object_velocity, velocity_at
from cardan.enums.codes import CNSTR_LIMIT_JOINT, CNSTR_LIMIT_TENDON, OBJ_SITE
from cardan.jit import kernel
from cardan.maths.vector import get3, mul_mat_t_vec3, sub3
from cardan.model.kernel_views import Data, Model
from cardan.sensor.output import angular, limit_row, linear, put1, put3


@kernel
def velocimeter(m: Model, d: Data, i: int) -> None:
    """Linear velocity of a site in its own frame, m/s."""
    put3(m, d, i, linear(object_velocity(m, d, OBJ_SITE, m.sensor_objid[i], True)))


@kernel
def gyro(m: Model, d: Data, i: int) -> None:
    """Angular velocity of a site in its own frame, rad/s."""
    put3(m, d, i, angular(object_velocity(m, d, OBJ_SITE, m.sensor_objid[i], True)))


@kernel
def jointvel(m: Model, d: Data, i: int) -> None:
    """Velocity of a hinge (rad/s) or slide (m/s) joint."""
    put1(m, d, i, d.qvel[m.jnt_dofadr[m.sensor_objid[i]]])


@kernel
def tendonvel(m: Model, d: Data, i: int) -> None:
    """Velocity of a tendon."""
    put1(m, d, i, d.ten_velocity[m.sensor_objid[i]])


@kernel
def actuatorvel(m: Model, d: Data, i: int) -> None:
    """Velocity of an actuator's transmission."""
    put1(m, d, i, d.actuator_velocity[m.sensor_objid[i]])


@kernel
def ballangvel(m: Model, d: Data, i: int) -> None:
    """Angular velocity of a ball joint in the child's frame, rad/s."""
    a = m.jnt_dofadr[m.sensor_objid[i]]
    put3(m, d, i, (d.qvel[a], d.qvel[a + 1], d.qvel[a + 2]))


@kernel
def _limit_velocity(m: Model, d: Data, i: int, kind: int) -> None:
    row = limit_row(d, kind, m.sensor_objid[i])
    put1(m, d, i, d.efc_vel[row] if row >= 0 else 0.0)


@kernel
def jointlimitvel(m: Model, d: Data, i: int) -> None:
    """Velocity of a joint's distance from its limit; 0 if the limit is inactive."""
    _limit_velocity(m, d, i, CNSTR_LIMIT_JOINT)


@kernel
def tendonlimitvel(m: Model, d: Data, i: int) -> None:
    """Velocity of a tendon's distance from its limit; 0 if the limit is inactive."""
    _limit_velocity(m, d, i, CNSTR_LIMIT_TENDON)


@kernel
def framelinvel(m: Model, d: Data, i: int) -> None:
    """Linear velocity of an object, relative to the rotating frame of the reference object if there is one, m/s."""
    kind = m.sensor_objtype[i]
    k = m.sensor_objid[i]
    v = linear(object_velocity(m, d, kind, k, False))
    ref = m.sensor_refid[i]
    if ref >= 0:
        # minus the velocity of the reference body's point that coincides with the object
        refkind = m.sensor_reftype[i]
        carried = linear(velocity_at(m, d, object_body(m, refkind, ref), object_pos(d, kind, k)))
        v = mul_mat_t_vec3(object_mat(d, refkind, ref), sub3(v, carried))
    put3(m, d, i, v)


@kernel
def frameangvel(m: Model, d: Data, i: int) -> None:
    """Angular velocity of an object, relative to the reference object if there is one, in its frame, rad/s."""
    w = angular(object_velocity(m, d, m.sensor_objtype[i], m.sensor_objid[i], False))
    ref = m.sensor_refid[i]
    if ref >= 0:
        kind = m.sensor_reftype[i]
        carried = angular(object_velocity(m, d, kind, ref, False))
        w = mul_mat_t_vec3(object_mat(d, kind, ref), sub3(w, carried))
    put3(m, d, i, w)


@kernel
def subtreelinvel(m: Model, d: Data, i: int) -> None:
    """Velocity of the centre of mass of a subtree in the world frame, m/s (needs `subtree_vel`)."""
    put3(m, d, i, get3(d.subtree_linvel, m.sensor_objid[i]))


@kernel
def subtreeangmom(m: Model, d: Data, i: int) -> None:
    """Angular momentum of a subtree about its centre of mass in the world frame, kg m^2/s (needs `subtree_vel`)."""
    put3(m, d, i, get3(d.subtree_angmom, m.sensor_objid[i]))
