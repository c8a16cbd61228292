"""Stages that add limits and friction loss of joints and tendons (spec: computation, constraint model).

A limit has a row if the distance to it is below the margin. Both limits of a joint may be active at once.
"""

from __future__ import annotations

from cardan.constraint.jacobian_rows import combine_tendons, put_tendon_entries
from cardan.constraint.rows import get_solimp, is_enabled, open_rows, put_entry, set_parameters, start_rows
from cardan.dynamics.awake import DOF, JOINT, span_range, tendon_sleeps
from cardan.enums.codes import (
    CNSTR_FRICTION_DOF,
    CNSTR_FRICTION_TENDON,
    CNSTR_LIMIT_JOINT,
    CNSTR_LIMIT_TENDON,
    DSBL_FRICTIONLOSS,
    DSBL_LIMIT,
    JNT_BALL,
    JNT_FREE,
)
from cardan.jit import OK, kernel, stage
from cardan.maths.quaternion import normalize4, quat2vel
from cardan.maths.types import Vec2, Vec5
from cardan.maths.vector import get2, norm3, normalize3
from cardan.model.kernel_views import Data, Model


@stage
def make_limit(m: Model, d: Data) -> int:
    """Add a row for each active limit of a joint: lower, then upper. For a ball joint, the angle is limited."""
    start = start_rows(m, d)
    if not is_enabled(m, d, DSBL_LIMIT):
        return OK
    status = add_limits(m, d, 0, m.njnt)
    if status == OK:
        set_limits(m, d, start)
    return status


@stage
def make_limit_awake(m: Model, d: Data) -> int:
    """Do as `make_limit`, for the joints of all spans."""
    start = start_rows(m, d)
    if not is_enabled(m, d, DSBL_LIMIT):
        return OK
    for span in range(d.work.nspan):
        first, stop = span_range(d, span, JOINT)
        status = add_limits(m, d, first, stop)
        if status != OK:
            return status
    set_limits(m, d, start)
    return OK


@kernel
def add_limits(m: Model, d: Data, first: int, stop: int) -> int:
    """Add the rows of the active limits of the joints `first` to `stop` (exclusive); return a status."""
    for joint in range(first, stop):
        if m.jnt_limited[joint] == 0 or m.jnt_type[joint] == JNT_FREE:
            continue
        status = add_ball_limit(m, d, joint) if m.jnt_type[joint] == JNT_BALL else add_scalar_limits(m, d, joint)
        if status != OK:
            return status
    return OK


@kernel
def set_limits(m: Model, d: Data, start: int) -> None:
    """Set the parameters of the rows of joint limits from row `start` on, and count these rows."""
    for row in range(start, d.nefc):
        joint = int(d.efc_id[row])
        diag = m.dof_invweight0[m.jnt_dofadr[joint]]
        solref, solimp = get2(m.jnt_solref, joint), get_solimp(m.jnt_solimp, joint)
        set_limit(m, d, row, m.jnt_margin[joint], diag, solref, solimp)
    d.nl = d.nl + d.nefc - start


@stage
def make_tendon_limit(m: Model, d: Data) -> int:
    """Add a row for each active limit of a tendon's length: lower, then upper."""
    return add_tendon_limits(m, d, False)


@stage
def make_tendon_limit_awake(m: Model, d: Data) -> int:
    """Do as `make_tendon_limit`, but leave out tendons whose trees sleep."""
    return add_tendon_limits(m, d, True)


@kernel
def add_tendon_limits(m: Model, d: Data, some_sleep: bool) -> int:
    """Add the rows of the active limits of tendons; if `some_sleep` is set, not of tendons whose trees sleep."""
    start = start_rows(m, d)
    if not is_enabled(m, d, DSBL_LIMIT):
        return OK
    for tendon in range(m.ntendon):
        if m.tendon_limited[tendon] != 0 and not (some_sleep and tendon_sleeps(m, d, tendon)):
            for side in range(2):
                sign = 1.0 - 2.0 * side
                distance = sign * (d.ten_length[tendon] - m.tendon_range[tendon, side])
                if distance < m.tendon_margin[tendon]:
                    n = combine_tendons(m, d, tendon, sign, -1, 0.0)
                    if n == 0:
                        continue
                    row = open_rows(m, d, 1, n, CNSTR_LIMIT_TENDON, tendon)
                    if row < 0:
                        return -row
                    put_tendon_entries(m, d, row, n, tendon, -1)
                    d.efc_pos[row] = distance
    for row in range(start, d.nefc):
        tendon = int(d.efc_id[row])
        solref, solimp = get2(m.tendon_solref_lim, tendon), get_solimp(m.tendon_solimp_lim, tendon)
        set_limit(m, d, row, m.tendon_margin[tendon], m.tendon_invweight0[tendon], solref, solimp)
    d.nl = d.nl + d.nefc - start
    return OK


