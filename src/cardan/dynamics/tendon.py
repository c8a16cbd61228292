"""Fixed tendons: length as a linear function of joint positions (spec: computation, tendons; modeling, fixed tendon).

The dofs of tendon t are ``m.aux.ten_colind[k]`` for k from ``m.aux.ten_rowadr[t]`` to ``m.aux.ten_rowadr[t + 1]``;
`tendon_moment` reads the entries of `ten_J` in the same order, dense or sparse.
"""

from __future__ import annotations

from typing import Any

from cardan.dynamics.jacobian import is_sparse
from cardan.enums import mjtWrap
from cardan.jit import OK, kernel, stage

JOINT = int(mjtWrap.mjWRAP_JOINT)


@kernel
def tendon_moment(m: Any, d: Any, tendon: int, k: int) -> float:
    """Derivative of the length of a tendon by the position of the dof ``m.aux.ten_colind[k]``."""
    if is_sparse(m):
        return d.ten_J[k // m.nv, k % m.nv]
    return d.ten_J[tendon, m.aux.ten_colind[k]]


@kernel
def _add_tendon_moment(m: Any, d: Any, tendon: int, k: int, value: float) -> None:
    if is_sparse(m):
        d.ten_J[k // m.nv, k % m.nv] += value
    else:
        d.ten_J[tendon, m.aux.ten_colind[k]] += value


@kernel
def _clear_jacobian(m: Any, d: Any) -> None:
    """Zero the entries of `ten_J` that are in use, and set the sparse structure if there is one."""
    if not is_sparse(m):
        for tendon in range(m.ntendon):
            for dof in range(m.nv):
                d.ten_J[tendon, dof] = 0.0
        return
    for tendon in range(m.ntendon):
        start, stop = m.aux.ten_rowadr[tendon], m.aux.ten_rowadr[tendon + 1]
        d.ten_J_rowadr[tendon] = start
        d.ten_J_rownnz[tendon] = stop - start
        for k in range(start, stop):
            d.ten_J_colind[k // m.nv, k % m.nv] = m.aux.ten_colind[k]
            d.ten_J[k // m.nv, k % m.nv] = 0.0


@stage
def tendon(m: Any, d: Any) -> int:
    """Lengths of tendons and their Jacobians.

    Reads qpos; writes ten_length (ntendon,), ten_J (dense: (ntendon, nv); sparse: rows packed one after the other, with
    ten_J_rownnz, ten_J_rowadr, ten_J_colind).
    """
    _clear_jacobian(m, d)
    for t in range(m.ntendon):
        length = 0.0
        first = m.tendon_adr[t]
        for wrap in range(first, first + m.tendon_num[t]):
            if m.wrap_type[wrap] == JOINT:
                coefficient = m.wrap_prm[wrap]
                length += coefficient * d.qpos[m.jnt_qposadr[m.wrap_objid[wrap]]]
                _add_tendon_moment(m, d, t, m.aux.ten_rowadr[t] + m.aux.wrap_entry[wrap], coefficient)
        d.ten_length[t] = length
    return OK


@stage
def tendon_velocity(m: Any, d: Any) -> int:
    """Rates of change of tendon lengths: ten_velocity (ntendon,) = ten_J qvel."""
    for t in range(m.ntendon):
        velocity = 0.0
        for k in range(m.aux.ten_rowadr[t], m.aux.ten_rowadr[t + 1]):
            velocity += tendon_moment(m, d, t, k) * d.qvel[m.aux.ten_colind[k]]
        d.ten_velocity[t] = velocity
    return OK
