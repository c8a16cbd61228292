"""Collisions between a plane and a mesh as in MuJoCo 4.0: the polygon of the hull that faces the plane.

The contacts are at the lowest vertex and at the corners of one polygon: among the polygons around this vertex, the one
that best faces the plane. If it has more than `MOST` corners, four are chosen, regardless of their heights: the lowest
vertex, the corner farthest from it, and the corners farthest from the line through both, one on each side.

Source: spec, computation, collision detection of MuJoCo 4.0. The choice of corners follows numerical results of 4.0.0.
"""

from __future__ import annotations

from cardan.collision.capsule import axis_z, from_geom
from cardan.collision.hull_search import mesh_point, mesh_vertex, recall_pair, vertex_row
from cardan.collision.plane import plane_mesh_contacts, point_contact
from cardan.collision.support import load_geom, support_mesh
from cardan.jit import collider, exact, kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import cross, dot3, get3, get9, mul_mat_t_vec3, scale3, sub3
from cardan.model.kernel_views import Data, Model

MOST = 4
"""Maximum number of contacts between a plane and a mesh."""


@kernel
def facing_polygon(m: Model, row: int, down: Vec3) -> int:
    """Return the index of the polygon around a vertex that faces `down` most directly; -1 if there is none.

    The vertex is the one in row `row` of ``mesh_vert``; only polygons that contain it are compared.
    """
    best, polygon = -2.0, -1
    for k in range(m.aux.around_adr[row], m.aux.around_adr[row + 1]):
        cosine = dot3(get3(m.aux.polygon_normal, m.aux.around[k]), down)
        if cosine > best:
            best, polygon = cosine, m.aux.around[k]
    return polygon


@kernel
def farthest_corner(m: Model, polygon: int, lowest: Vec3) -> int:
    """Index in ``aux.polygon_vert`` of the corner of a polygon that is farthest from a point."""
    best, found = -1.0, m.aux.polygon_vertadr[polygon]
    for k in range(m.aux.polygon_vertadr[polygon], m.aux.polygon_vertadr[polygon + 1]):
        off = sub3(mesh_point(m, m.aux.polygon_vert[k]), lowest)
        if dot3(off, off) > best:
            best, found = dot3(off, off), k
    return found


@kernel
def farthest_beside(m: Model, polygon: int, start: Vec3, along: Vec3, side: float) -> int:
    """Index in ``aux.polygon_vert`` of the corner that is farthest from a line, on side `side` (1 or -1) of the line.

    The line passes through `start` along `along`. If no corner is on this side, the result is -1.
    """
    across = cross(get3(m.aux.polygon_normal, polygon), along)
    best, found = 0.0, -1
    for k in range(m.aux.polygon_vertadr[polygon], m.aux.polygon_vertadr[polygon + 1]):
        beside = side * dot3(sub3(mesh_point(m, m.aux.polygon_vert[k]), start), across)
        if beside > 0.0 and beside >= best:
            best, found = beside, k
    return found


@kernel
def add_corner(m: Model, d: Data, ncon: int, geom1: int, geom2: int, k: int) -> int:
    """Add the contact at corner `k` of ``aux.polygon_vert`` if within the margin; return the new number of contacts."""
    return point_contact(d, ncon, geom1, from_geom(d, geom2, mesh_point(m, m.aux.polygon_vert[k])))


@collider
@exact
def plane_mesh_polygon(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Write up to four contacts of a plane and a mesh; return their number.

    If the mesh has no hull, the contacts are those of `plane.plane_mesh`.
    """
    load_geom(m, d, 1, geom2)
    if d.work.shape_graphadr[1] < 0:
        return plane_mesh_contacts(m, d, geom1, geom2)
    recall_pair(d, geom1, geom2)
    down = mul_mat_t_vec3(get9(d.geom_xmat, geom2), scale3(axis_z(d.geom_xmat, geom1), -1.0))
    support_mesh(m, d, 1, down)
    lowest = mesh_vertex(m, d, 1, d.work.shape_vertex[1])
    ncon = point_contact(d, 0, geom1, from_geom(d, geom2, lowest))
    row = vertex_row(m, d, 1, d.work.shape_vertex[1])
    polygon = facing_polygon(m, row, down)
    if ncon == 0 or polygon < 0:
        return ncon
    begin, end = m.aux.polygon_vertadr[polygon], m.aux.polygon_vertadr[polygon + 1]
    if end - begin <= MOST:
        for k in range(begin, end):
            if m.aux.polygon_vert[k] != row:
                ncon = add_corner(m, d, ncon, geom1, geom2, k)
        return ncon
    far = farthest_corner(m, polygon, lowest)
    along = sub3(mesh_point(m, m.aux.polygon_vert[far]), lowest)
    for choice in range(3):
        k = far if choice == 0 else farthest_beside(m, polygon, lowest, along, 1.0 if choice == 1 else -1.0)
        if k >= 0:
            ncon = add_corner(m, d, ncon, geom1, geom2, k)
    return ncon
