"""Step parity: one step from every state of a trajectory, forward and inverse dynamics, integrators, resets."""

import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest
from marks import takes_minutes_interpreted
from models import model_path
from reference import copy_state, model_from_reference

import cardan
from cardan.api import pipeline
from cardan.model import MjData

ARM = """
<mujoco><option timestep="0.01"/>
  <worldbody><body><joint name="a" axis="0 1 0" damping="1"/><geom size=".1 .2" type="capsule" pos=".3 0 0"/>
    <body pos="0.5 0 0"><joint name="b" type="ball" damping=".1"/><geom size=".1" pos=".2 .1 0"/>
      <body pos="0.2 0 0"><joint name="c" axis="0 0 1" range="-30 30" limited="true"/>
        <geom size=".1" pos=".2 0 .1"/></body></body>
    </body></worldbody>
  <tendon><fixed name="t" damping="1"><joint joint="a" coef="1"/><joint joint="c" coef="-.5"/></fixed></tendon>
  <actuator>
    <general joint="a" dyntype="filter" dynprm=".1" actlimited="true" actrange="-.5 .5"/>
    <general joint="c" dyntype="filterexact" dynprm=".1" gainprm="3"/>
    <general joint="c" dyntype="integrator" group="2"/><velocity joint="a" kv="3"/><position tendon="t" kp="2"/>
  </actuator>
  <sensor><jointpos joint="a"/><jointvel joint="a"/><clock/><actuatorfrc actuator="0"/></sensor>
  <keyframe><key time="3" qpos="1 1 0 0 0 .2" act=".1 .2 .3" ctrl="1 2 3 4 5" qvel="5 6 7 8 9"/></keyframe>
</mujoco>
""".replace('actuator="0"', 'actuator="m"').replace("<velocity joint", '<velocity name="m" joint')

FIELDS = (
    "time",
    "qpos",
    "qvel",
    "act",
    "qacc",
    "act_dot",
    "qacc_warmstart",
    "sensordata",
    "qfrc_constraint",
    "energy",
    "qfrc_passive",
    "xpos",
)


def pair(xml_or_path, **options):
    """Reference model and data, and Cardan's."""
    load = mujoco.MjModel.from_xml_path if isinstance(xml_or_path, Path) else mujoco.MjModel.from_xml_string
    rm = load(str(xml_or_path) if isinstance(xml_or_path, Path) else xml_or_path)
    for name, value in options.items():
        setattr(rm.opt, name, value)
    m = model_from_reference(rm)
    return rm, mujoco.MjData(rm), m, MjData(m)


def excite(rm, rd, seed=0):
    rng = np.random.default_rng(seed)
    rd.qvel[:] = rng.standard_normal(rm.nv)
    rd.ctrl[:] = rng.standard_normal(rm.nu)
    rd.act[:] = 0.2 * rng.standard_normal(rm.na)
    rd.xfrc_applied[1:] = rng.standard_normal((rm.nbody - 1, 6))


def worst(rd, d, fields):
    return {f: float(np.max(np.abs(np.asarray(getattr(d, f)) - getattr(rd, f)), initial=0)) for f in fields}


def assert_close(rd, d, fields=FIELDS, tolerance=1e-9):
    bad = {
        f: e
        for f, e in worst(rd, d, fields).items()
        if not e <= tolerance * (1 + np.max(np.abs(getattr(rd, f)), initial=0))
    }
    assert not bad


@takes_minutes_interpreted
@pytest.mark.parametrize(("model", "steps"), [("humanoid", 1000), ("crowd", 40)])
def test_one_step_along_a_trajectory(model, steps):
    rm, rd, m, d = pair(model_path(model))
    rng = np.random.default_rng(0)
    for _ in range(steps):
        rd.ctrl[:] = 0.3 * rng.standard_normal(rm.nu)
        copy_state(rd, d)
        mujoco.mj_step(rm, rd)
        pipeline.mj_step(m, d)
        assert d.ncon == rd.ncon
        assert_close(rd, d, ("time", "qpos", "qvel"), 1e-8)


