"""Potential and kinetic energy (spec: computation, energy); momenta of subtrees (spec: mj_subtreeVel)."""

from __future__ import annotations

from cardan.dynamics.com import velocity_at
from cardan.dynamics.passive import rotation_from_rest, tendon_extension, translation_from_rest
from cardan.dynamics.powers import energy_of_powers, has_powers, has_spring, length_of
from cardan.dynamics.switches import has_springs
from cardan.enums.codes import DSBL_GRAVITY, JNT_BALL, JNT_FREE
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Vec3
from cardan.maths.vector import MINVAL, add3, cross, dot3, get3, get9, mul_mat_t_vec3, mul_mat_vec3, scale3, set3, sub3
from cardan.model.kernel_views import Data, Model


@kernel
def _joint_displacement2(m: Model, d: Data, joint: int) -> float:
    """Squared displacement of a joint from `qpos_spring`."""
    adr = m.jnt_qposadr[joint]
    kind = m.jnt_type[joint]
    if kind == JNT_FREE:
        shift = translation_from_rest(m, d, adr)
        turn = rotation_from_rest(m, d, adr + 3)
        return dot3(shift, shift) + dot3(turn, turn)
    if kind == JNT_BALL:
        turn = rotation_from_rest(m, d, adr)
        return dot3(turn, turn)
    shift1 = d.qpos[adr] - m.qpos_spring[adr]
    return shift1 * shift1


@kernel
def _energy_of_joint_powers(m: Model, d: Data, joint: int) -> float:
    """Energy of the quadratic and cubic terms of a joint's spring."""
    adr, poly = m.jnt_qposadr[joint], m.jnt_stiffnesspoly
    kind = m.jnt_type[joint]
    if kind == JNT_FREE:
        energy = energy_of_powers(poly, joint, length_of(translation_from_rest(m, d, adr)))
        return energy + energy_of_powers(poly, joint, length_of(rotation_from_rest(m, d, adr + 3)))
    if kind == JNT_BALL:
        return energy_of_powers(poly, joint, length_of(rotation_from_rest(m, d, adr)))
    return energy_of_powers(poly, joint, d.qpos[adr] - m.qpos_spring[adr])


@stage
def energy_pos(m: Model, d: Data) -> int:
    """Compute the potential energy of gravity and springs. Reads xipos, qpos, ten_length; writes energy[0]."""
    gravity_energy, spring_energy = 0.0, 0.0
    if not m.opt.disableflags & DSBL_GRAVITY:
        gravity = (m.opt.gravity[0], m.opt.gravity[1], m.opt.gravity[2])
        for body in range(1, m.nbody):
            gravity_energy -= m.body_mass[body] * dot3(gravity, get3(d.xipos, body))
    if has_springs(m):
        for joint in range(m.njnt):
            if has_spring(m, joint):
                spring_energy += 0.5 * m.jnt_stiffness[joint] * _joint_displacement2(m, d, joint)
            if has_powers(m.jnt_stiffnesspoly, joint):
                spring_energy += _energy_of_joint_powers(m, d, joint)
        for tendon in range(m.ntendon):
            extension = tendon_extension(m, d, tendon)
            spring_energy += 0.5 * m.tendon_stiffness[tendon] * extension * extension
            spring_energy += energy_of_powers(m.tendon_stiffnesspoly, tendon, extension)
    d.energy[0] = gravity_energy + spring_energy
    return OK


@stage
def energy_vel(m: Model, d: Data) -> int:
    """Compute the kinetic energy 0.5 v' M v. Reads qM, qvel; writes energy[1]."""
    energy = 0.0
    for i in range(m.nv):
        start = m.aux.M_rowadr[i]
        product = 0.5 * d.qM[start] * d.qvel[i]
        for adr in range(start + 1, m.aux.M_rowadr[i + 1]):
            product += d.qM[adr] * d.qvel[m.aux.M_colind[adr]]
        energy += product * d.qvel[i]
    d.energy[1] = energy
    return OK


@kernel
def _moment_about(d: Data, mass: float, point: Vec3, velocity: Vec3, body: int) -> Vec3:
    """Angular momentum of a moving point mass about the moving centre of mass of the subtree of `body`."""
    arm = sub3(point, get3(d.subtree_com, body))
    return scale3(cross(arm, sub3(velocity, get3(d.subtree_linvel, body))), mass)


@stage
def subtree_vel(m: Model, d: Data) -> int:
    """Compute velocities of subtrees' centres of mass, and angular momenta about these centres.

    Reads cvel, xipos, ximat, subtree_com; writes subtree_linvel, subtree_angmom (nbody, 3), world frame.
    """
    # intermediate results: momenta of subtrees in `subtree_linvel`, spins of bodies in `subtree_angmom`
    for body in range(m.nbody):
        velocity = velocity_at(m, d, body, get3(d.xipos, body))
        mat = get9(d.ximat, body)
        spin = mul_mat_t_vec3(mat, (velocity[0], velocity[1], velocity[2]))
        inertia = get3(m.body_inertia, body)
        momentum = (inertia[0] * spin[0], inertia[1] * spin[1], inertia[2] * spin[2])
        set3(d.subtree_angmom, body, mul_mat_vec3(mat, momentum))
        set3(d.subtree_linvel, body, scale3((velocity[3], velocity[4], velocity[5]), m.body_mass[body]))
    for body in range(m.nbody - 1, 0, -1):
        parent = m.body_parentid[body]
        set3(d.subtree_linvel, parent, add3(get3(d.subtree_linvel, parent), get3(d.subtree_linvel, body)))
    for body in range(m.nbody):
        set3(d.subtree_linvel, body, scale3(get3(d.subtree_linvel, body), 1.0 / max(MINVAL, m.body_subtreemass[body])))
    for body in range(m.nbody - 1, -1, -1):
        # orbital angular momentum of the body itself
        velocity = velocity_at(m, d, body, get3(d.xipos, body))
        linear = (velocity[3], velocity[4], velocity[5])
        own = _moment_about(d, m.body_mass[body], get3(d.xipos, body), linear, body)
        total = add3(get3(d.subtree_angmom, body), own)
        set3(d.subtree_angmom, body, total)
        # orbital angular momentum of the subtree as part of its parent's
        if body > 0:
            parent = m.body_parentid[body]
            com, linvel = get3(d.subtree_com, body), get3(d.subtree_linvel, body)
            moment = _moment_about(d, m.body_subtreemass[body], com, linvel, parent)
            set3(d.subtree_angmom, parent, add3(get3(d.subtree_angmom, parent), add3(total, moment)))
    return OK
