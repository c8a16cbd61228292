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
        Field("place", "f4", ("any", 3), "positions of the corners"),
        Field("key", "f4", ("any",), "keys of the corners"),
        Field("bits", "i4", ("any",), "the keys' bits as integers"),
        Field("face", "i4", ("any",), "vertex of each corner"),
        Field("first", "i4", ("any",), "first corner at each vertex"),
        Field("table", "i4", ("any",), "hash table of vertices, -1 for none; its length is a power of two"),
    ],
    readonly=False,
)

_MULTIPLIER = 2654435769  # 2^32 divided by the golden ratio
_WORD = 0xFFFFFFFF


def merge_vertices(corners: Floats) -> tuple[Floats, Indices]:
    """Merge equal corners of separate triangles into vertices, in order of appearance; return vertices and faces.

    As in the reference, the key of a corner is the single-precision number x + y / 100 + z / 10000. Only the last
    vertex of each key is stored: if another vertex with the same key came in between, a corner becomes a new vertex.

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
    """Compute the keys of the corners; none is -0, whose bits differ from those of 0."""
    for i in range(len(c.place)):
        c.key[i] = float32(c.place[i, 0] + 1e-2 * c.place[i, 1] + 1e-4 * c.place[i, 2]) + 0.0
    return 0


@native_over("Corners", "Corners")
def merge_corners(c: Any, _same: Any, _unused: int, _neither: int) -> int:
    """Look up all corners in a hash table with open addressing; return the number of vertices.

    Source: D. Knuth, The Art of Computer Programming 3, section 6.4.
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
