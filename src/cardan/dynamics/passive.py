"""Passive forces: springs and dampers of joints and tendons, gravity compensation (spec: computation, passive forces).

Tendon springs have a dead band. A separate stage adds fluid forces (`cardan.dynamics.fluid`); this module sets
`qfrc_fluid` to zero.
"""

from __future__ import annotations

from cardan.dynamics.awake import DOF, JOINT, moving_bodies, span_range, tendon_sleeps
from cardan.dynamics.jacobian import apply_ft
from cardan.dynamics.kinematics import get_quat
from cardan.dynamics.powers import has_powers, length_of, secant
from cardan.dynamics.reflected import added_secant, any_added_damping
from cardan.dynamics.switches import has_dampers, has_springs
from cardan.dynamics.tendon import tendon_moment
from cardan.enums.codes import DSBL_GRAVITY, JNT_BALL, JNT_FREE
from cardan.jit import OK, kernel, stage
from cardan.maths.quaternion import normalize4, sub_quat
from cardan.maths.types import Vec3
from cardan.maths.vector import get3, scale3
from cardan.model.kernel_views import Data, Model


@kernel
def translation_from_rest(m: Model, d: Data, adr: int) -> Vec3:
    """Displacement of a free joint from its position in `qpos_spring`; `adr` is the address of the position."""
    rest = m.qpos_spring
    return (d.qpos[adr] - rest[adr], d.qpos[adr + 1] - rest[adr + 1], d.qpos[adr + 2] - rest[adr + 2])


@kernel
def rotation_from_rest(m: Model, d: Data, adr: int) -> Vec3:
    """Rotation vector (rad, body frame) from the quaternion at `qpos_spring[adr]` to the one at `qpos[adr]`."""
    return sub_quat(normalize4(get_quat(d.qpos, adr)), get_quat(m.qpos_spring, adr))


@kernel
def tendon_extension(m: Model, d: Data, tendon: int) -> float:
    """Extension of a tendon beyond the range in which its spring rests: positive above the range, negative below."""
    length = d.ten_length[tendon]
    lower = m.tendon_lengthspring[tendon, 0]
    upper = m.tendon_lengthspring[tendon, 1]
    if length >= upper:  # >=, so that a range of a single length has a slope there
        return length - upper
    if length < lower:
        return length - lower
    return 0.0


@kernel
def has_gravcomp(m: Model) -> bool:
    """Return whether any body has gravity compensation and gravity is enabled and not zero."""
    gravity = m.opt.gravity
    none = gravity[0] == 0.0 and gravity[1] == 0.0 and gravity[2] == 0.0
    return m.ngravcomp > 0 and not none and not m.opt.disableflags & DSBL_GRAVITY


@kernel
def _set_spring3(d: Data, dof: int, stiffness: float, displacement: Vec3) -> None:
    for k in range(3):
        d.qfrc_spring[dof + k] = -stiffness * displacement[k]


@kernel
def _joint_spring(m: Model, d: Data, joint: int, stiffness: float) -> None:
    """Set `qfrc_spring` of a joint to the force of its spring, which pulls towards `qpos_spring`."""
    adr, dof = m.jnt_qposadr[joint], m.jnt_dofadr[joint]
    kind = m.jnt_type[joint]
    if kind == JNT_FREE:
        _set_spring3(d, dof, stiffness, translation_from_rest(m, d, adr))
        _set_spring3(d, dof + 3, stiffness, rotation_from_rest(m, d, adr + 3))
    elif kind == JNT_BALL:
        _set_spring3(d, dof, stiffness, rotation_from_rest(m, d, adr))
    else:
        d.qfrc_spring[dof] = -stiffness * (d.qpos[adr] - m.qpos_spring[adr])


@kernel
def _add_powers3(m: Model, d: Data, joint: int, dof: int, displacement: Vec3) -> None:
    stiffness = secant(0.0, m.jnt_stiffnesspoly, joint, length_of(displacement))
    for k in range(3):
        d.qfrc_spring[dof + k] -= stiffness * displacement[k]


