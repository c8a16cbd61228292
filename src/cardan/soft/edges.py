"""Edges of flexes: lengths, Jacobians, velocities, springs and dampers (spec: mj_flex; modelling, flex/edge).

An edge joins two vertices. The derivative of its length with respect to a dof is the relative velocity of the vertices
along the edge at unit velocity of the dof. Row e of the Jacobian has entries for the dofs ``m.aux.edge_colind[k]`` with
k from ``m.aux.edge_rowadr[e]`` to ``m.aux.edge_rowadr[e + 1]``, ascending. The Jacobian is stored dense, or in
compressed rows one after the other. The arguments `line` and `column` are indices into the array ``flexedge_J``.

If a flex has neither stiffness, damping, elasticity nor constraints, only the lengths of its edges are computed. For a
rigid flex, no lengths are computed either.
"""

from __future__ import annotations

from typing import Any

from cardan.dynamics.jacobian import arm_of, dof_rate, is_sparse
from cardan.dynamics.switches import has_dampers, has_springs
from cardan.dynamics.tendon import place_after, place_of
from cardan.jit import OK, exact, kernel, stage
from cardan.maths.types import Array1, Vec3
from cardan.maths.vector import cross, dot3, get3, norm3, normalize3, sub3
from cardan.model.kernel_views import Data, Model

FIRST, SECOND, BOTH = 0, 1, 2
SLIDES = 2  # value of edge_threes


def has_edges(m: Any) -> bool:
    """Return whether the model has flex edges whose length can change."""
    return m.nflexedge > 0 and bool((m.flex_rigid == 0).any())


@kernel
def edges_used(m: Model, flex: int) -> bool:
    """Return whether the edges of a flex need a Jacobian."""
    if m.flex_rigid[flex] != 0:
        return False
    if m.flex_stiffnessadr[flex] >= 0:
        return True
    return m.flex_edgestiffness[flex] != 0.0 or m.flex_edgedamping[flex] != 0.0 or m.flex_edgeequality[flex] != 0


@kernel
def edge_vertex(m: Model, flex: int, edge: int, k: int) -> int:
    """Vertex `k` (0 or 1) of an edge of a flex, numbered over all flexes."""
    return m.flex_vertadr[flex] + m.flex_edge[edge, k]


@kernel
def edge_vector(m: Model, d: Data, flex: int, edge: int) -> Vec3:
    """Vector from the first to the second vertex of an edge, world frame."""
    first = get3(d.flexvert_xpos, edge_vertex(m, flex, edge, 0))
    return sub3(get3(d.flexvert_xpos, edge_vertex(m, flex, edge, 1)), first)


@kernel
def vertex_torque(m: Model, d: Data, flex: int, edge: int, k: int, axis: Vec3) -> Vec3:
    """Torque of a unit force along `axis` at vertex `k` (0, 1) of an edge.

    The torque is about the centre of mass of the vertex's kinematic tree.
    """
    vertex = edge_vertex(m, flex, edge, k)
    return cross(arm_of(m, d, get3(d.flexvert_xpos, vertex), m.flex_vertbodyid[vertex]), axis)


@kernel
def first_place(m: Model, d: Data, edge: int) -> tuple[int, int]:
    """Return line and column of ``flexedge_J`` where the row of an edge begins, in either storage format."""
    return place_of(m, d.flexedge_J_rowadr[edge]) if is_sparse(m) else (edge, 0)


@kernel
def next_place(m: Model, edge: int, line: int, column: int) -> tuple[int, int]:
    """Return line and column where the row of the next edge begins, if the row of `edge` begins at `line`, `column`."""
    if is_sparse(m):
        return place_after(m, line, column, m.aux.edge_rowadr[edge + 1] - m.aux.edge_rowadr[edge])
    return line + 1, 0


@kernel
def edge_moment(m: Model, d: Data, line: int, column: int, dof: int, k: int) -> float:
    """Return the derivative of an edge's length with respect to `dof`.

    The edge's row of the Jacobian begins at `line`, `column`, and `dof` is the `k`-th dof of the row.
    """
    if not is_sparse(m):
        return d.flexedge_J[line, dof]
    if column + k < m.nv:
        return d.flexedge_J[line, column + k]
    return d.flexedge_J[line + 1, column + k - m.nv]


@kernel
def in_threes(m: Model, edge: int, column: int) -> bool:
    """Return whether an edge's row consists of blocks of three dofs (``aux.edge_threes``) and fits on one line."""
    if m.aux.edge_threes[edge] == 0:
        return False
    return not is_sparse(m) or column + m.aux.edge_rowadr[edge + 1] - m.aux.edge_rowadr[edge] <= m.nv


@kernel
def put_moment(m: Model, d: Data, edge: int, line: int, column: int, dof: int, moment: float) -> None:
    """Write `moment`, the Jacobian's entry for `dof`, to the row of `edge`.

    In sparse storage, the entry is at `line`, `column`.
    """
    if is_sparse(m):
        d.flexedge_J_colind[line, column] = dof
        d.flexedge_J[line, column] = moment
    else:
        d.flexedge_J[edge, dof] = moment


