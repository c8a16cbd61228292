"""GMSH files: what is read from each format, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from gmsh_files import BIG, LITTLE, TEXT, TYPES, gmsh_2, gmsh_4

from cardan.api.loading import load_string
from cardan.errors import MjcfError
from cardan.formats.gmsh import read_gmsh
from cardan.formats.raw import MeshDataError

POINTS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1.5)]
ROWS = {2: [(1, 2), (2, 5)], 3: [(1, 2, 3), (2, 3, 5)], 4: [(1, 2, 3, 4), (5, 2, 3, 4)]}
WRITERS = {"2.2": gmsh_2, "4.1": gmsh_4}


@pytest.mark.parametrize("corners", [2, 3, 4])
@pytest.mark.parametrize("order", [TEXT, LITTLE, BIG])
@pytest.mark.parametrize("version", WRITERS)
def test_formats(version: str, order: str, corners: int) -> None:
    point, elem = read_gmsh(WRITERS[version](POINTS, [(TYPES[corners], ROWS[corners])], order))
    assert np.array_equal(point, POINTS)
    assert np.array_equal(elem, np.array(ROWS[corners]) - 1)


@pytest.mark.parametrize("order", [TEXT, LITTLE])
@pytest.mark.parametrize("version", WRITERS)
def test_the_highest_dimension_counts(version: str, order: str) -> None:
    blocks = [(15, [(1,)]), (1, ROWS[2]), (4, ROWS[4][:1]), (2, ROWS[3]), (4, ROWS[4][1:])]
    _, elem = read_gmsh(WRITERS[version](POINTS, blocks, order))
    assert np.array_equal(elem, np.array(ROWS[4]) - 1)


def test_nodes_may_have_any_numbers() -> None:
    text = gmsh_2(POINTS, [(2, [(1, 2, 5)])]).replace(b"\n5 1.0", b"\n77 1.0")
    assert read_gmsh(text.replace(b"2 2 0 0 1 2 5", b"2 2 0 0 1 2 77"))[1].tolist() == [[0, 1, 4]]


GOOD = gmsh_4(POINTS, [(4, ROWS[4])])
OLD = gmsh_2(POINTS, [(4, ROWS[4])])
BINARY = gmsh_4(POINTS, [(4, ROWS[4])], LITTLE)
OLD_BINARY = gmsh_2(POINTS, [(4, ROWS[4])], LITTLE)
BROKEN = [
    (b"v 0 0 0", "must begin with [$]MeshFormat"),
    (GOOD.replace(b"4.1 0 8", b"3.0 0 8"), "version 3.0 of the GMSH format is not known"),
    (GOOD.replace(b"4.1 0 8", b"4.1 0 4"), "version, 0 or 1"),
    (GOOD.replace(b"4.1 0 8", b"4.1"), "version, 0 or 1"),
    (GOOD.replace(b"$Nodes", b"$Knots"), "no section [$]Nodes"),
    (GOOD.replace(b"$EndElements", b""), "no [$]EndElements"),
    (GOOD.replace(b"\n1.0 0.0 0.0", b"\n1.0 0.0 x"), "[$]Nodes of the GMSH file: could not convert"),
    (GOOD.replace(b"\n1.0 0.0 0.0", b"\n1.0 0.0"), "[$]Nodes of the GMSH file ends too early"),
    (GOOD.replace(b"1 5 1 5", b"1 6 1 6"), "6 nodes are announced, 5 found"),
    (GOOD.replace(b"3 1 4 2", b"3 1 nan 2"), "expected an integer, found nan"),
    (GOOD.replace(b"3 1 4 2", b"3 1 4.5 2"), "expected an integer, found 4.5"),
    (GOOD.replace(b"3 1 0 5", b"3 1 0 -5"), "impossible count -5"),
    (GOOD.replace(b"3 1 4 2", b"3 1 3 2"), "elements of the type 3 are not supported"),
    (GOOD.replace(b"2 5 2 3 4", b"2 9 2 3 4"), "refers to node 9"),
    (gmsh_4(POINTS, [(15, [(1,)])]), "no segments, triangles or tetrahedra"),
    (gmsh_4([], []), "no nodes"),
    (BINARY.replace(b"\1\0\0\0", b"\2\0\0\0", 1), "byte order"),
    (BINARY[:150] + BINARY[150 + 40 :], "too early|impossible|announced|not supported"),
    (OLD.replace(b"\n2 1.0", b"\n1 1.0"), "the same number"),
    (OLD.replace(b"1 4 2 0 0 1 2 3 4", b"1 4 9 0 0 1 2 3 4"), "too early|not supported"),
    (OLD.replace(b"$Elements\n2", b"$Elements\n3"), "too early"),
    (OLD_BINARY.replace(b"$Nodes\n5", b"$Nodes\n9"), "too early"),
    (OLD_BINARY.replace(b"$Nodes\n5", b"$Nodes\nx"), "must begin with a count"),
    (OLD_BINARY.replace(b"$Nodes\n5", b"$Nodes\n99999999999"), "impossible count"),
    (OLD_BINARY.replace(b"$Elements\n2", b"$Elements\n5"), "too early|impossible"),
]


@pytest.mark.parametrize(("content", "words"), BROKEN)
def test_broken_file(content: bytes, words: str) -> None:
    with pytest.raises(MeshDataError, match=words):
        read_gmsh(content)


def test_errors_name_the_element() -> None:
    xml = '<mujoco><worldbody><flexcomp name="f" type="gmsh" file="m.msh"/></worldbody></mujoco>'
    with pytest.raises(MjcfError, match=r"^XML string, line 1: <flexcomp name='f'> file: the GMSH file has no section"):
        load_string(xml, {"m.msh": GOOD.replace(b"$Nodes", b"$Knots")})
    m = load_string(xml, {"m.msh": GOOD})
    assert (m.nflexelem, m.flex_dim[0], m.nbody) == (2, 3, 6)


@pytest.mark.parametrize("start", [GOOD, OLD, BINARY, OLD_BINARY])
def test_damaged_files_give_errors_of_their_own(start: bytes) -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        damaged = bytearray(start)
        for place in rng.integers(0, len(start), 3):
            damaged[place] = rng.integers(0, 256)
        end = rng.integers(1, len(start) + 1) if rng.random() < 0.3 else None
        try:
            point, elem = read_gmsh(bytes(damaged[:end]))
        except MeshDataError:
            continue
        assert 0 <= elem.min() <= elem.max() < len(point)
