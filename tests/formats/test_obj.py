"""OBJ files: the kernel reads what the careful way reads, or leaves the file to it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardan.formats import obj
from cardan.formats.obj import read_obj, scan_obj
from cardan.formats.raw import MeshDataError, RawMesh

TABLES = ("vertex", "face", "normal", "texcoord", "face_normal", "face_texcoord")
PLAIN = b"# a comment\n\nv 0 0 0\nv 1 0 0 1\nv 0 1 0 # end\n v\t0 0 1e-3\nvn 0 0 1\nvt .5 -2.\nf 1/1/1 2/1/1 3/1/1\n"

numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-10, 10).map(lambda value: f"{value:.6f}"),
    st.floats(-10, 10, width=32).map(repr),
    st.integers(-(2**40), 2**40).map(str),
    st.sampled_from(
        ["1.", ".5", "-0", "+3", "1e5", "1E-300", "12345678901234567890123", "16777217", "x", "1e", "-", "."]
    ),
)
corners = st.sampled_from(
    ["1", "2", "3", "-1", "1/1", "2//1", "3/1/1", "-2/-1/-1", "1/", "0", "9", "1/2/3/4", "+1", "2.0"]
)
lines = st.one_of(
    st.lists(numbers, min_size=2, max_size=4).map(lambda words: "v " + " ".join(words)),
    st.lists(numbers, min_size=2, max_size=3).map(lambda words: "vn  " + " ".join(words)),
    st.lists(numbers, min_size=1, max_size=3).map(lambda words: "vt\t" + " ".join(words)),
    st.lists(corners, min_size=2, max_size=5).map(lambda words: "f " + " ".join(words)),
    st.sampled_from(["", "# v 1 2 3", "g part", "o next", "l 1 2", "p", "usemtl x", "vp 1 2", "f", "\\", "s off"]),
)


def outcome(content: bytes) -> RawMesh | str:
    """What is read, or what is wrong."""
    try:
        return read_obj(content)
    except MeshDataError as error:
        return str(error)


def assert_same(found: RawMesh | str, expected: RawMesh | str) -> None:
    """Tables and remarks are equal, or the errors are."""
    if isinstance(found, str) or isinstance(expected, str):
        assert found == expected
        return
    assert found.remarks == expected.remarks
    for name in TABLES:
        one, other = getattr(found, name), getattr(expected, name)
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype


@settings(deadline=None)
@given(text=st.lists(lines, max_size=12).map("\n".join))
def test_both_ways_read_the_same(text: str) -> None:
    content = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\n" + text.encode()
    found = outcome(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(obj, "scan_obj", lambda text: None)
        expected = outcome(content)
    assert_same(found, expected)


def test_plain_files_are_left_to_the_kernel() -> None:
    found = scan_obj(PLAIN)
    assert found is not None
    np.testing.assert_array_equal(found.vertex, np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1e-3]]))
    np.testing.assert_array_equal(found.texcoord, np.float32([[0.5, -2.0]]))
    np.testing.assert_array_equal(found.corner, [[1, 1, 1], [2, 1, 1], [3, 1, 1]])


@pytest.mark.parametrize("number", ["16777217", "1.000000059604644775390625", "0.1000000014901161193847656250001e0"])
def test_numbers_between_two_of_single_precision_are_left_to_python(number: str, tmp_path: Path) -> None:
    """A number halfway between two of single precision is rounded as the one of double precision is."""
    content = f"v {number} 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n".encode()
    assert read_obj(content).vertex[0, 0] == np.float32(float(number))


def test_faces_of_later_shapes_are_dropped_with_a_remark() -> None:
    found = read_obj(PLAIN + b"g other\nf 1 2 4\nv 5 5 5\n")
    assert len(found.face) == 1
    assert len(found.vertex) == 5
    assert found.remarks == ("only the first shape of the OBJ file is read: 1 faces of other shapes are dropped",)


def test_an_empty_line_does_not_hide_an_indented_one() -> None:
    lines = scan_obj(b"\n  v 0 0 0\n  v 1 0 0\n\n\tv 0 1 0\n")
    assert lines is not None and len(lines.vertex) == 3
