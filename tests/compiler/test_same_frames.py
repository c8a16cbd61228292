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
    there = same(later_run(code, xml=text, fields=FIELDS))
    assert compiled(cardan.MjModel.from_xml_string(text, compat="4.0")) == there


@pytest.mark.parametrize(("x", "turn"), CASES)
def test_frames_as_in_3_1(x: float, turn: float) -> None:
    """Frames must be equal."""
    mujoco = pytest.importorskip("mujoco")
    text = BODY.format(x=x, turn=turn)
    assert compiled(cardan.MjModel.from_xml_string(text)) == compiled(mujoco.MjModel.from_xml_string(text))
