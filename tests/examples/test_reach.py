"""The example of inverse kinematics: an arm reaches points behind pillars."""

from __future__ import annotations

import runpy
from pathlib import Path

import cardan
from cardan import ik

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_arm_reaches_around_the_pillars() -> None:
    """With distances, all targets are reached without a collision; without them, some solutions collide."""
    example = runpy.run_path(str(EXAMPLES / "reach.py"))
    m, targets = cardan.MjModel.from_xml_string(example["ARM"]), example["targets_behind_pillars"](9)
    avoid = [(example["MOVING"], example["OBSTACLES"])]
    careful = ik.solve(m, example["HAND"], targets, avoid=avoid, margin=example["MARGIN"])
    assert careful.ok.all()
    assert min(example["smallest_distance"](m, q) for q in careful.q) > 0.0099
    free = ik.solve(m, example["HAND"], targets)
    assert free.ok.all() and min(example["smallest_distance"](m, q) for q in free.q) < 0
