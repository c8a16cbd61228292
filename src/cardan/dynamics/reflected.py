"""Inertia and damping that actuators add to their joints and tendons, and inertia of tendons (MuJoCo since 3.3, 3.7).

A rotor behind a gear of ratio g adds g^2 times its inertia and damping to what it drives ("reflected" inertia). The
dofs of a joint get this on the diagonal of M. A tendon of length L(q) with the total armature a has the kinetic energy
a v^2 / 2, where v = J qvel is the velocity of the length. It adds ::

    a J' J              to the inertia matrix M
    a J' (dJ/dt qvel)   to the bias force

Entries of M that couple dofs of different branches have no memory in `qM`. As in MuJoCo, they are left out.

The actuators on a joint or tendon are ``m.aux.driver[k]`` for k from ``m.aux.driver_rowadr[row]`` to
``m.aux.driver_rowadr[row + 1]`` (exclusive). The row of a joint is its id, the row of a tendon is njnt plus its id.

Spec 4.0: XML reference, ``armature`` of tendons, ``armature`` and ``damping`` of actuators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.dynamics.com import acceleration_at, velocity_at
from cardan.dynamics.powers import has_powers, secant, slope
from cardan.dynamics.tendon import tendon_moment
from cardan.enums.codes import TRN_JOINT, TRN_JOINTINPARENT, TRN_TENDON, WRAP_JOINT, WRAP_PULLEY, WRAP_SITE
from cardan.jit import kernel
from cardan.maths.types import Array2, Vec3
from cardan.maths.vector import MINVAL, add_scaled3, dot3, get3, get6, norm3, scale3, sub3
from cardan.model.kernel_views import Data, Model

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel


@kernel
def gear_squared(m: Model, actuator: int) -> float:
    """Square of the first element of an actuator's gear."""
    gear = m.actuator_gear[m.actuator_outadr[actuator], 0]
    return gear * gear


@kernel
def added_armature(m: Model, row: int) -> float:
    """Armature that actuators add to a joint or tendon, given by its `row` in `aux.driver_rowadr`."""
    total = 0.0
    for k in range(m.aux.driver_rowadr[row], m.aux.driver_rowadr[row + 1]):
        actuator = m.aux.driver[k]
        if m.actuator_armature[actuator] != 0.0:
            total += gear_squared(m, actuator) * m.actuator_armature[actuator]
    return total


@kernel
def tendon_armature(m: Model, tendon: int) -> float:
    """Armature of a tendon: its own, and what actuators add."""
    return m.tendon_armature[tendon] + added_armature(m, m.njnt + tendon)


@kernel
def adds_damping(m: Model, actuator: int) -> bool:
    """Return whether an actuator adds damping to its joint or tendon."""
    return m.actuator_damping[actuator] != 0.0 or has_powers(m.actuator_dampingpoly, actuator)


@kernel
def any_added_armature(m: Model) -> bool:
    """Return whether any actuator adds armature to its joint or tendon."""
    total = 0.0  # a sum needs no branches, so that the loop becomes vector code
    for actuator in range(m.nactuator):
        total += abs(m.actuator_armature[actuator])
    return total != 0.0


@kernel
def any_added_damping(m: Model) -> bool:
    """Return whether any actuator adds damping to its joint or tendon."""
    total = 0.0  # as in `any_added_armature`
    for actuator in range(m.nactuator):
        total += abs(m.actuator_damping[actuator])
        total += abs(m.actuator_dampingpoly[actuator, 0]) + abs(m.actuator_dampingpoly[actuator, 1])
    return total != 0.0


@kernel
def damps_a_joint(m: Model, actuator: int) -> bool:
    """Return whether an actuator adds damping to a joint."""
    return m.actuator_trntype[actuator] in (TRN_JOINT, TRN_JOINTINPARENT) and adds_damping(m, actuator)


