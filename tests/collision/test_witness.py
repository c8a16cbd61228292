"""Contacts checked by sampling both shapes: half the distance to either side of a contact, there are their surfaces.

The gap between two convex shapes is also the largest one between parallel planes that touch them, over all directions.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from collision.harness import Pair, random_quat
from collision.shapes import KINDS, extents, two_geoms

from cardan.enums.codes import ENBL_NATIVECCD
from cardan.jit.front.stage import jit_enabled

POSES = 120 if jit_enabled else 5
LEAST = 4 if jit_enabled else 0
MARGIN = 0.1
ROUND = ("sphere", "capsule")
EXACT = [*itertools.combinations_with_replacement(ROUND, 2), ("sphere", "cylinder"), ("sphere", "box")]
PAIRS = [pair for pair in itertools.combinations_with_replacement(KINDS, 2) if pair != ("box", "box")]
"""All pairs but two boxes, whose contacts are those of the reference: corners of an overlap."""
_rng = np.random.default_rng(3)
_sample = _rng.normal(size=(2000, 3))
DIRECTIONS = _sample / np.linalg.norm(_sample, axis=1)[:, None]
NEAR = np.vstack([_rng.normal(size=(300, 3)) * spread for spread in (0.3, 0.03, 0.003)])


def directions_near(normal: np.ndarray) -> np.ndarray:
    """Unit vectors all around, and many close to a direction."""
    near = normal + NEAR
    return np.vstack([DIRECTIONS, near / np.linalg.norm(near, axis=1)[:, None], normal[None]])


def height_above(pair: Pair, id: int, kind: str, point: np.ndarray, normal: np.ndarray) -> float:
    """Signed distance of a point to a convex geom, by sampling directions: 0 on its surface."""
    u = directions_near(normal)
    return float((u @ point - extents(pair, id, kind, u)).max())


def gap(pair: Pair, kinds: tuple[str, str], normal: np.ndarray) -> float:
    """Largest gap between two convex geoms, over sampled directions (negative: least overlap)."""
    u = directions_near(normal)
    return float((-extents(pair, 1, kinds[1], -u) - extents(pair, 0, kinds[0], u)).max())


def check(pair: Pair, kinds: tuple[str, str], tolerance: float, apart: bool) -> int:
    """Sample both geoms around the contact with the least distance; returns 1 if there was one to check."""
    contact = pair.data.contact
    if pair.data.ncon == 0 or (apart and contact.dist.min() < 0):
        return 0
    k = int(contact.dist.argmin())
    normal, half = contact.frame[k, :3], 0.5 * contact.dist[k]
    assert abs(height_above(pair, 0, kinds[0], contact.pos[k] - half * normal, normal)) < tolerance
    assert abs(height_above(pair, 1, kinds[1], contact.pos[k] + half * normal, -normal)) < tolerance
    if contact.dist[k] > 0:
        assert gap(pair, kinds, normal) == pytest.approx(contact.dist[k], abs=tolerance)
    return 1


def place(pair: Pair, rng: np.random.Generator, spread: float) -> None:
    """Random poses of both bodies."""
    for body in (1, 2):
        pair.set_pose(body, rng.normal(size=3) * spread, random_quat(rng))
    pair.collide()


@pytest.mark.parametrize("kinds", EXACT, ids="-".join)
def test_closed_forms(kinds):
    pair = Pair(two_geoms(*kinds, f'margin="{MARGIN}"'))
    rng = np.random.default_rng(4)
    checked = 0
    for _ in range(POSES):
        place(pair, rng, 0.25)
        checked += check(pair, kinds, 1e-9, apart=kinds[1] == "box")
    assert checked >= LEAST


@pytest.mark.parametrize("kinds", [("capsule", "box")], ids="-".join)
def test_nearest_contact_of_capsules_and_boxes(kinds):
    pair = Pair(two_geoms(*kinds, f'margin="{MARGIN}"'))
    rng = np.random.default_rng(5)
    checked = 0
    for _ in range(4 * POSES):
        place(pair, rng, 0.35)
        checked += check(pair, kinds, 1e-9, apart=True)
    assert checked >= LEAST


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_exact_convex_collisions(kinds):
    pair = Pair(two_geoms(*kinds, f'margin="{MARGIN}"'))
    pair.model.opt.enableflags |= ENBL_NATIVECCD
    pair.refresh_colliders()
    rng = np.random.default_rng(6)
    checked = 0
    for _ in range(2 * POSES):
        place(pair, rng, 0.3)
        checked += check(pair, kinds, 1e-3, apart=True)
    assert checked >= LEAST
