"""Small stages of programs of tangents."""

from __future__ import annotations

from cardan.dynamics.actuation import MUSCLES_MADE, USERS_MADE
from cardan.dynamics.kinematics import get_quat
from cardan.enums import mjtJoint
from cardan.jit import OK, kernel, stage
from cardan.maths.quaternion import mul_quat, neg_quat
from cardan.model.kernel_views import Data, Model

FREE = int(mjtJoint.mjJNT_FREE)
BALL = int(mjtJoint.mjJNT_BALL)


@stage
def actuation_is_made(m: Model, d: Data) -> int:
    """Gains, biases and rates that come from stages before `fwd_actuation` are there, from the run of the values."""
    d.work.actuation_made = MUSCLES_MADE | USERS_MADE
    return OK


@stage
def keep_next_position(m: Model, d: Data) -> int:
    """Keep the configuration after a step in ``work.fd_qpos`` (nq,)."""
    for i in range(m.nq):
        d.work.fd_qpos[i] = d.qpos[i]
    return OK


@kernel
def _turn(d: Data, adr: int, dof: int) -> None:
    """Turn a quaternion of qpos by half of its seeds: by nothing, with the tangents of a rotation."""
    seeds = d.work.seed_qpos
    turn = (1.0, 0.5 * seeds[dof], 0.5 * seeds[dof + 1], 0.5 * seeds[dof + 2])
    quat = mul_quat(get_quat(d.qpos, adr), turn)
    for k in range(4):
        d.qpos[adr + k] = quat[k]


@stage
def plant_seeds(m: Model, d: Data) -> int:
    """Move state and controls by ``work.seed_*``, which are 0: only their tangents count, the directions.

    Those of the positions are in the tangent space.
    """
    for joint in range(m.njnt):
        adr, dof = m.jnt_qposadr[joint], m.jnt_dofadr[joint]
        kind = m.jnt_type[joint]
        if kind == FREE:
            for k in range(3):
                d.qpos[adr + k] += d.work.seed_qpos[dof + k]
            _turn(d, adr + 3, dof + 3)
        elif kind == BALL:
            _turn(d, adr, dof)
        else:
            d.qpos[adr] += d.work.seed_qpos[dof]
    for i in range(m.nv):
        d.qvel[i] += d.work.seed_qvel[i]
    for i in range(m.na):
        d.act[i] += d.work.seed_act[i]
    for i in range(m.nu):
        d.ctrl[i] += d.work.seed_ctrl[i]
    return OK


@kernel
def _gather_turn(d: Data, adr: int, dof: int) -> None:
    """The rotation vector, to first order, from a kept quaternion to the one of qpos."""
    turn = mul_quat(neg_quat(get_quat(d.work.fd_qpos, adr)), get_quat(d.qpos, adr))
    for k in range(3):
        d.work.outcome[dof + k] = 2.0 * turn[k + 1]


@stage
def gather_outcome(m: Model, d: Data) -> int:
    """The state after a step in ``work.outcome`` (2 nv + na); positions as changes, of 0, from `work.fd_qpos`."""
    for joint in range(m.njnt):
        adr, dof = m.jnt_qposadr[joint], m.jnt_dofadr[joint]
        kind = m.jnt_type[joint]
        if kind == FREE:
            for k in range(3):
                d.work.outcome[dof + k] = d.qpos[adr + k] - d.work.fd_qpos[adr + k]
            _gather_turn(d, adr + 3, dof + 3)
        elif kind == BALL:
            _gather_turn(d, adr, dof)
        else:
            d.work.outcome[dof] = d.qpos[adr] - d.work.fd_qpos[adr]
    for i in range(m.nv):
        d.work.outcome[m.nv + i] = d.qvel[i]
    for i in range(m.na):
        d.work.outcome[2 * m.nv + i] = d.act[i]
    return OK
