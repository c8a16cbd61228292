"""Composite matrices: derivatives of the forces on rigid subtrees by velocity, and their projection onto the dofs.

Let the force on body b change by ``B_b dv_b``, all about the centre of mass of the tree. For a dof i and its ancestor
j, the joint force i then changes by ``S_i' B S_j`` per unit of velocity j. Here S are the motion axes (`cdof`), and B
is the sum of the B_b of the subtree of dof i. The sum is formed as in the composite rigid body algorithm (Featherstone
2008, section 6.2).
"""

from __future__ import annotations

from cardan.jit import kernel
from cardan.maths.spatial import dot6, get6
from cardan.maths.types import Vec6
from cardan.model.kernel_views import Data, Model


@kernel
def unit6(k: int) -> Vec6:
    """Unit vector of six elements along axis `k`."""
    return (
        1.0 if k == 0 else 0.0,
        1.0 if k == 1 else 0.0,
        1.0 if k == 2 else 0.0,
        1.0 if k == 3 else 0.0,
        1.0 if k == 4 else 0.0,
        1.0 if k == 5 else 0.0,
    )


@kernel
def clear_matrices(m: Model, d: Data) -> None:
    """Set the matrices of all bodies to zero."""
    for body in range(m.nbody):
        for k in range(36):
            d.work.composite[body, k] = 0.0


@kernel
def add_to_parents(m: Model, d: Data) -> None:
    """Add the matrices of bodies to those of their parents, which gives the sums over subtrees: a backward pass."""
    for body in range(m.nbody - 1, 0, -1):
        parent = m.body_parentid[body]
        if parent > 0:
            for k in range(36):
                d.work.composite[parent, k] += d.work.composite[body, k]


@kernel
def _row(d: Data, body: int, row: int, vector: Vec6) -> float:
    """Scalar product of a row of the body's matrix and a vector."""
    total = 0.0
    for k in range(6):
        total += d.work.composite[body, 6 * row + k] * vector[k]
    return total


@kernel
def _column(d: Data, body: int, column: int, vector: Vec6) -> float:
    """Scalar product of a column of the body's matrix and a vector."""
    total = 0.0
    for k in range(6):
        total += d.work.composite[body, 6 * k + column] * vector[k]
    return total


@kernel
def mul_matrix(d: Data, body: int, vector: Vec6) -> Vec6:
    """Product B vector for the matrix B of a body."""
    return (
        _row(d, body, 0, vector),
        _row(d, body, 1, vector),
        _row(d, body, 2, vector),
        _row(d, body, 3, vector),
        _row(d, body, 4, vector),
        _row(d, body, 5, vector),
    )


@kernel
def mul_matrix_t(d: Data, body: int, vector: Vec6) -> Vec6:
    """Product B' vector for the matrix B of a body."""
    return (
        _column(d, body, 0, vector),
        _column(d, body, 1, vector),
        _column(d, body, 2, vector),
        _column(d, body, 3, vector),
        _column(d, body, 4, vector),
        _column(d, body, 5, vector),
    )


@kernel
def add_projection(m: Model, d: Data) -> None:
    """Add S_i' B S_j to qDeriv for all pairs of dofs of which one is an ancestor of the other."""
    for dof in range(m.nv):
        body = m.dof_bodyid[dof]
        axis = get6(d.cdof, dof)
        column, row = mul_matrix(d, body, axis), mul_matrix_t(d, body, axis)
        start = m.aux.M_rowadr[dof]
        d.qDeriv[m.aux.M_to_D[start]] += dot6(axis, column)
        for adr in range(start + 1, m.aux.M_rowadr[dof + 1]):
            other = get6(d.cdof, m.aux.M_colind[adr])
            d.qDeriv[m.aux.M_to_D[adr]] += dot6(row, other)
            d.qDeriv[m.aux.M_to_DT[adr]] += dot6(other, column)
