"""The order of vertices and facets of convex hulls."""

from __future__ import annotations

import itertools

import mujoco
import numpy as np
import pytest

from cardan.compiler.meshes import hull, qhull
from cardan.formats.raw import MeshDataError

RNG = np.random.default_rng(3)
CUBE = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
PRISM = np.array([(np.cos(a), np.sin(a), z) for z in (-0.5, 0.7) for a in np.arange(6) * np.pi / 3])
FLAT = {
    "cube": CUBE * (1.0, 2.0, 3.0),
    "cut cube": np.concatenate([np.roll(CUBE * (1.0, 1.0, 0.6), k, axis=1) for k in range(3)]),
    "prism": PRISM,
    "grid": np.array(list(itertools.product((-1.0, 0.0, 1.0), (0.0, 1.0, 2.0), (0.0, 1.5)))),
    "roof": np.concatenate([CUBE, [[0.0, 0.0, 2.0], [0.5, 0.0, 2.0]]]),
}


def graph(points: np.ndarray) -> np.ndarray:
    """Graph of the hull of points."""
    return hull.convex_hull(points.astype(np.float32)).graph


def reference_graph(points: np.ndarray) -> np.ndarray:
    """The same of the reference."""
    text = " ".join(map(repr, points.astype(np.float32).astype(float).ravel().tolist()))
    world = '<worldbody><geom type="mesh" mesh="m"/></worldbody>'
    mesh = f'<asset><mesh name="m" vertex="{text}"/></asset>'
    return mujoco.MjModel.from_xml_string(f"<mujoco>{mesh}{world}</mujoco>").mesh_graph


def parts(graph: np.ndarray) -> tuple[list[int], list[set[int]], np.ndarray]:
    """Vertices in order, the neighbours of each, and the faces."""
    count, faces = graph[:2]
    adr, vertex, edge, face = np.split(graph[2:], np.cumsum([count, count, count + 3 * faces]))
    lists = [edge[start : start + np.argmax(edge[start:] < 0)] for start in adr]
    return vertex.tolist(), [set(vertex[near].tolist()) for near in lists], face


@pytest.mark.parametrize("count", [4, 5, 8, 20, 100, 400])
def test_clouds_without_flat_faces(count: int) -> None:
    """The whole graph is the reference's, with or without Qhull's library."""
    for _ in range(5):
        points = RNG.normal(size=(count, 3))
        np.testing.assert_array_equal(graph(points), reference_graph(points))


@pytest.mark.parametrize("shape", FLAT)
def test_flat_faces(shape: str) -> None:
    """The order of vertices is the reference's; so is that of neighbours if Qhull's library is there."""
    found, expected = graph(FLAT[shape]), reference_graph(FLAT[shape])
    for own, other in zip(parts(found), parts(expected), strict=True):
        np.testing.assert_array_equal(own, other)
    if qhull.library() is not None:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("shape", FLAT)
def test_without_the_library(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SciPy tells the same vertices and facets; those around a vertex stand in the order of the list."""
    monkeypatch.setattr(qhull, "library", lambda: None)
    for own, expected in zip(parts(graph(FLAT[shape])), parts(reference_graph(FLAT[shape])), strict=True):
        np.testing.assert_array_equal(own, expected)


FACETS = b"12\n" + b"3 0 1 2\n" * 12
VERTEX = b"- p%d(v%d):     0 0 0\n  neighbors: f1 f2\n"
VERTICES = b"".join(VERTEX % (k, k + 1) for k in range(8))
LISTS = b"all facets: 1 2 3 4 5 6 7 8 9 10 11 12\n  newvertex_list v-1 all vertices: 1 2 3 4 5 6 7 8\n"
FOREIGN = {
    "nothing": (b"", b"", b""),
    "no facets": (b"0\n", LISTS, VERTICES),
    "too few facets": (FACETS.replace(b"12", b"13"), LISTS, VERTICES),
    "squares": (b"12\n" + b"4 0 1 2 3\n" * 12, LISTS, VERTICES),
    "large numbers": (FACETS.replace(b"1 2\n", b"1 99999999999\n"), LISTS, VERTICES),
    "points that there are not": (FACETS.replace(b"1 2\n", b"1 9\n"), LISTS, VERTICES),
    "no lists": (FACETS, b"", VERTICES),
    "other facets around vertices": (FACETS, LISTS, VERTICES.replace(b"f2", b"f99")),
    "other vertices listed": (FACETS, LISTS.replace(b"vertices: 1", b"vertices: 77"), VERTICES),
    "vertices listed twice": (FACETS, LISTS.replace(b"vertices: 1", b"vertices: 2"), VERTICES),
    "too few vertices": (FACETS, LISTS, VERTEX % (7, 1)),
    "no vertices": (FACETS, LISTS, b"facets\n"),
    "cut off": (FACETS, LISTS, VERTICES[:-30]),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_answers_that_make_no_sense(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the library prints isn't believed if its parts don't fit together: SciPy finds the hull then."""
    by_scipy, asked = qhull._by_scipy, []
    monkeypatch.setattr(qhull, "library", lambda: True)
    monkeypatch.setattr(qhull, "_ask", lambda *_: FOREIGN[what])
    monkeypatch.setattr(qhull, "_by_scipy", lambda points, most: asked.append(points) or by_scipy(points, most))
    for own, expected in zip(parts(graph(FLAT["cube"])), parts(reference_graph(FLAT["cube"])), strict=True):
        np.testing.assert_array_equal(own, expected)
    assert len(asked) == 1


@pytest.mark.skipif(qhull.library() is None, reason="Qhull's library isn't there")
@pytest.mark.parametrize("count", [4, 30, 500])
def test_the_library_finds_the_hulls_of_scipy(count: int) -> None:
    points = RNG.normal(size=(count, 3))
    own, other = qhull._by_library(qhull.library(), points), qhull._by_scipy(points)
    assert own is not None
    np.testing.assert_array_equal(own.facet, other.facet)
    np.testing.assert_array_equal(own.inward, other.inward)
    np.testing.assert_array_equal(own.vertex, other.vertex)


@pytest.mark.skipif(qhull.library() is None, reason="Qhull's library isn't there")
def test_facets_that_are_lines() -> None:
    """Where corners don't tell the outside of a facet, its plane does."""
    points = FLAT["grid"] + RNG.normal(size=FLAT["grid"].shape) * 1e-12
    facet = qhull._by_scipy(points).facet
    _, clear = qhull._heights(points, facet)
    assert not clear
    own, other = qhull._by_library(qhull.library(), points), qhull._by_scipy(points)
    assert own is not None
    np.testing.assert_array_equal(own.facet, other.facet)
    np.testing.assert_array_equal(own.inward, other.inward)


@pytest.mark.parametrize("library", [True, False])
def test_points_in_a_plane(library: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not library:
        monkeypatch.setattr(qhull, "library", lambda: None)
    for points in (CUBE * (1.0, 1.0, 0.0), CUBE[:3], np.zeros((9, 3)), np.full((5, 3), np.nan)):
        with pytest.raises(MeshDataError, match="no convex hull"):
            qhull.facets_of(points)
