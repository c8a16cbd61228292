"""Velocity derivatives of smooth forces for the implicit integrators (spec: computation, numerical integration).

This module handles dampers, actuators, Coriolis and centripetal forces; `fluid` handles fluid forces.
`qDeriv` is stored in compressed rows. Row i has entries for the ancestors and descendants of dof i in the tree
(`D_rownnz`, `D_rowadr`, `D_colind`). Entries that couple dofs of different branches are left out.

Matrices with this pattern are factorised as A = U L from the leaves to the root, which creates no fill-in. U is upper
triangular with a unit diagonal, L lower triangular; the stored diagonal is that of L.

*Coriolis and centripetal forces.* The force on body b is ``I a + v x* I v``. Let S_j be the axis of dof j, and P_j the
part of the derivative of accelerations that is common to all bodies of the subtree of j. Then

    d v / d qvel_j = S_j,     d a / d qvel_j = P_j - v x S_j,
    d force / d qvel_j = I P_j + B S_j,     B = v x* I - I v x + (. x* I v),

so that composite inertias and composite matrices B determine all entries (Singh, Russell and Wensing, "Efficient
analytical derivatives of rigid-body dynamics using spatial vector algebra", 2022).

*Composite matrices* also serve the derivatives of fluid forces. Let ``B_b dv_b`` be the change of the force on body b,
about the centre of mass of the tree, for a change ``dv_b`` of the body's velocity. Then, for a dof i and its ancestor
j, the joint force i changes by ``S_i' B S_j`` per unit of velocity j. Here B is the sum of the B_b of the subtree of
dof i. It is formed as in the composite rigid body algorithm (Featherstone 2008, section 6.2).
"""

from __future__ import annotations

from typing import Any

