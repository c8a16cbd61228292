"""Searches along hulls: from wherever they start, they end where the search from the first vertex does."""

from __future__ import annotations

import numpy as np
import pytest

import cardan
from cardan.collision import hull_search
from cardan.collision.support import load_geom
from cardan.jit.front.stage import jit_enabled
from cardan.model.fields_work import LARGEST_SCAN, SCAN_WIDTH

SEARCHES = 150 if jit_enabled else 40
RADII = (0.1, 0.07, 0.05)
BULGE = 2e-5
"""Height of a face's middle, relative to the box: its vertices are on the hull, and almost in a plane."""
ROUGHNESS = 3e-6
"""Depth of dents, relative to the mesh: above what counts as flat, below what searches allow for."""


def points(kind: str, rng: np.random.Generator) -> np.ndarray:
    """Points of a smooth surface, of a box with many points in its faces (bulged or flat), or at random."""
    if kind in ("grid", "bulged"):
        side = np.linspace(-1.0, 1.0, 6)
        cube = np.stack(np.meshgrid(side, side, side), -1).reshape(-1, 3)
        box = cube[(np.abs(cube) == 1.0).any(axis=1)]
        if kind == "bulged":
            box = box * (1.0 + BULGE * (3.0 - (box**2).sum(axis=1)))[:, None]
        return box * RADII
    found = rng.normal(size=(200, 3))
    if kind == "smooth":
        found /= np.linalg.norm(found, axis=1)[:, None]
    return found * RADII


def mesh_model(kind: str, roughness: float = 0.0) -> cardan.MjModel:
    """A model of one mesh; some vertices are pushed inwards by a share `roughness`: searches get stuck."""
    rng = np.random.default_rng(0)
    text = " ".join(map(str, points(kind, rng).round(9).ravel()))
    m = cardan.MjModel.from_xml_string(
        f'<mujoco><asset><mesh name="m" vertex="{text}"/></asset><worldbody>'
        '<geom type="mesh" mesh="m"/></worldbody></mujoco>'
    )
    if roughness > 0.0:
        m.mesh_vert[10::40] *= 1.0 - roughness
        m.finalize()
    return m


def unit_vectors(rng: np.random.Generator) -> np.ndarray:
    """Random directions, and some along axes, or almost, in which faces and edges tie, or almost."""
    found = rng.normal(size=(SEARCHES, 3))
    found[1::5] = np.eye(3)[rng.integers(0, 3, len(found[1::5]))] + 1e-5 * found[1::5]
    found[::5] = np.sign(found[::5]) * (rng.random((len(found[::5]), 3)) < 0.5)
    found[np.abs(found).sum(axis=1) == 0.0] = [1.0, 0.0, 0.0]
    return found / np.linalg.norm(found, axis=1)[:, None]


@pytest.mark.parametrize(
    ("kind", "roughness"), [("smooth", 0), ("random", 0), ("grid", 0), ("bulged", 0), ("bulged", ROUGHNESS)]
)
def test_the_start_does_not_matter(kind, roughness):
    m = mesh_model(kind, roughness)
    d = cardan.MjData(m)
    cardan.mj_kinematics(m, d)
    load_geom(m.view, d.view, 0, 0)
    nvert = int(m.mesh_graph[0])
    assert (len(m._memory.arrays["aux.uncertain"]) > 0) == (roughness > 0)
    vertices = m.mesh_vert[m.mesh_graph[2 + nvert : 2 + 2 * nvert]].astype(float)
    rng = np.random.default_rng(1)
    short = tied = 0
    for direction in map(tuple, unit_vectors(rng).tolist()):
        cold, _ = hull_search.climb_hull(m.view, d.view, 0, direction, 0)
        start = int(rng.integers(1, nvert))
        d._memory.arrays["work.shape_vertex"][0] = start
        warm, lead = hull_search.climb_hull(m.view, d.view, 0, direction, start)
        assert hull_search.search_hull(m.view, d.view, 0, direction) == cold
        reach = vertices @ direction
        assert reach[cold] > reach.max() - 1e-9 - 2.0 * roughness * max(RADII)
        sure = hull_search.is_certain(m.view, d.view, 0, direction, warm, lead)
        assert warm == cold or not sure
        short += sure
        tied += sure and lead < hull_search.LEAD * m.geom_rbound[0]
    assert short > SEARCHES / 4
    assert tied > 0 or kind != "grid"


@pytest.mark.parametrize(
    ("kind", "roughness"), [("smooth", 0), ("random", 0), ("grid", 0), ("bulged", 0), ("bulged", ROUGHNESS)]
)
def test_scans_find_what_searches_find(kind, roughness):
    m = mesh_model(kind, roughness)
    d = cardan.MjData(m)
    cardan.mj_kinematics(m, d)
    load_geom(m.view, d.view, 0, 0)
    width = -(-int(m.mesh_graph[0]) // SCAN_WIDTH) * SCAN_WIDTH
    sure = 0
    for direction in map(tuple, unit_vectors(np.random.default_rng(4)).tolist()):
        cold, _ = hull_search.climb_hull(m.view, d.view, 0, direction, 0)
        assert hull_search.scan_hull(m.view, d.view, 0, direction) == cold
        sure += hull_search.candidate(m.view, d.view, 0, direction, width) >= 0
    assert sure > SEARCHES / 4


def test_scans_notice_scaled_meshes():
    m = mesh_model("random")
    m.mesh_vert[:] *= (2.0, 1.0, 0.5)
    d = cardan.MjData(m)
    cardan.mj_kinematics(m, d)
    load_geom(m.view, d.view, 0, 0)
    for direction in map(tuple, unit_vectors(np.random.default_rng(5))[:30].tolist()):
        cold, _ = hull_search.climb_hull(m.view, d.view, 0, direction, 0)
        assert hull_search.scan_hull(m.view, d.view, 0, direction) == cold


def test_large_hulls_are_not_scanned():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(LARGEST_SCAN + 1, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    meshes = "".join(
        f'<mesh name="m{n}" vertex="{" ".join(map(str, points[:n].ravel()))}"/>' for n in (LARGEST_SCAN + 1, 40)
    )
    m = cardan.MjModel.from_xml_string(f"<mujoco><asset>{meshes}</asset></mujoco>")
    assert m._memory.arrays["aux.hull_scan"].tolist() == [-1, 0]
    small = m._memory.arrays["aux.hull_point"].reshape(3, -1)
    assert small.shape[1] == 2 * SCAN_WIDTH
    rows = m.mesh_vertadr[1] + m.mesh_graph[m.mesh_graphadr[1] + 42 : m.mesh_graphadr[1] + 82]
    assert (small[:, :40] == m.mesh_vert[rows].T).all()


def test_directions_that_are_no_numbers():
    m = mesh_model("random")
    d = cardan.MjData(m)
    cardan.mj_kinematics(m, d)
    load_geom(m.view, d.view, 0, 0)
    nan = float("nan")
    assert hull_search.scan_hull(m.view, d.view, 0, (nan, nan, nan)) == 0


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
