"""Contact sensors against MuJoCo 4.0.0: matching, reductions, data, directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from later import later_run
from tests.fake_gpu import lent

import cardan
from cardan.errors import MjcfError
from cardan.jit import jit_enabled

WORLD = """<mujoco><option gravity="1 .5 -9" cone="{cone}" tolerance="0" iterations="200"/><worldbody>
<geom name="floor" type="plane" size="5 5 .1" condim="6" friction="1 .1 .1"/>
<body name="a" pos="0 0 .1"><freejoint/><geom name="ga" size=".1" condim="6" friction="1 .1 .1"/>
<body name="a2" pos=".15 0 0"><joint axis="0 1 0"/><geom name="ga2" size=".08"/>
<body name="a3" pos=".2 0 .1"><joint axis="0 1 0"/><geom name="ga3" size=".1" contype="2" conaffinity="2"/></body>
</body><geom name="ga4" size=".05" pos=".35 0 .05" contype="2" conaffinity="2"/></body>
<body name="b" pos="0 .17 .1"><freejoint/><geom name="gb" type="box" size=".1 .08 .1" gap=".03" margin=".03"/></body>
<site name="box" type="box" size=".1 .3 .05"/><site name="ball" size=".12" pos="0 0 .02"/>
<site name="tube" type="cylinder" size=".15 .02"/><site name="pill" type="capsule" size=".05 .1" euler="90 0 0"/>
<site name="egg" type="ellipsoid" size=".1 .2 .05" pos="0 .1 0" euler="0 20 30"/>
</worldbody><sensor>{sensors}</sensor></mujoco>"""
ALL = "found force torque dist pos normal tangent linvel angvel"
STATIC = "found force torque dist pos normal tangent"
CONDITIONS = [
    *("", 'geom1="ga"', 'geom2="ga"', 'body1="a"', 'body2="b"', 'body1="world"', 'subtree1="a"', 'subtree2="a2"'),
    *('geom1="ga" geom2="floor"', 'geom1="floor" geom2="ga"', 'body1="a" body2="b"', 'body1="b" body2="a"'),
    *('subtree1="a" subtree2="a"', 'subtree1="a2" subtree2="a"', 'subtree1="world" body2="b"', 'geom1="ga" geom2="ga"'),
    *('subtree1="b" subtree2="a"', 'geom1="gb" subtree2="world"'),
    *(f'site="{name}"' for name in ("box", "ball", "tube", "pill", "egg")),
    *(f'site="box" {other}' for other in ('geom2="ga"', 'body2="b"', 'subtree2="a"', 'body2="world"')),
]
DATA = [*ALL.split(), "found dist", "force normal", "dist linvel", "pos tangent angvel", "torque pos", ""]

RUN = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
d.qvel[:] = 0.3 * np.linspace(-1, 1, m.nv)
out = {name: np.array(getattr(m, "sensor_" + name)) for name in names}
rows = []
for k in range(12):
    mujoco.mj_step(m, d)
    mujoco.mj_forward(m, d)
    rows.append(np.array(d.sensordata))
out["rows"] = np.array(rows)
out["ncon"] = d.ncon
"""
FIELDS = ("intprm", "dim", "adr", "objid", "refid", "needstage", "datatype")


def sensors() -> str:
    """Return sensors of all conditions with all reductions, and of all data."""
    found = [f'<contact {text} data="{ALL}" num="3"/>' for text in CONDITIONS]
    for reduction in ("mindist", "maxforce", "netforce"):
        data = STATIC if reduction == "netforce" else ALL
        found += [f'<contact {text} data="{data}" num="2" reduce="{reduction}"/>' for text in CONDITIONS]
    found += [f'<contact subtree1="a" data="{words}" cutoff=".1"/>' for words in DATA]
    found += [f'<contact site="box" data="{words}" reduce="netforce"/>' for words in DATA if "vel" not in words]
    return "".join(found)


def own(xml: str, **options: Any) -> Any:
    space = {"mujoco": cardan, "np": np, "xml": xml, "names": FIELDS}
    code = RUN.replace("from_xml_string(xml)", f"from_xml_string(xml, **{options})")
    exec(code, space)
    return space["out"]


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_all(cone: str) -> None:
    """Fields of the model, and values of all conditions, reductions and data over some steps."""
    xml = WORLD.format(cone=cone, sensors=sensors())
    ours, theirs = own(xml, compat="4.0"), later_run(RUN, xml=xml, names=FIELDS)
    assert ours["ncon"] == theirs["ncon"] >= 5
    for name in FIELDS:
        assert np.array_equal(ours[name], theirs[name]), name
    assert theirs["rows"].any(0).mean() > 0.5
    for row, (found, expected) in enumerate(zip(ours["rows"], theirs["rows"], strict=True)):
        scale = np.maximum(1.0, np.abs(expected))
        worst = np.argmax(np.abs(found - expected) / scale)
        assert np.abs(found - expected)[worst] < 1e-7 * scale[worst], (row, worst)


def test_under_3_1() -> None:
    """Contact sensors work under both settings; by them sums equal the sums of the contacts themselves."""
    sensor = '<contact subtree1="b" body2="world" data="found force torque" reduce="netforce"/>'
    m = cardan.MjModel.from_xml_string(WORLD.format(cone="pyramidal", sensors=sensor))
    d = cardan.MjData(m)
    cardan.mj_step(m, d, 60)
    cardan.mj_forward(m, d)
    total, number, wrench = np.zeros(3), 0, np.zeros(6)
    for k, contact in enumerate(d.contact):
        bodies = m.geom_bodyid[contact.geom]
        if bodies.tolist() == [0, m.body("b").id]:
            cardan.mj_contactForce(m, d, k, wrench)
            total -= contact.frame.reshape(3, 3).T @ wrench[:3]
            number += 1
    assert d.sensordata[0] == number > 0
    assert np.abs(d.sensordata[1:4] - total).max() < 1e-9 * np.abs(total).max()


