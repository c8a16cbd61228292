"""Collisions of a plane with a solid or a mesh.

A plane bounds a half-space: everything below it penetrates, however deep. The plane's normal is the z axis of its
frame. The first geom of each function is the plane. Contacts are midway between the plane and points of the solid.
"""

from __future__ import annotations

from math import sqrt

from cardan.collision.capsule import axis_z, from_geom
from cardan.collision.contact import put_contact, put_contact_along
from cardan.collision.hull_search import edges_of, extent, mesh_vertex, recall_pair
from cardan.collision.support import load_geom, support_mesh
from cardan.jit import collider, exact, kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import (
    MINVAL,
    add3,
    add_scaled3,
    cross,
    dot3,
    get3,
    get9,
    mul3,
    mul_mat_t_vec3,
    mul_mat_vec3,
    norm3,
    normalize3,
    scale3,
    sub3,
)
from cardan.model.kernel_views import Data, Model

HALF_SQRT3 = sqrt(3.0) / 2.0
MAX_CONTACTS = 3
SPACING = 0.3
"""Smallest distance of a contact from the first one, in units of the radius of the bounding sphere."""


@kernel
def plane_height(d: Data, plane: int, point: Vec3) -> float:
    """Signed distance of a point above the plane."""
    return dot3(sub3(point, get3(d.geom_xpos, plane)), axis_z(d.geom_xmat, plane))


@kernel
def put_height(d: Data, k: int, plane: int, point: Vec3, dist: float) -> int:
    """Write the contact of a point that is `dist` above the plane; return the pair's new number of contacts.

    Each caller sums the height in the order of the reference, so that solids that just touch agree to the last bit.
    """
    if dist > d.work.near_margin:
        return k
    normal = axis_z(d.geom_xmat, plane)
    put_contact(d, k, dist, add_scaled3(point, normal, -0.5 * dist), normal)
    return k + 1


@kernel
def point_contact(d: Data, k: int, plane: int, point: Vec3) -> int:
    """Write the contact of a point with the plane; return the new number of contacts of the pair, `k` or k + 1."""
    return put_height(d, k, plane, point, plane_height(d, plane, point))


