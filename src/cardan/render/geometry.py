"""Vertices and triangles of one instance in one view: transformation, colours, culling, edge functions.

Edge functions use homogeneous coordinates (Olano and Greer 1997, "Triangle scan conversion using 2D homogeneous
coordinates"), so that triangles need no clipping: the near plane is a limit of the depth of samples.
"""

from __future__ import annotations

from math import ceil, floor, sqrt

from cardan.enums.codes import GEOM_MESH, GEOM_SKIN
from cardan.jit import kernel
from cardan.maths.types import Vec3
from cardan.render.kernel_views import Assets, Frame
from cardan.render.kernels import int32, picture_stage, single
from cardan.render.tiles import LANES, count_instance, share_begin
from cardan.render.vertices import COLORS, color_part, color_vertex, place, turn_normal
from cardan.visual.append import CASTS_SHADOW, IS_TRANSPARENT

SMALL = 1e-30
NEAR_MARGIN = 1.001
"""Distance at which lines are clipped, relative to the distance of the near plane."""
LEFT, RIGHT, BELOW, ABOVE, TOO_NEAR, TOO_FAR = 1, 2, 4, 8, 16, 32
"""Bits of `vert_beyond`: the boundaries of the visible volume that a vertex is beyond."""
FEW_ROWS = 2
"""Largest height of a triangle, in rows of pixels, up to which `covers_sample` tests single samples."""
OUTSIDE = 1e-4
"""Distance of a sample from an edge, pixels, above which single precision reliably finds on which side it is."""
INSIDE, NOT_INSIDE = int32(1), int32(0)


@kernel
def project(f: Frame, view: int, row: int, p: Vec3) -> float:
    """Return the product of row `row` of a view's matrix and the point (x, y, z, 1)."""
    k = 4 * row
    return (
        f.view_row[view, k] * p[0]
        + f.view_row[view, k + 1] * p[1]
        + f.view_row[view, k + 2] * p[2]
        + f.view_row[view, k + 3]
    )


@kernel
def is_hidden(a: Assets, f: Frame, view: int, inst: int) -> bool:
    """Return whether the bounding sphere of an instance is completely beyond one side of the view."""
    scale = max(abs(f.inst_scale[inst, 0]), abs(f.inst_scale[inst, 1]), abs(f.inst_scale[inst, 2]))
    radius = a.shape_rbound[f.inst_shape[inst]] * scale + f.inst_scale[inst, 3]
    centre = (f.inst_pose[inst, 9], f.inst_pose[inst, 10], f.inst_pose[inst, 11])
    depth = project(f, view, 3, centre)
    if depth + radius < f.view_near[view] or depth - radius > f.view_far[view]:
        return True
    w = project(f, view, 2, centre)
    for axis in range(2):
        size = f.view_width[view] if axis == 0 else f.view_height[view]
        x = project(f, view, axis, centre)
        # distances from the planes x = 0 and x = size w, times the lengths of their normals
        low, high = 0.0, 0.0
        for k in range(3):
            part = f.view_row[view, 4 * axis + k]
            low += part * part
            part -= size * f.view_row[view, 8 + k]
            high += part * part
        if x < -radius * sqrt(low) or x - size * w > radius * sqrt(high):
            return True
    return False


@kernel
def find_pixel(f: Frame, view: int, v: int) -> None:
    """Store the sides of a view beyond which vertex `v` is, and the vertex's position in pixels.

    If the vertex is too near, the position is invalid.
    """
    x, y, w, depth = f.vert_clip[v, 0], f.vert_clip[v, 1], f.vert_clip[v, 2], f.vert_clip[v, 3]
    near = f.view_near[view]
    beyond = (LEFT if x < 0.0 else 0) | (BELOW if y < 0.0 else 0) | (TOO_NEAR if depth < near else 0)
    beyond |= (RIGHT if x > f.view_width[view] * w else 0) | (ABOVE if y > f.view_height[view] * w else 0)
    f.vert_beyond[v] = beyond | (TOO_FAR if depth > f.view_far[view] else 0)
    scale = 1.0 / max(w, near) if f.view_perspective[view] else 1.0
    f.vert_pixel[v, 0] = x * scale
    f.vert_pixel[v, 1] = y * scale


