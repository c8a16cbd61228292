"""Forces on and between bodies by the rules of MuJoCo 4.0, where spatial tendons exert external forces.

In MuJoCo 3.1, `bias.rne_post_constraint` leaves out the forces that tendons apply to bodies along their paths. It also
takes the multipliers of a weld's rotation as a torque in the world frame. However, the velocity in the rotational rows
is a rotated angular velocity times half of ``torquescale``. The torque is the rows' transposed Jacobian times the
multipliers.
"""

from __future__ import annotations

from cardan.dynamics.anchors import anchors_of, loop_rows, weld_quats
from cardan.dynamics.awake import tendon_sleeps
from cardan.dynamics.bias import finish_rne_post, finish_rne_post_awake
from cardan.dynamics.couplings import quartic, tendon_offset
from cardan.dynamics.external import add_applied_and_contacts, add_pair, add_wrench
from cardan.dynamics.passive import tendon_extension
from cardan.dynamics.powers import secant
from cardan.dynamics.reflected import added_secant, inertial_force
from cardan.dynamics.switches import has_dampers, has_springs
from cardan.dynamics.tendon import AT_PULLEY, AT_SITE
from cardan.enums.codes import (
    CNSTR_EQUALITY,
    CNSTR_FRICTION_TENDON,
    CNSTR_LIMIT_TENDON,
    EQ_TENDON,
    TRN_TENDON,
    WRAP_JOINT,
    WRAP_PULLEY,
    WRAP_SITE,
)
from cardan.jit import OK, kernel, stage
from cardan.maths.quaternion import mul_quat
from cardan.maths.types import Vec3
from cardan.maths.vector import add_scaled3, normalize3, scale3, sub3
from cardan.model.kernel_views import Data, Model


@kernel
def _row_force(d: Data, row: int) -> Vec3:
    """Constraint forces of the three rows from `row` on."""
    return (d.efc_force[row], d.efc_force[row + 1], d.efc_force[row + 2])


@kernel
def _weld_torque(m: Model, d: Data, e: int, row: int) -> Vec3:
    """Torque of a weld on its first body in the world frame; ``row`` is the first row of its rotation."""
    quat1, inverse2 = weld_quats(m, d, e)
    x = mul_quat(mul_quat(inverse2, (0.0, 1.0, 0.0, 0.0)), quat1)
    y = mul_quat(mul_quat(inverse2, (0.0, 0.0, 1.0, 0.0)), quat1)
    z = mul_quat(mul_quat(inverse2, (0.0, 0.0, 0.0, 1.0)), quat1)
    torque = (0.0, 0.0, 0.0)
    for k in range(3):
        torque = add_scaled3(torque, (x[k + 1], y[k + 1], z[k + 1]), d.efc_force[row + k])
    return scale3(torque, 0.5 * m.eq_data[e, 10])


@kernel
def _add_loops(m: Model, d: Data) -> None:
    """Add the forces of connect and weld constraints to cfrc_ext."""
    row = 0
    while row < d.ne:
        e = int(d.efc_id[row])
        count = loop_rows(m, e)
        if count > 0:
            body1, body2, point1, point2 = anchors_of(m, d, e)
            torque = _weld_torque(m, d, e, row + 3) if count > 3 else (0.0, 0.0, 0.0)
            force = scale3(_row_force(d, row), -1.0)
            add_pair(m, d, body1, body2, point1, point2, force, scale3(torque, -1.0))
        row += max(count, 1)


@kernel
def _row_share(m: Model, d: Data, row: int, tendon: int) -> float:
    """Derivative of a row's residual with respect to a tendon's length; 0 if the row does not depend on the tendon."""
    kind, index = d.efc_type[row], int(d.efc_id[row])
    if kind == CNSTR_EQUALITY:
        if m.eq_type[index] != EQ_TENDON:
            return 0.0
        share, other = 0.0, int(m.eq_obj2id[index])
        if m.eq_obj1id[index] == tendon:
            share += 1.0
        if other == tendon:
            _, slope = quartic(m, index, tendon_offset(m, d, other))
            share -= slope
        return share
    if index != tendon:
        return 0.0
    if kind == CNSTR_FRICTION_TENDON:
        return 1.0
    if kind == CNSTR_LIMIT_TENDON:
        second = row > 0 and d.efc_type[row - 1] == kind and d.efc_id[row - 1] == tendon
        lower = d.efc_pos[row] == d.ten_length[tendon] - m.tendon_range[tendon, 0]
        return 1.0 if lower and not second else -1.0
    return 0.0


