"""Callbacks of user-defined actuators: Python and compiled ones, against the reference."""

from __future__ import annotations

from collections.abc import Iterator

import mujoco
import numpy as np
import pytest
from reference import model_from_reference

import cardan
from cardan.jit import jit_enabled, kernel

XML = """
<mujoco>
  <option actuatorgroupdisable="2"/>
  <worldbody><body><joint name="j"/><geom size=".1" pos=".1 0 0"/></body></worldbody>
  <actuator>
    <general joint="j" dyntype="user" gaintype="user" biastype="user" actdim="3" gainprm="5" ctrlrange="0 1"/>
    <general joint="j" dyntype="user" gainprm="5"/>
    <general joint="j" gaintype="user" gainprm="7"/>
    <general joint="j" dyntype="muscle"/>
    <general joint="j" dyntype="user" group="2" gaintype="user"/>
  </actuator>
</mujoco>
"""


def rate(m, d, i):
    return 10.0 + i + d.ctrl[i]


def gain(m, d, i):
    return 100.0 + i + d.actuator_length[i]


def bias(m, d, i):
    return 1000.0 + i * m.actuator_gear[i, 0]


@pytest.fixture(autouse=True)
def no_callbacks() -> Iterator[None]:
    yield
    remove_callbacks()


def remove_callbacks() -> None:
    for engine in (mujoco, cardan):
        for name in ("act_dyn", "act_gain", "act_bias"):
            getattr(engine, f"set_mjcb_{name}")(None)


def run(engine, m) -> tuple[np.ndarray, np.ndarray]:
    d = engine.MjData(m)
    d.qpos[:] = 0.3
    d.ctrl[:] = [2, 0.3, 0.4, 0.5, 0.6]
    d.act[:] = np.arange(1, m.na + 1) * 0.1
    engine.mj_forward(m, d)
    return d.act_dot.copy(), d.actuator_force.copy()


def both(wrap) -> None:
    """The same callbacks give the same rates and forces."""
    remove_callbacks()
    ref = mujoco.MjModel.from_xml_string(XML)
    m = model_from_reference(ref)
    for name, function in (("act_dyn", rate), ("act_gain", gain), ("act_bias", bias)):
        getattr(mujoco, f"set_mjcb_{name}")(function)
        getattr(cardan, f"set_mjcb_{name}")(wrap(function))
    for want, found in zip(run(mujoco, ref), run(cardan, m), strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-14)


def test_without_callbacks() -> None:
    ref = mujoco.MjModel.from_xml_string(XML)
    for want, found in zip(run(mujoco, ref), run(cardan, model_from_reference(ref)), strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-14)


def test_python_callbacks() -> None:
    both(lambda function: function)
    assert cardan.get_mjcb_act_dyn() is rate


@pytest.mark.skipif(not jit_enabled, reason="compiles")
def test_compiled_callbacks() -> None:
    from numba import njit

    both(njit)
    both(kernel)


def test_wrong_result() -> None:
    m = cardan.MjModel.from_xml_string(XML)
    cardan.set_mjcb_act_gain(lambda m, d, i: "x")
    with pytest.raises(TypeError, match="did not return a number"):
        run(cardan, m)