@kernel
def clamped(value: float, last: int) -> int:
    """Convert a number to an integer and clamp it to the range from 0 to `last`."""
    return int(min(max(value, 0.0), float(last)))


@kernel
def bound_triangle(f: Frame, view: int, tri: int, v0: int, v1: int, v2: int) -> bool:
    """Store the range of pixels that a triangle may cover; return False if this range contains no sample."""
    width, height = f.view_width[view], f.view_height[view]
    first_x, last_x, first_y, last_y = 0, int(width), 0, int(height)
    near = (f.vert_beyond[v0] | f.vert_beyond[v1] | f.vert_beyond[v2]) & TOO_NEAR
    if not (f.view_perspective[view] and near):
        x0, x1, x2 = f.vert_pixel[v0, 0], f.vert_pixel[v1, 0], f.vert_pixel[v2, 0]
        y0, y1, y2 = f.vert_pixel[v0, 1], f.vert_pixel[v1, 1], f.vert_pixel[v2, 1]
        # samples are at odd eighths of a pixel, or at its centre
        margin = 0.125 if f.nsample > 1 and not f.view_shadow[view] else 0.5
        first_x = clamped(floor(min(x0, x1, x2) + margin), width)
        last_x = clamped(ceil(max(x0, x1, x2) - margin), width)
        first_y = clamped(floor(min(y0, y1, y2) + margin), height)
        last_y = clamped(ceil(max(y0, y1, y2) - margin), height)
    f.tri_box[tri, 0] = first_x
    f.tri_box[tri, 1] = last_x - 1
    f.tri_box[tri, 2] = first_y
    f.tri_box[tri, 3] = last_y - 1
    return first_x < last_x and first_y < last_y


@kernel
def set_edge(f: Frame, tri: int, k: int, v: int, w: int) -> None:
    """Set the edge function through two vertices: the cross product of their homogeneous coordinates.

    If two triangles share an edge, their functions for that edge differ only in sign. Therefore each sample on the edge
    belongs to exactly one of the triangles.
    """
    sign = 1.0
    if v > w:
        v, w = w, v
        sign = -1.0
    x0, y0, w0 = float(f.vert_clip[v, 0]), float(f.vert_clip[v, 1]), float(f.vert_clip[v, 2])
    x1, y1, w1 = float(f.vert_clip[w, 0]), float(f.vert_clip[w, 1]), float(f.vert_clip[w, 2])
    f.tri_edge[tri, 3 * k] = sign * (y0 * w1 - y1 * w0)
    f.tri_edge[tri, 3 * k + 1] = sign * (w0 * x1 - w1 * x0)
    f.tri_edge[tri, 3 * k + 2] = sign * (x0 * y1 - x1 * y0)


@kernel
def nearness(f: Frame, view: int, v: int) -> float:
    """Return the product of a vertex's inverse depth and its w; in a perspective view, the product is 1.

    In an orthographic view, far - depth replaces the inverse depth. Both quantities increase towards the camera and are
    linear in the pixel position.
    """
    if f.view_perspective[view]:
        return 1.0
    return f.view_far[view] - f.vert_clip[v, 3]


@kernel
def edge_near(f: Frame, tri: int, k: int, x: int, y: int) -> tuple[float, float, float, float]:
    """Return an edge function's value at a pixel's lower left corner, its steps, and its least value for inner samples.

    The steps are per pixel, to the right and upwards. The least value has a margin, because filling tests the samples
    relative to another origin.
    """
    a, b = f.tri_edge[tri, 3 * k], f.tri_edge[tri, 3 * k + 1]
    least = -OUTSIDE * (abs(a) + abs(b))
    return (single(a * x + b * y + f.tri_edge[tri, 3 * k + 2]), single(a), single(b), single(least))


