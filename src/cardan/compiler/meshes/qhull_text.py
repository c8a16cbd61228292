"""Kernels that parse the output of Qhull about a hull (formats: the manual of Qhull, "Output formats")."""

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
        Field("facet_name", "i4", ("any",), "names of the facets, in Qhull's order"),
        Field("vertex_name", "i4", ("any",), "names of the vertices, in Qhull's order"),
        Field("vertex", "i4", ("any", 4), "point, name, first and number of facets around each vertex"),
        Field("near", "i4", ("any",), "names of the facets around vertices, one vertex after the other"),
        Field("at", "i8", (), "place of the reader in the text"),
        Field("start", "i8", ("any",), "where in the text the vertices, the list of facets and that of vertices begin"),
        Field("place", "i4", ("any",), "places by name"),
        Field("order", "i4", ("any",), "points of the vertices, in Qhull's order"),
        Field("around", "i4", ("any",), "numbers of the facets around vertices"),
        Field("begin", "i4", ("any", 2), "first there and number of the facets around each vertex, in that order"),
    ],
    readonly=False,
)

Around = tuple[np.ndarray, np.ndarray]
"""Facets around vertices; start and number of the facets of each vertex."""

_FACETS, _VERTICES = b"all facets:", b"all vertices:"  # titles of lists
_LF, _SPACE, _MINUS, _P, _V, _F, _ZERO, _NINE = b"\n -pvf09"
_MOST = 2**31 - 1


def facets_in(text: bytes) -> np.ndarray | None:
    """Parse triangles in the format ``Fv``: (m, 3) point indices; None if the text has another form."""
    count, _, rest = text.partition(b"\n")
    if not count.strip().isdigit() or len(rest) < 8 * int(count):  # no row is shorter
        return None
    facet = np.empty((int(count), 3), np.int32)
    return facet if _read(read_facets, rest, facet=facet) == len(facet) else None


def order_in(lists: bytes, vertices: bytes, facet: np.ndarray) -> tuple[np.ndarray, Around | None] | None:
    """Parse the order of the vertices, and the facets around them, of a hull whose triangles are known.

    Args:
        lists: text with the names of all facets and of all vertices, each list after its title.
        vertices: the vertices, each with the names of the facets around it.
        facet: point indices of the triangles (m, 3).

    Returns:
        point indices of the vertices (n,), and the facets around them. The latter are facet indices, one vertex after
        the other, (3 m,), with start and number for each vertex (n, 2), or None if the text is incomplete. The whole
        result is None if the text has another form or is inconsistent.
    """
    count, titles = vertices.count(b"\n- ") + 1, [lists.find(title) for title in (_FACETS, _VERTICES)]
    if -1 in titles:
        return None
    source, printed = StructMemory(TEXT, {}), StructMemory(PRINTED, {})
    # readers look one character ahead
    source.attach("byte", np.frombuffer(b"%b\n%b\n\n" % (lists, vertices), np.uint8))
    starts = len(lists) + 1, titles[0] + len(_FACETS), titles[1] + len(_VERTICES)
    order, around, begin = np.empty(count, np.int32), np.empty(facet.size, np.int32), np.empty((count, 2), np.int32)
    printed.attach("start", np.array(starts, np.int64))
    printed.attach("facet", facet)
    printed.attach("order", order)
    printed.attach("around", around)
    printed.attach("begin", begin)
    corners = facet.size + 1  # an upper bound
    printed.attach_new({"facet_name": len(facet), "vertex_name": count, "vertex": count, "near": corners})
    largest = call(read_order, source, printed)
    if largest < 0:
        return None
    printed.attach("place", np.empty(largest + 1, np.int32))
    total = call(put_in_order, source, printed)
    if total < 0:
        return None
    return order, (around, begin) if total == facet.size else None


def _read(reader: Any, text: bytes, **arrays: np.ndarray) -> int:
    """Parse a text into arrays with a kernel; returns the number of entries, or -1 for an unknown form."""
    source, printed = StructMemory(TEXT, {}), StructMemory(PRINTED, {})
    # readers look one character ahead
    source.attach("byte", np.frombuffer(text + b"\n\n", np.uint8))
    for name, array in arrays.items():
        printed.attach(name, array)
    return call(reader, source, printed)


@kernel
def _is_digit(byte: int) -> bool:
    return _ZERO <= byte <= _NINE


@kernel
def _number(s: Any, p: Any) -> int:
    """Parse the number at `p.at`, after spaces and line feeds, and move `p.at` past it; -1 if there is no number."""
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
    """Parse the number in a name like p12 at `p.at`, after spaces and line feeds; -1 if there is no such name."""
    at = p.at
    while at < len(s.byte) - 1 and (s.byte[at] == _SPACE or s.byte[at] == _LF):
        at += 1
    if s.byte[at] != letter or not _is_digit(s.byte[at + 1]):
        return -1
    p.at = at + 1
    return _number(s, p)


