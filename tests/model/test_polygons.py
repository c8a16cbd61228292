"""Polygons of convex hulls."""

from __future__ import annotations

import numpy as np
import pytest

import cardan
from cardan.model import internals


def polygons(vertices: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Normals and corners of the polygons of a mesh's hull, in the frame of the mesh."""
    points = " ".join(f"{x:.9g}" for x in np.ravel(vertices))
    m = cardan.MjModel.from_xml_string(
        f'<mujoco><asset><mesh name="m" vertex="{points}"/></asset>'
        '<worldbody><body><geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
    )
    adr, rows = internals.array(m, "aux.polygon_vertadr"), internals.array(m, "aux.polygon_vert")
    count = int(internals.array(m, "aux.polygon_adr")[1])
    around, begin = internals.array(m, "aux.around"), internals.array(m, "aux.around_adr")
    for row in range(m.nmeshvert):  # the map of vertices is the inverse of the list of corners
        owners = [k for k in range(count) if row in rows[adr[k] : adr[k + 1]]]
        assert around[begin[row] : begin[row + 1]].tolist() == owners
    corners = [np.array(m.mesh_vert[rows[adr[k] : adr[k + 1]]], float) for k in range(count)]
    return internals.array(m, "aux.polygon_normal")[:count], corners


def box(x: float, y: float, z: float) -> np.ndarray:
    return np.array([[a, b, c] for a in (-x, x) for b in (-y, y) for c in (-z, z)])


def check(normals: np.ndarray, corners: list[np.ndarray], slack: float = 1e-7) -> None:
    """Corners are in the plane, in order around the normal, and all other vertices behind it."""
    every = np.concatenate(corners)
    for normal, points in zip(normals, corners, strict=True):
        assert np.linalg.norm(normal) == pytest.approx(1.0)
        assert ((every - points[0]) @ normal).max() <= slack
        sides = np.roll(points, -1, axis=0) - points
        turns = np.cross(sides, np.roll(sides, -1, axis=0)) @ normal
        assert (turns > -slack).all()


def test_a_box_has_six_rectangles():
    normals, corners = polygons(box(0.2, 0.3, 0.4))
    assert [len(points) for points in corners] == [4] * 6
    check(normals, corners)


def test_a_prism_has_its_bases_and_sides():
    angles = np.arange(20) * np.pi / 10
    ring = 0.3 * np.column_stack([np.cos(angles), np.sin(angles)])
    normals, corners = polygons(np.vstack([np.column_stack([ring, np.full(20, z)]) for z in (-0.2, 0.2)]))
    assert sorted(len(points) for points in corners) == [4] * 20 + [20, 20]
    check(normals, corners)


def test_triangles_of_a_round_hull_are_not_merged():
    points = np.random.default_rng(1).normal(size=(60, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    normals, corners = polygons(points)
    assert len(corners) == 2 * 60 - 4
    check(normals, corners)


@pytest.mark.parametrize(("angle", "merged"), [(1e-4, True), (5e-3, False)])
def test_faces_are_merged_up_to_an_angle(angle, merged):
    height = 0.3 + 0.2 * np.tan(angle / 2)
    normals, corners = polygons(np.vstack([box(0.2, 0.2, 0.3), [[0, -0.2, height], [0, 0.2, height]]]))
    assert len(corners) == (6 if merged else 7)
    check(normals, corners, 1e-4)


def test_models_without_meshes_have_no_polygons():
    m = cardan.MjModel.from_xml_string('<mujoco><worldbody><geom size="1"/></worldbody></mujoco>')
    assert internals.array(m, "aux.polygon_adr")[0] == 0
