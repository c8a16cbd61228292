"""Rays: arguments and errors, invariance, meshes against a search over all faces, height fields by their elevations."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import cardan
from cardan.collision.ray_mesh import ray_triangle
from cardan.jit.front.stage import jit_enabled

RAYS = 200 if jit_enabled else 10
SPHERE = '<mujoco><worldbody><geom size=".5"/></worldbody></mujoco>'


def simulated(xml):
    m = cardan.MjModel.from_xml_string(xml)
    d = cardan.MjData(m)
    cardan.mj_kinematics(m, d)
    return m, d


def cast(m, d, point, vec):
    geomid = np.zeros(1, np.int32)
    return cardan.mj_ray(m, d, point, vec, None, 1, -1, geomid), int(geomid[0])


def test_lists_and_columns_are_fine():
    m, d = simulated(SPHERE)
    assert cast(m, d, [0, 0, 2], (0, 0, -1)) == (1.5, 0)
    assert cast(m, d, np.array([[0.0], [0], [2]]), np.array([0, 0, -2], np.float32)) == (0.75, 0)
    assert cast(m, d, [0, 0, 2], [0, 0, 1]) == (-1, -1)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (([0, 0], [0, 0, 1], None, 1, -1, np.zeros(1, np.int32)), TypeError),
        (([0, 0, 0], [0, 0, 1, 0], None, 1, -1, np.zeros(1, np.int32)), TypeError),
        (([0, 0, 0], [0, 0, 1], [1, 1], 1, -1, np.zeros(1, np.int32)), TypeError),
        (([0, 0, 0], [0, 0, 1], None, 1, -1, np.zeros(2, np.int32)), TypeError),
        (([0, 0, 0], [0, 0, 1], None, 1, -1, np.zeros(1)), TypeError),
        (([0, 0, 0], [0, 0, 1], None, 1, -1, None), TypeError),
        (([0, 0, 0], [0, 0, 0], None, 1, -1, np.zeros(1, np.int32)), cardan.FatalError),
    ],
)
def test_bad_arguments(arguments, error):
    m, d = simulated(SPHERE)
    with pytest.raises(error):
        cardan.mj_ray(m, d, *arguments)


def test_read_only_result():
    m, d = simulated(SPHERE)
    geomid = np.zeros(1, np.int32)
    geomid.flags.writeable = False
    with pytest.raises(TypeError, match="geomid"):
        cardan.mj_ray(m, d, [0, 0, 2], [0, 0, -1], None, 1, -1, geomid)


def test_bad_arguments_of_several_rays():
    m, d = simulated(SPHERE)
    ids, dist = np.zeros(2, np.int32), np.zeros(2)
    with pytest.raises(TypeError, match="nray"):
        cardan.mj_multiRay(m, d, np.zeros(3), np.ones(9), None, 1, -1, ids, dist, 3, 1)
    with pytest.raises(TypeError, match="3\\*nray"):
        cardan.mj_multiRay(m, d, np.zeros(3), np.ones(5), None, 1, -1, ids, dist, 2, 1)
    with pytest.raises(cardan.FatalError, match="too small, of number 2 of 2"):
        cardan.mj_multiRay(m, d, np.zeros(3), [1, 0, 0, 0, 0, 0], None, 1, -1, ids, dist, 2, 1)


def test_geom_of_another_type():
    m, d = simulated(SPHERE)
    for name, geom in (("mj_rayMesh", 0), ("mj_rayHfield", 0), ("mj_rayMesh", 7), ("mj_rayHfield", -1)):
        with pytest.raises(cardan.FatalError, match=name):
            getattr(cardan, name)(m, d, geom, np.zeros(3), np.ones(3))
    with pytest.raises(cardan.FatalError, match="geom type 7"):
        cardan.mju_rayGeom(np.zeros(3), np.eye(3).ravel(), np.ones(3), np.zeros(3), np.ones(3), 7)


def test_only_spheres_are_met_without_an_orientation():
    """`mj_resetDataDebug` leaves no orientations; what the reference's rays meet then."""
    for kind in ("plane", "sphere", "capsule", "cylinder", "ellipsoid", "box"):
        xml = f'<mujoco><worldbody><geom type="{kind}" size=".1 .2 .3"/></worldbody></mujoco>'
        found = {}
        for engine in (mujoco, cardan):
            m = engine.MjModel.from_xml_string(xml)
            d = engine.MjData(m)
            engine.mj_resetDataDebug(m, d, 7)
            ids = np.zeros(1, np.int32)
            found[engine] = [
                engine.mj_ray(m, d, np.array([0.0, 0.02, z]), np.array([0.0, 0.0, v]), None, 1, -1, ids)
                for z, v in ((3.0, -1.0), (-3.0, 0.5), (0.0, 1.0))
            ]
            spread = np.array([0.1, 0.2, 0.3]), np.array([0.0, 0.0, 3.0]), np.array([0.0, 0.0, -1.0])
            found[engine].append(engine.mju_rayGeom(np.zeros(3), np.zeros(9), *spread, int(m.geom_type[0])))
        np.testing.assert_allclose(found[cardan], found[mujoco], rtol=1e-12, err_msg=kind)
        assert (np.array(found[cardan]) > 0).all() == (kind == "sphere")


