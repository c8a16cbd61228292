"""Contacts move with the scene, and do not depend on which geom comes first: all pairs of types."""

from __future__ import annotations

import itertools

import mujoco
import numpy as np
import pytest
from collision.harness import Pair, random_quat
from collision.shapes import ASSET, KINDS, geom

from cardan.jit.front.stage import jit_enabled

POSES = 150 if jit_enabled else 5
PAIRS = list(itertools.combinations_with_replacement(("plane", *KINDS), 2))[1:]
FLAT = [("cylinder", "box"), ("cylinder", "mesh"), ("box", "mesh"), ("mesh", "mesh")]
"""Pairs whose portal ends on two flat faces now and then; depth and normal depend on the last bit there."""


def scene(kind1: str, kind2: str) -> Pair:
    """Two free geoms; a plane stands on a mocap body."""
    bodies = ""
    for kind in (kind1, kind2):
        if kind == "plane":
            bodies += '<body mocap="true"><geom type="plane" size="1 1 1"/></body>'
        else:
            bodies += f"<body><freejoint/>{geom(kind)}</body>"
    return Pair(f"<mujoco>{ASSET}<worldbody>{bodies}</worldbody></mujoco>")


def random_poses(rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Positions and orientations of two geoms that touch most of the time."""
    return [(rng.normal(size=3) * 0.15, random_quat(rng)) for _ in range(2)]


def contacts(pair: Pair, poses: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Distance, position and normal of our contacts in given poses."""
    for body, (pos, quat) in enumerate(poses, start=1):
        pair.set_pose(body, pos, quat)
    pair.collide()
    contact = pair.data.contact
    return np.hstack([contact.dist[:, None], contact.pos, contact.frame[:, :3]])


def moved(poses: list, shift: np.ndarray, turn: np.ndarray) -> tuple[list, np.ndarray]:
    """Poses turned about the origin and shifted, and the matrix of the turn."""
    matrix, new = np.zeros(9), []
    mujoco.mju_quat2Mat(matrix, turn)
    for pos, quat in poses:
        turned = np.zeros(4)
        mujoco.mju_mulQuat(turned, turn, quat)
        new.append((matrix.reshape(3, 3) @ pos + shift, turned))
    return new, matrix.reshape(3, 3)


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_moving_the_scene_moves_the_contacts(kinds):
    pair = scene(*kinds)
    rng = np.random.default_rng(0)
    touching = different = 0
    for _ in range(POSES):
        poses = random_poses(rng)
        before = contacts(pair, poses)
        shift = rng.normal(size=3)
        new, matrix = moved(poses, shift, random_quat(rng))
        after = contacts(pair, new)
        assert len(before) == len(after)
        expected = np.hstack([before[:, :1], before[:, 1:4] @ matrix.T + shift, before[:, 4:] @ matrix.T])
        touching += len(before) > 0
        different += not np.allclose(after, expected, rtol=0, atol=1e-9)
    assert touching > POSES / 2
    assert different <= (0.3 * touching if kinds in FLAT else 0)


# largest difference of the depth of two equal kinds, as a share of their size: portals are not symmetric
SWAPPED = {"sphere": 1e-12, "capsule": 1e-12, "box": 1e-12, "ellipsoid": 0.01, "cylinder": 0.06, "mesh": 0.06}


@pytest.mark.parametrize("kind", KINDS)
def test_swapping_two_geoms_turns_the_normal(kind):
    pair = scene(kind, kind)
    rng = np.random.default_rng(1)
    for _ in range(POSES):
        poses = random_poses(rng)
        one, other = contacts(pair, poses), contacts(pair, poses[::-1])
        assert (len(one) > 0) == (len(other) > 0)
        if len(one):
            assert abs(one[:, 0].min() - other[:, 0].min()) <= 0.4 * SWAPPED[kind]
            if SWAPPED[kind] < 1e-9:
                np.testing.assert_allclose(one[0, 4:], -other[0, 4:], atol=1e-9)


@pytest.mark.parametrize("kinds", [kinds for kinds in PAIRS if kinds[0] != kinds[1]], ids="-".join)
def test_the_order_of_geoms_of_different_types_does_not_matter(kinds):
    pair, swapped = scene(*kinds), scene(*kinds[::-1])
    rng = np.random.default_rng(2)
    for _ in range(POSES // 5):
        poses = random_poses(rng)
        np.testing.assert_array_equal(contacts(pair, poses), contacts(swapped, poses[::-1]))
