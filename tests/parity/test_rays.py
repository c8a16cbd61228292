"""Rays against the reference: every type of geom, whole scenes with all filters, range finders (level: forward)."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from reference import data_from_reference, model_from_reference

import cardan
from cardan.jit.front.stage import jit_enabled

RAYS = 1000 if jit_enabled else 40
TYPES = {"PLANE": (1, 0.7, 1), "SPHERE": (0.4, 0, 0), "CAPSULE": (0.2, 0.4, 0), "ELLIPSOID": (0.3, 0.2, 0.5),
         "CYLINDER": (0.3, 0.2, 0), "BOX": (0.3, 0.2, 0.4)}  # fmt: skip
SCENE = """<mujoco><asset>
<mesh name="c" vertex="-1 -1 -1 1 -1 -1 -1 1 -1 1 1 -1 -1 -1 1 1 -1 1 -1 1 1 .5 .2 1" scale=".2 .2 .2"/>
<mesh name="d" vertex="-1 -1 -1 1 -1 -1 -1 1 -1 0 0 1" face="0 2 1 0 1 3 1 2 3 2 0 3" scale=".3 .3 .3"/>
<hfield name="h" nrow="8" ncol="8" size="1 2 .5 .2"/><material name="glass" rgba="1 1 1 0"/><material name="m"/>
</asset><worldbody>
<geom type="hfield" hfield="h" euler="10 20 30"/><geom type="plane" size="2 2 1" pos="0 0 -1"/>
<body pos="0 0 1"><freejoint/><geom size=".3" group="1"/><site name="a" euler="0 90 0"/>
 <geom type="capsule" size=".1 .3" pos=".5 0 0" euler="30 40 50"/></body>
<body pos="1 0 1"><freejoint/><geom type="box" size=".3 .2 .1" group="2"/><site name="b" euler="180 0 0"/>
 <geom type="cylinder" size=".1 .3" pos="0 .5 0" euler="30 40 50" group="5"/></body>
<body pos="-1 0 1"><freejoint/><geom type="ellipsoid" size=".3 .2 .1" group="2"/><site name="c" euler="170 0 0"/>
 <geom type="mesh" mesh="c" pos="0 .5 0" euler="30 40 50"/><geom type="mesh" mesh="d" pos="0 -.5 0"/></body>
<body pos="0 1 1"><geom size=".2"/><geom size=".3" rgba="1 1 1 0"/><geom size=".31" material="glass" rgba="1 1 1 1"/>
 <geom size=".1" pos=".3 0 0" material="m" rgba="1 1 1 0"/></body>