@kernel
def covers_sample(f: Frame, tri: int) -> bool:
    """Return whether a triangle may cover a sample.

    Always return True if the triangle is wider than a block or higher than `FEW_ROWS`.
    """
    x, y, end = f.tri_box[tri, 0], f.tri_box[tri, 2], f.tri_box[tri, 3] + 1
    if f.tri_box[tri, 1] >= x + (LANES >> f.sample_shift) or end > y + FEW_ROWS:
        return True
    found = int32(0)
    for row in range(y, end):
        e0, a0, b0, least0 = edge_near(f, tri, 0, x, row)
        e1, a1, b1, least1 = edge_near(f, tri, 1, x, row)
        e2, a2, b2, least2 = edge_near(f, tri, 2, x, row)
        for lane in range(LANES):
            right, up = f.lane_x[lane], f.lane_y[lane]
            inside = (
                (e0 + a0 * right + b0 * up >= least0)
                & (e1 + a1 * right + b1 * up >= least1)
                & (e2 + a2 * right + b2 * up >= least2)
            )
            found |= INSIDE if inside else NOT_INSIDE
    return found != 0


@kernel
def set_up_triangle(f: Frame, view: int, inst: int, tri: int, v0: int, v1: int, v2: int, cull: bool) -> bool:
    """Compute the data for filling a triangle; return False if the triangle is invisible.

    `cull` hides back faces or, in the view of a light, front faces.
    """
    if f.vert_beyond[v0] & f.vert_beyond[v1] & f.vert_beyond[v2]:  # all vertices are beyond the same side
        return False
    set_edge(f, tri, 0, v1, v2)
    det = (
        f.tri_edge[tri, 0] * f.vert_clip[v0, 0]
        + f.tri_edge[tri, 1] * f.vert_clip[v0, 1]
        + f.tri_edge[tri, 2] * f.vert_clip[v0, 2]
    )
    behind = det < 0.0
    if det == 0.0 or (cull and behind != (f.view_flip[view] != f.view_shadow[view])):
        return False
    if not bound_triangle(f, view, tri, v0, v1, v2):
        return False
    if behind:
        v1, v2 = v2, v1
        det = -det
        set_edge(f, tri, 0, v1, v2)
    set_edge(f, tri, 1, v2, v0)
    set_edge(f, tri, 2, v0, v1)
    if not f.view_shadow[view]:
        if not covers_sample(f, tri):
            return False
        f.tri_vert[tri, 0] = v0
        f.tri_vert[tri, 1] = v1
        f.tri_vert[tri, 2] = v2
        f.tri_inst[tri] = inst
        f.tri_back[tri] = 1 if behind != (f.view_flip[view] != 0) else 0
    n0, n1, n2 = nearness(f, view, v0) / det, nearness(f, view, v1) / det, nearness(f, view, v2) / det
    for k in range(3):
        f.tri_near[tri, k] = n0 * f.tri_edge[tri, k] + n1 * f.tri_edge[tri, 3 + k] + n2 * f.tri_edge[tri, 6 + k]
    return True


@kernel
def copy_vertex(f: Frame, source: int, target: int, dx: float, dy: float) -> None:
    """Copy a vertex, moved by `dx` and `dy` pixels."""
    w = f.vert_clip[source, 2]
    f.vert_clip[target, 0] = f.vert_clip[source, 0] + dx * w
    f.vert_clip[target, 1] = f.vert_clip[source, 1] + dy * w
    f.vert_clip[target, 2] = w
    f.vert_clip[target, 3] = f.vert_clip[source, 3]
    if f.mode == COLORS:
        for c in range(f.ncolor):
            f.vert_color[target, c] = f.vert_color[source, c]
        for k in range(3):
            f.vert_tex[target, k] = f.vert_tex[source, k]


@kernel
def move_to_near(f: Frame, view: int, v: int, w: int) -> bool:
    """If vertex `v` of a line is too near, move it towards `w` to the near plane; return False if both are too near."""
    near = f.view_near[view] * NEAR_MARGIN
    z0, z1 = f.vert_clip[v, 3], f.vert_clip[w, 3]
    if z0 >= near:
        return True
    if z1 <= near:
        return False
    share = (near - z0) / (z1 - z0)
    for k in range(4):
        f.vert_clip[v, k] += share * (f.vert_clip[w, k] - f.vert_clip[v, k])
    return True


