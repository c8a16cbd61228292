"""Integrators: advance of the state by one time step (spec: computation, numerical integration).

Single-step integrators have the form ``v(t + h) = v + h (M - h D)^-1 (M a)``, then ``q(t + h) = q + h v(t + h)``, with
``M a = qfrc_smooth + qfrc_constraint``. D approximates the derivative of the forces by velocity: zero or joint damping
(Euler); dampers, actuators and fluid (implicitfast); Coriolis forces as well (implicit).

Fourth-order Runge-Kutta has the classical tableau: with F(x) = (velocity, acceleration, activation derivative) of a
state x,

    x1 = x0,  x2 = x0 + h/2 F(x1),  x3 = x0 + h/2 F(x2),  x4 = x0 + h F(x3),
    x(t + h) = x0 + h/6 (F(x1) + 2 F(x2) + 2 F(x3) + F(x4)).

Positions are combined in the tangent space at x0: a sum of velocities is integrated from qpos(t). In the pipeline's
list, its stages are between repetitions of the forward dynamics. `rk_begin` saves x0 and moves to x2, `rk_second` to
x3, `rk_third` to x4, `rk_end` to x(t + h). At x(t + h) the activations advance as in the other integrators (clamped,
exact filter) with the combined derivative.
"""

from __future__ import annotations

from cardan.dynamics.actuation import actuator_disabled, advance_activation
from cardan.dynamics.derivatives import factor_lu, implicit_inertia, solve_lu
from cardan.dynamics.inertia import factor_ld, solve_ld
from cardan.dynamics.kinematics import integrate_pos
from cardan.enums.codes import DSBL_ACTUATION, DSBL_EULERDAMP
from cardan.jit import OK, kernel, stage
from cardan.maths.types import ConstArray1
from cardan.model.kernel_views import Data, Model


@kernel
def _advance_activations(m: Model, d: Data, rates: ConstArray1) -> None:
    """Advance the activations of all enabled actuators by one time step."""
    for actuator in range(m.nu):
        first = m.actuator_actadr[actuator]
        if first >= 0 and not actuator_disabled(m, actuator):
            for act in range(first, first + m.actuator_actnum[actuator]):
                d.act[act] = advance_activation(m, actuator, d.act[act], rates[act])


@kernel
def advance(m: Model, d: Data, acceleration: ConstArray1, velocity: ConstArray1, rates: ConstArray1) -> None:
    """Advance activations, velocities, positions and time, in this order, by one time step.

    Args:
        m: model.
        d: data.
        acceleration: rate of change of qvel (nv,).
        velocity: rate of change of the configuration (nv,). If it is `d.qvel` itself, the new velocity is used: the
            semi-implicit update.
        rates: rate of change of act (na,).
    """
    h = m.opt.timestep
    if m.na > 0 and not m.opt.disableflags & DSBL_ACTUATION:
        _advance_activations(m, d, rates)
    for i in range(m.nv):
        d.qvel[i] += h * acceleration[i]
    integrate_pos(m, d.qpos, velocity, h)
    d.time = d.time + h


@kernel
def has_damping(m: Model) -> bool:
    """Whether the Euler integrator integrates joint damping implicitly."""
    if m.opt.disableflags & DSBL_EULERDAMP:
        return False
    for i in range(m.nv):
        if m.dof_damping[i] > 0.0:
            return True
    return False


@kernel
def damped_inertia(m: Model, d: Data) -> None:
    """Set qH to M + h diag(damping)."""
    for adr in range(m.nM):
        d.qH[adr] = d.qM[adr]
    for i in range(m.nv):
        d.qH[m.aux.M_rowadr[i]] += m.opt.timestep * m.dof_damping[i]


@kernel
def _implicit_step(m: Model, d: Data) -> None:
    """Advance with the acceleration qH^-1 (qfrc_smooth + qfrc_constraint)."""
    factor_ld(m, d, d.qH, d.qHDiagInv)
    for i in range(m.nv):
        d.work.qacc_step[i] = d.qfrc_smooth[i] + d.qfrc_constraint[i]
    solve_ld(m, d.qH, d.qHDiagInv, d.work.qacc_step, 0)
    advance(m, d, d.work.qacc_step, d.qvel, d.act_dot)


