"""Signed-distance shapes: scenes of the reference step by step (level: step), from models that it compiled.

Most gradients are forward differences with a step of 1e-8 m, there and here: contacts carry a noise of that size.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from data_compared import contact_difference
from engines_compared import largest
from models import model_path
from reference import copy_state, model_from_reference

import cardan
from cardan.jit import jit_enabled

AGREEING, STEP = 1e-6, 1e-6
EVERY = 10
# scene: number of steps, and how many of the states compared must have agreeing contacts
SCENES = {"bowl": (600, 1), "nut": (200, 1), "rings": (500, 0.9), "gears": (300, 1)}

pytestmark = pytest.mark.skipif(not jit_enabled, reason="too slow in the interpreter")


@pytest.mark.parametrize("scene", SCENES)
def test_steps(scene: str) -> None:
    steps, share = SCENES[scene]
    rm = mujoco.MjModel.from_xml_path(str(model_path(scene)))
    m = model_from_reference(rm)
    rd, d, start = mujoco.MjData(rm), cardan.MjData(m), mujoco.MjData(rm)
    rng = np.random.default_rng(1)
    rd.qvel[:] = 0.3 * rng.standard_normal(rm.nv)
    agreeing, touching, worst = 0, 0, 0.0
    for step in range(steps):
        rd.ctrl[:] = 0.9 * rd.ctrl + 0.1 * rng.standard_normal(rm.nu)
        copy_state(rd, start)
        mujoco.mj_step(rm, rd)
        if step % EVERY == 0:
            copy_state(start, d)
            cardan.mj_step(m, d)
            touching += bool(rd.ncon)
            if contact_difference(rd, d) <= AGREEING:
                agreeing += 1
                worst = max(worst, largest(rd, d))
    assert touching
    assert agreeing >= share * steps / EVERY
    assert worst <= STEP
