"""Rays against meshes and height fields.

A mesh is hit at its faces, not at the convex hull. The faces are found by the mesh's tree of bounding boxes. A height
field consists of its base, its four sides, and the triangles of its surface. The base is the whole box below elevation
0; a ray that starts inside the field also hits the box's upper face. The cells of the grid are visited one by one along
the ray, nearest first.

Sources: T. Möller and B. Trumbore, Fast, minimum storage ray/triangle intersection (1997); C. Ericson, Real-Time
Collision Detection (2005), section 5.3.3 (ray and box), section 6.3 (traversal of trees); J. Amanatides and A. Woo, A
fast voxel traversal algorithm for ray tracing (1987); spec: modelling, asset, height field.
"""

from __future__ import annotations

from math import floor

from cardan.collision.hfield import elevation, prism_top, top_elevation
from cardan.collision.hull_search import mesh_point
from cardan.collision.ray import MISS, nearer, ray_box
from cardan.jit import kernel, stack_array, stack_int_array
from cardan.maths.types import Vec2, Vec3
from cardan.maths.vector import MINVAL, cross, dot3, sub3
from cardan.model.kernel_views import Model

STACK = 64
"""Number of nodes that the stack can hold: one per level of a tree (trees are balanced), plus one."""
HUGE = 1e300
"""Value used as the reciprocal of 0."""
SLACK = 1e-12
"""Relative enlargement of boxes and triangles, so that rounding opens no gaps between them."""


@kernel
def ray_triangle(a: Vec3, b: Vec3, c: Vec3, p: Vec3, v: Vec3) -> float:
    """Distance along a ray from `p` with direction `v` to the triangle `a`, `b`, `c`, from either side.

    The result is negative if the ray misses the triangle or the triangle is behind `p`. A ray in the triangle's plane
    misses the triangle.
    """
    u, w = sub3(b, a), sub3(c, a)
    normal = cross(v, w)
    determinant = dot3(u, normal)
    if determinant == 0.0:
        return MISS
    from_a = sub3(p, a)
    beta = dot3(from_a, normal) / determinant
    if beta < -SLACK or beta > 1.0 + SLACK:
        return MISS
    across = cross(from_a, u)
    gamma = dot3(v, across) / determinant
    if gamma < -SLACK or beta + gamma > 1.0 + SLACK:
        return MISS
    return dot3(w, across) / determinant


@kernel
def mesh_triangle(m: Model, mesh: int, face: int) -> tuple[Vec3, Vec3, Vec3]:
    """Corners of face `face` of a mesh, in the mesh's frame."""
    row, first = m.mesh_faceadr[mesh] + face, m.mesh_vertadr[mesh]
    a, b, c = first + m.mesh_face[row, 0], first + m.mesh_face[row, 1], first + m.mesh_face[row, 2]
    return mesh_point(m, a), mesh_point(m, b), mesh_point(m, c)


@kernel
def ray_face(m: Model, mesh: int, face: int, p: Vec3, v: Vec3) -> float:
    """Distance along a ray to face `face` of a mesh; negative if the ray misses the face (see `ray_triangle`)."""
    a, b, c = mesh_triangle(m, mesh, face)
    return ray_triangle(a, b, c, p, v)


@kernel
def reciprocal(value: float) -> float:
    """Reciprocal of a number, limited to finite values."""
    return 1.0 / value if abs(value) > 1.0 / HUGE else HUGE


@kernel
def box_entry(m: Model, node: int, p: Vec3, inverse: Vec3, best: float) -> float:
    """Distance at which a ray enters the box of a node; 0 if the ray starts inside.

    The result is `MISS` if the ray does not enter the box, or enters it only beyond `best`. The ray is in the frame of
    the tree; `inverse` holds the reciprocals of its direction's components.
    """
    enter = 0.0
    leave = best if best >= 0.0 else HUGE
    for k in range(3):
        to_center = (m.bvh_aabb[node, k] - p[k]) * inverse[k]
        half = m.bvh_aabb[node, k + 3] * abs(inverse[k])
        slack = SLACK * (abs(to_center) + half)
        enter = max(enter, to_center - half - slack)
        leave = min(leave, to_center + half + slack)
    return enter if enter <= leave else MISS