@native_over("Text", "Printed")
def read_facets(s: Any, p: Any, _unused: int, _neither: int) -> int:
    """Parse rows of three corners, each after the number 3; returns the number of rows."""
    p.at = 0
    for row in range(len(p.facet)):
        if _number(s, p) != 3:
            return -1
        for k in range(3):
            p.facet[row, k] = _number(s, p)
            if p.facet[row, k] < 0:
                return -1
    return len(p.facet)


@kernel
def _read_list(s: Any, p: Any, start: int, names: Any) -> int:
    """Parse names, whose number must match exactly; returns the largest, or -1 if the list differs."""
    p.at = start
    largest = 0
    for k in range(len(names)):
        names[k] = _number(s, p)
        if names[k] < 0:
            return -1
        largest = max(largest, names[k])
    return largest if _number(s, p) < 0 else -1


@kernel
def _read_vertices(s: Any, p: Any, start: int) -> int:
    """Parse vertices, two or more lines each; returns the largest number among them, or -1 for an unknown form.

    They look like ``- p7(v1): 0 0 0``, ``neighbors: f3 f5``.
    """
    p.at = start
    total, largest = 0, 0
    for row in range(len(p.vertex)):
        if s.byte[p.at] != _MINUS:
            return -1
        p.at += 1
        p.vertex[row, 0] = _named(s, p, _P)
        p.at += 1  # the bracket
        p.vertex[row, 1] = _named(s, p, _V)
        if p.vertex[row, 0] < 0 or p.vertex[row, 1] < 0:
            return -1
        largest = max(largest, p.vertex[row, 0], p.vertex[row, 1])
        while s.byte[p.at] != _LF:
            p.at += 1
        # the text may end here, as in a tetrahedron; else the names of facets follow the next word
        while p.at < len(s.byte) - 2 and s.byte[p.at] != _F and s.byte[p.at] != _MINUS:
            p.at += 1
        p.vertex[row, 2] = total
        while total < len(p.near):
            name = _named(s, p, _F)
            if name < 0:
                break
            p.near[total] = name
            largest = max(largest, name)
            total += 1
        p.vertex[row, 3] = total - p.vertex[row, 2]
        while p.at < len(s.byte) - 2 and s.byte[p.at] != _MINUS:
            if s.byte[p.at] != _SPACE and s.byte[p.at] != _LF:
                return -1
            p.at += 1
    return largest


@native_over("Text", "Printed")
def read_order(s: Any, p: Any, _unused: int, _neither: int) -> int:
    """Parse the vertices and both lists; returns the largest of all numbers, including those of triangles, or -1."""
    vertices = _read_vertices(s, p, p.start[0])
    facets, names = _read_list(s, p, p.start[1], p.facet_name), _read_list(s, p, p.start[2], p.vertex_name)
    if vertices < 0 or facets < 0 or names < 0:
        return -1
    largest = max(vertices, facets, names)
    for i in range(len(p.facet)):
        for k in range(3):
            largest = max(largest, p.facet[i, k])
    return largest


@native_over("Text", "Printed")
def put_in_order(_s: Any, p: Any, _unused: int, _neither: int) -> int:
    """Sort the vertices in Qhull's order and replace names by numbers; returns the number of facets around them.

    The result is -1 if two vertices are equal, a triangle has other corners, or a name is unknown.
    """
    return -1 if _misfit(p) or not _put_vertices(p) else _put_around(p)


@kernel
def _misfit(p: Any) -> bool:
    """Return whether vertices are the same point, or triangles have other corners."""
    _forget(p)
    for row in range(len(p.vertex)):
        if p.place[p.vertex[row, 0]] >= 0:
            return True
        p.place[p.vertex[row, 0]] = row
    for i in range(len(p.facet)):
        for k in range(3):
            if p.place[p.facet[i, k]] < 0:
                return True
    return False


@kernel
def _put_vertices(p: Any) -> bool:
    """Sort the vertices in the order of their list; returns whether the list names each once."""
    _forget(p)
    for row in range(len(p.vertex)):
        p.place[p.vertex[row, 1]] = row
    for k in range(len(p.order)):
        row = p.place[p.vertex_name[k]]
        if row < 0:
            return False
        p.place[p.vertex_name[k]] = -1
        p.order[k], p.begin[k, 0], p.begin[k, 1] = p.vertex[row, 0], p.vertex[row, 2], p.vertex[row, 3]
    return True


@kernel
def _put_around(p: Any) -> int:
    """Number the facets around the vertices by their list; returns how many there are, or -1 if one is unknown."""
    _forget(p)
    for number in range(len(p.facet_name)):
        p.place[p.facet_name[number]] = number
    last = len(p.vertex) - 1
    total = p.vertex[last, 2] + p.vertex[last, 3]
    if total > len(p.around):
        return 0  # more than possible: none of them counts
    for k in range(total):
        p.around[k] = p.place[p.near[k]]
        if p.around[k] < 0:
            return -1
    return total


@kernel
def _forget(p: Any) -> None:
    """Clear the places of all names."""
    for name in range(len(p.place)):
        p.place[name] = -1
