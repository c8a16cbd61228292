"""Stage that adds equality constraints: connect, weld, joint, tendon, flex edges (spec: computation, equality)."""

from __future__ import annotations

from math import sqrt

from cardan.constraint.jacobian_rows import (
    BANK_SIZE,
    FIRST,
    SECOND,
    combine_tendons,
    fill_rows,
    merge_chains,
    put_point_wrench,
    put_tendon_entries,
    put_wrench,
    sum_banks,
)
from cardan.constraint.rows import (
    drop_empty_rows,
    get_solimp,
    is_enabled,
    open_rows,
    put_entry,
    set_parameters,
    start_rows,
)
from cardan.dynamics.anchors import anchors_of, bodies_of, has_objects, weld_quats
from cardan.dynamics.couplings import quartic, tendon_offset
from cardan.dynamics.jacobian import arm_of
from cardan.dynamics.waking import ASLEEP, equality_state
from cardan.enums.codes import (
    CNSTR_EQUALITY,
    DSBL_EQUALITY,
    EQ_CONNECT,
    EQ_FLEX,
    EQ_JOINT,
    EQ_TENDON,
    EQ_WELD,
)
from cardan.jit import OK, kernel, stack_array, stage
from cardan.maths.quaternion import mul_quat
from cardan.maths.types import Array1, Quat, Vec3
from cardan.maths.vector import get2, scale3, sub3
from cardan.model.kernel_views import Data, Model
from cardan.soft.edges import edge_moment, extension, first_place, next_place

UNKNOWN_EQUALITY = -7  # status: type or objects of an active constraint were edited to invalid values


@stage
def make_equality(m: Model, d: Data) -> int:
    """Add the rows of all active equality constraints; return UNKNOWN_EQUALITY if a type or an object is invalid."""
    return add_equalities(m, d, False)


@stage
def make_equality_awake(m: Model, d: Data) -> int:
    """Do as `make_equality`, but leave out constraints of trees that sleep."""
    return add_equalities(m, d, True)


@kernel
def add_equalities(m: Model, d: Data, some_sleep: bool) -> int:
    """Add the rows of all active equality constraints; if `some_sleep` is set, not those of trees that sleep."""
    start = start_rows(m, d)
    if not is_enabled(m, d, DSBL_EQUALITY):
        return OK
    status = OK
    for e in range(m.neq):
        if d.eq_active[e] == 0:
            continue
        if not has_objects(m, e):
            return UNKNOWN_EQUALITY
        if some_sleep and equality_state(m, d, e, False) == ASLEEP:
            continue
        if m.eq_type[e] == EQ_CONNECT or m.eq_type[e] == EQ_WELD:
            status = add_anchors(m, d, e)
        elif m.eq_type[e] == EQ_JOINT:
            status = add_joint_coupling(m, d, e)
        elif m.eq_type[e] == EQ_TENDON:
            status = add_tendon_coupling(m, d, e)
        elif m.eq_type[e] == EQ_FLEX:
            status = add_edges(m, d, e)
        else:
            status = UNKNOWN_EQUALITY
        if status != OK:
            return status
    row = start
    while row < d.nefc:
        e = int(d.efc_id[row])
        if m.eq_type[e] == EQ_FLEX:
            row += 1  # each row has its own residual and parameters
            continue
        squared = 0.0
        stop = row
        while stop < d.nefc and d.efc_id[stop] == e:
            squared += d.efc_pos[stop] * d.efc_pos[stop]
            stop += 1
        violation = sqrt(squared) if stop > row + 1 else d.efc_pos[row]
        solref, solimp = get2(m.eq_solref, e), get_solimp(m.eq_solimp, e)
        for i in range(row, stop):
            set_parameters(m, d, i, 1, violation, inverse_weight(m, e, i - row), solref, solimp)
        row = stop
    d.ne = d.nefc
    return OK


