"""Touch sensors: total normal force of the contacts that press on a site's volume (spec: modeling, sensor, touch)."""

from __future__ import annotations

from math import inf, sqrt

from cardan.dynamics.contact_side import side_body
from cardan.dynamics.external import contact_force
from cardan.enums.codes import GEOM_CAPSULE, GEOM_CYLINDER, GEOM_ELLIPSOID, GEOM_SPHERE
from cardan.jit import kernel
from cardan.maths.types import Vec2, Vec3
from cardan.maths.vector import MINVAL, get3, get9, mul_mat_t_vec3, scale3, sub3
from cardan.model.kernel_views import Data, Model
from cardan.sensor.output import put1


@kernel
def _span_round(a: float, b: float, c: float) -> Vec2:
    """Interval of t in which a t^2 + 2 b t + c <= 0 (a >= 0); the start of an empty interval is after its end."""
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
    """Interval of the line p + v t inside a sphere around (0, 0, z)."""
    h = p[2] - z
    a = v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
    b = p[0] * v[0] + p[1] * v[1] + h * v[2]
    return _span_round(a, b, p[0] * p[0] + p[1] * p[1] + h * h - radius * radius)


@kernel
def _span_cylinder(p: Vec3, v: Vec3, radius: float, half: float) -> Vec2:
    """Interval of the line p + v t inside a cylinder along z."""
    a = v[0] * v[0] + v[1] * v[1]
    side = _span_round(a, p[0] * v[0] + p[1] * v[1], p[0] * p[0] + p[1] * p[1] - radius * radius)
    caps = _span_slab(p[2], v[2], half)
    return (max(side[0], caps[0]), min(side[1], caps[1]))


@kernel
def _ahead(span: Vec2) -> bool:
    """Whether an interval is not empty and reaches t >= 0."""
    return span[0] <= span[1] and span[1] >= 0.0


@kernel
def _meets_box(p: Vec3, v: Vec3, size: Vec3) -> bool:
    x = _span_slab(p[0], v[0], size[0])
    y = _span_slab(p[1], v[1], size[1])
    z = _span_slab(p[2], v[2], size[2])
    return _ahead((max(x[0], y[0], z[0]), min(x[1], y[1], z[1])))


@kernel
def ray_meets_volume(kind: int, size: Vec3, p: Vec3, v: Vec3) -> bool:
    """Whether the ray p + v t, t >= 0, given in the frame of a primitive solid, hits it."""
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
    return _meets_box(p, v, size)


@kernel
def _presses_on(m: Model, d: Data, con: int, site: int, away: float) -> bool:
    """Whether the ray from a contact along its normal, away from the site's body, hits the site's volume."""
    normal = (d.contact.frame[con, 0], d.contact.frame[con, 1], d.contact.frame[con, 2])
    rotation = get9(d.site_xmat, site)
    p = mul_mat_t_vec3(rotation, sub3(get3(d.contact.pos, con), get3(d.site_xpos, site)))
    v = mul_mat_t_vec3(rotation, scale3(normal, away))
    return ray_meets_volume(m.site_type[site], get3(m.site_size, site), p, v)


@kernel
def touch(m: Model, d: Data, i: int) -> None:
    """Sum of the normal forces of the contacts of a site's body that are in or under the site's volume, N.

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
