"""Integrators: advance of the state by one time step (spec: computation, numerical integration).

Single-step integrators have the form ``v(t + h) = v + h (M - h D)^-1 (M a)``, then ``q(t + h) = q + h v(t + h)``, with
``M a = qfrc_smooth + qfrc_constraint``. D approximates the derivative of the forces with respect to velocity. It
contains zero or joint damping (Euler); dampers, actuators and fluid (implicitfast); and Coriolis forces (implicit).

The Runge-Kutta method is in `cardan.step.runge_kutta`.
"""

from __future__ import annotations

from cardan.dynamics.actuation import actuator_disabled, advance_activation
from cardan.dynamics.awake import DOF, JOINT, actuator_sleeps, span_range
from cardan.dynamics.dcmotor import advance_motor
from cardan.dynamics.derivatives import factor_lu, implicit_inertia, implicit_rows, solve_lu
from cardan.dynamics.free_bodies import factor_blocks, solve_blocks
from cardan.dynamics.inertia import factor_ld, factor_range, solve_ld, solve_range
from cardan.dynamics.kinematics import integrate_joints, integrate_pos
from cardan.dynamics.powers import has_powers
from cardan.dynamics.reflected import any_added_damping, damps_a_joint, dof_slope
from cardan.enums.codes import DSBL_ACTUATION, DSBL_DAMPER, DSBL_EULERDAMP, DYN_DCMOTOR
from cardan.jit import OK, kernel, stage
from cardan.maths.types import ConstArray1
from cardan.model.kernel_views import Data, Model


@kernel
def _advance_activations(m: Model, d: Data, rates: ConstArray1, some_sleep: bool) -> None:
    """Advance the activations of all enabled actuators by one time step; if `some_sleep`, not of those that sleep."""
    for actuator in range(m.nactuator):
        if some_sleep and actuator_sleeps(m, d, actuator):
            continue
        first = m.actuator_actadr[actuator]
        if first >= 0 and not actuator_disabled(m, actuator):
            if m.actuator_dyntype[actuator] == DYN_DCMOTOR:
                advance_motor(m, d, actuator, rates)
                continue
            for act in range(first, first + m.actuator_actnum[actuator]):
                d.act[act] = advance_activation(m, actuator, d.act[act], rates[act])


@kernel
def advance(m: Model, d: Data, acceleration: ConstArray1, velocity: ConstArray1, rates: ConstArray1) -> None:
    """Advance activations, velocities, positions and time, in this order, by one time step.

    Args:
        m: model.
        d: data.
        acceleration: rate of change of qvel (nv,).
        velocity: rate of change of the configuration (nv,). If this is `d.qvel`, the new velocity is used, because
            `d.qvel` is updated first (semi-implicit update).
        rates: rate of change of act (na,).
    """
    h = m.opt.timestep
    if m.na > 0 and not m.opt.disableflags & DSBL_ACTUATION:
        _advance_activations(m, d, rates, False)
    for i in range(m.nv):
        d.qvel[i] += h * acceleration[i]
    integrate_pos(m, d.qpos, velocity, h)
    d.time = d.time + h


@kernel
def advance_awake(m: Model, d: Data, acceleration: ConstArray1) -> None:
    """Do as `advance` with ``d.qvel`` and ``d.act_dot``, for trees that are awake and their actuators."""
    h = m.opt.timestep
    if m.na > 0 and not m.opt.disableflags & DSBL_ACTUATION:
        _advance_activations(m, d, d.act_dot, True)
    for span in range(d.work.nspan):
        first, stop = span_range(d, span, DOF)
        for i in range(first, stop):
            d.qvel[i] += h * acceleration[i]
        first, stop = span_range(d, span, JOINT)
        integrate_joints(m, d.qpos, d.qvel, h, first, stop)
    d.time = d.time + h


NOT_IMPLICIT = DSBL_EULERDAMP | DSBL_DAMPER
"""Flags that make the Euler integrator ignore joint damping; `passive`, which disables the force, is not included."""


@kernel
def has_damping(m: Model) -> bool:
    """Return whether joints have damping, their own or of actuators, that Euler's method integrates implicitly."""
    if m.opt.disableflags & NOT_IMPLICIT:
        return False
    return any_damped(m, 0, m.nv) or _actuators_damp(m)


@kernel
def any_damped(m: Model, first: int, stop: int) -> bool:
    """Return whether any of the dofs `first` to `stop` (exclusive) has damping of its joint."""
    for i in range(first, stop):
        if m.dof_damping[i] > 0.0 or has_powers(m.dof_dampingpoly, i):
            return True
    return False


@kernel
def _has_damping_awake(m: Model, d: Data) -> bool:
    """Do as `has_damping`, for the joints of trees that are awake."""
    if m.opt.disableflags & NOT_IMPLICIT:
        return False
    for span in range(d.work.nspan):
        first, stop = span_range(d, span, DOF)
        if any_damped(m, first, stop):
            return True
    return _actuators_damp(m)


@kernel
def _actuators_damp(m: Model) -> bool:
    """Return whether actuators add damping to joints."""
    for actuator in range(m.nactuator):
        if damps_a_joint(m, actuator):
            return True
    return False


@kernel
def damped_inertia(m: Model, d: Data) -> None:
    """Set qH to M + h diag(damping), with the slopes of nonlinear damping."""
    _damp_rows(m, d, 0, m.nv, any_added_damping(m))


@kernel
def _damp_rows(m: Model, d: Data, first: int, stop: int, added: bool) -> None:
    """Do as `damped_inertia`, for the dofs `first` to `stop` (exclusive)."""
    for adr in range(m.aux.M_rowadr[first], m.aux.M_rowadr[stop]):
        d.qH[adr] = d.qM[adr]
    for i in range(first, stop):
        d.qH[m.aux.M_rowadr[i]] += m.opt.timestep * dof_slope(m, d, i, added)


