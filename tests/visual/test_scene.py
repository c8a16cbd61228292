"""Scenes beside the reference's: geoms in order with every member, lights, cameras."""

from __future__ import annotations

import pytest
from models import SHARED_MODELS
from visual.scenes_compared import Pair, differences, scene

import cardan

HUMANOID = SHARED_MODELS / "mujoco/humanoid/humanoid.xml"


@pytest.fixture(scope="module")
def humanoid() -> Pair:
    return Pair(HUMANOID, steps=50)


CAMERAS = {
    "free": {"lookat": [1, 2, 3], "distance": 4, "azimuth": 33, "elevation": -20},
    "tracking": {"type": 1, "trackbodyid": 3, "distance": 3, "lookat": [1, 1, 1]},
    "fixed": {"type": 2, "fixedcamid": 0},
    "fixed, moving": {"type": 2, "fixedcamid": 1},
}


@pytest.mark.parametrize("name", CAMERAS)
def test_cameras_and_the_headlight(humanoid: Pair, name: str) -> None:
    assert differences(*humanoid.scenes(camera=CAMERAS[name])) == []


def test_bad_cameras(humanoid: Pair) -> None:
    for camera, words in (
        ({"type": 1}, "track body id -1 is outside"),
        ({"type": 2, "fixedcamid": 99}, "fixed camera id 99 is outside"),
        ({"type": 9}, "unknown camera type 9"),
    ):
        with pytest.raises(cardan.FatalError, match=words):
            scene(cardan, humanoid.m, humanoid.d, camera=camera)
