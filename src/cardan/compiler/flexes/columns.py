"""Fields of flexes: the ``flex`` elements of the section ``deformable`` (spec: modeling, "flex")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cardan.compiler.box_tree import box_tree
from cardan.compiler.columns import rows_of
from cardan.compiler.flexes.elastic import elastic_fields
from cardan.errors import suggestion
from cardan.maths.pose import IDENTITY, compose
from cardan.maths.quaternion import quat2mat
from cardan.maths.types import Pose
from cardan.spec.flexcomp.lattice import edges_of, oriented
from cardan.spec.schema.keywords import SELF_COLLIDE

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element


# local vertices of each fragment; their orientation is outwards (3D), or that of the element (2D)
_FRAGMENTS: dict[int, tuple[tuple[int, ...], ...]] = {
    1: ((0,), (1,)),
    2: ((0, 1), (1, 2), (2, 0)),
    3: ((0, 1, 2), (0, 2, 3), (0, 3, 1), (1, 3, 2)),
}
# local vertex that is not part of the fragment
_OPPOSITE: dict[int, tuple[int, ...]] = {1: (1, 0), 2: (2, 0, 1), 3: (3, 1, 2, 0)}


class Topology(NamedTuple):
    """Tables of one flex, with vertices numbered from 0."""

    edge: np.ndarray  # vertices of the edges, the lower one first (nedge, 2)
    elemedge: np.ndarray  # edges of the elements (nelem, 1, 3 or 6)
    shell: np.ndarray  # vertices of the shell's fragments (nshell, dim)
    layer: np.ndarray  # number of elements between an element and the shell; 0 except in solids (nelem,)
    evpair: np.ndarray  # elements, each with a vertex of a neighbour that it may touch; none in solids (npair, 2)


def topology(elem: np.ndarray) -> Topology:
    """Compute the tables of a flex from its elements (nelem, dim + 1)."""
    dim = elem.shape[1] - 1
    sides = _Sides(elem, dim)
    layer = _layers(sides, len(elem)) if dim == _SOLID else np.zeros(len(elem), np.int32)
    evpair = _pairs(sides, elem) if dim < _SOLID else np.empty((0, 2), np.int32)
    return Topology(*edges_of(elem), sides.vertex[sides.is_shell], layer, evpair)


class _Sides:
    """The sides (boundary fragments) of all elements. Sorting makes equal sides of two elements adjacent."""

    def __init__(self, elem: np.ndarray, dim: int) -> None:
        places = _FRAGMENTS[dim]
        vertex = elem[:, places].reshape(-1, dim)
        ordered = np.sort(vertex, axis=1)
        order = np.lexsort(ordered.T[::-1])
        ordered = ordered[order]
        self.vertex = vertex[order]  # in the order of the element (n, dim)
        self.elem = order // len(places)
        self.opposite = elem[:, _OPPOSITE[dim]].reshape(-1)[order]  # vertex that is not part of the fragment
        self.group = np.cumsum(np.any(np.diff(ordered, axis=0, prepend=-1), axis=1)) - 1  # index of the set of equals
        self.is_shell = np.bincount(self.group)[self.group] == 1  # whether the fragment occurs once

    def shared(self) -> np.ndarray:
        """Return the indices of sides that equal the next side, which belongs to the neighbouring element."""
        return np.flatnonzero(self.group[1:] == self.group[:-1])


def _layers(sides: _Sides, nelem: int) -> np.ndarray:
    """Return each element's layer: 0 at the shell, 1 next to layer 0, and so on.

    Elements that are not connected to the shell get nelem + 1.
    """
    layer = np.full(nelem, -1, np.int32)
    first = sides.shared()
    one, two = sides.elem[first], sides.elem[first + 1]
    front = np.zeros(nelem, bool)
    front[sides.elem[sides.is_shell]] = True
    depth = 0
    while front.any():
        layer[front] = depth
        depth += 1
        inner = np.zeros(nelem, bool)
        inner[two[front[one]]] = True
        inner[one[front[two]]] = True
        front = inner & (layer < 0)
    layer[layer < 0] = nelem + 1
    return layer


def _pairs(sides: _Sides, elem: np.ndarray) -> np.ndarray:
    """Return ``evpair`` (npair, 2): an element, and the vertex of a neighbour that is not part of the shared side.

    Each pair of neighbours gives two rows. Pairs are left out if neither element has a side on the shell, or if both
    elements have the same vertices.
    """
    outer = np.zeros(len(elem), bool)
    outer[sides.elem[sides.is_shell]] = True
    first = sides.shared()
    one, two = sides.elem[first], sides.elem[first + 1]
    vertex_one, vertex_two = sides.opposite[first], sides.opposite[first + 1]
    keep = (outer[one] | outer[two]) & (vertex_one != vertex_two)
    pairs = np.stack([two, vertex_one, one, vertex_two], axis=1)[keep]
    return pairs.reshape(-1, 2).astype(np.int32)


_TREE_FIELDS = ("bvh_depth", "bvh_child", "bvh_nodeid")
_SOLID = 3
# attributes of the element <contact> that are copied to fields
_CONTACT = (
    "contype", "conaffinity", "condim", "priority", "friction", "solmix", "solref", "solimp", "margin", "gap",
    "internal", "activelayers",
)  # fmt: skip


class Flex(NamedTuple):
    """One flex: bodies and positions of its vertices (in body and world frames), elements, texture coordinates."""

    bodyid: np.ndarray
    vert: np.ndarray
    xvert: np.ndarray
    elem: np.ndarray
    texcoord: np.ndarray


def add_flexes(build: Build) -> None:
    """Fill the columns ``flex_*``, and build the trees over the elements of flexes that collide."""
    elements = list(build.tree.section("deformable").all("flex"))
    if not elements:
        return
    poses: list[Pose] = [IDENTITY]  # of the bodies in the world, at the initial configuration
    for body in build.bodies[1:]:
        poses.append(compose(poses[body.parent.id if body.parent else 0], (body.pos, body.quat)))
    for element in elements:
        _put(build, element, _flex(build, element, poses))
    build.sizes["nbvhdynamic"] = build.sizes.get("nbvh", 0) - build.sizes["nbvhstatic"]


# --- one flex --------------------------------------------------------------------------------------------------------


def _flex(build: Build, element: Element, poses: list[Pose]) -> Flex:
    """Check a flex and return its data. In solids, reorder vertices so that all elements have the same orientation."""
    values = element.resolved()
    dim = values["dim"]
    if dim not in (1, 2, 3):
        raise element.error(f"must be 1, 2 or 3, found {dim}", "dim")
    bodyid = _bodies(build, element, values["body"])
    vert = rows_of(element, values, "vertex", 3)
    count = len(vert) if len(vert) else len(bodyid)
    if len(bodyid) not in (1, count):
        found = f"found {len(bodyid)} bodies for {count} vertices"
        raise element.error(f"expected one body, or one for each vertex; {found}", "body")
    if count < dim + 1:
        raise element.error(f"a flex of dimension {dim} needs at least {dim + 1} vertices, found {count}", "vertex")
    elem = _elements(element, values["element"], dim, count)
    texcoord = _texcoord(element, values, elem, count)
    bodyid = np.broadcast_to(bodyid, count)
    vert = vert if len(vert) else np.zeros((count, 3))
    used, inverse = np.unique(bodyid, return_inverse=True)
    position = np.array([poses[body][0] for body in used])
    rotation = np.array([quat2mat(poses[body][1]) for body in used]).reshape(-1, 3, 3)
    xvert = position[inverse] + (rotation[inverse] @ vert[:, :, None])[:, :, 0]
    if dim == _SOLID:
        elem = oriented(elem, xvert)
    return Flex(bodyid, vert, xvert, elem, texcoord)


def _texcoord(element: Element, values: dict[str, Any], elem: np.ndarray, count: int) -> np.ndarray:
    """Return the texture coordinates of all vertices (count, 2); no rows if the flex has none.

    If corners of elements have their own coordinates (``elemtexcoord``), a vertex gets those of its first corner.
    """
    texcoord, corners = rows_of(element, values, "texcoord", 2), values["elemtexcoord"]
    if not corners:
        if len(texcoord) not in (0, count):
            found = f"found {len(texcoord)} pairs for {count} vertices"
            raise element.error(f"expected two numbers for each vertex; {found}", "texcoord")
        return texcoord
    if not len(texcoord):
        raise element.error("needs texcoord", "elemtexcoord")
    if len(corners) != elem.size:
        raise element.error(f"expected one number for each corner, {elem.size}; found {len(corners)}", "elemtexcoord")
    index = np.array(corners)
    if index.min() < 0 or index.max() >= len(texcoord):
        wrong = index[(index < 0) | (index >= len(texcoord))][0]
        raise element.error(f"texture coordinates are 0 to {len(texcoord) - 1}, found {wrong}", "elemtexcoord")
    of_vertex = np.zeros((count, 2))
    of_vertex[elem.ravel()[::-1]] = texcoord[index[::-1]]
    return of_vertex


def _material(build: Build, element: Element, names: str | None, count: int) -> int:
    """Return the id of the first material of a flex with ``count`` elements, or -1.

    Raises:
        MjcfError: there are several materials, but not one for each element.
    """
    words = (names or "").split()
    if len(words) not in (0, 1, count):
        wanted = f"expected one material, or one for each of {count} elements"
        raise element.error(f"{wanted}; found {len(words)}", "material")
    return build.ids["material"].get(words[0], -1) if words else -1


def _bodies(build: Build, element: Element, text: str) -> np.ndarray:
    """Return the ids of the bodies that the attribute ``body`` names. Raises MjcfError for unknown or missing names."""
    ids = build.ids["body"]
    names = text.split()
    for name in names:
        if name not in ids:
            raise element.error(f"there is no body named '{name}'{suggestion(name, ids)}", "body")
    if not names:
        raise element.error("at least one body must be named", "body")
    return np.array([ids[name] for name in names], np.int32)


def _elements(element: Element, flat: tuple[int, ...], dim: int, count: int) -> np.ndarray:
    """Return the vertices of the elements (nelem, dim + 1). Raises MjcfError if a row or a vertex is invalid."""
    if not flat or len(flat) % (dim + 1):
        found = f"found {len(flat)}"
        raise element.error(f"elements have {dim + 1} vertices each: expected a multiple of that, {found}", "element")
    elem = np.array(flat, np.int64).reshape(-1, dim + 1)
    wrong = (elem < 0) | (elem >= count)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise element.error(f"element {row}: vertices are 0 to {count - 1}, found {elem[row, column]}", "element")
    ordered = np.sort(elem, axis=1)
    repeated = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
    if repeated.any():
        raise element.error(f"element {int(np.argmax(repeated))} names a vertex twice", "element")
    return elem.astype(np.int32)


# --- fields ----------------------------------------------------------------------------------------------------------


def _put(build: Build, element: Element, flex: Flex) -> None:
    """Append one flex to all fields of flexes."""
    values = element.resolved()
    contact, edge = _part(element, "contact"), _part(element, "edge")
    if edge["stiffness"] > 0.0 and values["dim"] > 1:
        raise element.error("springs of edges are only for dim 1: use <elasticity> instead", "edge")
    tables = topology(flex.elem)
    material = elastic_fields(build, element, flex, tables)
    tree_adr, tree_num = _add_tree(build, flex, tables, contact)
    texcoord_adr = build.add_block("flex_texcoord", flex.texcoord)
    shell_adr = build.add_block("flex_shell", tables.shell.ravel())
    evpair_adr = build.add_block("flex_evpair", tables.evpair)
    build.add_block("flex_vertbodyid", flex.bodyid)
    weld = np.array(build.columns["body_weldid"])[flex.bodyid]
    build.add_block("flexedge_rigid", weld[tables.edge[:, 0]] == weld[tables.edge[:, 1]])
    build.enter("flex", element.name)
    build.put(
        **{f"flex_{name}": contact[name] for name in _CONTACT},
        **{f"flex_{name}": values[name] for name in ("dim", "group", "rgba", "radius", "flatskin")},
        flex_selfcollide=SELF_COLLIDE[contact["selfcollide"]],
        flex_matid=_material(build, element, values["material"], len(flex.elem)),
        flex_edgestiffness=edge["stiffness"],
        flex_edgedamping=edge["damping"],
        flex_edgeequality=0,
        flex_rigid=bool((flex.bodyid == flex.bodyid[0]).all()),
        flex_centered=not flex.vert.any(),
        flex_vertadr=build.add_block("flex_vert", flex.vert),
        flex_vertnum=len(flex.vert),
        flex_texcoordadr=texcoord_adr if len(flex.texcoord) else -1,
        flex_edgeadr=build.add_block("flex_edge", tables.edge),
        flex_edgenum=len(tables.edge),
        flex_elemadr=build.add_block("flex_elemlayer", tables.layer),
        flex_elemnum=len(flex.elem),
        flex_elemdataadr=build.add_block("flex_elem", flex.elem.ravel()),
        flex_shellnum=len(tables.shell),
        flex_shelldataadr=shell_adr if len(tables.shell) else -1,
        flex_evpairadr=evpair_adr if len(tables.evpair) else -1,
        flex_evpairnum=len(tables.evpair),
        flex_bvhadr=tree_adr if tree_num else -1,
        flex_bvhnum=tree_num,
        flex_elemedgeadr=build.add_block("flex_elemedge", tables.elemedge.ravel()),
        **material,
    )


def _part(element: Element, tag: str) -> dict[str, Any]:
    """Return the attribute values of a child element, or MJCF's defaults if the child is absent."""
    part = element.child(tag)
    return part.resolved() if part is not None else element.row.children[tag].defaults_in(element.tree.compat)


def _add_tree(build: Build, flex: Flex, tables: Topology, contact: dict[str, Any]) -> tuple[int, int]:
    """Add the bounding volume hierarchy over the elements that can collide; return its address and number of nodes.

    In solids, only elements in the outer layers can collide. In 4.0, flexes that cannot collide also have a tree.
    """
    adr, is_4_0 = build.sizes.get("nbvh", 0), build.tree.compat == "4.0"
    collides = is_4_0 or bool(contact["contype"] or contact["conaffinity"])
    solid = flex.elem.shape[1] == _SOLID + 1
    active = tables.layer < contact["activelayers"] if solid else np.ones(len(flex.elem), bool)
    ids = np.flatnonzero(active & collides)
    if not len(ids):
        return adr, 0
    corner = flex.xvert[flex.elem[ids]]
    low, high = corner.min(axis=1), corner.max(axis=1)
    tree = box_tree(low, high, 0.5 * (low + high))
    nodeid = np.where(tree.nodeid >= 0, ids[tree.nodeid], -1)
    for field, rows in zip(_TREE_FIELDS, (tree.depth, tree.child, nodeid), strict=True):
        build.add_block(field, rows)
    return adr, len(tree.depth)