</worldbody><sensor><rangefinder site="a"/><rangefinder site="b"/><rangefinder site="c"/>
<rangefinder site="b" cutoff=".3"/><rangefinder site="a" cutoff="1"/></sensor></mujoco>"""
HFIELD, MESHES = 0, (7, 8)


class Scene:
    """A scene in both engines, with a height field of random elevations."""

    def __init__(self) -> None:
        self.ref = mujoco.MjModel.from_xml_string(SCENE)
        self.ref.hfield_data[:] = np.random.default_rng(0).random(64)
        self.ref_data = mujoco.MjData(self.ref)
        mujoco.mj_forward(self.ref, self.ref_data)
        self.m = model_from_reference(self.ref)
        self.d = data_from_reference(self.m, self.ref_data)

    def both(self, name, *arguments):
        """Results of a function in both engines."""
        ours = getattr(cardan, name)(self.m, self.d, *arguments)
        return ours, getattr(mujoco, name)(self.ref, self.ref_data, *arguments)


@pytest.fixture(scope="module")
def scene():
    return Scene()


def ray_towards(rng, pos, spread):
    """A ray from near or far that aims at a place within `spread` (3,) of `pos`."""
    point = pos + rng.normal(size=3) * rng.choice([0.1, 0.5, 2])
    return point, (pos + rng.uniform(-1.2, 1.2, size=3) * spread - point) * rng.uniform(0.1, 3)


def assert_close(ours, theirs):
    assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kind", TYPES)
def test_primitive(kind):
    geomtype, size = getattr(mujoco.mjtGeom, f"mjGEOM_{kind}"), np.array(TYPES[kind], float)
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(RAYS):
        quat, mat, pos = rng.normal(size=4), np.zeros(9), rng.normal(size=3)
        mujoco.mju_quat2Mat(mat, quat / np.linalg.norm(quat))
        point, vec = ray_towards(rng, pos, np.full(3, 0.4))
        theirs = mujoco.mju_rayGeom(pos, mat, size, point, vec, geomtype)
        assert_close(cardan.mju_rayGeom(pos, mat, size, point, vec, geomtype), theirs)
        hits += theirs >= 0
    assert hits > RAYS / 10


EXACT = [
    ("PLANE", (0, 0, 1), (0, 0, -1)), ("PLANE", (1, 0, 1), (0, 0, -1)), ("PLANE", (1.1, 0, 1), (0, 0, -1)),
    ("PLANE", (0, 0, -1), (0, 0, 1)), ("PLANE", (0, 0, 1), (1, 0, 0)), ("PLANE", (0, 0, 0), (0, 0, -1)),
    ("SPHERE", (0.4, 0, 3), (0, 0, -1)), ("SPHERE", (0, 0, 0.4), (0, 0, 1)), ("SPHERE", (0, 0, 3), (0, 0, -1e-10)),
    ("SPHERE", (0, 0, 3), (0, 0, 1)), ("CAPSULE", (0.2, 0, 3), (0, 0, -1)), ("CAPSULE", (0, 0, 0), (0, 0, -2)),
    ("CAPSULE", (3, 0, 0.4), (-1, 0, 0)), ("CAPSULE", (3, 0, 0.5), (-1, 0, 0)), ("CYLINDER", (0.3, 0, 3), (0, 0, -1)),
    ("CYLINDER", (3, 0, 0.2), (-1, 0, 0)), ("CYLINDER", (3, 0.3, 0), (-1, 0, 0)), ("CYLINDER", (0, 0, 0.2), (-1, 0, 0)),
    ("ELLIPSOID", (0, 0, 0), (0, 1, 0)), ("ELLIPSOID", (0.3, 0, 2), (0, 0, -1)), ("BOX", (0.3, 0, 3), (0, 0, -1)),
    ("BOX", (3, 0, 0.4), (-1, 0, 0)), ("BOX", (0, 0, 0), (0, 0, -1)), ("BOX", (3, 0, 0.41), (-1, 0, 0)),
    ("BOX", (0, 0, 0.4), (0, 0, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "point", "vec"), EXACT)
def test_tangents_parallels_edges_and_starts_on_the_surface(kind, point, vec):
    geomtype = getattr(mujoco.mjtGeom, f"mjGEOM_{kind}")
    arguments = [np.array(a, float) for a in (np.zeros(3), np.eye(3).ravel(), TYPES[kind], point, vec)]
    assert_close(cardan.mju_rayGeom(*arguments, geomtype), mujoco.mju_rayGeom(*arguments, geomtype))


@pytest.mark.parametrize("geom", MESHES)
def test_mesh(scene, geom):
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(RAYS):
        point, vec = ray_towards(rng, scene.ref_data.geom_xpos[geom], np.full(3, 0.3))
        ours, theirs = scene.both("mj_rayMesh", geom, point, vec)
        assert_close(ours, theirs)
        hits += theirs >= 0
    assert RAYS / 3 < hits < RAYS


def test_hfield(scene):
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(RAYS):
        mat = scene.ref_data.geom_xmat[HFIELD].reshape(3, 3)
        point, vec = ray_towards(rng, scene.ref_data.geom_xpos[HFIELD], np.array([1, 2, 0.5]))
        ours, theirs = scene.both("mj_rayHfield", HFIELD, mat @ point, mat @ vec)
        assert_close(ours, theirs)
        hits += theirs >= 0
    assert RAYS / 3 < hits < RAYS


def test_hfield_along_the_axes(scene):
    scene = Scene()
    scene.d.geom_xmat[HFIELD] = scene.ref_data.geom_xmat[HFIELD] = np.eye(3).ravel()
    rng = np.random.default_rng(4)
    for _ in range(RAYS // 2):
        point = rng.uniform(-1.2, 1.2, size=3) * [1, 2, 0.5]
        vec = np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 2.0])
        assert_close(*scene.both("mj_rayHfield", HFIELD, point, vec))


def test_scene_with_all_filters(scene):
    rng = np.random.default_rng(5)
    ours_id, theirs_id = np.zeros(1, np.int32), np.zeros(1, np.int32)
    hits = 0
    for _ in range(2 * RAYS):
        point, vec = rng.normal(size=3) * 1.2, rng.normal(size=3) * rng.uniform(0.1, 3)
        group = None if rng.random() < 0.5 else rng.integers(0, 2, 6).astype(np.uint8)
        options = group, int(rng.integers(2)), int(rng.integers(-1, 5))
        ours = cardan.mj_ray(scene.m, scene.d, point, vec, *options, ours_id)
        theirs = mujoco.mj_ray(scene.ref, scene.ref_data, point, vec, *options, theirs_id)
        assert_close(ours, theirs)
        assert ours_id[0] == theirs_id[0]
        hits += theirs >= 0
    assert hits > RAYS / 10


@pytest.mark.parametrize("geom", range(12))
def test_each_geom_is_seen_or_not(scene, geom):
    ids = np.zeros(1, np.int32), np.zeros(1, np.int32)
    vec = np.array([0.02, 0.01, -1.0])
    point = scene.ref_data.geom_xpos[geom] - 3 * vec
    ours = cardan.mj_ray(scene.m, scene.d, point, vec, None, 1, -1, ids[0])
    assert_close(ours, mujoco.mj_ray(scene.ref, scene.ref_data, point, vec, None, 1, -1, ids[1]))
    assert ids[0] == ids[1]


def test_several_rays(scene):
    """All agree with single rays; the reference's own function loses some that its single rays find."""
    rng = np.random.default_rng(6)
    n, agreeing, total = 50, 0, 0
    for _ in range(RAYS // 50 + 1):
        point, vec = rng.normal(size=3), rng.normal(size=3 * n)
        ids, dists = np.zeros((2, n), np.int32), np.zeros((2, n))
        cardan.mj_multiRay(scene.m, scene.d, point, vec, None, 1, -1, ids[0], dists[0], n, 1e10)
        mujoco.mj_multiRay(scene.ref, scene.ref_data, point, vec, None, 1, -1, ids[1], dists[1], n, 1e10)
        for i in range(n):
            geomid = np.zeros(1, np.int32)
            single = mujoco.mj_ray(scene.ref, scene.ref_data, point, vec[3 * i : 3 * i + 3], None, 1, -1, geomid)
            assert_close(dists[0, i], single)
            assert ids[0, i] == geomid[0]
        agreeing += (np.abs(dists[0] - dists[1]) < 1e-9).sum()
        total += n
    assert agreeing / total > 0.98


@pytest.mark.parametrize("geom", [2, 3, 4, 7])
def test_cutoff_is_a_distance_from_the_bounding_sphere(scene, geom):
    center = scene.ref_data.geom_xpos[geom]
    point = center + [0.0, 0.0, 2.0]
    limit = 2.0 - scene.ref.geom_rbound[geom]
    vec = center - point
    for cutoff in (limit - 1e-6, limit + 1e-6):
        ids, dists = np.zeros((2, 1), np.int32), np.zeros((2, 1))
        cardan.mj_multiRay(scene.m, scene.d, point, vec, None, 1, -1, ids[0], dists[0], 1, cutoff)
        mujoco.mj_multiRay(scene.ref, scene.ref_data, point, vec, None, 1, -1, ids[1], dists[1], 1, cutoff)
        assert ids[0] == ids[1]
        assert_close(dists[0, 0], dists[1, 0])


def test_rangefinder(scene):
    m, rng = cardan.MjModel.from_xml_string(SCENE), np.random.default_rng(7)
    m.hfield_data[:] = scene.ref.hfield_data
    d = cardan.MjData(m)
    ref_data = mujoco.MjData(scene.ref)
    for name in ("type", "datatype", "needstage", "objtype", "objid", "dim", "adr", "cutoff"):
        assert (getattr(m, f"sensor_{name}") == getattr(scene.ref, f"sensor_{name}")).all()
    seen = set()
    for _ in range(50 if jit_enabled else 3):
        d.qpos[:] = ref_data.qpos[:] = m.qpos0 + rng.normal(size=m.nq) * 0.3
        for engine, model, data in ((cardan, m, d), (mujoco, scene.ref, ref_data)):
            engine.mj_fwdPosition(model, data)
            engine.mj_sensorPos(model, data)
        np.testing.assert_allclose(d.sensordata, ref_data.sensordata, rtol=1e-9, atol=1e-9)
        seen |= {*np.sign(d.sensordata)}
    assert seen >= {-1.0, 1.0}
