"""Single-step integrators (spec: computation, numerical integration).

All have the form ``v(t + h) = v + h (M - h D)^-1 (M a)``, followed by ``q(t + h) = q + h v(t + h)``. D approximates the
derivative of the forces by velocity: zero or joint damping (Euler), dampers, actuators and fluid (implicitfast). ``M a
= qfrc_smooth + qfrc_constraint``. The integrator implicit is in `cardan.step.implicit`.
"""

from __future__ import annotations

from cardan.dynamics.derivatives import implicit_inertia
from cardan.dynamics.inertia import factor_ld, solve_ld
from cardan.enums.codes import DSBL_EULERDAMP
from cardan.jit import OK, kernel, stage
from cardan.model.kernel_views import Data, Model
from cardan.step.advance import advance


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
