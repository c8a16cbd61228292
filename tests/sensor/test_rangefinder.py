"""Rangefinders of cameras, and all their data, against MuJoCo 4.0.0."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from later import later_run, later_states
from tests.fake_gpu import lent

import cardan
from cardan.errors import MjcfError
from cardan.jit import jit_enabled

DATA = ("dist", "dir", "origin", "point", "normal", "depth")
ALL = " ".join(DATA)
SCENE = """<mujoco><option><flag contact="disable"/></option><statistic meansize=".3"/>
<asset><hfield name="hills" nrow="4" ncol="4" size="3 3 .5 .1"
elevation=".7 .1 .4 .9 .3 .6 .2 .8 .1 .4 .7 0 .2 .5 .8 .3"/>
<mesh name="cone" builtin="cone" params="7 .4" scale=".3 .3 .3"/></asset><worldbody>
<geom type="hfield" hfield="hills" pos="0 0 -.6"/><geom pos=".5 0 .3" size=".3"/>
<geom type="capsule" size=".2 .4" pos="-.6 .2 .4" euler="30 60 0"/><geom type="box" size=".2 .3 .1" pos="0 .8 .3"/>
<geom type="cylinder" size=".2 .3" pos="0 -.7 .4" euler="20 70 0"/><geom type="mesh" mesh="cone" pos=".6 .6 .4"/>
<geom type="ellipsoid" size=".3 .2 .1" pos="-.6 -.6 .5" euler="20 40 60"/><geom size=".3" pos="0 0 .9" rgba="1 1 1 0"/>
<body name="b" pos="0 0 2"><freejoint/><geom type="box" size=".1 .1 .1" pos="0 0 -.3"/>
<camera name="near" {near}/><camera name="flat" projection="orthographic" fovy="2" resolution="4 3"/>
<site name="s" pos=".1 .1 .1" zaxis=".1 .2 -1"/></body></worldbody><sensor>{sensors}</sensor></mujoco>"""
NEAR = 'resolution="5 4" fovy="70"'
POSE = [0.1, -0.1, 1.9, 0.9, 0.2, -0.3, 0.1]
FIELDS = ("intprm", "dim", "adr", "objtype", "objid", "refid", "needstage", "datatype", "cutoff")


def model(sensors: str, near: str = NEAR, compat: str = "4.0") -> cardan.MjModel:
    """The scene with some sensors."""
    return cardan.MjModel.from_xml_string(SCENE.format(near=near, sensors=sensors), compat=compat)


def forward(m: cardan.MjModel, pose: Any = POSE) -> cardan.MjData:
    """Data of a model whose body has a pose."""
    d = cardan.MjData(m)
    d.qpos[:] = pose
    cardan.mj_forward(m, d)
    return d


def test_all_data() -> None:
    """Every choice of data, for a site and both kinds of cameras, at random poses; fields of the model."""
    choices = [" ".join(words) for n in range(1, 7) for words in combinations(DATA, n)]
    sensors = "".join(f'<rangefinder {of} data="{ALL}"/>' for of in ('camera="near"', 'camera="flat"', 'site="s"'))
    sensors += "".join(f'<rangefinder site="s" data="{words}"/>' for words in ("", *choices))
    sensors += f'<rangefinder camera="near"/><rangefinder camera="flat" cutoff=".9" data="{ALL}"/>'
    m = model(sensors)
    fields = later_run(
        "m = mujoco.MjModel.from_xml_string(xml); out = [np.array(getattr(m, 'sensor_' + name)) for name in names]",
        xml=SCENE.format(near=NEAR, sensors=sensors),
        names=FIELDS,
    )
    for name, field in zip(FIELDS, fields, strict=True):
        assert np.array_equal(getattr(m, "sensor_" + name), field), name
    rng, hits = np.random.default_rng(0), 0
    for _ in range(8):
        pose = np.concatenate([rng.uniform((-0.5, -0.5, 1.6), (0.5, 0.5, 2.2)), rng.normal((1, 0, 0, 0), 0.3)])
        pose[3:] /= np.linalg.norm(pose[3:])
        d = forward(m, pose)
        expected = later_states(SCENE.format(near=NEAR, sensors=sensors), 0, {"qpos": pose}, ("sensordata",))
        assert np.abs(d.sensordata - expected["sensordata"]).max() < 1e-9
        hits += (d.sensordata[: m.sensor_dim[0] : 14] > 0.0).sum()
    assert 80 < hits < 160


def test_settings() -> None:
    """Under both settings values are the same; only the plain sensor of a site bounds values from above alone."""
    sensors = f'<rangefinder site="s"/><rangefinder camera="near" data="{ALL}"/>'
    older, newer = model(sensors, compat="3.1"), model(sensors)
    assert np.array_equal(forward(older).sensordata, forward(newer).sensordata)
    assert older.sensor_datatype.tolist() == [1, 0]
    assert newer.sensor_datatype.tolist() == [0, 0]


def test_intrinsics() -> None:
    """Rays of a camera with a sensor size go through the picture that is drawn, with and without an offset.

    The offset is horizontal: a vertical one moves pictures of 4.0 down, but rays up.
    """
    for offset in ("0 0", ".003 0"):
        near = f'resolution="4 2" sensorsize=".02 .01" focal=".03 .02" principal="{offset}"'
        m = model('<rangefinder camera="near" data="dist dir"/>', near)
        d = forward(m)
        camera, option, scene = cardan.MjvCamera(), cardan.MjvOption(), cardan.MjvScene(m, 100)
        camera.type, camera.fixedcamid = cardan.mjtCamera.mjCAMERA_FIXED, 0
        cardan.mjv_updateScene(m, d, option, None, camera, 7, scene)
        shown = scene.camera[0]
        rows = d.sensordata.reshape(2, 4, 4)
        seen = rows[..., 0] > 0.0
        assert seen.sum() > 4
        local = rows[..., 1:] @ d.cam_xmat[0].reshape(3, 3)
        width, height = 2.0 * shown.frustum_width, shown.frustum_top - shown.frustum_bottom
        x = shown.frustum_center + width * ((np.arange(4) + 0.5) / 4 - 0.5)
        y = shown.frustum_top - height * (np.arange(2) + 0.5) / 2
        slopes = local[..., :2][seen] / -local[..., 2][seen][:, None] * shown.frustum_near
        assert np.abs(slopes - np.stack(np.meshgrid(x, y), -1)[seen]).max() < 1e-6


@pytest.mark.parametrize("near", ['resolution="2 2" sensorsize=".02 .01"', 'resolution="2 2" fovy="1e-9"'])
def test_degenerate_cameras(near: str) -> None:
    """A camera without focal length sees nothing; a field of view of 0 has parallel rays."""
    d = forward(model(f'<rangefinder camera="near" data="{ALL}"/>', near))
    rays = d.sensordata.reshape(4, 14)
    assert np.isfinite(rays).all()
    assert (rays[:, 0] == -1.0).all() if "sensorsize" in near else np.ptp(rays[:, 0]) < 1e-6


BAD = {
    '<rangefinder camera="near"/>': ('resolution="0 2"', "resolution must be positive, found 0 2"),
    '<rangefinder camera="near" data="dir"/>': ('resolution="-1 2"', "resolution must be positive, found -1 2"),
    '<rangefinder camera="near" data="point"/>': ('resolution="9000 9000"', "at most 10000000 values, found 243000000"),
    '<rangefinder camera="nothing"/>': ("", "there is no camera named 'nothing'"),
    '<rangefinder camera="near" data="depth dist"/>': ("", "in this order"),
    '<rangefinder camera="near" num="2"/>': ("", "num"),
}


@pytest.mark.parametrize("text", BAD)
def test_bad_input(text: str) -> None:
    """Mistakes are errors that say what would be right."""
    near, words = BAD[text]
    with pytest.raises(MjcfError, match=words):
        model(text, near)


def test_resolution_that_is_edited() -> None:
    """The number of rays is that of the compiled model; a resolution that is set later does not lead out of it."""
    m = model('<rangefinder camera="near"/><rangefinder site="s"/>')
    alone = forward(m).sensordata[-1]
    for resolution in ((50, 40), (1, 1), (0, 0)):
        m.cam_resolution[0] = resolution
        assert forward(m).sensordata[-1] == alone


def test_saving_and_structs(tmp_path: Any) -> None:
    """Text, binary files and structs keep the data and the cameras."""
    sensors = f'<rangefinder site="s"/><rangefinder camera="flat" data="{ALL}"/><rangefinder site="s" data="point"/>'
    m = model(sensors)
    cardan.mj_saveModel(m, str(tmp_path / "m.mjb"))
    spec = cardan.MjSpec.from_string(SCENE.format(near=NEAR, sensors=sensors), compat="4.0")
    assert [spec.sensors[k].get_data_size() for k in (0, 2)] == [1, 3]
    with pytest.raises(MjcfError, match="only after compilation"):
        spec.sensors[1].get_data_size()
    others = cardan.MjModel.from_xml_string(m.to_xml(), compat="4.0"), spec.compile()
    for other in (*others, cardan.MjModel.from_binary_path(str(tmp_path / "m.mjb"))):
        for name in FIELDS:
            assert np.array_equal(getattr(m, "sensor_" + name), getattr(other, "sensor_" + name)), name


def test_scaled_frames() -> None:
    """In a scaled frame, the cutoff of a rangefinder is scaled as lengths are."""
    m = cardan.MjModel.from_xml_string(
        """<mujoco><worldbody><frame scale="2"><body><geom size=".1"/><camera name="c" resolution="2 2"/></body></frame>
        </worldbody><sensor><rangefinder camera="c" cutoff="3"/></sensor></mujoco>"""
    )
    assert m.sensor_cutoff[0] == 6.0


def test_delayed() -> None:
    """A rangefinder of a camera may have a delay."""
    m = model('<rangefinder camera="near" nsample="3" delay=".004"/><rangefinder camera="near"/>')
    d = forward(m)
    values = []
    for _ in range(8):
        cardan.mj_step(m, d)
        values.append(d.sensordata.reshape(2, -1).copy())
    assert np.array_equal(values[6][0], values[4][1])
    assert not np.array_equal(values[6][1], values[4][1])


@pytest.mark.skipif(not jit_enabled, reason="about native code")
def test_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches in single precision and on a GPU give the same as single worlds."""
    m = model(f'<rangefinder camera="near" data="{ALL}"/><rangefinder camera="flat" data="{ALL}"/>')
    expected = forward(m).sensordata
    with lent(monkeypatch):
        kinds: tuple[tuple[dict[str, Any], float], ...]
        kinds = ({"dtype": "float32"}, 1e-4), ({}, 1e-12), ({"device": "cuda"}, 1e-12)
        for options, tolerance in kinds:
            batch = cardan.Batch(m, 2, **options)
            batch.qpos[:] = POSE
            batch.forward()
            assert np.abs(np.asarray(batch.sensordata)[1] - expected).max() < tolerance
            batch.close()


