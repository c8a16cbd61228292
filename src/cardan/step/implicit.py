"""The implicit integrator: implicit in velocity, with Coriolis forces (spec: computation, numerical integration)."""

from __future__ import annotations

from cardan.dynamics.derivatives import factor_lu, solve_lu
from cardan.jit import OK, kernel, stage
from cardan.model.kernel_views import Data, Model
from cardan.step.advance import advance


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
