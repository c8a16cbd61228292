"""Potential and kinetic energy (spec: computation, energy)."""

from __future__ import annotations

from cardan.dynamics.springs import rotation_from_rest, tendon_extension, translation_from_rest
from cardan.enums.codes import DSBL_GRAVITY, DSBL_PASSIVE, JNT_BALL, JNT_FREE
from cardan.jit import OK, kernel, stage
from cardan.maths.vector import dot3, get3
from cardan.model.kernel_views import Data, Model


@kernel
def _gravity_energy(m: Model, d: Data) -> float:
    gravity = (m.opt.gravity[0], m.opt.gravity[1], m.opt.gravity[2])
    energy = 0.0
    for body in range(1, m.nbody):
        energy -= m.body_mass[body] * dot3(gravity, get3(d.xipos, body))
    return energy


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
def _spring_energy(m: Model, d: Data) -> float:
    energy = 0.0
    for joint in range(m.njnt):
        if m.jnt_stiffness[joint] != 0.0:
            energy += 0.5 * m.jnt_stiffness[joint] * _joint_displacement2(m, d, joint)
    for tendon in range(m.ntendon):
        extension = tendon_extension(m, d, tendon)
        energy += 0.5 * m.tendon_stiffness[tendon] * extension * extension
    return energy


@stage
def energy_pos(m: Model, d: Data) -> int:
    """Compute the potential energy of gravity and springs, energy[0]. Reads xipos, qpos, ten_length."""
    energy = 0.0
    if not m.opt.disableflags & DSBL_GRAVITY:
        energy += _gravity_energy(m, d)
    if not m.opt.disableflags & DSBL_PASSIVE:
        energy += _spring_energy(m, d)
    d.energy[0] = energy
    return OK


@stage
def energy_vel(m: Model, d: Data) -> int:
    """Compute the kinetic energy 0.5 v' M v, energy[1]. Reads qM, qvel."""
    energy = 0.0
    for i in range(m.nv):
        start = m.aux.M_rowadr[i]
        product = 0.5 * d.qM[start] * d.qvel[i]
        for adr in range(start + 1, m.aux.M_rowadr[i + 1]):
            product += d.qM[adr] * d.qvel[m.aux.M_colind[adr]]
        energy += product * d.qvel[i]
    d.energy[1] = energy
    return OK
