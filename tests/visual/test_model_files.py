"""Scenes of real models beside the reference's, in order with every member: each option on its own, and together.

``CARDAN_FULL_TESTS=1`` compares all models that there are; else three small ones, with the interesting settings.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from marks import takes_minutes_interpreted
from models import model_path
from visual.scenes_compared import Pair
from visual.settings import cameras, combinations, compare, single_flags

FULL = os.environ.get("CARDAN_FULL_TESTS") == "1"

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    takes_minutes_interpreted,
]


@pytest.mark.parametrize("name", ["car", "slider_crank", "cable"])
def test_scenes(name: str) -> None:
    compare_scenes(model_path(name))


@pytest.mark.skipif(not FULL, reason="all models: CARDAN_FULL_TESTS=1")
def test_scenes_of_all_models(model_file: Path) -> None:
    compare_scenes(model_file)


def compare_scenes(path: Path) -> None:
    try:
        pair = Pair(path, steps=5)
    except ValueError:
        pytest.skip("a part of a model, or one that neither engine reads")
    if pair.rm.nmesh != pair.m.nmesh:
        pytest.skip("the reference takes meshes of one name in two folders for one (docs/differences.md)")
    geoms = scenes = 0
    wrong: dict[str, list[str]] = {}
    for name, settings in (*single_flags(), *combinations(), *cameras(pair)):
        count, lines = compare(pair, settings)
        geoms, scenes = geoms + count, scenes + (count > 0)
        if lines:
            wrong[name] = lines[:3]
    print(f"{path.name}: {scenes} scenes, {geoms} geoms, {len(wrong)} differ")
    assert wrong == {}
