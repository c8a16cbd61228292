"""Mesh files: STL, OBJ and the binary MSH format (documentation of MJCF, "mesh")."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import PurePath
from typing import Any

import numpy as np

from cardan.formats.obj import read_obj
from cardan.formats.raw import LARGEST_COUNT, Floats, Indices, MeshDataError, RawMesh
from cardan.jit import Field, Struct, StructMemory
from cardan.jit.driver.program import call, native_over

CORNERS = Struct(
    "Corners",
    [
        Field("place", "f4", ("any", 3), "positions of the corners"),
        Field("bits", "i4", ("any",), "the bits of the corners' keys as integers"),
        Field("face", "i4", ("any",), "vertex of each corner"),
        Field("first", "i4", ("any",), "first corner at each vertex"),
        Field("table", "i4", ("any",), "hash table of vertices, -1 for none; its length is a power of two"),
    ],
    readonly=False,
)

_MULTIPLIER = 2654435769  # 2^32 divided by the golden ratio
_WORD = 0xFFFFFFFF


def merge_vertices(corners: Floats) -> tuple[Floats, Indices]:
    """Merge equal corners (3 nface, 3) of triangles into vertices, in order of appearance; return vertices and faces.

    As in MuJoCo 3.1, the key of a corner is the single-precision number x + y / 100 + z / 10000. Only the latest vertex
    with each key is compared: equal corners are not merged if a different corner with their key is between them.
    """
    memory, count = StructMemory(CORNERS, {}), len(corners)
    x, y, z = corners.T.astype(np.float64)
    key = (x + 1e-2 * y + 1e-4 * z).astype(np.float32) + np.float32(0.0)  # no -0, whose bits differ from those of 0
    face, first = np.empty((2, count), np.int32)
    table = np.full(1 << (2 * count).bit_length(), -1, np.int32)
    arrays = {"place": corners, "bits": key.view(np.int32), "face": face, "first": first, "table": table}
    for name, array in arrays.items():
        memory.attach(name, array)
    number = call(merge_corners, memory, memory)
    return corners[first[:number]], face.reshape(-1, 3)


def merge_all_equal(corners: Floats) -> tuple[Floats, Indices]:
    """Merge corners (3 nface, 3) with equal bits into vertices, in order of appearance; return vertices and faces.

    As in MuJoCo 4.0, -0 and 0 are different.
    """
    rows = np.ascontiguousarray(corners)
    keys = rows.view(np.dtype((np.void, rows.itemsize * 3))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    return corners[first[order]], number[inverse.ravel()].reshape(-1, 3)


@native_over("Corners", "Corners")
def merge_corners(c: Any, _same: Any, _unused: int, _neither: int) -> int:
    """Write the vertex of each corner to ``face``, and the first corner of each vertex to ``first``.

    Return the number of vertices. Vertices are found with a hash table (open addressing). Source: D. Knuth, The Art of
    Computer Programming 3, section 6.4.
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


_STL_HEADER = 80
_STL_FACE = np.dtype([("normal", "<f4", 3), ("corner", "<f4", (3, 3)), ("attribute", "<u2")])
_LARGEST_STL = 200_000  # number of faces, as in MuJoCo
_LARGEST_COORDINATE = 2.0**30
_VERTEX_LINE = re.compile(rb"^\s*vertex\s+(\S+)\s+(\S+)\s+(\S+)\s*$", re.MULTILINE | re.IGNORECASE)


