"""Vertices and faces from separate triangles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import float32

from cardan.formats.raw import Floats, Indices
from cardan.jit import Field, Struct, StructMemory, exact
from cardan.jit.driver.direct import call, native_over

CORNERS = Struct(
    "Corners",
    [
        Field("place", "f4", ("any", 3), "where the corners are"),
        Field("key", "f4", ("any",), "numbers by which corners are looked up"),
        Field("bits", "i4", ("any",), "the same as integers"),
        Field("face", "i4", ("any",), "vertex of each corner"),
        Field("first", "i4", ("any",), "first corner at each vertex"),
        Field("table", "i4", ("any",), "vertices by their numbers' hashes, -1 for none; a power of two of them"),
    ],
    readonly=False,
)

_MULTIPLIER = 2654435769  # 2^32 divided by the golden ratio
_WORD = 0xFFFFFFFF


def merge_vertices(corners: Floats) -> tuple[Floats, Indices]:
    """Vertices and faces of separate triangles: equal corners become one vertex, in the order of their appearance.

    As in the reference, a corner is looked up by the single-precision number x + y / 100 + z / 10000, under which only
    the last vertex is remembered: a vertex comes back as a new one when another with the same number stood in between.

    Args:
        corners: (3 nface, 3) float32, finite.
    """
    memory, count = StructMemory(CORNERS, {}), len(corners)
    key = np.empty(count, np.float32)
    face, first = np.empty((2, count), np.int32)
    memory.attach("place", corners)
    memory.attach("key", key)
    call(find_keys, memory, memory)
    memory.attach("bits", key.view(np.int32))
    memory.attach("face", face)
    memory.attach("first", first)
    memory.attach("table", np.full(1 << (2 * count).bit_length(), -1, np.int32))
    number = call(merge_corners, memory, memory)
    return corners[first[:number]], face.reshape(-1, 3)


@native_over("Corners", "Corners")
@exact
def find_keys(c: Any, _same: Any, _unused: int, _neither: int) -> int:
    """The numbers by which corners are looked up; none is -0, which has other bits than 0."""
    for i in range(len(c.place)):
        c.key[i] = float32(c.place[i, 0] + 1e-2 * c.place[i, 1] + 1e-4 * c.place[i, 2]) + 0.0
    return 0


@native_over("Corners", "Corners")
def merge_corners(c: Any, _same: Any, _unused: int, _neither: int) -> int:
    """Look all corners up in a table of hashes (open addressing); returns the number of vertices.

    (D. Knuth, The Art of Computer Programming 3, section 6.4.)
    """
    mask = len(c.table) - 1
    count = 0
    for i in range(len(c.face)):
        at = (((c.bits[i] & _WORD) * _MULTIPLIER & _WORD) * len(c.table)) >> 32
        while c.table[at] >= 0 and c.bits[c.first[c.table[at]]] != c.bits[i]:
            at = (at + 1) & mask
        vertex = c.table[at]
        if vertex >= 0:
            other = c.first[vertex]
            same = c.place[other, 0] == c.place[i, 0] and c.place[other, 1] == c.place[i, 1]
            if not (same and c.place[other, 2] == c.place[i, 2]):
                vertex = -1
        if vertex < 0:
            vertex = count
            c.first[vertex] = i
            c.table[at] = vertex
            count += 1
        c.face[i] = vertex
    return count
