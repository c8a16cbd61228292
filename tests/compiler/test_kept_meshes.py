"""Meshes that are kept for the next model that names the same file."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import cardan
from cardan.compiler.meshes import kept

XML = """<mujoco><asset><mesh name="m" file="m.obj" scale="{0} 1 1"/></asset>
<worldbody><body><freejoint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""
CORNERS = "v 0 0 0\nv {0} 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    kept._kept.clear()


def write(folder: Path, side: int, age: float = 100.0) -> None:
    """A mesh file, changed some seconds ago."""
    path = folder / "m.obj"
    path.write_text(CORNERS.format(side))
    at = path.stat().st_mtime - age
    os.utime(path, (at, at))


def load(folder: Path, scale: float = 1.0) -> cardan.MjModel:
    path = folder / "model.xml"
    path.write_text(XML.format(scale))
    return cardan.MjModel.from_xml_path(path)


def test_a_file_is_read_once(tmp_path: Path) -> None:
    write(tmp_path, 1)
    first, second = load(tmp_path), load(tmp_path)
    assert len(kept._kept) == 1
    assert np.array_equal(first.mesh_vert, second.mesh_vert)
    assert np.array_equal(first.mesh_graph, second.mesh_graph)


def test_another_scale_of_the_same_file(tmp_path: Path) -> None:
    write(tmp_path, 1)
    plain, mirrored, again = load(tmp_path), load(tmp_path, -2.0), load(tmp_path)
    kept._kept.clear()
    fresh = load(tmp_path, -2.0)
    assert np.array_equal(plain.mesh_vert, again.mesh_vert)
    assert np.array_equal(plain.mesh_face, again.mesh_face)
    assert np.array_equal(mirrored.mesh_vert, fresh.mesh_vert)
    assert np.array_equal(mirrored.mesh_face, fresh.mesh_face)


@pytest.mark.parametrize("age", [100.0, 0.0])
def test_a_file_that_changes_is_read_again(tmp_path: Path, age: float) -> None:
    write(tmp_path, 1, age)
    first = load(tmp_path)
    write(tmp_path, 3, age / 2)
    assert load(tmp_path).body_mass[1] == pytest.approx(3 * first.body_mass[1])


def test_a_fresh_file_is_not_kept(tmp_path: Path) -> None:
    write(tmp_path, 1, 0.0)
    load(tmp_path)
    assert not kept._kept


def test_the_oldest_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, 1)
    load(tmp_path)
    (mesh,) = kept._kept.values()
    monkeypatch.setattr(kept, "LARGEST", mesh.nbytes)
    write(tmp_path, 2)
    load(tmp_path)
    (other,) = kept._kept.values()
    assert other is not mesh


def test_what_is_kept_cannot_be_changed(tmp_path: Path) -> None:
    write(tmp_path, 1)
    load(tmp_path)
    (mesh,) = kept._kept.values()
    with pytest.raises(ValueError, match="read-only"):
        mesh.raw.vertex[0, 0] = 1.0


def test_hulls_of_few_points_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []
    search = kept.convex_hull
    monkeypatch.setattr(kept, "convex_hull", lambda points, most: found.append(len(points)) or search(points, most))
    kept._hull_of.cache_clear()
    corners = "0 0 0 1 0 0 0 1 0 0 0 1"
    text = XML.replace('file="m.obj"', f'vertex="{corners}"')
    first, mirrored = (cardan.MjModel.from_xml_string(text.format(scale)) for scale in (1.0, -1.0))
    moved = cardan.MjModel.from_xml_string(text.replace("0 0 1", "0 0 2").format(1.0))
    assert found == [4, 4]
    np.testing.assert_array_equal(first.mesh_graph, mirrored.mesh_graph)
    assert moved.geom_rbound[0] > first.geom_rbound[0]
