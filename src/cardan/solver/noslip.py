"""No-slip solver: a modified PGS that suppresses slip (spec: modelling, solver settings).

It runs after the main solver, and updates only friction forces. These are friction loss, the friction of elliptic
contacts with their normal force fixed, and opposite edges of pyramids with their sum, the normal force, fixed. The
regulariser R is left out, so that these dimensions become hard.
"""

from __future__ import annotations

from cardan.constraint.rows import is_sparse
from cardan.enums.codes import CNSTR_CONTACT_ELLIPTIC, CNSTR_CONTACT_PYRAMIDAL
from cardan.jit import OK, kernel, stack_array, stage
from cardan.maths.vector import MINVAL
from cardan.model.fields_arena import MAX_FRICTION
from cardan.model.kernel_views import Data, Model
from cardan.solver.dual import accept, apply_forces, load_block, record_sweep, start_residuals, update_row
from cardan.solver.ellipsoid import MATRIX, minimize_in_ellipsoid

EDGES = 2  # opposite edges of a pyramid, updated together
EDGE_MATRIX = EDGES * EDGES


@stage
def solve_noslip(m: Model, d: Data) -> int:
    """Update efc_force of the friction dimensions, and with it efc_state, qfrc_constraint and qacc.

    Needs ``work.AR`` and efc_b. The statistics are appended to those of the main solver.
    """
    if d.nefc == 0:
        return OK
    sparse = is_sparse(m)
    scale = 1.0 / (m.stat.meaninertia * max(1, m.nv))
    # the cost of the regulariser is no longer included: the first sweep counts it as an improvement
    released = 0.0
    for i in range(d.nefc):
        released += 0.5 * d.efc_R[i] * d.efc_force[i] * d.efc_force[i]
    start_residuals(d, sparse)
    for _ in range(m.opt.noslip_iterations):
        improvement = scale * (released + sweep_friction(d, sparse))
        released = 0.0
        record_sweep(d, improvement)
        if not improvement >= m.opt.noslip_tolerance:
            break
    apply_forces(m, d)
    return OK


@kernel
def sweep_friction(d: Data, sparse: bool) -> float:
    """Update all friction forces; return the decrease of the cost."""
    decrease = 0.0
    first = int(d.ne)
    for i in range(first, first + d.nf):
        residual = d.work.jar[i] - d.efc_R[i] * d.efc_force[i]
        decrease += update_row(d, i, d.work.AR[d.work.AR_diagonal[i]] - d.efc_R[i], residual, sparse)
    i = first + int(d.nf)
    while i < d.nefc:
        if d.efc_type[i] == CNSTR_CONTACT_PYRAMIDAL:
            decrease += update_edges(d, i, sparse)
            i += 2
        elif d.efc_type[i] == CNSTR_CONTACT_ELLIPTIC:
            decrease += update_slice(d, i, sparse)
            i += int(d.contact.dim[d.efc_id[i]])
        else:
            i += 1
    return decrease


@kernel
def update_edges(d: Data, i: int, sparse: bool) -> float:
    """Update two opposite edges of a pyramid, rows `i` and `i + 1`: forces mean + y and mean - y with a fixed mean."""
    block = stack_array(EDGE_MATRIX)
    residual = stack_array(EDGES)
    forces = stack_array(EDGES)
    load_block(d, i, EDGES, False, block, residual)
    mean = 0.5 * (d.efc_force[i] + d.efc_force[i + 1])
    half = 0.5 * (d.efc_force[i] - d.efc_force[i + 1])
    curvature = block[0] + block[3] - block[1] - block[2]
    if curvature < MINVAL or mean <= 0.0:
        half = 0.0  # stops its derivatives, too; equal bounds of 0 on both sides would leave them where half is 0
    else:
        half = min(max(half - (residual[0] - residual[1]) / curvature, -mean), mean)
    forces[0] = mean + half
    forces[1] = mean - half
    return accept(d, i, EDGES, sparse, block, residual, forces)


@kernel
def update_slice(d: Data, start: int, sparse: bool) -> float:
    """Update the friction of the elliptic contact whose first row is `start`; return the decrease of the cost."""
    block = stack_array(MATRIX)
    residual = stack_array(MAX_FRICTION)
    b = stack_array(MAX_FRICTION)
    scale = stack_array(MAX_FRICTION)
    forces = stack_array(MAX_FRICTION)
    con = int(d.efc_id[start])
    n = int(d.contact.dim[con]) - 1
    load_block(d, start + 1, n, False, block, residual)
    for i in range(n):
        forces[i] = 0.0
        scale[i] = d.contact.friction[con, i]
        b[i] = residual[i]
        for j in range(n):
            b[i] -= block[i * n + j] * d.efc_force[start + 1 + j]
    if d.efc_force[start] >= MINVAL:
        minimize_in_ellipsoid(block, b, scale, d.efc_force[start], n, forces)
    return accept(d, start + 1, n, sparse, block, residual, forces)
