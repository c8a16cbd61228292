"""Stage that computes constraint velocities and the reference acceleration (spec: computation, parameters)."""

from __future__ import annotations

from cardan.constraint.jacobian import mul_jac_vec
from cardan.jit import OK, stage
from cardan.model.kernel_views import Data, Model


@stage
def reference_constraint(m: Model, d: Data) -> int:
    """Compute efc_vel = J qvel and efc_aref = -b efc_vel - k d(r) r, where r = efc_pos - efc_margin, for all rows."""
    mul_jac_vec(m, d, d.qvel, d.efc_vel)
    for i in range(d.nefc):
        pull = d.efc_KBIP[i, 0] * d.efc_KBIP[i, 2] * (d.efc_pos[i] - d.efc_margin[i])
        d.efc_aref[i] = -d.efc_KBIP[i, 1] * d.efc_vel[i] - pull
    return OK
