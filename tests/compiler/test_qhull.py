"""The order of vertices and facets of convex hulls."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest

from cardan.compiler.meshes import hull, qhull

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
    return hull.hull_graph(hull.convex_hull(points.astype(np.float32)))


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
    """The whole graph is the reference's, with or without Qhull's program."""
    for _ in range(5):
        points = RNG.normal(size=(count, 3))
        np.testing.assert_array_equal(graph(points), reference_graph(points))


@pytest.mark.parametrize("shape", FLAT)
def test_flat_faces(shape: str) -> None:
    """The order of vertices is the reference's; so is that of neighbours if Qhull's program is there."""
    found, expected = graph(FLAT[shape]), reference_graph(FLAT[shape])
    for own, other in zip(parts(found), parts(expected), strict=True):
        np.testing.assert_array_equal(own, other)
    if qhull.program() is not None:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("answer", [None, "", "- p7(v1): 0 0 0\n  neighbors: f3 f4\n- f3\n"])
@pytest.mark.parametrize("shape", FLAT)
def test_without_an_answer_of_the_program(
    shape: str, answer: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Facets stand in the order of the list when the program isn't there, or tells nothing, or about another hull."""
    other = tmp_path / "qhull"
    other.write_text(f"#!{sys.executable}\nprint({answer!r})\n")
    other.chmod(0o755)
    monkeypatch.setattr(qhull, "program", lambda: other if answer is not None else None)
    for own, expected in zip(parts(graph(FLAT[shape])), parts(reference_graph(FLAT[shape])), strict=True):
        np.testing.assert_array_equal(own, expected)
