"""Penetration depth of two overlapping convex shapes: the expanding polytope algorithm (EPA).

The depth is the distance of the origin from the surface of the Minkowski difference. A polytope of support points,
first a tetrahedron, is expanded at its face closest to the origin, until this face is on the surface. Each face stores
on which side of it the origin is. The origin therefore need not be inside the first tetrahedron.

Source: G. van den Bergen, Collision Detection in Interactive 3D Environments (2003), section 4.3.8.
"""

from __future__ import annotations

from cardan.collision.support import support_difference
from cardan.jit import kernel
from cardan.maths.simplex import triangle_weights, weighted_sum
from cardan.maths.types import Array2, ConstArray2, Vec3
from cardan.maths.vector import add_scaled3, cross, dot3, get3, norm3, scale3, set3, sub3
from cardan.model.fields_work import POLYTOPE_EDGES, POLYTOPE_FACES, POLYTOPE_VERTICES
from cardan.model.kernel_views import Data, Model

TOLERANCE = 1e-10
"""Distance of a face from the surface at which the search ends, relative to the size of the difference."""
VISIBLE = 1e-12
"""Height above a face from which a point sees the face, relative to the size of the difference."""
FLAT = 1e-9
"""Relative height below which a point counts as lying on a line or plane."""
REMOVED = 1e300
TOWARDS = 0.99
"""Cosine of the angle to a normal above which a face is not examined: this close, the depth has no second minimum."""
Corners = tuple[int, int, int]
"""Vertices of a face, counter-clockwise from outside."""
POLISHING = 100
"""Number of steps of the descent on curved surfaces."""
ALONG = 1e-9
"""A support point is along the normal if its perpendicular component, divided by its length, is below this."""


@kernel
def try_direction(m: Model, d: Data, n: int, direction: Vec3) -> bool:
    """Store the support point in a direction as vertex `n` of the simplex; return whether it adds a dimension."""
    point = support_difference(m, d, n, direction)
    a = get3(d.work.simplex, 0)
    size = norm3(point) + norm3(a)
    offset = sub3(point, a)
    if n == 1:
        return norm3(offset) > FLAT * size
    ab = sub3(get3(d.work.simplex, 1), a)
    normal = cross(ab, offset)
    if n == 2:
        return norm3(normal) > FLAT * size * norm3(ab)
    normal = cross(ab, sub3(get3(d.work.simplex, 2), a))
    return abs(dot3(normal, offset)) > FLAT * size * norm3(normal)


@kernel
def try_both(m: Model, d: Data, n: int, direction: Vec3) -> bool:
    """Call `try_direction` for the direction and, if that fails, for its opposite."""
    length = norm3(direction)
    if length == 0.0:
        return False
    unit = scale3(direction, 1.0 / length)
    return try_direction(m, d, n, unit) or try_direction(m, d, n, scale3(unit, -1.0))


@kernel
def add_vertex(m: Model, d: Data, n: int) -> bool:
    """Add a vertex to a simplex of `n` < 4 vertices; return False if the Minkowski difference is flat."""
    x, y, z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    if n == 0:
        support_difference(m, d, 0, x)
        return True
    if n == 1:
        return try_both(m, d, 1, x) or try_both(m, d, 1, y) or try_both(m, d, 1, z)
    ab = sub3(get3(d.work.simplex, 1), get3(d.work.simplex, 0))
    if n == 2:
        return try_both(m, d, 2, cross(ab, x)) or try_both(m, d, 2, cross(ab, y)) or try_both(m, d, 2, cross(ab, z))
    return try_both(m, d, 3, cross(ab, sub3(get3(d.work.simplex, 2), get3(d.work.simplex, 0))))


@kernel
def store_vertex(d: Data, row: int, vertex: int) -> None:
    """Copy row `row` of the simplex to a vertex of the polytope."""
    set3(d.work.epa_vertex, vertex, get3(d.work.simplex, row))
    set3(d.work.epa_vertex1, vertex, get3(d.work.simplex1, row))
    set3(d.work.epa_vertex2, vertex, get3(d.work.simplex2, row))


