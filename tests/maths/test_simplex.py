"""Closest points of segments, triangles and tetrahedra to the origin, against a search of their faces."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from cardan.maths.simplex import segment_weights, tetrahedron_weights, triangle_weights

FUNCTIONS = {2: segment_weights, 3: triangle_weights, 4: tetrahedron_weights}


def closest(corners: np.ndarray) -> np.ndarray:
    """The closest point: the best of those of all faces whose affine hull has it inside the face."""
    best = corners[np.argmin((corners**2).sum(axis=1))]
    for count in range(2, len(corners) + 1):
        for which in combinations(range(len(corners)), count):
            face = corners[list(which)]
            system = np.block([[face @ face.T, np.ones((count, 1))], [np.ones((1, count)), np.zeros((1, 1))]])
            weights = np.linalg.lstsq(system, np.append(np.zeros(count), 1.0), rcond=None)[0][:count]
            point = weights @ face
            if (weights > -1e-12).all() and point @ point < best @ best:
                best = point
    return best


@pytest.mark.parametrize("count", FUNCTIONS)
def test_closest_points(count: int) -> None:
    rng = np.random.default_rng(count)
    inside = 0
    for trial in range(300):
        corners = rng.normal(size=(count, 3)) + (0.0 if trial % 2 else 1.0) * rng.normal(size=3)
        weights = np.array(FUNCTIONS[count](*map(tuple, corners.tolist()))[:count])
        assert weights.sum() == pytest.approx(1.0)
        assert weights.min() >= 0.0
        np.testing.assert_allclose(weights @ corners, closest(corners), atol=1e-9)
        inside += bool((weights > 0.0).all())
    assert inside > 5


def test_flat_tetrahedra() -> None:
    corners = [(1.0, 0.0, 1.0), (-1.0, 1.0, 1.0), (-1.0, -1.0, 1.0), (0.0, 0.5, 1.0)]
    np.testing.assert_allclose(np.array(tetrahedron_weights(*corners)) @ np.array(corners), (0, 0, 1), atol=1e-12)
