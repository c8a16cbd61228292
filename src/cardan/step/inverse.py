"""Inverse dynamics (the force that causes an acceleration), and its comparison with forward dynamics.

Spec: computation, inverse dynamics; simulation, inverse dynamics.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from cardan.dynamics.bias import add_applied_forces
from cardan.dynamics.derivatives import actuator_moment
from cardan.dynamics.free_bodies import subtract_bias
from cardan.dynamics.inertia import mul_m, mul_symmetric, solve_m
from cardan.dynamics.reflected import any_added_damping, dof_slope
from cardan.dynamics.tendon import tendon_moment
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Array1, ConstArray1, ConstIntArray1
from cardan.model.kernel_views import Data, Model
from cardan.soft.elastic_metric import add_elastic_metric
from cardan.solver.free_bodies import turns_freely
from cardan.step.integrators import has_damping


@stage
def inverse_force(m: Model, d: Data) -> int:
    """Compute qfrc_inverse = M qacc + qfrc_bias - qfrc_passive - qfrc_constraint (nv,)."""
    mul_m(m, d, d.qfrc_inverse, d.qacc)
    for i in range(m.nv):
        d.qfrc_inverse[i] += d.qfrc_bias[i] - d.qfrc_passive[i] - d.qfrc_constraint[i]
    return OK


@kernel
def multiply_metric(m: Model, d: Data, result: Array1, vector: ConstArray1) -> None:
    """Set `result` (nv,) to the effective metric of the integrator discrete times `vector` (nv,), another array.

    The metric includes elastic flexes, tendons and actuators that do not fit the pattern of qM, and gyroscopic terms of
    free bodies without constraints. Overwrites the blocks of these bodies in qDeriv.
    """
    mul_symmetric(m, d.work.metric, result, vector)
    for tendon in range(m.ntendon):
        if d.work.tendon_loose[tendon] != 0:
            rows, dofs, weight = m.aux.ten_rowadr, m.aux.ten_colind, d.work.metric_tendon[tendon]
            _add_loose(m, d, tendon, rows, dofs, tendon_moment, weight, result, vector)
    for out in range(m.nout):
        if d.work.actuator_loose[out] != 0:
            rows, dofs, weight = m.aux.moment_rowadr, m.aux.moment_colind, d.work.metric_actuator[out]
            _add_loose(m, d, out, rows, dofs, actuator_moment, weight, result, vector)
    if m.nflexstiffness > 0:
        add_elastic_metric(m, d, vector, result)
    for joint in range(m.njnt):
        first = m.jnt_dofadr[joint]
        if turns_freely(m, d, first):
            subtract_bias(m, d, first)
            for i in range(first, first + 6):
                for k in range(m.aux.D_rowadr[i], m.aux.D_rowadr[i + 1]):
                    result[i] -= m.opt.timestep * d.qDeriv[k] * vector[m.aux.D_colind[k]]


@kernel
def _add_loose(
    m: Model,
    d: Data,
    i: int,
    adr: ConstIntArray1,
    dofs: ConstIntArray1,
    moment: Any,
    weight: float,
    result: Array1,
    vector: ConstArray1,
) -> None:
    """Add ``weight`` J' J `vector` to `result`, for row `i` of a Jacobian as in `metric._add_coupling`."""
    rate = 0.0
    for k in range(adr[i], adr[i + 1]):
        rate += moment(m, d, i, k) * vector[dofs[k]]
    for k in range(adr[i], adr[i + 1]):
        result[dofs[k]] += weight * rate * moment(m, d, i, k)


@stage
def discrete_inverse_force(m: Model, d: Data) -> int:
    """Compute qfrc_inverse (nv,) for the integrator discrete: M^ qacc + h K qvel and the other forces."""
    multiply_metric(m, d, d.qfrc_inverse, d.qacc)
    for i in range(m.nv):
        d.qfrc_inverse[i] += d.work.metric_shift[i]
        d.qfrc_inverse[i] += d.qfrc_bias[i] - d.qfrc_passive[i] - d.qfrc_constraint[i]
    return OK


@kernel
def _begin_continuous(m: Model, d: Data) -> None:
    """Save qacc in `work.qacc_discrete`, and replace qacc by M qacc."""
    for i in range(m.nv):
        d.work.qacc_discrete[i] = d.qacc[i]
    mul_m(m, d, d.qacc, d.work.qacc_discrete)


@stage
def continuous_acc_euler(m: Model, d: Data) -> int:
    """Convert the discrete-time qacc of the Euler integrator to the continuous-time M^-1 (M + h diag(damping)) qacc."""
    _begin_continuous(m, d)
    if has_damping(m):
        added = any_added_damping(m)
        for i in range(m.nv):
            d.qacc[i] += m.opt.timestep * dof_slope(m, d, i, added) * d.work.qacc_discrete[i]
    solve_m(m, d, d.qacc)
    return OK


@stage
def continuous_acc_implicit(m: Model, d: Data) -> int:
    """Convert the discrete-time qacc of implicit or implicitfast to the continuous-time M^-1 (M - h qDeriv) qacc."""
    _begin_continuous(m, d)
    for i in range(m.nv):
        for k in range(m.aux.D_rowadr[i], m.aux.D_rowadr[i + 1]):
            d.qacc[i] -= m.opt.timestep * d.qDeriv[k] * d.work.qacc_discrete[m.aux.D_colind[k]]
    solve_m(m, d, d.qacc)
    return OK


@stage
def restore_acc(m: Model, d: Data) -> int:
    """Restore the discrete-time acceleration in qacc."""
    for i in range(m.nv):
        d.qacc[i] = d.work.qacc_discrete[i]
    return OK


@stage
def keep_forward(m: Model, d: Data) -> int:
    """Save qfrc_inverse and the constraint forces of forward dynamics, before inverse dynamics overwrites them."""
    for i in range(m.nv):
        d.work.forward_inverse[i] = d.qfrc_inverse[i]
        d.work.forward_qfrc[i] = d.qfrc_constraint[i]
    for i in range(d.nefc):
        d.work.forward_force[i] = d.efc_force[i]
    return OK


@stage
def compare_fwd_inv(m: Model, d: Data) -> int:
    """Compare forward and inverse dynamics, and write the norms of two differences to solver_fwdinv.

    These are the differences of the constraint forces and of the applied forces, both as joint forces. The constraint
    forces of forward dynamics are restored; qfrc_inverse is kept. If there are no constraints, there is no solver to
    check. In this case the norms are 0, and the previous qfrc_inverse is restored.
    """
    d.solver_fwdinv[0] = d.solver_fwdinv[1] = 0.0
    if d.nefc == 0:
        for i in range(m.nv):
            d.qfrc_inverse[i] = d.work.forward_inverse[i]
        return OK
    # applied joint forces, in the scratch memory of the integrator
    applied = d.work.qacc_step
    for i in range(m.nv):
        applied[i] = d.qfrc_applied[i] + d.qfrc_actuator[i]
    add_applied_forces(m, d, applied)
    constraint, joint = 0.0, 0.0
    for i in range(m.nv):
        constraint += (d.work.forward_qfrc[i] - d.qfrc_constraint[i]) ** 2
        joint += (applied[i] - d.qfrc_inverse[i]) ** 2
        d.qfrc_constraint[i] = d.work.forward_qfrc[i]
    for i in range(d.nefc):
        d.efc_force[i] = d.work.forward_force[i]
    d.solver_fwdinv[0] = sqrt(constraint)
    d.solver_fwdinv[1] = sqrt(joint)
    return OK
