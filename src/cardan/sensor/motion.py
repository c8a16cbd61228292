"""Sensors of the velocity and acceleration stages (spec: modeling, sensor).

Each public function computes the value of sensor `i`, which has the function's type.
"""

from __future__ import annotations

from math import inf, sqrt

from cardan.dynamics.actuation import tendon_actuator_force
from cardan.dynamics.com import object_acceleration, object_body, object_mat, object_pos, object_velocity, velocity_at
from cardan.dynamics.external import contact_force, side_body
from cardan.dynamics.jacobian import arm_of
from cardan.enums.codes import (
    CNSTR_LIMIT_JOINT,
    CNSTR_LIMIT_TENDON,
    GEOM_CAPSULE,
    GEOM_CYLINDER,
    GEOM_ELLIPSOID,
    GEOM_SPHERE,
    OBJ_SITE,
)
from cardan.jit import kernel
from cardan.maths.types import Vec2, Vec3
from cardan.maths.vector import MINVAL, angular, cross, get3, get6, get9, linear, mul_mat_t_vec3, scale3, sub3
from cardan.model.kernel_views import Data, Model
from cardan.sensor.output import put1, put3, put_of_limit, put_outputs


@kernel
def accelerometer(m: Model, d: Data, i: int) -> None:
    """Linear acceleration of a site minus gravity, in the site's frame, m/s^2 (needs `rne_post_constraint`)."""
    put3(m, d, i, linear(object_acceleration(m, d, OBJ_SITE, m.sensor_objid[i], True)))


@kernel
def _interaction_force(d: Data, body: int) -> Vec3:
    return linear(get6(d.cfrc_int, body))


@kernel
def force(m: Model, d: Data, i: int) -> None:
    """Force between a site's body and its parent body, in the site's frame, N (needs `rne_post_constraint`)."""
    site = m.sensor_objid[i]
    put3(m, d, i, mul_mat_t_vec3(get9(d.site_xmat, site), _interaction_force(d, m.site_bodyid[site])))


@kernel
def torque(m: Model, d: Data, i: int) -> None:
    """Torque between a site's body and its parent, about the site, in its frame, N m (needs `rne_post_constraint`)."""
    site = m.sensor_objid[i]
    body = m.site_bodyid[site]
    about_centre = angular(get6(d.cfrc_int, body))
    lever = arm_of(m, d, get3(d.site_xpos, site), body)
    about_site = sub3(about_centre, cross(lever, _interaction_force(d, body)))
    put3(m, d, i, mul_mat_t_vec3(get9(d.site_xmat, site), about_site))


@kernel
def actuatorfrc(m: Model, d: Data, i: int) -> None:
    """Force of an actuator: one value for each of its outputs."""
    put_outputs(m, d, i, d.actuator_force)


@kernel
def jointactuatorfrc(m: Model, d: Data, i: int) -> None:
    """Total force of all actuators on a hinge (N m) or slide (N) joint."""
    put1(m, d, i, d.qfrc_actuator[m.jnt_dofadr[m.sensor_objid[i]]])


@kernel
def tendonactuatorfrc(m: Model, d: Data, i: int) -> None:
    """Total force of all actuators on a tendon, N."""
    put1(m, d, i, tendon_actuator_force(m, d, m.sensor_objid[i]))


@kernel
def jointlimitfrc(m: Model, d: Data, i: int) -> None:
    """Force of a joint's limit; 0 if the limit is inactive."""
    put_of_limit(m, d, i, CNSTR_LIMIT_JOINT, d.efc_force)


@kernel
def tendonlimitfrc(m: Model, d: Data, i: int) -> None:
    """Force of a tendon's limit; 0 if the limit is inactive."""
    put_of_limit(m, d, i, CNSTR_LIMIT_TENDON, d.efc_force)


