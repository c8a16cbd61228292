"""Exact distances of geoms: bounds by sampling, witness points, the public function."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from collision.harness import Pair, run
from collision.shapes import KINDS, extents, place_randomly, two_geoms

import cardan
from cardan.jit.front.stage import jit_enabled

PAIRS = list(itertools.combinations_with_replacement(KINDS, 2))
CURVED = {"ellipsoid", "cylinder"}
POSES = 40 if jit_enabled else 3


def place(pair: Pair, rng: np.random.Generator, spread: float = 0.3) -> None:
    """Random poses, in our data."""
    import mujoco

    place_randomly(pair, rng, spread)
    mujoco.mj_kinematics(pair.ref, pair.ref_data)
    pair.data.geom_xpos[:] = pair.ref_data.geom_xpos
    pair.data.geom_xmat[:] = pair.ref_data.geom_xmat


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_distance_is_the_largest_separation(kinds):
    """Along any direction shapes are separated by at most their distance, and along the right one by just that."""
    pair = Pair(two_geoms(*kinds), attach=False)
    rng = np.random.default_rng(2)
    for _ in range(POSES):
        place(pair, rng)
        ends = np.zeros(6)
        dist = cardan.mj_geomDistance(pair.model, pair.data, 0, 1, 10.0, ends)
        between = ends[3:] - ends[:3]
        assert abs(np.linalg.norm(between) - abs(dist)) < 1e-9
        directions = np.vstack([rng.normal(size=(1000, 3)), between + 0.01 * rng.normal(size=(1000, 3))])
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        separation = -(extents(pair, 0, kinds[0], directions) + extents(pair, 1, kinds[1], -directions))
        assert separation.max() <= dist + 1e-10
        right = (np.sign(dist) * between / np.linalg.norm(between))[None]
        reached = -(extents(pair, 0, kinds[0], right) + extents(pair, 1, kinds[1], -right))[0]
        assert abs(reached - dist) < (1e-9 if not CURVED.intersection(kinds) else (1e-5 if dist > 1e-3 else 1e-4))


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_witness_points_lie_on_the_shapes(kinds):
    pair = Pair(two_geoms(*kinds), attach=False)
    rng = np.random.default_rng(3)
    directions = rng.normal(size=(2000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    for _ in range(POSES):
        place(pair, rng)
        ends = np.zeros(6)
        cardan.mj_geomDistance(pair.model, pair.data, 0, 1, 10.0, ends)
        for id, point in ((0, ends[:3]), (1, ends[3:])):
            assert (directions @ point <= extents(pair, id, kinds[id], directions) + 1e-9).all()


TILTED = """
<mujoco><worldbody><geom type="box" size=".3 .2 .1"/>
<body pos="0 0 1"><freejoint/><geom type="box" size=".25 .4 .1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("compat", ["3.1", "4.0"])
def test_faces_that_are_almost_parallel_have_the_distance_of_the_nearest_corner(compat):
    """Simplices on such faces are flat, so that rounding may return points centimetres from the closest one."""
    m = cardan.MjModel.from_xml_string(TILTED, compat=compat)
    d = cardan.MjData(m)
    rng = np.random.default_rng(0)
    for _ in range(50 * POSES):
        gap, tilt = 10.0 ** rng.uniform(-9.0, -2.0), rng.choice([0.0, 1e-12, 1e-9])
        turn = rng.choice([0.0, rng.uniform(0.0, 3.0)])
        d.qpos[:3] = *rng.uniform(-0.2, 0.2, 2), 0.2 + gap
        d.qpos[3:] = np.cos(turn), *(tilt * rng.normal(size=2)), np.sin(turn)
        cardan.mj_kinematics(m, d)
        assert abs(cardan.mj_geomDistance(m, d, 0, 1, 1.0, None) - gap) < 1e-12 + 5.0 * tilt