@kernel
def _add_joint_powers(m: Model, d: Data, joint: int) -> None:
    """Add the quadratic and cubic forces of a joint's spring to `qfrc_spring`."""
    adr, dof = m.jnt_qposadr[joint], m.jnt_dofadr[joint]
    kind = m.jnt_type[joint]
    if kind == JNT_FREE:
        _add_powers3(m, d, joint, dof, translation_from_rest(m, d, adr))
        _add_powers3(m, d, joint, dof + 3, rotation_from_rest(m, d, adr + 3))
    elif kind == JNT_BALL:
        _add_powers3(m, d, joint, dof, rotation_from_rest(m, d, adr))
    else:
        shift = d.qpos[adr] - m.qpos_spring[adr]
        d.qfrc_spring[dof] -= secant(0.0, m.jnt_stiffnesspoly, joint, shift) * shift


@kernel
def _add_powers_of_joints(m: Model, d: Data, first: int, stop: int) -> None:
    """Add quadratic and cubic forces of the springs of the joints `first` to `stop` (exclusive) to `qfrc_spring`."""
    for joint in range(first, stop):
        if has_powers(m.jnt_stiffnesspoly, joint):
            _add_joint_powers(m, d, joint)


@kernel
def _add_powers_of_dofs(m: Model, d: Data, first: int, stop: int, added: bool) -> None:
    """Add quadratic and cubic damping of the dofs `first` to `stop` (exclusive); if `added`, also that of actuators."""
    for dof in range(first, stop):
        if has_powers(m.dof_dampingpoly, dof):
            d.qfrc_damper[dof] -= secant(0.0, m.dof_dampingpoly, dof, abs(d.qvel[dof])) * d.qvel[dof]
    for dof in range(first, stop if added else first):
        d.qfrc_damper[dof] -= added_secant(m, m.dof_jntid[dof], abs(d.qvel[dof])) * d.qvel[dof]


@kernel
def _add_powers_of_tendons(m: Model, d: Data, springs: bool, dampers: bool, added: bool, some_sleep: bool) -> None:
    """Add quadratic and cubic forces of tendons, and the damping that actuators add to tendons if `added`.

    If `some_sleep` is set, tendons whose trees sleep are left out.
    """
    for tendon in range(m.ntendon):
        if some_sleep and tendon_sleeps(m, d, tendon):
            continue
        spring = damping = 0.0
        if springs and has_powers(m.tendon_stiffnesspoly, tendon):
            extension = tendon_extension(m, d, tendon)
            spring = -secant(0.0, m.tendon_stiffnesspoly, tendon, extension) * extension
        if dampers:
            speed = abs(d.ten_velocity[tendon])
            if has_powers(m.tendon_dampingpoly, tendon):
                damping = secant(0.0, m.tendon_dampingpoly, tendon, speed)
            if added:
                damping += added_secant(m, m.njnt + tendon, speed)
        if spring == 0.0 and damping == 0.0:
            continue
        damper = -damping * d.ten_velocity[tendon]
        for k in range(m.aux.ten_rowadr[tendon], m.aux.ten_rowadr[tendon + 1]):
            moment = tendon_moment(m, d, tendon, k)
            d.qfrc_spring[m.aux.ten_colind[k]] += moment * spring
            d.qfrc_damper[m.aux.ten_colind[k]] += moment * damper


@stage
def passive(m: Model, d: Data) -> int:
    """Compute the passive forces.

    Reads qpos, qvel, ten_length, ten_J, ten_velocity, xipos, cdof; writes qfrc_spring, qfrc_damper, qfrc_gravcomp,
    qfrc_fluid (zero) and their sum qfrc_passive (nv,). The sum leaves out the gravity compensation of joints with
    `jnt_actgravcomp`, because actuators apply it.
    """
    _clear_forces(d, 0, m.nv)
    springs, dampers = has_springs(m), has_dampers(m)
    if not springs and not dampers:
        return OK
    if springs:
        _set_springs(m, d, 0, m.njnt)
    if dampers:
        _set_dampers(m, d, 0, m.nv)
    _add_tendons(m, d, springs, dampers, False)
    added = dampers and any_added_damping(m)
    if springs:
        _add_powers_of_joints(m, d, 0, m.njnt)
    if dampers:
        _add_powers_of_dofs(m, d, 0, m.nv, added)
    _add_powers_of_tendons(m, d, springs, dampers, added, False)
    compensate = has_gravcomp(m)
    if compensate:
        _compensate_gravity(m, d, 1, m.nbody)
    _sum_forces(m, d, 0, m.nv, compensate)
    return OK