@kernel
def ray_mesh(m: Model, mesh: int, p: Vec3, v: Vec3) -> float:
    """Distance along a ray to the nearest face of mesh `mesh`, or `MISS`.

    The ray starts at `p` with direction `v`, in the frame of the geom.
    """
    if m.mesh_bvhnum[mesh] <= 0:
        return MISS
    nodes = stack_int_array(STACK)
    entries = stack_array(STACK)
    first = m.mesh_bvhadr[mesh]
    inverse = (reciprocal(v[0]), reciprocal(v[1]), reciprocal(v[2]))
    best = MISS
    nodes[0] = first
    entries[0] = box_entry(m, first, p, inverse, best)
    n = 1 if entries[0] >= 0.0 else 0
    while n > 0:
        n -= 1
        node = nodes[n]
        if best < 0.0 or entries[n] <= best:
            if m.bvh_nodeid[node] >= 0:
                best = nearer(ray_face(m, mesh, m.bvh_nodeid[node], p, v), best)
            else:
                # visit the nearer child first
                near = first + m.bvh_child[node, 0]
                far = first + m.bvh_child[node, 1]
                near_entry = box_entry(m, near, p, inverse, best)
                far_entry = box_entry(m, far, p, inverse, best)
                if far_entry < near_entry:
                    near, far = far, near
                    near_entry, far_entry = far_entry, near_entry
                if far_entry >= 0.0 and n < STACK:
                    nodes[n] = far
                    entries[n] = far_entry
                    n += 1
                if near_entry >= 0.0 and n < STACK:
                    nodes[n] = near
                    entries[n] = near_entry
                    n += 1
    return best


@kernel
def border_elevation(m: Model, hfield: int, axis: int, end: int, along: float) -> float:
    """Elevation of a height field's border, at the coordinate `along` on it.

    The border is perpendicular to axis 0 (x) or 1 (y), at its lower (`end` 0) or upper (1) end.
    """
    across_count = m.hfield_ncol[hfield] if axis == 0 else m.hfield_nrow[hfield]
    count = m.hfield_nrow[hfield] if axis == 0 else m.hfield_ncol[hfield]
    fixed = end * (across_count - 1)
    place = (along / m.hfield_size[hfield, 1 - axis] + 1.0) * 0.5 * (count - 1)
    k = int(min(max(floor(place), 0.0), count - 2.0))
    if axis == 0:
        low, high = elevation(m, hfield, k, fixed), elevation(m, hfield, k + 1, fixed)
    else:
        low, high = elevation(m, hfield, fixed, k), elevation(m, hfield, fixed, k + 1)
    return low + (place - k) * (high - low)


@kernel
def ray_sides(m: Model, hfield: int, p: Vec3, v: Vec3) -> float:
    """Distance along a ray to the sides of the field above the base."""
    best = MISS
    for axis in range(2):
        if abs(v[axis]) > MINVAL:
            for end in range(2):
                x = ((2.0 * end - 1.0) * m.hfield_size[hfield, axis] - p[axis]) / v[axis]
                along = p[1 - axis] + x * v[1 - axis]
                z = p[2] + x * v[2]
                if z >= 0.0 and abs(along) <= m.hfield_size[hfield, 1 - axis]:
                    if z <= border_elevation(m, hfield, axis, end, along):
                        best = nearer(x, best)
    return best


@kernel
def ray_cell(m: Model, hfield: int, row: int, col: int, p: Vec3, v: Vec3, x_in: float, x_out: float) -> float:
    """Distance along a ray to the two triangles of a cell; the ray crosses the cell's column from `x_in` to `x_out`."""
    highest = max(top_elevation(m, hfield, row, col, 0), top_elevation(m, hfield, row, col, 1))
    if min(p[2] + x_in * v[2], p[2] + x_out * v[2]) > highest + SLACK * abs(p[2]):
        return MISS
    best = MISS
    for half in range(2):
        a, b, c = prism_top(m, hfield, row, col, half)
        best = nearer(ray_triangle(a, b, c, p, v), best)
    return best


