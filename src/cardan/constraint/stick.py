"""Stages of contacts that are remembered from step to step: contacts that stick, and the lagged normal law.

*Deformation.* A contact that sticks has a deformation z in each of its friction directions: two of sliding (m), one of
twist and two of rolling (rad). Within a step z is constant, and shifts the reference acceleration like the position
residual of the normal: ``aref = -b v - k d z``. The problem of the solver stays the same convex one. At the end of the
step z grows by h times the new velocity. Then it is scaled down until the elastic part of the force,
``D k d z`` in each direction, lies in the friction cone of the contact's normal force: the contact yields. Contacts
that are remembered have elliptic cones, whatever ``opt.cone`` is: a pyramid lifts a body before it slips.
The computation chapter of the specification describes such deformation states as an option (soft contact model).

*Lagged normal force.* The friction cone of MuJoCo couples the normal force to the speed of sliding, so that friction
lifts what slides. With the lagged law, the normal force is that of a frictionless contact. The normal force of the last
step limits friction (A. Castro et al., *Irrotational Contact Fields*, 2023, arXiv 2312.03908, "lagged" model).
`cardan.constraint.update` has the cost.

*Memory.* The rows of ``d.stick`` are the contacts of the last step, in their order; the first row with `GEOM1` 0 ends
them. A contact belongs to the row of the same two geoms whose point is nearest, seen from one of the geoms. A new
contact of a pair thus takes over the deformation of its neighbour. Contacts beyond ``nstick`` are not remembered.

======== ============= ==============================================================================
numbers  name          meaning
======== ============= ==============================================================================
0, 1     GEOM1, GEOM2  ids of the geoms plus 1; 0: the row is empty
2 to 4   POINT1        the contact in the frame of geom 1, m
5 to 7   POINT2        the contact in the frame of geom 2, m
8 to 10  SLIDE         sliding deformation in the frame of geom 1, m
11       TWIST         twist about the normal, rad
12 to 14 ROLL          rolling deformation in the frame of geom 1, rad
15       NORMAL        normal force, N
======== ============= ==============================================================================
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from cardan.collision.contact import LAGGED, STICKS
from cardan.constraint.contact import contact_axis
from cardan.constraint.rows import get_solimp, stiffness_damping
from cardan.dynamics.jacobian import is_sparse
from cardan.enums.codes import INT_DISCRETE, WARN_CONTACTFULL
from cardan.jit import OK, kernel, stack_array, stage
from cardan.maths.types import Array1, Vec3
from cardan.maths.vector import add_scaled3, dot3, get2, get3, get9, mul_mat_t_vec3, mul_mat_vec3, scale3, sub3
from cardan.model.fields_arena import MAX_FRICTION
from cardan.model.fields_own import MEMORY_WIDTH
from cardan.model.kernel_views import Data, Model

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

GEOM1, GEOM2, POINT1, POINT2, SLIDE, TWIST, ROLL, NORMAL = 0, 1, 2, 5, 8, 11, 12, 15
NOT_LAGGED = -1.0
"""Value of ``contact.lagged`` of contacts with the coupled normal law of MuJoCo."""


def remembers_contacts(m: MjModel) -> bool:
    """Return whether the model has memory for contacts."""
    return m.nstick > 0


@kernel
def _local(d: Data, geom: int, point: Vec3) -> Vec3:
    """Coordinates of a point in the frame of a geom."""
    return mul_mat_t_vec3(get9(d.geom_xmat, geom), sub3(point, get3(d.geom_xpos, geom)))


@kernel
def _vector_at(d: Data, row: int, first: int) -> Vec3:
    """Three numbers of a row of the memory."""
    return (d.stick[row, first], d.stick[row, first + 1], d.stick[row, first + 2])


@kernel
def _is_of(d: Data, row: int, geom1: int, geom2: int) -> bool:
    """Return whether a row of the memory belongs to a pair of geoms."""
    return d.stick[row, GEOM1] == geom1 + 1 and d.stick[row, GEOM2] == geom2 + 1


@kernel
def _number_remembered(m: Model, d: Data) -> int:
    """Number of rows of the memory in use."""
    n = 0
    while n < m.nstick and d.stick[n, GEOM1] > 0.0:
        n += 1
    return n


@kernel
def _first_of_pair(d: Data, n: int, start: int, geom1: int, geom2: int) -> int:
    """First of the `n` rows of the memory, cyclically from `start` on, that belongs to a pair of geoms; -1: none.

    If `start` is in the rows of the pair, it must be the first of them.
    """
    row = start
    for _ in range(n):
        if row >= n:
            row = 0
        if _is_of(d, row, geom1, geom2):
            return row
        row += 1
    return -1


@kernel
def _squared_distance(a: Vec3, b: Vec3) -> float:
    difference = sub3(a, b)
    return dot3(difference, difference)


@kernel
def _nearest_of_pair(d: Data, con: int, first: int, n: int) -> int:
    """Row of the contact's pair, from `first` on, whose point is nearest in the frame of one of the geoms."""
    geom1, geom2 = int(d.contact.geom[con, 0]), int(d.contact.geom[con, 1])
    point = get3(d.contact.pos, con)
    point1, point2 = _local(d, geom1, point), _local(d, geom2, point)
    nearest, least = first, 0.0
    row = first
    while row < n and _is_of(d, row, geom1, geom2):
        squared = min(
            _squared_distance(point1, _vector_at(d, row, POINT1)), _squared_distance(point2, _vector_at(d, row, POINT2))
        )
        if row == first or squared < least:
            nearest, least = row, squared
        row += 1
    return nearest


