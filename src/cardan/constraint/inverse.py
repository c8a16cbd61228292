"""Analytic inverse of the constraint model: forces from acceleration (spec: computation, reduced primal problem)."""

from __future__ import annotations

from cardan.constraint.jacobian import mul_jac_t_vec, mul_jac_vec
from cardan.constraint.update import constraint_update
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Array1
from cardan.model.kernel_views import Data, Model


@kernel
def forces_at(m: Model, d: Data, acceleration: Array1) -> None:
    """Compute efc_force, efc_state and qfrc_constraint = J' efc_force at an acceleration (nv,), from efc_aref."""
    residual = d.work.efc_residual
    mul_jac_vec(m, d, acceleration, residual)
    for i in range(d.nefc):
        residual[i] = residual[i] - d.efc_aref[i]
    constraint_update(d, residual, 0)
    mul_jac_t_vec(m, d, d.efc_force, d.qfrc_constraint)


@stage
def inv_constraint(m: Model, d: Data) -> int:
    """Compute efc_force, efc_state and qfrc_constraint = J' efc_force, from qacc and efc_aref."""
    forces_at(m, d, d.qacc)
    return OK
