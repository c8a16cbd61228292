"""What Qhull prints about a hull, read by kernels (formats: the manual of Qhull, "Output formats")."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.formats.obj_scan import TEXT
from cardan.jit import Field, Struct, StructMemory, kernel
from cardan.jit.driver.direct import call, native_over

PRINTED = Struct(
    "Printed",
    [
        Field("facet", "i4", ("any", 3), "vertices of triangles"),
        Field("number", "i4", ("any",), "numbers of a list"),
        Field("vertex", "i4", ("any", 4), "point, name, first and number of facets around each vertex"),
        Field("near", "i4", ("any",), "names of the facets around vertices, one vertex after the other"),
        Field("at", "i8", (), "place of the reader in the text"),
    ],
    readonly=False,
)

_LF, _SPACE, _MINUS, _P, _V, _F, _ZERO, _NINE = b"\n -pvf09"
_MOST = 2**31 - 1


def facets_in(text: bytes) -> np.ndarray | None:
    """Triangles, in the format ``Fv``: (m, 3) point numbers; None if the text is anything else."""
    count, _, rest = text.partition(b"\n")
    if not count.strip().isdigit() or len(rest) < 8 * int(count):  # no row is shorter
        return None
    facet = np.empty((int(count), 3), np.int32)
    return facet if _read(read_facets, rest, facet=facet) == len(facet) else None


def numbers_in(text: bytes, title: bytes, count: int) -> np.ndarray | None:
    """The list of `count` numbers that follows a title; None if there is none of that length."""
    _, _, rest = text.partition(title)
    number = np.empty(count + 1, np.int32)
    return number[:count] if _read(read_numbers, rest, number=number) == count else None


def vertices_in(text: bytes, corners: int) -> tuple[np.ndarray, np.ndarray] | None:
    """What is printed of vertices: rows of point, name, first and number in the list of names of facets around; it.

    None if the text is anything else, or names more facets than there are `corners`.
    """
    vertex, near = np.empty((text.count(b"\n- ") + 1, 4), np.int32), np.empty(corners, np.int32)
    if _read(read_vertices, text, vertex=vertex, near=near) != len(vertex):
        return None
    return vertex, near[: int(vertex[:, 3].sum())]


def _read(reader: Any, text: bytes, **arrays: np.ndarray) -> int:
    """Let a kernel read a text into arrays; returns how much it has read, -1 for what it doesn't know."""
    source, printed = StructMemory(TEXT, {}), StructMemory(PRINTED, {})
    # readers look one place ahead
    source.attach("byte", np.frombuffer(text + b"\n\n", np.uint8))
    for name, array in arrays.items():
        printed.attach(name, array)
    return call(reader, source, printed)


@kernel
def _is_digit(byte: int) -> bool:
    return _ZERO <= byte <= _NINE


@kernel
def _number(s: Any, p: Any) -> int:
    """The number that begins at `p.at`, after spaces and line feeds, and go behind it; -1 if none does."""
    at = p.at
    while at < len(s.byte) - 1 and (s.byte[at] == _SPACE or s.byte[at] == _LF):
        at += 1
    p.at = at
    if not _is_digit(s.byte[at]):
        return -1
    value = 0
    while _is_digit(s.byte[at]):
        value = 10 * value + (s.byte[at] - _ZERO)
        if value > _MOST:
            return -1
        at += 1
    p.at = at
    return value


@kernel
def _named(s: Any, p: Any, letter: int) -> int:
    """The number of a name like p12 that begins at `p.at`, after spaces and line feeds; -1 if none does."""
    at = p.at
    while at < len(s.byte) - 1 and (s.byte[at] == _SPACE or s.byte[at] == _LF):
        at += 1
    if s.byte[at] != letter or not _is_digit(s.byte[at + 1]):
        return -1
    p.at = at + 1
    return _number(s, p)


@native_over("Text", "Printed")
def read_facets(s: Any, p: Any, _unused: int, _neither: int) -> int:
    """Read rows of three corners, each after the number 3; returns how many there are."""
    p.at = 0
    for row in range(len(p.facet)):
        if _number(s, p) != 3:
            return -1
        for k in range(3):
            p.facet[row, k] = _number(s, p)
            if p.facet[row, k] < 0:
                return -1
    return len(p.facet)


@native_over("Text", "Printed")
def read_numbers(s: Any, p: Any, _unused: int, _neither: int) -> int:
    """Read numbers as long as there are any, and room; returns how many."""
    p.at = 0
    count = 0
    while count < len(p.number):
        value = _number(s, p)
        if value < 0:
            return count
        p.number[count] = value
        count += 1
    return count


@native_over("Text", "Printed")
def read_vertices(s: Any, p: Any, _unused: int, _neither: int) -> int:
    """Read vertices, two or more lines each; returns how many.

    They look like ``- p7(v1): 0 0 0``, ``neighbors: f3 f5``.
    """
    p.at = 0
    total = 0
    for row in range(len(p.vertex)):
        if s.byte[p.at] != _MINUS:
            return -1
        p.at += 1
        p.vertex[row, 0] = _named(s, p, _P)
        p.at += 1  # the bracket
        p.vertex[row, 1] = _named(s, p, _V)
        if p.vertex[row, 0] < 0 or p.vertex[row, 1] < 0:
            return -1
        while s.byte[p.at] != _LF:
            p.at += 1
        # there may be no more of it, as in a tetrahedron; else the names of facets follow the next word
        while p.at < len(s.byte) - 2 and s.byte[p.at] != _F and s.byte[p.at] != _MINUS:
            p.at += 1
        p.vertex[row, 2] = total
        while total < len(p.near):
            name = _named(s, p, _F)
            if name < 0:
                break
            p.near[total] = name
            total += 1
        p.vertex[row, 3] = total - p.vertex[row, 2]
        while p.at < len(s.byte) - 2 and s.byte[p.at] != _MINUS:
            if s.byte[p.at] != _SPACE and s.byte[p.at] != _LF:
                return -1
            p.at += 1
    return len(p.vertex)