@kernel
def _recall(d: Data, con: int, row: int) -> None:
    """Set the deformation and the normal force of the last step from a row of the memory."""
    if d.contact.law[con] & STICKS:
        rotation = get9(d.geom_xmat, d.contact.geom[con, 0])
        slide = mul_mat_vec3(rotation, _vector_at(d, row, SLIDE))
        roll = mul_mat_vec3(rotation, _vector_at(d, row, ROLL))
        for k in range(2):
            d.contact.deformation[con, k] = dot3(contact_axis(d, con, 1 + k), slide)
            d.contact.deformation[con, 3 + k] = dot3(contact_axis(d, con, 1 + k), roll)
        d.contact.deformation[con, 2] = d.stick[row, TWIST]
    if d.contact.law[con] & LAGGED:
        d.contact.lagged[con] = d.stick[row, NORMAL]


@stage
def recall_contacts(m: Model, d: Data) -> int:
    """Set ``contact.deformation`` and ``contact.lagged`` of all contacts from the memory; new contacts have 0."""
    n = _number_remembered(m, d)
    start = 0
    for con in range(d.ncon):
        law = d.contact.law[con]
        d.contact.lagged[con] = 0.0 if law & LAGGED else NOT_LAGGED
        for k in range(5):
            d.contact.deformation[con, k] = 0.0
        if law != 0:
            first = _first_of_pair(d, n, start, int(d.contact.geom[con, 0]), int(d.contact.geom[con, 1]))
            if first >= 0:
                start = first
                _recall(d, con, _nearest_of_pair(d, con, first, n))
    return OK


@kernel
def _friction_stiffness(m: Model, d: Data, con: int, row: int) -> float:
    """Stiffness of the friction rows: that of the normal row, unless ``solreffriction`` is given."""
    solref = get2(d.contact.solreffriction, con)
    if solref[0] != 0.0 or solref[1] != 0.0:
        stiffness, _ = stiffness_damping(m, solref, get_solimp(d.contact.solimp, con))
        return stiffness
    return d.efc_KBIP[row, 0]


@stage
def deform_rows(m: Model, d: Data) -> int:
    """Set efc_pos of the friction rows of contacts that stick to the deformations, and give the rows a stiffness."""
    for con in range(d.ncon):
        row = int(d.contact.efc_address[con])
        if row >= 0 and d.contact.law[con] & STICKS:
            for j in range(1, d.contact.dim[con]):
                d.efc_pos[row + j] = d.contact.deformation[con, j - 1]
                d.efc_KBIP[row + j, 0] = _friction_stiffness(m, d, con, row)
    return OK


@kernel
def _row_velocity(m: Model, d: Data, row: int) -> float:
    """Velocity of a row with the current qvel: row of J times qvel."""
    total = 0.0
    if is_sparse(m):
        start = int(d.efc_J_rowadr[row])
        for a in range(start, start + d.efc_J_rownnz[row]):
            total += d.efc_J[a] * d.qvel[d.efc_J_colind[a]]
    else:
        start = row * int(m.nv)
        for k in range(m.nv):
            total += d.efc_J[start + k] * d.qvel[k]
    return total