@kernel
def inverse_weight(m: Model, e: int, k: int) -> float:
    """Approximate diagonal of J M^-1 J' for row `k` of equality `e`: the sum of its two objects' inverse weights."""
    object1, object2 = m.eq_obj1id[e], m.eq_obj2id[e]
    if m.eq_type[e] == EQ_JOINT:
        second = m.dof_invweight0[m.jnt_dofadr[object2]] if object2 >= 0 else 0.0
        return m.dof_invweight0[m.jnt_dofadr[object1]] + second
    if m.eq_type[e] == EQ_TENDON:
        second = m.tendon_invweight0[object2] if object2 >= 0 else 0.0
        return m.tendon_invweight0[object1] + second
    body1, body2 = bodies_of(m, e)
    return m.body_invweight0[body1, k // 3] + m.body_invweight0[body2, k // 3]


@kernel
def unit_axis(k: int) -> Vec3:
    """Axis `k` of the world frame."""
    return (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)


@kernel
def add_anchors(m: Model, d: Data, e: int) -> int:
    """Add the rows of a connect or weld. If neither body can move, add no rows.

    A connect has 3 rows, whose residual is the difference p1 - p2 of two anchor points. A weld has 3 more rows for the
    rotation, see `add_rotation`.
    """
    weld = m.eq_type[e] == EQ_WELD
    body1, body2, point1, point2 = anchors_of(m, d, e)
    n = merge_chains(m, d, body1, body2)
    if n == 0:
        return OK
    count = 6 if weld else 3
    row = open_rows(m, d, count, n, CNSTR_EQUALITY, e)
    if row < 0:
        return -row
    gap = sub3(point1, point2)
    for k in range(3):
        d.efc_pos[row + k] = gap[k]
    w = stack_array(BANK_SIZE)
    arm1 = arm_of(m, d, point1, body1)
    arm2 = arm_of(m, d, point2, body2)
    for k in range(3):
        put_point_wrench(w, FIRST, k, arm1, unit_axis(k), 1.0)
        put_point_wrench(w, SECOND, k, arm2, unit_axis(k), -1.0)
    if weld:
        add_rotation(m, d, e, row + 3, w)
    sum_banks(w, count)
    fill_rows(m, d, w, n, row, count)
    drop_empty_rows(m, d, row)
    return OK


@kernel
def add_rotation(m: Model, d: Data, e: int, row: int, w: Array1) -> None:
    """Set the wrenches and residual of a weld's rotation: torquescale times the error quaternion's vector part."""
    quat1, inverse2 = weld_quats(m, d, e)
    scale = m.eq_data[e, 10]
    error = mul_quat(inverse2, quat1)
    for k in range(3):
        d.efc_pos[row + k] = scale * error[k + 1]
    put_rotation_wrenches(w, quat1, inverse2, 0.5 * scale)


@kernel
def put_rotation_wrenches(w: Array1, quat1: Quat, inverse2: Quat, scale: float) -> None:
    """Set the wrenches of rows 3 to 5, which measure `scale` times the vector part of ``inverse2 (w1 - w2) quat1``.

    The quaternions w1 and w2 are the angular velocities of the two bodies, with scalar part 0.
    """
    x = mul_quat(mul_quat(inverse2, (0.0, 1.0, 0.0, 0.0)), quat1)
    y = mul_quat(mul_quat(inverse2, (0.0, 0.0, 1.0, 0.0)), quat1)
    z = mul_quat(mul_quat(inverse2, (0.0, 0.0, 0.0, 1.0)), quat1)
    none = (0.0, 0.0, 0.0)
    for k in range(3):
        torque = scale3((x[k + 1], y[k + 1], z[k + 1]), scale)
        put_wrench(w, FIRST, 3 + k, torque, none)
        put_wrench(w, SECOND, 3 + k, scale3(torque, -1.0), none)


@kernel
def joint_offset(m: Model, d: Data, joint: int) -> float:
    """Position of a scalar joint relative to qpos0."""
    a = m.jnt_qposadr[joint]
    return d.qpos[a] - m.qpos0[a]


@kernel
def add_joint_coupling(m: Model, d: Data, e: int) -> int:
    """Add the row that makes joint 1 a quartic function of joint 2, or constant without joint 2."""
    joint1, joint2 = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    coupled = joint2 >= 0
    row = open_rows(m, d, 1, 2 if coupled else 1, CNSTR_EQUALITY, e)
    if row < 0:
        return -row
    dof1 = int(m.jnt_dofadr[joint1])
    dof2 = int(m.jnt_dofadr[joint2]) if coupled else int(m.nv)
    value, slope = quartic(m, e, joint_offset(m, d, joint2) if coupled else 0.0)
    if coupled:
        put_entry(m, d, row, 1 if dof2 > dof1 else 0, dof2, -slope)
    put_entry(m, d, row, 0 if dof2 > dof1 else 1, dof1, 1.0)
    d.efc_pos[row] = joint_offset(m, d, joint1) - value
    return OK


@kernel
def add_tendon_coupling(m: Model, d: Data, e: int) -> int:
    """Add the row that makes tendon 1 a quartic function of tendon 2, or constant without tendon 2.

    If no dof moves the tendons, add no row.
    """
    tendon1, tendon2 = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    value, slope = quartic(m, e, tendon_offset(m, d, tendon2) if tendon2 >= 0 else 0.0)
    n = combine_tendons(m, d, tendon1, 1.0, tendon2, -slope)
    if n == 0:
        return OK
    row = open_rows(m, d, 1, n, CNSTR_EQUALITY, e)
    if row < 0:
        return -row
    put_tendon_entries(m, d, row, n, tendon1, tendon2)
    d.efc_pos[row] = tendon_offset(m, d, tendon1) - value
    return OK


@kernel
def add_edges(m: Model, d: Data, e: int) -> int:
    """Add a row, including its parameters, for each flex edge whose length can change.

    The residual is the extension of the edge. In dense storage, an edge that no dof moves has no row.
    """
    flex = m.eq_obj1id[e]
    if m.flex_rigid[flex] != 0:
        return OK
    solref, solimp = get2(m.eq_solref, e), get_solimp(m.eq_solimp, e)
    line, column = first_place(m, d, m.flex_edgeadr[flex])
    after_line, after_column = line, column
    for edge in range(m.flex_edgeadr[flex], m.flex_edgeadr[flex] + m.flex_edgenum[flex]):
        line, column = after_line, after_column
        after_line, after_column = next_place(m, edge, line, column)
        if m.flexedge_rigid[edge] != 0:
            continue
        first, stop = int(m.aux.edge_rowadr[edge]), int(m.aux.edge_rowadr[edge + 1])
        row = open_rows(m, d, 1, stop - first, CNSTR_EQUALITY, e)
        if row < 0:
            return -row
        for k in range(first, stop):
            dof = int(m.aux.edge_colind[k])
            put_entry(m, d, row, k - first, dof, edge_moment(m, d, line, column, dof, k - first))
        drop_empty_rows(m, d, row)
        if d.nefc > row:
            residual = extension(m, d, edge)
            d.efc_pos[row] = residual
            set_parameters(m, d, row, 1, residual, m.flexedge_invweight0[edge], solref, solimp)
    return OK