@pytest.mark.parametrize("integrator", [0, 1, 2, 3])
@pytest.mark.parametrize("disable", [0, mujoco.mjtDisableBit.mjDSBL_EULERDAMP, mujoco.mjtDisableBit.mjDSBL_ACTUATION])
@pytest.mark.parametrize("enable", [0, mujoco.mjtEnableBit.mjENBL_ENERGY])
def test_open_loop_integrators(integrator, disable, enable):
    rm, rd, m, d = pair(ARM, integrator=integrator, disableflags=int(disable), enableflags=int(enable))
    excite(rm, rd)
    copy_state(rd, d)
    for _ in range(20):
        mujoco.mj_step(rm, rd)
        pipeline.mj_step(m, d)
        assert_close(rd, d, tolerance=1e-8)


@pytest.mark.parametrize("integrator", [0, 1, 2, 3])
def test_two_part_step(integrator):
    rm, rd, m, d = pair(ARM, integrator=integrator, disableactuator=4)
    excite(rm, rd)
    copy_state(rd, d)
    for engine, a, b in ((mujoco, rm, rd), (pipeline, m, d)):
        engine.mj_step1(a, b)
        b.ctrl[0] = 0.4
        engine.mj_step2(a, b)
    assert_close(rd, d)


def test_implicit_integrator_alone():
    rm, rd, m, d = pair(ARM, integrator=3)
    excite(rm, rd)
    copy_state(rd, d)
    for engine, a, b in ((mujoco, rm, rd), (pipeline, m, d)):
        engine.mj_forward(a, b)
        engine.mj_implicit(a, b)
    assert_close(rd, d)


@pytest.mark.parametrize(("integrator", "enable"), [(0, 0), (0, 8), (2, 8), (3, 8), (1, 0)])
def test_inverse(integrator, enable):
    rm, rd, m, d = pair(ARM, integrator=integrator, enableflags=enable)
    excite(rm, rd)
    copy_state(rd, d)
    mujoco.mj_forward(rm, rd)
    pipeline.mj_forward(m, d)
    for engine, a, b in ((mujoco, rm, rd), (pipeline, m, d)):
        b.qacc[:] = np.arange(a.nv) - 1.5
        engine.mj_inverse(a, b)
    assert_close(rd, d, ("qfrc_inverse", "qacc", "qfrc_constraint", "qfrc_bias"))


def test_compare_forward_and_inverse():
    rm, rd, m, d = pair(ARM, enableflags=4, iterations=100, tolerance=0)
    excite(rm, rd)
    rd.qpos[-1] = 0.7
    copy_state(rd, d)
    mujoco.mj_step(rm, rd)
    pipeline.mj_step(m, d)
    assert_close(rd, d, (*FIELDS, "qfrc_inverse", "efc_force"))
    assert np.all(d.solver_fwdinv < 1e-8)


@pytest.mark.parametrize("integrator", [0, 2, 3])
def test_compare_reads_the_acceleration_as_inverse_dynamics_does(integrator):
    rm, rd, m, d = pair(ARM, integrator=integrator, enableflags=8, iterations=100, tolerance=0)
    excite(rm, rd)
    for engine, a, b in ((mujoco, rm, rd), (pipeline, m, d)):
        engine.mj_forward(a, b)
        engine.mj_compareFwdInv(a, b)
        assert not b.solver_fwdinv.any() and not b.qfrc_inverse.any()  # no constraints: nothing is compared
    rd.qpos[-1] = 0.7
    copy_state(rd, d)
    for engine, a, b in ((mujoco, rm, rd), (pipeline, m, d)):
        engine.mj_forward(a, b)
        engine.mj_compareFwdInv(a, b)
    assert_close(rd, d, (*FIELDS, "qfrc_inverse", "efc_force"))
    np.testing.assert_allclose(d.solver_fwdinv, rd.solver_fwdinv, rtol=1e-8, atol=1e-10)
    assert rd.solver_fwdinv.max() > 0.01


@pytest.mark.parametrize("skipstage", [-1, 0, 1, 2, 3])
@pytest.mark.parametrize("name", ["mj_forwardSkip", "mj_inverseSkip"])
def test_skipping(name, skipstage):
    rm, rd, m, d = pair(ARM, enableflags=2)
    excite(rm, rd)
    copy_state(rd, d)
    for engine, a, b in ((mujoco, rm, rd), (pipeline, m, d)):
        engine.mj_forward(a, b)
        b.qpos[0] += 0.2
        b.qvel[0] += 1
        b.ctrl[:] += 1
        getattr(engine, name)(a, b, skipstage, skipstage % 2)
    assert_close(rd, d, (*FIELDS, "qfrc_inverse"))


