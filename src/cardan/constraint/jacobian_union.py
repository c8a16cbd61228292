"""Jacobian rows that measure a weighted motion of several bodies, for contacts of flexes.

As in `jacobian_pair`, an entry of a row is the power of a wrench on the dof's motion axis. Here each body has its own
bank of wrenches, and the entry of a dof is the sum over the bodies that it moves.
"""

from __future__ import annotations

from cardan.constraint.jacobian_pair import BANK
from cardan.dynamics.contact_side import MAX_BODIES
from cardan.dynamics.jacobian import is_sparse
from cardan.jit import kernel, stack_int_array
from cardan.maths.spatial import get6
from cardan.maths.types import Array1, IntArray1
from cardan.model.kernel_views import Data, Model

UNION_SIZE = MAX_BODIES * BANK
WORLD = 0


@kernel
def start_chains(m: Model, bodies: IntArray1, nbody: int, dofs: IntArray1) -> int:
    """Set `dofs` to the last dofs of the bodies' chains, and return the largest."""
    last = -1
    for k in range(nbody):
        dofs[k] = m.aux.body_lastdof[bodies[k]]
        last = max(last, dofs[k])
    return last


@kernel
def pass_dof(m: Model, nbody: int, dofs: IntArray1, dof: int) -> int:
    """Advance all chains that are at `dof` towards the root; return the largest remaining dof."""
    following = -1
    for k in range(nbody):
        if dofs[k] == dof:
            dofs[k] = m.dof_parentid[dof]
        following = max(following, dofs[k])
    return following


@kernel
def unite_chains(m: Model, d: Data, bodies: IntArray1, nbody: int) -> int:
    """List the dofs that move any of the bodies in `work.chain_dof`, last first, and return their number."""
    dofs = stack_int_array(MAX_BODIES)
    dof = start_chains(m, bodies, nbody, dofs)
    n = 0
    while dof >= 0:
        d.work.chain_dof[n] = dof
        n += 1
        dof = pass_dof(m, nbody, dofs, dof)
    return n


@kernel
def add_power(d: Data, w: Array1, body: int, dof: int, start: int, stride: int, rows: int) -> None:
    """Add the power of a body's wrenches on the axis of a dof to `rows` Jacobian entries, `stride` apart."""
    values = d.efc_J
    c = get6(d.cdof, dof)
    for r in range(rows):
        b = body * BANK + 6 * r
        values[start + r * stride] += (
            w[b] * c[0] + w[b + 1] * c[1] + w[b + 2] * c[2] + w[b + 3] * c[3] + w[b + 4] * c[4] + w[b + 5] * c[5]
        )


@kernel
def fill_union(m: Model, d: Data, w: Array1, bodies: IntArray1, nbody: int, n: int, row: int, rows: int) -> None:
    """Write `rows` Jacobian rows from `row` on, for the `n` dofs of the last `unite_chains` and the wrenches `w`."""
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
                add_power(d, w, body, dof, column, stride, rows)
        dof = pass_dof(m, nbody, dofs, dof)
