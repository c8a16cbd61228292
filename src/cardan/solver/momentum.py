"""Momentum of the projected Gauss-Seidel method with `compat="4.0"`: sweeps start from extrapolated forces.

A sweep starts at f + share (f - f_before), where f and f_before are the forces after the last two sweeps. The residuals
of the dual problem (see `dual`) are linear in the forces, so they are extrapolated as well. Forces that would leave
their admissible set are corrected: scalar forces are clipped, those of an elliptic contact are not extrapolated.

Sources: Nesterov, A method of solving a convex programming problem with convergence rate O(1/k^2), 1983; O'Donoghue and
Candes, Adaptive restart for accelerated gradient schemes, 2015, section 3.2.
"""

from __future__ import annotations

from cardan.constraint.update import friction_limit
from cardan.enums.codes import CNSTR_CONTACT_ELLIPTIC
from cardan.jit import kernel
from cardan.model.kernel_views import Data
from cardan.solver.dual import piece_rows, pieces_of, set_force


@kernel
def extrapolate(d: Data, island: int, share: float, sparse: bool) -> float:
    """Store forces and residuals of an island, and move the forces on by `share` of their last change.

    Return the rise of the cost, which is mostly negative. `sparse` is true if A + R is sparse.
    """
    begin, end = pieces_of(d, island)
    for piece in range(begin, end):
        first, stop = piece_rows(d, piece)
        for i in range(first, stop):
            force, residual = d.efc_force[i], d.work.jar[i]
            if share > 0.0:
                d.efc_force[i] = force + share * (force - d.work.force_before[i])
                d.work.jar[i] = residual + share * (residual - d.work.jar_before[i])
            d.work.force_before[i] = force
            d.work.jar_before[i] = residual
    rise = 0.0
    if share > 0.0:
        for piece in range(begin, end):
            first, stop = piece_rows(d, piece)
            restrict(d, first, stop, sparse)
        for piece in range(begin, end):
            first, stop = piece_rows(d, piece)
            for i in range(first, stop):
                rise += (d.efc_force[i] - d.work.force_before[i]) * (d.work.jar[i] + d.work.jar_before[i])
    return 0.5 * rise


@kernel
def restrict(d: Data, first: int, end: int, sparse: bool) -> None:
    """Correct extrapolated forces of the rows `first` to `end` (exclusive) that are not admissible."""
    i = first
    while i < end:
        if d.efc_type[i] == CNSTR_CONTACT_ELLIPTIC:
            dim = int(d.contact.dim[d.efc_id[i]])
            if not is_in_cone(d, i, dim):
                for r in range(i, i + dim):
                    set_force(d, r, d.work.force_before[r], sparse)
            i += dim
        else:
            force = d.efc_force[i]
            if i >= d.ne + d.nf:
                force = max(force, 0.0)
            elif i >= d.ne:
                force = min(max(force, -d.efc_frictionloss[i]), d.efc_frictionloss[i])
            if force != d.efc_force[i]:
                set_force(d, i, force, sparse)
            i += 1


@kernel
def is_in_cone(d: Data, start: int, dim: int) -> bool:
    """Return whether the forces of the elliptic contact whose first row is `start` are admissible."""
    con, normal, squared = int(d.efc_id[start]), d.efc_force[start], 0.0
    for j in range(1, dim):
        ratio = d.efc_force[start + j] / d.contact.friction[con, j - 1]
        squared += ratio * ratio
    limit = friction_limit(d, con, normal)
    return normal >= 0.0 and squared <= limit * limit


@kernel
def take_back(d: Data, island: int) -> None:
    """Restore the forces and residuals of an island that `extrapolate` stored."""
    begin, end = pieces_of(d, island)
    for piece in range(begin, end):
        first, stop = piece_rows(d, piece)
        for i in range(first, stop):
            d.efc_force[i] = d.work.force_before[i]
            d.work.jar[i] = d.work.jar_before[i]
