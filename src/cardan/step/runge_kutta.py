"""Fourth-order Runge-Kutta integration (spec: computation, numerical integration).

The classical tableau: with F(x) = (velocity, acceleration, activation derivative) of a state x,

    x1 = x0,  x2 = x0 + h/2 F(x1),  x3 = x0 + h/2 F(x2),  x4 = x0 + h F(x3),
    x(t + h) = x0 + h/6 (F(x1) + 2 F(x2) + 2 F(x3) + F(x4)).

Positions are combined in the tangent space at x0: a sum of velocities is integrated from qpos(t). In the pipeline's
list, the stages of this module are between repetitions of the forward dynamics. `rk_begin` saves x0 and moves to x2,
`rk_second` to x3, `rk_third` to x4, `rk_end` to x(t + h). At x(t + h) the activations advance as in the other
integrators (clamped, exact filter) with the combined derivative.
"""

from __future__ import annotations

from cardan.dynamics.kinematics import integrate_pos
from cardan.jit import OK, kernel, stage
from cardan.model.kernel_views import Data, Model
from cardan.step.advance import advance


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
