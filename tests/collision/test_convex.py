"""Convex collisions without a reference: known answers, symmetry, invariance, degenerate shapes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from collision.harness import Pair, random_quat
from collision.shapes import KINDS, extents, place_randomly, two_geoms

from cardan.enums.codes import ENBL_NATIVECCD
from cardan.jit.front.stage import jit_enabled

ALL_PAIRS = [
    pair
    for pair in itertools.combinations_with_replacement(KINDS, 2)
    if pair[1] in ("ellipsoid", "mesh") or pair in (("capsule", "cylinder"), ("cylinder", "cylinder"))
]
POSES = 60 if jit_enabled else 5


def contacts_of(pair: Pair) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distances, positions and normals of our contacts."""
    contact = pair.data.contact
    return contact.dist.copy(), contact.pos.copy(), contact.frame[:, :3].copy()


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("gap", [-0.05, -1e-3, 1e-3, 0.04])
def test_upright_ellipsoids(gap, exact):
    pair = Pair(two_geoms("ellipsoid", "ellipsoid", 'margin="0.05"'))
    pair.model.opt.enableflags |= ENBL_NATIVECCD if exact else 0
    pair.refresh_colliders()
    pair.set_pose(1, [0, 0, 0], [1, 0, 0, 0])
    pair.set_pose(2, [0, 0, 0.8 + gap], [1, 0, 0, 0])
    pair.collide()
    dist, pos, normal = contacts_of(pair)
    np.testing.assert_allclose(dist, [gap], atol=2e-6)
    np.testing.assert_allclose(pos, [[0, 0, 0.4 + gap / 2]], atol=1e-5)
    np.testing.assert_allclose(normal, [[0, 0, 1]], atol=1e-3 if exact else 1e-5)


def test_beyond_margin_there_is_no_contact():
    pair = Pair(two_geoms("ellipsoid", "ellipsoid", 'margin="0.05"'))
    pair.set_pose(2, [0, 0, 0.8501], [1, 0, 0, 0])
    pair.collide()
    assert pair.data.ncon == 0


@pytest.mark.parametrize("kinds", ALL_PAIRS, ids="-".join)
def test_penetration_is_never_missed(kinds):
    pair = Pair(two_geoms(*kinds))
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(3000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    for _ in range(POSES):
        place_randomly(pair, rng, 0.3)
        pair.collide()
        if pair.data.ncon == 0:
            separation = -(extents(pair, 0, kinds[0], directions) + extents(pair, 1, kinds[1], -directions))
            assert separation.max() > -0.02


@pytest.mark.parametrize("kind", ["ellipsoid", "cylinder", "mesh"])
def test_symmetry(kind):
    pair = Pair(two_geoms(kind, kind, 'margin="0.1"'))
    rng = np.random.default_rng(0)
    for _ in range(POSES):
        poses = [(rng.normal(size=3) * 0.22, random_quat(rng)) for _ in range(2)]
        results = []
        for order in ((0, 1), (1, 0)):
            for body in (1, 2):
                pair.set_pose(body, *poses[order[body - 1]])
            pair.collide()
            results.append(contacts_of(pair))
        assert len(results[0][0]) == len(results[1][0])
        np.testing.assert_allclose(results[0][0], results[1][0], atol=5e-2)


@pytest.mark.parametrize("kinds", [("capsule", "mesh"), ("ellipsoid", "cylinder"), ("mesh", "mesh")], ids="-".join)
def test_moving_the_scene_moves_the_contacts(kinds):
    import mujoco

    pair = Pair(two_geoms(*kinds, 'margin="0.1"'))
    rng = np.random.default_rng(0)
    for _ in range(POSES):
        poses = [(rng.normal(size=3) * 0.22, random_quat(rng)) for _ in range(2)]
        for body in (1, 2):
            pair.set_pose(body, *poses[body - 1])
        pair.collide()
        dist, pos, normal = contacts_of(pair)
        shift, turn = rng.normal(size=3), random_quat(rng)
        for body in (1, 2):
            quat, moved = np.zeros(4), np.zeros(3)
            mujoco.mju_mulQuat(quat, turn, poses[body - 1][1])
            mujoco.mju_rotVecQuat(moved, poses[body - 1][0], turn)
            pair.set_pose(body, moved + shift, quat)
        pair.collide()
        rotation = np.zeros(9)
        mujoco.mju_quat2Mat(rotation, turn)
        np.testing.assert_allclose(pair.data.contact.dist, dist, atol=1e-6)
        np.testing.assert_allclose(pair.data.contact.pos, pos @ rotation.reshape(3, 3).T + shift, atol=1e-5)
        np.testing.assert_allclose(pair.data.contact.frame[:, :3], normal @ rotation.reshape(3, 3).T, atol=1e-4)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("kinds", ALL_PAIRS, ids="-".join)
def test_degenerate_input_gives_finite_contacts(kinds, exact):
    pair = Pair(two_geoms(*kinds, 'margin="0.01"'))
    pair.model.opt.enableflags |= ENBL_NATIVECCD if exact else 0
    pair.refresh_colliders()
    size = pair.model.geom_size.copy()
    for scale in (1.0, 1e-6, 1e6, 0.0):
        pair.model.geom_size[0] = size[0] * scale
        for offset in ([0, 0, 0], [1e-12, 0, 0], [0, 0, 0.3], [0.3, 0.2, 0.0]):
            for body, pos in ((1, [0, 0, 0]), (2, offset)):
                pair.set_pose(body, pos, [1, 0, 0, 0])
            pair.collide()
            assert np.isfinite(pair.data.contact.dist).all()
            assert np.isfinite(pair.data.contact.pos).all()
            assert np.isfinite(pair.data.contact.frame).all()