@collider
@exact
def plane_sphere(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Write the contact between a plane and a sphere, below the centre; return the number of contacts, 0 or 1."""
    center, radius = get3(d.geom_xpos, geom2), m.geom_size[geom2, 0]
    lowest = add_scaled3(center, axis_z(d.geom_xmat, geom1), -radius)
    return put_height(d, 0, geom1, lowest, plane_height(d, geom1, center) - radius)


@collider
@exact
def plane_capsule(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Write up to two contacts of a plane and a capsule, below the ends of its axis; return their number.

    The contact frames are aligned with the capsule.
    """
    normal = axis_z(d.geom_xmat, geom1)
    axis = axis_z(d.geom_xmat, geom2)
    tangent = normalize3(add_scaled3(axis, normal, -dot3(normal, axis)))
    ncon = 0
    for end in range(2):
        center = add_scaled3(get3(d.geom_xpos, geom2), axis, (1.0 - 2.0 * end) * m.geom_size[geom2, 1])
        dist = plane_height(d, geom1, center) - m.geom_size[geom2, 0]
        if dist <= d.work.near_margin:
            pos = add_scaled3(center, normal, -(m.geom_size[geom2, 0] + 0.5 * dist))
            put_contact_along(d, ncon, dist, pos, normal, tangent)
            ncon += 1
    return ncon


@collider
@exact
def plane_ellipsoid(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Write the contact between a plane and an ellipsoid, at its lowest point; return the number of contacts (0, 1)."""
    size = get3(m.geom_size, geom2)
    down = mul_mat_t_vec3(get9(d.geom_xmat, geom2), scale3(axis_z(d.geom_xmat, geom1), -1.0))
    lowest = from_geom(d, geom2, mul3(normalize3(mul3(down, size)), size))
    return point_contact(d, 0, geom1, lowest)


@collider
@exact
def plane_cylinder(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Write up to four contacts between a plane and a cylinder; return their number.

    The contacts are at the lowest point of the lower rim and at the corresponding point of the upper rim. Two more
    points of the lower rim form an equilateral triangle with the first.
    """
    normal = axis_z(d.geom_xmat, geom1)
    center = get3(d.geom_xpos, geom2)
    radius = m.geom_size[geom2, 0]

    # axis towards the plane, and the steepest downward direction perpendicular to it
    axis = axis_z(d.geom_xmat, geom2)
    slope = dot3(normal, axis)
    if slope > 0.0:
        axis = scale3(axis, -1.0)
        slope = -slope
    across = sub3(scale3(axis, slope), normal)
    length = norm3(across)
    if length < MINVAL:
        across = (d.geom_xmat[geom2, 0] * radius, d.geom_xmat[geom2, 3] * radius, d.geom_xmat[geom2, 6] * radius)
        slant = dot3(normal, across)
    else:
        across = scale3(across, radius / length)
        slant = -radius * length  # normal . across, whose rounding error grows with 1 / length
    half = scale3(axis, m.geom_size[geom2, 1])

    height = plane_height(d, geom1, center)
    rise = dot3(normal, half)

    # lowest point of each rim
    lower = add3(center, half)
    ncon = put_height(d, 0, geom1, add3(lower, across), height + rise + slant)
    if ncon == 0:
        return 0
    ncon = put_height(d, ncon, geom1, add3(sub3(center, half), across), height - rise + slant)

    # triangle on the lower rim
    back = add_scaled3(lower, across, -0.5)
    sideways = scale3(cross(across, axis), HALF_SQRT3)
    ncon = put_height(d, ncon, geom1, add3(back, sideways), height + rise - 0.5 * slant)
    return put_height(d, ncon, geom1, sub3(back, sideways), height + rise - 0.5 * slant)


@collider
@exact
def plane_box(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Write contacts of a plane and a box; return their number.

    The contacts are at the first four corners within the margin that are not above the box's centre.
    """
    normal = axis_z(d.geom_xmat, geom1)
    center = get3(d.geom_xpos, geom2)
    xmat = get9(d.geom_xmat, geom2)
    size = get3(m.geom_size, geom2)
    height = plane_height(d, geom1, center)
    ncon = 0
    for corner in range(8):
        local = (
            size[0] if corner & 1 else -size[0],
            size[1] if corner & 2 else -size[1],
            size[2] if corner & 4 else -size[2],
        )
        offset = mul_mat_vec3(xmat, local)
        rise = dot3(normal, offset)
        if ncon < 4 and rise <= 0.0:
            ncon = put_height(d, ncon, geom1, add3(center, offset), height + rise)
    return ncon


@kernel
def add_spaced(m: Model, d: Data, ncon: int, geom1: int, geom2: int, vertex: int, down: Vec3, depth: float) -> int:
    """Add the contact of a mesh vertex if it is low enough and not too close to the first contact.

    A vertex is low enough if its extent along `down`, the direction into the plane, is more than `depth`. Return the
    new number of contacts.
    """
    if extent(m, d, 1, vertex, down) <= depth:
        return ncon
    point = from_geom(d, geom2, mesh_vertex(m, d, 1, vertex))
    if norm3(sub3(point, get3(d.work.near_pos, 0))) < SPACING * m.geom_rbound[geom2]:
        return ncon
    normal = axis_z(d.geom_xmat, geom1)
    dist = plane_height(d, geom1, point)
    put_contact(d, ncon, dist, add_scaled3(point, normal, -0.5 * dist), normal)
    return ncon + 1


@kernel
def plane_mesh_contacts(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Write up to three contacts between a plane and a mesh; return their number.

    The contacts are at the lowest vertex of the hull, and at the first neighbours of this vertex that are below the
    margin and not too close. If the mesh has no hull, all vertices are tested in place of the neighbours. A mesh that
    just touches the plane has one contact.
    """
    load_geom(m, d, 1, geom2)
    recall_pair(d, geom1, geom2)
    down = mul_mat_t_vec3(get9(d.geom_xmat, geom2), scale3(axis_z(d.geom_xmat, geom1), -1.0))
    depth = plane_height(d, geom1, get3(d.geom_xpos, geom2)) - d.work.near_margin
    support_mesh(m, d, 1, down)
    lowest = d.work.shape_vertex[1]
    ncon = point_contact(d, 0, geom1, from_geom(d, geom2, mesh_vertex(m, d, 1, lowest)))
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


@collider
@exact
def plane_mesh(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Write up to three contacts between a plane and a mesh; return their number. See `plane_mesh_contacts`."""
    return plane_mesh_contacts(m, d, geom1, geom2)
