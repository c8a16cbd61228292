"""Parity, level 1 (compile): every numeric field of the model, and every name, from the same XML, to 1e-9 relative.

Not compared: ``narena`` and ``nbuffer``, which describe memory that is laid out differently here; two colours that the
reference's binding cannot show.
"""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest
from fields_compared import differences
from models import OWN, PATHS

from cardan.api.loading import load_path

REAL = [PATHS[name] for name in ("humanoid", "crowd", "clutter")]


@pytest.mark.parametrize("path", REAL + OWN, ids=lambda path: path.stem)
def test_fields(path: Path) -> None:
    expected = mujoco.MjModel.from_xml_path(str(path))
    found = load_path(str(path))
    assert differences(expected, found) == []


def test_enough_models() -> None:
    assert len(OWN) >= 20
