"""Sums and differences of configurations: positions are coordinates, velocities are in the tangent space.

Spec: computation, floating objects.
"""

from __future__ import annotations

from cardan.dynamics.kinematics import get_quat
from cardan.enums.codes import JNT_BALL, JNT_FREE
from cardan.jit import kernel
from cardan.maths.quaternion import integrate_quat, sub_quat
from cardan.maths.types import Array1, ConstArray1
from cardan.maths.vector import scale3
from cardan.model.kernel_views import AnyModel


@kernel
def _integrate_rotation(qpos: Array1, adr: int, qvel: ConstArray1, dof: int, dt: float) -> None:
    velocity = (qvel[dof], qvel[dof + 1], qvel[dof + 2])
    quat = integrate_quat(get_quat(qpos, adr), velocity, dt)
    for k in range(4):
        qpos[adr + k] = quat[k]


@kernel
def integrate_pos(m: AnyModel, qpos: Array1, qvel: ConstArray1, dt: float) -> None:
    """Integrate `qpos` (nq,) in place for the time `dt` with the velocity `qvel` (nv,) (spec: mj_integratePos)."""
    for joint in range(m.njnt):
        adr, dof = m.jnt_qposadr[joint], m.jnt_dofadr[joint]
        kind = m.jnt_type[joint]
        if kind == JNT_FREE:
            for k in range(3):
                qpos[adr + k] += dt * qvel[dof + k]
            _integrate_rotation(qpos, adr + 3, qvel, dof + 3, dt)
        elif kind == JNT_BALL:
            _integrate_rotation(qpos, adr, qvel, dof, dt)
        else:
            qpos[adr] += dt * qvel[dof]


@kernel
def _differentiate_rotation(
    qvel: Array1, dof: int, qpos1: ConstArray1, qpos2: ConstArray1, adr: int, dt: float
) -> None:
    velocity = scale3(sub_quat(get_quat(qpos2, adr), get_quat(qpos1, adr)), 1.0 / dt)
    for k in range(3):
        qvel[dof + k] = velocity[k]


@kernel
def differentiate_pos(m: AnyModel, qvel: Array1, dt: float, qpos1: ConstArray1, qpos2: ConstArray1) -> None:
    """Set `qvel` to the velocity that moves `qpos1` to `qpos2` in the time `dt` (spec: mj_differentiatePos)."""
    for joint in range(m.njnt):
        adr, dof = m.jnt_qposadr[joint], m.jnt_dofadr[joint]
        kind = m.jnt_type[joint]
        if kind == JNT_FREE:
            for k in range(3):
                qvel[dof + k] = (qpos2[adr + k] - qpos1[adr + k]) / dt
            _differentiate_rotation(qvel, dof + 3, qpos1, qpos2, adr + 3, dt)
        elif kind == JNT_BALL:
            _differentiate_rotation(qvel, dof, qpos1, qpos2, adr, dt)
        else:
            qvel[dof] = (qpos2[adr] - qpos1[adr]) / dt
