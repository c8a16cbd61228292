"""Convex hulls by Qhull, with the order in which it keeps their vertices and the facets around each of them.

The graph of a hull is walked from its first vertex, and a mesh that lies on a plane has contacts at the first
neighbours of its lowest vertex: so this order decides about contacts.

Qhull adds points one by one. The new facets, a cone from the new point, go to the end of its list of facets, and the
vertices of these facets, in the same order, to the end of its list of vertices. So as long as all facets are triangles,
both orders follow from the list of facets. Flat faces of more corners are merged from triangles and cut up again at the
end, which disturbs both.

Qhull's library (package ``cmeel-qhull``, not on Windows) is called directly: importing SciPy would take longer than
most hulls. It prints planes, facets and their names (options ``n``, ``Fv``, ``FI``), and says in its summary (``s``)
whether it has merged any; if so it is run once more, and prints the facets around each vertex (``FF``) and, for
debugging, its list of vertices. Where the library is not there, and for very many facets, SciPy runs Qhull; then the
numbers of the regions of a Voronoi diagram tell the order of vertices in passing, and facets around them stand in the
order of the list.

Sources: C. Barber, D. Dobkin, H. Huhdanpaa, The Quickhull algorithm for convex hulls, ACM Transactions on Mathematical
Software 22 (1996), section 2; the manual of Qhull (calling Qhull from C programs; output formats). What goes beyond it
follows from the numbers of the reference.
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
"""Cut flat faces of more than three corners into triangles."""
MANY = 20_000
"""Facets above which the library isn't asked for what is around vertices: it prints all, which takes seconds."""
FLAT = "the mesh has no convex hull: its vertices lie in a plane, or nearly"

_LIBRARIES = ("libqhull_r.so", "libqhull_r.dylib")
_STATE = 1 << 16  # bytes for Qhull's own structure, which takes 9,000
_VERTEX = re.compile(r"^- p(\d+)\(v(\d+)\):", re.MULTILINE)
_AROUND = re.compile(r"^- p(\d+)\(v\d+\):[^\n]*\n  neighbors:((?:\s+f\d+)+)", re.MULTILINE)
_MERGED = "Number of merged facets"
_LISTED = re.compile(r"all vertices:((?:\s+\d+)+)")


class Facets(NamedTuple):
    """A hull of triangles, in Qhull's order.

    Attributes:
        facet: vertices of the triangles, in Qhull's order, which says nothing about inside and outside (m, 3).
        plane: normals to the outside, and offsets (m, 4).
        vertex: numbers of the vertices.
        around: all pairs of a vertex and a facet at it, two arrays of 3 m; the facets of a vertex in order.
    """

    facet: np.ndarray
    plane: np.ndarray
    vertex: np.ndarray
    around: tuple[np.ndarray, np.ndarray]


def facets_of(points: np.ndarray) -> Facets:
    """The convex hull of points (n, 3), float64.

    Raises:
        MeshDataError: the points lie in a plane, or are not finite.
    """
    if not np.isfinite(points).all():
        raise MeshDataError("the mesh has no convex hull: a coordinate is not finite")
    qhull = library()
    return (_by_library(qhull, points) if qhull is not None else None) or _by_scipy(points)


@cache
def library() -> Any:
    """Qhull's library, if its package is installed."""
    for folder in sys.path:
        for name in _LIBRARIES:
            place = Path(folder, "cmeel.prefix", "lib", name)
            if place.exists():
                return _opened(place)
    return None


def _opened(place: Path) -> Any:
    """A library, or None if it can't be used here."""
    try:
        found = ctypes.CDLL(str(place))
        for name in ("qh_zero", "qh_new_qhull", "qh_printlists", "qh_freeqhull", "qh_memfreeshort"):
            getattr(found, name)
        _streams()
    except (OSError, AttributeError):
        return None
    return found


@cache
def _streams() -> Any:
    """The C library, whose streams into memory Qhull can print to."""
    c = ctypes.CDLL(None)
    c.open_memstream.restype = ctypes.c_void_p
    c.fclose.argtypes = c.free.argtypes = (ctypes.c_void_p,)
    return c


class _Stream:
    """A file of C in memory."""

    def __init__(self) -> None:
        self._text, self._size = ctypes.c_void_p(), ctypes.c_size_t()
        self.file = ctypes.c_void_p(_streams().open_memstream(ctypes.byref(self._text), ctypes.byref(self._size)))

    def close(self) -> str:
        """End it; returns what was written."""
        _streams().fclose(self.file)
        text = ctypes.string_at(self._text.value or 0, self._size.value).decode("latin-1")
        _streams().free(self._text)
        return text


