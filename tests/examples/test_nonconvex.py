"""The example of meshes that are not convex: its meshes, and what happens in its scenes."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cardan
from cardan.compiler.meshes.kept import is_closed, signed_volume

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / "nonconvex.py"))


@pytest.mark.parametrize("name", ["mug", "hook", "nut", "bolt"])
def test_meshes_are_closed_and_those_of_the_files(example, name) -> None:
    points, faces = example[name]()
    assert is_closed(points, faces) and signed_volume(points[faces]) > 0
    lines = [line.split() for line in (EXAMPLES / "meshes" / f"{name}.obj").read_text().splitlines()]
    found = np.array([line[1:] for line in lines if line[0] == "v"], float)
    np.testing.assert_allclose(found, points, atol=1e-3 * np.abs(points).max())
    assert (np.array([line[1:] for line in lines if line[0] == "f"], int) == faces + 1).all()


def moved(m: cardan.MjModel, body: str, steps: int) -> np.ndarray:
    d = cardan.MjData(m)
    if m.nkey:
        cardan.mj_resetDataKeyframe(m, d, 0)
    cardan.mj_step(m, d, steps)
    return d.body(body).xpos - m.body(body).pos


def test_the_mug_falls_by_its_hull_and_hangs_by_its_surface(example) -> None:
    assert moved(example["load"]("mug_on_hook", "hull"), "mug", 400)[2] < -0.1
    assert abs(moved(example["load"]("mug_on_hook", "exact"), "mug", 400)[2]) < 0.02


def test_the_nut_follows_the_thread(example) -> None:
    assert np.linalg.norm(moved(example["load"]("nut_on_bolt", "hull"), "nut", 400)) > 0.01
    m = example["load"]("nut_on_bolt", "exact")
    m.key_ctrl[:] *= 2
    x, y, z = moved(m, "nut", 600)
    assert abs(x) + abs(y) < 0.001 and -0.009 < z < -0.004
