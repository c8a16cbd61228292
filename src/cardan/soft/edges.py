"""Edges of flexes: lengths, Jacobians, velocities, springs and dampers (spec: mj_flex; modelling, flex/edge).

An edge joins two vertices. The derivative of its length by the position of a dof is the velocity that the dof gives to
the second vertex relative to the first, along the edge. Row e of the Jacobian has entries for the dofs
``m.aux.edge_colind[k]`` with k from ``m.aux.edge_rowadr[e]`` to ``m.aux.edge_rowadr[e + 1]``, ascending. It is stored
dense, or in compressed rows one after the other.

Edges of a flex that has neither stiffness, damping nor constraints have lengths, and no Jacobian; those of a rigid flex
have neither.
"""

from __future__ import annotations

from typing import Any

from cardan.dynamics.jacobian import arm_of, is_sparse, point_column
from cardan.enums import mjtDisableBit
from cardan.jit import OK, exact, kernel, stage
from cardan.maths.vector import dot3, get3, norm3, normalize3, sub3
from cardan.model.kernel_views import Data, Model

FIRST, SECOND, BOTH = 0, 1, 2
PASSIVE_OFF = int(mjtDisableBit.mjDSBL_PASSIVE)


def has_edges(m: Any) -> bool:
    """Whether the model has flex edges that can change their lengths."""
    return m.nflexedge > 0 and bool((m.flex_rigid == 0).any())


@kernel
def edges_used(m: Model, flex: int) -> bool:
    """Whether the edges of a flex need a Jacobian."""
    if m.flex_rigid[flex] != 0:
        return False
    return m.flex_edgestiffness[flex] != 0.0 or m.flex_edgedamping[flex] != 0.0 or m.flex_edgeequality[flex] != 0


@kernel
def edge_vertex(m: Model, flex: int, edge: int, k: int) -> int:
    """Vertex 0 or 1 of an edge of a flex, numbered over all flexes."""
    return m.flex_vertadr[flex] + m.flex_edge[edge, k]


@kernel
def edge_vector(m: Model, d: Data, flex: int, edge: int) -> Any:
    """Vector from the first to the second vertex of an edge, world frame."""
    first = get3(d.flexvert_xpos, edge_vertex(m, flex, edge, 0))
    return sub3(get3(d.flexvert_xpos, edge_vertex(m, flex, edge, 1)), first)


@kernel
def vertex_rate(m: Model, d: Data, vertex: int, dof: int, axis: Any) -> float:
    """Velocity of a vertex along `axis`, per unit of the velocity of a dof that moves it."""
    arm = arm_of(m, d, get3(d.flexvert_xpos, vertex), m.flex_vertbodyid[vertex])
    return dot3(axis, point_column(d, dof, arm))


@kernel
def length_rate(m: Model, d: Data, flex: int, edge: int, axis: Any, k: int) -> float:
    """Derivative of the length of an edge along the unit vector `axis` by the dof of entry `k`."""
    dof = m.aux.edge_colind[k]
    rate = 0.0
    if m.aux.edge_side[k] != FIRST:
        rate += vertex_rate(m, d, edge_vertex(m, flex, edge, 1), dof, axis)
    if m.aux.edge_side[k] != SECOND:
        rate -= vertex_rate(m, d, edge_vertex(m, flex, edge, 0), dof, axis)
    return rate


@kernel
def stored_at(m: Model, d: Data, edge: int) -> Any:
    """Row and column of the first entry of an edge's compressed row in ``flexedge_J``, an (nflexedge, nv) array."""
    adr = d.flexedge_J_rowadr[edge]
    return adr // m.nv, adr % m.nv


@kernel
def passed_on(m: Model, row: int, column: int) -> Any:
    """Row and column of the next entry of a compressed row."""
    return (row, column + 1) if column + 1 < m.nv else (row + 1, 0)


