"""Rows of the model's equality constraints: residual and Jacobian of connect, weld, joint and tendon constraints."""

from __future__ import annotations

from cardan.constraint.equality import joint_offset
from cardan.dynamics.anchors import anchors_of, weld_quats
from cardan.dynamics.couplings import quartic, tendon_offset
from cardan.dynamics.tendon import tendon_moment
from cardan.enums.codes import EQ_JOINT, EQ_TENDON, EQ_WELD
from cardan.ik.kernel_views import Ik
from cardan.ik.placing import add_motion, angular_part, clear_motion, linear_part
from cardan.jit import call_stage, kernel
from cardan.maths.quaternion import mul_quat
from cardan.maths.vector import sub3
from cardan.model.kernel_views import Model

WORLD_AXES = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel
def open_row(d: Ik, value: float) -> int:
    """Add an empty row with the residual `value` to the equalities; return its number. The step removes the residual.

    Violations are added to `breach` and `broken`.
    """
    row = d.ik.nrow
    d.ik.nrow += 1
    for c in range(d.ik.n):
        d.ik.A[row, c] = 0.0
    d.ik.b[row] = -value
    d.ik.breach += abs(value)
    d.ik.broken = max(d.ik.broken, abs(value))
    return row


@kernel
def put_dof(d: Ik, row: int, dof: int, value: float) -> None:
    """Add `value` to the entry of a row for a dof of the model; dofs that are not active are left out."""
    c = d.ik.column[dof]
    if c >= 0:
        d.ik.A[row, c] += value


@kernel
def anchor_rows(m: Model, d: Ik, e: int) -> None:
    """Add the rows of a connect or weld: the gap of the anchors, and the vector part of a weld's error quaternion.

    A relative angular velocity w changes this vector part by half the vector part of ``(q2 r2)^-1 w q1 r1``.
    """
    body1, body2, point1, point2 = anchors_of(m, d, e)
    gap = sub3(point1, point2)
    clear_motion(d)
    add_motion(m, d, body1, point1, WORLD_AXES, 1.0)
    add_motion(m, d, body2, point2, WORLD_AXES, -1.0)
    for k in range(3):
        row = open_row(d, gap[k])
        for c in range(d.ik.n):
            d.ik.A[row, c] = linear_part(d, c)[k]
    if m.eq_type[e] == EQ_WELD:
        quat1, inverse2 = weld_quats(m, d, e)
        scale = m.eq_data[e, 10]
        error = mul_quat(inverse2, quat1)
        first = d.ik.nrow
        for k in range(3):
            open_row(d, scale * error[k + 1])
        for c in range(d.ik.n):
            w = angular_part(d, c)
            rate = mul_quat(mul_quat(inverse2, (0.0, w[0], w[1], w[2])), quat1)
            for k in range(3):
                d.ik.A[first + k, c] = 0.5 * scale * rate[k + 1]


@kernel
def joint_row(m: Model, d: Ik, e: int) -> None:
    """Add the row of a joint that is a quartic function of another joint, or constant."""
    joint1, joint2 = m.eq_obj1id[e], m.eq_obj2id[e]
    value, slope = quartic(m, e, joint_offset(m, d, joint2) if joint2 >= 0 else 0.0)
    row = open_row(d, joint_offset(m, d, joint1) - value)
    put_dof(d, row, m.jnt_dofadr[joint1], 1.0)
    if joint2 >= 0:
        put_dof(d, row, m.jnt_dofadr[joint2], -slope)


@kernel
def tendon_row(m: Model, d: Ik, e: int) -> None:
    """Add the row of a tendon whose length is a quartic function of another tendon's length, or constant."""
    tendon1, tendon2 = m.eq_obj1id[e], m.eq_obj2id[e]
    value, slope = quartic(m, e, tendon_offset(m, d, tendon2) if tendon2 >= 0 else 0.0)
    row = open_row(d, tendon_offset(m, d, tendon1) - value)
    for k in range(m.aux.ten_rowadr[tendon1], m.aux.ten_rowadr[tendon1 + 1]):
        put_dof(d, row, m.aux.ten_colind[k], tendon_moment(m, d, tendon1, k))
    if tendon2 >= 0:
        for k in range(m.aux.ten_rowadr[tendon2], m.aux.ten_rowadr[tendon2 + 1]):
            put_dof(d, row, m.aux.ten_colind[k], -slope * tendon_moment(m, d, tendon2, k))


@kernel
def equality_rows(m: Model, d: Ik) -> None:
    """Begin the rows A, b with those of all equality constraints of the problem. Needs `place`."""
    d.ik.nrow = 0
    d.ik.breach = 0.0
    d.ik.broken = 0.0
    d.ik.missing = 0.0
    if d.ik.tendons != 0:
        call_stage(d.ik.tendons, m, d)
    for k in range(len(d.ik.equality)):
        e = d.ik.equality[k]
        if m.eq_type[e] == EQ_JOINT:
            joint_row(m, d, e)
        elif m.eq_type[e] == EQ_TENDON:
            tendon_row(m, d, e)
        else:
            anchor_rows(m, d, e)
    d.ik.nequal = d.ik.nrow