def test_swapping_the_geoms_swaps_the_points():
    pair = Pair(two_geoms("mesh", "cylinder"), attach=False)
    rng = np.random.default_rng(4)
    for _ in range(POSES):
        place(pair, rng, 0.5)
        first, second = np.zeros(6), np.zeros(6)
        dist = cardan.mj_geomDistance(pair.model, pair.data, 0, 1, 10.0, first)
        assert cardan.mj_geomDistance(pair.model, pair.data, 1, 0, 10.0, second) == pytest.approx(dist, abs=1e-5)
        if dist > 0.01:
            np.testing.assert_allclose(first[:3] - first[3:], second[3:] - second[:3], atol=1e-5)


PLANES = """
<mujoco><worldbody><geom type="plane" size="1 1 1"/><geom type="plane" size="1 1 1"/>
<body pos="0 0 1"><geom size=".1"/></body></worldbody></mujoco>"""


def test_planes_and_limits():
    m = cardan.MjModel.from_xml_string(PLANES)
    d = cardan.MjData(m)
    cardan.mj_kinematics(m, d)
    ends = np.ones(6)
    assert cardan.mj_geomDistance(m, d, 0, 2, 10.0, ends) == pytest.approx(0.9)
    np.testing.assert_allclose(ends, [0, 0, 0, 0, 0, 0.9], atol=1e-12)
    assert cardan.mj_geomDistance(m, d, 2, 0, 10.0, ends) == pytest.approx(0.9)
    np.testing.assert_allclose(ends, [0, 0, 0.9, 0, 0, 0], atol=1e-12)
    assert cardan.mj_geomDistance(m, d, 2, 0, 0.5, ends) == 0.5
    assert not ends.any()
    assert cardan.mj_geomDistance(m, d, 0, 1, 3.0, None) == 3.0
    assert cardan.mj_geomDistance(m, d, 2, 2, 1.0, None) == pytest.approx(-0.2)


@pytest.mark.parametrize(
    ("geoms", "fromto", "error"), [((0, 3), None, IndexError), ((-1, 0), None, IndexError), ((0, 2), 5, TypeError)]
)
def test_bad_arguments(geoms, fromto, error):
    m = cardan.MjModel.from_xml_string(PLANES)
    d = cardan.MjData(m)
    with pytest.raises(error):
        cardan.mj_geomDistance(m, d, *geoms, 1.0, None if fromto is None else np.zeros(fromto))


@pytest.mark.parametrize("kinds", [("ellipsoid", "ellipsoid"), ("cylinder", "box"), ("mesh", "mesh")], ids="-".join)
def test_exact_collisions_agree_with_the_distance(kinds):
    pair = Pair(two_geoms(*kinds, 'margin="0.1"'), attach=False)
    pair.model.opt.enableflags |= cardan.mjtEnableBit.mjENBL_NATIVECCD
    pair.refresh_colliders()
    rng = np.random.default_rng(5)
    for _ in range(POSES):
        place(pair, rng)
        dist = cardan.mj_geomDistance(pair.model, pair.data, 0, 1, 0.1, None)
        run(pair.program, pair.model, pair.data)
        assert pair.data.ncon == (dist < 0.1)
        if pair.data.ncon:
            assert pair.data.contact.dist[0] == pytest.approx(dist, abs=1e-9)


FIELD_SIZE, ROWS, COLUMNS = (0.5, 0.4, 0.2, 0.1), 4, 5
CONVEX = {
    "sphere": 'type="sphere" size=".1"',
    "capsule": 'type="capsule" size=".04 .1"',
    "ellipsoid": 'type="ellipsoid" size=".05 .1 .15"',
    "cylinder": 'type="cylinder" size=".06 .12"',
    "box": 'type="box" size=".05 .1 .15"',
    "mesh": 'type="mesh" mesh="wedge"',
}