@kernel
def _tendon_force(m: Model, d: Data, tendon: int) -> float:
    """Sum of the forces along a tendon, positive if they lengthen it.

    These are the forces of its spring, damper, inertia, actuators and constraints.
    """
    force = inertial_force(m, d, tendon)
    if has_springs(m):
        extension = tendon_extension(m, d, tendon)
        force -= secant(m.tendon_stiffness[tendon], m.tendon_stiffnesspoly, tendon, extension) * extension
    if has_dampers(m):
        velocity = d.ten_velocity[tendon]
        speed = abs(velocity)
        own = secant(m.tendon_damping[tendon], m.tendon_dampingpoly, tendon, speed)
        force -= (own + added_secant(m, m.njnt + tendon, speed)) * velocity
    for actuator in range(m.nactuator):
        if m.actuator_trntype[actuator] == TRN_TENDON and m.actuator_trnid[actuator, 0] == tendon:
            out = m.actuator_outadr[actuator]
            force += m.actuator_gear[out, 0] * d.actuator_force[out]
    for row in range(d.ne + d.nf + d.nl):
        share = _row_share(m, d, row, tendon)
        if share != 0.0:
            force += share * d.efc_force[row]
    return force


@kernel
def _add_tendon(m: Model, d: Data, tendon: int, force: float) -> None:
    """Add to cfrc_ext the forces that a tendon with the tension `-force` applies to the bodies along its path."""
    at, share = int(m.tendon_adr[tendon]), 1.0
    before, before_point = -1, (0.0, 0.0, 0.0)
    for number in range(d.ten_wrapadr[tendon], d.ten_wrapadr[tendon] + d.ten_wrapnum[tendon]):
        what = int(d.wrap_obj[number // 2, number % 2])
        if what == AT_PULLEY:
            while m.wrap_type[at] != WRAP_PULLEY:
                at += 1
            share = 1.0 / m.wrap_prm[at]
            at += 1
            before = -1
            continue
        if what == AT_SITE:
            while m.wrap_type[at] != WRAP_SITE:
                at += 1
            body = int(m.site_bodyid[m.wrap_objid[at]])
            at += 1
        else:
            body = int(m.geom_bodyid[what])
        first = 3 * (number % 2)
        line = number // 2
        point = (d.wrap_xpos[line, first], d.wrap_xpos[line, first + 1], d.wrap_xpos[line, first + 2])
        if before >= 0 and before != body:
            push = scale3(normalize3(sub3(point, before_point)), share * force)
            if before > 0:
                add_wrench(m, d, before, before_point, scale3(push, -1.0), (0.0, 0.0, 0.0))
            if body > 0:
                add_wrench(m, d, body, point, push, (0.0, 0.0, 0.0))
        before, before_point = body, point


@stage
def rne_post_with_tendons(m: Model, d: Data) -> int:
    """Compute cacc, cfrc_ext and cfrc_int as `bias.rne_post_constraint` does, but by the rules of MuJoCo 4.0.

    Also reads the paths of tendons, ten_length, ten_velocity, actuator_force.
    """
    _load_bodies(m, d, False)
    finish_rne_post(m, d)
    return OK


@stage
def rne_post_with_tendons_awake(m: Model, d: Data) -> int:
    """Do as `rne_post_with_tendons`, for trees that are awake."""
    _load_bodies(m, d, True)
    finish_rne_post_awake(m, d)
    return OK


@kernel
def _load_bodies(m: Model, d: Data, some_sleep: bool) -> None:
    """Write cfrc_ext, with the forces of tendons; if `some_sleep` is set, bodies that sleep keep their forces."""
    add_applied_and_contacts(m, d, some_sleep)
    _add_loops(m, d)
    for tendon in range(m.ntendon):
        if some_sleep and tendon_sleeps(m, d, tendon):
            continue
        if m.wrap_type[m.tendon_adr[tendon]] != WRAP_JOINT:
            force = _tendon_force(m, d, tendon)
            if force != 0.0:
                _add_tendon(m, d, tendon, force)
