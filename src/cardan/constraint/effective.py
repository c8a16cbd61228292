"""Constraint rows of the integrator discrete: springs and dampers are evaluated at the end of the step.

A row has the stiffness k (including the impedance) and the damping b; h is the time step and s = 1 + h b + h^2 k. The
regulariser and the reference acceleration become ::

    R  <-  R ratio / s        aref  <-  (aref - h k vel) / s

The ratio corrects the approximate diagonal of J M^-1 J' by the diagonals of M and of the effective metric's backbone
(`cardan.dynamics.metric`). Rows of a contact share the factor of their first row.

The flag refsafe does not enlarge time constants here. It replaces contacts and limits that the time step cannot
resolve, h^2 k > 1, by the stiffest row without restitution, h^2 k = 1, of the same damping ratio. The effective
impedance, which belongs to the scaled R, is at most mjMAXIMP; damping of resolved rows is reduced to keep it there.

Sources: manual of MuJoCo 4.0, chapter computation, integrators (discrete) and constraint model.
"""

from __future__ import annotations

from math import sqrt

from cardan.constraint.rows import MAX_IMPEDANCE
from cardan.dynamics.jacobian import is_sparse
from cardan.enums.codes import (
    CNSTR_CONTACT_ELLIPTIC,
    CNSTR_EQUALITY,
    CNSTR_FRICTION_DOF,
    CNSTR_FRICTION_TENDON,
    CNSTR_LIMIT_JOINT,
    CNSTR_LIMIT_TENDON,
    DSBL_REFSAFE,
)
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Vec2
from cardan.maths.vector import MINVAL, get2
from cardan.model.kernel_views import Data, Model


@kernel
def softness(impedance: float) -> float:
    """Regulariser R of an impedance, divided by the approximate diagonal of J M^-1 J'."""
    return (1.0 - impedance) / impedance


LEAST_SOFTNESS = (1.0 - MAX_IMPEDANCE) / MAX_IMPEDANCE
"""Value of `softness` for the largest effective impedance of a row."""


@kernel
def authored_solref(m: Model, d: Data, r: int) -> Vec2:
    """``solref`` of a row as the model or the contact has it."""
    kind, index = d.efc_type[r], d.efc_id[r]
    if kind == CNSTR_EQUALITY:
        return get2(m.eq_solref, index)
    if kind == CNSTR_FRICTION_DOF:
        return get2(m.dof_solref, index)
    if kind == CNSTR_FRICTION_TENDON:
        return get2(m.tendon_solref_fri, index)
    if kind == CNSTR_LIMIT_JOINT:
        return get2(m.jnt_solref, index)
    if kind == CNSTR_LIMIT_TENDON:
        return get2(m.tendon_solref_lim, index)
    if kind == CNSTR_CONTACT_ELLIPTIC and r > d.contact.efc_address[index]:
        friction = get2(d.contact.solreffriction, index)
        if friction[0] != 0.0 or friction[1] != 0.0:
            return friction
    return get2(d.contact.solref, index)


@kernel
def _release(m: Model, d: Data, r: int) -> None:
    """Undo the lower bound of a row's time constant; see `rows.stiffness_damping`. Resolve contacts and limits."""
    timeconst, dampratio = authored_solref(m, d, r)
    if timeconst <= 0.0 and dampratio <= 0.0:
        return
    if timeconst <= 0.0 or dampratio <= 0.0:
        timeconst, dampratio = 0.02, 1.0
    h = m.opt.timestep
    # undo the bound; the stored damping is 2 / (dmax timeconst)
    ratio = max(timeconst, 2.0 * h) / timeconst
    damping = ratio * d.efc_KBIP[r, 1]
    stiffness = 0.25 * damping * damping / (dampratio * dampratio)
    kind, impedance = d.efc_type[r], d.efc_KBIP[r, 2]
    # rows of friction have no stiffness
    elastic = kind != CNSTR_EQUALITY and d.efc_KBIP[r, 0] > 0.0
    if elastic and h * h * stiffness * impedance > 1.0:
        d.efc_KBIP[r, 0] = 1.0 / (h * h * impedance)
        # so little damping that the bound on the effective impedance keeps its meaning
        most = (softness(impedance) / LEAST_SOFTNESS - 2.0) / h
        d.efc_KBIP[r, 1] = max(0.0, min(2.0 * dampratio * sqrt(d.efc_KBIP[r, 0]), most))
    elif ratio > 1.0:
        d.efc_KBIP[r, 0] *= ratio * ratio
        d.efc_KBIP[r, 1] = damping


