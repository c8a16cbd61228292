"""Random states of reference models, with everything computed that the smooth dynamics can compute."""

from __future__ import annotations

import mujoco
import numpy as np


def random_state(ref: mujoco.MjModel, seed: int) -> mujoco.MjData:
    """A reference data at a random state with random inputs; nothing is computed yet."""
    rng = np.random.default_rng(seed)
    d = mujoco.MjData(ref)
    mujoco.mj_integratePos(ref, d.qpos, rng.normal(size=ref.nv), 0.3)
    for array in (d.qvel, d.act, d.ctrl, d.qfrc_applied, d.xfrc_applied):
        array[...] = rng.normal(size=array.shape)
    d.mocap_quat[:] *= 2
    return d


def forward(ref: mujoco.MjModel, seed: int) -> mujoco.MjData:
    """A reference data after forward dynamics at a random state, with energies, subtree velocities and body forces."""
    ref.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    d = random_state(ref, seed)
    mujoco.mj_forward(ref, d)
    mujoco.mj_subtreeVel(ref, d)
    mujoco.mj_rnePostConstraint(ref, d)
    return d