@kernel
def framelinacc(m: Model, d: Data, i: int) -> None:
    """Linear acceleration of an object minus gravity, world frame, m/s^2 (needs `rne_post_constraint`)."""
    put3(m, d, i, linear(object_acceleration(m, d, m.sensor_objtype[i], m.sensor_objid[i], False)))


@kernel
def frameangacc(m: Model, d: Data, i: int) -> None:
    """Angular acceleration of an object, world frame, rad/s^2 (needs `rne_post_constraint`)."""
    put3(m, d, i, angular(object_acceleration(m, d, m.sensor_objtype[i], m.sensor_objid[i], False)))


@kernel
def _span_round(a: float, b: float, c: float) -> Vec2:
    """Interval of t in which a t^2 + 2 b t + c <= 0, with a >= 0.

    If the interval is empty, its start is greater than its end.
    """
    if a < MINVAL:
        return (-inf, inf) if c <= 0.0 else (1.0, 0.0)
    det = b * b - a * c
    if det < 0.0:
        return (1.0, 0.0)
    root = sqrt(det)
    return ((-b - root) / a, (-b + root) / a)


@kernel
def _span_slab(p: float, v: float, half: float) -> Vec2:
    """Interval of t in which |p + v t| <= half."""
    if abs(v) < MINVAL:
        return (-inf, inf) if abs(p) <= half else (1.0, 0.0)
    t0 = (-half - p) / v
    t1 = (half - p) / v
    return (min(t0, t1), max(t0, t1))


@kernel
def _span_ball(p: Vec3, v: Vec3, z: float, radius: float) -> Vec2:
    """Interval of t in which p + v t is inside a sphere around (0, 0, z)."""
    h = p[2] - z
    a = v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
    b = p[0] * v[0] + p[1] * v[1] + h * v[2]
    return _span_round(a, b, p[0] * p[0] + p[1] * p[1] + h * h - radius * radius)


@kernel
def _span_cylinder(p: Vec3, v: Vec3, radius: float, half: float) -> Vec2:
    """Interval of t in which p + v t is inside a cylinder around the z axis, from -half to half."""
    a = v[0] * v[0] + v[1] * v[1]
    side = _span_round(a, p[0] * v[0] + p[1] * v[1], p[0] * p[0] + p[1] * p[1] - radius * radius)
    caps = _span_slab(p[2], v[2], half)
    return (max(side[0], caps[0]), min(side[1], caps[1]))


@kernel
def _ahead(span: Vec2) -> bool:
    """Return whether an interval (start, end) is not empty and reaches t >= 0."""
    return span[0] <= span[1] and span[1] >= 0.0


@kernel
def ray_meets_volume(kind: int, size: Vec3, p: Vec3, v: Vec3) -> bool:
    """Return whether the ray p + v t, t >= 0, hits a primitive solid. The ray is given in the frame of the solid."""
    if kind == GEOM_SPHERE:
        return _ahead(_span_ball(p, v, 0.0, size[0]))
    if kind == GEOM_ELLIPSOID:
        scaled_p = (p[0] / size[0], p[1] / size[1], p[2] / size[2])
        scaled_v = (v[0] / size[0], v[1] / size[1], v[2] / size[2])
        return _ahead(_span_ball(scaled_p, scaled_v, 0.0, 1.0))
    if kind == GEOM_CYLINDER:
        return _ahead(_span_cylinder(p, v, size[0], size[1]))
    if kind == GEOM_CAPSULE:
        ends = _ahead(_span_ball(p, v, size[1], size[0])) or _ahead(_span_ball(p, v, -size[1], size[0]))
        return ends or _ahead(_span_cylinder(p, v, size[0], size[1]))
    x = _span_slab(p[0], v[0], size[0])
    y = _span_slab(p[1], v[1], size[1])
    z = _span_slab(p[2], v[2], size[2])
    return _ahead((max(x[0], y[0], z[0]), min(x[1], y[1], z[1])))