@stage
def euler(m: Model, d: Data) -> int:
    """Step by semi-implicit Euler, with implicit joint damping unless it is disabled (spec: mj_Euler)."""
    if has_damping(m):
        damped_inertia(m, d)
        _implicit_step(m, d)
    else:
        advance(m, d, d.qacc, d.qvel, d.act_dot)
    return OK


@stage
def implicitfast(m: Model, d: Data) -> int:
    """Step implicitly in velocity, with the derivatives in qDeriv (spec: mj_implicit, integrator implicitfast)."""
    implicit_inertia(m, d)
    _implicit_step(m, d)
    return OK


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
    _implicit_matrix(m, d)
    factor_lu(m, d, d.qLU)
    for i in range(m.nv):
        d.work.qacc_step[i] = d.qfrc_smooth[i] + d.qfrc_constraint[i]
    solve_lu(m, d.qLU, d.work.qacc_step)
    advance(m, d, d.work.qacc_step, d.qvel, d.act_dot)
    return OK


@kernel
def _save_start(m: Model, d: Data) -> None:
    d.work.rk_time = d.time
    for i in range(m.nq):
        d.work.rk_qpos[i] = d.qpos[i]
    for i in range(m.nv):
        d.work.rk_qvel[i] = d.qvel[i]
        d.work.rk_velocity[i] = 0.0
        d.work.rk_acceleration[i] = 0.0
    for i in range(m.na):
        d.work.rk_act[i] = d.act[i]
        d.work.rk_act_dot[i] = 0.0


@kernel
def _add_derivative(m: Model, d: Data, weight: float) -> None:
    """Add the derivative of the current state to the weighted sum."""
    for i in range(m.nv):
        d.work.rk_velocity[i] += weight * d.qvel[i]
        d.work.rk_acceleration[i] += weight * d.qacc[i]
    for i in range(m.na):
        d.work.rk_act_dot[i] += weight * d.act_dot[i]


@kernel
def _go_to(m: Model, d: Data, fraction: float) -> None:
    """Move to the state x0 + fraction h F(current state), at its time."""
    h = fraction * m.opt.timestep
    for i in range(m.nq):
        d.qpos[i] = d.work.rk_qpos[i]
    integrate_pos(m, d.qpos, d.qvel, h)
    for i in range(m.nv):
        d.qvel[i] = d.work.rk_qvel[i] + h * d.qacc[i]
    for i in range(m.na):
        d.act[i] = d.work.rk_act[i] + h * d.act_dot[i]
    d.time = d.work.rk_time + h


@stage
def rk_begin(m: Model, d: Data) -> int:
    """Save the state x0 after its forward dynamics, and move to x2."""
    _save_start(m, d)
    _add_derivative(m, d, 1.0 / 6.0)
    _go_to(m, d, 0.5)
    return OK


@stage
def rk_second(m: Model, d: Data) -> int:
    """Move to x3 after the forward dynamics at x2."""
    _add_derivative(m, d, 1.0 / 3.0)
    _go_to(m, d, 0.5)
    return OK


@stage
def rk_third(m: Model, d: Data) -> int:
    """Move to x4 after the forward dynamics at x3."""
    _add_derivative(m, d, 1.0 / 3.0)
    _go_to(m, d, 1.0)
    return OK


@stage
def rk_end(m: Model, d: Data) -> int:
    """Move from x0 to the end of the step with the combined derivative, after the forward dynamics at x4."""
    _add_derivative(m, d, 1.0 / 6.0)
    for i in range(m.nq):
        d.qpos[i] = d.work.rk_qpos[i]
    for i in range(m.nv):
        d.qvel[i] = d.work.rk_qvel[i]
    for i in range(m.na):
        d.act[i] = d.work.rk_act[i]
    d.time = d.work.rk_time
    advance(m, d, d.work.rk_acceleration, d.work.rk_velocity, d.work.rk_act_dot)
    return OK