@kernel
def put_face(d: Data, face: int, i: int, j: int, k: int) -> None:
    """Write a face with vertices i, j, k, counter-clockwise from outside. A face without area is never the closest."""
    d.work.epa_face[face, 0] = i
    d.work.epa_face[face, 1] = j
    d.work.epa_face[face, 2] = k
    a = get3(d.work.epa_vertex, i)
    normal = cross(sub3(get3(d.work.epa_vertex, j), a), sub3(get3(d.work.epa_vertex, k), a))
    length = norm3(normal)
    if length > 0.0:
        normal = scale3(normal, 1.0 / length)
        d.work.epa_height[face] = dot3(normal, a)
    else:
        d.work.epa_height[face] = 0.5 * REMOVED
    set3(d.work.epa_normal, face, normal)


@kernel
def put_tetrahedron(d: Data) -> None:
    """Initialise the polytope with the simplex of four vertices."""
    for vertex in range(4):
        store_vertex(d, vertex, vertex)
    a = get3(d.work.simplex, 0)
    ab = sub3(get3(d.work.simplex, 1), a)
    ac = sub3(get3(d.work.simplex, 2), a)
    outward = dot3(cross(ab, ac), sub3(get3(d.work.simplex, 3), a)) < 0.0
    one, two = (1, 2) if outward else (2, 1)
    put_face(d, 0, 0, one, two)
    put_face(d, 1, 0, 3, one)
    put_face(d, 2, one, 3, two)
    put_face(d, 3, two, 3, 0)


@kernel
def toggle_edge(d: Data, nedge: int, start: int, end: int) -> int:
    """Add an edge of a removed face to the list of the hole's edges; return the new number of edges.

    If the opposite edge is listed, remove the opposite edge instead.
    """
    for edge in range(nedge):
        if d.work.epa_edge[edge, 0] == end and d.work.epa_edge[edge, 1] == start:
            d.work.epa_edge[edge, 0] = d.work.epa_edge[nedge - 1, 0]
            d.work.epa_edge[edge, 1] = d.work.epa_edge[nedge - 1, 1]
            return nedge - 1
    if nedge < POLYTOPE_EDGES:
        d.work.epa_edge[nedge, 0] = start
        d.work.epa_edge[nedge, 1] = end
    return nedge + 1


@kernel
def remove_visible(d: Data, nface: int, lowest: int, point: Vec3) -> int:
    """Remove the faces visible from a point, including `lowest`; return the number of edges around the hole."""
    nedge = 0
    slack = VISIBLE * norm3(point)
    for face in range(nface):
        height = d.work.epa_height[face]
        if face == lowest or (height < REMOVED and dot3(get3(d.work.epa_normal, face), point) - height > slack):
            d.work.epa_height[face] = REMOVED
            for corner in range(3):
                following = corner + 1 if corner < 2 else 0
                nedge = toggle_edge(d, nedge, d.work.epa_face[face, corner], d.work.epa_face[face, following])
                if nedge > POLYTOPE_EDGES:
                    return nedge
    return nedge


@kernel
def fill_hole(d: Data, nface: int, nedge: int, vertex: int) -> int:
    """Connect the edges around the hole to the new vertex; return the new number of rows in use for faces.

    If the new faces do not fit, the result is `POLYTOPE_FACES` + 1.
    """
    face = 0
    for edge in range(nedge):
        while face < nface and d.work.epa_height[face] < REMOVED:
            face += 1
        if face == POLYTOPE_FACES:
            return POLYTOPE_FACES + 1
        put_face(d, face, d.work.epa_edge[edge, 0], d.work.epa_edge[edge, 1], vertex)
        nface = max(nface, face + 1)
    return nface


@kernel
def corners_of(d: Data, face: int) -> Corners:
    """Vertices of a face."""
    return d.work.epa_face[face, 0], d.work.epa_face[face, 1], d.work.epa_face[face, 2]


@kernel
def rows_of(points: ConstArray2, corners: Corners) -> tuple[Vec3, Vec3, Vec3]:
    """Return the rows of `points` for the corners of a face."""
    return get3(points, corners[0]), get3(points, corners[1]), get3(points, corners[2])


