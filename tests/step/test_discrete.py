"""The integrator discrete against MuJoCo 4.0.0, by both settings of `compat`, and its stability at large steps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from later import later_run, later_states

import cardan
from cardan.enums import mjtIntegrator
from cardan.errors import FatalError

FIELDS = "qacc", "qacc_smooth", "qfrc_constraint", "efc_force", "efc_R", "efc_aref", "efc_diagA", "sensordata"
PENDULUM = """<mujoco><option integrator="discrete" timestep="0.01"/><worldbody>
<body><joint name="a" axis="0 1 0" damping="2" stiffness="300 -20 5" springref="20"/><geom size=".1" pos=".3 0 0"/>
<body pos=".5 0 0"><joint name="b" axis="0 1 0" damping=".3 .1" stiffness="5"/><geom size=".1" pos=".3 0 0"/>
<site name="s" pos=".1 0 .1"/></body></body>
<body pos="0 3 0"><joint type="ball" stiffness="9 3 2" damping=".1 .2"/><geom size=".1" pos=".2 0 .1"/></body>
<body pos="0 5 0"><joint type="free" stiffness="9 -3 2" damping=".1 .2 .3"/><geom size=".1" pos=".2 0 .1"/></body>
</worldbody><actuator>{actuators}</actuator><sensor><accelerometer site="s"/><force site="s"/></sensor></mujoco>"""
ACTUATORS = {
    "position": '<position joint="b" kp="100" kv="3" gear="2"/>',
    "destabilising": '<general joint="b" gaintype="affine" gainprm="1 50 -9" biastype="affine" biasprm="3 20 -5"/>',
    "saturated": '<position joint="b" kp="100" kv="3" forcerange="-5 5"/>',
    "filter": '<general joint="b" gaintype="affine" gainprm="1 -50 -2" dyntype="filterexact" dynprm=".1"/>',
    "early": '<general joint="b" gainprm="1 -50 -2" gaintype="affine" dyntype="filter" dynprm=".1" actearly="true"/>',
    "muscle": '<muscle joint="b" lengthrange="-1 1" scale="100"/>',
    "passive muscle": '<muscle joint="b" lengthrange="-1 .2" scale="100"/>',
}
MOVING = {"qvel": [1.0, 2.0, 0.3, -0.4, 0.5, 0.1, 0.2, 0.3, 1.0, -2.0, 3.0], "ctrl": [0.4]}
ROWS = """<mujoco><option timestep="0.01" integrator="discrete" impratio="2" {option}/><worldbody>
<geom type="plane" size="5 5 .1" pos="0 0 -.15"/>
<body name="A"><joint name="a" axis="0 1 0" range="-10 5" limited="true" solreflimit=".004 1" frictionloss=".5"
damping="2"/><geom size=".1" pos=".3 0 0" condim="6" friction="1 .02 .003"/>
<body name="B" pos=".5 0 0"><joint name="b" axis="0 1 0" stiffness="100"/><joint name="c" axis="1 0 .3"/>
<geom size=".1" pos=".3 0 0" solref="{solref}" solimp="{solimp}" priority="1" condim="3"/></body></body></worldbody>
<equality><connect body1="B" anchor=".3 0 0" solref=".003 1"/><joint joint1="b" joint2="c" polycoef="0.1 1 0 0 0"/>
</equality><actuator><position joint="b" kp="100" kv="3"/></actuator></mujoco>"""
SLIDING = """<mujoco><option integrator="discrete" timestep="0.01" {option}/><worldbody>
<geom type="plane" size="3 3 1"/><body pos="0 0 {height}"><joint name="a" axis="0 0 1" damping="3" type="slide"/>
<joint axis="1 0 0" type="slide" name="b"/><geom size=".1"/></body>
<body pos="1 0 {height}"><joint type="slide"/><joint axis="1 0 0" type="slide" name="c"/><geom size=".1"/></body>
</worldbody><tendon><fixed name="T" stiffness="1000" damping="5" springlength=".01"><joint joint="a" coef=".1"/>
<joint joint="b" coef=".2"/><joint joint="c" coef="-.1"/></fixed></tendon>
<actuator><position tendon="T" kp="500" kv="10"/></actuator></mujoco>"""
STATE = {"qpos": [0.0, 0.02, 0.0, 0.03], "qvel": [0.0, 0.01, 0.0, 0.02], "ctrl": [0.1]}
FREE = """<mujoco><option integrator="discrete" timestep="0.01" gravity="0 0 -1" {medium}/><worldbody>
<geom type="plane" size="1 1 1"/><body pos="0 0 .15"><freejoint/>
<geom type="box" size=".1 .2 .3" pos=".03 .1 0" euler="10 20 30" condim="3" friction=".01"/></body>
<body pos="2 0 3"><freejoint/><geom type="ellipsoid" size=".1 .2 .3" pos=".03 .1 0" euler="10 20 30" {shape}/></body>
<body pos="4 0 3"><joint frictionloss="1"/><joint axis="1 0 0"/>
<geom type="ellipsoid" size=".1 .2 .3" pos=".03 .1 0" euler="9 8 7" {shape}/></body></worldbody></mujoco>"""
SURFACE = """<mujoco><option integrator="discrete" timestep=".01" cone="{cone}" tolerance="1e-14"/><worldbody>
<geom type="plane" size="1 1 1" surfacevel="1 0.5 0 0 0 2" condim="4" adhesion="3"/>
<body pos="0 0 .095"><freejoint/><geom size=".1" condim="4"/></body></worldbody></mujoco>"""
DUAL = 'solver="PGS" tolerance="1e-13" iterations="1000"'
CONJUGATE = 'solver="CG" tolerance="1e-13"'
NO_SLIP = 'noslip_iterations="20" noslip_tolerance="1e-13" tolerance="1e-13"'


def started(text: str, state: dict, compat: str) -> tuple[cardan.MjModel, cardan.MjData]:
    """A model, and its data in a state."""
    m = cardan.MjModel.from_xml_string(text, compat=compat)
    d = cardan.MjData(m)
    for name, value in state.items():
        getattr(d, name)[:] = value
    return m, d


def assert_same(text: str, state: dict, tolerance: float = 1e-10, compat: str = "4.0") -> None:
    """Forward dynamics and 10 steps agree with 4.0.0; inverse dynamics returns the applied forces."""
    fields = (*FIELDS, "qfrc_applied", "qfrc_actuator")
    there = later_states(text, 0, state, fields)
    m, d = started(text, state, compat)
    cardan.mj_forward(m, d)
    for name in FIELDS:
        found = d.efc_diagApprox if name == "efc_diagA" else getattr(d, name)
        bound = tolerance * max(1.0, float(np.abs(there[name]).max(initial=0.0)))
        np.testing.assert_allclose(found, there[name], rtol=0.0, atol=bound, err_msg=name)
    if "noslip" not in text:
        cardan.mj_inverse(m, d)
        bound = 100.0 * tolerance * max(1.0, float(np.abs(d.qfrc_constraint).max(initial=0.0)))
        np.testing.assert_allclose(d.qfrc_inverse, d.qfrc_applied + d.qfrc_actuator, rtol=0.0, atol=bound)
    there = later_states(text, 10, state)
    m, d = started(text, state, compat)
    for _ in range(10):
        cardan.mj_step(m, d)
    for name in ("qpos", "qvel"):
        np.testing.assert_allclose(getattr(d, name), there[name], rtol=0.0, atol=10.0 * tolerance, err_msg=name)


@pytest.mark.parametrize("compat", ["3.1", "4.0"])
@pytest.mark.parametrize("kind", ACTUATORS)
def test_springs_dampers_actuators(kind: str, compat: str) -> None:
    state = MOVING if "act" not in kind else {**MOVING, "act": [0.4]}
    assert_same(PENDULUM.format(actuators=ACTUATORS[kind]), state, compat=compat)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("solref", [".0005 1", ".02 1", ".001 2", "-9000 -20"])
@pytest.mark.parametrize("solimp", [".9 .95 .001", ".5 .9997 .01"])
def test_rows(cone: str, solref: str, solimp: str) -> None:
    """Resolved and unresolved contacts, limits, equalities and friction loss."""
    text = ROWS.format(option=f'cone="{cone}" tolerance="1e-13"', solref=solref, solimp=solimp)
    assert_same(text, {"qpos": [0.3, -0.2, 0.1], "qvel": [1.0, 2.0, -1.0], "ctrl": [0.4]}, 1e-8)


@pytest.mark.parametrize("option", [DUAL, CONJUGATE, NO_SLIP, 'jacobian="sparse"'])
def test_solvers(option: str) -> None:
    text = ROWS.format(option=option, solref=".02 1", solimp=".9 .95 .001")
    assert_same(text, {"qpos": [0.3, -0.2, 0.1], "qvel": [1.0, 2.0, -1.0], "ctrl": [0.4]}, 1e-7)


@pytest.mark.parametrize("height", [0.095, 2.0])
@pytest.mark.parametrize("option", ["", 'jacobian="sparse"', 'cone="elliptic"', CONJUGATE, DUAL, NO_SLIP])
def test_couplings_of_branches(option: str, height: float) -> None:
    """A tendon, its spring and its servo couple two bodies. 4.0.0 solves without constraints to about 1e-9."""
    assert_same(SLIDING.format(option=option, height=height), STATE, 1e-4 if option == DUAL else 1e-6)


@pytest.mark.parametrize(
    ("medium", "shape"),
    [("", ""), ('density="100" viscosity=".1"', ""), ('density="100" viscosity=".1"', 'fluidshape="ellipsoid"')],
)
def test_free_bodies_and_drag(medium: str, shape: str) -> None:
    state = {"qvel": np.random.default_rng(0).normal(0.0, 3.0, 14).tolist()}
    assert_same(FREE.format(medium=medium, shape=shape), state, 1e-9)


TIED = """<mujoco><option integrator="discrete" timestep=".005" gravity="0 0 -1"/><worldbody><body pos="0 0 1">
<freejoint name="f"/><geom type="box" size=".1 .2 .3" pos=".03 .1 0" euler="10 20 30"/><site name="s" pos=".1 .2 .3"/>
</body><body pos="2 0 1"><joint/><geom size=".1" pos=".3 0 0"/><site name="t"/></body><site name="w"/></worldbody>
{relations}</mujoco>"""
TIES = (
    "<actuator><position joint='f' gear='0 0 1 0 0 0'/></actuator>",
    "<actuator><motor joint='f' gear='0 0 1 0 0 0'/></actuator>",
    "<tendon><spatial stiffness='100' springlength='0'><site site='s'/><site site='w'/></spatial></tendon>",
    "<tendon><spatial stiffness='100' springlength='0'><site site='s'/><site site='t'/></spatial></tendon>",
    "<tendon><spatial stiffness='100' springlength='0 9'><site site='s'/><site site='t'/></spatial></tendon>",
)


@pytest.mark.parametrize("relations", TIES)
def test_free_bodies_with_tendons_and_actuators(relations: str) -> None:
    """Gyroscopic forces of a free body are implicit only if no other body is coupled with it."""
    state = {"qvel": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 1.0]}
    if "actuator" in relations:
        state["ctrl"] = [0.5]
    assert_same(TIED.format(relations=relations), state, 1e-7)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_moving_and_sticky_surfaces(cone: str) -> None:
    assert_same(SURFACE.format(cone=cone), {"qvel": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]})


def test_humanoid() -> None:
    text = (Path(__file__).parents[2] / "examples" / "humanoid.xml").read_text()
    text = text.replace("<worldbody>", '<option integrator="discrete"/><worldbody>', 1)
    assert_same(text, {})


def test_transition_matrices() -> None:
    """Finite differences and their meaning are those of 4.0.0."""
    state = {"qpos": [0.3, -0.2, 0.1], "qvel": [1.0, 2.0, -1.0], "ctrl": [0.4]}
    text = ROWS.format(option='tolerance="1e-13"', solref=".02 1", solimp=".9 .95 .001")
    code = """
