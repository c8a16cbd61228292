"""Small pieces of user code give the same values, or the same kind of error, on both engines."""

from pathlib import Path

import mujoco
import pytest
from dropin.side_by_side import outcome

import cardan

PIECES = (Path(__file__).parent / "user_code.txt").read_text().split("\n---\n")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("code", PIECES, ids=lambda code: code.strip().split("\n")[-1][:60])
def test_user_code(code):
    assert outcome(cardan, code) == outcome(mujoco, code)
