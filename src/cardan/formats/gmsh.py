"""Reader of GMSH files: sections ``Nodes`` and ``Elements`` of the formats 2.2 and 4.1, as text or binary.

Only first-order segments, triangles and tetrahedra are read, and only those of the highest dimension in the file.
Elements of lower dimension describe the boundary and are skipped. Reference: C. Geuzaine and J.-F. Remacle, Gmsh
Reference Manual, "MSH file format".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cardan.formats.raw import LARGEST_COUNT, MeshDataError

_DIMENSION = {1: 1, 2: 2, 4: 3, 15: 0}  # dimension of each known type of elements
_CORNERS = {1: 2, 2: 3, 4: 4, 15: 1}
_REAL_SIZE = 8
_LARGEST_INTEGER = 2.0**53  # real numbers represent all integers up to this one


@dataclass
class _Reader:
    """Reader of the numbers of a section, one after the other, from text or binary data."""

    section: str  # its name, for messages
    body: bytes
    order: str | None  # byte order of a binary file, None for text
    at: int = 0

    def __post_init__(self) -> None:
        self.words: np.ndarray | None = None
        if self.order is None:
            try:
                self.words = np.array(self.body.split() or [b"0"], dtype=np.float64)
            except ValueError as error:
                raise MeshDataError(f"${self.section} of the GMSH file: {error}") from None

    def numbers(self, count: int, kind: str) -> np.ndarray:
        """Read the next ``count`` numbers of type ``kind``: ``i4``, ``u8`` or ``f8``.

        Raise MeshDataError if the section ends too early.
        """
        if self.words is not None:
            found = self.words[self.at : self.at + count]
            self.at += count
        else:
            step = np.dtype(kind).itemsize
            available = max(0, len(self.body) - self.at) // step
            found = np.frombuffer(self.body, f"{self.order}{kind}", min(count, available), self.at)
            self.at += count * step
        if len(found) < count:
            raise MeshDataError(f"${self.section} of the GMSH file ends too early")
        return found.astype(np.float64) if kind == "f8" else self.whole(found)

    def whole(self, found: np.ndarray) -> np.ndarray:
        """Convert numbers (real if read from text) to integers.

        Raises:
            MeshDataError: a number is not an integer, or too large.
        """
        if found.dtype.kind != "f":
            return found.astype(np.int64)
        right = np.abs(found) < _LARGEST_INTEGER  # false for NaN
        whole = np.where(right, found, 0.0).astype(np.int64)
        if not (right & (whole == found)).all():
            wrong = found[~(right & (whole == found))][0]
            raise MeshDataError(f"${self.section} of the GMSH file: expected an integer, found {wrong:g}")
        return whole

    def integers(self, count: int, kind: str = "u8") -> list[int]:
        """Read the next ``count`` integers and return them as a list."""
        return self.numbers(count, kind).tolist()

    def count(self, value: int) -> int:
        """Return ``value``, a count that was read; raise MeshDataError if it is negative or too large."""
        if not 0 <= value <= LARGEST_COUNT:
            raise MeshDataError(f"${self.section} of the GMSH file: impossible count {value}")
        return value

    def line(self) -> int:
        """Read a count that is alone on its line. The line is text even in binary files.

        Raise MeshDataError if the line does not contain a count.
        """
        if self.words is not None:
            return self.count(self.integers(1)[0])
        end = self.body.find(b"\n", self.at)
        word = self.body[self.at : end].strip() if end >= 0 else b""
        if not word.isdigit():
            raise MeshDataError(f"${self.section} of the GMSH file must begin with a count")
        self.at = end + 1
        return self.count(int(word))


def read_gmsh(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Read a GMSH file. Return positions of nodes (n, 3), and indices of the nodes of each element (m, dim + 1).

    Raises:
        MeshDataError: the file is corrupted, its version is unknown, or it has no elements that a flex can use.
    """
    version, order = _header(content)
    if version not in _FORMATS:
        raise MeshDataError(f"version {version} of the GMSH format is not known, only {' and '.join(_FORMATS)}")
    read_nodes, read_elements = _FORMATS[version]
    tag, point = read_nodes(_section(content, "Nodes", order))
    if not len(tag):
        raise MeshDataError("the GMSH file has no nodes")
    blocks = read_elements(_section(content, "Elements", order))
    kinds = [kind for kind, parts in blocks.items() if _DIMENSION[kind] and sum(map(len, parts))]
    if not kinds:
        raise MeshDataError("the GMSH file has no segments, triangles or tetrahedra")
    highest = max(kinds, key=lambda kind: _DIMENSION[kind])
    return point, _places(tag, np.concatenate(blocks[highest]))


