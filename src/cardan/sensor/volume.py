"""Tests whether points are inside the volumes of sites."""

from __future__ import annotations

from cardan.enums.codes import GEOM_BOX, GEOM_CAPSULE, GEOM_CYLINDER, GEOM_ELLIPSOID, GEOM_SPHERE
from cardan.jit import kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import get3, get9, mul_mat_t_vec3, sub3
from cardan.model.kernel_views import Data, Model


@kernel
def is_inside(kind: int, size: Vec3, p: Vec3) -> bool:
    """Return whether a point in the frame of a primitive solid is inside it or on its surface."""
    across = p[0] * p[0] + p[1] * p[1]
    if kind == GEOM_SPHERE:
        return across + p[2] * p[2] <= size[0] * size[0]
    if kind == GEOM_CAPSULE:
        beyond = max(abs(p[2]) - size[1], 0.0)
        return across + beyond * beyond <= size[0] * size[0]
    if kind == GEOM_ELLIPSOID:
        x, y, z = p[0] / size[0], p[1] / size[1], p[2] / size[2]
        return x * x + y * y + z * z <= 1.0
    if kind == GEOM_CYLINDER:
        return abs(p[2]) <= size[1] and across <= size[0] * size[0]
    return kind == GEOM_BOX and abs(p[0]) <= size[0] and abs(p[1]) <= size[1] and abs(p[2]) <= size[2]


@kernel
def is_inside_site(m: Model, d: Data, site: int, point: Vec3) -> bool:
    """Return whether a point (world frame) is inside the volume of a site."""
    local = mul_mat_t_vec3(get9(d.site_xmat, site), sub3(point, get3(d.site_xpos, site)))
    return is_inside(m.site_type[site], get3(m.site_size, site), local)