@kernel
def _stretch(m: Model, d: Data, con: int, row: int, z: Array1) -> None:
    """Set `z` (5,) to ``contact.deformation`` plus h times the current velocity, with that of the surfaces."""
    for j in range(1, d.contact.dim[con]):
        velocity = _row_velocity(m, d, row + j)
        if m.flg_surfacevel != 0 and j < 4:
            velocity += d.contact.surfacevel[con, j - 1]
        z[j - 1] = d.contact.deformation[con, j - 1] + m.opt.timestep * velocity


@kernel
def _end_of_step(m: Model, d: Data, i: int) -> float:
    """Factor by which the integrator discrete has enlarged 1 / R of a row and reduced its reference acceleration."""
    if m.opt.integrator != INT_DISCRETE:
        return 1.0
    h = m.opt.timestep
    return 1.0 + h * d.efc_KBIP[i, 1] + h * h * d.efc_KBIP[i, 0] * d.efc_KBIP[i, 2]


@kernel
def _yield(m: Model, d: Data, con: int, row: int, z: Array1) -> None:
    """Scale the deformation `z` down, if necessary, so that the elastic force lies in the cone of the normal force."""
    squared = 0.0
    for j in range(1, d.contact.dim[con]):
        i = row + j
        force = d.efc_D[i] * d.efc_KBIP[i, 0] * d.efc_KBIP[i, 2] * z[j - 1]
        share = force / (d.contact.friction[con, j - 1] * _end_of_step(m, d, i))
        squared += share * share
    needed, normal = sqrt(squared), d.efc_force[row]
    if needed > normal:
        for k in range(5):
            z[k] *= normal / needed


@kernel
def _combined(d: Data, con: int, along1: float, along2: float) -> Vec3:
    """Vector in the world frame with components along the two tangents of a contact."""
    return add_scaled3(scale3(contact_axis(d, con, 1), along1), contact_axis(d, con, 2), along2)


@kernel
def _remember(d: Data, con: int, slot: int, normal: float, z: Array1) -> None:
    """Write row `slot` of the memory, with the deformation `z` (5,). Poses of geoms must be those of the contact."""
    geom1, geom2 = int(d.contact.geom[con, 0]), int(d.contact.geom[con, 1])
    rotation, point = get9(d.geom_xmat, geom1), get3(d.contact.pos, con)
    point1, point2 = _local(d, geom1, point), _local(d, geom2, point)
    slide = mul_mat_t_vec3(rotation, _combined(d, con, z[0], z[1]))
    roll = mul_mat_t_vec3(rotation, _combined(d, con, z[3], z[4]))
    d.stick[slot, GEOM1] = geom1 + 1
    d.stick[slot, GEOM2] = geom2 + 1
    for k in range(3):
        d.stick[slot, POINT1 + k] = point1[k]
        d.stick[slot, POINT2 + k] = point2[k]
        d.stick[slot, SLIDE + k] = slide[k]
        d.stick[slot, ROLL + k] = roll[k]
    d.stick[slot, TWIST] = z[2]
    d.stick[slot, NORMAL] = normal


@kernel
def _forget(m: Model, d: Data, slot: int) -> None:
    """Clear the rows of the memory from `slot` on."""
    while slot < m.nstick and d.stick[slot, GEOM1] > 0.0:
        for k in range(MEMORY_WIDTH):
            d.stick[slot, k] = 0.0
        slot += 1


@stage
def remember_contacts(m: Model, d: Data) -> int:
    """Advance the deformations by one step with the new velocity, and write all contacts to the memory.

    Needs the constraint rows and forces of the step, and the poses of geoms at its start. If the memory is full, the
    warning of full contact memory is counted.
    """
    slot = 0
    z = stack_array(MAX_FRICTION)
    for con in range(d.ncon):
        row = int(d.contact.efc_address[con])
        if row < 0 or d.contact.law[con] == 0 or d.contact.dim[con] == 1:
            continue
        if slot == m.nstick:
            d.warning.number[WARN_CONTACTFULL] += 1
            d.warning.lastinfo[WARN_CONTACTFULL] = slot
            break
        for k in range(MAX_FRICTION):
            z[k] = 0.0
        if d.contact.law[con] & STICKS:
            _stretch(m, d, con, row, z)
            _yield(m, d, con, row, z)
        _remember(d, con, slot, d.efc_force[row], z)
        slot += 1
    _forget(m, d, slot)
    return OK
