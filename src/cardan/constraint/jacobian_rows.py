"""Jacobian rows that measure motions of bodies and of tendons.

A row projects the velocity of a point p of a body onto an axis f, or the body's angular velocity onto an axis t. This
projection is the power of a wrench, i.e. of a spatial force (torque, force) = (t + (p - c) x f, f), at the body's
spatial velocity. Wrench and velocity, like `cdof`, are about the centre of mass c of the kinematic tree (Featherstone
2008, section 2.4). The entry of the row for a dof is therefore wrench . cdof.

For two bodies, a block of rows stores its wrenches in a scratch array of `BANK_SIZE` floats: three banks of `MAX_ROWS`
wrenches, for dofs that move only the first body, only the second, and both (the sum of the first two banks). For
contacts of flexes, which have more bodies, each body has its own bank, and the entry of a dof is the sum over the
bodies that it moves.

Rows of tendons follow from their moment arms in `ten_J` (dense, or CSR packed into the same array).
"""

from __future__ import annotations

from cardan.constraint.rows import put_entry
from cardan.dynamics.external import MAX_BODIES
from cardan.dynamics.jacobian import is_sparse
from cardan.dynamics.tendon import place_after, place_of
from cardan.jit import kernel, stack_int_array
from cardan.maths.types import Array1, IntArray1, Vec3, Vec6
from cardan.maths.vector import cross, get6, scale3
from cardan.model.fields_arena import MAX_FRICTION
from cardan.model.kernel_views import Data, Model

MAX_ROWS = 2 * MAX_FRICTION  # largest number of rows of one constraint: the edges of a pyramid
BANK = MAX_ROWS * 6
BANK_SIZE = 3 * BANK
FIRST, SECOND, BOTH = 0, 1, 2


@kernel
def merge_chains(m: Model, d: Data, body1: int, body2: int) -> int:
    """Write all dofs that move either body to `work.chain_dof`, last first, and their banks to `work.chain_bank`.

    Dofs that move both bodies are included, even if they can't move one body relative to the other. Return the number
    of dofs.
    """
    dof1 = int(m.aux.body_lastdof[body1])
    dof2 = int(m.aux.body_lastdof[body2])
    n = 0
    while dof1 >= 0 or dof2 >= 0:
        dof = max(dof1, dof2)
        bank = BOTH if dof1 == dof2 else (FIRST if dof1 > dof2 else SECOND)
        d.work.chain_dof[n] = dof
        d.work.chain_bank[n] = bank
        if dof == dof1:
            dof1 = m.dof_parentid[dof1]
        if dof == dof2:
            dof2 = m.dof_parentid[dof2]
        n += 1
    return n


@kernel
def put_wrench(w: Array1, bank: int, row: int, torque: Vec3, force: Vec3) -> None:
    """Store the wrench (`torque`, `force`), in the world frame, as wrench `row` of bank `bank` in scratch array `w`."""
    a = bank * BANK + row * 6
    w[a] = torque[0]
    w[a + 1] = torque[1]
    w[a + 2] = torque[2]
    w[a + 3] = force[0]
    w[a + 4] = force[1]
    w[a + 5] = force[2]


@kernel
def put_point_wrench(w: Array1, bank: int, row: int, arm: Vec3, axis: Vec3, scale: float) -> None:
    """Store the wrench that measures the velocity of a point along `axis`, times `scale`.

    `arm` goes from the tree's centre of mass to the point.
    """
    put_wrench(w, bank, row, scale3(cross(arm, axis), scale), scale3(axis, scale))


@kernel
def sum_banks(w: Array1, rows: int) -> None:
    """Compute the bank of dofs that move both bodies: the sum of the first two banks."""
    for a in range(rows * 6):
        w[BOTH * BANK + a] = w[FIRST * BANK + a] + w[SECOND * BANK + a]


@kernel
def power(w: Array1, b: int, c: Vec6) -> float:
    """Power of the wrench that begins at ``w[b]``, per unit velocity of a dof with the motion axis `c`."""
    return w[b] * c[0] + w[b + 1] * c[1] + w[b + 2] * c[2] + w[b + 3] * c[3] + w[b + 4] * c[4] + w[b + 5] * c[5]


@kernel
def fill_rows(m: Model, d: Data, w: Array1, n: int, row: int, rows: int) -> None:
    """Write `rows` Jacobian rows from `row` on: the wrenches `w`, projected on the `n` dofs found by `merge_chains`."""
    sparse = is_sparse(m)
    values = d.efc_J
    stride = n if sparse else int(m.nv)
    start = int(d.efc_J_rowadr[row]) if sparse else row * int(m.nv)
    for k in range(n):
        dof = int(d.work.chain_dof[n - 1 - k])
        bank = int(d.work.chain_bank[n - 1 - k]) * BANK
        column = k if sparse else dof
        c = get6(d.cdof, dof)
        for r in range(rows):
            values[start + r * stride + column] = power(w, bank + 6 * r, c)
    if sparse:
        columns = d.efc_J_colind
        for r in range(rows):
            for k in range(n):
                columns[start + r * n + k] = d.work.chain_dof[n - 1 - k]


UNION_SIZE = MAX_BODIES * BANK


@kernel
def start_chains(m: Model, bodies: IntArray1, nbody: int, dofs: IntArray1) -> int:
    """Set `dofs` to the last dof of each body's chain (-1 if it is empty), and return the largest of them."""
    last = -1
    for k in range(nbody):
        dofs[k] = m.aux.body_lastdof[bodies[k]]
        last = max(last, dofs[k])
    return last


