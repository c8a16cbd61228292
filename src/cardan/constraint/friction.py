"""Friction loss of dofs and tendons (spec: computation, constraint model, friction loss)."""

from __future__ import annotations

from typing import Any

from cardan.constraint.rows import get_solimp, open_rows, put_entry, set_rows
from cardan.constraint.tendon_rows import combine_tendons, put_tendon_entries
from cardan.enums.data import mjtConstraint
from cardan.jit import OK, kernel
from cardan.maths.vector import get2

FRICTION_DOF = int(mjtConstraint.mjCNSTR_FRICTION_DOF)
FRICTION_TENDON = int(mjtConstraint.mjCNSTR_FRICTION_TENDON)


@kernel
def add_frictions(m: Any, d: Any) -> int:
    """Add one row for each dof, then each tendon, with positive frictionloss; returns OK or a request for room."""
    status = OK
    for dof in range(m.nv):
        if m.dof_frictionloss[dof] > 0.0:
            status = add_dof_friction(m, d, dof)
            if status != OK:
                return status
    for tendon in range(m.ntendon):
        if m.tendon_frictionloss[tendon] > 0.0:
            status = add_tendon_friction(m, d, tendon)
            if status != OK:
                return status
    return OK


@kernel
def add_dof_friction(m: Any, d: Any, dof: int) -> int:
    """Dry friction of one dof: its velocity is the residual velocity, there is no residual position."""
    status = open_rows(m, d, 1, 1)
    if status != OK:
        return status
    row = int(d.nefc) - 1
    put_entry(m, d, row, 0, dof, 1.0)
    solref, solimp = get2(m.dof_solref, dof), get_solimp(m.dof_solimp, dof)
    set_rows(m, d, row, 1, FRICTION_DOF, dof, 0.0, m.dof_invweight0[dof], solref, solimp)
    d.efc_frictionloss[row] = m.dof_frictionloss[dof]
    d.efc_KBIP[row, 0] = 0.0
    return OK


@kernel
def add_tendon_friction(m: Any, d: Any, tendon: int) -> int:
    """Dry friction of one tendon."""
    n = combine_tendons(m, d, tendon, 1.0, -1, 0.0)
    status = open_rows(m, d, 1, n)
    if status != OK:
        return status
    row = int(d.nefc) - 1
    put_tendon_entries(m, d, row, n, tendon, -1)
    solref, solimp = get2(m.tendon_solref_fri, tendon), get_solimp(m.tendon_solimp_fri, tendon)
    set_rows(m, d, row, 1, FRICTION_TENDON, tendon, 0.0, m.tendon_invweight0[tendon], solref, solimp)
    d.efc_frictionloss[row] = m.tendon_frictionloss[tendon]
    d.efc_KBIP[row, 0] = 0.0
    return OK
