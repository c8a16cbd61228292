"""Stages that add flexes and skins to the scene: vertices, faces with normals, and their geoms.

The smooth skin of a surface has two sides, one radius above and below the middle surface, and strips along its border.
The smooth skin of a solid is its shell, moved outwards by the radius. Without the skin, faces of elements are flat and
moved outwards by the radius. The vertices of skins are moved by bones (linear blend skinning).
"""

from __future__ import annotations

from cardan.enums.codes import CAT_DYNAMIC, GEOM_FLEX
from cardan.jit import OK, kernel, stage
from cardan.maths.quaternion import mul_quat, neg_quat, quat2mat
from cardan.maths.types import Array1, ConstArray1, ConstIntArray1, Vec3, Vec4
from cardan.maths.vector import add3, add_scaled3, cross, get3, get4, mul_mat_vec3, normalize3, scale3, sub3
from cardan.model.kernel_views import Data, Model
from cardan.visual.append import (
    EYE,
    GEOM_SKIN,
    OBJ_FLEX,
    OBJ_SKIN,
    TEXCOORD,
    colour,
    light_up,
    name_it,
    new_geom,
    put,
    shown_group,
    shows,
)
from cardan.visual.memory import FLEX_LAYER, FLEXGROUP, FLEXSELECT, LABELS, SKINGROUP, SKINSELECT, VIS

LABEL_FLEX, LABEL_SKIN = LABELS["FLEX"], LABELS["SKIN"]
VIS_FACE, VIS_SKIN = VIS["FLEXFACE"], VIS["FLEXSKIN"]
SURFACE = 2


@kernel
def _triangle(vertices: ConstIntArray1, first: int, adr: int) -> tuple[int, int, int]:
    """Return the ids of the three vertices from index `adr` of `vertices` on; `first` is the flex's first vertex."""
    return first + vertices[adr], first + vertices[adr + 1], first + vertices[adr + 2]


@kernel
def _vertex(d: Data, vertex: int) -> Vec3:
    return get3(d.flexvert_xpos, vertex)


@kernel
def _at(array: ConstArray1, k: int) -> Vec3:
    return (array[3 * k], array[3 * k + 1], array[3 * k + 2])


@kernel
def _normal(d: Data, vertex: int) -> Vec3:
    return _at(d.work.scn_vertnormal, vertex)


@kernel
def flat_normal(a: Vec3, b: Vec3, c: Vec3) -> Vec3:
    """Return the outward unit normal of a triangle with corners that are counter-clockwise, seen from outside."""
    return normalize3(cross(sub3(b, a), sub3(c, a)))


@kernel
def _put(array: Array1, at: int, v: Vec3) -> None:
    for k in range(3):
        array[at + k] = v[k]


@kernel
def _add_to(array: Array1, at: int, v: Vec3) -> None:
    for k in range(3):
        array[at + k] += v[k]


@kernel
def _vertex_normals(m: Model, d: Data, flex: int) -> None:
    """Compute unit normals at a flex's vertices: normalised sums of the unit normals of adjacent triangles.

    The triangles are the elements of a surface, or the shell of a solid.
    """
    first, count = m.flex_vertadr[flex], m.flex_vertnum[flex]
    for k in range(3 * first, 3 * (first + count)):
        d.work.scn_vertnormal[k] = 0.0
    surface = m.flex_dim[flex] == SURFACE
    triangles = m.flex_elemnum[flex] if surface else m.flex_shellnum[flex]
    for t in range(triangles):
        if surface:
            i, j, k = _triangle(m.flex_elem, first, m.flex_elemdataadr[flex] + 3 * t)
        else:
            i, j, k = _triangle(m.flex_shell, first, m.flex_shelldataadr[flex] + 3 * t)
        n = flat_normal(_vertex(d, i), _vertex(d, j), _vertex(d, k))
        _add_to(d.work.scn_vertnormal, 3 * i, n)
        _add_to(d.work.scn_vertnormal, 3 * j, n)
        _add_to(d.work.scn_vertnormal, 3 * k, n)
    for vertex in range(first, first + count):
        _put(d.work.scn_vertnormal, 3 * vertex, normalize3(_normal(d, vertex)))


