"""Armature of tendons, armature and damping of actuators: against MuJoCo 4.0.0, formulas, and in every form."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from derivatives_compared import assert_same_jacobians
from later import LaterError, later_run, later_states
from tests.fake_gpu import lent

import cardan
from cardan.errors import MjcfError
from cardan.jit import jit_enabled

XML = """<mujoco><option timestep="0.004" integrator="{}" jacobian="{}"><flag energy="enable"/></option><worldbody>
<site name="w" pos="-1 0 2"/>
<body pos="0 0 1"><joint name="r" axis="0 1 0" damping=".2 .3 .1" stiffness="3"/>
  <geom type="capsule" size=".05" fromto="0 0 0 .4 0 0"/><site name="sr" pos=".2 0 0"/>
  <body pos=".4 0 0"><joint name="b" type="ball" damping=".1" armature=".02"/>
    <geom type="capsule" size=".04" fromto="0 0 0 .3 0 .1"/><site name="sb" pos=".3 0 .1"/>
    <body pos=".3 0 .1"><joint name="s" type="slide" axis="1 0 .2" stiffness="20 0 9" range="-.1 .1"/>
      <geom size=".06"/><site name="ss" pos="0 .05 .1"/></body></body>
  <body pos=".2 .2 0"><joint name="c" axis="1 0 0"/><geom size=".05" pos="0 .2 0" mass=".4"/>
    <site name="sc" pos="0 .2 .1"/></body></body>
<body pos="1 0 1"><freejoint name="f"/><geom type="box" size=".1 .2 .15" mass="2"/>
  <site name="sf" pos=".1 .1 0"/></body>
<body pos="2 1 0"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
  <geom size=".1" mass="1"/><site name="sx"/></body></worldbody>
<tendon>
  <fixed name="t1" armature=".3" damping=".1 .2"><joint joint="r" coef="1"/><joint joint="s" coef="-2"/></fixed>
  <fixed name="t2" actuatorfrcrange="-1 1.5"><joint joint="c" coef="2"/><joint joint="x" coef=".5"/></fixed>
  <spatial name="t3" armature=".7" stiffness="9" range="0 1.8" limited="true"><site site="w"/><site site="sb"/>
    <site site="ss"/><pulley divisor="2"/><site site="sf"/><site site="sc"/></spatial>
  <spatial name="t4" damping="0 .5"><site site="sx"/><site site="sf"/></spatial></tendon>
<actuator>
  <motor name="a1" joint="r" gear="3" armature=".01" damping=".02 .03"/><motor name="a2" joint="r" armature=".1"/>
  <position name="a3" jointinparent="b" kp="3" gear=".5 1 0" armature=".2" damping=".1 0 .2"/>
  <motor name="a4" tendon="t2" gear="-2" armature=".05" damping=".2 .1"/>
  <damper name="a5" tendon="t2" kv="5" ctrlrange="0 2" forcerange="-.4 .9"/>
  <velocity name="a6" tendon="t4" kv="2" gear="1.5" armature=".3"/>
  <motor name="a7" joint="f" gear="0 1 0" armature=".1"/>
  <muscle name="a8" tendon="t1" lengthrange="-1 1" armature=".1" damping=".3"/></actuator>