@stage
def release_rows(m: Model, d: Data) -> int:
    """Set stiffness and damping of all rows by the rules of the integrator discrete, and save the rows' scales.

    Writes efc_KBIP; saves efc_diagApprox and efc_R in work.row_diag and work.row_R.
    """
    for r in range(d.nefc):
        d.work.row_diag[r] = d.efc_diagApprox[r]
        d.work.row_R[r] = d.efc_R[r]
        if m.opt.disableflags & DSBL_REFSAFE == 0:
            _release(m, d, r)
    return OK


@stage
def save_reference(m: Model, d: Data) -> int:
    """Save efc_aref in work.row_aref, so that `effective_rows` may run several times."""
    if m.nv > 0:  # derivatives of stages require that both arguments are used
        for r in range(d.nefc):
            d.work.row_aref[r] = d.efc_aref[r]
    return OK


@kernel
def _inertia_ratio(m: Model, d: Data, r: int) -> float:
    """Ratio of J B^-1 J' to J M^-1 J' of a row, if only the diagonals of the backbone B and of M count."""
    sparse = is_sparse(m)
    start = int(d.efc_J_rowadr[r]) if sparse else r * int(m.nv)
    effective, bare = 0.0, 0.0
    for k in range(int(d.efc_J_rownnz[r]) if sparse else int(m.nv)):
        value = d.efc_J[start + k]
        if value != 0.0:
            dof = int(d.efc_J_colind[start + k]) if sparse else k
            inertia = d.qM[m.aux.M_rowadr[dof]]
            bare += value * value / max(MINVAL, inertia)
            effective += value * value / max(MINVAL, inertia + d.work.metric_diag[dof])
    return effective / bare if bare > 0.0 else 1.0


@kernel
def _is_heavier(m: Model, d: Data) -> bool:
    """Return whether a diagonal element of the backbone differs from that of M."""
    for dof in range(m.nv):
        if d.work.metric_diag[dof] != 0.0:
            return True
    return False


@stage
def effective_rows(m: Model, d: Data) -> int:
    """Scale R and the reference accelerations of all rows for the end of the step.

    Reads the copies made by `release_rows` and `save_reference`, qM and work.metric_diag; writes efc_R, efc_D,
    efc_diagApprox and efc_aref.
    """
    h = m.opt.timestep
    heavier = _is_heavier(m, d)
    share = 1.0
    for r in range(d.nefc):
        stiffness, damping, impedance = d.efc_KBIP[r, 0] * d.efc_KBIP[r, 2], d.efc_KBIP[r, 1], d.efc_KBIP[r, 2]
        scale = 1.0 + h * damping + h * h * stiffness
        kind = d.efc_type[r]
        lone = kind <= CNSTR_LIMIT_TENDON
        if lone or d.contact.efc_address[d.efc_id[r]] == r:
            ratio = _inertia_ratio(m, d, r) if heavier else 1.0
            share = ratio * max(1.0 / scale, LEAST_SOFTNESS / softness(impedance))
        d.efc_R[r] = max(MINVAL, d.work.row_R[r] * share)
        d.efc_D[r] = 1.0 / d.efc_R[r]
        d.efc_diagApprox[r] = d.efc_R[r] / softness(impedance)
        d.efc_aref[r] = (d.work.row_aref[r] - h * stiffness * d.efc_vel[r]) / scale
    return OK
