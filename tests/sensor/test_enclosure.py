"""How far objects jut out of sites (`insidesite enclosed`), against MuJoCo 4.0.0 and by sampled surfaces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from later import later_run
from tests.fake_gpu import lent

import cardan
from cardan.errors import MjcfError
from cardan.jit import jit_enabled

SMALL = {"sphere": ".3", "capsule": ".2 .3", "ellipsoid": ".3 .2 .1", "cylinder": ".2 .3", "box": ".1 .2 .3"}
LARGE = {"sphere": ".8", "capsule": ".5 .5", "ellipsoid": ".9 .8 .5", "cylinder": ".6 .7", "box": ".7 .8 .6"}
WORLD = """<mujoco><option><flag contact="disable"/></option><asset>
<mesh name="large" builtin="cone" params="7 .6" scale=".8 .9 .7"/>
<mesh name="small" builtin="cone" params="5 .3" scale=".2 .2 .3"/></asset><worldbody>{sites}
<geom name="ground" type="plane" size="1 1 1"/><body name="b"><freejoint/>{geoms}<camera name="c"/>
<site name="tube" type="cylinder" size=".1 .2" pos=".1 .1 0"/>
<site name="spike" type="mesh" mesh="small" pos=".1 0 .1" euler="40 50 60"/>
<body name="child" pos="0 .1 .1"><joint/><geom size=".1" pos=".2 .2 .3"/></body></body><body name="bare"/></worldbody>
<sensor>{sensors}</sensor></mujoco>"""
SITES = (*LARGE, "mesh")
THINGS = [("geom", name) for name in (*SMALL, "mesh")]
THINGS += [("body", "b"), ("xbody", "b"), ("site", "tube"), ("site", "spike")]


def text(sensors: str) -> str:
    """The scene with some sensors."""
    sites = "".join(f'<site name="{k}" type="{k}" size="{v}" euler="10 20 30"/>' for k, v in LARGE.items())
    sites += '<site name="mesh" type="mesh" mesh="large" euler="30 20 10"/>'
    geoms = "".join(f'<geom name="{k}" type="{k}" size="{v}" mass="1"/>' for k, v in SMALL.items())
    geoms += '<geom name="mesh" type="mesh" mesh="small" mass="1"/>'
    return WORLD.format(sites=sites, geoms=geoms, sensors=sensors)


def sensor(site: str, kind: str, name: str, more: str = "") -> str:
    return f'<insidesite site="{site}" objtype="{kind}" objname="{name}" enclosed="true" {more}/>'


ALL = text("".join(sensor(site, *thing) for site in SITES for thing in THINGS))


def poses(number: int) -> list[np.ndarray]:
    """Random configurations."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(number):
        quat = rng.normal(size=4)
        found.append(np.concatenate([rng.normal(0, 0.3, 3), quat / np.linalg.norm(quat), rng.normal(size=1)]))
    return found


def values(m: cardan.MjModel, states: list[np.ndarray]) -> np.ndarray:
    """Sensor data at some configurations."""
    d, rows = cardan.MjData(m), []
    for qpos in states:
        d.qpos[:] = qpos
        cardan.mj_forward(m, d)
        rows.append(d.sensordata.copy())
    return np.array(rows)


REFERENCE = """
m, rows = mujoco.MjModel.from_xml_string(xml), []
d = mujoco.MjData(m)
for qpos in states:
    d.qpos[:] = qpos
    mujoco.mj_forward(m, d)
    rows.append(np.array(d.sensordata))
out = np.array(rows), np.array(m.sensor_intprm), np.array(m.sensor_datatype)
"""