@kernel
def set_limit(m: Model, d: Data, row: int, margin: float, diag: float, solref: Vec2, solimp: Vec5) -> None:
    """Set the parameters of the row of a limit; efc_pos of this row must already be set."""
    d.efc_margin[row] = margin
    set_parameters(m, d, row, 1, d.efc_pos[row] - margin, diag, solref, solimp)


@kernel
def add_scalar_limits(m: Model, d: Data, joint: int) -> int:
    """Add the rows of the active lower (side 0) and upper (side 1) limits of a slide or hinge joint."""
    value = d.qpos[m.jnt_qposadr[joint]]
    for side in range(2):
        sign = 1.0 - 2.0 * side
        distance = sign * (value - m.jnt_range[joint, side])
        if distance < m.jnt_margin[joint]:
            row = open_rows(m, d, 1, 1, CNSTR_LIMIT_JOINT, joint)
            if row < 0:
                return -row
            put_entry(m, d, row, 0, int(m.jnt_dofadr[joint]), sign)
            d.efc_pos[row] = distance
    return OK


@kernel
def add_ball_limit(m: Model, d: Data, joint: int) -> int:
    """Add the row of a ball joint's limit if it is active. The larger value of the range limits the rotation angle."""
    a = int(m.jnt_qposadr[joint])
    turn = quat2vel(normalize4((d.qpos[a], d.qpos[a + 1], d.qpos[a + 2], d.qpos[a + 3])), 1.0)
    distance = max(m.jnt_range[joint, 0], m.jnt_range[joint, 1]) - norm3(turn)
    if distance >= m.jnt_margin[joint]:
        return OK
    row = open_rows(m, d, 1, 3, CNSTR_LIMIT_JOINT, joint)
    if row < 0:
        return -row
    axis = normalize3(turn)
    for k in range(3):
        put_entry(m, d, row, k, int(m.jnt_dofadr[joint]) + k, -axis[k])
    d.efc_pos[row] = distance
    return OK


@stage
def make_friction(m: Model, d: Data) -> int:
    """Add one row for each dof with positive frictionloss. The row constrains the dof's velocity, not its position."""
    start = start_rows(m, d)
    if not is_enabled(m, d, DSBL_FRICTIONLOSS):
        return OK
    status = add_frictions(m, d, 0, m.nv)
    d.nf = d.nf + (d.nefc - start if status == OK else 0)
    return status


@stage
def make_friction_awake(m: Model, d: Data) -> int:
    """Do as `make_friction`, for the dofs of all spans."""
    start = start_rows(m, d)
    if not is_enabled(m, d, DSBL_FRICTIONLOSS):
        return OK
    for span in range(d.work.nspan):
        first, stop = span_range(d, span, DOF)
        status = add_frictions(m, d, first, stop)
        if status != OK:
            return status
    d.nf = d.nf + d.nefc - start
    return OK


@kernel
def add_frictions(m: Model, d: Data, first: int, stop: int) -> int:
    """Add the rows of the friction loss of the dofs `first` to `stop` (exclusive); return a status."""
    for dof in range(first, stop):
        if m.dof_frictionloss[dof] > 0.0:
            row = open_rows(m, d, 1, 1, CNSTR_FRICTION_DOF, dof)
            if row < 0:
                return -row
            put_entry(m, d, row, 0, dof, 1.0)
            solref, solimp = get2(m.dof_solref, dof), get_solimp(m.dof_solimp, dof)
            set_friction(m, d, row, m.dof_frictionloss[dof], m.dof_invweight0[dof], solref, solimp)
    return OK


@stage
def make_tendon_friction(m: Model, d: Data) -> int:
    """Add one row for each tendon with positive frictionloss, if a dof moves it."""
    return add_tendon_frictions(m, d, False)


@stage
def make_tendon_friction_awake(m: Model, d: Data) -> int:
    """Do as `make_tendon_friction`, but leave out tendons whose trees sleep."""
    return add_tendon_frictions(m, d, True)


@kernel
def add_tendon_frictions(m: Model, d: Data, some_sleep: bool) -> int:
    """Add the rows of the friction loss of tendons; if `some_sleep` is set, not of tendons whose trees sleep."""
    start = start_rows(m, d)
    if not is_enabled(m, d, DSBL_FRICTIONLOSS):
        return OK
    for tendon in range(m.ntendon):
        if m.tendon_frictionloss[tendon] > 0.0 and not (some_sleep and tendon_sleeps(m, d, tendon)):
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
    """Set the parameters of one row of friction loss; such a row has no stiffness."""
    set_parameters(m, d, row, 1, 0.0, diag, solref, solimp)
    d.efc_frictionloss[row] = frictionloss
    d.efc_KBIP[row, 0] = 0.0
