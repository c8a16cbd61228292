"""The example of contacts that stick: what its hand holds."""

from __future__ import annotations

import runpy
from pathlib import Path

import cardan

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_hand_holds_the_mug() -> None:
    """With contacts that stick, the mug stays in the hand for 60 s; without, it moves by centimetres in 10 s."""
    example = runpy.run_path(str(EXAMPLES / "sticking.py"))
    m = cardan.MjModel.from_xml_path(str(EXAMPLES / "hand_with_mug.xml"))
    way, d = example["held"](m)
    assert abs(way) < 1e-7
    assert d.body("mug").xpos[2] > 0.24
    d = cardan.MjData(example["without_memory"](m))
    d.ctrl[:] = 1
    cardan.mj_step(m, d, 6000)
    assert d.body("mug").xpos[2] < 0.24
