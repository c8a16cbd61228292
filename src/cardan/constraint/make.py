"""Stage that builds all constraint rows that are active in the present position (spec: computation, constraint model).

Reads the configuration, kinematics, tendons and contacts; writes all efc_ fields that depend on position, the counts ne, nf, nl, nefc
and nnzJ, `tendon_efcadr`, and efc_address, mu and exclude of the contacts. Rows come in the spec's order: equality, friction loss, limit,
contact; within each, in the order of the model's elements.
"""

from __future__ import annotations

from typing import Any

from cardan.constraint.contact import add_contacts
from cardan.constraint.equality import add_equalities
from cardan.constraint.friction import add_frictions
from cardan.constraint.limit import add_limits
from cardan.constraint.rows import is_sparse
from cardan.constraint.transpose import find_supernodes, transpose_jacobian
from cardan.enums.options import mjtDisableBit
from cardan.jit import OK, kernel, stage

CONSTRAINT_OFF = int(mjtDisableBit.mjDSBL_CONSTRAINT)
EQUALITY_OFF = int(mjtDisableBit.mjDSBL_EQUALITY)
FRICTIONLOSS_OFF = int(mjtDisableBit.mjDSBL_FRICTIONLOSS)
LIMIT_OFF = int(mjtDisableBit.mjDSBL_LIMIT)
CONTACT_OFF = int(mjtDisableBit.mjDSBL_CONTACT)


@stage
def make_constraint(m: Any, d: Any) -> int:
    """Build the constraint rows; asks for a larger arena when it runs out of room."""
    clear_rows(m, d)
    status = OK
    disabled = m.opt.disableflags
    if disabled & CONSTRAINT_OFF != 0:
        return OK
    if disabled & EQUALITY_OFF == 0:
        status = add_equalities(m, d)
    d.ne = d.nefc
    if status == OK and disabled & FRICTIONLOSS_OFF == 0:
        status = add_frictions(m, d)
    d.nf = d.nefc - d.ne
    if status == OK and disabled & LIMIT_OFF == 0:
        status = add_limits(m, d)
    d.nl = d.nefc - d.nf - d.ne
    if status == OK and disabled & CONTACT_OFF == 0:
        status = add_contacts(m, d)
    if status == OK and is_sparse(m):
        complete_sparse(m, d)
    return status


@kernel
def clear_rows(m: Any, d: Any) -> None:
    """No rows."""
    d.ne = 0
    d.nf = 0
    d.nl = 0
    d.nefc = 0
    d.nnzJ = 0
    for tendon in range(m.ntendon):
        d.tendon_efcadr[tendon] = -1


@kernel
def complete_sparse(m: Any, d: Any) -> None:
    """What follows from the CSR Jacobian: its transpose, and the supernodes of both."""
    transpose_jacobian(m, d)
    find_supernodes(d.nefc, d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_colind, d.efc_J_rowsuper)
    find_supernodes(m.nv, d.efc_JT_rownnz, d.efc_JT_rowadr, d.efc_JT_colind, d.efc_JT_rowsuper)