@kernel
def put_edge_row(m: Model, d: Data, flex: int, edge: int, adr: int) -> int:
    """Write an edge's row of the Jacobian, compressed from `adr` on; returns where the next one starts."""
    axis = normalize3(edge_vector(m, d, flex, edge))
    start, stop = m.aux.edge_rowadr[edge], m.aux.edge_rowadr[edge + 1]
    if is_sparse(m):
        d.flexedge_J_rowadr[edge] = adr
        d.flexedge_J_rownnz[edge] = stop - start
        row, column = stored_at(m, d, edge)
        for k in range(start, stop):
            d.flexedge_J_colind[row, column] = m.aux.edge_colind[k]
            d.flexedge_J[row, column] = length_rate(m, d, flex, edge, axis, k)
            row, column = passed_on(m, row, column)
        return adr + stop - start
    for dof in range(m.nv):
        d.flexedge_J[edge, dof] = 0.0
    for k in range(start, stop):
        d.flexedge_J[edge, m.aux.edge_colind[k]] = length_rate(m, d, flex, edge, axis, k)
    return adr


@stage
@exact
def edges(m: Model, d: Data) -> int:
    """Lengths of all edges, and their Jacobians where they are used.

    Reads flexvert_xpos, cdof, subtree_com; writes flexedge_length (nflexedge,), flexedge_J (dense: (nflexedge, nv);
    sparse: rows packed one after the other, with flexedge_J_rownnz, flexedge_J_rowadr, flexedge_J_colind).
    """
    adr = 0
    for flex in range(m.nflex):
        if m.flex_rigid[flex] == 0:
            used = edges_used(m, flex)
            for edge in range(m.flex_edgeadr[flex], m.flex_edgeadr[flex] + m.flex_edgenum[flex]):
                d.flexedge_length[edge] = norm3(edge_vector(m, d, flex, edge))
                if used:
                    adr = put_edge_row(m, d, flex, edge, adr)
    return OK