<sensor><force site="sb"/><torque site="sr"/><force site="sf"/><accelerometer site="ss"/>
  <tendonactuatorfrc tendon="t2"/><jointactuatorfrc joint="r"/><tendonlimitfrc tendon="t3"/></sensor></mujoco>"""
INTEGRATORS = ("Euler", "implicit", "implicitfast", "RK4")
FIELDS = ("tendon_armature", "tendon_actfrclimited", "tendon_actfrcrange", "actuator_armature", "actuator_damping")
FIELDS += ("actuator_dampingpoly", "jnt_actuatorid", "tendon_actuatorid", "body_simple", "dof_simplenum", "dof_M0")
FIELDS += ("dof_invweight0", "body_invweight0", "tendon_invweight0", "actuator_acc0", "M_rownnz", "M_colind")
RESULTS = ("M", "qfrc_bias", "qfrc_passive", "qfrc_actuator", "qacc", "sensordata", "energy", "actuator_force")
PENDULUM = """<mujoco><worldbody><site name="w" pos="-1 0 2"/><geom name="g" size=".1" pos="0 0 3"/>
<body pos="0 0 1"><joint name="r" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/><site name="s" pos=".3 0 0"/></body>
</worldbody>{}</mujoco>"""


def started(integrator: str, compat: str = "4.0", jacobian: str = "dense") -> tuple[cardan.MjModel, cardan.MjData]:
    """A model and data in motion."""
    m = cardan.MjModel.from_xml_string(XML.format(integrator, jacobian), compat=compat)
    d = cardan.MjData(m)
    random = np.random.default_rng(3)
    d.qvel[:] = random.normal(size=m.nv)
    d.ctrl[:] = random.normal(size=m.nu)
    d.qpos[:2] = 0.3, 0.8
    d.qpos[-6:-2] = 0.8, 0.2, 0.3, -0.4
    return m, d


def state_of(d: cardan.MjData) -> dict[str, np.ndarray]:
    """The values that a simulation starts from."""
    return {name: getattr(d, name).copy() for name in ("qpos", "qvel", "ctrl", "act")}


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("integrator", [*INTEGRATORS, "discrete"])
def test_steps(integrator: str, jacobian: str) -> None:
    """Forward dynamics, one step and ten steps."""
    m, d = started(integrator, jacobian=jacobian)
    state, text = state_of(d), XML.format(integrator, jacobian)
    for steps, tolerance in ((0, 1e-8), (1, 1e-8), (10, 1e-7)):
        other = cardan.MjData(m)
        for name, values in state.items():
            getattr(other, name)[:] = values
        wanted = later_states(text, steps, state, (*RESULTS, "qpos", "qvel", "act"))
        if steps == 0:
            cardan.mj_forward(m, other)
        for _ in range(steps):
            cardan.mj_step(m, other)
        for name, values in wanted.items():
            np.testing.assert_allclose(getattr(other, name), values, rtol=tolerance, atol=tolerance, err_msg=name)


_FIELDS = "m = mujoco.MjModel.from_xml_string(xml); out = {k: np.array(getattr(m, k)) for k in names}"


def test_fields() -> None:
    m, _ = started("Euler")
    wanted = later_run(_FIELDS, xml=XML.format("Euler", "dense"), names=(*FIELDS, "actuator_biasprm"))
    for name, values in wanted.items():
        np.testing.assert_allclose(getattr(m, name), values, rtol=1e-9, atol=1e-12, err_msg=name)


def test_forms_of_a_model(tmp_path: Path) -> None:
    m, _ = started("Euler")
    cardan.mj_saveModel(m, str(tmp_path / "m.mjb"))
    spec = cardan.MjSpec.from_string(XML.format("Euler", "dense"))
    again = [cardan.MjModel.from_xml_string(m.to_xml(), compat="4.0"), spec.compile()]
    again.append(cardan.MjModel.from_binary_path(str(tmp_path / "m.mjb")))
    for other in again:
        for name in FIELDS:
            np.testing.assert_allclose(getattr(other, name), getattr(m, name), rtol=1e-9, atol=1e-12, err_msg=name)


def test_specification() -> None:
    """A program sets the attributes of structs."""
    spec = cardan.MjSpec.from_string(XML.format("Euler", "dense"), compat="4.0")
    tendon, actuator = spec.tendon("t4"), spec.actuator("a6")
    tendon.armature, tendon.actfrcrange, tendon.actfrclimited = 0.5, (-1, 2), 1
    actuator.armature, actuator.damping = 0.7, (1, 2, 3)
    m = spec.compile()
    assert m.tendon("t4").armature == 0.5
    assert m.tendon("t4").actfrclimited == 1
    assert m.tendon("t4").actfrcrange.tolist() == [-1.0, 2.0]
    assert m.actuator("a6").armature == 0.7
    assert (m.actuator("a6").damping, m.actuator("a6").dampingpoly.tolist()) == (1.0, [2.0, 3.0])


_INVERSE = """
m = mujoco.MjModel.from_xml_string(xml)
m.opt.enableflags |= discrete * mujoco.mjtEnableBit.mjENBL_INVDISCRETE
d = mujoco.MjData(m)
for name, value in state.items():
    getattr(d, name)[:] = value
