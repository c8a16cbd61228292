"""The parts of portal refinement on their own: the portal stays around the ray, closest points, midpoints, phases."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from collision.harness import Pair, random_quat
from collision.shapes import two_geoms

from cardan.collision import mpr

SAMPLES = 200
CORNERS = slice(0, 3)


def data_with(rows: np.ndarray) -> SimpleNamespace:
    """What the kernels read of the data: five vertices, and the points of both shapes that they are differences of."""
    offset = np.array([0.3, -0.2, 0.1])
    return SimpleNamespace(
        work=SimpleNamespace(simplex=rows, simplex1=rows + offset, simplex2=np.zeros((5, 3)) + offset)
    )


def line_passes(rows: np.ndarray, portal: tuple[int, ...]) -> bool:
    """Whether the line through row 0 and the origin meets the triangle of a portal."""
    a, b, c = rows[list(portal[CORNERS])]
    weights = np.linalg.solve(np.column_stack([a, b, c]), -rows[0])
    return bool((weights > 0.0).all() or (weights < 0.0).all())


def random_portal(rng: np.random.Generator) -> np.ndarray:
    """Five vertices: an interior point, a portal that its ray passes through, and one farther out."""
    while True:
        rows = rng.normal(size=(5, 3))
        rows[0] = -rng.dirichlet(np.ones(3)) @ rows[1:4] * rng.uniform(0.1, 2.0)
        normal = np.cross(rows[2] - rows[1], rows[3] - rows[1])
        normal /= np.linalg.norm(normal)
        if normal @ (rows[1] - rows[0]) < 0.0:
            rows[[1, 2]] = rows[[2, 1]]
            normal = -normal
        if normal @ (rows[4] - rows[1]) > 0.1:
            return rows


def test_a_newest_point_changes_roles_with_a_corner():
    for corner in range(3):
        portal = mpr.with_newest((1, 2, 3, 4), corner)
        assert sorted(portal) == [1, 2, 3, 4]
        assert portal[corner] == 4
        assert portal[3] == corner + 1


def test_the_ray_passes_through_an_advanced_portal():
    rng = np.random.default_rng(0)
    for _ in range(SAMPLES):
        rows = random_portal(rng)
        d = data_with(rows)
        assert line_passes(rows, mpr.FIRST_ROWS)
        passing = [corner for corner in range(3) if line_passes(rows, mpr.with_newest(mpr.FIRST_ROWS, corner))]
        assert mpr.corner_to_advance(d, mpr.FIRST_ROWS) in passing


def test_a_candidate_that_is_complete_has_the_ray_inside():
    rng = np.random.default_rng(1)
    complete = 0
    for _ in range(SAMPLES):
        rows = random_portal(rng)
        rows[[3, 4]] = rows[[4, 3]]
        if rng.random() < 0.5:
            rows[4] = rng.normal(size=3)
        d = data_with(rows)
        side = mpr.facing(d, mpr.ENCLOSE, mpr.FIRST_ROWS)
        separates = side @ rows[4] < 0.0 or side @ rows[0] > 0.0
        if not separates and mpr.corner_to_enclose(d, mpr.FIRST_ROWS) == 2:
            complete += 1
            assert line_passes(rows, mpr.with_newest(mpr.FIRST_ROWS, 2))
    assert complete > SAMPLES / 4


def test_closest_point_of_a_triangle():
    rng = np.random.default_rng(2)
    grid = rng.dirichlet(np.full(3, 0.7), size=4000)
    for _ in range(SAMPLES):
        corners = rng.normal(size=(3, 3))
        found = np.array(mpr.nearest_of_triangle(*map(tuple, corners)))
        weights = np.linalg.lstsq(np.vstack([corners.T, np.ones(3)]), np.append(found, 1.0), rcond=None)[0]
        np.testing.assert_allclose(weights @ corners, found, atol=1e-12)
        assert (weights >= -1e-12).all()
        assert np.linalg.norm(found) <= np.linalg.norm(grid @ corners, axis=1).min() + 1e-12


def test_a_triangle_without_area_has_only_sides():
    side = 0.99 * mpr.EPSILON**0.25
    a, b, c = (-side / 2, 0.0, 1.0), (side / 2, 0.0, 1.0), (0.0, side, 1.0)
    shift = np.array([0.0, -side / 3, 0.0])
    thin = mpr.nearest_of_triangle(*(tuple(np.array(p) + shift) for p in (a, b, c)))
    wide = mpr.nearest_of_triangle(*(tuple(1.1 * (np.array(p) + shift)) for p in (a, b, c)))
    assert np.hypot(thin[0], thin[1]) > 0.1 * side
    np.testing.assert_allclose(wide, (0.0, 0.0, 1.1), atol=1e-12)


@pytest.mark.parametrize("flat", [False, True])
def test_midpoint_belongs_to_the_origin(flat):
    rng = np.random.default_rng(3)
    for _ in range(SAMPLES):
        rows = rng.normal(size=(5, 3))
        weights = rng.dirichlet(np.ones(4))
        if flat:
            weights[0] = 0.0
            rows[0] = -1e-9 * rng.normal(size=3)
            rows[3] = -(weights[1] * rows[1] + weights[2] * rows[2]) / weights[3]
            rows[1:4] -= weights[1:] @ rows[1:4]
        else:
            rows[3] = -(weights[:3] @ rows[:3]) / weights[3]
        if np.cross(rows[2] - rows[1], rows[3] - rows[1]) @ (rows[1] - rows[0]) < 0.0:
            rows[[1, 2]] = rows[[2, 1]]
        d = data_with(rows)
        point = np.array(mpr.origin_between_shapes(d, mpr.FIRST_ROWS))
        np.testing.assert_allclose(point, [0.3, -0.2, 0.1], atol=1e-6)


def test_spheres_have_their_exact_depth_whatever_their_size():
    rng = np.random.default_rng(4)
    for size in (1e-3, 0.1, 1.0, 10.0):
        pair = Pair(two_geoms("sphere", "ellipsoid", f'size="{size} {size} {size}"'))
        for _ in range(10):
            offset = rng.normal(size=3)
            offset *= rng.uniform(0.2, 1.9) * size / np.linalg.norm(offset)
            pair.set_pose(1, [0, 0, 0], random_quat(rng))
            pair.set_pose(2, offset, random_quat(rng))
            pair.collide()
            np.testing.assert_allclose(pair.data.contact.dist, [np.linalg.norm(offset) - 2 * size], atol=2e-6 * size)


def test_refinement_ends_without_a_number():
    pair = Pair(two_geoms("ellipsoid", "mesh"))
    pair.collide()
    pair.model.geom_size[0] = np.nan
    pair.collide()
    assert pair.data.ncon in (0, 1)