@kernel
def added_secant(m: Model, row: int, speed: float) -> float:
    """Damping force over velocity that actuators add to a joint or tendon, given by its `row` in `aux.driver_rowadr`.

    `speed` is the absolute velocity of the dof or of the tendon's length.
    """
    total = 0.0
    for k in range(m.aux.driver_rowadr[row], m.aux.driver_rowadr[row + 1]):
        actuator = m.aux.driver[k]
        if adds_damping(m, actuator):
            own = secant(m.actuator_damping[actuator], m.actuator_dampingpoly, actuator, speed)
            total += gear_squared(m, actuator) * own
    return total


@kernel
def added_slope(m: Model, row: int, speed: float) -> float:
    """Rate at which the force of `added_secant` grows with the velocity."""
    total = 0.0
    for k in range(m.aux.driver_rowadr[row], m.aux.driver_rowadr[row + 1]):
        actuator = m.aux.driver[k]
        if adds_damping(m, actuator):
            own = slope(m.actuator_damping[actuator], m.actuator_dampingpoly, actuator, speed)
            total += gear_squared(m, actuator) * own
    return total


@kernel
def dof_slope(m: Model, d: Data, dof: int, added: bool) -> float:
    """Return the rate at which the damping force of a dof grows with its velocity.

    Args:
        m: model.
        d: data.
        dof: id of the dof.
        added: whether any actuator adds damping (`any_added_damping`, evaluated once for all dofs).
    """
    speed = abs(d.qvel[dof])
    value = slope(m.dof_damping[dof], m.dof_dampingpoly, dof, speed)
    if added:
        value += added_slope(m, m.dof_jntid[dof], speed)
    return value


@kernel
def tendon_slope(m: Model, d: Data, tendon: int) -> float:
    """Return the rate at which the damping force of a tendon grows with its velocity. Reads ten_velocity.

    Negative damping of the tendon's own counts as 0, as in MuJoCo, if it has no other coefficients.
    """
    speed = abs(d.ten_velocity[tendon])
    own = 0.0
    if m.tendon_damping[tendon] > 0.0 or has_powers(m.tendon_dampingpoly, tendon):
        own = slope(m.tendon_damping[tendon], m.tendon_dampingpoly, tendon, speed)
    return own + added_slope(m, m.njnt + tendon, speed)


@kernel
def add_tendon_inertia(m: Model, d: Data, some_sleep: bool) -> None:
    """Add a J' J of each tendon with armature a to the stored entries of `qM`.

    If `some_sleep` is set, rows of trees that sleep are left out: they are complete already.
    """
    for tendon in range(m.ntendon):
        armature = tendon_armature(m, tendon)
        if armature == 0.0:
            continue
        first = m.aux.ten_rowadr[tendon]
        for a in range(first, m.aux.ten_rowadr[tendon + 1]):
            row = m.aux.ten_colind[a]
            if some_sleep and d.tree_asleep[m.dof_treeid[row]] >= 0:
                continue
            scaled = armature * tendon_moment(m, d, tendon, a)
            # both lists of dofs go towards the root
            k, end = m.aux.M_rowadr[row], m.aux.M_rowadr[row + 1]
            for b in range(a, first - 1, -1):
                while k < end and m.aux.M_colind[k] > m.aux.ten_colind[b]:
                    k += 1
                if k < end and m.aux.M_colind[k] == m.aux.ten_colind[b]:
                    d.qM[k] += scaled * tendon_moment(m, d, tendon, b)