BAD = {
    '<contact data="linvel" reduce="netforce"/>': "netforce has no velocities",
    '<contact num="100000000"/>': "at most 10000000 values",
    '<contact site="nothing"/>': "there is no site named 'nothing'",
    '<contact geom1="nothing"/>': "there is no geom named 'nothing'",
    '<contact data="force found"/>': "in this order",
    '<contact reduce="most"/>': "'most' is not one of its keywords",
}


@pytest.mark.parametrize("text", BAD)
def test_bad_input(text: str) -> None:
    """Mistakes are errors that name the attribute."""
    with pytest.raises(MjcfError, match=BAD[text]):
        cardan.MjModel.from_xml_string(WORLD.format(cone="pyramidal", sensors=text))


def test_saving_and_structs(tmp_path: Any) -> None:
    """Text, binary files and structs keep conditions, data and reductions."""
    m = cardan.MjModel.from_xml_string(WORLD.format(cone="pyramidal", sensors=sensors()))
    cardan.mj_saveModel(m, str(tmp_path / "m.mjb"))
    spec = cardan.MjSpec.from_string(WORLD.format(cone="pyramidal", sensors=sensors()))
    others = cardan.MjModel.from_xml_string(m.to_xml()), cardan.MjModel.from_binary_path(str(tmp_path / "m.mjb"))
    for other in (*others, spec.compile()):
        for name in (*FIELDS, "objtype", "reftype"):
            assert np.array_equal(getattr(m, "sensor_" + name), getattr(other, "sensor_" + name)), name
    assert spec.sensors[0].type == cardan.mjtSensor.mjSENS_CONTACT


@pytest.mark.parametrize("parameters", [(511, 0, 2), (511, 3, 1), (3, 0, 1000), (3, 0, 0), (-1, -1, -1)])
def test_edited_parameters(parameters: tuple[int, int, int]) -> None:
    """Parameters that are edited after compilation do not lead out of the values of the sensor."""
    text = '<contact geom1="ga" data="found dist"/><clock/>'
    m = cardan.MjModel.from_xml_string(WORLD.format(cone="pyramidal", sensors=text))
    m.sensor_intprm[0] = parameters
    d = cardan.MjData(m)
    d.time = 5.0
    cardan.mj_forward(m, d)
    assert d.ncon > 0
    assert d.sensordata.tolist() == [0.0, 0.0, 5.0]


def test_delayed() -> None:
    """A contact sensor may have a delay and a period."""
    text = '<contact geom1="ga" data="dist" nsample="3" delay=".004"/><contact geom1="ga" data="dist"/>'
    m = cardan.MjModel.from_xml_string(WORLD.format(cone="pyramidal", sensors=text))
    d = cardan.MjData(m)
    values = []
    for _ in range(8):
        cardan.mj_step(m, d)
        values.append(d.sensordata.copy())
    assert values[6][0] == values[4][1] != 0.0


@pytest.mark.skipif(not jit_enabled, reason="about native code")
def test_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches in single precision and on a GPU give the same as single worlds."""
    text = f'<contact body1="a" data="{ALL}" num="2"/><contact site="box" data="{STATIC}" reduce="netforce"/>'
    m = cardan.MjModel.from_xml_string(WORLD.format(cone="pyramidal", sensors=text))
    d = cardan.MjData(m)
    d.qvel[:] = 0.3 * np.linspace(-1, 1, m.nv)
    qvel = d.qvel.copy()
    cardan.mj_step(m, d, 2)
    with lent(monkeypatch):
        for options, tolerance in (({"dtype": "float32"}, 1e-2), ({}, 1e-12), ({"device": "cuda"}, 1e-8)):
            batch = cardan.Batch(m, 2, **options)
            batch.qvel[:] = qvel
            batch.step(2)
            found = np.asarray(batch.sensordata)[1]
            assert np.abs(found - d.sensordata).max() < tolerance * max(1.0, np.abs(d.sensordata).max())
            batch.close()


@pytest.mark.skipif(not jit_enabled, reason="exact derivatives need native code")
def test_derivatives() -> None:
    """Exact derivatives of the data equal finite differences, away from changes of the contacts."""
    text = f'<contact geom1="ga" geom2="floor" data="{ALL}"/><contact geom1="ga2" data="{STATIC}" reduce="netforce"/>'
    m = cardan.MjModel.from_xml_string(WORLD.format(cone="pyramidal", sensors=text))
    d = cardan.MjData(m)
    cardan.mj_step(m, d, 40)
    n, ns = 2 * m.nv, m.nsensordata
    exact, near = np.zeros((ns, n)), np.zeros((ns, n))
    m.opt.tolerance, m.opt.iterations = 0.0, 100
    cardan.mjd_transition(m, d, None, None, exact, None)
    cardan.mjd_transitionFD(m, d, 1e-7, 1, None, None, near, None)
    scale = np.maximum(1.0, np.abs(near).max(1, keepdims=True))
    assert np.abs(near).max() > 1.0
    assert (np.abs(exact - near) / scale).max() < 1e-4
