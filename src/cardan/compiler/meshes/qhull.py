"""Convex hulls by Qhull, with its order of the vertices and of the facets around each vertex.

Collision detection walks the graph of a hull from its first vertex, and a mesh that lies on a plane has contacts at the
first neighbours of its lowest vertex. The order of vertices and neighbours therefore determines the contacts. If facets
were merged, `scipy.spatial` does not provide the order of the facets around a vertex: neighbours are in another order
in 79 of 184 hulls. Importing `scipy.spatial` also takes 0.27 s of processor time.

Qhull adds points one by one. The new facets, a cone from the new point, are appended to its list of facets. The
vertices of these facets are appended in the same order to its list of vertices. If all facets are triangles, both
orders therefore follow from the list of facets. Flat faces with more corners are merged from triangles and triangulated
at the end, which disturbs both orders.

Qhull's library (package ``cmeel-qhull``, not on Windows) is called directly: importing SciPy would take longer than
most hulls. The library prints facets (option ``Fv``) and a summary (``s``), which states whether facets were merged.
If so, it also prints each vertex with the facets around it, and its lists of vertices and facets. Decimal numbers are
not requested, since printing them takes longer than the hull. The outer side of a facet is the side away from the
middle of the hull; if the facet is nearly a line, Qhull's plane is used. If the library is not installed, SciPy runs
Qhull. In this case, the region numbers of a Voronoi diagram determine the order of vertices. The facets around a vertex
are in the order of the list.

Sources: C. Barber, D. Dobkin, H. Huhdanpaa, The Quickhull algorithm for convex hulls, ACM Transactions on Mathematical
Software 22 (1996), section 2; the manual of Qhull (calling Qhull from C programs; output formats). Everything else
was derived from outputs of the reference.
"""

from __future__ import annotations

import ctypes
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cardan.formats.raw import MeshDataError

OPTIONS = "Qt"
"""Triangulate flat faces with more than three corners."""
FLAT = "the mesh has no convex hull: its vertices lie in a plane, or nearly"

_LIBRARIES = ("libqhull_r.so", "libqhull_r.dylib")
_STATE = 1 << 16  # bytes for Qhull's own structure, which needs 9,000
_MERGED = b"Number of merged facets"
_LISTS = re.compile(rb"all facets:([\d\s]*).*?all vertices:([\d\s]*)", re.DOTALL)
_COORDINATES = re.compile(rb"\(v(\d+)\):.*\n(?:\s*neighbors:)?")  # between a vertex and its facets
_LARGEST = 2**31 - 1
_THIN = 1e-9  # triangles with a smaller height, relative to the hull's size, have no well-defined side
_CLEAR = 1e-5  # smallest height of the middle above a facet, relative to the hull's size, with an unambiguous sign


Around = tuple[np.ndarray, np.ndarray]
"""Two arrays: facets around all vertices, concatenated (3 m,), and each vertex's first index and count there (n, 2)."""


class Facets(NamedTuple):
    """Triangular facets and vertices of a convex hull, both in Qhull's order."""

    facet: np.ndarray  # vertices, in Qhull's order, which is independent of orientation (m, 3), int32
    inward: np.ndarray  # whether a triangle's corners are clockwise from outside (m,)
    vertex: np.ndarray  # indices of the vertices (n,), int32
    around: Around | None  # int32; None if the facets of each vertex are in the order of the list


def facets_of(points: np.ndarray, most: int = -1) -> Facets:
    """Compute the convex hull of points (n, 3), float64.

    Args:
        points: the points.
        most: largest number of vertices of the hull, at least 4, or -1 for no limit. Qhull stops at this number.

    Raises:
        MeshDataError: the points lie in a plane, or are not finite.
    """
    if not np.isfinite(points).all():
        raise MeshDataError("the mesh has no convex hull: a coordinate is not finite")
    qhull = library()
    return (_by_library(qhull, points, most) if qhull is not None else None) or _by_scipy(points, most)


def _options(most: int) -> str:
    """Return Qhull's options.

    ``TA`` limits the number of points added after the first four; ``Q9`` adds the furthest point next.
    """
    return OPTIONS if most < 0 else f"{OPTIONS} TA{most - 4} Q9"


