"""Equality constraints: connect, weld, joint and tendon coupling (spec: computation, constraint model, equality)."""

from __future__ import annotations

from math import sqrt
from typing import Any

from cardan.constraint.jacobian_pair import (
    BANK_SIZE,
    FIRST,
    SECOND,
    body_point,
    fill_rows,
    merge_chains,
    put_point_wrench,
    put_wrench,
    sum_banks,
    tree_arm,
)
from cardan.constraint.rows import get_solimp, open_rows, put_entry, set_rows
from cardan.constraint.tendon_rows import combine_tendons, put_tendon_entries
from cardan.enums.data import mjtConstraint
from cardan.enums.model import mjtEq
from cardan.jit import OK, kernel, stack_array
from cardan.maths.quaternion import mul_quat, neg_quat
from cardan.maths.vector import dot3, get2, get4, scale3, sub3

EQUALITY = int(mjtConstraint.mjCNSTR_EQUALITY)
CONNECT = int(mjtEq.mjEQ_CONNECT)
WELD = int(mjtEq.mjEQ_WELD)
JOINT = int(mjtEq.mjEQ_JOINT)
TENDON = int(mjtEq.mjEQ_TENDON)


@kernel
def add_equalities(m: Any, d: Any) -> int:
    """Add the rows of all active equality constraints; returns OK or a request for room."""
    status = OK
    for e in range(m.neq):
        if d.eq_active[e] == 0:
            continue
        if m.eq_type[e] == CONNECT:
            status = add_connect(m, d, e)
        elif m.eq_type[e] == WELD:
            status = add_weld(m, d, e)
        elif m.eq_type[e] == JOINT:
            status = add_joint_coupling(m, d, e)
        elif m.eq_type[e] == TENDON:
            status = add_tendon_coupling(m, d, e)
        if status != OK:
            return status
    return OK


@kernel
def data3(m: Any, e: int, k: int) -> Any:
    """Three numbers of `eq_data` from the `k`-th on."""
    return (m.eq_data[e, k], m.eq_data[e, k + 1], m.eq_data[e, k + 2])


@kernel
def unit_axis(k: int) -> Any:
    """Axis `k` of the global frame."""
    return (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)


@kernel
def add_connect(m: Any, d: Any, e: int) -> int:
    """Two anchors coincide: ``eq_data`` is (anchor in body 1, anchor in body 2); 3 rows, residual p1 - p2."""
    body1, body2 = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    n = merge_chains(m, d, body1, body2, True)
    if n == 0:
        return OK
    status = open_rows(m, d, 3, n)
    if status != OK:
        return status
    row = int(d.nefc) - 3
    point1 = body_point(d, body1, data3(m, e, 0))
    point2 = body_point(d, body2, data3(m, e, 3))
    w = stack_array(BANK_SIZE)
    put_anchor_wrenches(m, d, w, body1, body2, point1, point2)
    sum_banks(w, 3)
    fill_rows(m, d, w, n, row, 3)
    gap = sub3(point1, point2)
    diag = m.body_invweight0[body1, 0] + m.body_invweight0[body2, 0]
    set_rows(m, d, row, 3, EQUALITY, e, sqrt(dot3(gap, gap)), diag, get2(m.eq_solref, e), get_solimp(m.eq_solimp, e))
    for k in range(3):
        d.efc_pos[row + k] = gap[k]
    return OK


@kernel
def put_anchor_wrenches(m: Any, d: Any, w: Any, body1: int, body2: int, point1: Any, point2: Any) -> None:
    """Wrenches of rows 0 to 2: velocity of `point1` of body 1 minus that of `point2` of body 2."""
    arm1 = tree_arm(m, d, body1, point1)
    arm2 = tree_arm(m, d, body2, point2)
    for k in range(3):
        put_point_wrench(w, FIRST, k, arm1, unit_axis(k), 1.0)
        put_point_wrench(w, SECOND, k, arm2, unit_axis(k), -1.0)


@kernel
def add_weld(m: Any, d: Any, e: int) -> int:
    """Two frames coincide; 6 rows: residual p1 - p2, then torquescale times the vector part of q2^-1 q1 relquat.

    ``eq_data`` is (anchor in body 2, the same point in body 1, relative quaternion, torquescale).
    """
    body1, body2 = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    n = merge_chains(m, d, body1, body2, True)
    if n == 0:
        return OK
    status = open_rows(m, d, 6, n)
    if status != OK:
        return status
    row = int(d.nefc) - 6
    point1 = body_point(d, body1, data3(m, e, 3))
    point2 = body_point(d, body2, data3(m, e, 0))
    relquat = (m.eq_data[e, 6], m.eq_data[e, 7], m.eq_data[e, 8], m.eq_data[e, 9])
    quat1 = mul_quat(get4(d.xquat, body1), relquat)
    inverse2 = neg_quat(get4(d.xquat, body2))
    scale = m.eq_data[e, 10]
    # Jacobian: the rates of p1 - p2 and of the relative quaternion
    w = stack_array(BANK_SIZE)
    put_anchor_wrenches(m, d, w, body1, body2, point1, point2)
    put_rotation_wrenches(w, quat1, inverse2, 0.5 * scale)
    sum_banks(w, 6)
    fill_rows(m, d, w, n, row, 6)
    # residual and parameters
    gap = sub3(point1, point2)
    error = mul_quat(inverse2, quat1)
    turn = scale3((error[1], error[2], error[3]), scale)
    violation = sqrt(dot3(gap, gap) + dot3(turn, turn))
    set_weld_rows(m, d, e, row, violation)
    for k in range(3):
        d.efc_pos[row + k] = gap[k]
        d.efc_pos[row + 3 + k] = turn[k]
    return OK


