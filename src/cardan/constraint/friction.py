"""Stages that add friction loss of dofs and tendons (spec: computation, constraint model, friction loss)."""

from __future__ import annotations

from cardan.constraint.rows import get_solimp, is_enabled, open_rows, put_entry, set_parameters, start_rows
from cardan.constraint.tendon_rows import combine_tendons, put_tendon_entries
from cardan.enums.codes import CNSTR_FRICTION_DOF, CNSTR_FRICTION_TENDON, DSBL_FRICTIONLOSS
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Vec2, Vec5
from cardan.maths.vector import get2
from cardan.model.kernel_views import Data, Model


@stage
def make_friction(m: Model, d: Data) -> int:
    """Add one row for each dof with positive frictionloss: its residual is the velocity, and there is no position."""
    start = start_rows(m, d)
    if not is_enabled(m, d, DSBL_FRICTIONLOSS):
        return OK
    for dof in range(m.nv):
        if m.dof_frictionloss[dof] > 0.0:
            row = open_rows(m, d, 1, 1, CNSTR_FRICTION_DOF, dof)
            if row < 0:
                return -row
            put_entry(m, d, row, 0, dof, 1.0)
            solref, solimp = get2(m.dof_solref, dof), get_solimp(m.dof_solimp, dof)
            set_friction(m, d, row, m.dof_frictionloss[dof], m.dof_invweight0[dof], solref, solimp)
    d.nf = d.nf + d.nefc - start
    return OK


@stage
def make_tendon_friction(m: Model, d: Data) -> int:
    """Add one row for each tendon with positive frictionloss, if a dof moves it."""
    start = start_rows(m, d)
    if not is_enabled(m, d, DSBL_FRICTIONLOSS):
        return OK
    for tendon in range(m.ntendon):
        if m.tendon_frictionloss[tendon] > 0.0:
            n = combine_tendons(m, d, tendon, 1.0, -1, 0.0)
            if n == 0:
                continue
            row = open_rows(m, d, 1, n, CNSTR_FRICTION_TENDON, tendon)
            if row < 0:
                return -row
            put_tendon_entries(m, d, row, n, tendon, -1)
            solref, solimp = get2(m.tendon_solref_fri, tendon), get_solimp(m.tendon_solimp_fri, tendon)
            set_friction(m, d, row, m.tendon_frictionloss[tendon], m.tendon_invweight0[tendon], solref, solimp)
    d.nf = d.nf + d.nefc - start
    return OK


@kernel
def set_friction(m: Model, d: Data, row: int, frictionloss: float, diag: float, solref: Vec2, solimp: Vec5) -> None:
    """Set the parameters of one row of friction loss, which has no stiffness."""
    set_parameters(m, d, row, 1, 0.0, diag, solref, solimp)
    d.efc_frictionloss[row] = frictionloss
    d.efc_KBIP[row, 0] = 0.0