@stage
def passive_awake(m: Model, d: Data) -> int:
    """Do as `passive`, for trees that are awake."""
    springs, dampers = has_springs(m), has_dampers(m)
    for span in range(d.work.nspan):
        first, stop = span_range(d, span, DOF)
        _clear_forces(d, first, stop)
        if dampers:
            _set_dampers(m, d, first, stop)
        if springs:
            first, stop = span_range(d, span, JOINT)
            _set_springs(m, d, first, stop)
    if not springs and not dampers:
        return OK
    _add_tendons(m, d, springs, dampers, True)
    added, compensate = dampers and any_added_damping(m), has_gravcomp(m)
    for span in range(d.work.nspan):
        if springs:
            first, stop = span_range(d, span, JOINT)
            _add_powers_of_joints(m, d, first, stop)
        if dampers:
            first, stop = span_range(d, span, DOF)
            _add_powers_of_dofs(m, d, first, stop, added)
    _add_powers_of_tendons(m, d, springs, dampers, added, True)
    for span in range(d.work.nspan):
        if compensate:
            first, stop = moving_bodies(d, span)
            _compensate_gravity(m, d, first, stop)
        first, stop = span_range(d, span, DOF)
        _sum_forces(m, d, first, stop, compensate)
    return OK


@kernel
def _clear_forces(d: Data, first: int, stop: int) -> None:
    """Set all passive forces of the dofs `first` to `stop` (exclusive) to 0."""
    for dof in range(first, stop):
        d.qfrc_spring[dof] = 0.0
        d.qfrc_damper[dof] = 0.0
        d.qfrc_gravcomp[dof] = 0.0
        d.qfrc_fluid[dof] = 0.0
        d.qfrc_passive[dof] = 0.0


@kernel
def _set_springs(m: Model, d: Data, first: int, stop: int) -> None:
    """Write the linear forces of the springs of the joints `first` to `stop` (exclusive)."""
    for joint in range(first, stop):
        if m.jnt_stiffness[joint] != 0.0:
            _joint_spring(m, d, joint, m.jnt_stiffness[joint])


@kernel
def _set_dampers(m: Model, d: Data, first: int, stop: int) -> None:
    """Write the linear damping forces of the dofs `first` to `stop` (exclusive)."""
    for dof in range(first, stop):
        d.qfrc_damper[dof] = -m.dof_damping[dof] * d.qvel[dof]


@kernel
def _add_tendons(m: Model, d: Data, springs: bool, dampers: bool, some_sleep: bool) -> None:
    """Add the linear forces of tendons; if `some_sleep` is set, tendons whose trees sleep are left out."""
    for tendon in range(m.ntendon):
        if some_sleep and tendon_sleeps(m, d, tendon):
            continue
        stiffness = m.tendon_stiffness[tendon] if springs else 0.0
        damping = m.tendon_damping[tendon] if dampers else 0.0
        if stiffness == 0.0 and damping == 0.0:
            continue
        spring = -stiffness * tendon_extension(m, d, tendon)
        damper = -damping * d.ten_velocity[tendon]
        for k in range(m.aux.ten_rowadr[tendon], m.aux.ten_rowadr[tendon + 1]):
            dof = m.aux.ten_colind[k]
            moment = tendon_moment(m, d, tendon, k)
            d.qfrc_spring[dof] += moment * spring
            d.qfrc_damper[dof] += moment * damper


@kernel
def _compensate_gravity(m: Model, d: Data, first: int, stop: int) -> None:
    """Add the gravity compensation of the bodies `first` to `stop` (exclusive): forces at the centres of mass."""
    gravity = (m.opt.gravity[0], m.opt.gravity[1], m.opt.gravity[2])
    for body in range(first, stop):
        if m.body_gravcomp[body] != 0.0:
            lift = scale3(gravity, -m.body_mass[body] * m.body_gravcomp[body])
            apply_ft(m, d, lift, (0.0, 0.0, 0.0), get3(d.xipos, body), body, d.qfrc_gravcomp)


@kernel
def _sum_forces(m: Model, d: Data, first: int, stop: int, compensate: bool) -> None:
    """Sum the forces of the dofs `first` to `stop` (exclusive): qfrc_passive."""
    for dof in range(first, stop):
        force = d.qfrc_spring[dof] + d.qfrc_damper[dof]
        if compensate and not m.jnt_actgravcomp[m.dof_jntid[dof]]:
            force += d.qfrc_gravcomp[dof]
        d.qfrc_passive[dof] = force
