"""Derivative of the Coriolis and centripetal forces by velocity, for the implicit integrator; composite matrices.

The force on body b is ``I a + v x* I v``. Let S_j be the axis of dof j, and P_j the part of the derivative of
accelerations that is common to all bodies of the subtree of j. Then

    d v / d qvel_j = S_j,     d a / d qvel_j = P_j - v x S_j,
    d force / d qvel_j = I P_j + B S_j,     B = v x* I - I v x + (. x* I v),

so that composite inertias and composite matrices B determine all entries (Singh, Russell and Wensing, "Efficient
analytical derivatives of rigid-body dynamics using spatial vector algebra", 2022; spec: computation, numerical
integration).

Composite matrices also serve the derivatives of fluid forces. Let the force on body b change by ``B_b dv_b``, about the
centre of mass of the tree. Then, for a dof i and its ancestor j, the joint force i changes by ``S_i' B S_j`` per unit
of velocity j. Here B is the sum of the B_b of the subtree of dof i, which is formed as in the composite rigid body
algorithm (Featherstone 2008, section 6.2).
"""

from __future__ import annotations

from cardan.enums.codes import JNT_BALL, JNT_FREE
from cardan.jit import OK, kernel, stage
from cardan.maths.spatial import (
    add6,
    add_scaled6,
    cross_force,
    cross_motion,
    dot6,
    get6,
    get10,
    mul_inertia,
    set6,
)
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


@kernel
def _add_rotations(d: Data, velocity: Vec6, dof: int) -> Vec6:
    """Add the three rotations of a ball or free joint to `velocity`, and write their P."""
    for k in range(dof, dof + 3):
        velocity = add_scaled6(velocity, get6(d.cdof, k), d.qvel[k])
    for k in range(dof, dof + 3):
        own = cross_motion(velocity, get6(d.cdof, k))
        set6(d.work.axis_rate, k, add6(get6(d.cdof_dot, k), own))
    return velocity


@kernel
def _add_joint(m: Model, d: Data, velocity: Vec6, joint: int) -> Vec6:
    """Add the motion of a joint to `velocity`, and write the P of its dofs."""
    dof = m.jnt_dofadr[joint]
    kind = m.jnt_type[joint]
    if kind == JNT_FREE:
        for k in range(dof, dof + 3):
            set6(d.work.axis_rate, k, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
            velocity = add_scaled6(velocity, get6(d.cdof, k), d.qvel[k])
        return _add_rotations(d, velocity, dof + 3)
    if kind == JNT_BALL:
        return _add_rotations(d, velocity, dof)
    set6(d.work.axis_rate, dof, add6(get6(d.cdof_dot, dof), get6(d.cdof_dot, dof)))
    return add_scaled6(velocity, get6(d.cdof, dof), d.qvel[dof])


@kernel
def _axis_rates(m: Model, d: Data) -> None:
    """Compute P of all dofs."""
    for body in range(1, m.nbody):
        velocity = get6(d.cvel, m.body_parentid[body])
        first = m.body_jntadr[body]
        for joint in range(first, first + m.body_jntnum[body]):
            velocity = _add_joint(m, d, velocity, joint)


@kernel
def _body_matrix(d: Data, body: int) -> None:
    """Compute the matrix B of a body, column by column."""
    inertia, velocity = get10(d.cinert, body), get6(d.cvel, body)
    momentum = mul_inertia(inertia, velocity)
    for k in range(6):
        axis = unit6(k)
        column = add6(cross_force(velocity, mul_inertia(inertia, axis)), cross_force(axis, momentum))
        column = add_scaled6(column, mul_inertia(inertia, cross_motion(velocity, axis)), -1.0)
        for row in range(6):
            d.work.composite[body, 6 * row + k] = column[row]


@kernel
def _subtract_projection(m: Model, d: Data) -> None:
    """Subtract S_i' (I P_j + B S_j) from qDeriv; I and B are the composites of the lower of the two dofs."""
    for dof in range(m.nv):
        body = m.dof_bodyid[dof]
        inertia = get10(d.crb, body)
        axis, rate = get6(d.cdof, dof), get6(d.work.axis_rate, dof)
        column = add6(mul_inertia(inertia, rate), mul_matrix(d, body, axis))
        row, row_rate = mul_matrix_t(d, body, axis), mul_inertia(inertia, axis)
        start = m.aux.M_rowadr[dof]
        d.qDeriv[m.aux.M_to_D[start]] -= dot6(axis, column)
        for adr in range(start + 1, m.aux.M_rowadr[dof + 1]):
            j = m.aux.M_colind[adr]
            other = get6(d.cdof, j)
            d.qDeriv[m.aux.M_to_D[adr]] -= dot6(row, other) + dot6(row_rate, get6(d.work.axis_rate, j))
            d.qDeriv[m.aux.M_to_DT[adr]] -= dot6(other, column)


@stage
def coriolis_derivatives(m: Model, d: Data) -> int:
    """Subtract the derivative of qfrc_bias by qvel from qDeriv. Reads cinert, crb, cvel, cdof, cdof_dot, qvel."""
    clear_matrices(m, d)
    _axis_rates(m, d)
    for body in range(1, m.nbody):
        _body_matrix(d, body)
    add_to_parents(m, d)
    _subtract_projection(m, d)
    return OK