@kernel
def add_line(f: Frame, view: int, inst: int, tri: int, v0: int, v1: int, corner: int) -> int:
    """Make two triangles from the line between two vertices; return the number of visible triangles.

    The triangles' four vertices are stored from index `corner` on.
    """
    copy_vertex(f, v0, corner, 0.0, 0.0)
    copy_vertex(f, v1, corner + 1, 0.0, 0.0)
    if f.view_perspective[view] and not (
        move_to_near(f, view, corner, corner + 1) and move_to_near(f, view, corner + 1, corner)
    ):
        return 0
    w0, w1 = f.vert_clip[corner, 2], f.vert_clip[corner + 1, 2]
    dx = f.vert_clip[corner + 1, 0] / w1 - f.vert_clip[corner, 0] / w0
    dy = f.vert_clip[corner + 1, 1] / w1 - f.vert_clip[corner, 1] / w0
    length = sqrt(dx * dx + dy * dy)
    if length <= 0.0:
        return 0
    scale = 0.5 * f.inst_line[inst] / length
    copy_vertex(f, corner, corner + 2, dy * scale, -dx * scale)
    copy_vertex(f, corner + 1, corner + 3, dy * scale, -dx * scale)
    copy_vertex(f, corner, corner, -dy * scale, dx * scale)
    copy_vertex(f, corner + 1, corner + 1, -dy * scale, dx * scale)
    for k in range(corner, corner + 4):
        find_pixel(f, view, k)
    count = 1 if set_up_triangle(f, view, inst, tri, corner + 2, corner + 3, corner + 1, False) else 0
    return count + (1 if set_up_triangle(f, view, inst, tri + count, corner + 2, corner + 1, corner, False) else 0)


@kernel
def faces_camera(a: Assets, f: Frame, view: int, inst: int, vertex: int) -> bool:
    """Return whether the camera of a view is on the outer side of the surface at a vertex."""
    p = place(a, f, inst, vertex)
    n = turn_normal(a, f, inst, vertex)
    x, y, z = f.view_eye[view, 0] - p[0], f.view_eye[view, 1] - p[1], f.view_eye[view, 2] - p[2]
    return n[0] * x + n[1] * y + n[2] * z >= 0.0


