"""Quaternions that are not normalised, by the rules of both versions of MuJoCo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from derivatives_compared import assert_same_jacobians
from later import later_run

import cardan

BODIES = """<mujoco><worldbody><body mocap="true" pos="0 0 3"><geom size=".1"/></body><body pos="0 0 1"><freejoint/>
<geom size=".1"/><body><joint name="b" type="ball" stiffness="2" range="0 .3" limited="true"/>
<geom size=".1" pos="1 0 0"/>
</body></body></worldbody>
<actuator><motor joint="b" gear="1 2 3"/></actuator><sensor><ballquat joint="b"/></sensor></mujoco>"""
QPOS = [0.0, 0.0, 1.0, 2.0, 1.0, 1.0, 0.0, 2.0, 1.0, 3.0, 0.0]
FIELDS = "qpos", "mocap_quat", "xquat", "qacc", "sensordata", "actuator_length", "efc_pos"
SCRIPT = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
d.qpos[:], d.mocap_quat[:], d.qvel[:] = qpos, [[2, 1, 1, 0]], 0.1
getattr(mujoco, call)(m, d)
out = {name: np.array(getattr(d, name)) for name in fields}
"""


def found(engine: Any, call: str, **settings: str) -> dict[str, np.ndarray]:
    """Fields after one call, from quaternions of other lengths, computed by a module with MuJoCo's interface."""
    m = engine.MjModel.from_xml_string(BODIES, **settings)
    d = engine.MjData(m)
    d.qpos[:], d.mocap_quat[:], d.qvel[:] = QPOS, [[2, 1, 1, 0]], 0.1
    getattr(engine, call)(m, d)
    return {name: np.array(getattr(d, name)) for name in FIELDS}


@pytest.mark.parametrize("call", ["mj_forward", "mj_step"])
def test_quaternions_as_in_4_0(call: str) -> None:
    """Quaternions are normalised where they are used; only integrators write them."""
    there = later_run(SCRIPT, xml=BODIES, qpos=QPOS, call=call, fields=FIELDS)
    for field, value in found(cardan, call, compat="4.0").items():
        np.testing.assert_allclose(value, there[field], rtol=1e-9, atol=1e-9, err_msg=field)


@pytest.mark.parametrize("call", ["mj_forward", "mj_step"])
def test_quaternions_as_in_3_1(call: str) -> None:
    """Kinematics normalises quaternions in place."""
    there = found(pytest.importorskip("mujoco"), call)
    for field, value in found(cardan, call).items():
        np.testing.assert_allclose(value, there[field], rtol=1e-9, atol=1e-9, err_msg=field)


def test_derivatives() -> None:
    """Exact derivatives of a step equal differences."""
    m = cardan.MjModel.from_xml_string(BODIES, compat="4.0")
    d = cardan.MjData(m)
    d.qpos[:], d.qvel[:] = QPOS, 0.1
    assert_same_jacobians(m, d)