def read_stl(content: bytes, is_4_0: bool = False) -> RawMesh:
    """Read an STL file, binary or text, and merge equal corners of triangles into one vertex.

    With ``is_4_0``, all equal corners are merged, as in MuJoCo 4.0; else corners are merged by `merge_vertices`.

    Raises:
        MeshDataError: the file is corrupted, or its number of faces or its coordinates are out of range.
    """
    count = int.from_bytes(content[_STL_HEADER : _STL_HEADER + 4], "little")
    wanted = _STL_HEADER + 4 + _STL_FACE.itemsize * count
    if len(content) == wanted and count:
        corners = np.frombuffer(content, _STL_FACE, count, _STL_HEADER + 4)["corner"].reshape(-1, 3)
    elif content[:5] == b"solid":
        lines = _VERTEX_LINE.findall(content)
        if not lines or len(lines) % 3:
            found = f"{len(lines)} lines 'vertex x y z' make no whole triangles"
            raise MeshDataError(f"truncated or corrupted STL file: {found}")
        try:
            corners = np.array(lines).astype(np.float64).astype(np.float32)
        except ValueError as error:
            raise MeshDataError(f"corrupted STL file: {error}") from None
    else:
        found = f"the file has {len(content)} bytes, but a binary STL of {count} faces has {wanted}"
        found = found if len(content) > _STL_HEADER else "too short"
        raise MeshDataError(f"truncated or corrupted STL file: {found}")
    if not 1 <= len(corners) // 3 <= _LARGEST_STL:
        raise MeshDataError(f"an STL file has between 1 and {_LARGEST_STL} faces, found {len(corners) // 3}")
    finite = np.isfinite(corners)
    if not finite.all() or np.abs(corners).max() > _LARGEST_COORDINATE:
        raise MeshDataError("a vertex coordinate of the STL file is not finite or too large (over 2^30)")
    vertex, face = (merge_all_equal if is_4_0 else merge_vertices)(corners.astype(np.float32))
    return RawMesh(vertex, face, np.empty((0, 3), np.float32), np.empty((0, 2), np.float32))


def read_msh(content: bytes) -> RawMesh:
    """Read a binary MSH file: counts of vertices, normals, texture coordinates and faces, then their values.

    Raises:
        MeshDataError: the file is corrupted, or its counts are invalid.
    """
    if len(content) < 16:
        raise MeshDataError("truncated MSH file: it must begin with four integers")
    nvertex, nnormal, ntexcoord, nface = (int(n) for n in np.frombuffer(content, "<i4", 4))
    counts = f"{nvertex} vertices, {nnormal} normals, {ntexcoord} texture coordinates, {nface} faces"
    if not (4 <= nvertex <= LARGEST_COUNT and 0 <= nface <= LARGEST_COUNT and nnormal >= 0 and ntexcoord >= 0):
        raise MeshDataError(f"impossible counts in the MSH file: {counts}")
    if nnormal not in (0, nvertex) or ntexcoord not in (0, nvertex):
        raise MeshDataError(f"a MSH file has as many normals and texture coordinates as vertices, or none: {counts}")
    wanted = 16 + 12 * (nvertex + nnormal + nface) + 8 * ntexcoord
    if len(content) != wanted:
        raise MeshDataError(f"truncated or corrupted MSH file: {len(content)} bytes, but {counts} take {wanted}")
    at, parts = 16, []
    for kind, count, columns in (("<f4", nvertex, 3), ("<f4", nnormal, 3), ("<f4", ntexcoord, 2), ("<i4", nface, 3)):
        parts.append(np.frombuffer(content, kind, count * columns, at).reshape(-1, columns).copy())
        at += 4 * count * columns
    vertex, normal, texcoord, face = parts
    return RawMesh(
        vertex, face, normal, texcoord, face if nnormal else None, face if ntexcoord else None, mirrored=("face",)
    )


READERS: dict[str, Callable[[bytes], RawMesh]] = {"stl": read_stl, "obj": read_obj, "msh": read_msh}
READERS_4_0: dict[str, Callable[[bytes], RawMesh]] = READERS | {
    "stl": partial(read_stl, is_4_0=True),
    "obj": partial(read_obj, is_4_0=True),
}
_MEDIA_TYPES = {"model/stl": "stl", "model/obj": "obj", "model/vnd.mujoco.msh": "msh"}


def format_of(name: str, content_type: str | None) -> str:
    """Return the format of a file (a key of `READERS`) by its media type or, without one, by its file extension.

    Raises:
        MeshDataError: there is no reader for the file.
    """
    if content_type:
        if content_type not in _MEDIA_TYPES:
            known = ", ".join(_MEDIA_TYPES)
            raise MeshDataError(f"'{content_type}' is not a media type of meshes: use {known}", "content_type")
        return _MEDIA_TYPES[content_type]
    ending = PurePath(name).suffix[1:].lower()
    if ending not in READERS:
        raise MeshDataError(f"'{name}' is not a mesh file by its name: it must end with .stl, .obj or .msh", "file")
    return ending