@kernel
def _presses_on(m: Model, d: Data, con: int, site: int, away: float) -> bool:
    """Return whether the ray from a contact along its normal, away from the site's body, hits the site's volume."""
    normal = (d.contact.frame[con, 0], d.contact.frame[con, 1], d.contact.frame[con, 2])
    rotation = get9(d.site_xmat, site)
    p = mul_mat_t_vec3(rotation, sub3(get3(d.contact.pos, con), get3(d.site_xpos, site)))
    v = mul_mat_t_vec3(rotation, scale3(normal, away))
    return ray_meets_volume(m.site_type[site], get3(m.site_size, site), p, v)


@kernel
def touch(m: Model, d: Data, i: int) -> None:
    """Sum of the normal forces at contacts of a site's body that the site's volume covers, N.

    A contact is included if the ray from its position along the normal, away from the body, hits the volume.
    """
    site = m.sensor_objid[i]
    body = m.site_bodyid[site]
    total = 0.0
    for con in range(d.ncon):
        if d.contact.efc_address[con] >= 0:
            first = side_body(m, d, con, 0) == body
            if first or side_body(m, d, con, 1) == body:
                f = contact_force(m, d, con)[0]
                if f > 0.0 and _presses_on(m, d, con, site, 1.0 if first else -1.0):
                    total += f
    put1(m, d, i, total)


@kernel
def velocimeter(m: Model, d: Data, i: int) -> None:
    """Linear velocity of a site in its own frame, m/s."""
    put3(m, d, i, linear(object_velocity(m, d, OBJ_SITE, m.sensor_objid[i], True)))


@kernel
def gyro(m: Model, d: Data, i: int) -> None:
    """Angular velocity of a site in its own frame, rad/s."""
    put3(m, d, i, angular(object_velocity(m, d, OBJ_SITE, m.sensor_objid[i], True)))


@kernel
def e_kinetic(m: Model, d: Data, i: int) -> None:
    """Kinetic energy, J (needs `energy_vel`)."""
    put1(m, d, i, d.energy[1])


@kernel
def jointvel(m: Model, d: Data, i: int) -> None:
    """Velocity of a hinge (rad/s) or slide (m/s) joint."""
    put1(m, d, i, d.qvel[m.jnt_dofadr[m.sensor_objid[i]]])


@kernel
def tendonvel(m: Model, d: Data, i: int) -> None:
    """Rate of change of a tendon's length."""
    put1(m, d, i, d.ten_velocity[m.sensor_objid[i]])


@kernel
def actuatorvel(m: Model, d: Data, i: int) -> None:
    """Rates of change of the lengths of an actuator's transmission."""
    put_outputs(m, d, i, d.actuator_velocity)


@kernel
def ballangvel(m: Model, d: Data, i: int) -> None:
    """Angular velocity of a ball joint in the frame of the joint's body, rad/s."""
    a = m.jnt_dofadr[m.sensor_objid[i]]
    put3(m, d, i, (d.qvel[a], d.qvel[a + 1], d.qvel[a + 2]))


@kernel
def jointlimitvel(m: Model, d: Data, i: int) -> None:
    """Rate of change of a joint's distance from its limit; 0 if the limit is inactive."""
    put_of_limit(m, d, i, CNSTR_LIMIT_JOINT, d.efc_vel)


@kernel
def tendonlimitvel(m: Model, d: Data, i: int) -> None:
    """Rate of change of a tendon's distance from its limit; 0 if the limit is inactive."""
    put_of_limit(m, d, i, CNSTR_LIMIT_TENDON, d.efc_vel)


@kernel
def framelinvel(m: Model, d: Data, i: int) -> None:
    """Linear velocity of an object in the world frame, m/s.

    If there is a reference object, the velocity is relative to its rotating frame and expressed in this frame.
    """
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
    """Angular velocity of an object in the world frame, rad/s.

    If there is a reference object, the velocity is relative to this object and expressed in its frame.
    """
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