@kernel
def set_up_faces(a: Assets, f: Frame, view: int, inst: int, vertex: int, first: int) -> int:
    """Set up an instance's visible triangles, mark their vertices for lighting, and return the number of triangles."""
    shape = f.inst_shape[inst]
    # transparent instances are also seen from inside, except skins and meshes
    one_sided = not f.inst_blend[inst] or f.geom_type[f.inst_geom[inst]] in (GEOM_SKIN, GEOM_MESH)
    cull = (f.cull != 0 and one_sided) or f.view_shadow[view] != 0
    lit = f.mode == COLORS and not f.view_shadow[view]
    count = 0
    number, part, parts = a.shape_facenum[shape], f.inst_part[inst], f.inst_parts[inst]
    for k in range(number * part // parts, number * (part + 1) // parts):
        face = a.shape_faceadr[shape] + k
        v0, v1, v2 = a.face[face, 0], a.face[face, 1], a.face[face, 2]
        if set_up_triangle(f, view, inst, first + count, vertex + v0, vertex + v1, vertex + v2, cull):
            count += 1
            if lit:
                f.vert_epoch[vertex + v0] = f.epoch
                f.vert_epoch[vertex + v1] = f.epoch
                f.vert_epoch[vertex + v2] = f.epoch
    return count


@kernel
def set_up_instance(a: Assets, f: Frame, view: int, share: int, inst: int) -> None:
    """If an instance is visible in a view, set up its visible triangles, and count them for each tile."""
    total = f.view_instadr[view] + inst
    if f.inst_trinum[total] == 0:
        return
    vertex = f.view_vertadr[view] + f.inst_vertadr[inst]
    first = f.view_triadr[view] + f.inst_triadr[inst]
    if f.inst_line[inst] > 0.0:
        shape = f.inst_shape[inst]
        corner = vertex + a.shape_vertnum[shape]
        surface = a.shape_facenum[shape] > 0
        adr = a.shape_vertadr[shape]
        count = 0
        for k in range(a.shape_edgenum[shape]):
            v0, v1 = a.edge[a.shape_edgeadr[shape] + k, 0], a.edge[a.shape_edgeadr[shape] + k, 1]
            seen = not (surface and f.cull) or (
                faces_camera(a, f, view, inst, adr + v0) or faces_camera(a, f, view, inst, adr + v1)
            )
            if seen:
                if f.mode == COLORS:
                    color_vertex(a, f, view, share, inst, v0)
                    color_vertex(a, f, view, share, inst, v1)
                count += add_line(f, view, inst, first + count, vertex + v0, vertex + v1, corner + 4 * k)
        f.inst_trinum[total] = count
    else:
        f.inst_trinum[total] = set_up_faces(a, f, view, inst, vertex, first)
        if f.inst_parts[inst] == 1:
            color_part(a, f, view, share, inst)
    if f.view_shadow[view]:
        # the pixels that the triangles may cover; shadow maps have no tiles
        x0, x1, y0, y1 = f.view_width[view], -1, f.view_height[view], -1
        for tri in range(first, first + f.inst_trinum[total]):
            x0, x1 = min(x0, f.tri_box[tri, 0]), max(x1, f.tri_box[tri, 1])
            y0, y1 = min(y0, f.tri_box[tri, 2]), max(y1, f.tri_box[tri, 3])
        f.inst_box[total, 0] = x0
        f.inst_box[total, 1] = x1
        f.inst_box[total, 2] = y0
        f.inst_box[total, 3] = y1
    else:
        count_instance(f, view, share, inst)


@kernel
def casts_shadow(f: Frame, inst: int) -> bool:
    """Return whether an instance is drawn into shadow maps: it is a surface, and its geom casts shadows."""
    return f.inst_line[inst] <= 0.0 and f.scene_i[f.inst_geom[inst], IS_TRANSPARENT] & CASTS_SHADOW != 0


@picture_stage
def begin_share(a: Assets, f: Frame, view: int, share: int) -> int:
    """Transform the vertices of a share of the instances in a view; set up the triangles of complete shapes. Return 0.

    An instance that is a part of a shape needs vertices of other parts: `finish_share` sets up its triangles.
    """
    for inst in range(share_begin(f, share), share_begin(f, share + 1)):
        unseen = is_hidden(a, f, view, inst) or f.inst_geom[inst] == f.view_mirror[view]
        unseen = unseen or (f.view_shadow[view] != 0 and not casts_shadow(f, inst))
        f.inst_trinum[f.view_instadr[view] + inst] = 0 if unseen else 1
        if not unseen:
            shape = f.inst_shape[inst]
            first, count = a.shape_vertadr[shape], a.shape_vertnum[shape]
            target = f.view_vertadr[view] + f.inst_vertadr[inst]
            part, parts = f.inst_part[inst], f.inst_parts[inst]
            for k in range(count * part // parts, count * (part + 1) // parts):
                p = place(a, f, inst, first + k)
                for row in range(4):
                    f.vert_clip[target + k, row] = project(f, view, row, p)
                find_pixel(f, view, target + k)
            if f.inst_parts[inst] == 1:
                set_up_instance(a, f, view, share, inst)
    return 0


@picture_stage
def finish_share(a: Assets, f: Frame, view: int, share: int) -> int:
    """Set up the triangles of those instances of a share that draw only a part of a shape; return 0."""
    for inst in range(share_begin(f, share), share_begin(f, share + 1)):
        if f.inst_parts[inst] > 1:
            set_up_instance(a, f, view, share, inst)
    return 0


@picture_stage
def color_share(a: Assets, f: Frame, view: int, share: int) -> int:
    """Light the vertices of those instances of a share that draw only a part of a shape; return 0."""
    for inst in range(share_begin(f, share), share_begin(f, share + 1)):
        if f.inst_parts[inst] > 1 and f.inst_line[inst] <= 0.0:
            color_part(a, f, view, share, inst)
    return 0