@kernel
def _segment_drift(m: Model, d: Data, acceleration: Array2, site1: int, site2: int) -> float:
    """Second derivative of the distance between two sites, at the given `acceleration` of bodies (nbody, 6).

    It is u' (a_2 - a_1) + |w|^2 / distance. The unit vector u points from site 1 to site 2. The vector w is the part of
    the relative velocity that is orthogonal to u.
    """
    body1, body2 = m.site_bodyid[site1], m.site_bodyid[site2]
    point1, point2 = get3(d.site_xpos, site1), get3(d.site_xpos, site2)
    along = sub3(point2, point1)
    distance = norm3(along)
    if body1 == body2 or distance < MINVAL:
        return 0.0
    change: Vec3 = (0.0, 0.0, 0.0)
    velocity: Vec3 = (0.0, 0.0, 0.0)
    for side in range(2):
        body, point, sign = (body2, point2, 1.0) if side == 1 else (body1, point1, -1.0)
        motion = velocity_at(m, d, body, point)
        rate = acceleration_at(m, d, get6(acceleration, body), body, point)
        velocity = add_scaled3(velocity, (motion[3], motion[4], motion[5]), sign)
        change = add_scaled3(change, (rate[3], rate[4], rate[5]), sign)
    unit = scale3(along, 1.0 / distance)
    across = add_scaled3(velocity, unit, -dot3(unit, velocity))
    return dot3(unit, change) + dot3(across, across) / distance


@kernel
def _path_drift(m: Model, d: Data, acceleration: Array2, tendon: int) -> float:
    """Second derivative of the length of a spatial tendon, at the given `acceleration` of bodies (nbody, 6)."""
    drift, share, before = 0.0, 1.0, -1
    for at in range(m.tendon_adr[tendon], m.tendon_adr[tendon] + m.tendon_num[tendon]):
        if m.wrap_type[at] == WRAP_PULLEY:
            share, before = 1.0 / m.wrap_prm[at], -1
        elif m.wrap_type[at] == WRAP_SITE:
            site = int(m.wrap_objid[at])
            if before >= 0:
                drift += share * _segment_drift(m, d, acceleration, before, site)
            before = site
    return drift


@kernel
def add_tendon_bias(m: Model, d: Data, acceleration: Array2, some_sleep: bool) -> None:
    """Add to `qfrc_bias` the bias force of tendons with armature, and store their drift in `work.ten_drift`.

    The drift is (dJ/dt) qvel, the second derivative of the length where qacc is 0. It is 0 for fixed tendons. Paths
    around geoms have no such term: their tendons have no armature.

    Args:
        m: model.
        d: data, after `com_vel`.
        acceleration: accelerations of bodies (nbody, 6) where qacc is 0; gravity may be included.
        some_sleep: whether to leave out dofs of trees that sleep.
    """
    for tendon in range(m.ntendon):
        d.work.ten_drift[tendon] = 0.0
        armature = tendon_armature(m, tendon)
        if armature == 0.0 or m.wrap_type[m.tendon_adr[tendon]] == WRAP_JOINT:
            continue
        drift = _path_drift(m, d, acceleration, tendon)
        d.work.ten_drift[tendon] = drift
        for k in range(m.aux.ten_rowadr[tendon], m.aux.ten_rowadr[tendon + 1]):
            dof = m.aux.ten_colind[k]
            if not some_sleep or d.tree_asleep[m.dof_treeid[dof]] < 0:
                d.qfrc_bias[dof] += armature * drift * tendon_moment(m, d, tendon, k)


@kernel
def inertial_force(m: Model, d: Data, tendon: int) -> float:
    """Force along a tendon due to its armature a: - a (J qacc + dJ/dt qvel). Reads work.ten_drift."""
    armature = tendon_armature(m, tendon)
    if armature == 0.0:
        return 0.0
    acceleration = d.work.ten_drift[tendon]
    for k in range(m.aux.ten_rowadr[tendon], m.aux.ten_rowadr[tendon + 1]):
        acceleration += tendon_moment(m, d, tendon, k) * d.qacc[m.aux.ten_colind[k]]
    return -armature * acceleration


def has_tendon_inertia(m: MjModel) -> bool:
    """Return whether any tendon has armature, its own or that of an actuator."""
    on_tendon = m.actuator_trntype == TRN_TENDON
    return bool(m.tendon_armature.any() or (on_tendon & (m.actuator_armature != 0.0)).any())
