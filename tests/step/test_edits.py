"""Fields of a model that are edited at run time take effect at once, as in the reference."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest
from reference import model_from_reference

import cardan

XML = """<mujoco><worldbody><body><joint name="j" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body></worldbody>
<actuator><motor joint="j"/><general joint="j" dyntype="filter" dynprm=".1"/></actuator></mujoco>"""
MUSCLE = [0.75, 1.05, 50, 200, 0.5, 1.6, 1.5, 1.3, 1.2]


def edited_run(engine: Any, m: Any) -> np.ndarray:
    """Forces of steps before and after edits."""
    d = engine.MjData(m)
    d.ctrl[:] = 0.7
    forces = []
    for gain, bias, dyn in ((0, 0, 2), (2, 2, 2), (2, 0, 4), (0, 0, 5), (0, 0, 1)):
        m.actuator_gaintype[0], m.actuator_biastype[0], m.actuator_dyntype[1] = gain, bias, dyn
        m.actuator_gainprm[0, :9] = MUSCLE if gain == 2 else [2, *MUSCLE[1:]]
        m.actuator_biasprm[0, :9] = MUSCLE
        m.actuator_dynprm[1, :3] = 0.01, 0.04, 0
        m.actuator_lengthrange[0] = -1, 1
        engine.mj_step(m, d, 3)
        forces.append(np.concatenate([d.actuator_force, d.act, d.qpos]))
    return np.array(forces)


@pytest.mark.parametrize("integrator", [0, 1, 3])
def test_types_of_actuators(integrator: int) -> None:
    ref = mujoco.MjModel.from_xml_string(XML)
    ref.opt.integrator = integrator
    m = model_from_reference(ref)
    np.testing.assert_allclose(edited_run(cardan, m), edited_run(mujoco, ref), rtol=1e-10, atol=1e-12)


def test_a_muscle_without_activation_writes_nowhere() -> None:
    m = cardan.MjModel.from_xml_string(XML)
    m.actuator_dyntype[0] = int(cardan.mjtDyn.mjDYN_MUSCLE)
    d = cardan.MjData(m)
    cardan.mj_step(m, d, 2)
    assert np.isfinite(d.qpos).all()


CHAIN = """<mujoco><worldbody><body><freejoint/><geom size=".1" pos=".2 0 0"/><camera mode="targetbodycom" target="b"/>
<body name="b" pos=".5 0 0"><joint name="j" axis="0 1 0" springref="20"/><geom size=".1" pos=".2 0 .1"/></body></body>
</worldbody><sensor><subtreecom body="b"/></sensor></mujoco>"""


@pytest.mark.parametrize("field", ["body_mass", "body_inertia", "body_ipos", "dof_armature", "jnt_stiffness", "qpos0"])
def test_masses_and_other_numbers(field: str) -> None:
    """No `mj_setConst` is needed, except for bodies whose inertia is the same in all configurations."""
    results = []
    for engine in (mujoco, cardan):
        m = engine.MjModel.from_xml_string(CHAIN)
        d = engine.MjData(m)
        getattr(m, field)[-1] += 0.3
        d.qvel[:] = 0.1 * np.arange(m.nv)
        engine.mj_step(m, d, 3)
        results.append(np.concatenate([d.qpos, d.qacc, d.sensordata, d.subtree_com.ravel(), d.cdof.ravel(), d.qM]))
    np.testing.assert_allclose(results[1], results[0], rtol=1e-10, atol=1e-12)


def test_mass_of_a_body_that_falls() -> None:
    """The reference keeps the inertia of a body with constant inertia until mj_setConst: there it falls with 2 g."""
    xml = "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    m = cardan.MjModel.from_xml_string(xml)
    d = cardan.MjData(m)
    m.body_mass[1] *= 2
    cardan.mj_forward(m, d)
    np.testing.assert_allclose(d.qacc, [0, 0, -9.81, 0, 0, 0], atol=1e-12)


def test_set_const_leaves_the_springs_at_rest() -> None:
    results = []
    for engine in (mujoco, cardan):
        m = engine.MjModel.from_xml_string(CHAIN)
        d = engine.MjData(m)
        d.qpos[-1] = 1
        engine.mj_setConst(m, d)
        results.append(np.concatenate([d.qpos, d.xpos.ravel()]))
    np.testing.assert_allclose(results[1], results[0], rtol=1e-12)
