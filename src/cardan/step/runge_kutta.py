"""Fourth-order Runge-Kutta method.

Sources: spec: computation, numerical integration; H. Munthe-Kaas, High order Runge-Kutta methods on manifolds (1999).

The method has the classical coefficients. With F(x) = (velocity, acceleration, activation derivative) of a state x:

    x1 = x0,  x2 = x0 + h/2 F(x1),  x3 = x0 + h/2 F(x2),  x4 = x0 + h F(x3),
    x(t + h) = x0 + h/6 (F(x1) + 2 F(x2) + 2 F(x3) + F(x4)).

Positions are combined in the tangent space at x0: a sum of velocities is integrated from qpos(t). MuJoCo 3.1 sums the
angular velocities of ball and free joints without transformation. MuJoCo 4.0 first transforms each to the rate of
change of the rotation vector from x0, which keeps the fourth order for rotations.

In the pipeline, the forward dynamics run before each stage. `rk_begin` saves x0 and moves to x2. `rk_second` moves to
x3, `rk_third` to x4, and `rk_end` to x(t + h). At x(t + h) the activations advance as in the other
integrators (clamped, exact filter) with the combined derivative. The bristles of DC motors advance as
in Euler's method.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from cardan.dynamics.kinematics import integrate_pos
from cardan.enums.codes import JNT_BALL, JNT_FREE
from cardan.jit import OK, kernel, stage
from cardan.maths.quaternion import log_jacobian
from cardan.maths.vector import mul_mat_vec3
from cardan.model.kernel_views import Data, Model
from cardan.step.integrators import advance

Stage = Callable[[Model, Data], int]


@kernel
def _save_start(m: Model, d: Data) -> None:
    """Save the state x0 and clear the weighted sums."""
    d.work.rk_time = d.time
    for i in range(m.nq):
        d.work.rk_qpos[i] = d.qpos[i]
    for i in range(m.nv):
        d.work.rk_qvel[i] = d.qvel[i]
        d.work.rk_velocity[i] = 0.0
        d.work.rk_acceleration[i] = 0.0
    for i in range(m.na):
        d.work.rk_act[i] = d.act[i]
        d.work.rk_act_change[i] = d.work.act_change[i]
        d.work.rk_act_dot[i] = 0.0


@kernel
def _rotation_rate(d: Data, dof: int, dt: float) -> None:
    """Transform the angular velocity at ``dof`` to the rate of change of the rotation vector ``dt * rk_rate``.

    ``rk_rate`` is the rate of the previous Runge-Kutta stage, and is replaced by the result.
    """
    rate, velocity = d.work.rk_rate, d.qvel
    turned = (dt * rate[dof], dt * rate[dof + 1], dt * rate[dof + 2])
    now = mul_mat_vec3(log_jacobian(turned), (velocity[dof], velocity[dof + 1], velocity[dof + 2]))
    for k in range(3):
        rate[dof + k] = now[k]


@kernel
def _tangent_rates(m: Model, d: Data, dt: float) -> None:
    """Set ``rk_rate`` to the velocity of the current state in the tangent space at x0.

    Args:
        m: model.
        d: data, at the state ``x0 + dt rk_rate``.
        dt: time since x0, s.
    """
    for joint in range(m.njnt):
        dof, kind = m.jnt_dofadr[joint], m.jnt_type[joint]
        if kind == JNT_FREE:
            for k in range(dof, dof + 3):
                d.work.rk_rate[k] = d.qvel[k]
            _rotation_rate(d, dof + 3, dt)
        elif kind == JNT_BALL:
            _rotation_rate(d, dof, dt)
        else:
            d.work.rk_rate[dof] = d.qvel[dof]


@kernel
def _add_derivative(m: Model, d: Data, weight: float, fraction: float, on_group: bool) -> None:
    """Add the derivative of the current state, at time ``fraction h`` after x0, to the weighted sums."""
    if on_group:
        _tangent_rates(m, d, fraction * m.opt.timestep)
    rates = d.work.rk_rate if on_group else d.qvel
    for i in range(m.nv):
        d.work.rk_velocity[i] += weight * rates[i]
        d.work.rk_acceleration[i] += weight * d.qacc[i]
    for i in range(m.na):
        d.work.rk_act_dot[i] += weight * d.act_dot[i]


@kernel
def _go_to(m: Model, d: Data, fraction: float, on_group: bool) -> None:
    """Move to the state x0 + fraction h F(current state); the time advances accordingly."""
    h = fraction * m.opt.timestep
    for i in range(m.nq):
        d.qpos[i] = d.work.rk_qpos[i]
    integrate_pos(m, d.qpos, d.work.rk_rate if on_group else d.qvel, h)
    for i in range(m.nv):
        d.qvel[i] = d.work.rk_qvel[i] + h * d.qacc[i]
    for i in range(m.na):
        d.act[i] = d.work.rk_act[i] + h * d.act_dot[i]
    d.time = d.work.rk_time + h


@kernel
def _restore_start(m: Model, d: Data) -> None:
    """Return to the state x0."""
    for i in range(m.nq):
        d.qpos[i] = d.work.rk_qpos[i]
    for i in range(m.nv):
        d.qvel[i] = d.work.rk_qvel[i]
    for i in range(m.na):
        d.act[i] = d.work.rk_act[i]
        d.work.act_change[i] = d.work.rk_act_change[i]
    d.time = d.work.rk_time


@cache
def runge_kutta(on_group: bool) -> tuple[Stage, Stage, Stage, Stage]:
    """Return the stages ``rk_begin``, ``rk_second``, ``rk_third`` and ``rk_end``.

    Args:
        on_group: whether angular velocities are combined on the rotation group, and qacc becomes the combined
            acceleration, as in MuJoCo 4.0. In MuJoCo 3.1, qacc remains the acceleration at x4.
    """

    def rk_begin(m: Model, d: Data) -> int:
        _save_start(m, d)
        _add_derivative(m, d, 1.0 / 6.0, 0.0, on_group)
        _go_to(m, d, 0.5, on_group)
        return OK

    def rk_second(m: Model, d: Data) -> int:
        _add_derivative(m, d, 1.0 / 3.0, 0.5, on_group)
        _go_to(m, d, 0.5, on_group)
        return OK

    def rk_third(m: Model, d: Data) -> int:
        _add_derivative(m, d, 1.0 / 3.0, 0.5, on_group)
        _go_to(m, d, 1.0, on_group)
        return OK

    def rk_end(m: Model, d: Data) -> int:
        _add_derivative(m, d, 1.0 / 6.0, 1.0, on_group)
        _restore_start(m, d)
        if on_group:
            for i in range(m.nv):
                d.qacc[i] = d.work.rk_acceleration[i]
        advance(m, d, d.work.rk_acceleration, d.work.rk_velocity, d.work.rk_act_dot)
        return OK

    stages = rk_begin, rk_second, rk_third, rk_end
    for function in stages:
        function.__qualname__ = function.__name__ + "_on_group" * on_group
    return stage(rk_begin), stage(rk_second), stage(rk_third), stage(rk_end)
