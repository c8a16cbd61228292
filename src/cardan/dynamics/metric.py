"""The effective metric of the integrator discrete, and the acceleration without constraints in this metric.

The integrator makes a step ``v+ = v + h a``, ``q+ = q + h v+`` with the acceleration a that solves ::

    M^ a = f - h K v + J' f_c        M^ = M + h D + h^2 K

D and K are the positive parts of damping and stiffness of smooth forces f: joints, tendons, actuators, and drag of a
medium (`cardan.dynamics.stiffness`). Under the solver PGS, tendons and actuators are left out; their forces are then
explicit.

`work.metric` stores M^ in the pattern of qM, with dofs and their ancestors. Tendons and actuators that couple dofs of
different branches do not fit this pattern. They are marked in `work.tendon_loose` and `work.actuator_loose`, and
`cardan.solver.effective` adds them as rows of the solver. The *backbone* of the metric is M with drag and with all
diagonal elements of M^ (`work.metric_diag`). Scales of constraints and dual solvers refer to it.

Source: manual of MuJoCo 4.0, chapter computation, numerical integration.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from cardan.dynamics.actuation import actuator_disabled
from cardan.dynamics.bias import sum_smooth_forces
from cardan.dynamics.derivatives import actuator_moment
from cardan.dynamics.fluid import has_fluid
from cardan.dynamics.inertia import factor_ld, solve_ld
from cardan.dynamics.powers import has_spring
from cardan.dynamics.reflected import any_added_damping, dof_slope
from cardan.dynamics.stiffness import actuator_slopes, joint_stiffness, tendon_damping, tendon_stiffness
from cardan.dynamics.switches import has_dampers, has_springs
from cardan.dynamics.tendon import tendon_moment
from cardan.enums.codes import DSBL_ACTUATION, JNT_BALL, JNT_FREE, SOL_PGS
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Array1, ConstIntArray1
from cardan.model.kernel_views import Data, Model


@kernel
def fits(m: Model, first: int, end: int, dofs: ConstIntArray1) -> bool:
    """Return whether all dofs ``dofs[first]`` to ``dofs[end - 1]`` (increasing) are in one chain of the tree."""
    if end - first < 2:
        return True
    k = m.aux.M_rowadr[dofs[end - 1]]
    stop = m.aux.M_rowadr[dofs[end - 1] + 1]
    for a in range(end - 2, first - 1, -1):
        while k < stop and m.aux.M_colind[k] > dofs[a]:
            k += 1
        if k == stop or m.aux.M_colind[k] != dofs[a]:
            return False
    return True


@kernel
def _add_coupling(
    m: Model, d: Data, i: int, adr: ConstIntArray1, dofs: ConstIntArray1, moment: Any, weight: float, pull: float
) -> int:
    """Add ``weight`` J' J to the metric, and J' ``pull`` to `work.metric_shift`, for row ``i`` of a Jacobian.

    The arguments are those of `derivatives._add_outer`. If the dofs do not fit the pattern of qM, only
    `work.metric_diag` is changed, and the result is 1, else 0.
    """
    first, end = int(adr[i]), int(adr[i + 1])
    loose = not fits(m, first, end, dofs)
    for a in range(first, end):
        row = dofs[a]
        value = moment(m, d, i, a)
        d.work.metric_shift[row] += value * pull
        d.work.metric_diag[row] += weight * value * value
        d.work.metric_tied[row] = 1
        if not loose:
            k = m.aux.M_rowadr[row]
            for b in range(a, first - 1, -1):
                while m.aux.M_colind[k] > dofs[b]:
                    k += 1
                d.work.metric[k] += weight * value * moment(m, d, i, b)
    return 1 if loose else 0


@kernel
def _add_joints(m: Model, d: Data) -> None:
    """Add stiffness and damping of joints to `work.metric_diag` and `work.metric_shift`."""
    h = m.opt.timestep
    if has_springs(m):
        for joint in range(m.njnt):
            if has_spring(m, joint):
                moving, turning = joint_stiffness(m, d, joint)
                dof, kind = m.jnt_dofadr[joint], m.jnt_type[joint]
                for i in range(6 if kind == JNT_FREE else (3 if kind == JNT_BALL else 1)):
                    stiffness = h * (turning if i >= 3 else moving)
                    d.work.metric_diag[dof + i] += h * stiffness
                    d.work.metric_shift[dof + i] += stiffness * d.qvel[dof + i]
    if has_dampers(m):
        added = any_added_damping(m)
        for dof in range(m.nv):
            d.work.metric_diag[dof] += h * max(dof_slope(m, d, dof, added), 0.0)


@kernel
def add_drag(m: Model, d: Data, matrix: Array1) -> None:
    """Add the off-diagonal derivatives of drag, -h qDeriv, to a matrix; see `derivatives.implicit_entry`."""
    h = m.opt.timestep
    for dof in range(m.nv):
        if m.dof_simplenum[dof] == 0:
            for adr in range(m.aux.M_rowadr[dof] + 1, m.aux.M_rowadr[dof + 1]):
                matrix[adr] -= h * d.qDeriv[m.aux.M_to_D[adr]]


@kernel
def _add_tendons(m: Model, d: Data) -> None:
    """Add the terms of tendons to the metric."""
    h = m.opt.timestep
    for tendon in range(m.ntendon):
        stiffness = h * tendon_stiffness(m, d, tendon) if has_springs(m) else 0.0
        damping = tendon_damping(m, d, tendon) if has_dampers(m) else 0.0
        weight = h * (stiffness + damping)
        d.work.metric_tendon[tendon] = weight
        if weight > 0.0:
            rows, dofs = m.aux.ten_rowadr, m.aux.ten_colind
            pull = stiffness * d.ten_velocity[tendon]
            d.work.tendon_loose[tendon] = _add_coupling(m, d, tendon, rows, dofs, tendon_moment, weight, pull)
            d.work.metric_nloose += d.work.tendon_loose[tendon]


@kernel
def _add_actuators(m: Model, d: Data) -> None:
    """Add the terms of actuators to the metric."""
    h = m.opt.timestep
    for actuator in range(m.nactuator):
        if actuator_disabled(m, actuator):
            continue
        stiffness, damping = actuator_slopes(m, d, actuator)
        weight = h * (h * stiffness + damping)
        first = m.actuator_outadr[actuator]
        for out in range(first, first + m.actuator_outnum[actuator]):
            d.work.metric_actuator[out] = weight
            if weight > 0.0:
                rows, dofs = m.aux.moment_rowadr, m.aux.moment_colind
                pull = h * stiffness * d.actuator_velocity[out]
                found = _add_coupling(m, d, out, rows, dofs, actuator_moment, weight, pull)
                d.work.actuator_loose[out] = found
                d.work.metric_nloose += found


@kernel
def _exchange(n: int, one: Array1, other: Array1) -> None:
    """Exchange the first `n` elements of two arrays."""
    for i in range(n):
        value = one[i]
        one[i] = other[i]
        other[i] = value


@kernel
def exchange_inertia(m: Model, d: Data) -> None:
    """Exchange the inertia matrix and its factor for the metric and its factor."""
    _exchange(int(m.nM), d.qM, d.work.metric)
    _exchange(int(m.nM), d.qLD, d.qH)
    _exchange(int(m.nv), d.qLDiagInv, d.qHDiagInv)
    for dof in range(m.nv):
        d.qLDiagSqrtInv[dof] = sqrt(d.qLDiagInv[dof])


@stage
def recover_inertia(m: Model, d: Data) -> int:
    """Put the inertia matrix back, and remove rows of the metric, if the last solve was interrupted."""
    if d.work.in_metric != 0:
        exchange_inertia(m, d)
        d.work.in_metric = 0
    d.nefc -= d.work.nloose
    d.work.nloose = 0
    return OK


@stage
def effective_metric(m: Model, d: Data) -> int:
    """Compute the effective metric and factorise it, without terms that do not fit the pattern of qM.

    Reads qM, qDeriv (if there is a medium), the results of `tendon`, `transmission` and `fwd_actuation`; writes
    work.metric (nM,), work.metric_diag, work.metric_shift (nv,), the weights of tendons and actuators, and the factor
    in qH and qHDiagInv.
    """
    for adr in range(m.nM):
        d.work.metric[adr] = d.qM[adr]
    for dof in range(m.nv):
        d.work.metric_diag[dof] = 0.0
        d.work.metric_shift[dof] = 0.0
        d.work.metric_tied[dof] = 0
    for tendon in range(m.ntendon):
        d.work.metric_tendon[tendon] = 0.0
        d.work.tendon_loose[tendon] = 0
    for out in range(m.nout):
        d.work.metric_actuator[out] = 0.0
        d.work.actuator_loose[out] = 0
    d.work.metric_nloose = 0
    _add_joints(m, d)
    if has_fluid(m):
        add_drag(m, d, d.work.metric)
        for dof in range(m.nv):
            d.work.metric_diag[dof] -= m.opt.timestep * d.qDeriv[m.aux.M_to_D[m.aux.M_rowadr[dof]]]
    for dof in range(m.nv):
        d.work.metric[m.aux.M_rowadr[dof]] += d.work.metric_diag[dof]
    if m.opt.solver != SOL_PGS:
        _add_tendons(m, d)
        if m.nactuator > 0 and not m.opt.disableflags & DSBL_ACTUATION:
            _add_actuators(m, d)
    factor_metric(m, d)
    return OK


@kernel
def factor_metric(m: Model, d: Data) -> None:
    """Write the factor of `work.metric` to qH and qHDiagInv."""
    for adr in range(m.nM):
        d.qH[adr] = d.work.metric[adr]
    factor_ld(m, d, d.qH, d.qHDiagInv)


@stage
def discrete_acceleration(m: Model, d: Data) -> int:
    """Sum all forces except constraint forces, and compute the acceleration that they cause in the effective metric.

    Writes qfrc_smooth and qacc_smooth (nv,). If there are terms that do not fit the pattern of qM, the stage
    `cardan.solver.effective.enter_metric` completes qacc_smooth.
    """
    sum_smooth_forces(m, d)
    for dof in range(m.nv):
        d.qacc_smooth[dof] = d.qfrc_smooth[dof] - d.work.metric_shift[dof]
    solve_ld(m, d.qH, d.qHDiagInv, d.qacc_smooth, 0)
    return OK
