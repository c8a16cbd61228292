"""Wavefront OBJ: vertices, normals, texture coordinates, and polygons that are cut into triangles.

Only the geometry is read; objects, groups, smoothing and materials have no meaning here. Numbers of all lines of a kind
are converted at once, since files have many thousands of lines.
"""

from __future__ import annotations

import re

import numpy as np

from cardan.compiler.meshes.polygons import triangulate
from cardan.compiler.meshes.raw import MeshDataError, RawMesh

_LINE = {
    word: re.compile(rb"^[ \t]*" + word + rb"[ \t]+([^\r\n#]*)", re.MULTILINE) for word in (b"v", b"vn", b"vt", b"f")
}
_CONTINUED = re.compile(rb"\\\r?\n")
_CORNER = re.compile(rb"(-?\d+)(?:/(-?\d*)(?:/(-?\d*))?)?$")


def read_obj(content: bytes) -> RawMesh:
    """The geometry of an OBJ file."""
    text = _CONTINUED.sub(b" ", content)
    vertex = _rows(text, b"v", 3)
    if not len(vertex):
        raise MeshDataError("the OBJ file has no vertices (lines 'v x y z')")
    normal, texcoord = _rows(text, b"vn", 3), _rows(text, b"vt", 2)
    # the image's first row is its upper one
    texcoord[:, 1] = np.float32(1.0) - texcoord[:, 1]
    corners = _triangles(text, vertex, (len(vertex), len(texcoord), len(normal)))
    return RawMesh(
        vertex,
        np.ascontiguousarray(corners[:, :, 0]),
        normal,
        texcoord,
        np.ascontiguousarray(corners[:, :, 2]) if len(normal) else None,
        np.ascontiguousarray(corners[:, :, 1]) if len(texcoord) else None,
    )


def _rows(text: bytes, word: bytes, columns: int) -> np.ndarray:
    """The first ``columns`` numbers of all lines of a kind, float32."""
    lines = _LINE[word].findall(text)
    if not lines:
        return np.empty((0, columns), np.float32)
    try:
        flat = np.array(b" ".join(lines).split(), dtype=np.float64)
        if flat.size != columns * len(lines):
            flat = np.array([line.split()[:columns] for line in lines], dtype=np.float64)
        with np.errstate(over="ignore"):
            return flat.reshape(-1, columns).astype(np.float32)
    except ValueError:
        raise MeshDataError(f"a line '{word.decode()}' of the OBJ file has no {columns} numbers") from None


def _triangles(text: bytes, vertex: np.ndarray, counts: tuple[int, int, int]) -> np.ndarray:
    """Corners of the triangles: (nface, 3, 3) int32, indices of vertex, texture coordinate and normal from 0, or -1."""
    lines = [line.split() for line in _LINE[b"f"].findall(text)]
    if not lines:
        return np.empty((0, 3, 3), np.int32)
    size = np.array([len(line) for line in lines])
    if size.min() < 3:
        raise MeshDataError(f"a face of the OBJ file has {size.min()} corners; at least 3 are needed")
    corners = _corners([word for line in lines for word in line], counts)
    return corners[triangulate(vertex, size, corners[:, 0])]


def _corners(words: list[bytes], counts: tuple[int, int, int]) -> np.ndarray:
    """Indices of corners ``v/vt/vn``; those that count backwards from the end are resolved, missing ones are -1."""
    slashes = words[0].count(b"/")
    joined = b" ".join(words)
    number = np.zeros((len(words), 3), np.int64)
    try:
        if b"//" not in joined and joined.count(b"/") == slashes * len(words) and slashes <= 2:
            flat = np.array(joined.replace(b"/", b" ").split(), dtype=np.int64)
            number[:, : slashes + 1] = flat.reshape(len(words), slashes + 1)
        else:
            number[:] = [_corner(word) for word in words]
    except (ValueError, OverflowError):
        raise MeshDataError("a corner of a face of the OBJ file is not written v, v/vt, v//vn or v/vt/vn") from None
    size = np.array(counts)
    index = np.where(number > 0, number - 1, np.where(number < 0, number + size, -1))
    wrong = (index >= size) & (number != 0) | (index < 0) & (number < 0)
    wrong[:, 0] |= number[:, 0] == 0
    if wrong.any():
        row, part = np.argwhere(wrong)[0]
        noun = ("vertex", "texture coordinate", "normal")[part]
        raise MeshDataError(f"a face of the OBJ file refers to {noun} {number[row, part]}, but there are {size[part]}")
    return index.astype(np.int32)


def _corner(word: bytes) -> tuple[int, int, int]:
    """The three numbers of one corner, 0 for those that are missing."""
    match = _CORNER.match(word)
    if match is None:
        raise ValueError(word)
    v, vt, vn = (int(part) if part else 0 for part in match.groups())
    return v, vt, vn
