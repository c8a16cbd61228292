"""Parity of tendons, transmissions and actuators: compiled models, forward dynamics, steps, length ranges."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from dynamics.states import forward, random_state
from fields_compared import differences
from models import model_path
from parity.actuation_snippets import ACTUATORS, BODIES, DEFAULTS, TENDON_WITH_ACTUATORS, TENDONS
from parity.spatial_models import MUSCLES, PATHS, TRANSMISSIONS
from reference import copy_state, model_from_reference

import cardan
from cardan.errors import MjcfError
from cardan.jit import jit_enabled

LENGTH_RANGE_TOLERANCE = 1e-4
ARMS = ("muscle_arm", "slider_crank")
needs_speed = pytest.mark.skipif(not jit_enabled, reason="too slow in the interpreter")


def reference_model(xml: str) -> mujoco.MjModel | None:
    """The reference's model, None if it refuses the text."""
    try:
        return mujoco.MjModel.from_xml_string(xml)
    except ValueError:
        return None


def compare_models(xml: str) -> None:
    """Both refuse the text, or both make the same model of it."""
    expected = reference_model(xml)
    if expected is None:
        with pytest.raises(MjcfError):
            cardan.MjModel.from_xml_string(xml)
        return
    found = cardan.MjModel.from_xml_string(xml)
    assert differences(expected, found, looser={"actuator_lengthrange": LENGTH_RANGE_TOLERANCE}) == []


@pytest.mark.parametrize("actuator", ACTUATORS)
def test_compiled_actuators(actuator: str) -> None:
    compare_models(BODIES.format(default="", tendon="", actuator=actuator))


@pytest.mark.parametrize(("default", "actuator"), DEFAULTS)
def test_compiled_defaults(default: str, actuator: str) -> None:
    compare_models(BODIES.format(default=default, tendon="", actuator=actuator))


@pytest.mark.parametrize("tendon", TENDONS)
def test_compiled_tendons(tendon: str) -> None:
    compare_models(BODIES.format(default="", tendon=tendon, actuator=""))


def test_compiled_tendon_with_actuators() -> None:
    tendon, actuators = TENDON_WITH_ACTUATORS
    compare_models(BODIES.format(default="", tendon=tendon, actuator=actuators))


# forward dynamics --------------------------------------------------------------------------------------------------

FIELDS = (
    *("ten_length", "ten_velocity", "ten_wrapadr", "ten_wrapnum", "ten_J_rownnz", "ten_J_rowadr"),
    *("actuator_length", "actuator_velocity", "actuator_moment", "actuator_force", "act_dot", "qfrc_actuator"),
    *("qfrc_spring", "qfrc_damper", "qfrc_passive", "qfrc_smooth", "energy", "sensordata"),
)


def compare_forward(ref: mujoco.MjModel, seed: int, m: cardan.MjModel | None = None, tolerance: float = 1e-9) -> None:
    """All fields about tendons and actuators at a random state."""
    expected = forward(ref, seed)
    m = model_from_reference(ref) if m is None else m
    m.opt.enableflags = ref.opt.enableflags
    d = cardan.MjData(m)
    copy_state(random_state(ref, seed), d)
    cardan.mj_forward(m, d)
    for name in FIELDS:
        want, found = np.asarray(getattr(expected, name)), np.asarray(getattr(d, name))
        scale = max(1.0, np.abs(want).max(initial=0))
        np.testing.assert_allclose(found, want, rtol=0, atol=tolerance * scale, err_msg=name)
    compare_paths(expected, d, tolerance)


def compare_paths(expected: mujoco.MjData, d: cardan.MjData, tolerance: float) -> None:
    """Points of paths and compressed Jacobians, where they are in use."""
    points = int(expected.ten_wrapnum.sum())
    np.testing.assert_array_equal(d.wrap_obj.ravel()[:points], expected.wrap_obj.ravel()[:points])
    found, want = d.wrap_xpos.reshape(-1, 3)[:points], expected.wrap_xpos.reshape(-1, 3)[:points]
    np.testing.assert_allclose(found, want, rtol=0, atol=tolerance)
    used = int(expected.ten_J_rownnz.sum()) or expected.ten_J.size
    np.testing.assert_allclose(d.ten_J.ravel()[:used], expected.ten_J.ravel()[:used], rtol=0, atol=tolerance)
    np.testing.assert_array_equal(d.ten_J_colind.ravel()[:used], expected.ten_J_colind.ravel()[:used])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("jacobian", ("dense", "sparse"))