@kernel
def crossing(index: int, step: int, origin: float, spacing: float, inverse: float) -> float:
    """Distance along a ray to the point where the ray leaves grid row or column `index`.

    `step` is the sign of the ray's direction component across the rows or columns; if it is 0, return HUGE. `origin` is
    the ray's start coordinate, measured from the first edge of the grid (m). `spacing` is the cell size (m), `inverse`
    the reciprocal of the direction component.
    """
    if step == 0:
        return HUGE
    return ((index + (1 if step > 0 else 0)) * spacing - origin) * inverse


@kernel
def direction_of(value: float) -> int:
    """Sign of a number; 0 if the number is 0 up to rounding."""
    return 1 if value > MINVAL else (-1 if value < -MINVAL else 0)


@kernel
def first_cell(origin: float, velocity: float, x: float, spacing: float, n: int) -> int:
    """Row or column, of `n`, that contains the point at distance `x` on a ray.

    `origin` is the coordinate of the ray's start, measured from the first edge of the grid (m). `velocity` is the same
    coordinate of the ray's direction, and `spacing` the size of a cell (m).
    """
    return int(min(max(floor((origin + x * velocity) / spacing), 0.0), n - 1.0))


@kernel
def side_range(origin: float, velocity: float, length: float) -> Vec2:
    """Distances at which a ray enters and leaves the strip from 0 to `length`; an empty range if it never does."""
    if abs(velocity) <= MINVAL:
        return (0.0, HUGE) if 0.0 <= origin <= length else (HUGE, 0.0)
    x0 = -origin / velocity
    x1 = (length - origin) / velocity
    return max(min(x0, x1), 0.0), max(x0, x1)


@kernel
def ray_surface(m: Model, hfield: int, p: Vec3, v: Vec3, best: float) -> float:
    """Distance along a ray to the upper surface, or `best` if the ray misses the surface or `best` is smaller.

    If `best` is negative, the distance is not bounded.
    """
    ncol, nrow = m.hfield_ncol[hfield] - 1, m.hfield_nrow[hfield] - 1
    width, height = 2.0 * m.hfield_size[hfield, 0], 2.0 * m.hfield_size[hfield, 1]
    px, py = p[0] + 0.5 * width, p[1] + 0.5 * height
    dx, dy = width / ncol, height / nrow

    # part of the ray in the box that contains the surface
    x_in, x_end = side_range(px, v[0], width)
    y_in, y_end = side_range(py, v[1], height)
    z_in, z_end = side_range(p[2], v[2], m.hfield_size[hfield, 2] * (1.0 + SLACK))
    x = max(x_in, y_in, z_in)
    end = min(x_end, y_end, z_end) * (1.0 + SLACK)
    if best >= 0.0:
        end = min(end, best)
    if not x <= end:  # also true if a number is not finite
        return best

    # cells in the order of the ray
    step_x, step_y = direction_of(v[0]), direction_of(v[1])
    inverse_x, inverse_y = reciprocal(v[0]), reciprocal(v[1])
    col = first_cell(px, v[0], x, dx, ncol)
    row = first_cell(py, v[1], x, dy, nrow)
    while 0 <= col < ncol and 0 <= row < nrow and x <= end:
        next_col = crossing(col, step_x, px, dx, inverse_x)
        next_row = crossing(row, step_y, py, dy, inverse_y)
        found = ray_cell(m, hfield, row, col, p, v, x, min(next_col, next_row, end))
        if found >= 0.0:
            return nearer(found, best)
        if step_x == 0 and step_y == 0:
            return best
        if next_col <= next_row:
            col += step_x
        else:
            row += step_y
        x = max(x, min(next_col, next_row))
    return best


@kernel
def ray_hfield(m: Model, hfield: int, p: Vec3, v: Vec3) -> float:
    """Distance along a ray from `p` with direction `v`, in the frame of the geom, to height field `hfield`."""
    base = 0.5 * m.hfield_size[hfield, 3]
    size = (m.hfield_size[hfield, 0], m.hfield_size[hfield, 1], base)
    best = ray_box(size, (p[0], p[1], p[2] + base), v)
    best = nearer(ray_sides(m, hfield, p, v), best)
    return ray_surface(m, hfield, p, v, best)
