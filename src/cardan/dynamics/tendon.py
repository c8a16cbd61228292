"""Tendons: lengths, Jacobians, velocities (spec: computation, tendons; modeling, fixed tendon).

The dofs that can change the length of tendon t are ``m.aux.ten_colind[k]`` for k from ``m.aux.ten_rowadr[t]`` to
``m.aux.ten_rowadr[t + 1]``, ascending; `tendon_moment` reads the entries of `ten_J` in this order, dense or sparse.
Compressed rows of `ten_J` also store zeros, for dofs that move a segment of the path as a whole.

Compressed rows are stored one after the other in the (n, nv) array, as in `flexedge_J`. Entry ``adr`` of all rows is at
the line and column ``(adr // nv, adr % nv)``, so that a row may begin on one line and end on the next.

A separate stage handles spatial tendons (`spatial_tendon`); models without spatial tendons never compile it.
"""

from __future__ import annotations

from cardan.dynamics.jacobian import is_sparse
from cardan.jit import OK, kernel, stage
from cardan.model.kernel_views import Data, Model


@kernel
def place_of(m: Model, adr: int) -> tuple[int, int]:
    """Line and column of an entry."""
    return adr // m.nv, adr % m.nv


@kernel
def place_after(m: Model, line: int, column: int, count: int) -> tuple[int, int]:
    """Line and column of the entry that is `count` entries later; `count` is at most nv."""
    return (line, column + count) if column + count < m.nv else (line + 1, column + count - m.nv)


@kernel
def _stored_moment(m: Model, d: Data, tendon: int, dof: int) -> float:
    """Entry of a compressed row of `ten_J` at a dof, found by bisection; 0 if it is not stored."""
    low = d.ten_J_rowadr[tendon]
    end = low + d.ten_J_rownnz[tendon]
    high = end
    while low < high:
        middle = (low + high) // 2
        if d.ten_J_colind[middle // m.nv, middle % m.nv] < dof:
            low = middle + 1
        else:
            high = middle
    if low < end and d.ten_J_colind[low // m.nv, low % m.nv] == dof:
        return d.ten_J[low // m.nv, low % m.nv]
    return 0.0


@kernel
def tendon_moment(m: Model, d: Data, tendon: int, k: int) -> float:
    """Derivative of a tendon's length by the position of the dof ``m.aux.ten_colind[k]``."""
    if is_sparse(m):
        return _stored_moment(m, d, tendon, m.aux.ten_colind[k])
    return d.ten_J[tendon, m.aux.ten_colind[k]]


@kernel
def clear_row(m: Model, d: Data, tendon: int) -> None:
    """Set the entries of `work.ten_row` that a tendon can write to zero."""
    for k in range(m.aux.ten_rowadr[tendon], m.aux.ten_rowadr[tendon + 1]):
        d.work.ten_row[m.aux.ten_colind[k]] = 0.0


@kernel
def store_row(m: Model, d: Data, tendon: int) -> None:
    """Copy `work.ten_row` to the row of a tendon in `ten_J` (dense storage); its other entries are zero."""
    for k in range(m.aux.ten_rowadr[tendon], m.aux.ten_rowadr[tendon + 1]):
        dof = m.aux.ten_colind[k]
        d.ten_J[tendon, dof] = d.work.ten_row[dof]


@kernel
def fixed_tendon(m: Model, d: Data, tendon: int) -> float:
    """Return the length of a fixed tendon; add the weights of its joints to `work.ten_row`, and mark their dofs."""
    length = 0.0
    first = m.tendon_adr[tendon]
    for wrap in range(first, first + m.tendon_num[tendon]):
        joint = m.wrap_objid[wrap]
        coefficient = m.wrap_prm[wrap]
        length += coefficient * d.qpos[m.jnt_qposadr[joint]]
        d.work.ten_row[m.jnt_dofadr[joint]] += coefficient
        d.work.ten_mark[m.jnt_dofadr[joint]] = tendon + 1
    return length


@kernel
def clear_jacobian(m: Model, d: Data) -> None:
    """Set `ten_J` (dense storage) or the marks of dofs to zero."""
    if is_sparse(m):
        for dof in range(m.nv):
            d.work.ten_mark[dof] = 0
        return
    for tendon in range(m.ntendon):
        for dof in range(m.nv):
            d.ten_J[tendon, dof] = 0.0


@kernel
def compress_row(m: Model, d: Data, tendon: int, adr: int) -> int:
    """Store the marked entries of `work.ten_row` as a compressed row of `ten_J` from `adr` on; return the row's end."""
    d.ten_J_rowadr[tendon] = adr
    line, column = place_of(m, adr)
    at = m.aux.ten_rowadr[tendon]
    stop = m.aux.ten_rowadr[tendon + 1]
    for k in range(m.aux.ten_J_rowadr[tendon], m.aux.ten_J_rowadr[tendon + 1]):
        dof = m.aux.ten_J_colind[k]
        value = 0.0
        if at < stop and m.aux.ten_colind[at] == dof:
            value = d.work.ten_row[dof]
            at += 1
        if d.work.ten_mark[dof] == tendon + 1:
            d.ten_J_colind[line, column] = dof
            d.ten_J[line, column] = value
            line, column = place_after(m, line, column, 1)
            adr += 1
    d.ten_J_rownnz[tendon] = adr - d.ten_J_rowadr[tendon]
    return adr


@kernel
def finish_row(m: Model, d: Data, tendon: int, adr: int) -> int:
    """Move `work.ten_row` to `ten_J` in the model's storage format; return the start of the next compressed row."""
    if is_sparse(m):
        return compress_row(m, d, tendon, adr)
    store_row(m, d, tendon)
    return 0


@stage
def tendon(m: Model, d: Data) -> int:
    """Compute lengths of fixed tendons and their Jacobians.

    Reads qpos; writes ten_length (ntendon,) and ten_J. Dense storage is (ntendon, nv). Sparse storage has rows packed
    one after the other, with ten_J_rownnz, ten_J_rowadr, ten_J_colind.
    """
    clear_jacobian(m, d)
    adr = 0
    for t in range(m.ntendon):
        clear_row(m, d, t)
        d.ten_length[t] = fixed_tendon(m, d, t)
        adr = finish_row(m, d, t, adr)
    return OK


@kernel
def tendon_rate(m: Model, d: Data, tendon: int) -> float:
    """Rate of change of a tendon's length: its row of `ten_J` times qvel."""
    velocity = 0.0
    if is_sparse(m):
        line, column = place_of(m, d.ten_J_rowadr[tendon])
        for _ in range(d.ten_J_rownnz[tendon]):
            velocity += d.ten_J[line, column] * d.qvel[d.ten_J_colind[line, column]]
            line, column = place_after(m, line, column, 1)
        return velocity
    for k in range(m.aux.ten_rowadr[tendon], m.aux.ten_rowadr[tendon + 1]):
        dof = m.aux.ten_colind[k]
        velocity += d.ten_J[tendon, dof] * d.qvel[dof]
    return velocity


@stage
def tendon_velocity(m: Model, d: Data) -> int:
    """Compute rates of change of tendon lengths: ten_velocity (ntendon,) = ten_J qvel."""
    for t in range(m.ntendon):
        d.ten_velocity[t] = tendon_rate(m, d, t)
    return OK
