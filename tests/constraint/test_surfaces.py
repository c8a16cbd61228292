"""Moving surfaces (`surfacevel`) and sticky surfaces (`adhesion`)."""

import itertools
import re
import warnings
from typing import Any

import numpy as np
import pytest
from derivatives_compared import assert_same_jacobians
from later import later_run
from tests.fake_gpu import lent

import cardan
from cardan.errors import MjcfError
from cardan.jit import jit_enabled

BALL = """<mujoco><option timestep="0.002" cone="{cone}" solver="{solver}" jacobian="{jacobian}" iterations="500"
 tolerance="0"><flag {flag}/></option><worldbody>
<geom name="floor" type="plane" size="5 5 .1" surfacevel=".5 .2 .1 .3 .2 .7" adhesion="1.5" condim="{dim}" gap="{gap}"
 margin=".001"/>
<body pos=".1 .2 {z}"><freejoint/><geom name="ball" size=".1" mass="1" surfacevel="0 .1 0 1 0 0" adhesion="2"
 condim="{dim}"/><site name="s" size=".2"/></body></worldbody>{more}<sensor><touch site="s"/></sensor></mujoco>"""
USUAL = {"cone": "elliptic", "solver": "Newton", "jacobian": "dense", "flag": "", "dim": 4, "gap": 0, "z": 0.099}
VELOCITY = [0.1, 0.2, -0.1, 0.3, 0.4, 0.5]
NAMES = ("efc_vel", "efc_aref", "qfrc_adhesion", "qfrc_passive", "sensordata", "qacc")
CODE = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
d.qvel = velocity
mujoco.mj_forward(m, d)
force = np.zeros(6)
mujoco.mj_contactForce(m, d, 0, force)
out = {name: getattr(d, name).copy() for name in names} | {"force": force}
out |= {name: getattr(d.contact, name).copy() for name in ("surfacevel", "adhesion", "dim", "exclude")}
mujoco.mj_inverse(m, d)
out["qfrc_inverse"] = d.qfrc_inverse.copy()
"""


def ball(**values: object) -> str:
    """The model of a ball on a moving floor."""
    return BALL.format(**(USUAL | {"more": ""} | values))


def state_of(xml: str, compat: str = "4.0") -> tuple[cardan.MjModel, cardan.MjData]:
    """Model, and data in motion after forward dynamics."""
    m = cardan.MjModel.from_xml_string(xml, compat=compat)
    d = cardan.MjData(m)
    d.qvel[:] = VELOCITY
    cardan.mj_forward(m, d)
    return m, d


def assert_as_in_4_0(xml: str, tolerance: float) -> None:
    """Assert that rows, forces and accelerations are those of 4.0.0."""
    there = later_run("import numpy as np" + CODE, xml=xml, velocity=VELOCITY, names=NAMES)
    m, d = state_of(xml)
    force = np.zeros(6)
    cardan.mj_contactForce(m, d, 0, force)
    here = {name: getattr(d, name).copy() for name in NAMES} | {"force": force}
    here |= {name: getattr(d.contact, name) for name in ("surfacevel", "adhesion", "dim", "exclude")}
    cardan.mj_inverse(m, d)
    here["qfrc_inverse"] = d.qfrc_inverse
    for name, expected in there.items():
        np.testing.assert_allclose(here[name], expected, rtol=0.0, atol=tolerance, err_msg=name)


@pytest.mark.parametrize(("cone", "dim"), [*itertools.product(("pyramidal", "elliptic"), (1, 3, 4, 6))])
def test_contacts_as_in_4_0(cone: str, dim: int) -> None:
    """Every dimension and cone, by each solver; the conjugate gradients stop earlier."""
    for solver, tolerance in (("Newton", 1e-9), ("PGS", 1e-4), ("CG", 1e-4)):
        assert_as_in_4_0(ball(cone=cone, dim=dim, solver=solver), tolerance)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_gap_and_flags_as_in_4_0(cone: str) -> None:
    """In the gap, adhesion acts without friction; without passive forces, only the reference changes."""
    assert_as_in_4_0(ball(cone=cone, gap=0.01, z=0.105), 1e-9)
    assert_as_in_4_0(ball(cone=cone, flag='spring="disable" damper="disable"'), 1e-9)
    assert_as_in_4_0(ball(cone=cone, jacobian="sparse"), 1e-9)


def test_priority_and_pairs() -> None:
    """The geom with the higher priority has the say, and a pair before both."""
    xml = ball()
    assert state_of(xml)[1].contact.adhesion.tolist() == [3.5]
    assert state_of(xml.replace('name="ball"', 'name="ball" priority="1"'))[1].contact.adhesion.tolist() == [2.0]
    pair = '<contact><pair geom1="floor" geom2="ball" adhesion="7"/></contact>'
    assert state_of(ball(more=pair))[1].contact.adhesion.tolist() == [7.0]


@pytest.mark.parametrize("compat", ["3.1", "4.0"])
def test_conveyor_and_sticky_ceiling(compat: str) -> None:
    """A box takes the speed of the belt; a ball hangs from a ceiling that pulls more than its weight."""
    xml = """<mujoco><worldbody><geom type="plane" size="5 5 .1" surfacevel=".5 0 0"/>
    <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
    <geom type="box" size="1 1 .1" pos="0 3 2.1" adhesion="{pull}" margin=".01" gap=".01"/>
    <body pos="0 3 1.9"><freejoint/><geom size=".1" mass="1"/></body></worldbody></mujoco>"""
    heights = []
    for pull in (15, 5):
        m = cardan.MjModel.from_xml_string(xml.format(pull=pull), compat=compat)
        d = cardan.MjData(m)
        cardan.mj_step(m, d, 500)
        assert abs(d.qvel[0] - 0.5) < 1e-2
        heights.append(d.qpos[9])
    assert abs(heights[0] - 1.9) < 0.03
    assert heights[1] < 1.0


@pytest.mark.parametrize(("cone", "compat"), [("elliptic", "3.1"), ("pyramidal", "4.0")])
def test_derivatives(cone: str, compat: str) -> None:
    """Exact derivatives of the step equal differences."""
    assert_same_jacobians(*state_of(ball(cone=cone), compat))


def test_contacts_of_other_makers() -> None:
    """A user may set the velocity of a contact if the flag is set; setting it chooses the stages again."""
    m, d = state_of(ball().replace("surfacevel", "user"), "3.1")
    assert not m.flg_surfacevel
    before = d.efc_vel.copy()
    d.contact.surfacevel[0] = 1.0, 2.0, 3.0
    m.flg_surfacevel = 1
    assert m.flg_surfacevel
    cardan.mj_fwdVelocity(m, d)
    np.testing.assert_allclose(d.efc_vel - before, [0.0, 1.0, 2.0, 3.0])


def test_saving(tmp_path: object) -> None:
    """Text and binary files keep the attributes; that of a mesh is about the frame that the user gives."""
    xml = """<mujoco><asset><mesh name="m" vertex="0 0 0 1 0 0 0 2 0 0 0 3"/></asset><worldbody>
    <geom type="mesh" mesh="m" surfacevel="1 2 3 .1 .2 .3" adhesion="2"/><body><freejoint/><geom name="b" size="1"/>
    </body><geom name="c" size="1"/></worldbody><contact><pair geom1="b" geom2="c" adhesion="3"/></contact></mujoco>"""
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    there = later_run("out = mujoco.MjModel.from_xml_string(xml).geom_surfacevel.copy()", xml=xml)
    np.testing.assert_allclose(m.geom_surfacevel, there, atol=1e-6)
    cardan.mj_saveModel(m, f"{tmp_path}/m.mjb")
    spec = cardan.MjSpec.from_string(xml)
    cardan.mj_saveLastXML(f"{tmp_path}/m.xml", m)
    again = (
        cardan.MjModel.from_binary_path(f"{tmp_path}/m.mjb"),
        cardan.MjModel.from_xml_path(f"{tmp_path}/m.xml", compat="4.0"),
        cardan.MjModel.from_xml_string(spec.to_xml(), compat="4.0"),
    )
    for other in again:
        np.testing.assert_allclose(other.geom_surfacevel, m.geom_surfacevel, atol=1e-6)
        assert other.geom_adhesion.tolist() == [2.0, 0.0, 0.0]
        assert other.pair_adhesion.tolist() == [3.0]
        assert (other.flg_surfacevel, other.flg_adhesion) == (True, True)


def test_worlds_of_a_batch() -> None:
    """Worlds of a batch step like single data."""
    m, d = state_of(ball(), "3.1")
    batch = cardan.Batch(m, 2)
    batch.qvel[:] = VELOCITY
    for _ in range(20):
        batch.step()
        cardan.mj_step(m, d)
    np.testing.assert_allclose(np.asarray(batch.qpos)[1], d.qpos, rtol=0.0, atol=1e-12)


@pytest.mark.skipif(not jit_enabled, reason="about native code")
def test_single_precision_and_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches in float32, and GPU code, give the same as threads."""
    m, _ = state_of(ball().replace('tolerance="0"', ""), "3.1")
    with lent(monkeypatch):
        batches = [cardan.Batch(m, 2, **options) for options in ({}, {"dtype": "float32"}, {"device": "cuda"})]
        for batch in batches:
            batch.qvel[:] = VELOCITY
            for _ in range(10):
                batch.step()
        found = [np.asarray(batch.qvel) for batch in batches]
        batches[2].close()
    assert np.abs(found[1] - found[0]).max() < 1e-3
    assert np.abs(found[2] - found[0]).max() < 1e-9


