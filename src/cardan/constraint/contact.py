"""Stages that add the rows of contacts: frictionless, pyramidal and elliptic (spec: computation, contact).

The rows measure the motion of body 2 relative to body 1 at the contact point, in the contact frame: three translations
(normal first), then three rotations. A frictionless contact has only the normal row, an elliptic contact the first
`dim` of the six rows. For each friction direction j, a pyramidal contact has two rows, one per edge of the pyramid:
the normal plus or minus friction[j] times direction j.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from cardan.constraint.jacobian_rows import (
    FIRST,
    SECOND,
    UNION_SIZE,
    fill_rows,
    fill_union,
    merge_chains,
    put_wrench,
    sum_banks,
    unite_chains,
)
from cardan.constraint.rows import (
    get_solimp,
    is_enabled,
    open_rows,
    set_parameters,
    set_regularizer,
    start_rows,
    stiffness_damping,
)
from cardan.dynamics.external import MAX_BODIES, has_flex, is_pyramidal, list_bodies, side_body
from cardan.dynamics.jacobian import arm_of, is_sparse
from cardan.enums.codes import (
    CNSTR_CONTACT_ELLIPTIC,
    CNSTR_CONTACT_FRICTIONLESS,
    CNSTR_CONTACT_PYRAMIDAL,
    DSBL_CONTACT,
)
from cardan.jit import OK, kernel, stack_array, stack_int_array, stage
from cardan.maths.types import Array1, Vec3
from cardan.maths.vector import MINVAL, add_scaled3, cross, get2, get3, scale3
from cardan.model.kernel_views import Data, Model

NO_DOFS = 3  # contact.exclude: the bodies of the contact cannot move


@stage
def make_contact(m: Model, d: Data) -> int:
    """Add the rows of all contacts that are not excluded; set ``efc_address`` and ``mu`` of all contacts."""
    return make_contacts(m, d, None)


@stage
def make_soft_contact(m: Model, d: Data) -> int:
    """Add the rows of all contacts like `make_contact`, for models whose contacts may involve flexes."""
    return make_contacts(m, d, True)


@kernel
def make_contacts(m: Model, d: Data, flexes: Any) -> int:
    """Add the rows of all contacts that are not excluded; set ``efc_address`` and ``mu``. Return a status.

    If `flexes` is None, the code for flexes is not compiled.
    """
    start_rows(m, d)
    enabled = is_enabled(m, d, DSBL_CONTACT) and m.nv > 0
    for con in range(d.ncon):
        d.contact.efc_address[con] = -1
        d.contact.mu[con] = 0.0
        if enabled and d.contact.exclude[con] == 0:
            status = add_contact(m, d, con, flexes)
            if status != OK:
                return status
    return OK


@kernel
def contact_rows(m: Model, d: Data, con: int) -> tuple[int, int]:
    """Type (mjtConstraint) and number of the rows of a contact."""
    dim = int(d.contact.dim[con])
    if dim == 1:
        return CNSTR_CONTACT_FRICTIONLESS, 1
    if is_pyramidal(m, d, con):
        return CNSTR_CONTACT_PYRAMIDAL, 2 * (dim - 1)
    return CNSTR_CONTACT_ELLIPTIC, dim


@kernel
def add_contact(m: Model, d: Data, con: int, flexes: Any) -> int:
    """Add the rows of a contact. Each row is a weighted sum over the contact's bodies.

    If no dof moves any of the bodies, and storage is sparse, exclude the contact instead.
    """
    kind, count = contact_rows(m, d, con)
    body1, body2 = int(side_body(m, d, con, 0)), int(side_body(m, d, con, 1))
    bodies = stack_int_array(MAX_BODIES)
    weights = stack_array(MAX_BODIES)
    nbody = 0  # number of bodies, if a side is a flex
    if flexes is not None:
        if has_flex(d, con):
            nbody = list_bodies(m, d, con, bodies, weights)
    n = unite_chains(m, d, bodies, nbody) if nbody > 0 else merge_chains(m, d, body1, body2)
    if n == 0 and is_sparse(m):
        d.contact.exclude[con] = NO_DOFS
        return OK
    row = open_rows(m, d, count, n, kind, con)
    if row < 0:
        return -row
    w = stack_array(UNION_SIZE)
    if nbody > 0:
        total = 0.0
        for k in range(nbody):
            put_contact_wrenches(m, d, w, k, int(bodies[k]), con, kind, weights[k])
            total += abs(weights[k]) * m.body_invweight0[bodies[k], 0]
        fill_union(m, d, w, bodies, nbody, n, row, count)
    else:
        put_contact_wrenches(m, d, w, FIRST, body1, con, kind, -1.0)
        put_contact_wrenches(m, d, w, SECOND, body2, con, kind, 1.0)
        sum_banks(w, count)
        fill_rows(m, d, w, n, row, count)
        total = m.body_invweight0[body1, 0] + m.body_invweight0[body2, 0]
    set_contact_rows(m, d, con, row, count, kind, total)
    return OK


@kernel
def put_contact_wrenches(m: Model, d: Data, w: Array1, bank: int, body: int, con: int, kind: int, sign: float) -> None:
    """Store the wrenches, times `sign`, of all rows of a contact for one of its bodies. For the world, do nothing."""
    if body == 0:
        return
    arm = arm_of(m, d, get3(d.contact.pos, con), body)
    force = scale3(contact_axis(d, con, 0), sign)
    torque = cross(arm, force)
    if kind != CNSTR_CONTACT_PYRAMIDAL:
        put_wrench(w, bank, 0, torque, force)
    for j in range(1, d.contact.dim[con]):
        axis = scale3(contact_axis(d, con, j % 3), sign)
        torque_j = cross(arm, axis) if j < 3 else axis
        force_j = axis if j < 3 else (0.0, 0.0, 0.0)
        if kind == CNSTR_CONTACT_PYRAMIDAL:
            slope = d.contact.friction[con, j - 1]
            put_wrench(w, bank, 2 * j - 2, add_scaled3(torque, torque_j, slope), add_scaled3(force, force_j, slope))
            put_wrench(w, bank, 2 * j - 1, add_scaled3(torque, torque_j, -slope), add_scaled3(force, force_j, -slope))
        else:
            put_wrench(w, bank, j, torque_j, force_j)


@kernel
def contact_axis(d: Data, con: int, k: int) -> Vec3:
    """Axis `k` of the contact frame."""
    return (d.contact.frame[con, 3 * k], d.contact.frame[con, 3 * k + 1], d.contact.frame[con, 3 * k + 2])


@kernel
def set_contact_rows(m: Model, d: Data, con: int, row: int, count: int, kind: int, weight: float) -> None:
    """Set the parameters of a contact's rows; `weight` is the sum of the bodies' translational inverse weights."""
    d.contact.efc_address[con] = row
    if d.contact.dim[con] > 1:
        d.contact.mu[con] = d.contact.friction[con, 0] / sqrt(max(MINVAL, m.opt.impratio))
    slope = d.contact.friction[con, 0]
    diag = weight * (1.0 + slope * slope) if kind == CNSTR_CONTACT_PYRAMIDAL else weight
    margin = d.contact.includemargin[con]
    distance = d.contact.dist[con]
    solref, solimp = get2(d.contact.solref, con), get_solimp(d.contact.solimp, con)
    set_parameters(m, d, row, count, distance - margin, diag, solref, solimp)
    last = row + 1 if kind == CNSTR_CONTACT_ELLIPTIC else row + count
    for i in range(row, last):
        d.efc_pos[i] = distance
        d.efc_margin[i] = margin
    if kind == CNSTR_CONTACT_PYRAMIDAL:
        # one R for all edges: that of the normal of an elliptic cone with the regularised friction mu
        mu = d.contact.mu[con]
        r = 2.0 * mu * mu * d.efc_R[row]
        for i in range(row, row + count):
            set_regularizer(d, i, r)
    elif kind == CNSTR_CONTACT_ELLIPTIC:
        couple_ellipse(m, d, con, row, count)


@kernel
def couple_ellipse(m: Model, d: Data, con: int, row: int, count: int) -> None:
    """Set the parameters of the friction rows of an elliptic contact.

    These rows have no stiffness. Their damping comes from solreffriction if given, otherwise from the normal row. Their
    R is coupled to the R of the normal row; the coupling makes inverse dynamics analytic (see `constraint.update`).
    """
    first = d.efc_R[row] / max(MINVAL, m.opt.impratio)
    solreffriction = get2(d.contact.solreffriction, con)
    damping = d.efc_KBIP[row, 1]
    if solreffriction[0] != 0.0 or solreffriction[1] != 0.0:
        _, damping = stiffness_damping(m, solreffriction, get_solimp(d.contact.solimp, con))
    for j in range(1, count):
        ratio = d.contact.friction[con, 0] / d.contact.friction[con, j - 1]
        set_regularizer(d, row + j, first * ratio * ratio)
        d.efc_KBIP[row + j, 0] = 0.0
        d.efc_KBIP[row + j, 1] = damping