@kernel
def nearest_of_plane(d: Data, nface: int, lowest: int) -> int:
    """Among the faces in the plane of face `lowest`, find the one whose area comes closest to the origin."""
    best = lowest
    shortest = REMOVED
    for face in range(nface):
        slack = FLAT * norm3(get3(d.work.epa_vertex, d.work.epa_face[face, 0]))
        if d.work.epa_height[face] <= d.work.epa_height[lowest] + slack:
            a, b, c = rows_of(d.work.epa_vertex, corners_of(d, face))
            length = norm3(weighted_sum(a, b, c, triangle_weights(a, b, c)))
            if length < shortest:
                shortest = length
                best = face
    return best


@kernel
def set_rows(points: Array2, a: Vec3, b: Vec3, c: Vec3) -> None:
    """Write the first three rows of `points`."""
    set3(points, 0, a)
    set3(points, 1, b)
    set3(points, 2, c)


@kernel
def set_overlap(d: Data, corners: Corners, normal: Vec3, height: float) -> None:
    """Set depth, normal and deepest points of the overlap from a face, and the first rows of the simplex to it."""
    a, b, c = rows_of(d.work.epa_vertex, corners)
    weights = triangle_weights(a, b, c)
    d.work.overlap_depth = height
    set3(d.work.overlap_normal, 0, normal)
    set_rows(d.work.simplex, a, b, c)
    a, b, c = rows_of(d.work.epa_vertex1, corners)
    set3(d.work.witness, 0, weighted_sum(a, b, c, weights))
    set_rows(d.work.simplex1, a, b, c)
    a, b, c = rows_of(d.work.epa_vertex2, corners)
    set3(d.work.witness, 1, weighted_sum(a, b, c, weights))
    set_rows(d.work.simplex2, a, b, c)


@kernel
def across(v: Vec3) -> Vec3:
    """Vector perpendicular to `v` (which may be 0): the cross product with the axis of its smallest component."""
    if abs(v[0]) <= abs(v[1]) and abs(v[0]) <= abs(v[2]):
        return cross(v, (1.0, 0.0, 0.0)) if norm3(v) > 0.0 else (1.0, 0.0, 0.0)
    return cross(v, (0.0, 1.0, 0.0)) if abs(v[1]) <= abs(v[2]) else cross(v, (0.0, 0.0, 1.0))


@kernel
def set_flat_overlap(d: Data, n: int) -> None:
    """Set depth 0, and a normal of the flat difference that the first `n` < 4 vertices of the simplex span."""
    a = get3(d.work.simplex, 0)
    normal = (1.0, 0.0, 0.0)
    if n == 2:
        normal = across(sub3(get3(d.work.simplex, 1), a))
    elif n == 3:
        normal = cross(sub3(get3(d.work.simplex, 1), a), sub3(get3(d.work.simplex, 2), a))
    length = norm3(normal)
    d.work.overlap_depth = 0.0
    set3(d.work.overlap_normal, 0, scale3(normal, 1.0 / length) if length > 0.0 else (1.0, 0.0, 0.0))


@kernel
def polish(m: Model, d: Data, normal: Vec3) -> None:
    """Improve depth, normal and witnesses by descent, if the surface of the difference is curved.

    The depth (for separate shapes, minus their distance) is the minimum of the support function over all unit vectors.
    The gradient with respect to rotations of the vector is the component of the support point perpendicular to the
    vector. The step is doubled if it succeeds and halved if it fails. The result is used only if the support point ends
    up along the vector. On flat faces, this does not happen.
    """
    point = support_difference(m, d, 4, normal)
    reach = dot3(point, normal)
    size = norm3(point)
    step = 1.0
    for _ in range(POLISHING):
        slope = add_scaled3(point, normal, -reach)
        if norm3(slope) <= ALONG * size or size == 0.0:
            break
        tried = add_scaled3(normal, slope, -step / size)
        tried = scale3(tried, 1.0 / norm3(tried))
        new = support_difference(m, d, 4, tried)
        if dot3(new, tried) < reach:
            normal, point, reach = tried, new, dot3(new, tried)
            step *= 2.0
        else:
            step *= 0.5
    point = support_difference(m, d, 4, normal)
    if norm3(add_scaled3(point, normal, -dot3(point, normal))) <= 100.0 * ALONG * size and size > 0.0:
        d.work.overlap_depth = dot3(point, normal)
        set3(d.work.overlap_normal, 0, normal)
        set3(d.work.witness, 0, get3(d.work.simplex1, 4))
        set3(d.work.witness, 1, get3(d.work.simplex2, 4))


