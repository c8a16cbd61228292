"""Standalone free bodies: free bodies without jointed descendants, whose six dofs are a tree of their own.

In MuJoCo 4.0, the integrator implicitfast leaves out the derivatives of gyroscopic forces, except for these bodies:
after the global solve, each block of six dofs is solved again with the complete, unsymmetric derivative. The result
equals that of the integrator implicit.

Source: manual of MuJoCo 4.0, chapter computation, gyroscopic derivatives for free bodies.
"""

from __future__ import annotations

from cardan.dynamics.derivatives import factor_lu, solve_lu
from cardan.enums.codes import JNT_FREE
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Array1, Inertia, Vec6
from cardan.maths.vector import (
    add6,
    add_scaled6,
    cross_force,
    cross_motion,
    dot6,
    get6,
    get10,
    mul_inertia,
)
from cardan.model.kernel_views import AnyModel, Data, Model


@kernel
def is_standalone(m: AnyModel, dof: int) -> bool:
    """Return whether a dof belongs to a free body without jointed descendants."""
    joint = m.dof_jntid[dof]
    if m.jnt_type[joint] != JNT_FREE:
        return False
    after = m.jnt_dofadr[joint] + 6
    return after == m.nv or m.dof_treeid[after] != m.dof_treeid[dof]


@kernel
def is_part_of_standalone(m: Model, body: int) -> bool:
    """Return whether a body is a standalone free body, or is fixed to one."""
    root = m.body_rootid[body]
    return m.body_dofnum[root] == 6 and is_standalone(m, m.body_dofadr[root])


@kernel
def has_standalone_bodies(m: AnyModel) -> bool:
    """Return whether the model has free bodies without jointed descendants."""
    for joint in range(m.njnt):
        if is_standalone(m, m.jnt_dofadr[joint]):
            return True
    return False


@kernel
def _bias_column(inertia: Inertia, velocity: Vec6, axis: Vec6, rate: Vec6) -> Vec6:
    """Derivative of a body's bias force with respect to the velocity of a dof: I P + B S (`dynamics.derivatives`).

    Args:
        inertia: spatial inertia I of the body.
        velocity: spatial velocity of the body.
        axis: motion axis S of the dof.
        rate: part P of the derivative of the body's acceleration; B contains the other part.
    """
    momentum = mul_inertia(inertia, velocity)
    force = add6(cross_force(velocity, mul_inertia(inertia, axis)), cross_force(axis, momentum))
    return add6(force, mul_inertia(inertia, add_scaled6(rate, cross_motion(velocity, axis), -1.0)))


@kernel
def _subtract_bias(m: Model, d: Data, first: int) -> None:
    """Subtract d qfrc_bias / d qvel from the 6 x 6 block of qDeriv that begins at the dof ``first``."""
    body = m.dof_bodyid[first]
    inertia, velocity = get10(d.crb, body), get6(d.cvel, body)
    for j in range(first, first + 6):
        axis = get6(d.cdof, j)
        rate = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        if j >= first + 3:  # axes of rotations move with the body
            rate = add6(get6(d.cdof_dot, j), cross_motion(velocity, axis))
        column = _bias_column(inertia, velocity, axis, rate)
        for i in range(first, j):
            d.qDeriv[m.aux.M_to_DT[m.aux.M_rowadr[j] + j - i]] -= dot6(get6(d.cdof, i), column)
        for i in range(j, first + 6):
            d.qDeriv[m.aux.M_to_D[m.aux.M_rowadr[i] + i - j]] -= dot6(get6(d.cdof, i), column)


@kernel
def clear_block(m: Model, d: Data, first: int) -> None:
    """Set the 6 x 6 block of qDeriv that begins at the dof ``first`` to 0."""
    for i in range(first, first + 6):
        for adr in range(m.aux.M_rowadr[i], m.aux.M_rowadr[i + 1]):
            d.qDeriv[m.aux.M_to_D[adr]] = 0.0
            d.qDeriv[m.aux.M_to_DT[adr]] = 0.0


@kernel
def subtract_bias(m: Model, d: Data, first: int) -> None:
    """Set the block of qDeriv of a standalone free body to the negative of d qfrc_bias / d qvel."""
    clear_block(m, d, first)
    _subtract_bias(m, d, first)


@stage
def free_body_derivatives(m: Model, d: Data) -> int:
    """Subtract d qfrc_bias / d qvel of all standalone free bodies from qDeriv.

    Reads crb, cvel, cdof, cdof_dot.
    """
    for joint in range(m.njnt):
        first = m.jnt_dofadr[joint]
        if is_standalone(m, first):
            _subtract_bias(m, d, first)
    return OK


@kernel
def factor_blocks(m: Model, d: Data) -> None:
    """Factorise the blocks of M - h qDeriv of all standalone free bodies; store the factors in qLU.

    The blocks of qH become identities, so that the global solve does not change the elements that `solve_blocks` needs.
    """
    for joint in range(m.njnt):
        first = m.jnt_dofadr[joint]
        if is_standalone(m, first):
            for i in range(first, first + 6):
                start = m.aux.M_rowadr[i]
                for adr in range(start, m.aux.M_rowadr[i + 1]):
                    lower, upper = m.aux.M_to_D[adr], m.aux.M_to_DT[adr]
                    d.qH[adr] = 1.0 if adr == start else 0.0
                    d.qLU[lower] = d.qM[adr] - m.opt.timestep * d.qDeriv[lower]
                    if adr > start:
                        d.qLU[upper] = d.qM[adr] - m.opt.timestep * d.qDeriv[upper]
            factor_lu(m, d, d.qLU, first, first + 6)


@kernel
def solve_blocks(m: Model, d: Data, x: Array1) -> None:
    """Replace the right-hand sides in x (nv,) of all standalone free bodies by solutions, with the factors in qLU."""
    for joint in range(m.njnt):
        first = m.jnt_dofadr[joint]
        if is_standalone(m, first):
            solve_lu(m, d.qLU, x, first, first + 6)