def test_keyframe_and_reset():
    rm, rd, m, d = pair(ARM)
    for key in (0, -1, 1):
        for engine, a, b in ((mujoco, rm, rd), (pipeline, m, d)):
            engine.mj_step(a, b)
            engine.mj_resetDataKeyframe(a, b, key)
        assert_close(rd, d, (*FIELDS, "ctrl", "D_rownnz", "D_rowadr", "D_colind", "B_rownnz", "B_rowadr", "B_colind"))


def test_debug_reset():
    rm, rd, m, d = pair(ARM)
    for engine, a, b in ((mujoco, rm, rd), (pipeline, m, d)):
        engine.mj_step(a, b)
        engine.mj_resetDataDebug(a, b, 7)
    for name in (
        "xpos",
        "qM",
        "cvel",
        "qfrc_passive",
        "qpos",
        "qvel",
        "act_dot",
        "sensordata",
        "energy",
        "xfrc_applied",
    ):
        np.testing.assert_array_equal(getattr(d, name), getattr(rd, name), err_msg=name)


@pytest.mark.parametrize(
    ("field", "value"), [("qpos", np.nan), ("qvel", 1e11), ("qfrc_applied", 1e30), ("ctrl", np.nan)]
)
def test_bad_numbers_reset_with_a_warning(field, value):
    rm, rd, m, d = pair(ARM)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for engine, a, b in ((mujoco, rm, rd), (pipeline, m, d)):
            engine.mj_step(a, b)
            getattr(b, field)[0] = value
            engine.mj_step(a, b, 2)
    assert_close(rd, d, ("time", "qpos", "qvel", "act", "qacc"))
    assert [w.number for w in d.warning] == [w.number for w in rd.warning]
    assert [w.lastinfo for w in d.warning] == [w.lastinfo for w in rd.warning]
    assert len(caught) == 1 and field[:4] in str(caught[0].message).lower()


def tellings(engine, m, d, spoiled):
    """The beginning of what a handler of warnings is told in each step, after fields were spoiled; None resets."""
    told = []
    engine.set_mju_user_warning(lambda text: told[-1].append(text[:40]))
    try:
        for field in spoiled:
            told.append([])
            if field is None:
                engine.mj_resetData(m, d)
            elif field:
                getattr(d, field)[0] = np.nan
            engine.mj_step(m, d)
    finally:
        engine.set_mju_user_warning(None)
    return told


def test_what_diverges_again_and_again_is_told_as_often_as_by_the_reference():
    rm, rd, m, d = pair(ARM)
    spoiled = ("qpos", "qpos", "", "qvel", "qvel", "ctrl", "", "qpos", "qfrc_applied", "qfrc_applied", None, "qpos")
    told = tellings(cardan, m, d, spoiled)
    assert told == tellings(mujoco, rm, rd, spoiled)
    assert [len(texts) for texts in told[:4]] == [1, 0, 0, 1]
    assert [w.number for w in d.warning] == [w.number for w in rd.warning]


SINGULAR = """<mujoco><option integrator="{}"/><worldbody><body><joint axis="0 1 0" damping="{}"/>
<geom size=".1" pos=".2 0 0"/><body><joint axis="1 0 0" damping="{}"/><geom size=".1"/></body></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("integrator", "damping"), [("Euler", 0), ("Euler", 1), ("RK4", 0), ("implicitfast", 0), ("implicit", 1)]
)
def test_singular_inertia(integrator, damping):
    """Pivots that are too small are raised to MINVAL, with a warning at each factorisation."""
    rm, rd, m, d = pair(SINGULAR.format(integrator, damping, damping))
    for model in (rm, m):
        model.body_mass[2] = 0
        model.body_inertia[2] = 0
    mujoco.mj_step(rm, rd, 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pipeline.mj_step(m, d, 2)
    assert_close(rd, d, ("qpos", "qvel", "qacc", "qLD", "qLDiagInv"))
    assert [w.number for w in d.warning] == [w.number for w in rd.warning]
    assert d.warning[0].number > 0 and "singular at DOF 1" in str(caught[0].message)