def test_numbers_that_are_not_finite_are_misses():
    m, d = simulated(
        '<mujoco><asset><hfield name="h" nrow="3" ncol="3" size="1 1 1 1"/>'
        '<mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset><worldbody><geom type="hfield" hfield="h"/>'
        '<geom size="1"/><geom type="box" size="1 1 1"/><geom type="mesh" mesh="m"/></worldbody></mujoco>'
    )
    for bad in (np.nan, np.inf):
        assert cast(m, d, [0, 0, 2], [0, bad, -1])[0] == -1
        assert cast(m, d, [0, bad, 2], [0, 0, -1])[0] == -1


def test_distance_scales_with_the_direction_and_moves_with_the_ray():
    m, d = simulated(
        '<mujoco><worldbody><geom type="ellipsoid" size=".5 .3 .2" euler="10 20 30"/></worldbody></mujoco>'
    )
    rng = np.random.default_rng(0)
    for _ in range(RAYS):
        point, vec = rng.normal(size=3), rng.normal(size=3) * 0.1
        vec -= point
        x, geom = cast(m, d, point, vec)
        if geom == 0:
            assert cast(m, d, point, 4 * vec)[0] == pytest.approx(x / 4, rel=1e-9)
            assert cast(m, d, point + 0.5 * x * vec, vec)[0] == pytest.approx(x / 2, rel=1e-9)


def test_mesh_against_all_faces():
    rng = np.random.default_rng(1)
    vertices = rng.normal(size=(60, 3))
    m, d = simulated(
        f'<mujoco><asset><mesh name="m" vertex="{" ".join(map(str, vertices.ravel()))}"/></asset>'
        '<worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>'
    )
    xmat = d.geom_xmat[0].reshape(3, 3)
    for _ in range(RAYS):
        point, vec = rng.normal(size=3) * 3, rng.normal(size=3)
        p, v = tuple(xmat.T @ (point - d.geom_xpos[0])), tuple(xmat.T @ vec)
        hits = [
            ray_triangle(*(tuple(corner) for corner in m.mesh_vert[face].astype(float)), p, v) for face in m.mesh_face
        ]
        nearest = min((x for x in hits if x >= 0), default=-1)
        assert cast(m, d, point, vec)[0] == pytest.approx(nearest, rel=1e-9)


@pytest.mark.parametrize(("nrow", "ncol"), [(2, 2), (5, 9), (9, 4)])
def test_hfield_elevations_and_sides(nrow, ncol):
    rng = np.random.default_rng(2)
    heights = rng.random((nrow, ncol))
    m, d = simulated(
        f'<mujoco><asset><hfield name="h" nrow="{nrow}" ncol="{ncol}" size="1 2 .5 .1"/></asset>'
        '<worldbody><geom type="hfield" hfield="h"/></worldbody></mujoco>'
    )
    m.hfield_data[:] = heights.ravel()
    for row, y in enumerate(np.linspace(-2, 2, nrow)):
        for col, x in enumerate(np.linspace(-1, 1, ncol)):
            assert cast(m, d, [x, y, 3], [0, 0, -1])[0] == pytest.approx(3 - 0.5 * heights[row, col], abs=1e-6)
        # just below and just above the border
        for side, column in ((-1, 0), (1, ncol - 1)):
            top = 0.5 * heights[row, column]
            assert cast(m, d, [3 * side, y, top - 1e-4], [-side, 0, 0])[0] == pytest.approx(2)
            assert cast(m, d, [3 * side, y, top + 1e-4], [-side, 0, 0])[0] != pytest.approx(2)
