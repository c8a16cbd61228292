"""Jacobian rows from tendon moment arms, which are stored in `ten_J` (dense, or CSR packed into the same array)."""

from __future__ import annotations

from cardan.constraint.rows import put_entry
from cardan.dynamics.jacobian import is_sparse
from cardan.dynamics.packed import place_after, place_of
from cardan.jit import kernel
from cardan.model.kernel_views import Data, Model


@kernel
def combine_tendons(m: Model, d: Data, tendon1: int, scale1: float, tendon2: int, scale2: float) -> int:
    """Compute ``scale1 ten_J[tendon1] + scale2 ten_J[tendon2]`` by increasing dof.

    The dofs are written to `work.chain_dof`, the values to `work.chain_value`.

    Args:
        m: the model.
        d: the data.
        tendon1: id of a tendon.
        scale1: factor of the first tendon.
        tendon2: id of the second tendon, or -1.
        scale2: factor of the second tendon.

    Returns:
        The number of dofs. In sparse storage, these are the dofs that either row stores; in dense storage, it is 0 if
        all values are 0.
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
    """Compute `combine_tendons` of a single tendon in sparse storage."""
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
    """Copy the `n` entries of the last `combine_tendons` to `row`; this may be the first row of a tendon."""
    for k in range(n):
        put_entry(m, d, row, k, int(d.work.chain_dof[k]), d.work.chain_value[k])
    if d.tendon_efcadr[tendon1] < 0:
        d.tendon_efcadr[tendon1] = row
    if tendon2 >= 0 and d.tendon_efcadr[tendon2] < 0:
        d.tendon_efcadr[tendon2] = row