def _header(content: bytes) -> tuple[str, str | None]:
    """Return the version, and the byte order of a binary file: ``<`` or ``>`` (None for text)."""
    if not content.lstrip().startswith(b"$MeshFormat"):
        raise MeshDataError("a GMSH file must begin with $MeshFormat")
    rest = content[content.index(b"$MeshFormat") + len(b"$MeshFormat") :].lstrip()
    line, _, rest = rest.partition(b"\n")
    words = line.split()
    if len(words) != 3 or words[1] not in (b"0", b"1") or words[2] != b"%d" % _REAL_SIZE:
        raise MeshDataError("the format of a GMSH file is given by version, 0 or 1 (text or binary), and 8")
    version = words[0].decode(errors="replace")
    if words[1] == b"0":
        return version, None
    one = rest[:4]
    if one not in (b"\1\0\0\0", b"\0\0\0\1"):
        raise MeshDataError("the byte order of the binary GMSH file is unknown: the number 1 is missing")
    return version, "<" if one[0] else ">"


def _section(content: bytes, name: str, order: str | None) -> _Reader:
    """Return a reader of the section ``name``; raise MeshDataError if the file does not contain the section."""
    start = content.find(b"\n$" + name.encode())
    if start < 0:
        raise MeshDataError(f"the GMSH file has no section ${name}")
    start = content.find(b"\n", start + 1) + 1
    end = content.rfind(b"$End" + name.encode())
    if start == 0 or end < start:
        raise MeshDataError(f"the GMSH file has no $End{name} after ${name}")
    return _Reader(name, content[start:end], order)


# --- version 2.2 -----------------------------------------------------------------------------------------------------

Nodes = tuple[np.ndarray, np.ndarray]
Blocks = dict[int, list[np.ndarray]]


def _nodes_2(reader: _Reader) -> Nodes:
    """Read tags (numbers) and positions of the nodes. Each row contains a tag and three coordinates."""
    count = reader.line()
    if reader.words is not None:
        rows = reader.numbers(4 * count, "f8").reshape(-1, 4)
        return reader.whole(rows[:, 0]), rows[:, 1:]
    row = np.dtype([("tag", f"{reader.order}i4"), ("pos", f"{reader.order}f8", 3)])
    if len(reader.body) - reader.at < count * row.itemsize:
        raise MeshDataError("$Nodes of the GMSH file ends too early")
    rows = np.frombuffer(reader.body, row, count, reader.at)
    return rows["tag"].astype(np.int64), rows["pos"].astype(np.float64)


def _elements_2(reader: _Reader) -> Blocks:
    count = reader.line()
    return _text_elements_2(reader, count) if reader.order is None else _binary_elements_2(reader, count)


