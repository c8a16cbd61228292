"""Searches along hulls: from wherever they start, they end where the search from the first vertex does."""

from __future__ import annotations

import numpy as np
import pytest

import cardan
from cardan.collision import hull_search
from cardan.collision.support import load_geom
from cardan.jit.mode import jit_enabled

SEARCHES = 150 if jit_enabled else 40
RADII = (0.1, 0.07, 0.05)


def points(kind: str, rng: np.random.Generator) -> np.ndarray:
    """Points of a smooth surface, of a box with many points in its faces, or at random."""
    if kind == "grid":
        side = np.linspace(-1.0, 1.0, 6)
        cube = np.stack(np.meshgrid(side, side, side), -1).reshape(-1, 3)
        return cube[(np.abs(cube) == 1.0).any(axis=1)] * RADII
    found = rng.normal(size=(200, 3))
    if kind == "smooth":
        found /= np.linalg.norm(found, axis=1)[:, None]
    return found * RADII


def mesh_model(kind: str, folds: int = 0) -> cardan.MjModel:
    """A model of one mesh; `folds` vertices of its hull are pushed inwards, so that searches can get stuck there."""
    rng = np.random.default_rng(0)
    text = " ".join(map(str, points(kind, rng).round(7).ravel()))
    m = cardan.MjModel.from_xml_string(
        f'<mujoco><asset><mesh name="m" vertex="{text}"/></asset><worldbody>'
        '<geom type="mesh" mesh="m"/></worldbody></mujoco>'
    )
    nvert = int(m.mesh_graph[0])
    for k in range(folds):
        m.mesh_vert[m.mesh_graph[2 + nvert + 7 * k + 3]] *= 0.8
    if folds:
        m.finalize()
    return m


def unit_vectors(rng: np.random.Generator) -> np.ndarray:
    """Random directions, and some along axes, in which faces and edges tie."""
    found = rng.normal(size=(SEARCHES, 3))
    found[::5] = np.sign(found[::5]) * (rng.random((len(found[::5]), 3)) < 0.5)
    found[np.abs(found).sum(axis=1) == 0.0] = [1.0, 0.0, 0.0]
    return found / np.linalg.norm(found, axis=1)[:, None]


@pytest.mark.parametrize(("kind", "folds"), [("smooth", 0), ("random", 0), ("grid", 0), ("smooth", 3), ("random", 12)])
def test_the_start_does_not_matter(kind, folds):
    m = mesh_model(kind, folds)
    d = cardan.MjData(m)
    cardan.mj_kinematics(m, d)
    load_geom(m.view, d.view, 0, 0)
    nvert = int(m.mesh_graph[0])
    vertices = m.mesh_vert[m.mesh_graph[2 + nvert : 2 + 2 * nvert]].astype(float)
    rng = np.random.default_rng(1)
    short = stuck = 0
    for direction in map(tuple, unit_vectors(rng).tolist()):
        cold, _ = hull_search.climb_hull(m.view, d.view, 0, direction, 0)
        start = int(rng.integers(1, nvert))
        d._memory.arrays["work.shape_vertex"][0] = start
        warm, lead = hull_search.climb_hull(m.view, d.view, 0, direction, start)
        assert hull_search.search_hull(m.view, d.view, 0, direction) == cold
        reach = vertices @ direction
        stuck += reach[cold] < reach.max() - 1e-9
        short += lead >= hull_search.LEAD * m.geom_rbound[0] and warm == cold
    assert short > SEARCHES / 4
    assert stuck == 0 or folds > 0


def test_searches_of_a_pair_start_where_they_ended():
    m = mesh_model("smooth")
    d = cardan.MjData(m)
    cardan.mj_kinematics(m, d)
    directions = unit_vectors(np.random.default_rng(2))[1:4]
    ends = []
    for _ in range(2):
        load_geom(m.view, d.view, 0, 0)
        hull_search.recall_pair(d.view, 0, 0)
        ends.append([hull_search.search_hull(m.view, d.view, 0, tuple(u)) for u in directions])
    kept = d._memory.arrays["work.recall_vertex"][0, :3].tolist()
    assert ends[0] == ends[1] == kept
    hull_search.recall_pair(d.view, 1, 0)
    assert not d._memory.arrays["work.recall_vertex"][0].any()


def test_more_searches_than_are_kept():
    m = mesh_model("random")
    d = cardan.MjData(m)
    cardan.mj_kinematics(m, d)
    load_geom(m.view, d.view, 0, 0)
    hull_search.recall_pair(d.view, 0, 0)
    for direction in unit_vectors(np.random.default_rng(3))[: 2 * hull_search.RECALLED]:
        cold, _ = hull_search.climb_hull(m.view, d.view, 0, tuple(direction), 0)
        assert hull_search.search_hull(m.view, d.view, 0, tuple(direction)) == cold
    kept = d._memory.arrays["work.recall_vertex"][0]
    assert not kept[hull_search.RECALLED :].any()