def _by_library(qhull: Any, points: np.ndarray) -> Facets | None:
    """The hull as Qhull's library tells it, or None if it has very many facets, or the answer can't be understood.

    Raises:
        MeshDataError: the points lie in a plane.
    """
    numbers, summary = _ask(qhull, points, "s n Fv FI")
    try:
        table = np.array(numbers.split(), np.float64)
    except ValueError:
        return None
    count = int(table[1]) if len(table) > 1 else 0
    # planes with their size, then facets, then their names, each after their number
    if not 0 < count <= MANY or len(table) != 2 + 4 * count + 1 + 4 * count + 1 + count:
        return None
    plane, corner, name = np.split(table, [2 + 4 * count, 3 + 8 * count])
    size, *facet = corner[1:].astype(np.int64).reshape(-1, 4).T
    if (size != 3).any():
        return None
    facets = np.stack(facet, axis=1), plane[2:].reshape(-1, 4)
    # four are the tetrahedron that it starts from, without a cone
    if count > 4 and _MERGED not in summary:
        return Facets(*facets, _last_cones(facets[0]), _as_listed(facets[0]))
    return _read_vertices(*facets, name[1:].astype(np.int64).tolist(), *_ask(qhull, points, "FF"))


def _ask(qhull: Any, points: np.ndarray, formats: str) -> tuple[str, str]:
    """Run Qhull's library; returns what it prints in some formats, and its lists.

    Raises:
        MeshDataError: the points lie in a plane.
    """
    points = np.ascontiguousarray(points, np.float64)
    state = ctypes.create_string_buffer(_STATE)
    facets, lists, rest = _Stream(), _Stream(), (ctypes.c_int(), ctypes.c_int())
    qhull.qh_zero(state, lists.file)
    command, where = f"qhull {OPTIONS} {formats}".encode(), ctypes.c_void_p(points.ctypes.data)
    failed = qhull.qh_new_qhull(state, 3, len(points), where, 0, command, facets.file, lists.file)
    if not failed:
        qhull.qh_printlists(state)
    qhull.qh_freeqhull(state, 0)
    qhull.qh_memfreeshort(state, ctypes.byref(rest[0]), ctypes.byref(rest[1]))
    texts = facets.close(), lists.close()
    if failed:
        raise MeshDataError(FLAT)
    return texts


def _read_vertices(facet: np.ndarray, plane: np.ndarray, names: list[int], dump: str, lists: str) -> Facets | None:
    """A hull of known facets, with what Qhull printed of its vertices; None if that doesn't fit together."""
    vertices = dump.partition("\n- f")[0]
    number = {f"f{name}": k for k, name in enumerate(names)}
    point_of = {vertex: int(point) for point, vertex in _VERTEX.findall(vertices)}
    found = _LISTED.search(lists)
    order = found[1].split() if found else []
    if sorted(order) != sorted(point_of) or set(point_of.values()) != set(facet.ravel().tolist()):
        return None
    pairs = [(int(v), number.get(name, -1)) for v, near in _AROUND.findall(vertices) for name in near.split()]
    vertex, near = np.array(pairs, np.int64).reshape(-1, 2).T
    if (near < 0).any():
        return None
    # it tells nothing where the list decides
    around = (vertex, near) if len(vertex) == facet.size else _as_listed(facet)
    return Facets(facet, plane, np.array([point_of[name] for name in order]), around)


def _by_scipy(points: np.ndarray) -> Facets:
    """The hull as SciPy's copy of Qhull tells it.

    Raises:
        MeshDataError: the points lie in a plane.
    """
    from scipy.spatial import QhullError
    from scipy.spatial._qhull import _Qhull

    try:
        found = _Qhull(b"i", points, OPTIONS.encode(), None, False)
        found.triangulate()
    except QhullError:
        raise MeshDataError(FLAT) from None
    facet, _, plane, _, _ = found.get_simplex_facet_array()
    return Facets(facet, plane, _vertex_order(found, facet, plane), _as_listed(facet))


def _as_listed(facet: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of a vertex and a facet at it, in the order of the list of facets."""
    return facet.ravel(), np.repeat(np.arange(len(facet)), 3)


def _vertex_order(found: Any, facet: np.ndarray, plane: np.ndarray) -> np.ndarray:
    """Numbers of the hull's vertices in Qhull's order: SciPy's object, triangles (m, 3) and their planes (m, 4)."""
    flat = len(np.unique(plane, axis=0)) < len(plane)  # faces of more than three corners
    if not flat and len(facet) > 4:  # four are the tetrahedron that it starts from, without a cone
        return _last_cones(facet)
    region = found.get_voronoi_diagram()[4]
    vertex = np.flatnonzero(region >= 0)
    return vertex[np.argsort(region[vertex])]


def _last_cones(facet: np.ndarray) -> np.ndarray:
    """The vertices by the last cone of facets that each belongs to, and by their first place in it.

    The facets of a cone follow one another, and each names the apex first.
    """
    apex = facet[:, 0]
    cone = np.cumsum(np.concatenate(([True], apex[1:] != apex[:-1])))
    vertex, cone = facet.ravel(), np.repeat(cone, 3)
    place = np.lexsort((np.arange(len(vertex)), -cone, vertex))
    first = place[np.concatenate(([True], vertex[place][1:] != vertex[place][:-1]))]
    return vertex[np.sort(first)]