@cache
def library() -> Any:
    """Return Qhull's library, or None if its package is not installed or the library cannot be opened."""
    for folder in sys.path:
        for name in _LIBRARIES:
            place = Path(folder, "cmeel.prefix", "lib", name)
            if place.exists():
                return _opened(place)
    return None


def _opened(place: Path) -> Any:
    """Open the library at ``place``; return None if it cannot be used on this system."""
    try:
        found = ctypes.CDLL(str(place))
        pointer, number = ctypes.c_void_p, ctypes.c_int
        for name, arguments in (
            ("qh_zero", [pointer] * 2),
            ("qh_new_qhull", [pointer, number, number, pointer, number, ctypes.c_char_p, pointer, pointer]),
            ("qh_printlists", [pointer]),
            ("qh_pointvertex", [pointer]),
            ("qh_setcompact", [pointer] * 2),
            ("qh_setdellast", [pointer]),
            ("qh_settempfree", [pointer] * 2),
            ("qh_printvertex", [pointer] * 3),
            ("qh_freeqhull", [pointer, number]),
            ("qh_memfreeshort", [pointer] * 3),
        ):
            getattr(found, name).argtypes = arguments
        found.qh_pointvertex.restype = found.qh_setdellast.restype = pointer
        _streams()
    except (OSError, AttributeError):
        return None
    return found


@cache
def _streams() -> Any:
    """Return the C library, whose memory streams receive the output of Qhull."""
    c = ctypes.CDLL(None)
    c.open_memstream.restype = ctypes.c_void_p
    c.fclose.argtypes = c.fflush.argtypes = c.free.argtypes = (ctypes.c_void_p,)
    return c


class _Stream:
    """A C stream in memory."""

    def __init__(self) -> None:
        self._text, self._size = ctypes.c_void_p(), ctypes.c_size_t()
        self.file = _streams().open_memstream(ctypes.byref(self._text), ctypes.byref(self._size))

    def written(self) -> bytes:
        """Return the text written so far."""
        _streams().fflush(self.file)
        return ctypes.string_at(self._text.value or 0, self._size.value)

    def close(self) -> None:
        """Close the stream."""
        _streams().fclose(self.file)
        _streams().free(self._text)


def _by_library(qhull: Any, points: np.ndarray, most: int = -1) -> Facets | None:
    """Compute the hull with Qhull's library, or return None if the output cannot be parsed.

    Raises:
        MeshDataError: the points lie in a plane.
    """
    facets, lists, vertices = _ask(qhull, points, "s Fv", most)
    facet = facets_in(facets)
    if facet is None or not len(facet) or facet.max() >= len(points):
        return None
    height, clear = _heights(points, facet)
    if not clear:
        height = _above_planes(qhull, points, facet, most)
        if height is None:
            return None
    inward = height < 0.0
    if not vertices:
        return Facets(facet, inward, _last_cones(facet), None)
    found = order_in(lists, vertices, facet)
    return found and Facets(facet, inward, *found)


def _ask(qhull: Any, points: np.ndarray, formats: str, most: int = -1) -> tuple[bytes, bytes, bytes]:
    """Run Qhull's library, and return its text: facets in the requested formats, summary and lists, and vertices.

    The text of vertices is empty if the order of the vertices follows from the facets.

    Raises:
        MeshDataError: the points lie in a plane.
    """
    points = np.ascontiguousarray(points, np.float64)
    memory = np.empty(_STATE, np.uint8)  # Qhull clears the part that it uses
    state = ctypes.c_void_p(memory.ctypes.data)
    facets, lists, vertices, rest = _Stream(), _Stream(), _Stream(), (ctypes.c_int(), ctypes.c_int())
    qhull.qh_zero(state, lists.file)
    command = f"qhull {_options(most)} {formats}".encode()
    failed = qhull.qh_new_qhull(state, 3, len(points), points.ctypes.data, 0, command, facets.file, lists.file)
    # four facets are the initial tetrahedron, which has no cone; a bound can leave one cone and parts of it
    listed = most >= 0 or _MERGED in lists.written() or facets.written().startswith(b"4\n")
    if not failed and listed:
        qhull.qh_printlists(state)
        remaining = ctypes.c_void_p(qhull.qh_pointvertex(state))
        qhull.qh_setcompact(state, remaining)
        while vertex := qhull.qh_setdellast(remaining):
            qhull.qh_printvertex(state, vertices.file, vertex)
        qhull.qh_settempfree(state, ctypes.byref(remaining))
    qhull.qh_freeqhull(state, 0)
    qhull.qh_memfreeshort(state, ctypes.byref(rest[0]), ctypes.byref(rest[1]))
    answer = facets.written(), lists.written(), vertices.written()
    for stream in (facets, lists, vertices):
        stream.close()
    if failed:
        raise MeshDataError(FLAT)
    return answer


