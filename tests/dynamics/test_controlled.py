"""Actuators with several controls, activations or forces: against MuJoCo 4.0.0, and in every form."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from derivatives_compared import assert_same_jacobians
from dynamics.controlled_models import ACTUATORS, started, state_of, text
from later import later_run, later_states
from tests.fake_gpu import lent

import cardan
from cardan.jit import jit_enabled

KINDS = [*ACTUATORS]
INTEGRATORS = ("Euler", "implicit", "implicitfast", "RK4")
native = pytest.mark.skipif(not jit_enabled, reason="about native code")
FIELDS = tuple(
    f"actuator_{name}"
    for name in (
        *("ctrladr", "ctrlnum", "ctrlspec", "outadr", "outnum", "actadr", "actnum", "actearly", "actlimited"),
        *("actrange", "ctrllimited", "ctrlrange", "forcelimited", "forcerange", "gear", "dynprm", "gainprm"),
        *("biasprm", "acc0", "length0", "lengthrange", "history", "historyadr", "trntype", "trnid"),
    )
) + ("nu", "na", "nout", "nactuator", "nhistory", "sensor_dim", "sensor_adr")
FORCES = ("actuator_force", "act_dot", "qacc", "actuator_length", "actuator_velocity", "qfrc_actuator", "sensordata")


@pytest.mark.parametrize("kind", KINDS)
def test_fields(kind: str) -> None:
    m, _ = started(kind, "Euler")
    wanted = later_run(
        "m = mujoco.MjModel.from_xml_string(xml); out = {k: np.array(getattr(m, k)) for k in names}",
        xml=text(kind),
        names=FIELDS,
    )
    for name, values in wanted.items():
        np.testing.assert_allclose(getattr(m, name), values, rtol=1e-12, atol=1e-13, err_msg=name)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_forward(kind: str, seed: int) -> None:
    m, d = started(kind, "Euler", seed=seed)
    cardan.mj_forward(m, d)
    for name, values in later_states(text(kind), 0, state_of(m, seed), FORCES).items():
        np.testing.assert_allclose(getattr(d, name), values, rtol=1e-9, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("kind", KINDS)
def test_steps(kind: str, integrator: str) -> None:
    m, d = started(kind, integrator, seed=5)
    wanted = later_states(text(kind, integrator), 30, state_of(m, 5), ("qpos", "qvel", "act", "actuator_force"))
    for _ in range(30):
        cardan.mj_step(m, d)
    for name, values in wanted.items():
        np.testing.assert_allclose(getattr(d, name), values, rtol=1e-7, atol=1e-8, err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
def test_discrete_step(kind: str) -> None:
    """The effective metric has the slopes of these actuators."""
    m, d = started(kind, "discrete", seed=5)
    wanted = later_states(text(kind, "discrete"), 1, state_of(m, 5), ("qpos", "qvel", "act"))
    cardan.mj_step(m, d)
    for name, values in wanted.items():
        np.testing.assert_allclose(getattr(d, name), values, rtol=1e-7, atol=1e-8, err_msg=name)


@native
@pytest.mark.parametrize("compat", ["3.1", "4.0"])
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("kind", KINDS)
def test_derivatives(kind: str, integrator: str, compat: str) -> None:
    m, d = started(kind, integrator, compat, seed=2)
    for _ in range(4):
        cardan.mj_step(m, d)
    assert_same_jacobians(m, d)


@pytest.mark.parametrize("compat", ["3.1", "4.0"])
@pytest.mark.parametrize("kind", KINDS)
def test_forms_of_a_model(kind: str, compat: str, tmp_path: Path) -> None:
    m, _ = started(kind, "Euler", compat)
    cardan.mj_saveModel(m, str(tmp_path / "m.mjb"))
    spec = cardan.MjSpec.from_string(text(kind), compat=compat)
    again = [cardan.MjModel.from_xml_string(m.to_xml(), compat=compat), spec.compile()]
    again.append(cardan.MjModel.from_xml_string(spec.to_xml(), compat=compat))
    again.append(cardan.MjModel.from_binary_path(str(tmp_path / "m.mjb")))
    for model in again:
        for name in FIELDS:
            np.testing.assert_array_equal(getattr(model, name), getattr(m, name), err_msg=name)


@native
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 2e-3)])
@pytest.mark.parametrize("kind", KINDS)
def test_batches(kind: str, dtype: str, tolerance: float) -> None:
    m, d = started(kind, "implicitfast")
    batch = cardan.Batch(m, 3, dtype=dtype)
    for name, values in state_of(m).items():
        getattr(batch, name)[:] = values
    for _ in range(10):
        cardan.mj_step(m, d)
        batch.step()
    for name in ("qpos", "act", "actuator_force"):
        wanted = getattr(d, name)
        np.testing.assert_allclose(
            getattr(batch, name), np.tile(wanted, (3, 1)), rtol=tolerance, atol=tolerance * max(1, abs(wanted).max())
        )


@native
@pytest.mark.parametrize("kind", KINDS)
def test_on_a_gpu(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """GPU code of all stages gives the same as threads."""
    m, _ = started(kind, "implicitfast")
    with lent(monkeypatch):
        batches = cardan.Batch(m, 2, device="cuda"), cardan.Batch(m, 2)
        for batch in batches:
            for name, values in state_of(m).items():
                getattr(batch, name)[:] = values
            for _ in range(5):
                batch.step()
        for name in ("qvel", "act"):
            values = [np.asarray(getattr(batch, name)) for batch in batches]
            np.testing.assert_allclose(*values, atol=1e-9)
        batches[0].close()


@native
@pytest.mark.parametrize("kind", KINDS)
def test_in_the_interpreter(kind: str) -> None:
    """Steps with JIT off, where every index is checked, give the same."""
    code = "import sys, controlled_models as t, cardan; m, d = t.started(sys.argv[1], 'implicitfast'); "
    code += "cardan.mj_step(m, d); print(*map(repr, [*d.qvel.tolist(), *d.act.tolist()]))"
    folder = Path(__file__).parent
    path = os.pathsep.join([str(folder), str(folder.parent), str(folder.parents[1]), *sys.path])
    environment = os.environ | {"CARDAN_JIT": "0", "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", code, kind], env=environment, capture_output=True, text=True, timeout=100, check=True
    )
    m, d = started(kind, "implicitfast")
    cardan.mj_step(m, d)
    np.testing.assert_allclose([*map(float, done.stdout.split())], [*d.qvel, *d.act], rtol=1e-10)


_SET = """
spec = mujoco.MjSpec.from_string(xml)
for actuator, (name, values) in zip(spec.actuators, calls):
    getattr(actuator, "set_to_" + name)(**values)