@kernel
def _solve_step(m: Model, d: Data) -> None:
    """Set ``work.qacc_step`` to the acceleration qH^-1 (qfrc_smooth + qfrc_constraint)."""
    factor_ld(m, d, d.qH, d.qHDiagInv)
    for i in range(m.nv):
        d.work.qacc_step[i] = d.qfrc_smooth[i] + d.qfrc_constraint[i]
    solve_ld(m, d.qH, d.qHDiagInv, d.work.qacc_step, 0)


@kernel
def _solve_step_awake(m: Model, d: Data) -> None:
    """Do as `_solve_step`, for trees that are awake."""
    for span in range(d.work.nspan):
        first, stop = span_range(d, span, DOF)
        factor_range(m, d, d.qH, d.qHDiagInv, first, stop)
        for i in range(first, stop):
            d.work.qacc_step[i] = d.qfrc_smooth[i] + d.qfrc_constraint[i]
        solve_range(m, d.qH, d.qHDiagInv, d.work.qacc_step, 0, first, stop)


@stage
def euler(m: Model, d: Data) -> int:
    """Advance by semi-implicit Euler, with implicit joint damping unless it is disabled (spec: mj_Euler)."""
    if has_damping(m):
        damped_inertia(m, d)
        _solve_step(m, d)
        advance(m, d, d.work.qacc_step, d.qvel, d.act_dot)
    else:
        advance(m, d, d.qacc, d.qvel, d.act_dot)
    return OK


@stage
def discrete(m: Model, d: Data) -> int:
    """Advance by the integrator discrete: forward dynamics has computed the change of velocity already, h qacc."""
    advance(m, d, d.qacc, d.qvel, d.act_dot)
    return OK


@stage
def euler_awake(m: Model, d: Data) -> int:
    """Do as `euler`, for trees that are awake."""
    if _has_damping_awake(m, d):
        added = any_added_damping(m)
        for span in range(d.work.nspan):
            first, stop = span_range(d, span, DOF)
            _damp_rows(m, d, first, stop, added)
        _solve_step_awake(m, d)
        advance_awake(m, d, d.work.qacc_step)
    else:
        advance_awake(m, d, d.qacc)
    return OK


@stage
def implicitfast(m: Model, d: Data) -> int:
    """Advance implicitly in velocity, with the derivatives in qDeriv (spec: mj_implicit, integrator implicitfast)."""
    implicit_inertia(m, d)
    _solve_step(m, d)
    advance(m, d, d.work.qacc_step, d.qvel, d.act_dot)
    return OK


@stage
def implicitfast_awake(m: Model, d: Data) -> int:
    """Do as `implicitfast`, for trees that are awake."""
    for span in range(d.work.nspan):
        first, stop = span_range(d, span, DOF)
        implicit_rows(m, d, first, stop)
    _solve_step_awake(m, d)
    advance_awake(m, d, d.work.qacc_step)
    return OK


@stage
def implicitfast_with_blocks(m: Model, d: Data) -> int:
    """Advance as `implicitfast`, but solve the six dofs of each standalone free body with all derivatives in qDeriv."""
    _solve_with_blocks(m, d)
    advance(m, d, d.work.qacc_step, d.qvel, d.act_dot)
    return OK


@stage
def implicitfast_with_blocks_awake(m: Model, d: Data) -> int:
    """Do as `implicitfast_with_blocks`, for trees that are awake."""
    _solve_with_blocks(m, d)
    advance_awake(m, d, d.work.qacc_step)
    return OK


@kernel
def _solve_with_blocks(m: Model, d: Data) -> None:
    """Set ``work.qacc_step`` to the acceleration of `implicitfast_with_blocks`."""
    implicit_inertia(m, d)
    factor_blocks(m, d)
    _solve_step(m, d)
    solve_blocks(m, d, d.work.qacc_step)


@kernel
def _implicit_matrix(m: Model, d: Data) -> None:
    """Set qLU to M - h qDeriv."""
    for k in range(m.nD):
        d.qLU[k] = -m.opt.timestep * d.qDeriv[k]
    for i in range(m.nv):
        start = m.aux.M_rowadr[i]
        d.qLU[m.aux.M_to_D[start]] += d.qM[start]
        for adr in range(start + 1, m.aux.M_rowadr[i + 1]):
            d.qLU[m.aux.M_to_D[adr]] += d.qM[adr]
            d.qLU[m.aux.M_to_DT[adr]] += d.qM[adr]


@stage
def implicit(m: Model, d: Data) -> int:
    """Advance with the acceleration (M - h qDeriv)^-1 (qfrc_smooth + qfrc_constraint); writes qLU (nD,).

    Needs qDeriv with all derivatives (spec: mj_implicit with the integrator implicit).
    """
    _solve_lu_step(m, d)
    advance(m, d, d.work.qacc_step, d.qvel, d.act_dot)
    return OK


@stage
def implicit_awake(m: Model, d: Data) -> int:
    """Do as `implicit`, for trees that are awake."""
    _solve_lu_step(m, d)
    advance_awake(m, d, d.work.qacc_step)
    return OK


@kernel
def _solve_lu_step(m: Model, d: Data) -> None:
    """Set ``work.qacc_step`` to the acceleration (M - h qDeriv)^-1 (qfrc_smooth + qfrc_constraint)."""
    _implicit_matrix(m, d)
    factor_lu(m, d, d.qLU, 0, m.nv)
    for i in range(m.nv):
        d.work.qacc_step[i] = d.qfrc_smooth[i] + d.qfrc_constraint[i]
    solve_lu(m, d.qLU, d.work.qacc_step, 0, m.nv)