mujoco.mj_forward(m, d)
d.qacc[:] = state["qacc"]
mujoco.mj_inverse(m, d)
out = d.qfrc_inverse.copy()
"""


@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize("integrator", [*INTEGRATORS[:3], "discrete"])
def test_inverse(integrator: str, discrete: bool) -> None:
    m, d = started(integrator)
    m.opt.enableflags |= discrete * cardan.mjtEnableBit.mjENBL_INVDISCRETE
    cardan.mj_forward(m, d)
    d.qacc[:] = np.random.default_rng(4).normal(size=m.nv)
    state = state_of(d) | {"qacc": d.qacc.copy()}
    cardan.mj_inverse(m, d)
    wanted = later_run(_INVERSE, xml=XML.format(integrator, "dense"), state=state, discrete=discrete)
    np.testing.assert_allclose(d.qfrc_inverse, wanted, rtol=1e-9, atol=1e-10)


_PARTS = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
for name, value in state.items():
    getattr(d, name)[:] = value
mujoco.mj_forward(m, d)
bias = np.zeros(m.nv)
mujoco.mj_rne(m, d, 0, bias)
whole = d.M.copy()
mujoco.mj_crb(m, d)
out = bias, d.M.copy(), whole
"""


def test_parts() -> None:
    """mj_crb and mj_rne leave out tendons; mj_makeM does not."""
    m, d = started("Euler")
    wanted = later_run(_PARTS, xml=XML.format("Euler", "dense"), state=state_of(d))
    cardan.mj_forward(m, d)
    bias = np.zeros(m.nv)
    cardan.mj_rne(m, d, 0, bias)
    cardan.mj_crb(m, d)
    found = [bias, d.M.copy()]
    cardan.mj_makeM(m, d)
    for mine, theirs in zip((*found, d.M), wanted, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-10)


@pytest.mark.skipif(not jit_enabled, reason="exact derivatives need native code")
@pytest.mark.parametrize(("integrator", "compat", "jacobian"), [
    *((name, "4.0", "dense") for name in INTEGRATORS),
    ("Euler", "3.1", "sparse"),
    ("implicitfast", "3.1", "dense"),
])  # fmt: skip
def test_derivatives(integrator: str, compat: str, jacobian: str) -> None:
    m, d = started(integrator, compat, jacobian)
    m.opt.disableflags |= cardan.mjtDisableBit.mjDSBL_CONTACT
    for _ in range(5):
        cardan.mj_step(m, d)
    assert_same_jacobians(m, d)


@pytest.mark.skipif(not jit_enabled, reason="exact derivatives need native code")
def test_derivatives_by_parameters() -> None:
    """Derivatives of the next velocity by the model's new fields equal differences."""
    m, d = started("implicitfast")
    m.opt.disableflags |= cardan.mjtDisableBit.mjDSBL_CONTACT
    names = ("tendon_armature", "actuator_armature", "actuator_damping", "actuator_dampingpoly", "tendon_actfrcrange")
    exact = cardan.derivatives(m, d, ("qvel",), names)
    start = state_of(d)

    def velocity() -> np.ndarray:
        other = cardan.MjData(m)
        for name, values in start.items():
            getattr(other, name)[:] = values
        cardan.mj_step(m, other)
        return other.qvel.copy()

    for name in names:
        field, changed = getattr(m, name).reshape(-1), 0.0
        for k in np.flatnonzero(field).tolist():  # 0 switches off
            before, ends = field[k], []
            h = 1e-4 * abs(before)
            for sign in (1.0, -1.0):
                field[k] = before + sign * h
                ends.append(velocity())
            field[k] = before
            wanted = (ends[0] - ends[1]) / (2.0 * h)
            changed = max(changed, np.abs(wanted).max())
            found = exact["qvel", name].reshape(m.nv, -1)[:, k]
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6 * max(1.0, np.abs(wanted).max()))
        assert changed > 1e-3, name


