"""Tendons past a sphere or cylinder: lengths and points of contact, from positions set by hand."""

from __future__ import annotations

from math import acos, pi

import mujoco
import numpy as np
import pytest
from reference import model_from_reference

import cardan

RADIUS = 0.1
SCENE = """
<mujoco><worldbody>
  <geom name="obstacle" type="{}" size="{} 1" contype="0" conaffinity="0"/>
  <site name="first" pos="-1 0 0"/><site name="last" pos="1 0 0"/><site name="side" pos="{} 0 0"/>
</worldbody><tendon><spatial>
  <site site="first"/><geom geom="obstacle" {}/><site site="last"/>
</spatial></tendon></mujoco>
"""
SIDES = {"free": (0, ""), "outside": (0.3, 'sidesite="side"'), "inside": (0.03, 'sidesite="side"')}
NUMBER = 400


def ends_of(rng: np.random.Generator, grazing: bool) -> np.ndarray:
    """Two points around the obstacle, in a random plane through its centre; the segment between them may graze it."""
    distance = RADIUS + (rng.uniform(0.0, 0.9, 2) if rng.random() < 0.5 else 10.0 ** rng.uniform(-4, -1, 2))
    angle = rng.uniform(0.01, pi)
    if grazing:
        height = RADIUS * (1.0 + 10.0 ** rng.uniform(-12, -2))
        distance = np.maximum(distance, 1.001 * height)
        angle = acos(height / distance[0]) + acos(height / distance[1])
    turned = np.array([0.0, rng.choice([-1, 1]) * angle]) + rng.uniform(-pi, pi)
    return distance[:, None] * np.stack([np.cos(turned), np.sin(turned), 0.0 * turned], axis=1)


@pytest.mark.parametrize("kind", ["sphere", "cylinder"])
@pytest.mark.parametrize(("side", "grazing"), [*((side, False) for side in SIDES), ("inside", True)])
def test_paths(kind: str, side: str, grazing: bool) -> None:
    """Paths that touch in one point end where the reference's search ends, or fails."""
    place, words = SIDES[side]
    rm = mujoco.MjModel.from_xml_string(SCENE.format(kind, RADIUS, place, words))
    m = model_from_reference(rm)
    rd, d = mujoco.MjData(rm), cardan.MjData(m)
    mujoco.mj_forward(rm, rd)
    cardan.mj_forward(m, d)
    rng = np.random.default_rng(1)
    touched = 0
    for _ in range(NUMBER):
        ends = ends_of(rng, grazing)
        if kind == "sphere":
            ends = ends @ np.linalg.qr(rng.standard_normal((3, 3)))[0]
        else:
            ends[:, 2] = rng.uniform(-0.3, 0.3, 2)
        rd.site_xpos[:2] = d.site_xpos[:2] = ends
        mujoco.mj_tendon(rm, rd)
        cardan.mj_tendon(m, d)
        assert d.ten_wrapnum[0] == rd.ten_wrapnum[0]
        assert d.ten_length[0] == pytest.approx(rd.ten_length[0], abs=1e-10)
        count = int(rd.ten_wrapnum[0])
        points = np.reshape(rd.wrap_xpos, (-1, 3))[:count]
        np.testing.assert_allclose(np.reshape(d.wrap_xpos, (-1, 3))[:count], points, rtol=0, atol=1e-9)
        touched += count == 4
    assert touched > NUMBER // 5
