"""Tactile sensors against MuJoCo 4.0.0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from later import later_run, later_states
from tests.fake_gpu import lent

import cardan
from cardan.errors import MjcfError
from cardan.jit import jit_enabled

ASSETS = """<mesh name="plate" builtin="plate" params="5 4" scale=".1 .1 .02"/>
<mesh name="wedge" builtin="wedge" params="5 5 60 60 0" scale=".1 .1 .1"/>
<mesh name="ball" builtin="sphere" params="1" scale=".1 .1 .1"/>"""
PAD = """<body name="pad" pos="0 0 .015"><freejoint/><geom type="box" size=".1 .1 .02" mass="1"/>
<geom name="pad" type="mesh" mesh="plate" contype="0" conaffinity="0" mass="0"/></body>"""
TIP = """<body name="tip" pos="0 0 .05"><freejoint/><geom size=".1" mass="1"/>
<geom name="tip" type="mesh" mesh="wedge" contype="0" conaffinity="0" mass="0"/></body>"""
OTHERS = {
    "sphere": '<geom size=".2" pos="0 0 -.2"/>',
    "plane": '<geom type="plane" size="1 1 1"/>',
    "box": '<geom type="box" size=".5 .3 .1" pos="0 .02 -.1" euler="5 10 0"/>',
    "capsule": '<geom type="capsule" size=".1 .2" pos=".02 .01 -.1" euler="90 20 0"/>',
    "cylinder": '<geom type="cylinder" size=".1 .2" pos=".02 .01 -.1" euler="80 0 0"/>',
    "ellipsoid": '<geom type="ellipsoid" size=".3 .2 .1" pos=".02 .01 -.1" euler="10 10 10"/>',
    "moving": '<body pos="0 0 -.2"><freejoint/><geom size=".2"/></body>',
    "two": '<geom size=".2" pos="0 0 -.2"/><geom size=".2" pos=".05 0 -.2"/>',
    "mesh": '<geom type="mesh" mesh="ball" pos="0 0 -.1"/>',
    "none": '<geom size=".2" pos="0 0 -.3"/>',
}
SENSORS = '<tactile geom="pad" mesh="plate"/><tactile geom="pad" mesh="wedge"/><tactile geom="pad" mesh="ball"/>'


def text(others: str, pads: str = PAD, sensors: str = SENSORS, more: str = "") -> str:
    """A model with a pad, and with what it touches."""
    return f"""<mujoco>{more}<asset>{ASSETS}</asset><worldbody>{others}{pads}</worldbody>
    <sensor>{sensors}</sensor></mujoco>"""


def forward(m: cardan.MjModel) -> cardan.MjData:
    """Data of a moving model."""
    d = cardan.MjData(m)
    d.qvel[:] = np.linspace(-1, 2, m.nv)
    cardan.mj_forward(m, d)
    return d


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("steps", [0, 1, 10])
def test_values(name: str, steps: int) -> None:
    """Depths and speeds for every kind of geom, and fields of the model."""
    xml = text(OTHERS[name])
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    d = cardan.MjData(m)
    speed = np.linspace(-1, 2, m.nv)
    d.qvel[:] = speed
    if steps:
        cardan.mj_step(m, d, steps)
    else:
        cardan.mj_forward(m, d)
    expected = later_states(xml, steps, {"qvel": speed}, ("sensordata",))["sensordata"]
    if name == "box":  # 4.0.0 has larger depths there (docs/differences.md)
        n = m.sensor_dim[0] // 3
        depth, other = d.sensordata[:n], expected[:n]
        assert np.array_equal(depth > 0.0, other > 0.0)
        assert ((depth <= other + 1e-6) & (other <= 1.5 * depth + 1e-6)).all()
    elif steps < 10 or name in ("sphere", "plane", "capsule", "moving", "two", "none"):
        assert np.abs(d.sensordata - expected).max() < 1e-6
    else:  # contacts of cylinders, ellipsoids and meshes are slightly different, and so are the states
        assert np.abs(d.sensordata - expected).max() < 1e-2
    assert (np.abs(expected).max() > 0.0) == (name not in ("mesh", "none")) or steps == 10
    names = ("dim", "objtype", "objid", "reftype", "refid", "needstage", "datatype", "intprm")
    fields = later_run(
        "m = mujoco.MjModel.from_xml_string(xml); out = [np.array(getattr(m, 'sensor_' + name)) for name in names]",
        xml=xml,
        names=names,
    )
    for field, value in zip(names, fields, strict=True):
        if field not in ("objtype", "reftype"):  # other numbers in this process
            assert np.array_equal(getattr(m, "sensor_" + field), value), field


def test_wedges_and_welded_geoms() -> None:
    """A rounded tip, whose colliding geom may belong to a body that is fixed to that of the sensor."""
    fixed = TIP.replace("<geom name", '<body><geom size=".02" pos="0 0 .2" mass=".1"/><geom name').replace(
        "</body>", "</body></body>"
    )
    for pads in (TIP, fixed):
        xml = text(OTHERS["plane"], pads, '<tactile geom="tip" mesh="wedge" cutoff=".7"/>')
        m = cardan.MjModel.from_xml_string(xml)
        d = forward(m)
        speed = np.linspace(-1, 2, m.nv)
        expected = later_states(xml, 0, {"qvel": speed}, ("sensordata",))["sensordata"]
        assert np.count_nonzero(expected) > 3
        assert np.abs(d.sensordata - expected).max() < 1e-9
        assert d.sensordata.max() == 0.7


TORUS = """<extension><plugin plugin="mujoco.sdf.torus"><instance name="t"><config key="radius1" value=".2"/>
<config key="radius2" value=".1"/></instance></plugin></extension><asset>
<mesh name="torus"><plugin instance="t"/></mesh></asset>"""


def test_signed_distance_shapes() -> None:
    """Depths in shapes of plugins."""
    other = '<geom type="sdf" mesh="torus" pos="0 0 -.09"><plugin instance="t"/></geom>'
    pad = PAD.replace("size=", 'pos=".2 0 0" size=').replace('name="pad" type', 'pos=".2 0 0" name="pad" type')
    xml = text(other, pad, more=TORUS)
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    d = forward(m)
    assert d.ncon > 0
    expected = later_states(xml, 0, {"qvel": np.linspace(-1, 2, m.nv)}, ("sensordata",))["sensordata"]
    assert np.count_nonzero(expected) > 3
    assert np.abs(d.sensordata - expected).max() < 1e-9


BAD = {
    '<tactile geom="nothing" mesh="plate"/>': (PAD, "there is no geom named 'nothing'"),
    '<tactile geom="pad" mesh="nothing"/>': (PAD, "there is no mesh named 'nothing'"),
    '<tactile geom="pad"/>': (PAD, "mesh: required attribute missing"),
    '<tactile geom="pad" mesh="plate" noise="1"/>': (PAD, "noise"),
    '<tactile geom="pad" mesh="plate"/>': (PAD.replace('mass="1"', 'mass="1" contype="0" conaffinity="0"'), "collides"),
}


@pytest.mark.parametrize("sensors", BAD)
def test_bad_input(sensors: str) -> None:
    """Mistakes are errors that name the attribute."""
    pads, words = BAD[sensors]
    with pytest.raises(MjcfError, match=words):
        cardan.MjModel.from_xml_string(text("", pads, sensors))


def test_height_fields_do_not_count() -> None:
    """Height fields, an error in 4.0.0, have no depth."""
    more = """<asset><hfield name="h" nrow="3" ncol="3" size="1 1 .1 .1" elevation="0 0 0 0 .3 0 0 0 0"/></asset>"""
    m = cardan.MjModel.from_xml_string(text('<geom type="hfield" hfield="h"/>', more=more))
    d = forward(m)
    assert d.ncon > 0
    assert not d.sensordata.any()


def test_settings_and_saving(tmp_path: Any) -> None:
    """Both settings give the same; text, binary files, structs and delays work."""
    sensors = SENSORS + '<tactile geom="pad" mesh="plate" nsample="3" delay=".004"/>'
    xml = text(OTHERS["sphere"], sensors=sensors)
    m = cardan.MjModel.from_xml_string(xml)
    expected = forward(m).sensordata
    cardan.mj_saveModel(m, str(tmp_path / "m.mjb"))
    spec: Any = cardan.MjSpec.from_string(xml)
    assert spec.sensors[0].type == cardan.mjtSensor.mjSENS_TACTILE
    assert (spec.sensors[0].objname, spec.sensors[0].refname) == ("plate", "pad")
    later = cardan.MjModel.from_xml_string(xml, compat="4.0")
    others = cardan.MjModel.from_xml_string(m.to_xml()), cardan.MjModel.from_binary_path(str(tmp_path / "m.mjb"))
    for other in (*others, spec.compile(), later):
        assert np.abs(forward(other).sensordata - expected).max() < 1e-12
    d = forward(m)
    n, rows = m.sensor_dim[0], []
    for _ in range(6):
        cardan.mj_step(m, d)
        rows.append(d.sensordata.copy())
    assert np.array_equal(rows[5][-n:], rows[3][:n])


@pytest.mark.skipif(not jit_enabled, reason="about native code")
def test_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches in single precision and on a GPU give the same as single worlds."""
    m = cardan.MjModel.from_xml_string(text(OTHERS["sphere"] + OTHERS["moving"]))
    expected = forward(m).sensordata
    kinds: tuple[tuple[dict[str, Any], float], ...]
    kinds = ({"dtype": "float32"}, 1e-4), ({}, 1e-12), ({"device": "cuda"}, 1e-9)
    with lent(monkeypatch):
        for options, tolerance in kinds:
            batch = cardan.Batch(m, 2, **options)
            batch.qvel[:] = np.linspace(-1, 2, m.nv)
            batch.forward()
            assert np.abs(np.asarray(batch.sensordata)[1] - expected).max() < tolerance
            batch.close()


@pytest.mark.skipif(not jit_enabled, reason="exact derivatives need native code")
def test_derivatives() -> None:
    """Exact derivatives equal finite differences."""
    m = cardan.MjModel.from_xml_string(text(OTHERS["moving"]))
    d = forward(m)
    exact, near = np.zeros((m.nsensordata, 2 * m.nv)), np.zeros((m.nsensordata, 2 * m.nv))
    cardan.mjd_transition(m, d, None, None, exact, None)
    cardan.mjd_transitionFD(m, d, 1e-7, 1, None, None, near, None)
    assert np.abs(near).max() > 0.5
    assert np.abs(exact - near).max() < 1e-5