def test_bias() -> None:
    """The bias force of a tendon is its armature times J times the second derivative of its length."""
    m, d = started("Euler", "3.1")
    m.opt.gravity[:] = 0.0
    cardan.mj_forward(m, d)
    with_armature, velocity = d.qfrc_bias.copy(), d.qvel.copy()
    m.tendon_armature[:], m.actuator_armature[:] = 0.0, 0.0
    cardan.mj_forward(m, d)
    bias, length, jacobian = with_armature - d.qfrc_bias, [], d.ten_J.copy()
    start, h = d.qpos.copy(), 1e-4
    armature = {2: 0.7, 3: 1.5**2 * 0.3}
    for sign in (-1.0, 0.0, 1.0):
        d.qpos[:] = start
        cardan.mj_integratePos(m, d.qpos, velocity, sign * h)
        cardan.mj_fwdPosition(m, d)
        length.append(d.ten_length.copy())
    drift = (length[0] - 2.0 * length[1] + length[2]) / h**2
    wanted = sum(a * drift[t] * jacobian[t] for t, a in armature.items())
    np.testing.assert_allclose(bias, wanted, rtol=1e-5, atol=1e-5)


def test_energy_is_kept() -> None:
    """A heavy spring: total energy stays constant."""
    path = '<site site="w"/><site site="s"/>'
    m = cardan.MjModel.from_xml_string(
        PENDULUM.format(f'<tendon><spatial armature="3" stiffness="20">{path}</spatial></tendon>'), compat="4.0"
    )
    m.opt.integrator, m.opt.timestep = cardan.mjtIntegrator.mjINT_RK4, 1e-3
    m.opt.enableflags |= cardan.mjtEnableBit.mjENBL_ENERGY
    d = cardan.MjData(m)
    d.qvel[0] = 2.0
    cardan.mj_forward(m, d)
    start = d.energy.sum()
    for _ in range(1000):
        cardan.mj_step(m, d)
    assert abs(d.energy.sum() - start) < 1e-7 * abs(start)


def test_as_parameters_of_the_joint() -> None:
    """An actuator with a gear adds what its joint could have by itself."""
    damping = np.array([0.1, 0.2, 0.3])
    joint = (
        '<mujoco><worldbody><body><joint name="r" axis="0 1 0" {}/><geom size=".1" pos=".2 0 0"/></body></worldbody>'
    )
    given = f'armature="{9 * 0.2}" damping="{" ".join(map(str, 9 * damping))}"'
    own = cardan.MjModel.from_xml_string(
        joint.format(given) + '<actuator><motor joint="r" gear="3"/></actuator></mujoco>'
    )
    motor = '<motor joint="r" gear="3" armature=".2" damping=".1 .2 .3"/>'
    driven = cardan.MjModel.from_xml_string(joint.format("") + f"<actuator>{motor}</actuator></mujoco>")
    ends = []
    for m in (own, driven):
        d = cardan.MjData(m)
        d.qvel[0], d.ctrl[0] = 2.0, 0.5
        for _ in range(100):
            cardan.mj_step(m, d)
        ends.append([d.qpos[0], d.qvel[0]])
    np.testing.assert_allclose(*ends, rtol=1e-12)


def test_edits_count() -> None:
    """Values that a program sets in a model without them have their effect in the next step."""
    text = '<tendon><spatial name="t" {}><site site="w"/><site site="s"/></spatial></tendon><actuator>{}</actuator>'
    motor = '<motor tendon="t" gear="2"/><motor joint="r" {}/>'
    bare = cardan.MjModel.from_xml_string(PENDULUM.format(text.format("", motor.format(""))))
    given = 'armature=".1" damping=".2 .3"'
    full = cardan.MjModel.from_xml_string(PENDULUM.format(text.format('armature="3"', motor.format(given))))
    pair = cardan.MjData(bare), cardan.MjData(full)
    cardan.mj_step(bare, pair[0])
    cardan.mj_step(full, pair[1])
    bare.tendon_armature[0], bare.actuator_armature[1] = 3.0, 0.1
    bare.actuator_damping[1], bare.actuator_dampingpoly[1, 0] = 0.2, 0.3
    for m, d in zip((bare, full), pair, strict=True):
        d.qpos[0], d.qvel[0] = 0.5, 1.0
        for _ in range(10):
            cardan.mj_step(m, d)
    assert pair[0].qpos == pair[1].qpos