@kernel
def put_edge_row(m: Model, d: Data, flex: int, edge: int, line: int, column: int) -> None:
    """Write an edge's row of the Jacobian; a compressed row begins at `line`, `column`."""
    axis = normalize3(edge_vector(m, d, flex, edge))
    start, stop = m.aux.edge_rowadr[edge], m.aux.edge_rowadr[edge + 1]
    if is_sparse(m):
        d.flexedge_J_rowadr[edge] = line * m.nv + column
        d.flexedge_J_rownnz[edge] = stop - start
    else:
        for dof in range(m.nv):
            d.flexedge_J[edge, dof] = 0.0
    if m.aux.edge_threes[edge] == SLIDES and in_threes(m, edge, column):
        # the components of the axis along the slides
        for k in range(start, stop, 3):
            dof = m.aux.edge_colind[k]
            sign = -1.0 if m.aux.edge_side[k] == FIRST else 1.0
            for i in range(3):
                slide = (d.cdof[dof + i, 3], d.cdof[dof + i, 4], d.cdof[dof + i, 5])
                put_moment(m, d, edge, line, column + k - start + i, dof + i, sign * dot3(axis, slide))
        return
    torque1 = vertex_torque(m, d, flex, edge, 0, axis)
    torque2 = vertex_torque(m, d, flex, edge, 1, axis)
    for k in range(start, stop):
        dof, side = m.aux.edge_colind[k], m.aux.edge_side[k]
        rate = 0.0
        if side != FIRST:
            rate += dof_rate(d, dof, axis, torque2)
        if side != SECOND:
            rate -= dof_rate(d, dof, axis, torque1)
        put_moment(m, d, edge, line, column, dof, rate)
        line, column = place_after(m, line, column, 1)


@stage
@exact
def edges(m: Model, d: Data) -> int:
    """Compute the lengths of edges, and the Jacobians of the edges that need one. Rigid flexes are skipped.

    Reads flexvert_xpos, cdof, subtree_com; writes flexedge_length (nflexedge,) and flexedge_J. Dense storage is
    (nflexedge, nv). Sparse storage has rows packed one after the other, with flexedge_J_rownnz, flexedge_J_rowadr,
    flexedge_J_colind.
    """
    line, column = 0, 0
    for flex in range(m.nflex):
        if m.flex_rigid[flex] == 0:
            used = edges_used(m, flex)
            for edge in range(m.flex_edgeadr[flex], m.flex_edgeadr[flex] + m.flex_edgenum[flex]):
                d.flexedge_length[edge] = norm3(edge_vector(m, d, flex, edge))
                if used:
                    put_edge_row(m, d, flex, edge, line, column)
                    line, column = next_place(m, edge, line, column)
    return OK


@stage
def edge_velocity(m: Model, d: Data) -> int:
    """Compute the rates of change of edge lengths: flexedge_velocity (nflexedge,) = flexedge_J qvel.

    Edges without a Jacobian are skipped.
    """
    for flex in range(m.nflex):
        if edges_used(m, flex):
            line, column = first_place(m, d, m.flex_edgeadr[flex])
            for edge in range(m.flex_edgeadr[flex], m.flex_edgeadr[flex] + m.flex_edgenum[flex]):
                velocity = 0.0
                start, stop = m.aux.edge_rowadr[edge], m.aux.edge_rowadr[edge + 1]
                if in_threes(m, edge, column):
                    for k in range(start, stop, 3):
                        dof = m.aux.edge_colind[k]
                        at = column + k - start if is_sparse(m) else dof
                        velocity += d.flexedge_J[line, at] * d.qvel[dof]
                        velocity += d.flexedge_J[line, at + 1] * d.qvel[dof + 1]
                        velocity += d.flexedge_J[line, at + 2] * d.qvel[dof + 2]
                else:
                    for k in range(start, stop):
                        dof = m.aux.edge_colind[k]
                        velocity += edge_moment(m, d, line, column, dof, k - start) * d.qvel[dof]
                d.flexedge_velocity[edge] = velocity
                line, column = next_place(m, edge, line, column)
    return OK


@kernel
def extension(m: Model, d: Data, edge: int) -> float:
    """Length of an edge minus its rest length."""
    return d.flexedge_length[edge] - m.flexedge_length0[edge]


@kernel
def add_moment(d: Data, dof: int, moment: float, result: Array1) -> None:
    """Add `moment`, the generalised force of an edge on a dof, to `result` and qfrc_passive (nv,)."""
    result[dof] += moment
    d.qfrc_passive[dof] += moment


