"""Plugins and compiled callbacks in batches on a GPU, against a fake of the driver that runs the same stages."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from tests.batch.test_gpu import assert_same, two
from tests.fake_gpu import lent
from tests.verdicts import FULL

import cardan
from cardan.batch import Batch
from cardan.jit import jit_enabled
from cardan.plugins.registry import PLUGINS

pytestmark = pytest.mark.skipif(not jit_enabled, reason="about native code")

XML = """
<mujoco>
  <extension>
    <plugin plugin="mujoco.pid">
      <instance name="pid">
        <config key="kp" value="4"/><config key="ki" value="3"/><config key="kd" value="1"/>
      </instance>
    </plugin>
    <plugin plugin="tests.steps"><instance name="steps"/></plugin>
  </extension>
  <worldbody>
    <body><joint name="a" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/>
      <body pos=".3 0 0"><joint name="b" axis="0 1 0" damping=".1"/><geom size=".1" pos=".3 0 0"/></body></body>
  </worldbody>
  <actuator><plugin joint="a" plugin="mujoco.pid" instance="pid"/><motor joint="b"/></actuator>
  <sensor><plugin name="steps" plugin="tests.steps" instance="steps"/></sensor>
</mujoco>
"""


@pytest.fixture
def driver(monkeypatch):
    with lent(monkeypatch) as driver:
        yield driver


@numba.njit
def count_down(m, d, instance):
    at = m.plugin_stateadr[instance]
    d.plugin_state[at] += 1.0


@numba.njit
def start_at(m, d, instance):
    d.plugin_state[m.plugin_stateadr[instance]] = cardan.plugin_number(d, instance, 1)


@numba.njit
def show(m, d, instance, capability):
    d.sensordata[0] = d.plugin_state[m.plugin_stateadr[instance]]


@pytest.fixture
def model():
    cardan.register_plugin(
        "tests.steps",
        capabilities="sensor",
        nstate=1,
        nsensordata=1,
        init=lambda m, d, instance: np.array([0.0, 10.0]),
        reset=start_at,
        advance=count_down,
        compute=show,
    )
    yield cardan.MjModel.from_xml_string(XML)
    del PLUGINS["tests.steps"]


def test_plugins_run_in_every_world(driver, model):
    on_gpu, on_threads = two(model, 3)
    for batch in (on_gpu, on_threads):
        batch.step(5)
        batch.reset([1])
        batch.step(2)
    assert np.asarray(on_gpu.plugin_state)[:, 0].tolist() == [17, 12, 17]
    assert_same(on_gpu, on_threads, fields=("qpos", "qvel", "act", "sensordata", "plugin_state", "actuator_force"))
    d = on_gpu.data(1)
    cardan.mj_step(d.model, d)  # its instances are its own
    assert d.plugin_state[0] == 13
    on_gpu.close()


def test_plugins_of_worlds_that_diverge_are_reset(driver, model):
    on_gpu, on_threads = two(model, 2)
    for batch in (on_gpu, on_threads):
        batch.step(3)
        batch.qvel[1, 0] = np.nan
        with pytest.warns(cardan.step.report.SimulationWarning):
            batch.step()
    assert_same(on_gpu, on_threads, fields=("qpos", "qvel", "plugin_state"))
    on_gpu.close()


@numba.njit
def push(m, d):
    d.qfrc_passive[1] += 0.5 - d.qvel[1]


def test_compiled_callbacks_run_in_every_world(driver, model):
    plain, _ = two(model, 2)
    plain.step(4)
    cardan.set_mjcb_passive(push)
    try:
        on_gpu, on_threads = two(model, 2)
        for batch in (on_gpu, on_threads):
            batch.step(4)
    finally:
        cardan.set_mjcb_passive(None)
    assert_same(on_gpu, on_threads, fields=("qpos", "qvel", "qfrc_passive"))
    assert np.abs(np.asarray(plain.qvel) - np.asarray(on_gpu.qvel)).max() > 1e-4
    for batch in (plain, on_gpu):
        batch.close()


def test_plugins_in_python_are_refused(driver):
    cardan.register_plugin("tests.steps", capabilities="sensor", nstate=1, nsensordata=1, compute=lambda *_: None)
    try:
        m = cardan.MjModel.from_xml_string(XML)
        with pytest.raises(ValueError, match=r"functions in Python \(compile them"):
            Batch(m, 2, device="cuda")
    finally:
        del PLUGINS["tests.steps"]


FLEX = """
<mujoco>
  <option timestep="0.001"/>
  <worldbody>
    <geom type="sphere" size=".1"/>
    <flexcomp name="cloth" type="grid" count="3 3 1" spacing=".06 .06 .06" pos="0 0 .112" radius=".01" mass=".1">
      <edge equality="true" damping=".1"/>
    </flexcomp>
  </worldbody>
</mujoco>
"""


@pytest.mark.skipif(not FULL, reason="CARDAN_FULL_TESTS=1: compiles the detection of contacts of flexes")
def test_flexes(driver):
    on_gpu, on_threads = two(cardan.MjModel.from_xml_string(FLEX), 3)
    for batch in (on_gpu, on_threads):
        batch.step(20)
    assert on_threads.ncon.max() > 0
    assert_same(on_gpu, on_threads, fields=("qpos", "qvel", "qacc", "flexvert_xpos", "ncon", "nefc"))
    on_gpu.close()