@pytest.mark.skipif(not jit_enabled, reason="exact derivatives need native code")
@pytest.mark.parametrize("of", ['camera="near"', 'camera="flat"', 'site="s"'])
def test_derivatives(of: str) -> None:
    """Exact derivatives of all data equal finite differences."""
    m = model(f'<rangefinder {of} data="{ALL}"/>')
    d = forward(m)
    exact, near = np.zeros((m.nsensordata, 2 * m.nv)), np.zeros((m.nsensordata, 2 * m.nv))
    cardan.mjd_transition(m, d, None, None, exact, None)
    cardan.mjd_transitionFD(m, d, 1e-6, 1, None, None, near, None)
    assert np.abs(near).max() > 0.5
    assert np.abs(exact - near).max() < 1e-6 * np.abs(near).max()


DRAWN = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
d.qpos[:] = pose
mujoco.mj_forward(m, d)
option, scene = mujoco.MjvOption(), mujoco.MjvScene(m, 1000)
option.flags[:] = 0
option.flags[mujoco.mjtVisFlag.mjVIS_RANGEFINDER] = 1
option.geomgroup[:] = option.sitegroup[:] = 0
mujoco.mjv_updateScene(m, d, option, None, mujoco.MjvCamera(), 7, scene)
out = []
for g in scene.geoms[:scene.ngeom]:
    out.append((int(g.type), int(g.category), *map(np.array, (g.size, g.pos, g.mat, g.rgba))))
