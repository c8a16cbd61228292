"""Gyroscopic forces of free bodies under the integrator discrete.

Standalone free bodies (`cardan.dynamics.free_bodies`) without constraints are solved again with the derivatives of
their bias forces, which the effective metric leaves out. qacc is then the change of velocity of the implicit step. Free
bodies with constraints, or with tendons or actuators in the metric, keep the solution of the solver.

Source: manual of MuJoCo 4.0, chapter computation, gyroscopic derivatives for free bodies.
"""

from __future__ import annotations

from cardan.dynamics.derivatives import factor_lu, solve_lu
from cardan.dynamics.free_bodies import is_standalone, subtract_bias
from cardan.dynamics.jacobian import is_sparse
from cardan.jit import OK, kernel, stage
from cardan.model.kernel_views import Data, Model


@kernel
def turns_freely(m: Model, d: Data, first: int) -> bool:
    """Return whether the dof ``first`` is the first of a standalone free body that turns freely.

    No constraint acts on it, and no tendon or actuator changes its metric.
    """
    if not is_standalone(m, first):
        return False
    for dof in range(first, first + 6):
        if d.work.metric_tied[dof] != 0:
            return False
        if is_sparse(m):
            if d.nefc > 0 and d.efc_JT_rownnz[dof] > 0:
                return False
        else:
            for r in range(d.nefc):
                if d.efc_J[r * m.nv + dof] != 0.0:
                    return False
    return True


@stage
def turn_free_bodies(m: Model, d: Data) -> int:
    """Solve for qacc of each standalone free body without constraints, with gyroscopic derivatives.

    Reads work.metric, work.metric_shift, qfrc_smooth; writes qacc, and blocks of qDeriv and qLU.
    """
    h = m.opt.timestep
    for joint in range(m.njnt):
        first = m.jnt_dofadr[joint]
        if turns_freely(m, d, first):
            subtract_bias(m, d, first)
            for i in range(first, first + 6):
                start = m.aux.M_rowadr[i]
                for adr in range(start, m.aux.M_rowadr[i + 1]):
                    lower, upper = m.aux.M_to_D[adr], m.aux.M_to_DT[adr]
                    d.qLU[lower] = d.work.metric[adr] - h * d.qDeriv[lower]
                    if adr > start:
                        d.qLU[upper] = d.work.metric[adr] - h * d.qDeriv[upper]
                d.qacc[i] = d.qfrc_smooth[i] - d.work.metric_shift[i]
            factor_lu(m, d, d.qLU, first, first + 6)
            solve_lu(m, d.qLU, d.qacc, first, first + 6)
    return OK