@pytest.mark.parametrize(
    ("attribute", "message"),
    [('adhesion="-1"', "must not be negative, found -1"), ('surfacevel="1 2 3 4 5 6 7"', "surfacevel")],
)
def test_bad_input(attribute: str, message: str) -> None:
    """Errors name the attribute."""
    with pytest.raises(MjcfError, match=message):
        cardan.MjModel.from_xml_string(f"<mujoco><worldbody><geom size='1' {attribute}/></worldbody></mujoco>")


DRAWN = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
mujoco.mj_forward(m, d)
option, scene = mujoco.MjvOption(), mujoco.MjvScene(m, 1000)
option.flags[:] = 0
option.flags[mujoco.mjtVisFlag.mjVIS_CONTACTPOINT] = 1
mujoco.mjv_updateScene(m, d, option, None, mujoco.MjvCamera(), 7, scene)
out = [[np.array(v) for v in (g.type, g.size, g.pos, g.mat, g.rgba)] for g in scene.geoms[:scene.ngeom]]
"""


@pytest.mark.parametrize("velocity", ["2 1 0", "-1 .5 0 0 0 1", "0 0 1", "0 0 0 0 0 1"])
@pytest.mark.parametrize("height", [0.09, 0.15])
def test_drawing(velocity: str, height: float) -> None:
    """Contacts with forces have an arrow along the surface velocity, if their points are shown."""
    xml = f"""<mujoco><worldbody><geom type="plane" size="1 1 1" surfacevel="{velocity}" gap=".1"/>
    <body pos=".1 .2 {height}"><freejoint/><geom size=".1" surfacevel=".1 .3 .2"/></body>
    </worldbody></mujoco>"""
    space: dict[str, Any] = {"mujoco": cardan, "np": np, "xml": xml}
    exec(DRAWN.replace("from_xml_string(xml)", 'from_xml_string(xml, compat="4.0")'), space)
    ours, theirs = space["out"], later_run(DRAWN, xml=xml)
    assert len(ours) == len(theirs)
    for own, other in zip(ours, theirs, strict=True):
        for a, b in zip(own, other, strict=True):
            assert np.abs(a - b).max() < 1e-5


@pytest.mark.parametrize("compat", ["3.1", "4.0"])
def test_flags_of_edited_models(compat: str) -> None:
    """`mj_setConst` sets the flags by the current values, as in 4.0.0; there also that of gravity compensation."""
    code = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
out = []
for speed, pull, weight in ((1, 0, 0), (0, 2, -1), (0, 0, 1), (0, 0, 0)):
    m.geom_surfacevel[0, 5], m.pair_adhesion[0], m.body_gravcomp[1] = speed, pull, weight
    mujoco.mj_setConst(m, d)
    out.append([bool(m.flg_surfacevel), bool(m.flg_adhesion), bool(m.flg_gravcomp)])
"""
    xml = """<mujoco><worldbody><geom name="a" size="1"/><body><freejoint/><geom name="b" size="1"/></body></worldbody>
    <contact><pair geom1="a" geom2="b"/></contact></mujoco>"""
    found: dict[str, Any] = {"mujoco": cardan, "xml": xml}
    exec(code.replace("(xml)", f'(xml, compat="{compat}")'), found)
    columns = slice(0, 3 if compat == "4.0" else 2)
    assert [row[columns] for row in found["out"]] == [row[columns] for row in later_run(code, xml=xml)]


