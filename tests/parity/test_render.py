"""Pictures against the reference's, drawn in software by OSMesa; skipped where that isn't installed.

The measures and their bars are those of `pictures_compared`. ``CARDAN_FULL_TESTS=1`` looks at all shared models; which
pictures fall short, and why, stands in `docs/pictures.md`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from models import SHARED_MODELS, shared_model_files
from pictures_compared import (
    CAMERAS,
    CannotDraw,
    can_draw_reference,
    compare,
    own_pictures,
    reaches,
    reference_pictures,
)

from cardan.jit import jit_enabled

FEW = ("cube/cube_3x3x3.xml", "cards/cards.xml", "composite/scene.xml", "plugin/sensor/touch_grid.xml")
FULL = os.environ.get("CARDAN_FULL_TESTS") == "1"
FILES = shared_model_files() if FULL else tuple(SHARED_MODELS / "mujoco" / name for name in FEW)

pytestmark = [
    pytest.mark.skipif(not can_draw_reference, reason="OSMesa is not installed"),
    pytest.mark.skipif(not jit_enabled, reason="takes minutes in the interpreter"),
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: "/".join(path.parts[-2:]))
def test_pictures(path: Path, tmp_path: Path) -> None:
    if not path.exists():
        pytest.skip("the shared models are not there")
    try:
        theirs = reference_pictures(path, tmp_path / "reference.npz")
    except CannotDraw as error:
        pytest.skip(f"the reference can't draw it: {error}")
    ours = own_pictures(path)
    for camera in CAMERAS:
        row = compare(ours, theirs, camera)
        assert reaches(row), f"camera {camera}: {row}"