def test_all_shapes() -> None:
    """All kinds of objects in sites of all shapes. The search of 4.0.0 may end at a smaller, local maximum."""
    m, states = cardan.MjModel.from_xml_string(ALL, compat="4.0"), poses(30)
    theirs, parameters, kinds = later_run(REFERENCE, xml=ALL, states=states)
    assert np.array_equal(m.sensor_intprm, parameters)
    assert np.array_equal(m.sensor_datatype, kinds)
    difference = values(m, states) - theirs
    assert difference.min() > -1e-12
    assert np.mean(difference < 1e-6) > 0.5
    assert np.mean(difference < 1e-3) > 0.7
    # a site that is a box, and an object with corners: 4.0.0 looks at all of them
    exact = [k for k in range(len(THINGS)) if THINGS[k][1] in ("sphere", "capsule", "box", "mesh", "spike")]
    assert np.abs(difference[:, [SITES.index("box") * len(THINGS) + k for k in exact]]).max() < 1e-12


def surface(kind: str, size: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """Points on the surface of a shape, in its frame."""
    if kind == "mesh":
        return vertices
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 181), np.linspace(0, np.pi, 91))
    ball = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)], -1).reshape(-1, 3)
    if kind == "ellipsoid":
        return ball * size
    if kind == "cylinder":
        rim = np.stack([np.cos(u[0]), np.sin(u[0]), np.zeros(len(u[0]))], -1) * size[0]
        return np.concatenate([rim + (0, 0, size[1]), rim - (0, 0, size[1])])
    if kind == "box":
        return np.array(np.meshgrid(*[(-s, s) for s in size])).reshape(3, -1).T
    line = (0.0, 0.0, size[1]) if kind == "capsule" else (0.0, 0.0, 0.0)
    return np.concatenate([ball * size[0] + line, ball * size[0] - line])


def test_sampled_surfaces() -> None:
    """No sampled point of a geom is farther out of a box or a cylinder than the sensor says, and one is nearly so."""
    m = cardan.MjModel.from_xml_string(ALL)
    d = cardan.MjData(m)
    names = (*SMALL, "mesh")
    for qpos in poses(8):
        d.qpos[:] = qpos
        cardan.mj_forward(m, d)
        for site in ("box", "cylinder", "sphere"):
            at, size = m.site(site).id, m.site(site).size
            for k in range(6):
                geom = m.sensor_objid[SITES.index(site) * len(THINGS) + k]
                mesh = m.geom_dataid[geom]
                start = m.mesh_vertadr[mesh]
                vertices = m.mesh_vert[start : start + m.mesh_vertnum[mesh]]
                points = surface(names[k], m.geom_size[geom], vertices)
                world = points @ d.geom_xmat[geom].reshape(3, 3).T + d.geom_xpos[geom]
                p = (world - d.site_xpos[at]) @ d.site_xmat[at].reshape(3, 3)
                if site == "sphere":
                    far = np.linalg.norm(p, axis=1) - size[0]
                else:
                    q = np.abs(p) - size
                    if site == "cylinder":
                        q = np.stack([np.hypot(p[:, 0], p[:, 1]) - size[0], np.abs(p[:, 2]) - size[1]], -1)
                    far = np.minimum(q.max(1), 0.0) + np.linalg.norm(np.maximum(q, 0.0), axis=1)
                found = d.sensordata[SITES.index(site) * len(THINGS) + k]
                assert far.max() - 1e-9 < found < far.max() + 2e-3


def test_ellipsoids() -> None:
    """Distances from an ellipsoid are exact: a point is as far as the nearest of the surface, also at symmetries."""
    m = cardan.MjModel.from_xml_string(
        text(sensor("ellipsoid", "site", "tube") + sensor("ellipsoid", "geom", "sphere"))
    )
    d = cardan.MjData(m)
    axes = np.array([0.9, 0.8, 0.5])
    turn = d.site_xmat[m.site("ellipsoid").id]
    cardan.mj_forward(m, d)
    for local, expected in (((0, 0, 0), -0.5), ((0, 0, 0.6), 0.1), ((1, 0, 0), 0.1), ((0, 0.2, 0), None)):
        d.qpos[:3] = turn.reshape(3, 3) @ local
        cardan.mj_forward(m, d)
        if expected is None:
            points = surface("ellipsoid", axes, axes)
            expected = -np.linalg.norm(points - np.array(local), axis=1).min()
        assert abs(d.sensordata[1] - 0.3 - expected) < 1e-4


