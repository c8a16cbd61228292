"""Convex collisions against the reference: random poses of every pair of types, multiccd, plane and mesh.

On shapes with flat faces and without margin, the support point of a direction across a face is decided by the last bit
of the direction, and with it depth and normal; so the last bits must be the reference's.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from collision.harness import Pair, random_quat
from collision.shapes import ASSET, KINDS, place_randomly, two_geoms

from cardan.collision.convex import convex_convex
from cardan.collision.table import COLLIDERS
from cardan.jit.front.stage import jit_enabled

POSES = 1000 if jit_enabled else 15
TYPES = {kind: getattr(mujoco.mjtGeom, f"mjGEOM_{kind.upper()}") for kind in KINDS}
PAIRS = [
    pair
    for pair in itertools.combinations_with_replacement(KINDS, 2)
    if COLLIDERS.get((TYPES[pair[0]], TYPES[pair[1]])) is convex_convex
]
MULTICCD = '<option><flag multiccd="enable"/></option>'


def errors(pair: Pair) -> tuple[float, float, float]:
    """Largest differences of distance, position and frame."""
    ours, theirs = pair.data.contact, pair.ref_data.contact
    n = pair.data.ncon
    return (
        np.abs(ours.dist - theirs.dist[:n]).max(),
        np.abs(ours.pos - theirs.pos[:n]).max(),
        np.abs(ours.frame - theirs.frame[:n]).max(),
    )


def compare(xml: str, seed: int, poses: int, spread: float = 0.22) -> tuple[np.ndarray, int]:
    """Differences of all poses with contacts, and the number of poses where the numbers of contacts differ."""
    pair = Pair(xml)
    rng = np.random.default_rng(seed)
    found, unequal = [], 0
    for _ in range(poses):
        place_randomly(pair, rng, spread)
        pair.collide()
        if pair.data.ncon != pair.ref_data.ncon:
            unequal += 1
        elif pair.data.ncon:
            found.append(errors(pair))
    return np.array(found), unequal


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_random_poses_within_margin(kinds):
    found, unequal = compare(two_geoms(*kinds, 'margin="0.1" gap="0.03"'), 1, POSES)
    assert unequal == 0
    assert len(found) > POSES / 2
    assert (found < 1e-5).mean() >= 0.999


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_random_poses(kinds):
    found, unequal = compare(two_geoms(*kinds), 2, POSES)
    assert unequal == 0
    assert len(found) > POSES / 3
    assert (found < 1e-5).all(axis=1).mean() >= 0.99


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kinds", [("ellipsoid", "cylinder"), ("capsule", "cylinder"), ("cylinder", "cylinder")])
def test_random_sizes(kinds, seed):
    rng = np.random.default_rng(seed)
    sizes = [" ".join(map(str, rng.uniform(0.15, 0.5, size=3))) for _ in range(2)]
    found, unequal = compare(
        two_geoms(*kinds, f'size="{sizes[0]}"', attributes2=f'size="{sizes[1]}"'), seed, max(POSES // 5, 25)
    )
    assert unequal == 0
    assert (found < 1e-5).all(axis=1).mean() >= 0.98


@pytest.mark.parametrize("scale", [0.003, 0.03, 10.0])
@pytest.mark.parametrize("kinds", [pair for pair in PAIRS if "ellipsoid" in pair and "mesh" not in pair], ids="-".join)
def test_ellipsoids_of_all_sizes(kinds, scale):
    """The search for the closest point ends by an absolute step, and small triangles count as having no area."""
    sizes = [" ".join(str(scale * part) for part in size) for size in ((0.3, 0.2, 0.4), (0.5, 0.8, 0.2))]
    inertia = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
    xml = two_geoms(*kinds, f'size="{sizes[0]}" margin="{0.1 * scale}"', "", f'size="{sizes[1]}"')
    found, unequal = compare(xml.replace("<freejoint/>", "<freejoint/>" + inertia), 4, max(POSES // 10, 5), 0.3 * scale)
    assert unequal == 0
    assert (found < 1e-6 * np.array([scale, scale, 1.0])).all(axis=1).mean() >= 0.98


@pytest.mark.parametrize("iterations", range(4))
@pytest.mark.parametrize("kinds", [("ellipsoid", "cylinder"), ("mesh", "mesh"), ("capsule", "mesh")], ids="-".join)
def test_few_iterations(kinds, iterations):
    """``mpr_iterations`` limits the last phase only: no contact is lost, however few they are."""
    option = f'<option mpr_iterations="{iterations}"/>'
    found, unequal = compare(two_geoms(*kinds, "", option), 5, max(POSES // 5, 10))
    assert unequal == 0
    assert (found < 1e-9).all(axis=1).mean() >= 0.99


@pytest.mark.parametrize("offset", [0.0, 1e-17, 1e-16, 1e-15, 1e-9])
def test_centres_that_coincide(offset):
    pair = Pair(two_geoms("ellipsoid", "ellipsoid", 'size=".3 .2 .4"', "", 'size=".3 .25 .2"'))
    pair.set_pose(1, [0, offset, 0], [1, 0, 0, 0])
    pair.set_pose(2, [0, 0, 0], [1, 0, 0, 0])
    pair.check()


@pytest.mark.parametrize("ulps", [-8, -1, 0, 1, 2, 8])
@pytest.mark.parametrize("kinds", [("box", "mesh"), ("mesh", "mesh")], ids="-".join)
def test_shapes_that_just_touch(kinds, ulps):
    """Shapes overlap if they do by more than rounding."""
    cube = "-.5 -.5 -.5 .5 -.5 -.5 -.5 .5 -.5 .5 .5 -.5 -.5 -.5 .5 .5 -.5 .5 -.5 .5 .5 .5 .5 .5"
    pair = Pair(
        two_geoms(*kinds)
        .replace('size=".3 .2 .25"', 'size=".5 .5 .5"')
        .replace(ASSET, ASSET[:21] + f'vertex="{cube}"/></asset>')
    )
    for axis in range(3):
        pos = np.full(3, 0.25)
        pos[axis] = 1.0 - ulps * 2.0**-53
        pair.set_pose(1, [0, 0, 0], [1, 0, 0, 0])
        pair.set_pose(2, pos, [1, 0, 0, 0])
        pair.check(1e-12)
        assert pair.data.ncon == (1 if ulps > 1 else 0)


@pytest.mark.parametrize("margin", [0.0, 0.05])
@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_multiccd_finds_as_many_contacts(kinds, margin):
    found, unequal = compare(two_geoms(*kinds, f'margin="{margin}"', MULTICCD), 3, max(POSES // 5, 5))
    assert unequal == 0
    assert np.median(found, axis=0).max() < 1e-10
    assert (found < 1e-5).all(axis=1).mean() >= 0.98


@pytest.mark.parametrize("margin", [0.0, 0.05])
def test_plane_and_random_hulls(margin):
    rng = np.random.default_rng(0)
    poses = 60 if jit_enabled else 5
    for _ in range(10 if jit_enabled else 2):
        vertices = rng.normal(size=(rng.integers(6, 40), 3)) * rng.uniform(0.05, 0.5, size=3)
        asset = f'<asset><mesh name="m" vertex="{" ".join(map(str, vertices.ravel()))}"/></asset>'
        pair = Pair(
            f'<mujoco>{asset}<worldbody><geom type="plane" size="1 1 1" margin="{margin}"/>'
            '<body><freejoint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
        )
        for _ in range(poses):
            pair.set_pose(1, [0, 0, rng.uniform(-0.2, 0.3)], random_quat(rng))
            pair.check()


def test_mesh_without_hull():
    pair = Pair(
        f'<mujoco>{ASSET}<worldbody><geom type="plane" size="1 1 1"/><body><freejoint/>'
        '<geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
    )
    pair.ref.mesh_graphadr[:] = -1
    pair.refresh()
    rng = np.random.default_rng(0)
    for _ in range(50 if jit_enabled else 5):
        pair.set_pose(1, [0, 0, rng.uniform(-0.2, 0.2)], random_quat(rng))
        pair.check()
