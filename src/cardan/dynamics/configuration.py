"""Sums and differences of configurations: positions are coordinates, velocities are in the tangent space.

Spec: computation, floating objects.
"""

from __future__ import annotations

from typing import Any

from cardan.dynamics.kinematics import get_quat
from cardan.enums import mjtJoint
from cardan.jit import kernel
from cardan.maths.quaternion import integrate_quat, sub_quat
from cardan.maths.vector import scale3

FREE = int(mjtJoint.mjJNT_FREE)
BALL = int(mjtJoint.mjJNT_BALL)


@kernel
def _integrate_rotation(qpos: Any, adr: int, qvel: Any, dof: int, dt: float) -> None:
    velocity = (qvel[dof], qvel[dof + 1], qvel[dof + 2])
    quat = integrate_quat(get_quat(qpos, adr), velocity, dt)
    for k in range(4):
        qpos[adr + k] = quat[k]


@kernel
def integrate_pos(m: Any, qpos: Any, qvel: Any, dt: float) -> None:
    """Integrate `qpos` (nq,) in place for the time `dt` with the velocity `qvel` (nv,) (spec: mj_integratePos)."""
    for joint in range(m.njnt):
        adr, dof = m.jnt_qposadr[joint], m.jnt_dofadr[joint]
        kind = m.jnt_type[joint]
        if kind == FREE:
            for k in range(3):
                qpos[adr + k] += dt * qvel[dof + k]
            _integrate_rotation(qpos, adr + 3, qvel, dof + 3, dt)
        elif kind == BALL:
            _integrate_rotation(qpos, adr, qvel, dof, dt)
        else:
            qpos[adr] += dt * qvel[dof]


@kernel
def _differentiate_rotation(qvel: Any, dof: int, qpos1: Any, qpos2: Any, adr: int, dt: float) -> None:
    velocity = scale3(sub_quat(get_quat(qpos2, adr), get_quat(qpos1, adr)), 1.0 / dt)
    for k in range(3):
        qvel[dof + k] = velocity[k]


@kernel
def differentiate_pos(m: Any, qvel: Any, dt: float, qpos1: Any, qpos2: Any) -> None:
    """Set `qvel` to the velocity that moves `qpos1` to `qpos2` in the time `dt` (spec: mj_differentiatePos)."""
    for joint in range(m.njnt):
        adr, dof = m.jnt_qposadr[joint], m.jnt_dofadr[joint]
        kind = m.jnt_type[joint]
        if kind == FREE:
            for k in range(3):
                qvel[dof + k] = (qpos2[adr + k] - qpos1[adr + k]) / dt
            _differentiate_rotation(qvel, dof + 3, qpos1, qpos2, adr + 3, dt)
        elif kind == BALL:
            _differentiate_rotation(qvel, dof, qpos1, qpos2, adr, dt)
        else:
            qvel[dof] = (qpos2[adr] - qpos1[adr]) / dt
