"""Limits of joints and tendons (spec: computation, constraint model, limit).

A limit is a row when the distance to it is below the margin; both limits of a joint may be.
"""

from __future__ import annotations

from typing import Any

from cardan.constraint.rows import get_solimp, open_rows, put_entry, set_rows
from cardan.constraint.tendon_rows import combine_tendons, put_tendon_entries
from cardan.enums.data import mjtConstraint
from cardan.enums.model import mjtJoint
from cardan.jit import OK, kernel
from cardan.maths.quaternion import normalize4, quat2vel
from cardan.maths.vector import get2, norm3, normalize3

LIMIT_JOINT = int(mjtConstraint.mjCNSTR_LIMIT_JOINT)
LIMIT_TENDON = int(mjtConstraint.mjCNSTR_LIMIT_TENDON)
BALL = int(mjtJoint.mjJNT_BALL)
SLIDE = int(mjtJoint.mjJNT_SLIDE)
HINGE = int(mjtJoint.mjJNT_HINGE)


@kernel
def add_limits(m: Any, d: Any) -> int:
    """Add the rows of all active joint limits, then tendon limits; returns OK or a request for room."""
    status = OK
    for joint in range(m.njnt):
        if m.jnt_limited[joint] == 0:
            continue
        kind = m.jnt_type[joint]
        if kind == BALL:
            status = add_ball_limit(m, d, joint)
        elif kind == SLIDE or kind == HINGE:
            status = add_scalar_limits(m, d, joint)
        if status != OK:
            return status
    for tendon in range(m.ntendon):
        if m.tendon_limited[tendon] != 0:
            status = add_tendon_limits(m, d, tendon)
            if status != OK:
                return status
    return OK


@kernel
def set_joint_limit(m: Any, d: Any, row: int, joint: int, distance: float) -> None:
    """Parameters of a joint limit's row."""
    diag = m.dof_invweight0[m.jnt_dofadr[joint]]
    margin = m.jnt_margin[joint]
    solref, solimp = get2(m.jnt_solref, joint), get_solimp(m.jnt_solimp, joint)
    set_rows(m, d, row, 1, LIMIT_JOINT, joint, distance - margin, diag, solref, solimp)
    d.efc_pos[row] = distance
    d.efc_margin[row] = margin


@kernel
def add_scalar_limits(m: Any, d: Any, joint: int) -> int:
    """Lower (side 0) and upper (side 1) limit of a slide or hinge joint."""
    value = d.qpos[m.jnt_qposadr[joint]]
    for side in range(2):
        sign = 1.0 - 2.0 * side
        distance = sign * (value - m.jnt_range[joint, side])
        if distance < m.jnt_margin[joint]:
            status = open_rows(m, d, 1, 1)
            if status != OK:
                return status
            row = int(d.nefc) - 1
            put_entry(m, d, row, 0, int(m.jnt_dofadr[joint]), sign)
            set_joint_limit(m, d, row, joint, distance)
    return OK


@kernel
def add_ball_limit(m: Any, d: Any, joint: int) -> int:
    """Upper limit (the larger number of the range) of a ball joint's rotation angle."""
    a = m.jnt_qposadr[joint]
    turn = quat2vel(normalize4((d.qpos[a], d.qpos[a + 1], d.qpos[a + 2], d.qpos[a + 3])), 1.0)
    distance = max(m.jnt_range[joint, 0], m.jnt_range[joint, 1]) - norm3(turn)
    if distance >= m.jnt_margin[joint]:
        return OK
    status = open_rows(m, d, 1, 3)
    if status != OK:
        return status
    row = int(d.nefc) - 1
    axis = normalize3(turn)
    for k in range(3):
        put_entry(m, d, row, k, int(m.jnt_dofadr[joint]) + k, -axis[k])
    set_joint_limit(m, d, row, joint, distance)
    return OK


@kernel
def add_tendon_limits(m: Any, d: Any, tendon: int) -> int:
    """Lower (side 0) and upper (side 1) limit of a tendon's length."""
    margin = m.tendon_margin[tendon]
    for side in range(2):
        sign = 1.0 - 2.0 * side
        distance = sign * (d.ten_length[tendon] - m.tendon_range[tendon, side])
        if distance < margin:
            n = combine_tendons(m, d, tendon, sign, -1, 0.0)
            status = open_rows(m, d, 1, n)
            if status != OK:
                return status
            row = int(d.nefc) - 1
            put_tendon_entries(m, d, row, n, tendon, -1)
            solref, solimp = get2(m.tendon_solref_lim, tendon), get_solimp(m.tendon_solimp_lim, tendon)
            diag = m.tendon_invweight0[tendon]
            set_rows(m, d, row, 1, LIMIT_TENDON, tendon, distance - margin, diag, solref, solimp)
            d.efc_pos[row] = distance
            d.efc_margin[row] = margin
    return OK