@kernel
def start_polytope(m: Model, d: Data, n: int) -> bool:
    """Set the polytope to a tetrahedron that contains the `n` vertices of the simplex; return whether there is one.

    If there is none, because the difference is flat, write depth 0 and a normal, and leave the witnesses unchanged.
    """
    while n < 4:
        if not add_vertex(m, d, n):
            set_flat_overlap(d, n)
            return False
        n += 1
    put_tetrahedron(d)
    return True


@kernel
def lowest_face(d: Data, nface: int) -> int:
    """Index of the face closest to the origin."""
    lowest = 0
    for face in range(1, nface):
        if d.work.epa_height[face] < d.work.epa_height[lowest]:
            lowest = face
    return lowest


@kernel
def expand_polytope(m: Model, d: Data, nface: int, nvertex: int, tolerance: float) -> tuple[int, int, float]:
    """Expand the polytope at its lowest face until this face is within a relative tolerance of the surface.

    Write ``d.work.overlap_depth`` (the smallest translation that separates the shapes), ``overlap_normal`` (the first
    shape has to move against it) and ``witness`` (the points that would then touch). The face's vertices replace the
    first three vertices of the simplex.

    Returns:
        The numbers of rows of faces and of vertices in use, and the relative distance of the surface from the face.
    """
    searching, gap = True, 0.0
    face, normal, height = (0, 0, 0), (0.0, 0.0, 0.0), 0.0
    while searching:
        lowest = lowest_face(d, nface)
        face, normal, height = corners_of(d, lowest), get3(d.work.epa_normal, lowest), d.work.epa_height[lowest]
        point = support_difference(m, d, 4, normal)
        size = norm3(point)
        gap = (dot3(point, normal) - height) / size if size > 0.0 else 0.0
        searching = gap > tolerance and nvertex < POLYTOPE_VERTICES
        if not searching:
            found = nearest_of_plane(d, nface, lowest)
            face, normal, height = corners_of(d, found), get3(d.work.epa_normal, found), d.work.epa_height[found]
        else:
            store_vertex(d, 4, nvertex)
            nedge = remove_visible(d, nface, lowest, point)
            if nedge <= POLYTOPE_EDGES:
                nface = fill_hole(d, nface, nedge, nvertex)
            searching = 3 <= nedge <= POLYTOPE_EDGES and nface <= POLYTOPE_FACES
            nvertex += 1
    set_overlap(d, face, normal, height)
    return nface, nvertex, gap


@kernel
def lowest_elsewhere(d: Data, nface: int, normal: Vec3, depth: float) -> int:
    """Lowest face that is lower than `depth` and has a normal not close to `normal` (`TOWARDS`); -1 if none."""
    lowest, height = -1, depth
    for face in range(nface):
        if d.work.epa_height[face] < height and dot3(get3(d.work.epa_normal, face), normal) < TOWARDS:
            lowest, height = face, d.work.epa_height[face]
    return lowest


@kernel
def is_deepest(m: Model, d: Data, nface: int, nvertex: int) -> bool:
    """Return whether the depth along ``d.work.overlap_normal``, a local minimum, is proved to be the global minimum.

    The proof expands the polytope at all lower faces that have other directions.
    """
    normal, depth = get3(d.work.overlap_normal, 0), d.work.overlap_depth
    depth -= TOLERANCE * (abs(depth) + norm3(get3(d.work.epa_vertex, 0)))
    face = lowest_elsewhere(d, nface, normal, depth)
    while face >= 0:
        out = get3(d.work.epa_normal, face)
        point = support_difference(m, d, 4, out)
        if dot3(point, out) < depth or dot3(point, out) - d.work.epa_height[face] <= TOLERANCE * norm3(point):
            return False
        if nvertex == POLYTOPE_VERTICES:
            return False
        store_vertex(d, 4, nvertex)
        nedge = remove_visible(d, nface, face, point)
        if nedge < 3 or nedge > POLYTOPE_EDGES:
            return False
        nface = fill_hole(d, nface, nedge, nvertex)
        nvertex += 1
        if nface > POLYTOPE_FACES:
            return False
        face = lowest_elsewhere(d, nface, normal, depth)
    return True