@kernel
def edge_moment(m: Model, d: Data, edge: int, k: int) -> float:
    """Derivative of the length of an edge by the dof of entry `k`, as it is stored in ``flexedge_J``."""
    if is_sparse(m):
        adr = d.flexedge_J_rowadr[edge] + k - m.aux.edge_rowadr[edge]
        return d.flexedge_J[adr // m.nv, adr % m.nv]
    return d.flexedge_J[edge, m.aux.edge_colind[k]]


@kernel
def edge_rate(m: Model, d: Data, edge: int) -> float:
    """The rate of change of the length of an edge: its row of the Jacobian times qvel."""
    velocity = 0.0
    start, stop = m.aux.edge_rowadr[edge], m.aux.edge_rowadr[edge + 1]
    if is_sparse(m):
        row, column = stored_at(m, d, edge)
        for k in range(start, stop):
            velocity += d.flexedge_J[row, column] * d.qvel[m.aux.edge_colind[k]]
            row, column = passed_on(m, row, column)
    else:
        for k in range(start, stop):
            dof = m.aux.edge_colind[k]
            velocity += d.flexedge_J[edge, dof] * d.qvel[dof]
    return velocity


@stage
def edge_velocity(m: Model, d: Data) -> int:
    """Rates of change of edge lengths: flexedge_velocity (nflexedge,) = flexedge_J qvel."""
    for flex in range(m.nflex):
        if edges_used(m, flex):
            for edge in range(m.flex_edgeadr[flex], m.flex_edgeadr[flex] + m.flex_edgenum[flex]):
                d.flexedge_velocity[edge] = edge_rate(m, d, edge)
    return OK


@kernel
def extension(m: Model, d: Data, edge: int) -> float:
    """How much longer an edge is than at rest."""
    return d.flexedge_length[edge] - m.flexedge_length0[edge]


@kernel
def add_edge_force(m: Model, d: Data, edge: int, force: float, result: Any) -> None:
    """Add the joint forces of a force along an edge to `result` and qfrc_passive (nv,)."""
    start, stop = m.aux.edge_rowadr[edge], m.aux.edge_rowadr[edge + 1]
    sparse = is_sparse(m)
    row, column = stored_at(m, d, edge) if sparse else (edge, 0)
    for k in range(start, stop):
        dof = m.aux.edge_colind[k]
        moment = d.flexedge_J[row, column if sparse else dof] * force
        result[dof] += moment
        d.qfrc_passive[dof] += moment
        row, column = passed_on(m, row, column) if sparse else (edge, 0)


@stage
def edge_forces(m: Model, d: Data) -> int:
    """Add the forces of edge springs and dampers to qfrc_spring, qfrc_damper and qfrc_passive (nv,).

    Reads flexedge_length, flexedge_velocity, flexedge_J.
    """
    if m.opt.disableflags & PASSIVE_OFF:
        return OK
    for flex in range(m.nflex):
        stiffness, damping = m.flex_edgestiffness[flex], m.flex_edgedamping[flex]
        if m.flex_rigid[flex] == 0:
            for edge in range(m.flex_edgeadr[flex], m.flex_edgeadr[flex] + m.flex_edgenum[flex]):
                if stiffness != 0.0:
                    add_edge_force(m, d, edge, -stiffness * extension(m, d, edge), d.qfrc_spring)
                if damping != 0.0:
                    add_edge_force(m, d, edge, -damping * d.flexedge_velocity[edge], d.qfrc_damper)
    return OK


@stage
def edge_energy(m: Model, d: Data) -> int:
    """Add the potential energy of edge springs to energy[0]. Reads flexedge_length."""
    if m.opt.disableflags & PASSIVE_OFF:
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
    """Address in qDeriv of the entry of two dofs of which one is above the other in the tree.

    A row has the dofs above its own, from the root, then itself and those below.
    """
    above = min(row, column)
    depth = m.aux.M_rowadr[above + 1] - m.aux.M_rowadr[above] - 1
    return m.aux.D_rowadr[row] + depth + column - above


@kernel
def moment_at(m: Model, d: Data, row: int, column: int, k: int) -> float:
    """Entry `k` of a compressed row of ``flexedge_J`` whose first one stands at `row`, `column`."""
    if column + k < m.nv:
        return d.flexedge_J[row, column + k]
    return d.flexedge_J[row + 1, column + k - m.nv]


@kernel
def add_edge_derivative(m: Model, d: Data, edge: int, slope: float) -> None:
    """Add J' slope J of one edge, where the pattern of qDeriv has entries: between dofs that move the same vertex."""
    start, stop = m.aux.edge_rowadr[edge], m.aux.edge_rowadr[edge + 1]
    sparse = is_sparse(m)
    row, column = stored_at(m, d, edge) if sparse else (edge, 0)
    for i in range(start, stop):
        dof, side = m.aux.edge_colind[i], m.aux.edge_side[i]
        scaled = slope * (moment_at(m, d, row, column, i - start) if sparse else d.flexedge_J[edge, dof])
        for j in range(start, stop):
            other = m.aux.edge_colind[j]
            if side == m.aux.edge_side[j] or side == BOTH or m.aux.edge_side[j] == BOTH:
                moment = moment_at(m, d, row, column, j - start) if sparse else d.flexedge_J[edge, other]
                d.qDeriv[derivative_entry(m, dof, other)] += scaled * moment


@stage
def edge_derivatives(m: Model, d: Data) -> int:
    """Add the derivative of the forces of edge dampers by velocity, -damping J'J, to qDeriv where it has entries."""
    if m.opt.disableflags & PASSIVE_OFF:
        return OK
    for flex in range(m.nflex):
        damping = m.flex_edgedamping[flex]
        if m.flex_rigid[flex] == 0 and damping != 0.0:
            for edge in range(m.flex_edgeadr[flex], m.flex_edgeadr[flex] + m.flex_edgenum[flex]):
                add_edge_derivative(m, d, edge, -damping)
    return OK