from cardan.dynamics.actuation import (
    S0,
    S1,
    actuator_disabled,
    actuator_input,
    is_bad,
    limited,
    tendon_actuator_force,
)
from cardan.dynamics.history import control_of
from cardan.dynamics.inertia import sound_pivot
from cardan.dynamics.reflected import any_added_damping, dof_slope, tendon_slope
from cardan.dynamics.switches import has_dampers
from cardan.dynamics.tendon import tendon_moment
from cardan.enums.codes import (
    BIAS_AFFINE,
    DSBL_ACTUATION,
    GAIN_AFFINE,
    GAIN_DCMOTOR,
    GAIN_MUSCLE,
    GAIN_SO3,
    JNT_BALL,
    JNT_FREE,
    TRN_JOINT,
    TRN_JOINTINPARENT,
    TRN_TENDON,
)
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Array1, ConstArray1, ConstArray2, ConstIntArray1, Vec6
from cardan.maths.vector import (
    MINVAL,
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
from cardan.model.kernel_views import Data, Model

BEYOND_ROUNDING = 1.0 + 1e-10
"""Factor by which a sum of scaled forces is enlarged, before it is compared with its limit."""


@kernel
def actuator_moment(m: Model, d: Data, out: int, k: int) -> float:
    """Derivative of a length of actuators with respect to the position of the dof ``m.aux.moment_colind[k]``."""
    return d.actuator_moment[out, m.aux.moment_colind[k]]


@kernel
def _add_outer(m: Model, d: Data, i: int, adr: ConstIntArray1, dofs: ConstIntArray1, moment: Any, slope: float) -> None:
    """Add slope J' J to the stored entries of qDeriv. J is row `i` of the Jacobian of actuators or tendons.

    The row has the dofs ``dofs[adr[i]]`` to ``dofs[adr[i + 1] - 1]``; `moment` computes its entries.
    """
    for a in range(adr[i], adr[i + 1]):
        row = dofs[a]
        scaled = slope * moment(m, d, i, a)
        k, end = m.aux.D_rowadr[row], m.aux.D_rowadr[row + 1]
        for b in range(adr[i], adr[i + 1]):
            while k < end and m.aux.D_colind[k] < dofs[b]:
                k += 1
            if k < end and m.aux.D_colind[k] == dofs[b]:
                d.qDeriv[k] += scaled * moment(m, d, i, b)


@kernel
def _gain_input(m: Model, d: Data, actuator: int, control: float) -> float:
    """Current activation of an actuator; if it has none, its control without limits (0 if the control is bad)."""
    number = m.actuator_actnum[actuator]
    if number > 0:
        return d.act[m.actuator_actadr[actuator] + number - 1]
    return 0.0 if is_bad(control) else control


@kernel
def current_input(m: Model, d: Data, actuator: int, control: float) -> float:
    """Input of an actuator's gain, as in `fwd_actuation`: controls are limited (bad: 0), and ``actearly`` applies."""
    control = limited(m, m.actuator_ctrladr[actuator], control)
    return actuator_input(m, d, actuator, 0.0 if is_bad(control) else control)


@kernel
def _is_at_limit(force: float, limits: ConstArray2, row: int) -> bool:
    """Return whether a force is at or beyond one of its two limits."""
    return force <= limits[row, 0] or force >= limits[row, 1]


@kernel
def is_saturated(m: Model, d: Data, actuator: int) -> bool:
    """Return whether the force of an actuator is at a limit, so that it does not depend on velocity.

    The limit is ``forcerange``, or ``actuatorfrcrange`` of the joint or tendon on which the actuator acts. The forces
    on a tendon are scaled, so that their sum may have rounding errors. ``forcerange`` of DC motors and orientation
    servos is left out: it does not apply to friction, or applies to a norm, and counts in `work.actuator_gain_slope`.
    """
    if m.actuator_forcelimited[actuator] and m.actuator_gaintype[actuator] not in (GAIN_DCMOTOR, GAIN_SO3):
        if _is_at_limit(d.actuator_force[m.actuator_outadr[actuator]], m.actuator_forcerange, actuator):
            return True
    kind = m.actuator_trntype[actuator]
    if kind in (TRN_JOINT, TRN_JOINTINPARENT):
        joint = m.actuator_trnid[actuator, 0]
        if m.jnt_actfrclimited[joint]:
            return _is_at_limit(d.qfrc_actuator[m.jnt_dofadr[joint]], m.jnt_actfrcrange, joint)
    elif kind == TRN_TENDON:
        tendon = m.actuator_trnid[actuator, 0]
        if m.tendon_actfrclimited[tendon]:
            total = tendon_actuator_force(m, d, tendon)
            return _is_at_limit(total * BEYOND_ROUNDING, m.tendon_actfrcrange, tendon)
    return False


@kernel
def velocity_slope(m: Model, d: Data, actuator: int, value: float) -> float:
    """Derivative of an actuator's force with respect to `actuator_velocity`; ``value`` is the input of the gain."""
    slope = 0.0
    if m.actuator_biastype[actuator] == BIAS_AFFINE:
        slope += m.actuator_biasprm[actuator, 2]
    if m.actuator_gaintype[actuator] == GAIN_SO3:
        slope += d.work.actuator_gain_slope[actuator]
    elif m.actuator_gaintype[actuator] == GAIN_AFFINE:
        slope += m.actuator_gainprm[actuator, 2] * value
    elif m.actuator_gaintype[actuator] == GAIN_DCMOTOR:
        slope += d.work.actuator_gain_slope[actuator]
        if m.actuator_dynprm[actuator, S0] > 0.0:
            slope -= m.actuator_dynprm[actuator, S1]
    elif m.actuator_gaintype[actuator] == GAIN_MUSCLE:
        slope += d.work.actuator_gain_slope[actuator] * value
    return slope


@kernel
def _smooth_derivatives(m: Model, d: Data, saturation: bool) -> None:
    """Compute the derivative of passive and actuator forces with respect to velocity, qDeriv.

    Args:
        m: model.
        d: data.
        saturation: whether to take limits of forces and controls, and ``actearly``, into account, as in MuJoCo 4.0.
    """
    for k in range(m.nD):
        d.qDeriv[k] = 0.0
    if not m.opt.disableflags & DSBL_ACTUATION:
        for actuator in range(m.nactuator):
            if actuator_disabled(m, actuator) or (saturation and is_saturated(m, d, actuator)):
                continue
            value = 0.0
            if m.actuator_ctrlnum[actuator] > 0:
                control = control_of(m, d, actuator, 0)  # once: code with two calls of it does not link in all forms
                if saturation:
                    value = current_input(m, d, actuator, control)
                else:
                    value = _gain_input(m, d, actuator, control)
            slope = velocity_slope(m, d, actuator, value)
            if slope != 0.0:
                first = m.actuator_outadr[actuator]
                for out in range(first, first + m.actuator_outnum[actuator]):
                    _add_outer(m, d, out, m.aux.moment_rowadr, m.aux.moment_colind, actuator_moment, slope)
    if has_dampers(m):
        added = any_added_damping(m)
        for dof in range(m.nv):
            d.qDeriv[m.aux.M_to_D[m.aux.M_rowadr[dof]]] -= dof_slope(m, d, dof, added)
        for tendon in range(m.ntendon):
            damping = tendon_slope(m, d, tendon)
            if damping != 0.0:
                _add_outer(m, d, tendon, m.aux.ten_rowadr, m.aux.ten_colind, tendon_moment, -damping)


@stage
def implicitfast_derivatives(m: Model, d: Data) -> int:
    """Compute the derivative of passive and actuator forces with respect to velocity.

    Reads the results of `transmission`, `tendon` and `fwd_actuation`; writes qDeriv (nD,).
    """
    _smooth_derivatives(m, d, False)
    return OK


@stage
def implicitfast_derivatives_with_limits(m: Model, d: Data) -> int:
    """Do as `implicitfast_derivatives`, but leave out actuators whose forces are at a limit (MuJoCo 4.0)."""
    _smooth_derivatives(m, d, True)
    return OK


@kernel
def implicit_entry(m: Model, d: Data, dof: int, adr: int) -> float:
    """Entry of M - h qDeriv in the row of a dof, at the address `adr` of qM (qDeriv must be symmetric).

    If the inertia of a dof is diagonal, as for single bodies and vertices of flexes, all off-diagonal entries of the
    dof count as 0.
    """
    if m.dof_simplenum[dof] > 0 and adr > m.aux.M_rowadr[dof]:
        return 0.0
    return d.qM[adr] - m.opt.timestep * d.qDeriv[m.aux.M_to_D[adr]]


@kernel
def implicit_inertia(m: Model, d: Data) -> None:
    """Set qH to M - h qDeriv in the storage of qM, as `inertia.factor_ld` needs it."""
    implicit_rows(m, d, 0, m.nv)


@kernel
def implicit_rows(m: Model, d: Data, first: int, stop: int) -> None:
    """Do as `implicit_inertia`, for the dofs `first` to `stop` (exclusive)."""
    for dof in range(first, stop):
        for adr in range(m.aux.M_rowadr[dof], m.aux.M_rowadr[dof + 1]):
            d.qH[adr] = implicit_entry(m, d, dof, adr)


@kernel
def _entry(m: Model, row: int, column: int) -> int:
    """Address in `qDeriv` of the entry for two dofs, given by their addresses `row` and `column` in one row of `qM`."""
    if column >= row:
        return m.aux.M_to_D[m.aux.M_rowadr[m.aux.M_colind[row]] + column - row]
    return m.aux.M_to_DT[m.aux.M_rowadr[m.aux.M_colind[column]] + row - column]


@kernel
def factor_lu(m: Model, d: Data, lu: Array1, first: int, end: int) -> None:
    """Factorise a matrix with the pattern of `qDeriv` (nD,) in place, in the rows of dofs ``first`` to ``end`` - 1.

    These dofs must form whole trees. For each pivot near 0, count the warning INERTIA.
    """
    for i in range(end - 1, first - 1, -1):
        start, stop = m.aux.M_rowadr[i], m.aux.M_rowadr[i + 1]
        pivot = m.aux.M_to_D[start]
        if abs(lu[pivot]) < MINVAL:
            lu[pivot] = sound_pivot(d, lu[pivot], i)
        inverse = 1.0 / lu[pivot]
        for row in range(start + 1, stop):
            scale = lu[m.aux.M_to_DT[row]] * inverse
            lu[m.aux.M_to_DT[row]] = scale
            for column in range(start + 1, stop):
                lu[_entry(m, row, column)] -= scale * lu[m.aux.M_to_D[column]]


@kernel
def solve_lu(m: Model, lu: ConstArray1, x: Array1, first: int, end: int) -> None:
    """Replace x (nv,) by A^-1 x in the elements ``first`` to ``end`` - 1, with the factors of A from `factor_lu`."""
    # U y = x, from the leaves to the root
    for i in range(end - 1, first - 1, -1):
        value = x[i]
        for adr in range(m.aux.M_rowadr[i] + 1, m.aux.M_rowadr[i + 1]):
            x[m.aux.M_colind[adr]] -= lu[m.aux.M_to_DT[adr]] * value
    # L z = y, from the root to the leaves
    for i in range(first, end):
        start = m.aux.M_rowadr[i]
        value = x[i]
        for adr in range(start + 1, m.aux.M_rowadr[i + 1]):
            value -= lu[m.aux.M_to_D[adr]] * x[m.aux.M_colind[adr]]
        x[i] = value / lu[m.aux.M_to_D[start]]


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
    """Set the matrices B of all bodies (``work.composite``) to zero."""
    for body in range(m.nbody):
        for k in range(36):
            d.work.composite[body, k] = 0.0


@kernel
def add_to_parents(m: Model, d: Data) -> None:
    """Sum the matrices B over subtrees, in a backward pass that adds each body's matrix to its parent's matrix."""
    for body in range(m.nbody - 1, 0, -1):
        parent = m.body_parentid[body]
        if parent > 0:
            for k in range(36):
                d.work.composite[parent, k] += d.work.composite[body, k]


@kernel
def _sum(d: Data, body: int, start: int, stride: int, vector: Vec6) -> float:
    """Scalar product of `vector` and six elements of a body's matrix: index `start`, then every `stride`-th."""
    total = 0.0
    for k in range(6):
        total += d.work.composite[body, start + k * stride] * vector[k]
    return total


@kernel
def mul_matrix(d: Data, body: int, vector: Vec6, transposed: bool) -> Vec6:
    """Product B vector, or B' vector, for the matrix B of a body."""
    row, step = (1, 6) if transposed else (6, 1)
    return (
        _sum(d, body, 0, step, vector),
        _sum(d, body, row, step, vector),
        _sum(d, body, 2 * row, step, vector),
        _sum(d, body, 3 * row, step, vector),
        _sum(d, body, 4 * row, step, vector),
        _sum(d, body, 5 * row, step, vector),
    )


@kernel
def add_projection(m: Model, d: Data) -> None:
    """Add S_i' B S_j to qDeriv for each dof and for each pair of a dof and its ancestor."""
    for dof in range(m.nv):
        body = m.dof_bodyid[dof]
        axis = get6(d.cdof, dof)
        column, row = mul_matrix(d, body, axis, False), mul_matrix(d, body, axis, True)
        start = m.aux.M_rowadr[dof]
        d.qDeriv[m.aux.M_to_D[start]] += dot6(axis, column)
        for adr in range(start + 1, m.aux.M_rowadr[dof + 1]):
            other = get6(d.cdof, m.aux.M_colind[adr])
            d.qDeriv[m.aux.M_to_D[adr]] += dot6(row, other)
            d.qDeriv[m.aux.M_to_DT[adr]] += dot6(other, column)


@kernel
def _add_rotations(d: Data, velocity: Vec6, dof: int) -> Vec6:
    """Return `velocity` plus three rotations of a ball or free joint; write P_j of their dofs to `work.axis_rate`."""
    for k in range(dof, dof + 3):
        velocity = add_scaled6(velocity, get6(d.cdof, k), d.qvel[k])
    for k in range(dof, dof + 3):
        own = cross_motion(velocity, get6(d.cdof, k))
        set6(d.work.axis_rate, k, add6(get6(d.cdof_dot, k), own))
    return velocity


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


@stage
def coriolis_derivatives(m: Model, d: Data) -> int:
    """Subtract d qfrc_bias / d qvel from qDeriv. Reads cinert, crb, cvel, cdof, cdof_dot, qvel."""
    clear_matrices(m, d)
    # P of all dofs
    for body in range(1, m.nbody):
        velocity = get6(d.cvel, m.body_parentid[body])
        first = m.body_jntadr[body]
        for joint in range(first, first + m.body_jntnum[body]):
            dof = m.jnt_dofadr[joint]
            if m.jnt_type[joint] == JNT_FREE:
                for k in range(dof, dof + 3):
                    set6(d.work.axis_rate, k, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
                    velocity = add_scaled6(velocity, get6(d.cdof, k), d.qvel[k])
                velocity = _add_rotations(d, velocity, dof + 3)
            elif m.jnt_type[joint] == JNT_BALL:
                velocity = _add_rotations(d, velocity, dof)
            else:
                set6(d.work.axis_rate, dof, add6(get6(d.cdof_dot, dof), get6(d.cdof_dot, dof)))
                velocity = add_scaled6(velocity, get6(d.cdof, dof), d.qvel[dof])
    for body in range(1, m.nbody):
        _body_matrix(d, body)
    add_to_parents(m, d)
    for dof in range(m.nv):
        body = m.dof_bodyid[dof]
        inertia = get10(d.crb, body)
        axis, rate = get6(d.cdof, dof), get6(d.work.axis_rate, dof)
        column = add6(mul_inertia(inertia, rate), mul_matrix(d, body, axis, False))
        row, row_rate = mul_matrix(d, body, axis, True), mul_inertia(inertia, axis)
        start = m.aux.M_rowadr[dof]
        d.qDeriv[m.aux.M_to_D[start]] -= dot6(axis, column)
        for adr in range(start + 1, m.aux.M_rowadr[dof + 1]):
            j = m.aux.M_colind[adr]
            other = get6(d.cdof, j)
            d.qDeriv[m.aux.M_to_D[adr]] -= dot6(row, other) + dot6(row_rate, get6(d.work.axis_rate, j))
            d.qDeriv[m.aux.M_to_DT[adr]] -= dot6(other, column)
    return OK