@kernel
def _new_face(d: Data, flex: int) -> int:
    """Reserve the next face of a flex, and return the face's number."""
    face = d.work.scn_flexfaceadr[flex] + d.work.scn_flexfaceused[flex]
    d.work.scn_flexfaceused[flex] += 1
    return face


@kernel
def _put_corner(m: Model, d: Data, flex: int, face: int, k: int, vertex: int, pos: Vec3, normal: Vec3) -> None:
    """Set corner `k` of a face: position `pos`, `normal`, and the texture coordinates of a vertex of the flex."""
    _put(d.work.scn_flexface, 9 * face + 3 * k, pos)
    _put(d.work.scn_flexnormal, 9 * face + 3 * k, normal)
    if m.flex_texcoordadr[flex] >= 0:
        adr = m.flex_texcoordadr[flex] + vertex - m.flex_vertadr[flex]
        for c in range(2):
            d.work.scn_flextexcoord[6 * face + 2 * k + c] = m.flex_texcoord[adr, c]


@kernel
def _flat_face(m: Model, d: Data, flex: int, i: int, j: int, k: int, radius: float) -> None:
    """Add the face with vertices `i`, `j` and `k`, moved outwards by the radius."""
    n = flat_normal(_vertex(d, i), _vertex(d, j), _vertex(d, k))
    face = _new_face(d, flex)
    _put_corner(m, d, flex, face, 0, i, add_scaled3(_vertex(d, i), n, radius), n)
    _put_corner(m, d, flex, face, 1, j, add_scaled3(_vertex(d, j), n, radius), n)
    _put_corner(m, d, flex, face, 2, k, add_scaled3(_vertex(d, k), n, radius), n)


@kernel
def _flat_faces(m: Model, d: Data, flex: int) -> None:
    """Add both sides of the elements of a surface, or all sides of the elements in the visible layer of a solid."""
    first, dim, radius = m.flex_vertadr[flex], m.flex_dim[flex], m.flex_radius[flex]
    for element in range(m.flex_elemnum[flex]):
        adr = m.flex_elemdataadr[flex] + (dim + 1) * element
        i, j, k = _triangle(m.flex_elem, first, adr)
        if dim == SURFACE:
            _flat_face(m, d, flex, i, j, k, radius)
            _flat_face(m, d, flex, i, k, j, radius)
        elif m.flex_elemlayer[m.flex_elemadr[flex] + element] == d.work.scn_state[FLEX_LAYER]:
            top = first + m.flex_elem[adr + 3]
            _flat_face(m, d, flex, i, j, k, radius)
            _flat_face(m, d, flex, i, k, top, radius)
            _flat_face(m, d, flex, i, top, j, radius)
            _flat_face(m, d, flex, j, top, k, radius)


@kernel
def _smooth_face(m: Model, d: Data, flex: int, i: int, j: int, k: int, offset: float) -> None:
    """Add a face of a smooth skin, with vertices moved by `offset` along their normals.

    If the option for flat skins is set, all corners have the triangle's normal.
    """
    face = _new_face(d, flex)
    sign = 1.0 if offset > 0.0 else -1.0  # if the radius is 0, normals point inwards, as in MuJoCo
    flat = m.flex_flatskin[flex] != 0
    plane = scale3(flat_normal(_vertex(d, i), _vertex(d, j), _vertex(d, k)), sign)
    a, b, c = _normal(d, i), _normal(d, j), _normal(d, k)
    na = plane if flat else scale3(a, sign)
    nb = plane if flat else scale3(b, sign)
    nc = plane if flat else scale3(c, sign)
    _put_corner(m, d, flex, face, 0, i, add_scaled3(_vertex(d, i), a, offset), na)
    _put_corner(m, d, flex, face, 1, j, add_scaled3(_vertex(d, j), b, offset), nb)
    _put_corner(m, d, flex, face, 2, k, add_scaled3(_vertex(d, k), c, offset), nc)