def test_paths(jacobian: str, seed: int) -> None:
    compare_forward(mujoco.MjModel.from_xml_string(PATHS.format(jacobian=jacobian)), seed)


@pytest.mark.parametrize("seed", range(5))
def test_transmissions(seed: int) -> None:
    compare_forward(mujoco.MjModel.from_xml_string(TRANSMISSIONS), seed)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("group", (0, 2))
def test_muscles(group: int, seed: int) -> None:
    ref = mujoco.MjModel.from_xml_string(MUSCLES.format(integrator="Euler"))
    ref.opt.disableactuator = group
    compare_forward(ref, seed)


@needs_speed
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", ("muscle_arm", "slider_crank", "cradle", "elbow"))
def test_real_models(name: str, seed: int) -> None:
    path = str(model_path(name))
    compare_forward(mujoco.MjModel.from_xml_path(path), seed, cardan.MjModel.from_xml_path(path))


@pytest.mark.parametrize("kind", ("sphere", "cylinder"))
@pytest.mark.parametrize("sidesite", ("", 'sidesite="s"'))
def test_random_wrapping(kind: str, sidesite: str) -> None:
    """Lengths and points of contact around one obstacle."""
    ref = mujoco.MjModel.from_xml_string(f"""
        <mujoco><worldbody><geom name="g" type="{kind}" size=".5 1" contype="0" conaffinity="0"/>
        <body name="a" mocap="true"><site name="a"/></body><body name="b" mocap="true"><site name="b"/></body>
        <body name="s" mocap="true"><site name="s"/></body>
        <body><joint/><geom size=".1" pos="5 0 0"/></body></worldbody>
        <tendon><spatial><site site="a"/><geom geom="g" {sidesite}/><site site="b"/></spatial></tendon></mujoco>""")
    m = model_from_reference(ref)
    expected, d = mujoco.MjData(ref), cardan.MjData(m)
    rng = np.random.default_rng(3)
    wrapped = 0
    for _ in range(400 if jit_enabled else 40):
        expected.mocap_pos[:] = d.mocap_pos[:] = rng.uniform(-1.2, 1.2, (3, 3))
        mujoco.mj_fwdPosition(ref, expected)
        cardan.mj_fwdPosition(m, d)
        assert d.ten_wrapnum[0] == expected.ten_wrapnum[0]
        number = int(d.ten_wrapnum[0])
        points, wanted = (data.wrap_xpos.reshape(-1, 3)[:number] for data in (d, expected))
        assert abs(d.ten_length[0] - expected.ten_length[0]) < 1e-9
        np.testing.assert_allclose(points, wanted, rtol=0, atol=1e-9)
        wrapped += number == 4
    assert wrapped > 5


# time steps --------------------------------------------------------------------------------------------------------


def worst_step(ref: mujoco.MjModel, m: cardan.MjModel, steps: int) -> float:
    """Largest difference after one step from each state along a trajectory of the reference."""
    ref.opt.tolerance = m.opt.tolerance = 1e-12
    expected, d = mujoco.MjData(ref), cardan.MjData(m)
    rng = np.random.default_rng(0)
    worst = 0.0
    for step in range(steps):
        if step % 20 == 0:
            expected.ctrl[:] = rng.uniform(0, 1, ref.nu)
        copy_state(expected, d)
        expected.actuator_moment[:] = 0  # slider-cranks add to what stands there (docs/differences.md)
        mujoco.mj_step(ref, expected)
        cardan.mj_step(m, d)
        for name in ("qpos", "qvel", "act"):
            want = getattr(expected, name)
            worst = max(worst, np.abs(getattr(d, name) - want).max(initial=0) / max(1.0, np.abs(want).max(initial=0)))
    return worst


@needs_speed
@pytest.mark.parametrize("name", ARMS)
def test_steps(name: str) -> None:
    path = str(model_path(name))
    assert worst_step(mujoco.MjModel.from_xml_path(path), cardan.MjModel.from_xml_path(path), 1000) < 1e-8


@pytest.mark.parametrize("integrator", ("Euler", "implicitfast", "implicit", "RK4"))
def test_steps_of_muscles(integrator: str) -> None:
    ref = mujoco.MjModel.from_xml_string(MUSCLES.format(integrator=integrator))
    assert worst_step(ref, model_from_reference(ref), 200 if jit_enabled else 5) < 1e-8


# muscle functions and length ranges --------------------------------------------------------------------------------