@kernel
def set_weld_rows(m: Any, d: Any, e: int, row: int, violation: float) -> None:
    """Parameters of the 6 rows of weld `e`: translational and rotational weights differ."""
    for part in range(2):
        diag = m.body_invweight0[m.eq_obj1id[e], part] + m.body_invweight0[m.eq_obj2id[e], part]
        set_rows(m, d, row + 3 * part, 3, EQUALITY, e, violation, diag, get2(m.eq_solref, e), get_solimp(m.eq_solimp, e))


@kernel
def put_rotation_wrenches(w: Any, quat1: Any, inverse2: Any, scale: float) -> None:
    """Wrenches of rows 3 to 5: `scale` times the vector part of ``inverse2 (w1 - w2) quat1``, w the angular velocities."""
    x = mul_quat(mul_quat(inverse2, (0.0, 1.0, 0.0, 0.0)), quat1)
    y = mul_quat(mul_quat(inverse2, (0.0, 0.0, 1.0, 0.0)), quat1)
    z = mul_quat(mul_quat(inverse2, (0.0, 0.0, 0.0, 1.0)), quat1)
    none = (0.0, 0.0, 0.0)
    for k in range(3):
        torque = scale3((x[k + 1], y[k + 1], z[k + 1]), scale)
        put_wrench(w, FIRST, 3 + k, torque, none)
        put_wrench(w, SECOND, 3 + k, scale3(torque, -1.0), none)


@kernel
def quartic(m: Any, e: int, x: float) -> Any:
    """Value and derivative at x of the polynomial whose coefficients are the first five numbers of `eq_data`."""
    value = 0.0
    slope = 0.0
    for k in range(4, -1, -1):
        slope = slope * x + value
        value = value * x + m.eq_data[e, k]
    return value, slope


@kernel
def joint_offset(m: Any, d: Any, joint: int) -> float:
    """Position of a scalar joint relative to qpos0."""
    a = m.jnt_qposadr[joint]
    return d.qpos[a] - m.qpos0[a]


@kernel
def add_joint_coupling(m: Any, d: Any, e: int) -> int:
    """Scalar joint 1 is a quartic function of scalar joint 2, or constant if there is no joint 2; 1 row."""
    joint1, joint2 = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    coupled = joint2 >= 0
    status = open_rows(m, d, 1, 2 if coupled else 1)
    if status != OK:
        return status
    row = int(d.nefc) - 1
    dof1 = int(m.jnt_dofadr[joint1])
    diag = m.dof_invweight0[dof1]
    residual = joint_offset(m, d, joint1)
    if coupled:
        dof2 = int(m.jnt_dofadr[joint2])
        diag += m.dof_invweight0[dof2]
        value, slope = quartic(m, e, joint_offset(m, d, joint2))
        residual -= value
        put_entry(m, d, row, 1 if dof2 > dof1 else 0, dof2, -slope)
        put_entry(m, d, row, 0 if dof2 > dof1 else 1, dof1, 1.0)
    else:
        residual -= m.eq_data[e, 0]
        put_entry(m, d, row, 0, dof1, 1.0)
    set_rows(m, d, row, 1, EQUALITY, e, residual, diag, get2(m.eq_solref, e), get_solimp(m.eq_solimp, e))
    d.efc_pos[row] = residual
    return OK


@kernel
def add_tendon_coupling(m: Any, d: Any, e: int) -> int:
    """Tendon 1 is a quartic function of tendon 2, or constant if there is no tendon 2; 1 row."""
    tendon1, tendon2 = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    diag = m.tendon_invweight0[tendon1]
    residual = d.ten_length[tendon1] - m.tendon_length0[tendon1]
    slope = 0.0
    if tendon2 >= 0:
        diag += m.tendon_invweight0[tendon2]
        value, slope = quartic(m, e, d.ten_length[tendon2] - m.tendon_length0[tendon2])
        residual -= value
    else:
        residual -= m.eq_data[e, 0]
    n = combine_tendons(m, d, tendon1, 1.0, tendon2, -slope)
    status = open_rows(m, d, 1, n)
    if status != OK:
        return status
    row = int(d.nefc) - 1
    put_tendon_entries(m, d, row, n, tendon1, tendon2)
    set_rows(m, d, row, 1, EQUALITY, e, residual, diag, get2(m.eq_solref, e), get_solimp(m.eq_solimp, e))
    d.efc_pos[row] = residual
    return OK