def _text_elements_2(reader: _Reader, count: int) -> Blocks:
    """Read elements from rows of text. Consecutive rows with the same type and number of tags are read together.

    Each row contains the element's number, its type, its number of tags, the tags, and the tags of its nodes.
    """
    assert reader.words is not None
    words, at, done = reader.whole(reader.words), reader.at, 0
    blocks: Blocks = {}
    while done < count:
        if at + 3 > len(words):
            raise MeshDataError("$Elements of the GMSH file ends too early")
        kind, tags = words[at + 1 : at + 3].tolist()
        corners = _corners(kind)
        width = 3 + tags + corners
        if tags < 0 or at + width > len(words):
            raise MeshDataError("$Elements of the GMSH file ends too early")
        whole = words[at : at + (len(words) - at) // width * width].reshape(-1, width)[: count - done]
        differ = np.flatnonzero((whole[:, 1] != kind) | (whole[:, 2] != tags))
        run = int(differ[0]) if len(differ) else len(whole)
        blocks.setdefault(kind, []).append(whole[:run, width - corners :])
        at += run * width
        done += run
    return blocks


def _binary_elements_2(reader: _Reader, count: int) -> Blocks:
    """Read elements in blocks. The header of each block contains type, number of elements and number of tags."""
    blocks: Blocks = {}
    while count > 0:
        kind, number, tags = reader.integers(3, "i4")
        corners = _corners(kind)
        if not (0 < number <= count and 0 <= tags < LARGEST_COUNT):
            raise MeshDataError(f"$Elements of the GMSH file: impossible block of {number} elements, {tags} tags")
        rows = reader.numbers(number * (1 + tags + corners), "i4").reshape(number, -1)
        blocks.setdefault(kind, []).append(rows[:, 1 + tags :])
        count -= number
    return blocks


# --- version 4.1 -----------------------------------------------------------------------------------------------------


def _nodes_4(reader: _Reader) -> Nodes:
    """Read tags (numbers) and positions of the nodes, block by block."""
    nblocks, count, _, _ = reader.integers(4)
    tags, points = [np.empty(0, np.int64)], [np.empty((0, 3))]
    for _ in range(reader.count(nblocks)):
        dimension, _, parametric = reader.integers(3, "i4")
        number = reader.count(reader.integers(1)[0])
        width = 3 + (dimension if parametric else 0)
        if not 0 <= dimension <= 3:
            raise MeshDataError(f"$Nodes of the GMSH file: impossible dimension {dimension}")
        tags.append(reader.numbers(number, "u8"))
        points.append(reader.numbers(number * width, "f8").reshape(-1, width)[:, :3])
    tag = np.concatenate(tags)
    if len(tag) != count:
        raise MeshDataError(f"$Nodes of the GMSH file: {count} nodes are announced, {len(tag)} found")
    return tag, np.concatenate(points)


def _elements_4(reader: _Reader) -> Blocks:
    nblocks = reader.count(reader.integers(4)[0])
    blocks: Blocks = {}
    for _ in range(nblocks):
        _, _, kind = reader.integers(3, "i4")
        number = reader.count(reader.integers(1)[0])
        width = 1 + _corners(kind)
        rows = reader.numbers(number * width, "u8").reshape(-1, width)
        blocks.setdefault(kind, []).append(rows[:, 1:])
    return blocks


_FORMATS: dict[str, tuple[Callable[[_Reader], Nodes], Callable[[_Reader], Blocks]]] = {
    "2.2": (_nodes_2, _elements_2),
    "4.1": (_nodes_4, _elements_4),
}

# --- selection -------------------------------------------------------------------------------------------------------


def _corners(kind: int) -> int:
    """Return the number of nodes of an element of type ``kind``; raise MeshDataError for other types."""
    if kind not in _CORNERS:
        known = "segments (1), triangles (2) and tetrahedra (4)"
        raise MeshDataError(f"elements of the type {kind} are not supported in GMSH files, only {known}")
    return _CORNERS[kind]


def _places(tag: np.ndarray, elem: np.ndarray) -> np.ndarray:
    """Return ``elem`` with its node tags replaced by indices into ``tag``, the list of the tags of all nodes.

    Raise MeshDataError if two nodes have the same tag, or a node does not exist.
    """
    order = np.argsort(tag, kind="stable")
    ordered = tag[order]
    if (ordered[1:] == ordered[:-1]).any():
        raise MeshDataError("two nodes of the GMSH file have the same number")
    place = np.minimum(np.searchsorted(ordered, elem), len(tag) - 1)
    wrong = ordered[place] != elem
    if wrong.any():
        raise MeshDataError(f"an element of the GMSH file refers to node {elem[wrong][0]}, which does not exist")
    return order[place]
