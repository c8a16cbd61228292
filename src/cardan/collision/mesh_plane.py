"""Collision of a plane with a mesh.

Spec: computation, collision detection, collision checking.
"""

from __future__ import annotations

from cardan.collision.capsule import axis_z
from cardan.collision.hull_search import edges_of, extent, mesh_vertex, recall_pair
from cardan.collision.near import put_contact
from cardan.collision.plane import plane_height, point_contact
from cardan.collision.support import load_geom, support_mesh
from cardan.jit import collider, exact, kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import add3, add_scaled3, get3, get9, mul_mat_t_vec3, mul_mat_vec3, norm3, scale3, sub3
from cardan.model.kernel_views import Data, Model

MAX_CONTACTS = 3
SPACING = 0.3
"""Smallest distance of a contact from the first one, in units of the radius of the bounding sphere."""


@kernel
def vertex_position(m: Model, d: Data, geom: int, k: int) -> Vec3:
    """Position of vertex `k` of shape 1, the mesh `geom`, in the world frame."""
    return add3(get3(d.geom_xpos, geom), mul_mat_vec3(get9(d.geom_xmat, geom), mesh_vertex(m, d, 1, k)))


@kernel
def add_spaced(m: Model, d: Data, ncon: int, geom1: int, geom2: int, vertex: int, down: Vec3, depth: float) -> int:
    """Add the contact of a vertex if it is low enough and not too close to the first contact.

    Args:
        m: model.
        d: data.
        ncon: number of contacts so far.
        geom1: id of the plane.
        geom2: id of the mesh.
        vertex: the vertex.
        down: direction into the plane, frame of the mesh.
        depth: a vertex has a contact if its extent in this direction is more than `depth`.

    Returns:
        The new number of contacts.
    """
    if extent(m, d, 1, vertex, down) <= depth:
        return ncon
    point = vertex_position(m, d, geom2, vertex)
    if norm3(sub3(point, get3(d.work.near_pos, 0))) < SPACING * m.geom_rbound[geom2]:
        return ncon
    normal = axis_z(d.geom_xmat, geom1)
    dist = plane_height(d, geom1, point)
    put_contact(d, ncon, dist, add_scaled3(point, normal, -0.5 * dist), normal)
    return ncon + 1


@collider
@exact
def plane_mesh(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Find up to three contacts of a plane and a mesh.

    These are the lowest vertex of the hull, and its first neighbours that are below the margin and not too close to it.
    For a mesh without hull, all vertices take the place of the neighbours. A mesh that just touches the plane has one
    contact.
    """
    load_geom(m, d, 1, geom2)
    recall_pair(d, geom1, geom2)
    down = mul_mat_t_vec3(get9(d.geom_xmat, geom2), scale3(axis_z(d.geom_xmat, geom1), -1.0))
    depth = plane_height(d, geom1, get3(d.geom_xpos, geom2)) - d.work.near_margin
    support_mesh(m, d, 1, down)
    lowest = d.work.shape_vertex[1]
    ncon = point_contact(d, 0, geom1, vertex_position(m, d, geom2, lowest))
    if ncon == 0:
        return 0
    if d.work.shape_graphadr[1] < 0:
        for k in range(d.work.shape_nvert[1]):
            if ncon < MAX_CONTACTS and k != lowest:
                ncon = add_spaced(m, d, ncon, geom1, geom2, k, down, depth)
        return ncon
    edge = edges_of(m, d, 1, lowest)
    while m.mesh_graph[edge] >= 0 and ncon < MAX_CONTACTS:
        ncon = add_spaced(m, d, ncon, geom1, geom2, m.mesh_graph[edge], down, depth)
        edge += 1
    return ncon