"""


@pytest.mark.parametrize("data", ["dist", "dist point normal", "point normal", "dist normal", "normal", ALL])
def test_drawing(data: str) -> None:
    """Rays, hit points and normals in the scene."""
    sensors = "".join(f'<rangefinder {of} data="{data}"/>' for of in ('camera="near"', 'site="s"'))
    xml = SCENE.format(near=NEAR, sensors=sensors + '<rangefinder site="s"/>')
    space: dict[str, Any] = {"mujoco": cardan, "np": np, "xml": xml, "pose": POSE}
    exec(DRAWN, space)
    ours, theirs = space["out"], later_run(DRAWN, xml=xml, pose=POSE)
    assert [g[:2] for g in ours] == [g[:2] for g in theirs]
    assert len(ours) > 10 or data == "normal"
    for own, other in zip(ours, theirs, strict=True):
        for a, b in zip(own[2:], other[2:], strict=True):
            assert np.abs(a - b).max() < 1e-5


def test_drawn_segments() -> None:
    """The segments of sensors ``fromto`` are drawn as rays are, if geoms are within the cutoff."""
    xml = """<mujoco><worldbody><geom name="a" size=".1"/><body pos="0 0 1"><freejoint/>
    <geom name="b" size=".2"/></body></worldbody><sensor><fromto geom1="a" geom2="b" cutoff="{}"/></sensor></mujoco>"""
    for cutoff, number in ((2, 1), (0.2, 0)):
        space: dict[str, Any] = {"mujoco": cardan, "np": np, "xml": xml.format(cutoff), "pose": [0, 0, 1, 1, 0, 0, 0]}
        exec(DRAWN, space)
        theirs = later_run(DRAWN, xml=xml.format(cutoff), pose=[0, 0, 1, 1, 0, 0, 0])
        assert len(space["out"]) == len(theirs) == number
        for own, other in zip(space["out"], theirs, strict=True):
            assert np.abs(own[2] - other[2]).max() < 1e-6
