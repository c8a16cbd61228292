"""Wavefront OBJ: vertices, normals, texture coordinates, and polygons, which are split into triangles.

Only the geometry is read; objects, groups, smoothing and materials are ignored. A file has many thousands of lines, so
the numbers of all lines of a kind are converted together. If all lines have the plain form, a kernel does this.
"""

from __future__ import annotations

import re

import numpy as np

from cardan.formats.obj_scan import ObjLines, scan_obj
from cardan.formats.polygons import LARGEST, triangulate
from cardan.formats.raw import MeshDataError, RawMesh

_LINE = {
    word: re.compile(rb"^[ \t]*" + word + rb"[ \t]+([^\n#]*)", re.MULTILINE) for word in (b"v", b"vn", b"vt", b"f")
}
_CONTINUED = re.compile(rb"\\\n")
_COUNTED = re.compile(rb"^[ \t]*(v|vt|vn|f)[ \t]+([^\n#]*)", re.MULTILINE)
_CORNER = re.compile(rb"(-?\d+)(?:\.\d*)?(?:/(-?\d*)(?:/(-?\d*))?)?$")
_ELEMENT = re.compile(rb"^[ \t]*[flp][ \t]+[^\s#]", re.MULTILINE)
_DROPPED = "only the first shape of the OBJ file is read: {} faces of other shapes are dropped"
_NEXT_SHAPE = re.compile(rb"^[ \t]*[go][ \t]", re.MULTILINE)


def read_obj(content: bytes) -> RawMesh:
    """Read the geometry of an OBJ file: all vertices, and the faces of its first shape (`_first_shape`)."""
    text = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"\\\n" in text:
        text = _CONTINUED.sub(b" ", text)
    remarks: list[str] = []
    lines = scan_obj(text)
    if lines is None or not len(lines.vertex):
        lines = _careful_lines(text, remarks)
    elif lines.dropped:
        remarks.append(_DROPPED.format(lines.dropped))
    large = int((lines.size > LARGEST).sum())
    if large:
        remarks.append(f"{large} polygons of the OBJ file have more than {LARGEST} corners: they are dropped")
    vertex, normal, texcoord = lines.vertex, lines.normal, lines.texcoord
    # the first row of an image is its upper row
    texcoord[:, 1] = np.float32(1.0) - texcoord[:, 1]
    index = _resolved(lines.corner, (len(vertex), len(texcoord), len(normal)), remarks)
    corners = index[triangulate(vertex, lines.size, index[:, 0])]
    return RawMesh(
        vertex,
        np.ascontiguousarray(corners[:, :, 0]),
        normal,
        texcoord,
        np.ascontiguousarray(corners[:, :, 2]) if len(normal) else None,
        np.ascontiguousarray(corners[:, :, 1]) if len(texcoord) else None,
        remarks=tuple(remarks),
    )


def _careful_lines(text: bytes, remarks: list[str]) -> ObjLines:
    """Read a file some of whose lines do not have the plain form; add remarks on its errors."""
    vertex = _rows(text, b"v", 3, remarks)
    if not len(vertex):
        raise MeshDataError("the OBJ file has no vertices (lines 'v x y z')")
    normal, texcoord = _rows(text, b"vn", 3, remarks), _rows(text, b"vt", 2, remarks)
    shape, dropped = _first_shape(text)
    if dropped:
        remarks.append(_DROPPED.format(dropped))
    return ObjLines(vertex, normal, texcoord, *_polygons(shape, remarks), dropped)


def _first_shape(text: bytes) -> tuple[bytes, int]:
    """Return the text before the second shape, and the number of faces after it.

    As in the reference, a shape begins at a line 'o' or 'g' that follows faces, lines or points.
    """
    first = _ELEMENT.search(text)
    second = _NEXT_SHAPE.search(text, first.end()) if first else None
    if second is None:
        return text, 0
    return text[: second.start()], len(_LINE[b"f"].findall(text, second.start()))


def _rows(text: bytes, word: bytes, columns: int, remarks: list[str]) -> np.ndarray:
    """Return the first ``columns`` numbers of all lines of a kind, float32."""
    lines = _LINE[word].findall(text)
    if not lines:
        return np.empty((0, columns), np.float32)
    rows = [line.split()[:columns] for line in lines]
    try:
        flat = np.array(rows, dtype=np.float64).reshape(len(rows), columns)
    except ValueError:
        remarks.append(f"a line '{word.decode()}' of the OBJ file has no {columns} numbers: those that miss are 0")
        flat = np.array([_numbers(row, columns) for row in rows])
    with np.errstate(over="ignore"):
        return flat.astype(np.float32)


def _numbers(words: list[bytes], count: int) -> list[float]:
    """Return the numbers of a line, with 0 for missing numbers."""
    found = [0.0] * count
    for k, word in enumerate(words[:count]):
        try:
            found[k] = float(word)
        except ValueError:
            break
    return found


def _polygons(text: bytes, remarks: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the corner counts of the polygons, and their corners as written (`ObjLines`)."""
    lines = [words for line in _LINE[b"f"].findall(text) if (words := line.split())]
    polygons = [words for words in lines if len(words) >= 3]
    if len(polygons) < len(lines):
        remarks.append(f"{len(lines) - len(polygons)} faces of the OBJ file have less than 3 corners: they are dropped")
    size = np.array([len(words) for words in polygons], np.int32)
    try:
        number = np.array([_corner(word) for words in polygons for word in words], np.int64).reshape(-1, 3)
    except (ValueError, OverflowError):
        raise MeshDataError("a corner of a face of the OBJ file is not written v, v/vt, v//vn or v/vt/vn") from None
    if np.any(number < 0):
        counted = number + np.repeat(_counts_before(text), size, axis=0) + 1
        number = np.where((number < 0) & (counted > 0), counted, number)
    return size, number


def _counts_before(text: bytes) -> np.ndarray:
    """Count the vertices, texture coordinates and normals before each polygon, the base of negative numbers."""
    count = {b"v": 0, b"vt": 0, b"vn": 0}
    found = []
    for word, line in _COUNTED.findall(text):
        if word != b"f":
            count[word] += 1
        elif len(line.split()) >= 3:
            found.append(tuple(count.values()))
    return np.array(found, np.int64)


def _resolved(number: np.ndarray, counts: tuple[int, int, int], remarks: list[str]) -> np.ndarray:
    """Return indices of corners (n, 3), int32, -1 if missing. Numbers start at 1; negative numbers are invalid."""
    size = np.array(counts)
    index = np.where(number > 0, number - 1, -1)
    wrong = (index >= size) | (number < 0)
    astray = wrong[:, 0] | (number[:, 0] == 0)
    if astray.any():
        found = number[np.argmax(astray), 0]
        raise MeshDataError(f"a face of the OBJ file refers to vertex {found}, but there are {size[0]}")
    for part, noun in ((1, "texture coordinates"), (2, "normals")):
        if wrong[:, part].any() and size[part]:
            remarks.append(f"faces of the OBJ file refer to {noun} that do not exist: they count as missing")
    index[wrong] = -1
    return index.astype(np.int32)


def _corner(word: bytes) -> tuple[int, int, int]:
    """Return the three numbers of one corner, 0 for missing ones."""
    match = _CORNER.match(word)
    if match is None:
        raise ValueError(word)
    v, vt, vn = (int(part) if part else 0 for part in match.groups())
    return v, vt, vn