def prisms_of_field(heights: np.ndarray) -> list[np.ndarray]:
    """Corners (6, 3) of the prisms of a height field: each cell is cut along its diagonal, elevations in m."""
    x, y = np.linspace(-1, 1, COLUMNS) * FIELD_SIZE[0], np.linspace(-1, 1, ROWS) * FIELD_SIZE[1]
    prisms = []
    for row, column in itertools.product(range(ROWS - 1), range(COLUMNS - 1)):
        for third in ((row + 1, column), (row, column + 1)):
            corners = ((row, column), (row + 1, column + 1), third)
            prisms.append(np.array([(x[c], y[r], z) for r, c in corners for z in (heights[r, c], -FIELD_SIZE[3])]))
    return prisms


@pytest.mark.parametrize("kind", CONVEX)
def test_distance_of_a_height_field_is_that_of_its_nearest_prism(kind):
    """The prisms are meshes of their own, at the pose of the field."""
    rng = np.random.default_rng(6)
    data = rng.random((ROWS, COLUMNS))
    data = (data - data.min()) / (data.max() - data.min())
    prisms = prisms_of_field(FIELD_SIZE[2] * data)
    text = [" ".join(map(repr, corners.ravel().tolist())) for corners in prisms]
    pose = 'pos=".1 .2 .3" euler="20 30 40"'
    m = cardan.MjModel.from_xml_string(f"""
        <mujoco><asset><mesh name="wedge" vertex="0 0 0 .2 0 0 0 .2 0 0 0 .1"/>
        <hfield name="h" nrow="{ROWS}" ncol="{COLUMNS}" size="{" ".join(map(str, FIELD_SIZE))}"/>
        {"".join(f'<mesh name="p{i}" vertex="{corners}"/>' for i, corners in enumerate(text))}</asset>
        <worldbody><body {pose}><geom type="hfield" hfield="h"/>
        {"".join(f'<geom type="mesh" mesh="p{i}"/>' for i in range(len(text)))}</body>
        <body><freejoint/><geom {CONVEX[kind]}/></body></worldbody></mujoco>""")
    m.hfield_data[:] = data.ravel()
    d = cardan.MjData(m)
    geom, overlapping = m.ngeom - 1, 0
    for _ in range(POSES):
        d.qpos[:3], d.qpos[3:] = np.array([0.1, 0.2, 0.3]) + rng.uniform(-0.6, 0.6, 3), rng.standard_normal(4)
        cardan.mj_kinematics(m, d)
        distances = [cardan.mj_geomDistance(m, d, prism, geom, 2.0, None) for prism in range(1, geom)]
        ends, swapped = np.zeros(6), np.zeros(6)
        dist = cardan.mj_geomDistance(m, d, 0, geom, 2.0, ends)
        assert dist == pytest.approx(min(distances), abs=1e-6)
        assert np.linalg.norm(ends[3:] - ends[:3]) == pytest.approx(abs(dist), abs=1e-9)
        assert cardan.mj_geomDistance(m, d, geom, 0, 2.0, swapped) == dist
        np.testing.assert_array_equal(np.roll(swapped, 3), ends)
        overlapping += dist < 0
        if dist > 0:
            assert cardan.mj_geomDistance(m, d, 0, geom, 0.5 * dist, ends) == 0.5 * dist
            assert not ends.any()
    assert 0 < overlapping < POSES or not jit_enabled


def test_pairs_without_a_convex_geom_have_no_distance():
    m = cardan.MjModel.from_xml_string("""
        <mujoco><asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/></asset><worldbody>
        <geom type="hfield" hfield="h"/><geom type="hfield" hfield="h"/><geom type="plane" size="1 1 1"/>
        </worldbody></mujoco>""")
    d = cardan.MjData(m)
    cardan.mj_kinematics(m, d)
    assert cardan.mj_geomDistance(m, d, 0, 1, 3.0, None) == 3.0
    assert cardan.mj_geomDistance(m, d, 0, 2, 3.0, None) == 3.0
