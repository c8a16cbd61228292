"""Pictures against the reference's, drawn in software by OSMesa; skipped where that isn't installed.

The measures and their bars are those of `pictures_compared`. ``CARDAN_FULL_TESTS=1`` looks at all models;
which pictures fall short, and why, stands in `docs/pictures.md`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from models import model_path
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

FULL = os.environ.get("CARDAN_FULL_TESTS") == "1"

pytestmark = [
    pytest.mark.skipif(not can_draw_reference, reason="OSMesa is not installed"),
    pytest.mark.skipif(not jit_enabled, reason="takes minutes in the interpreter"),
]


@pytest.mark.parametrize("name", ["puzzle", "cards", "showroom", "touch_grid"])
def test_pictures(name: str, tmp_path: Path) -> None:
    compare_pictures(model_path(name), tmp_path)


@pytest.mark.skipif(not FULL, reason="all models: CARDAN_FULL_TESTS=1")
def test_pictures_of_all_models(model_file: Path, tmp_path: Path) -> None:
    compare_pictures(model_file, tmp_path)


def compare_pictures(path: Path, folder: Path) -> None:
    try:
        theirs = reference_pictures(path, folder / "reference.npz")
    except CannotDraw as error:
        pytest.skip(f"the reference can't draw it: {error}")
    ours = own_pictures(path)
    for camera in CAMERAS:
        row = compare(ours, theirs, camera)
        assert reaches(row), f"camera {camera}: {row}"