BAD = {
    sensor("box", "camera", "c"): "a camera has no shape",
    sensor("box", "geom", "ground"): "geom 'ground' .* is a plane, not a compact convex shape",
    sensor("box", "body", "world"): "geom 'ground' .* is a plane",
    sensor("box", "xbody", "world"): "geom 'ground' .* is a plane",
    sensor("box", "body", "bare"): "has no geoms that could be enclosed",
    sensor("box", "geom", "nothing"): "there is no geom named 'nothing'",
    '<insidesite site="box" objtype="geom" objname="sphere" enclosed="2"/>': "enclosed",
}


@pytest.mark.parametrize("sensors", BAD)
def test_bad_input(sensors: str) -> None:
    """Mistakes are errors that name the object."""
    with pytest.raises(MjcfError, match=BAD[sensors]):
        cardan.MjModel.from_xml_string(text(sensors))


def test_settings_and_saving(tmp_path: Any) -> None:
    """Both settings give the same; a cutoff bounds both signs; text, binary files and structs keep the attribute."""
    xml = text(sensor("box", "body", "b", 'cutoff=".01"') + sensor("box", "body", "b"))
    m, later = (cardan.MjModel.from_xml_string(xml, compat=compat) for compat in ("3.1", "4.0"))
    states = poses(5)
    found = values(m, states)
    assert np.array_equal(found, values(later, states))
    assert np.array_equal(found[:, 0], np.clip(found[:, 1], -0.01, 0.01))
    assert np.ptp(found[:, 0]) == 0.02
    cardan.mj_saveModel(m, str(tmp_path / "m.mjb"))
    spec: Any = cardan.MjSpec.from_string(xml)
    assert spec.sensors[0].intprm.tolist() == [1, 0, 0]
    others = cardan.MjModel.from_xml_string(m.to_xml()), cardan.MjModel.from_binary_path(str(tmp_path / "m.mjb"))
    for other in (*others, spec.compile()):
        assert np.array_equal(values(other, states), found)
    spec.sensors[0].intprm = [0, 0, 0]
    assert spec.compile().sensor_intprm.tolist() == [[0, 0, 0], [1, 0, 0]]
    spec.sensors[0].intprm[0] = 1
    assert spec.compile().sensor_intprm.tolist() == [[1, 0, 0], [1, 0, 0]]


@pytest.mark.skipif(not jit_enabled, reason="about native code")
def test_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches in single precision and on a GPU give the same as single worlds."""
    m, state = cardan.MjModel.from_xml_string(ALL), poses(1)
    expected = values(m, state)[0]
    kinds: tuple[tuple[dict[str, Any], float], ...]
    kinds = ({"dtype": "float32"}, 1e-4), ({}, 1e-12), ({"device": "cuda"}, 1e-9)
    with lent(monkeypatch):
        for options, tolerance in kinds:
            batch = cardan.Batch(m, 2, **options)
            batch.qpos[:] = state[0]
            batch.forward()
            assert np.abs(np.asarray(batch.sensordata)[1] - expected).max() < tolerance
            batch.close()


@pytest.mark.skipif(not jit_enabled, reason="exact derivatives need native code")
def test_derivatives() -> None:
    """Exact derivatives equal finite differences, where no other point becomes the farthest one."""
    m = cardan.MjModel.from_xml_string(ALL)
    d = cardan.MjData(m)
    d.qpos[:] = poses(1)[0]
    exact, near = np.zeros((m.nsensordata, 2 * m.nv)), np.zeros((m.nsensordata, 2 * m.nv))
    cardan.mjd_transition(m, d, None, None, exact, None)
    cardan.mjd_transitionFD(m, d, 1e-6, 1, None, None, near, None)
    assert np.abs(near).max() > 0.5
    assert np.abs(exact - near).max() < 1e-5