@kernel
def _strip(m: Model, d: Data, flex: int, i: int, j: int, radius: float) -> None:
    """Add a triangle of the strip at a surface's border, with vertex `i` on one side and vertex `j` on both sides."""
    face = _new_face(d, flex)
    n = normalize3(scale3(cross(sub3(_vertex(d, j), _vertex(d, i)), _normal(d, j)), 1.0 if radius > 0.0 else -1.0))
    _put_corner(m, d, flex, face, 0, i, add_scaled3(_vertex(d, i), _normal(d, i), radius), n)
    _put_corner(m, d, flex, face, 1, j, add_scaled3(_vertex(d, j), _normal(d, j), -radius), n)
    _put_corner(m, d, flex, face, 2, j, add_scaled3(_vertex(d, j), _normal(d, j), radius), n)


@kernel
def _skin(m: Model, d: Data, flex: int) -> None:
    """Add the faces of the smooth skin of a flex."""
    _vertex_normals(m, d, flex)
    first, radius = m.flex_vertadr[flex], m.flex_radius[flex]
    if m.flex_dim[flex] == SURFACE:
        for element in range(m.flex_elemnum[flex]):
            i, j, k = _triangle(m.flex_elem, first, m.flex_elemdataadr[flex] + 3 * element)
            _smooth_face(m, d, flex, i, j, k, radius)
            _smooth_face(m, d, flex, i, k, j, -radius)
        for fragment in range(m.flex_shellnum[flex]):
            adr = m.flex_shelldataadr[flex] + 2 * fragment
            i, j = first + m.flex_shell[adr], first + m.flex_shell[adr + 1]
            _strip(m, d, flex, i, j, radius)
            _strip(m, d, flex, j, i, -radius)
        return
    for fragment in range(m.flex_shellnum[flex]):
        i, j, k = _triangle(m.flex_shell, first, m.flex_shelldataadr[flex] + 3 * fragment)
        _smooth_face(m, d, flex, i, j, k, radius)


@stage
def update_flexes(m: Model, d: Data) -> int:
    """Update the vertices of all flexes, and their skins or faces if these are shown."""
    for vertex in range(m.nflexvert):
        _put(d.work.scn_flexvert, 3 * vertex, _vertex(d, vertex))
    for flex in range(m.nflex):
        d.work.scn_flexfaceused[flex] = 0
        if m.flex_dim[flex] < SURFACE:
            continue
        if shows(d, VIS_SKIN):
            _skin(m, d, flex)
        elif shows(d, VIS_FACE):
            _flat_faces(m, d, flex)
    return OK


@kernel
def _add_soft(
    m: Model, d: Data, objtype: int, number: int, kind: int, size: float, pos: Vec3, material: int, rgba: Vec4
) -> int:
    """Add the geom of a flex or skin; return its number or -1. If the object is selected, the geom glows."""
    g = new_geom(d, CAT_DYNAMIC, objtype, number)
    if g >= 0:
        put(d, g, kind, (size, 0.1, 0.1), pos, EYE)
        colour(m, d, g, material, rgba)
        name_it(d, g, LABEL_FLEX if objtype == OBJ_FLEX else LABEL_SKIN, number)
        if d.work.scn_state[FLEXSELECT if objtype == OBJ_FLEX else SKINSELECT] == number:
            light_up(m, d, g)
    return g


