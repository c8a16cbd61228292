"""Points inside sites (spec: modeling, sensor; MuJoCo 3.3.5 and later)."""

from __future__ import annotations

from cardan.enums.codes import GEOM_BOX, GEOM_CAPSULE, GEOM_CYLINDER, GEOM_ELLIPSOID, GEOM_MESH, GEOM_SPHERE
from cardan.jit import kernel
from cardan.maths.quaternion import neg_quat, quat2mat
from cardan.maths.types import Vec3
from cardan.maths.vector import dot3, get3, get4, get9, mul_mat_t_vec3, mul_mat_vec3, sub3
from cardan.model.kernel_views import Data, Model


@kernel
def inside_hull(m: Model, mesh: int, point: Vec3) -> bool:
    """Return whether a point is inside the convex hull of a mesh: behind the planes of all polygons.

    The point is in the coordinates of the mesh's file, which sites with a mesh keep.
    """
    turn = quat2mat(neg_quat(get4(m.mesh_quat, mesh)))
    point = mul_mat_vec3(turn, sub3(point, get3(m.mesh_pos, mesh)))
    begin, end = m.aux.polygon_adr[mesh], m.aux.polygon_adr[mesh + 1]
    for polygon in range(begin, end):
        corner = get3(m.mesh_vert, m.aux.polygon_vert[m.aux.polygon_vertadr[polygon]])
        if dot3(get3(m.aux.polygon_normal, polygon), sub3(point, corner)) > 0.0:
            return False
    return end > begin


@kernel
def inside_shape(m: Model, kind: int, size: Vec3, mesh: int, point: Vec3) -> bool:
    """Return whether a point (frame of the shape) is inside a shape of the type `kind`."""
    x, y, z = point
    if kind == GEOM_SPHERE:
        return x * x + y * y + z * z < size[0] * size[0]
    if kind == GEOM_CAPSULE:
        above = max(0.0, abs(z) - size[1])
        return x * x + y * y + above * above < size[0] * size[0]
    if kind == GEOM_CYLINDER:
        return abs(z) < size[1] and x * x + y * y < size[0] * size[0]
    if kind == GEOM_ELLIPSOID:
        return (x / size[0]) ** 2 + (y / size[1]) ** 2 + (z / size[2]) ** 2 < 1.0
    if kind == GEOM_BOX:
        return abs(x) < size[0] and abs(y) < size[1] and abs(z) < size[2]
    return kind == GEOM_MESH and mesh >= 0 and inside_hull(m, mesh, point)


@kernel
def inside_site(m: Model, d: Data, site: int, point: Vec3) -> bool:
    """Return whether a point (world frame) is inside a site; the shape of a mesh is its convex hull."""
    local = mul_mat_t_vec3(get9(d.site_xmat, site), sub3(point, get3(d.site_xpos, site)))
    return inside_shape(m, m.site_type[site], get3(m.site_size, site), m.site_dataid[site], local)