@pytest.mark.skipif(not jit_enabled, reason="about native code")
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-11), ("float32", 3e-3)])
def test_batches(dtype: str, tolerance: float) -> None:
    m, d = started("implicitfast")
    m.opt.disableflags |= cardan.mjtDisableBit.mjDSBL_CONTACT
    batch = cardan.Batch(m, 3, dtype=dtype)
    batch.qpos[:], batch.qvel[:], batch.ctrl[:] = d.qpos, d.qvel, d.ctrl
    for _ in range(10):
        cardan.mj_step(m, d)
        batch.step()
    np.testing.assert_allclose(batch.qpos, np.tile(d.qpos, (3, 1)), rtol=tolerance, atol=tolerance)


@pytest.mark.skipif(not jit_enabled, reason="about native code")
def test_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """GPU code of all stages gives the same as threads."""
    m, d = started("implicitfast")
    with lent(monkeypatch):
        batches = cardan.Batch(m, 2, device="cuda"), cardan.Batch(m, 2)
        for batch in batches:
            batch.qpos[:], batch.qvel[:], batch.ctrl[:] = d.qpos, d.qvel, d.ctrl
            for _ in range(5):
                batch.step()
        np.testing.assert_allclose(np.asarray(batches[0].qvel), np.asarray(batches[1].qvel), atol=1e-9)
        batches[0].close()


def test_in_the_interpreter() -> None:
    """Steps with JIT off, where every index is checked, give the same."""
    if not jit_enabled:
        return
    code = "import sys, test_reflected as t, cardan; m, d = t.started('implicitfast'); cardan.mj_step(m, d); "
    code += "cardan.mj_forward(m, d); print(*map(repr, [*d.qvel.tolist(), *d.sensordata.tolist()]))"
    folder = Path(__file__).parent
    path = os.pathsep.join([str(folder), str(folder.parent), str(folder.parents[1]), *sys.path])
    environment = os.environ | {"CARDAN_JIT": "0", "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=100, check=True
    )
    m, d = started("implicitfast")
    cardan.mj_step(m, d)
    cardan.mj_forward(m, d)
    np.testing.assert_allclose([*map(float, done.stdout.split())], [*d.qvel, *d.sensordata], rtol=1e-9, atol=1e-9)


WRAPPED = '<tendon><spatial name="t" {}><site site="w"/><geom geom="g"/><site site="s"/></spatial></tendon>'
STRAIGHT = '<tendon><spatial name="t" {}><site site="w"/><site site="s"/></spatial></tendon>'
BAD = {
    "wraps around geoms": WRAPPED.format('armature="1"'),
    "wraps around": WRAPPED.format("") + '<actuator><motor tendon="t" armature="1"/></actuator>',
    "must not be negative, found -1": STRAIGHT.format('armature="-1"'),
    "only actuators on joints": STRAIGHT.format("") + '<actuator><motor site="s" armature="1"/></actuator>',
    "only actuators": STRAIGHT.format("") + '<actuator><motor site="s" damping="0 1"/></actuator>',
    "must contain 0, found 1 2": STRAIGHT.format('actuatorfrcrange="1 2"'),
    "lower bound must be below": STRAIGHT.format('actuatorfrclimited="true"'),
    "set actuatorfrclimited": '<compiler autolimits="false"/>' + STRAIGHT.format('actuatorfrcrange="-1 1"'),
    "numbers": STRAIGHT.format("") + '<actuator><motor joint="r" damping="1 2 3 4"/></actuator>',
}


@pytest.mark.parametrize("reason", BAD)
def test_bad_input(reason: str) -> None:
    """Each of these is an error of 4.0.0, too."""
    text = PENDULUM.format(BAD[reason])
    with pytest.raises(MjcfError, match=reason):
        cardan.MjModel.from_xml_string(text)
    with pytest.raises(LaterError):
        later_run("mujoco.MjModel.from_xml_string(xml)", xml=text)


def test_damping_of_wrapped_tendons() -> None:
    """Actuators may add damping to any tendon."""
    text = PENDULUM.format(WRAPPED.format("") + '<actuator><motor tendon="t" damping="1 2"/></actuator>')
    m = cardan.MjModel.from_xml_string(text, compat="4.0")
    d = cardan.MjData(m)
    d.qvel[0] = 1.5
    cardan.mj_forward(m, d)
    wanted = later_states(text, 0, {"qvel": [1.5]}, ("qfrc_damper", "qacc"))
    for name, values in wanted.items():
        np.testing.assert_allclose(getattr(d, name), values, rtol=1e-10)