@stage
def add_flexes(m: Model, d: Data) -> int:
    """Add a geom for each flex whose group is shown."""
    for flex in range(m.nflex):
        if shown_group(d, FLEXGROUP, m.flex_group[flex]):
            pos, rgba = _vertex(d, m.flex_vertadr[flex]), get4(m.flex_rgba, flex)
            g = _add_soft(m, d, OBJ_FLEX, flex, GEOM_FLEX, m.flex_radius[flex], pos, m.flex_matid[flex], rgba)
            if g >= 0:
                d.work.scn_geom_i[g, TEXCOORD] = m.flex_texcoordadr[flex] >= 0
    return OK


@kernel
def _bend(m: Model, d: Data, skin: int, bone: int) -> None:
    """Add the contribution of one bone to the positions of the skin vertices that the bone moves."""
    body = m.skin_bonebodyid[bone]
    turn = mul_quat(get4(d.xquat, body), neg_quat(get4(m.skin_bonebindquat, bone)))
    mat = quat2mat(turn)
    shift = sub3(get3(d.xpos, body), mul_mat_vec3(mat, get3(m.skin_bonebindpos, bone)))
    first = m.skin_vertadr[skin]
    for k in range(m.skin_bonevertadr[bone], m.skin_bonevertadr[bone] + m.skin_bonevertnum[bone]):
        vertex, weight = first + m.skin_bonevertid[k], m.skin_bonevertweight[k]
        moved = add3(mul_mat_vec3(mat, get3(m.skin_vert, vertex)), shift)
        for c in range(3):
            d.work.scn_skinvert[3 * vertex + c] += weight * moved[c]


@kernel
def _normals(m: Model, d: Data, skin: int) -> None:
    """Compute unit normals at a skin's vertices: normalised sums of the cross products of edges of adjacent faces."""
    first, count = m.skin_vertadr[skin], m.skin_vertnum[skin]
    normals = d.work.scn_skinnormal
    for k in range(3 * first, 3 * (first + count)):
        normals[k] = 0.0
    for face in range(m.skin_faceadr[skin], m.skin_faceadr[skin] + m.skin_facenum[skin]):
        a = _at(d.work.scn_skinvert, first + m.skin_face[face, 0])
        b = _at(d.work.scn_skinvert, first + m.skin_face[face, 1])
        c = _at(d.work.scn_skinvert, first + m.skin_face[face, 2])
        n = cross(sub3(b, a), sub3(c, a))
        for k in range(3):
            _add_to(normals, 3 * (first + m.skin_face[face, k]), n)
    for vertex in range(first, first + count):
        _put(normals, 3 * vertex, normalize3(_at(normals, vertex)))


@stage
def update_skins(m: Model, d: Data) -> int:
    """Update vertices and normals of all skins. An inflated skin's vertices are moved along their normals."""
    for k in range(3 * m.nskinvert):
        d.work.scn_skinvert[k] = 0.0
    for skin in range(m.nskin):
        for bone in range(m.skin_boneadr[skin], m.skin_boneadr[skin] + m.skin_bonenum[skin]):
            _bend(m, d, skin, bone)
        _normals(m, d, skin)
        if m.skin_inflate[skin] != 0.0:
            for k in range(3 * m.skin_vertadr[skin], 3 * (m.skin_vertadr[skin] + m.skin_vertnum[skin])):
                d.work.scn_skinvert[k] += m.skin_inflate[skin] * d.work.scn_skinnormal[k]
    return OK


@stage
def add_skins(m: Model, d: Data) -> int:
    """Add a geom for each skin whose group is shown, at the body of the skin's first bone."""
    for skin in range(m.nskin):
        if shown_group(d, SKINGROUP, m.skin_group[skin]):
            pos, rgba = get3(d.xpos, m.skin_bonebodyid[m.skin_boneadr[skin]]), get4(m.skin_rgba, skin)
            g = _add_soft(m, d, OBJ_SKIN, skin, GEOM_SKIN, 0.1, pos, m.skin_matid[skin], rgba)
            if g >= 0:
                d.work.scn_geom_i[g, TEXCOORD] = m.skin_texcoordadr[skin] >= 0
    return OK