def test_muscle_functions() -> None:
    rng = np.random.default_rng(0)
    for _ in range(1000):
        low, high = [0.5, 0.9, -1, 50, 0.3, 1.2, 0.5, 0.5, 1.0], [0.9, 1.3, 30, 300, 0.7, 2.0, 2.0, 2.0, 1.6]
        prm = rng.uniform(low, high)
        span = np.array([0.2, 0.2 + rng.uniform(0.1, 0.5)])
        length, velocity, acc0 = rng.uniform(0, 1), rng.uniform(-2, 2), rng.uniform(0.1, 20)
        ctrl, act = rng.uniform(-0.5, 1.5, 2)
        time = np.array([rng.uniform(0.001, 0.1), rng.uniform(0.001, 0.1), rng.choice([0, rng.uniform(0, 1)])])
        for name, arguments in (
            ("mju_muscleGain", (length, velocity, span, acc0, prm)),
            ("mju_muscleBias", (length, span, acc0, prm)),
            ("mju_muscleDynamics", (ctrl, act, time)),
        ):
            want = getattr(mujoco, name)(*arguments)
            assert abs(getattr(cardan, name)(*arguments) - want) <= 1e-12 * max(1.0, abs(want)), name


ONE_JOINT = """
<mujoco>
  <compiler><lengthrange {options}/></compiler>
  <worldbody><site name="w" pos="-1 .3 .2"/>
    <body><joint name="j" {limits}/><geom name="g" size=".1" pos=".1 0 0"/><site name="s" pos=".1 .2 0"/>
      <site name="s2" pos="1 .2 0"/></body></worldbody>
  <tendon><fixed name="t" {tendon}><joint joint="j" coef="1"/></fixed>
    <spatial name="q"><site site="s2"/><geom geom="g"/><site site="w"/></spatial></tendon>
  <actuator>{actuator}</actuator>
</mujoco>
"""
OPTIONS = (
    *('uselimit="true"', 'mode="none"', 'mode="muscleuser"', 'mode="all"', 'useexisting="false"', 'accel="-1"'),
    *('maxforce="-1"', 'maxforce=".1"', 'timeconst="0"', 'timestep="0"', 'inttotal="-1"', 'inttotal="0"'),
    *('interval="20"', 'interval="-1"', 'tolrange="-1"', 'accel="3" timeconst=".3" inttotal="20"'),
)
PULLED = (
    '<muscle joint="j"/>',
    '<muscle joint="j" gear="-2"/>',
    '<muscle joint="j" lengthrange="0 3"/>',
    '<motor tendon="t"/>',
    '<general joint="j" gaintype="user"/>',
)


@needs_speed
@pytest.mark.parametrize("actuator", PULLED)
@pytest.mark.parametrize("options", OPTIONS)
def test_length_ranges(options: str, actuator: str) -> None:
    limits = {"limits": 'range="-60 50"', "tendon": 'range="0 1"'}
    compare_models(ONE_JOINT.format(options=options, actuator=actuator, **limits))


@needs_speed
@pytest.mark.parametrize(
    "actuator",
    (
        '<muscle joint="j"/>',
        '<muscle tendon="t"/>',
        '<muscle tendon="q"/>',
        '<general gaintype="muscle" gainprm=".75 1.05 -1 200 .5 1.6 1.5 1.3 1.2" site="s"/>',
    ),
)
def test_length_ranges_without_limits(actuator: str) -> None:
    compare_models(ONE_JOINT.format(options="", actuator=actuator, limits="", tendon=""))


@needs_speed
def test_set_length_range() -> None:
    """Against what the reference's compiler finds: its function of this name doesn't come back with default options."""
    xml = ONE_JOINT.format(options="{}", actuator='<muscle tendon="q"/>', limits="", tendon="")
    want = mujoco.MjModel.from_xml_string(xml.format("")).actuator_lengthrange[0]
    m = cardan.MjModel.from_xml_string(xml.format('mode="none"'))
    opt = cardan.MjLROpt()
    cardan.mj_setLengthRange(m, cardan.MjData(m), 0, opt)
    assert not m.actuator_lengthrange.any()
    cardan.mj_defaultLROpt(opt)
    cardan.mj_setLengthRange(m, cardan.MjData(m), 0, opt)
    np.testing.assert_allclose(m.actuator_lengthrange[0], want, atol=1e-4 * np.ptp(want))


def test_set_length_range_refuses() -> None:
    m = cardan.MjModel.from_xml_string(ONE_JOINT.format(options="", actuator="", limits="", tendon=""))
    with pytest.raises(ValueError, match="index"):
        cardan.mj_setLengthRange(m, cardan.MjData(m), 0, cardan.MjLROpt())