m = spec.compile()
out = {k: np.array(getattr(m, k)) for k in names}
"""
_MOTOR = {"motorconst": [0.5, 0.8], "resistance": 2.0, "thermal": [3, 2, 0, 0.004, 25, 20], "ctrlspec": 9}
CALLS = [
    ("pid", {"kp": 3.0, "kv": 2.0, "ki": 1.0, "imax": 0.2, "slewmax": 4.0, "ctrlspec": 7}),
    ("pid", {"kp": 3.0, "dampratio": 1.0}),
    ("dcmotor", {**_MOTOR, "controller": [5, 1, 0.2, 3, 0.4, 12], "lugre": [30, 0.5, 0.2, 0.3, 0.5]}),
    ("dcmotor", {"motorconst": [0.5, 0], "resistance": 2.0, "inductance": [0.01, 0], "cogging": [0.1, 3, 0.2]}),
]


def test_set_to() -> None:
    """Methods of MjSpec make the same actuators as in 4.0.0."""
    xml = text("dcmotor").partition("<actuator>")[0] + "<actuator>" + '<motor joint="hinge"/>' * len(CALLS)
    xml += "</actuator></mujoco>"
    wanted = later_run(_SET, xml=xml, calls=CALLS, names=FIELDS)
    spec = cardan.MjSpec.from_string(xml, compat="4.0")
    for actuator, (name, values) in zip(spec.actuators, CALLS, strict=True):
        getattr(actuator, f"set_to_{name}")(**values)
    m = spec.compile()
    for name, values in wanted.items():
        np.testing.assert_allclose(getattr(m, name), values, rtol=1e-12, atol=1e-13, err_msg=name)


def test_integral_gain_edited_to_zero() -> None:
    """A PID controller whose integral gain becomes 0 integrates no longer, as in 4.0.0."""
    xml = """<mujoco><worldbody><body><joint name="h"/><geom size=".1" pos=".1 0 0"/></body></worldbody><actuator>
    <pid joint="h" kp="5" kv=".3" ki="2" slewmax="3" input="pos vel ff"/></actuator></mujoco>"""
    code = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
d.ctrl[:] = .2, .4, .6
for n in range(20):
    if n == 10:
        m.actuator_gainprm[0, 0] = 0
    mujoco.mj_step(m, d)
out = np.concatenate([d.qpos, d.act])
"""
    here = {"mujoco": cardan, "np": np, "xml": xml}
    exec(code, here)
    np.testing.assert_allclose(here["out"], later_run(code, xml=xml), rtol=1e-12)
