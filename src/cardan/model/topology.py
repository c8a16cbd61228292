"""Tables derived from the kinematic tree: chains of dofs, sparsity patterns of matrices, links of box trees.

Rows of the patterns have ascending columns, except rows of `qM`: these begin with the dof itself, followed by its
ancestors towards the root. Bodies are numbered depth first, so that a subtree has consecutive ids.
"""

from __future__ import annotations

from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.jit import Field, Struct, StructMemory, kernel
from cardan.jit.driver.program import call, native_over
from cardan.jit.memory.struct import Link
from cardan.model.fields_work import DERIVED
from cardan.model.kernel_views import Model

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

_TABLES = (
    *("M_rowadr", "M_colind", "M_to_D", "M_to_DT", "D_rowadr", "D_colind", "B_rowadr", "B_colind"),
    *("body_lastdof", "bvh_next", "geom_in_tree", "flex_bvh_next"),
)
"""Names of the tables, without the prefix ``aux.``."""

_IN_MODEL = Link({name: f"aux.{name}" for name in _TABLES})

TOPOLOGY = Struct(
    "Topology",
    [
        *(Field(f.name[4:], f.dtype, f.shape, f.doc) for f in DERIVED if f.name[4:] in _TABLES),
        Field("dof_below", "i4", ("any",), "number of dofs in the subtree of each, itself included"),
        Field("body_below", "i4", ("any",), "number of bodies in the subtree of each, itself included"),
        Field("body_firstdof", "i4", ("any",), "number of dofs of the bodies before each, and of all"),
    ],
    readonly=False,
)

_PARENTS = {1: ("body_parentid", 1, 0), 2: ("dof_parentid", 0, -1)}
_WRONG = {
    3: "the bodies' degrees of freedom are not numbered one after the other",
    4: "dof_Madr, nM and nD don't fit dof_parentid",
    5: "nB doesn't fit the numbers of degrees of freedom",
}


def attach_tree_tables(m: MjModel) -> None:
    """Compute the tables of the kinematic tree, and attach them to the model. The model's arrays must be filled.

    Raises:
        ValueError: the arrays are inconsistent; the message describes the first error.
    """
    sizes = m._memory.sizes
    nv, nM, nD, nbody = sizes["nv"], sizes["nM"], sizes["nD"], sizes["nbody"]
    nodes = max(map(add, m.body_bvhadr.tolist(), m.body_bvhnum.tolist()), default=0)
    parts = max(1, nodes), max(1, sizes["ngeom"]), max(1, sizes["nbvh"] - sizes["nbvhstatic"])
    lengths = (nv + 1, nM, nM, nM, nv + 1, nD, nbody + 1, sizes["nB"], nbody, *parts)
    m._memory.attach_new(dict(zip(_IN_MODEL.names.values(), lengths, strict=True)))
    memory = StructMemory(TOPOLOGY, {})
    memory.link(m._memory, _IN_MODEL)
    memory.attach_new({"dof_below": m.nv, "body_below": m.nbody, "body_firstdof": m.nbody + 1})
    wrong = call(find_topology, m._memory, memory)
    if wrong:
        raise ValueError(_bad_parent(m, _PARENTS[wrong]) if wrong in _PARENTS else _WRONG[wrong])


def _bad_parent(m: MjModel, what: tuple[str, int, int]) -> str:
    """Return a message about the first invalid parent; `what`: field, first index with a parent, least valid parent."""
    name, first, least = what
    parents = m._memory.arrays[name][first:]
    i = int(np.argmax((parents >= np.arange(first, first + len(parents))) | (parents < least)))
    return f"{name}[{i + first}] is {parents[i]}: a parent must come before its children"


@native_over("Model", "Topology")
def find_topology(m: Model, t: Any, _unused: int, _neither: int) -> int:
    """Fill all tables of `t`. Return 0, or a code (`_PARENTS`, `_WRONG`) if the model's arrays are inconsistent.

    The unused integers are required by `native_over`.
    """
    for body in range(1, m.nbody):
        if not 0 <= m.body_parentid[body] < body:
            return 1
    for dof in range(m.nv):
        if not -1 <= m.dof_parentid[dof] < dof:
            return 2
    if not _number_bodies(m, t):
        return 3
    if not _inertia_pattern(m, t):
        return 4
    _derivative_pattern(m, t)
    if not _body_pattern(m, t):
        return 5
    _link_body_trees(m, t)
    _link_flex_trees(m, t)
    return 0


@kernel
def _number_bodies(m: Model, t: Any) -> bool:
    """Store each body's first dof, last dof of its chain, and subtree size. Return whether dofs are in body order."""
    t.body_firstdof[0] = 0
    for body in range(m.nbody):
        number, first = m.body_dofnum[body], t.body_firstdof[body]
        if number < 0 or (number > 0 and m.body_dofadr[body] != first) or first + number > m.nv:
            return False
        t.body_firstdof[body + 1] = first + number
        above = t.body_lastdof[m.body_parentid[body]] if body > 0 else -1
        t.body_lastdof[body] = first + number - 1 if number > 0 else above
        t.body_below[body] = 1
    for body in range(m.nbody - 1, 0, -1):
        t.body_below[m.body_parentid[body]] += t.body_below[body]
    return t.body_firstdof[m.nbody] == m.nv


