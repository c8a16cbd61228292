"""What must not change a run: repeating it, copying or restoring its data, turning the world, company far away."""

from __future__ import annotations

import copy

import numpy as np
from hypothesis import given
from models_random import SEEDS, Features, fixed_examples, random_inputs, random_model, random_state

import cardan
from cardan.enums import mjtEq, mjtJoint, mjtState

STEPS = 10
FULL = int(mjtState.mjSTATE_INTEGRATION)


def prepared(xml: str, seed: int) -> tuple[cardan.MjModel, cardan.MjData]:
    m = cardan.MjModel.from_xml_string(xml)
    m.opt.tolerance, m.opt.iterations = 1e-14, 200
    d = cardan.MjData(m)
    random_state(cardan, m, d, seed)
    random_inputs(m, d, seed)
    return m, d


def run(m: cardan.MjModel, d: cardan.MjData) -> bytes:
    """Bytes of the state, the accelerations and the sensors after some steps."""
    for _ in range(STEPS):
        cardan.mj_step(m, d)
    return state_of(m, d).tobytes() + d.qacc.tobytes() + d.sensordata.tobytes()


def state_of(m: cardan.MjModel, d: cardan.MjData) -> np.ndarray:
    state = np.zeros(cardan.mj_stateSize(m, FULL))
    cardan.mj_getState(m, d, state, FULL)
    return state


@fixed_examples(25)
@given(SEEDS)
def test_runs_repeat_bit_by_bit(seed: int) -> None:
    m, d = prepared(random_model(seed), seed)
    cardan.mj_step(m, d)
    saved, twin = state_of(m, d), copy.copy(d)
    expected = run(m, d)
    assert run(m, twin) == expected
    # restored into used data, fresh data, and with a copy of the model
    for model, data in ((m, d), (m, cardan.MjData(m)), (copy.copy(m), cardan.MjData(m))):
        cardan.mj_setState(model, data, saved, FULL)
        assert run(model, data) == expected


@fixed_examples(20)
@given(SEEDS)
def test_turned_world(seed: int) -> None:
    features = Features(contacts=False, mocap=False, sensors=False, options={"timestep": "0.002"})
    xml, angle = random_model(seed, features), 0.7
    m, d = prepared(xml, seed)
    turned = xml.replace("<worldbody>", f'<worldbody><frame euler="0 0 {angle}">')
    turned_m, turned_d = prepared(turned.replace("</worldbody>", "</frame></worldbody>"), seed)
    rotation = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    turn = np.array([np.cos(angle / 2), 0, 0, np.sin(angle / 2)])
    # the coordinates of free joints, and forces, are in the world's frame
    turned_d.qpos[:], turned_d.qvel[:] = d.qpos, d.qvel
    d.qfrc_applied[:], turned_d.qfrc_applied[:] = 0, 0
    for joint in np.flatnonzero(m.jnt_type == mjtJoint.mjJNT_FREE):
        q, v = m.jnt_qposadr[joint], m.jnt_dofadr[joint]
        turned_d.qpos[q : q + 3], turned_d.qvel[v : v + 3] = rotation @ d.qpos[q : q + 3], rotation @ d.qvel[v : v + 3]
        cardan.mju_mulQuat(turned_d.qpos[q + 3 : q + 7], turn, d.qpos[q + 3 : q + 7])
    turned_d.xfrc_applied[:] = (d.xfrc_applied.reshape(-1, 3) @ rotation.T).reshape(-1, 6)
    # motors on free joints, dampers and friction by axis push along the world's axes
    if m.nu or np.any(m.dof_frictionloss[m.dof_jntid == 0]):
        d.ctrl[:], turned_d.ctrl[:] = 0, 0
    if not isotropic(m):
        return
    for _ in range(STEPS):
        cardan.mj_step(m, d)
        cardan.mj_step(turned_m, turned_d)
    np.testing.assert_allclose(turned_d.xpos, d.xpos @ rotation.T, atol=1e-7)


def isotropic(m: cardan.MjModel) -> bool:
    """Whether nothing is along the axes of the world: no actuator or friction of a free joint, no anchor of a weld."""
    free = np.flatnonzero(m.jnt_type == mjtJoint.mjJNT_FREE)
    actuated = np.isin(m.actuator_trnid[:, 0], free) & (m.actuator_trntype < 2)
    anchored = (m.eq_type == mjtEq.mjEQ_WELD) & (m.eq_obj2id == 0) & np.any(m.eq_data[:, :3] != 0, axis=1)
    return not (np.any(actuated) or np.any(anchored) or np.any(m.dof_frictionloss[np.isin(m.dof_jntid, free)]))


@fixed_examples(20)
@given(SEEDS)
def test_company_far_away(seed: int) -> None:
    xml = random_model(seed, Features(sensors=False))
    stranger = '<body pos="1000 0 0"><freejoint/><geom size=".1" contype="0" conaffinity="0"/></body>'
    m, d = prepared(xml, seed)
    more, both = prepared(xml.replace("</worldbody>", stranger + "</worldbody>"), seed)
    both.qpos[: m.nq], both.qvel[: m.nv], both.qfrc_applied[: m.nv] = d.qpos, d.qvel, d.qfrc_applied
    both.xfrc_applied[: m.nbody] = d.xfrc_applied
    for name in ("time", "act", "ctrl", "mocap_pos", "mocap_quat", "eq_active"):
        setattr(both, name, getattr(d, name))
    for _ in range(3):
        cardan.mj_step(m, d)
        cardan.mj_step(more, both)
    np.testing.assert_allclose(both.qvel[: m.nv], d.qvel, atol=1e-7 * max(1.0, np.abs(d.qvel).max(initial=0)))