@kernel
def add_edge_force(m: Model, d: Data, edge: int, line: int, column: int, force: float, result: Array1) -> None:
    """Add the generalised forces of a `force` along an edge to `result` and qfrc_passive (both (nv,))."""
    start, stop = m.aux.edge_rowadr[edge], m.aux.edge_rowadr[edge + 1]
    if in_threes(m, edge, column):
        for k in range(start, stop, 3):
            dof = m.aux.edge_colind[k]
            at = column + k - start if is_sparse(m) else dof
            add_moment(d, dof, d.flexedge_J[line, at] * force, result)
            add_moment(d, dof + 1, d.flexedge_J[line, at + 1] * force, result)
            add_moment(d, dof + 2, d.flexedge_J[line, at + 2] * force, result)
        return
    for k in range(start, stop):
        dof = m.aux.edge_colind[k]
        add_moment(d, dof, edge_moment(m, d, line, column, dof, k - start) * force, result)


@stage
def edge_forces(m: Model, d: Data) -> int:
    """Add the forces of edge springs and dampers to qfrc_spring, qfrc_damper and qfrc_passive (nv,).

    Reads flexedge_length, flexedge_velocity, flexedge_J.
    """
    springs, dampers = has_springs(m), has_dampers(m)
    if not springs and not dampers:
        return OK
    for flex in range(m.nflex):
        stiffness = m.flex_edgestiffness[flex] if springs else 0.0
        damping = m.flex_edgedamping[flex] if dampers else 0.0
        if m.flex_rigid[flex] == 0 and (stiffness != 0.0 or damping != 0.0):
            line, column = first_place(m, d, m.flex_edgeadr[flex])
            for edge in range(m.flex_edgeadr[flex], m.flex_edgeadr[flex] + m.flex_edgenum[flex]):
                if stiffness != 0.0:
                    add_edge_force(m, d, edge, line, column, -stiffness * extension(m, d, edge), d.qfrc_spring)
                if damping != 0.0:
                    add_edge_force(m, d, edge, line, column, -damping * d.flexedge_velocity[edge], d.qfrc_damper)
                line, column = next_place(m, edge, line, column)
    return OK


@stage
def edge_energy(m: Model, d: Data) -> int:
    """Add the potential energy of the springs of non-rigid edges to energy[0]. Reads flexedge_length."""
    if not has_springs(m):
        return OK
    for flex in range(m.nflex):
        stiffness = m.flex_edgestiffness[flex]
        if m.flex_rigid[flex] == 0 and stiffness != 0.0:
            for edge in range(m.flex_edgeadr[flex], m.flex_edgeadr[flex] + m.flex_edgenum[flex]):
                if m.flexedge_rigid[edge] == 0:
                    d.energy[0] += 0.5 * stiffness * extension(m, d, edge) * extension(m, d, edge)
    return OK


@kernel
def derivative_entry(m: Model, row: int, column: int) -> int:
    """Return the address in qDeriv of entry (`row`, `column`). One of the two dofs must be an ancestor of the other.

    The entries of a row are, in this order: the ancestors of its dof from the root on, the dof itself, its descendants.
    """
    above = min(row, column)
    depth = m.aux.M_rowadr[above + 1] - m.aux.M_rowadr[above] - 1
    return m.aux.D_rowadr[row] + depth + column - above


@kernel
def add_edge_derivative(m: Model, d: Data, edge: int, line: int, column: int, slope: float) -> None:
    """Add J' `slope` J of one edge to qDeriv, which has entries only for pairs of dofs that move a common body."""
    start, stop = m.aux.edge_rowadr[edge], m.aux.edge_rowadr[edge + 1]
    if in_threes(m, edge, column):
        for k in range(start, stop, 3):
            dof = m.aux.edge_colind[k]
            at = column + k - start if is_sparse(m) else dof
            x, y, z = d.flexedge_J[line, at], d.flexedge_J[line, at + 1], d.flexedge_J[line, at + 2]
            for row in range(3):
                entry = derivative_entry(m, dof + row, dof)
                moment = slope * d.flexedge_J[line, at + row]
                d.qDeriv[entry] += moment * x
                d.qDeriv[entry + 1] += moment * y
                d.qDeriv[entry + 2] += moment * z
        return
    for i in range(start, stop):
        dof, side = m.aux.edge_colind[i], m.aux.edge_side[i]
        scaled = slope * edge_moment(m, d, line, column, dof, i - start)
        for j in range(start, stop):
            other = m.aux.edge_colind[j]
            if side == m.aux.edge_side[j] or side == BOTH or m.aux.edge_side[j] == BOTH:
                moment = edge_moment(m, d, line, column, other, j - start)
                d.qDeriv[derivative_entry(m, dof, other)] += scaled * moment


@stage
def edge_derivatives(m: Model, d: Data) -> int:
    """Add the derivative -damping J'J of edge damper forces with respect to qvel to the stored entries of qDeriv."""
    if not has_dampers(m):
        return OK
    for flex in range(m.nflex):
        damping = m.flex_edgedamping[flex]
        if m.flex_rigid[flex] == 0 and damping != 0.0:
            line, column = first_place(m, d, m.flex_edgeadr[flex])
            for edge in range(m.flex_edgeadr[flex], m.flex_edgeadr[flex] + m.flex_edgenum[flex]):
                add_edge_derivative(m, d, edge, line, column, -damping)
                line, column = next_place(m, edge, line, column)
    return OK
