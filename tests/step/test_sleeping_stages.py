"""Stages and trees that sleep: values that stay, sensors and activations, detection, shared bases."""

import numpy as np
import pytest
from later import later_run

import cardan

BOX = '<body pos="{pos}" {more}><freejoint/><geom type="box" size=".1 .1 .1"/>{inside}</body>'
FLOOR = '<mujoco><option><flag sleep="enable" {flag}/></option><worldbody><geom type="plane" size="9 9 .1"/>'
KEPT = ("sensordata", "qacc", "qacc_smooth", "qfrc_smooth", "qfrc_bias", "qfrc_constraint", "qfrc_passive", "qvel")
MEASURED = (
    FLOOR.format(flag="")
    + BOX.format(pos="0 0 .0999", more="", inside='<site name="s" size=".2"/>')
    + '<body pos="3 0 1"><geom size=".1"/><body pos="0 0 .3" sleep="never">'
    '<joint name="j" axis="0 1 0"/><geom size=".1" pos=".1 0 0"/><site name="t"/></body></body>'
    "</worldbody><sensor>"
    '<touch site="s"/><accelerometer site="s"/><force site="s"/><framepos objtype="site" objname="s"/>'
    '<framepos objtype="site" objname="s" reftype="site" refname="t"/><jointpos joint="j"/><clock/>'
    "</sensor></mujoco>"
)


def made(xml: str, steps: int = 0, compat: str = "4.0") -> tuple[cardan.MjModel, cardan.MjData]:
    """A model and its data after some steps."""
    m = cardan.MjModel.from_xml_string(xml, compat=compat)
    d = cardan.MjData(m)
    cardan.mj_step(m, d, steps)
    return m, d


def test_values_of_sleeping_trees_are_those_of_4_0() -> None:
    """Forces and accelerations are those without contacts; sensors keep what they measured before."""
    _, d = made(MEASURED, 300)
    assert d.tree_asleep.tolist() == [0, -11]
    code = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
for _ in range(300):
    mujoco.mj_step(m, d)
out = {name: getattr(d, name).copy() for name in names}
"""
    for name, there in later_run(code, xml=MEASURED, names=KEPT).items():
        np.testing.assert_allclose(getattr(d, name), there, rtol=1e-6, atol=1e-8, err_msg=name)
    assert d.sensordata[0] > 70.0  # the touch sensor keeps the weight of the box


def test_woken_sensors_measure_again() -> None:
    """A sensor of a tree that wakes is up to date."""
    m, d = made(MEASURED, 300)
    d.qpos[2] += 1.0
    cardan.mj_forward(m, d)
    assert d.sensordata[0] == 0.0
    assert d.sensordata[9] == pytest.approx(d.qpos[2])


def test_activations_of_sleeping_actuators_stay() -> None:
    """Activations don't advance while all trees of an actuator sleep (4.0.0 advances them by the last rate)."""
    slide = '<body sleep="allowed"><joint name="{}" type="slide" axis="1 0 0" damping="50"/><geom size=".1"/></body>'
    xml = (
        '<mujoco><option gravity="0 0 0"><flag sleep="enable" contact="disable"/></option><worldbody>'
        + slide.format("a")
        + slide.format("b").replace("allowed", "never")
        + '</worldbody><actuator><general joint="a" dyntype="integrator" gainprm="1e-12"/>'
        '<general joint="b" dyntype="integrator" gainprm="1e-12"/></actuator></mujoco>'
    )
    m, d = made(xml)
    d.ctrl[:] = 1.0
    cardan.mj_step(m, d, 50)
    assert d.tree_asleep.tolist() == [0, -11]
    np.testing.assert_allclose(d.act, [0.018, 0.1], atol=1e-12)
    assert d.actuator_force[0] == 0.0
    d.qvel[0] = 1.0
    cardan.mj_step(m, d)
    assert d.act[0] == pytest.approx(0.02)


def test_one_ball_among_many_boxes() -> None:
    """A ball wakes exactly the boxes that it touches, as in 4.0.0."""
    places = [f"{0.25 * (k % 6)} {0.25 * (k // 6)} .1" for k in range(36)]
    boxes = "".join(BOX.format(pos=pos, more='sleep="init"', inside="") for pos in places)
    ball = '<body pos="-.6 .55 .12"><freejoint/><geom size=".12" density="5000"/></body>'
    xml = FLOOR.format(flag="") + boxes + ball + "</worldbody></mujoco>"
    code = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
d.qvel[-6] = 3
out = []
for _ in range(150):
    mujoco.mj_step(m, d)
    out.append((d.tree_asleep.copy(), d.ncon))
"""
    there = later_run(code, xml=xml)
    scope = {"mujoco": cardan, "xml": xml}
    exec(code.replace("from_xml_string(xml)", 'from_xml_string(xml, compat="4.0")'), scope)
    for step, ((ours, ncon), (theirs, number)) in enumerate(zip(scope["out"], there, strict=True)):
        np.testing.assert_array_equal(ours, theirs, err_msg=f"step {step}")
        assert ncon == number, step
    assert (scope["out"][-1][0] >= 0).any()


@pytest.mark.parametrize("compat", ["3.1", "4.0"])
def test_trees_on_one_base(compat: str) -> None:
    """The reference point of a sleeping tree moves with other trees on its base; each on its own base moves alike."""
    arm = (
        '<body pos="{}"><joint axis="0 1 0" damping="{}"/>'
        '<geom type="capsule" size=".04" fromto="0 0 0 0 0 -.5" density="{}"/></body>'
    )
    arms = arm.format("0 0 0", ".5", "1000"), arm.format(".5 0 0", ".001", "3000")
    results = []
    for bases in ([arms], [arms[:1], arms[1:]]):
        bodies = "".join('<body pos="0 0 2">' + "".join(base) + "</body>" for base in bases)
        xml = f'<mujoco><option timestep=".001"><flag sleep="enable"/></option><worldbody>{bodies}</worldbody></mujoco>'
        m, d = made(xml, compat=compat)
        d.qpos[1] = -1.5
        slept, path = False, []
        for _ in range(2500):
            cardan.mj_step(m, d)
            slept = slept or d.tree_asleep[0] >= 0
            path.append(d.qpos.copy())
        assert slept
        assert abs(np.array(path)[:, 0]).max() > 0.01  # the swinging arm has hit and moved the one that slept
        results.append(np.array(path))
    np.testing.assert_allclose(results[0], results[1], atol=1e-7)


def test_bad_numbers_in_sleeping_trees() -> None:
    """A tree with a bad number wakes, so that the checks find it."""
    for name in ("qpos", "qvel"):
        m, d = made(
            FLOOR.format(flag="") + BOX.format(pos="0 0 .5", more='sleep="init"', inside="") + "</worldbody></mujoco>",
            3,
        )
        assert d.tree_asleep[0] == 0
        getattr(d, name)[1] = np.nan
        with pytest.warns(RuntimeWarning, match="unstable"):
            cardan.mj_step(m, d)
        assert np.isfinite(d.qpos).all()