def still_ball() -> str:
    """Return the model of a ball on a plane, both without surface velocities and adhesion."""
    return re.sub('(surfacevel|adhesion)="[^"]*"', "", ball())


def test_surface_made_at_run_time() -> None:
    """A geom that starts to move at run time drives what lies on it, after `mj_setConst`."""
    m, d = state_of(still_ball(), "3.1")
    cardan.mj_step(m, d)
    m.geom_surfacevel[0, 0] = 1.0
    cardan.mj_setConst(m, cardan.MjData(m))
    cardan.mj_step(m, d)
    assert d.contact.surfacevel[0].any()


def test_expanded_fields_have_an_effect() -> None:
    """A batch warns of values for each world that its model ignores."""
    m = cardan.MjModel.from_xml_string(still_ball())
    batch = cardan.Batch(m, 2)
    for name, reason in (("geom_surfacevel", "flg_surfacevel"), ("geom_adhesion", "flg_adhesion")):
        with pytest.warns(UserWarning, match=reason):
            batch.expand(name)
    with pytest.warns(UserWarning, match="no memory for contacts"):
        batch.expand("geom_stick")
    m.flg_surfacevel = True
    batch = cardan.Batch(m, 2)
    batch.expand("geom_surfacevel")[1, 0, 0] = 1.0
    batch.qpos[:] = 0.0, 0.0, 0.09, 1.0, 0.0, 0.0, 0.0
    batch.step(nstep=20)
    assert abs(batch.qvel[1, 0]) > 1e-3 > abs(batch.qvel[0, 0])


@pytest.mark.parametrize("value", ["nan", "inf"])
@pytest.mark.parametrize("what", ['adhesion="{}"', 'surfacevel="0 0 {}"', "pair"])
def test_values_that_are_not_finite(what, value):
    """Velocities and adhesions must be finite; the error names the attribute."""
    pair = f'<contact><pair geom1="a" geom2="b" adhesion="{value}"/></contact>' if what == "pair" else ""
    of_geom = "" if pair else what.format(value)
    xml = (
        f'<mujoco><worldbody><geom name="a" size=".1" {of_geom}/><body><freejoint/><geom name="b" size=".1"/></body>'
        f"</worldbody>{pair}</mujoco>"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the reader warns of NaN
        with pytest.raises(MjcfError, match=r"(adhesion|surfacevel): must be finite"):
            cardan.MjModel.from_xml_string(xml)