@kernel
def _inertia_pattern(m: Model, t: Any) -> bool:
    """Store the sparsity pattern of `qM`. Return whether `dof_Madr`, `nM` and `nD` fit the tree of dofs."""
    total = pairs = 0
    for dof in range(m.nv):
        parent = m.dof_parentid[dof]
        depth = 1 if parent < 0 else t.M_rowadr[parent + 1] - t.M_rowadr[parent] + 1
        if m.dof_Madr[dof] != total or total + depth > m.nM:
            return False
        t.M_rowadr[dof] = total
        t.M_rowadr[dof + 1] = total + depth
        t.M_colind[total] = dof
        for k in range(1, depth):
            t.M_colind[total + k] = t.M_colind[t.M_rowadr[parent] + k - 1]
        total += depth
        pairs += 2 * depth - 1
    if m.nv == 0:
        t.M_rowadr[0] = 0
    return total == m.nM and pairs == m.nD


@kernel
def _derivative_pattern(m: Model, t: Any) -> None:
    """Store the sparsity pattern of `qDeriv`. Map the entries of `qM` to `qDeriv`.

    A row contains a dof, its ancestors and its descendants.
    """
    for dof in range(m.nv):
        t.dof_below[dof] = 1
    for dof in range(m.nv - 1, -1, -1):
        if m.dof_parentid[dof] >= 0:
            t.dof_below[m.dof_parentid[dof]] += t.dof_below[dof]
    t.D_rowadr[0] = 0
    for dof in range(m.nv):
        at = t.D_rowadr[dof]
        for k in range(t.M_rowadr[dof + 1] - 1, t.M_rowadr[dof] - 1, -1):
            t.D_colind[at] = t.M_colind[k]
            at += 1
        for k in range(1, t.dof_below[dof]):
            t.D_colind[at] = dof + k
            at += 1
        t.D_rowadr[dof + 1] = at
    for dof in range(m.nv):
        for k in range(t.M_rowadr[dof], t.M_rowadr[dof + 1]):
            column = t.M_colind[k]
            depth = t.M_rowadr[column + 1] - t.M_rowadr[column] - 1
            t.M_to_D[k] = t.D_rowadr[dof] + depth
            t.M_to_DT[k] = t.D_rowadr[column] + depth + dof - column


@kernel
def _body_pattern(m: Model, t: Any) -> bool:
    """Store, for each body, the dofs of the body, of its ancestors and of its descendants.

    Return whether the number of stored dofs is `nB`.
    """
    at = 0
    for body in range(m.nbody):
        t.B_rowadr[body] = at
        # the chain above the body's own dofs
        above = t.body_lastdof[m.body_parentid[body]] if body > 0 else -1
        first, end = t.body_firstdof[body], t.body_firstdof[min(body + t.body_below[body], m.nbody)]
        chain = t.M_rowadr[above + 1] - t.M_rowadr[above] if above >= 0 else 0
        if at + chain + end - first > m.nB:
            return False
        for k in range(chain):
            t.B_colind[at + k] = t.M_colind[t.M_rowadr[above + 1] - 1 - k]
        for k in range(end - first):
            t.B_colind[at + chain + k] = first + k
        at += chain + end - first
    t.B_rowadr[m.nbody] = at
    return at == m.nB


@kernel
def _link_tree(m: Model, following: Any, base: int, start: int, number: int, first: int, count: int) -> bool:
    """Fill one tree's part of `following`, from the last node to the first; return whether the tree is valid.

    Args:
        m: model.
        following: output, the first node after each node's subtree; all nodes are counted from `base`.
        base: first node of the table.
        start: first node of the tree, counted from `base`.
        number: number of nodes of the tree.
        first: smallest valid id in a leaf.
        count: number of valid ids.
    """
    end = start + number
    if not 0 <= start < end <= len(following):
        return False
    for node in range(end - 1, start - 1, -1):
        left, right = start + m.bvh_child[base + node, 0], start + m.bvh_child[base + node, 1]
        part = m.bvh_nodeid[base + node]
        if left < start and right < start:
            following[node] = node + 1
            if not first <= part < first + count:
                return False
        else:
            if part >= 0 or left != node + 1 or not left < right < end or following[left] != right:
                return False
            following[node] = following[right]
    return following[start] == end


@kernel
def _link_body_trees(m: Model, t: Any) -> None:
    """Fill `bvh_next` and `geom_in_tree` for the box trees of all bodies.

    The root of an invalid tree gets -1 in `bvh_next`.
    """
    for node in range(len(t.bvh_next)):
        t.bvh_next[node] = -1
    for geom in range(len(t.geom_in_tree)):
        t.geom_in_tree[geom] = 0
    for body in range(m.nbody):
        start, number = m.body_bvhadr[body], m.body_bvhnum[body]
        if number > 0 and start >= 0 and start + number <= m.nbvh:
            if not _link_tree(m, t.bvh_next, 0, start, number, m.body_geomadr[body], m.body_geomnum[body]):
                t.bvh_next[start] = -1
            for node in range(start, start + number):
                if 0 <= m.bvh_nodeid[node] < m.ngeom:
                    t.geom_in_tree[m.bvh_nodeid[node]] = 1


@kernel
def _link_flex_trees(m: Model, t: Any) -> None:
    """Fill `flex_bvh_next` for the box trees of all flexes. The root of an invalid tree gets -1.

    Nodes are counted from the first dynamic node.
    """
    for node in range(len(t.flex_bvh_next)):
        t.flex_bvh_next[node] = -1
    for flex in range(m.nflex):
        start, number = m.flex_bvhadr[flex] - m.nbvhstatic, m.flex_bvhnum[flex]
        if number > 0 and start >= 0 and m.nbvhstatic + start + number <= m.nbvh:
            if not _link_tree(m, t.flex_bvh_next, m.nbvhstatic, start, number, 0, m.flex_elemnum[flex]):
                t.flex_bvh_next[start] = -1