m = mujoco.MjModel.from_xml_string(text)
d = mujoco.MjData(m)
for name, value in state.items():
    getattr(d, name)[:] = value
A, B = np.zeros((6, 6)), np.zeros((6, 1))
mujoco.mjd_transitionFD(m, d, 1e-6, True, A, B, None, None)
out = A, B
"""
    there = later_run(code, text=text, state=state)
    m, d = started(text, state, "4.0")
    found = np.zeros((6, 6)), np.zeros((6, 1))
    cardan.mjd_transitionFD(m, d, 1e-6, True, *found, None, None)
    for one, other in zip(found, there, strict=True):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-5 * max(1.0, float(np.abs(other).max())))


def test_forward_and_inverse_agree() -> None:
    """The flag fwdinv finds no difference; the flag invdiscrete changes nothing."""
    text = ROWS.format(option='tolerance="1e-13"', solref=".02 1", solimp=".9 .95 .001")
    m, d = started(text, {"qpos": [0.3, -0.2, 0.1], "qvel": [1.0, 2.0, -1.0], "ctrl": [0.4]}, "4.0")
    m.opt.enableflags |= cardan.mjtEnableBit.mjENBL_FWDINV | cardan.mjtEnableBit.mjENBL_INVDISCRETE
    for _ in range(3):
        cardan.mj_step(m, d)
        assert d.solver_fwdinv[:2].max() < 1e-7 * np.abs(d.qfrc_constraint).max()


def test_parts_make_a_step() -> None:
    """`mj_step1` and `mj_step2` make a step of `mj_step`; repeated forward dynamics gives the same result."""
    state = {"qpos": [0.3, -0.2, 0.1], "qvel": [1.0, 2.0, -1.0], "ctrl": [0.4]}
    text = ROWS.format(option="", solref=".02 1", solimp=".9 .95 .001")
    m, d = started(text, state, "4.0")
    cardan.mj_forward(m, d)
    first = d.qacc.copy(), d.efc_R.copy(), d.qM.copy(), d.qLD.copy(), d.qfrc_smooth.copy()
    cardan.mj_forwardSkip(m, d, int(cardan.mjtStage.mjSTAGE_VEL), False)
    for one, other in zip(first, (d.qacc, d.efc_R, d.qM, d.qLD, d.qfrc_smooth), strict=True):
        np.testing.assert_array_equal(other, one)
    _, whole = started(text, state, "4.0")
    cardan.mj_step(m, whole)
    _, parts = started(text, state, "4.0")
    cardan.mj_step1(m, parts)
    cardan.mj_step2(m, parts)
    np.testing.assert_array_equal(parts.qvel, whole.qvel)


STIFF = """<mujoco><option timestep="0.02" gravity="0 0 0"/><worldbody><geom type="plane" size="1 1 1" pos="0 0 -.3"/>
<body><joint name="a" type="slide" axis="0 0 1" stiffness="1e6" damping="1"/><geom size=".05" mass="1"/>
<body pos=".2 0 0"><joint name="b" type="slide" axis="0 0 1"/><geom size=".05" mass=".1"/></body></body></worldbody>
<actuator><position joint="b" kp="1e5"/></actuator></mujoco>"""


@pytest.mark.parametrize("compat", ["3.1", "4.0"])
def test_stable_at_large_time_steps(compat: str) -> None:
    """A spring and a servo with periods far below the time step: Euler explodes, discrete comes to rest."""
    energies = {}
    for kind in (mjtIntegrator.mjINT_EULER, mjtIntegrator.mjINT_IMPLICITFAST, mjtIntegrator.mjINT_DISCRETE):
        m = cardan.MjModel.from_xml_string(STIFF, compat=compat)
        m.opt.integrator = kind
        d = cardan.MjData(m)
        d.qpos[:] = 0.01, 0.02
        largest = 0.0
        for _ in range(200):
            cardan.mj_step(m, d)
            largest = max(largest, float(np.abs(d.qpos).max()))
        energies[kind] = largest, float(np.abs(d.qpos).max())
    assert energies[mjtIntegrator.mjINT_EULER][0] > 1e3
    assert energies[mjtIntegrator.mjINT_IMPLICITFAST][0] > 1e3
    largest, last = energies[mjtIntegrator.mjINT_DISCRETE]
    assert largest <= 0.02 * 1.01
    assert last < 1e-4


def test_stiff_contacts_do_not_rebound() -> None:
    """A contact far stiffer than the time step is resolved without restitution."""
    text = """<mujoco><option timestep="0.02" integrator="discrete"/><worldbody><geom type="plane" size="1 1 1"
    solref=".0001 1"/><body pos="0 0 .3"><freejoint/><geom size=".05" solref=".0001 1"/></body></worldbody></mujoco>"""
    m, d = started(text, {}, "4.0")
    touched, highest = False, 0.0
    for _ in range(100):
        cardan.mj_step(m, d)
        touched = touched or d.ncon > 0
        highest = max(highest, float(d.qvel[2])) if touched else 0.0
    assert touched
    assert highest < 0.5  # it falls at more than 2 m/s
    assert abs(d.qpos[2] - 0.05) < 1e-3


def test_edges_of_flexes_are_refused() -> None:
    text = """<mujoco><option integrator="discrete"/><worldbody><flexcomp name="f" type="grid" count="3 3 1"
    spacing=".1 .1 .1" radius=".01" dim="2"><edge damping="1"/></flexcomp></worldbody></mujoco>"""
    m = cardan.MjModel.from_xml_string(text)
    with pytest.raises(FatalError, match="edge stiffness"):
        cardan.mj_step(m, cardan.MjData(m))
