"""Skins: broken and absurd data are refused, with the place and the reason."""

from __future__ import annotations

import struct

import asset_files as made
import pytest

from cardan.api.loading import load_string
from cardan.errors import MjcfError

TRIANGLE = [0, 0, 0, 1, 0, 0, 0, 1, 0]
BONE = ("b", [0, 0, 0], [1, 0, 0, 0], [0, 1, 2], [1, 2, 3])
GOOD = made.skin(TRIANGLE, [], [0, 1, 2], [BONE])
BROKEN = [
    (GOOD[:10], "too early"),
    (GOOD[:60], "too early"),
    (GOOD[:-3], "too early"),
    (GOOD + b"abcd", "bytes"),
    (struct.pack("<4i", -1, 0, 1, 1) + GOOD[16:], "negative"),
    (struct.pack("<4i", 2**30, 0, 1, 1) + GOOD[16:], "too early"),
    (made.skin(TRIANGLE, [], [0, 1, 2], []), "needs vertices, faces and bones"),
    (made.skin(TRIANGLE, [], [0, 1, 7], [BONE]), "vertices are 0 to 2"),
    (made.skin(TRIANGLE, [0, 0], [0, 1, 2], [BONE]), "texture coordinates"),
    (made.skin(TRIANGLE, [], [0, 1, 2], [("nobody", *BONE[1:])]), "no body named 'nobody'"),
    (made.skin(TRIANGLE, [], [0, 1, 2], [(*BONE[:3], [0, 1], [1, 1])]), "total weight"),
]


@pytest.mark.parametrize(("content", "word"), BROKEN)
def test_broken_file(content: bytes, word: str) -> None:
    xml = '<mujoco><asset><skin file="s.skn"/></asset><worldbody><body name="b"/></worldbody></mujoco>'
    with pytest.raises(MjcfError, match=word):
        load_string(xml, {"s.skn": content})


def test_other_files_are_no_skins() -> None:
    with pytest.raises(MjcfError, match="extension"):
        load_string('<mujoco><asset><skin file="s.obj"/></asset></mujoco>', {"s.obj": GOOD})
