"""Derivatives of the acceleration that an integrator steps with, by the implicit function theorem.

Euler with implicit damping and implicitfast step with the acceleration b that solves ::

    (M - h D) b = qfrc_smooth + qfrc_constraint = M a        a = qacc

(spec: computation, numerical integration), with D the negative damping, or qDeriv. So what is left over, ::

    r = M (b - a) - h D b,

is 0, and (M - h D) db = - dr with dr at constant b. No tangents of a factor are needed, nor, since M a stands in for
the forces, those of the constraint forces.

`factor_step` runs with the values. `euler_imbalance` and `implicitfast_imbalance` compute r at ``work.step_constant``,
a copy of b without tangents; its value is made exactly 0; the tangents of `take_step` are those of the next state.
"""

from __future__ import annotations

from cardan.dynamics.derivatives import implicit_entry, implicit_inertia
from cardan.dynamics.inertia import factor_ld, mul_m, solve_ld
from cardan.enums.codes import INT_IMPLICITFAST
from cardan.jit import OK, stage
from cardan.model.kernel_views import Data, Model
from cardan.step.advance import advance
from cardan.step.euler import damped_inertia, has_damping


@stage
def factor_step(m: Model, d: Data) -> int:
    """QH := M - h D and its factor, and the acceleration that the integrator steps with: ``work.step_constant``.

    Euler without damping has its factor as well: of damping 0 there are derivatives.
    """
    b = d.work.step_constant
    fast = m.opt.integrator == INT_IMPLICITFAST
    if fast:
        implicit_inertia(m, d)
    else:
        damped_inertia(m, d)
    factor_ld(m, d, d.qH, d.qHDiagInv)
    if fast or has_damping(m):
        for i in range(m.nv):
            b[i] = d.qfrc_smooth[i] + d.qfrc_constraint[i]
        solve_ld(m, d.qH, d.qHDiagInv, b, 0)
    else:
        for i in range(m.nv):
            b[i] = d.qacc[i]
    return OK


@stage
def euler_imbalance(m: Model, d: Data) -> int:
    """``work.step_imbalance`` of Euler: M (b - a) + h damping b; b - a without damping."""
    left = d.work.step_imbalance
    d.work.step_damped = 0
    if has_damping(m):
        d.work.step_damped = 1
        for i in range(m.nv):
            d.work.qacc_step[i] = d.work.step_constant[i] - d.qacc[i]
        mul_m(m, d, left, d.work.qacc_step)
        for i in range(m.nv):
            left[i] += m.opt.timestep * m.dof_damping[i] * d.work.step_constant[i]
    else:
        for i in range(m.nv):
            left[i] = d.work.step_constant[i] - d.qacc[i]
    return OK


@stage
def implicitfast_imbalance(m: Model, d: Data) -> int:
    """``work.step_imbalance`` of implicitfast: (M - h qDeriv) b - M a, with the entries of `implicit_inertia`."""
    left, b = d.work.step_imbalance, d.work.step_constant
    d.work.step_damped = 1
    mul_m(m, d, left, d.qacc)
    for i in range(m.nv):
        left[i] = -left[i]
    for dof in range(m.nv):
        for adr in range(m.aux.M_rowadr[dof], m.aux.M_rowadr[dof + 1]):
            entry = implicit_entry(m, d, dof, adr)
            column = m.aux.M_colind[adr]
            left[dof] += entry * b[column]
            if column != dof:
                left[column] += entry * b[dof]
    return OK


@stage
def clear_step_imbalance(m: Model, d: Data) -> int:
    """``work.step_imbalance`` := 0, its value up to rounding errors: only its tangents count."""
    for i in range(m.nv):
        d.work.step_imbalance[i] = 0.0
    return OK


@stage
def take_step(m: Model, d: Data) -> int:
    """Advance with the acceleration ``work.step_constant`` - (M - h D)^-1 ``work.step_imbalance``."""
    change = d.work.step_imbalance
    if d.work.step_damped != 0:
        solve_ld(m, d.qH, d.qHDiagInv, change, 0)
    for i in range(m.nv):
        d.work.qacc_step[i] = d.work.step_constant[i] - change[i]
    advance(m, d, d.work.qacc_step, d.qvel, d.act_dot)
    return OK
