"""Frames that count as the same as those of their bodies, by the rules of both versions of MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest
from later import later_run

import cardan

BODY = """<mujoco><worldbody><body pos="0 0 1"><freejoint/><inertial pos="{x} 0 0" quat="1 {turn} 0 0" mass="1"
diaginertia="1 2 3"/><geom size=".1" pos="{x} 0 0" quat="1 {turn} 0 0"/><site pos="{x} 0 0"/></body></worldbody>
</mujoco>"""
CASES = [(x, 0.0) for x in (0.0, 1e-17, 1e-9, 9e-7, 2e-6, 0.1)] + [(0.0, turn) for turn in (1e-17, 9e-7, 1e-5, 0.1)]
FIELDS = "body_sameframe", "geom_sameframe", "site_sameframe", "body_simple"
FRAME = 1
"""Value for the frame of the body; the versions number other frames in different ways."""


def same(values: dict[str, np.ndarray]) -> dict[str, list[int]]:
    """Whether frames are those of the body, and whether bodies are simple."""
    return {name: [int(k == FRAME) for k in values[name]] for name in FIELDS}


def compiled(m: object) -> dict[str, list[int]]:
    """The fields of a model."""
    return same({name: np.array(getattr(m, name), int) for name in FIELDS})


@pytest.mark.parametrize(("x", "turn"), CASES)
def test_frames_as_in_4_0(x: float, turn: float) -> None:
    """Frames whose numbers differ by less than 1e-6 are the same."""
    text = BODY.format(x=x, turn=turn)
    code = "m = mujoco.MjModel.from_xml_string(xml); out = {name: np.array(getattr(m, name), int) for name in fields}"
    there = later_run(code, xml=text, fields=FIELDS)
    m = cardan.MjModel.from_xml_string(text, compat="4.0")
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(m, name), there[name])


TURNS = """<mujoco><worldbody><geom size=".1" pos="1 2 3"/><body pos="0 0 1" quat="1 2 3 4"><freejoint/>
<inertial pos="0 .3 0" quat="1 {turn} .2 0" mass="1" diaginertia="1 2 3"/>{objects}</body>
<body pos="0 0 1"><joint/><inertial pos=".2 .3 0" quat="1 {turn} 0 0" mass="1" diaginertia="1 2 3"/></body>
</worldbody></mujoco>"""
OBJECTS = "".join(
    f'<geom size=".1" pos="{pos}" quat="{quat}"/><site pos="{pos}" quat="{quat}"/>'
    for pos in ("0 0 0", "0 .3 0", "1 2 3")
    for quat in ("1 0 0 0", "1 4e-7 0 0", "1 0 .2 0", "1 4e-7 .2 0", "1 1e-3 0 0", "-1 0 0 0")
)
POSES = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
mujoco.mj_kinematics(m, d)
out = [np.array(getattr(m, name), int) for name in fields], [np.array(getattr(d, name)) for name in poses]
"""


@pytest.mark.parametrize("turn", [0.0, 3e-7, 1e-3])
def test_orientations_as_in_4_0(turn: float) -> None:
    """Frames may share the orientation only; matrices are then those of the body or its inertia, to the last bit."""
    text = TURNS.format(turn=turn, objects=OBJECTS)
    names = ("ximat", "xipos", "geom_xmat", "site_xmat", "geom_xpos", "site_xpos")
    frames, poses = later_run(POSES, xml=text, fields=FIELDS[:3], poses=names)
    m = cardan.MjModel.from_xml_string(text, compat="4.0")
    d = cardan.MjData(m)
    cardan.mj_kinematics(m, d)
    for name, value in zip(FIELDS, frames, strict=False):
        np.testing.assert_array_equal(getattr(m, name), value)
    for name, value in zip(names, poses, strict=True):
        np.testing.assert_allclose(getattr(d, name), value, rtol=0.0, atol=1e-15)
    for site in range(m.nsite):
        place, matrix = np.zeros(3), np.zeros(9)
        cardan.mj_local2Global(d, place, matrix, m.site_pos[site], m.site_quat[site], 1, m.site_sameframe[site])
        np.testing.assert_allclose(place, d.site_xpos[site], rtol=0.0, atol=1e-15)
        np.testing.assert_allclose(matrix, d.site_xmat[site], rtol=0.0, atol=1e-15)


@pytest.mark.parametrize(("x", "turn"), CASES)
def test_frames_as_in_3_1(x: float, turn: float) -> None:
    """Frames must be equal."""
    mujoco = pytest.importorskip("mujoco")
    text = BODY.format(x=x, turn=turn)
    assert compiled(cardan.MjModel.from_xml_string(text)) == compiled(mujoco.MjModel.from_xml_string(text))
