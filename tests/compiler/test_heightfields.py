"""Height fields: broken and absurd data are refused, with the place and the reason."""

from __future__ import annotations

import struct

import asset_files as made
import numpy as np
import pytest

from cardan.api.loading import load_string
from cardan.errors import MjcfError

BROKEN_FILES = [
    (b"ab", "too short"),
    (made.hfield(2, 3, [1, 2]), "bytes"),
    (made.hfield(2, 2, range(5)), "bytes"),
    (made.hfield(-2, -2, range(4)), "positive"),
    (struct.pack("<ii", 2**31 - 1, 2**31 - 1), "bytes"),
]
BROKEN_TEXTS = [
    ('nrow="2" ncol="2" elevation="1 2 3"', "numbers"),
    ('nrow="2" ncol="0"', "positive nrow"),
    ('nrow="100000" ncol="100000"', "more than"),
    ('elevation="1 2"', "needs a file"),
]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_elevations_that_are_not_finite_count_as_0(value: float) -> None:
    xml = '<mujoco><asset><hfield file="h.bin" size="1 1 1 1"/></asset></mujoco>'
    with pytest.warns(UserWarning, match="finite"):
        m = load_string(xml, {"h.bin": made.hfield(2, 2, [1, value, 1, 2])})
    assert sorted(m.hfield_data.tolist()) == [0.0, 0.5, 0.5, 1.0]


@pytest.mark.parametrize(("content", "word"), BROKEN_FILES)
def test_broken_file(content: bytes, word: str) -> None:
    xml = '<mujoco><asset><hfield file="h.bin" size="1 1 1 1"/></asset></mujoco>'
    with pytest.raises(MjcfError, match=word):
        load_string(xml, {"h.bin": content})


@pytest.mark.parametrize(("attributes", "word"), BROKEN_TEXTS)
def test_broken_text(attributes: str, word: str) -> None:
    with pytest.raises(MjcfError, match=word):
        load_string(f'<mujoco><asset><hfield name="h" size="1 1 1 1" {attributes}/></asset></mujoco>')


def test_sizes_are_positive() -> None:
    with pytest.raises(MjcfError, match="positive"):
        load_string('<mujoco><asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 0"/></asset></mujoco>')