def _heights(points: np.ndarray, facet: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return the heights of triangles above the hull's middle, times twice their areas, and whether signs are certain.

    A height is positive if the corners are counter-clockwise seen from outside. The signs are certain if no triangle is
    thin and no triangle's plane is close to the middle.
    """
    corner = points.T[:, facet.T]  # coordinates, corners, triangles: sums over the first axis are the fastest
    a, first, second = corner[:, 0], corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
    normal = np.empty_like(a)
    for k, i, j in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        normal[k] = first[i] * second[j] - first[j] * second[i]
    size = np.ptp(corner.reshape(3, -1), axis=1).max()
    height = ((a - corner.mean(axis=(1, 2))[:, None]) * normal).sum(axis=0)
    area, one, other = (np.sqrt((rows * rows).sum(axis=0)) for rows in (normal, first, second))
    clear = (area > _THIN * size * np.maximum(one, other)) & (np.abs(height) > _CLEAR * size * area)
    return height, bool(clear.all())


def _above_planes(qhull: Any, points: np.ndarray, facet: np.ndarray, most: int = -1) -> np.ndarray | None:
    """Return a number for each facet, negative if its corners are clockwise from outside; None if parsing fails."""
    plane = np.array(_ask(qhull, points, "n", most)[0].split(), np.float64)[2:]
    return _along_planes(points, facet, plane.reshape(-1, 4)) if len(plane) == 4 * len(facet) else None


def _along_planes(points: np.ndarray, facet: np.ndarray, plane: np.ndarray) -> np.ndarray:
    """Return the dot product of each triangle's normal and the outward normal of its plane; ``plane`` is (m, 4)."""
    a, b, c = (points[facet[:, k]] for k in range(3))
    return (np.cross(b - a, c - a) * plane[:, :3]).sum(axis=1)


def _by_scipy(points: np.ndarray, most: int = -1) -> Facets:
    """Compute the hull with SciPy's copy of Qhull.

    Raises:
        MeshDataError: the points lie in a plane.
    """
    from scipy.spatial import QhullError
    from scipy.spatial._qhull import _Qhull

    try:
        found = _Qhull(b"i", points, _options(most).encode(), None, False)
        found.triangulate()
    except QhullError:
        raise MeshDataError(FLAT) from None
    facet, _, plane, _, _ = found.get_simplex_facet_array()
    # Qhull ends the process if it is asked for the regions of a hull that it did not finish
    order = _vertex_order(found, facet, plane) if most < 0 else _last_cones(facet)
    facet, order = facet.astype(np.int32), order.astype(np.int32)
    return Facets(facet, _along_planes(points, facet, plane) < 0.0, order, None)


def _vertex_order(found: Any, facet: np.ndarray, plane: np.ndarray) -> np.ndarray:
    """Return the hull's vertices in Qhull's order, from SciPy's hull, its triangles (m, 3) and their planes (m, 4)."""
    flat = len(np.unique(plane, axis=0)) < len(plane)  # faces with more than three corners
    if not flat and len(facet) > 4:  # four are the initial tetrahedron, which has no cone
        return _last_cones(facet)
    region = found.get_voronoi_diagram()[4]
    vertex = np.flatnonzero(region >= 0)
    return vertex[np.argsort(region[vertex])]


def _last_cones(facet: np.ndarray) -> np.ndarray:
    """Return the hull's vertices, sorted by the last cone that contains the vertex, then by its position in this cone.

    A *cone* is the run of consecutive facets that Qhull added with one point, its apex. The apex is the first vertex of
    each of these facets.
    """
    apex = facet[:, 0]
    cone = np.repeat(np.cumsum(np.concatenate(([True], apex[1:] != apex[:-1]))), 3)
    vertex = facet.ravel()
    # if a place is written twice, the last value remains
    last, first = np.zeros((2, vertex.max() + 1), np.int64)
    last[vertex] = cone
    place = np.flatnonzero(last[vertex] == cone)
    first[vertex[place[::-1]]] = place[::-1]
    return vertex[place[first[vertex[place]] == place]]


# --- Qhull's text (the manual of Qhull, "Output formats") ------------------------------------------------------------


def facets_in(text: bytes) -> np.ndarray | None:
    """Parse triangles in Qhull's format ``Fv``: (m, 3) point indices, int32. Return None if the text is not valid."""
    count, _, rest = text.partition(b"\n")
    row = _integers(rest)
    if row is None or not count.strip().isdigit() or len(row) != 4 * int(count) or (row[::4] != 3).any():
        return None
    return np.ascontiguousarray(row.reshape(-1, 4)[:, 1:])


def order_in(lists: bytes, vertices: bytes, facet: np.ndarray) -> tuple[np.ndarray, Around | None] | None:
    """Parse the order of a hull's vertices and the facets around each vertex. The hull's triangles are known.

    Args:
        lists: text with the names of all facets and of all vertices, each list after its title.
        vertices: the vertices, each with the names of the facets around it, like ``- p7(v1): 0 0 0``, ``neighbors: f3
            f5``. A tetrahedron has no neighbours.
        facet: point indices of the triangles (m, 3).

    Returns:
        point indices of the vertices (n,), and the facets around them (`Facets.around`), or None if these are
        incomplete. The whole result is None if the text has another form or is inconsistent.
    """
    # rows of -1, point, name, names of the facets around it
    row = _integers(_COORDINATES.sub(rb" \1", vertices).replace(b"- p", b" -1 ").replace(b"f", b" "))
    named = _LISTS.search(lists)
    if row is None or not len(row) or row[0] >= 0 or named is None:
        return None
    start = np.flatnonzero(row < 0)
    count = np.diff(start, append=len(row)).astype(np.int32) - 3
    facet_name, vertex_name = map(_integers, named.groups())
    if count.min() < 0 or facet_name is None or vertex_name is None or len(vertex_name) != len(start):
        return None
    point, name = row[start + 1], row[start + 2]
    near = np.delete(row, np.concatenate((start, start + 1, start + 2)))
    row_of, number = _places(name, vertex_name), _places(facet_name, near)
    if row_of is None or number is None or _places(point, facet.ravel()) is None:
        return None
    if not len(start) == len(np.unique(point)) == len(np.unique(row_of)):
        return None
    begin = np.stack((np.cumsum(count, dtype=np.int32) - count, count), axis=1)[row_of]
    return point[row_of], (number, begin) if len(near) == facet.size else None


def _integers(text: bytes) -> np.ndarray | None:
    """Parse integers between white space, int32; None if the text contains anything else."""
    if text.translate(None, b"0123456789- \t\n"):
        return None
    found = np.fromstring(text, np.int64, sep=" ")  # in a quarter of the time of `np.array(text.split(), np.int64)`
    return found.astype(np.int32) if found.max(initial=0) <= _LARGEST else None


def _places(names: np.ndarray, wanted: np.ndarray) -> np.ndarray | None:
    """Return the indices of the wanted names in ``names``, int32; None if a name is missing."""
    place = np.full(max(names.max(initial=0), wanted.max(initial=0)) + 1, -1, np.int32)
    place[names] = np.arange(len(names))
    found = place[wanted]
    return None if (found < 0).any() else found