@kernel
def pass_dof(m: Model, nbody: int, dofs: IntArray1, dof: int) -> int:
    """Advance all chains at `dof` towards the root. Return the largest remaining dof, or -1 if none remains."""
    following = -1
    for k in range(nbody):
        if dofs[k] == dof:
            dofs[k] = m.dof_parentid[dof]
        following = max(following, dofs[k])
    return following


@kernel
def unite_chains(m: Model, d: Data, bodies: IntArray1, nbody: int) -> int:
    """Write all dofs that move any of the bodies to `work.chain_dof`, last first, and return their number."""
    dofs = stack_int_array(MAX_BODIES)
    dof = start_chains(m, bodies, nbody, dofs)
    n = 0
    while dof >= 0:
        d.work.chain_dof[n] = dof
        n += 1
        dof = pass_dof(m, nbody, dofs, dof)
    return n


@kernel
def fill_union(m: Model, d: Data, w: Array1, bodies: IntArray1, nbody: int, n: int, row: int, rows: int) -> None:
    """Write `rows` Jacobian rows from `row` on: the wrenches `w`, projected on the `n` dofs found by `unite_chains`."""
    dofs = stack_int_array(MAX_BODIES)
    sparse = is_sparse(m)
    stride = n if sparse else int(m.nv)
    start = int(d.efc_J_rowadr[row]) if sparse else row * int(m.nv)
    dof = start_chains(m, bodies, nbody, dofs)
    for k in range(n - 1, -1, -1):
        column = start + (k if sparse else dof)
        for r in range(rows):
            d.efc_J[column + r * stride] = 0.0
            if sparse:
                d.efc_J_colind[column + r * stride] = dof
        for body in range(nbody):
            if dofs[body] == dof:
                values = d.efc_J
                c = get6(d.cdof, dof)
                for r in range(rows):
                    values[column + r * stride] += power(w, body * BANK + 6 * r, c)
        dof = pass_dof(m, nbody, dofs, dof)


@kernel
def combine_tendons(m: Model, d: Data, tendon1: int, scale1: float, tendon2: int, scale2: float) -> int:
    """Compute ``scale1 ten_J[tendon1] + scale2 ten_J[tendon2]`` by increasing dof; `tendon2` may be -1.

    Write the dofs to `work.chain_dof` and the values to `work.chain_value`; return the number of dofs. In sparse
    storage, these are the dofs that either row stores; in dense storage, all dofs, or none if all values are 0.
    """
    if not is_sparse(m):
        effective = False
        for dof in range(m.nv):
            value = scale1 * d.ten_J[tendon1, dof]
            if tendon2 >= 0:
                value += scale2 * d.ten_J[tendon2, dof]
            d.work.chain_dof[dof] = dof
            d.work.chain_value[dof] = value
            effective = effective or value != 0.0
        return int(m.nv) if effective else 0
    if tendon2 < 0:
        return scale_tendon(m, d, tendon1, scale1)
    at1, end1 = row_range(d, tendon1)
    at2, end2 = row_range(d, tendon2)
    n = 0
    while at1 < end1 or at2 < end2:
        dof1 = d.ten_J_colind[at1 // m.nv, at1 % m.nv] if at1 < end1 else m.nv
        dof2 = d.ten_J_colind[at2 // m.nv, at2 % m.nv] if at2 < end2 else m.nv
        dof = min(dof1, dof2)
        value = 0.0
        if dof1 == dof:
            value += scale1 * d.ten_J[at1 // m.nv, at1 % m.nv]
            at1 += 1
        if dof2 == dof:
            value += scale2 * d.ten_J[at2 // m.nv, at2 % m.nv]
            at2 += 1
        d.work.chain_dof[n] = dof
        d.work.chain_value[n] = value
        n += 1
    return n


@kernel
def scale_tendon(m: Model, d: Data, tendon: int, scale: float) -> int:
    """Compute ``scale ten_J[tendon]`` in sparse storage; results as for `combine_tendons`."""
    line, column = place_of(m, d.ten_J_rowadr[tendon])
    for k in range(d.ten_J_rownnz[tendon]):
        d.work.chain_dof[k] = d.ten_J_colind[line, column]
        d.work.chain_value[k] = scale * d.ten_J[line, column]
        line, column = place_after(m, line, column, 1)
    return int(d.ten_J_rownnz[tendon])


@kernel
def row_range(d: Data, tendon: int) -> tuple[int, int]:
    """Addresses (start, end) of a tendon's row in the packed CSR storage."""
    start = int(d.ten_J_rowadr[tendon])
    return start, start + int(d.ten_J_rownnz[tendon])


@kernel
def put_tendon_entries(m: Model, d: Data, row: int, n: int, tendon1: int, tendon2: int) -> None:
    """Copy the `n` entries found by `combine_tendons` to `row`; store each tendon's first row in `tendon_efcadr`."""
    for k in range(n):
        put_entry(m, d, row, k, int(d.work.chain_dof[k]), d.work.chain_value[k])
    if d.tendon_efcadr[tendon1] < 0:
        d.tendon_efcadr[tendon1] = row
    if tendon2 >= 0 and d.tendon_efcadr[tendon2] < 0:
        d.tendon_efcadr[tendon2] = row
