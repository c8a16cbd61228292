"""Jacobian rows that measure the relative motion of two bodies.

A row projects the velocity of a point p of a body onto an axis f, or its angular velocity onto an axis t. It is a
linear function of the body's spatial velocity: the power of a wrench, i.e. a spatial force (torque, force) = (t + (p -
c) x f, f) about the centre of mass c of the kinematic tree, to which `cdof` also refers (Featherstone 2008, section
2.4). So an entry of the row is wrench . cdof.

A block of rows stores its wrenches in a scratch array of `BANK_SIZE` numbers: three banks of `MAX_ROWS` wrenches, for
dofs that move only the first body, only the second, and both (the sum of the first two banks).
"""

from __future__ import annotations

from cardan.dynamics.jacobian import is_sparse
from cardan.jit import kernel
from cardan.maths.spatial import get6
from cardan.maths.types import Array1, Vec3
from cardan.maths.vector import add3, cross, get3, get9, mul_mat_vec3, scale3
from cardan.model.fields_arena import MAX_FRICTION
from cardan.model.kernel_views import Data, Model

MAX_ROWS = 2 * MAX_FRICTION  # largest number of rows of one constraint: the edges of a pyramid
BANK = MAX_ROWS * 6
BANK_SIZE = 3 * BANK
FIRST, SECOND, BOTH = 0, 1, 2


@kernel
def merge_chains(m: Model, d: Data, body1: int, body2: int) -> int:
    """List the dofs that move either body in `work.chain_dof`, last first, and their banks in `work.chain_bank`.

    Dofs that move both bodies are included, even if they can't move one body relative to the other.

    Returns:
        The number of dofs.
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
    """Store one wrench."""
    a = bank * BANK + row * 6
    w[a] = torque[0]
    w[a + 1] = torque[1]
    w[a + 2] = torque[2]
    w[a + 3] = force[0]
    w[a + 4] = force[1]
    w[a + 5] = force[2]


@kernel
def put_point_wrench(w: Array1, bank: int, row: int, arm: Vec3, axis: Vec3, scale: float) -> None:
    """Store the wrench of `scale` times the velocity along `axis` of the point at `arm` from the tree's centre."""
    put_wrench(w, bank, row, scale3(cross(arm, axis), scale), scale3(axis, scale))


@kernel
def sum_banks(w: Array1, rows: int) -> None:
    """Compute the bank of dofs that move both bodies: the sum of the first two banks."""
    for a in range(rows * 6):
        w[BOTH * BANK + a] = w[FIRST * BANK + a] + w[SECOND * BANK + a]


@kernel
def fill_rows(m: Model, d: Data, w: Array1, n: int, row: int, rows: int) -> None:
    """Write `rows` Jacobian rows from `row` on, for the `n` dofs of the last `merge_chains` and the wrenches `w`."""
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
            b = bank + 6 * r
            values[start + r * stride + column] = (
                w[b] * c[0] + w[b + 1] * c[1] + w[b + 2] * c[2] + w[b + 3] * c[3] + w[b + 4] * c[4] + w[b + 5] * c[5]
            )
    if sparse:
        columns = d.efc_J_colind
        for r in range(rows):
            for k in range(n):
                columns[start + r * n + k] = d.work.chain_dof[n - 1 - k]


@kernel
def body_point(d: Data, body: int, local: Vec3) -> Vec3:
    """World position of the point `local`, given in a body's frame."""
    return add3(get3(d.xpos, body), mul_mat_vec3(get9(d.xmat, body), local))
