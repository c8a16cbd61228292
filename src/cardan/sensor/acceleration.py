"""Sensors of the acceleration stage (spec: modeling, sensor). Each function computes sensor `i` of its type."""

from __future__ import annotations

from cardan.dynamics.jacobian import arm_of
from cardan.dynamics.object import object_acceleration
from cardan.enums.codes import CNSTR_LIMIT_JOINT, CNSTR_LIMIT_TENDON, OBJ_SITE
from cardan.jit import kernel
from cardan.maths.spatial import get6
from cardan.maths.types import Vec3
from cardan.maths.vector import cross, get3, get9, mul_mat_t_vec3, sub3
from cardan.model.kernel_views import Data, Model
from cardan.sensor.frame import angular, linear
from cardan.sensor.output import limit_row, put1, put3


@kernel
def accelerometer(m: Model, d: Data, i: int) -> None:
    """Linear acceleration of a site minus gravity, in the site's frame, m/s^2 (needs `rne_post_constraint`)."""
    put3(m, d, i, linear(object_acceleration(m, d, OBJ_SITE, m.sensor_objid[i], True)))


@kernel
def _interaction_force(d: Data, body: int) -> Vec3:
    return linear(get6(d.cfrc_int, body))


@kernel
def force(m: Model, d: Data, i: int) -> None:
    """Force between a site's body and its parent, in the site's frame, N (needs `rne_post_constraint`)."""
    site = m.sensor_objid[i]
    put3(m, d, i, mul_mat_t_vec3(get9(d.site_xmat, site), _interaction_force(d, m.site_bodyid[site])))


@kernel
def torque(m: Model, d: Data, i: int) -> None:
    """Torque between a site's body and its parent about the site, in its frame, N m (needs `rne_post_constraint`)."""
    site = m.sensor_objid[i]
    body = m.site_bodyid[site]
    about_centre = angular(get6(d.cfrc_int, body))
    lever = arm_of(m, d, get3(d.site_xpos, site), body)
    about_site = sub3(about_centre, cross(lever, _interaction_force(d, body)))
    put3(m, d, i, mul_mat_t_vec3(get9(d.site_xmat, site), about_site))


@kernel
def actuatorfrc(m: Model, d: Data, i: int) -> None:
    """Scalar force of an actuator."""
    put1(m, d, i, d.actuator_force[m.sensor_objid[i]])


@kernel
def jointactuatorfrc(m: Model, d: Data, i: int) -> None:
    """Force of all actuators on a hinge or slide joint."""
    put1(m, d, i, d.qfrc_actuator[m.jnt_dofadr[m.sensor_objid[i]]])


@kernel
def _limit_force(m: Model, d: Data, i: int, kind: int) -> None:
    row = limit_row(d, kind, m.sensor_objid[i])
    put1(m, d, i, d.efc_force[row] if row >= 0 else 0.0)


@kernel
def jointlimitfrc(m: Model, d: Data, i: int) -> None:
    """Force of a joint's limit; 0 if the limit is inactive."""
    _limit_force(m, d, i, CNSTR_LIMIT_JOINT)


@kernel
def tendonlimitfrc(m: Model, d: Data, i: int) -> None:
    """Force of a tendon's limit; 0 if the limit is inactive."""
    _limit_force(m, d, i, CNSTR_LIMIT_TENDON)


@kernel
def framelinacc(m: Model, d: Data, i: int) -> None:
    """Linear acceleration of an object minus gravity, world frame, m/s^2 (needs `rne_post_constraint`)."""
    put3(m, d, i, linear(object_acceleration(m, d, m.sensor_objtype[i], m.sensor_objid[i], False)))


@kernel
def frameangacc(m: Model, d: Data, i: int) -> None:
    """Angular acceleration of an object, world frame, rad/s^2 (needs `rne_post_constraint`)."""
    put3(m, d, i, angular(object_acceleration(m, d, m.sensor_objtype[i], m.sensor_objid[i], False)))
