"""The order in which Qhull keeps the vertices of a convex hull and the facets around each of them.

The graph of a hull is walked from its first vertex, and a mesh that lies on a plane has contacts at the first
neighbours of its lowest vertex: so this order decides about contacts.

Qhull adds points one by one. The new facets, a cone from the new point, go to the end of its list of facets, and the
vertices of these facets, in the same order, to the end of its list of vertices. So as long as all facets are triangles,
both orders follow from the list of facets. Flat faces of more corners are merged from triangles and cut up again at the
end, which disturbs both. Then SciPy tells the order of vertices in passing, as the numbers of the regions of a Voronoi
diagram, and Qhull's own program (package ``cmeel-qhull``, not on Windows) that of the facets around them. Without the
program, or where there are very many facets, they stand in the order of the list.

Source: C. Barber, D. Dobkin, H. Huhdanpaa, The Quickhull algorithm for convex hulls, ACM Transactions on Mathematical
Software 22 (1996), section 2. What goes beyond it follows from the numbers of the reference.
"""

from __future__ import annotations

import re
import subprocess
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np

OPTIONS = "Qt"
"""Cut flat faces of more than three corners into triangles."""
MANY = 20_000
"""Facets above which the program isn't asked: it prints them all, which takes seconds."""
_TITLE = b"Vertices and facets"
_VERTEX = re.compile(rb"^- p(\d+)\(v\d+\):[^\n]*\n  neighbors:((?:\s+f\d+)+)", re.MULTILINE)


def has_flat_faces(equation: np.ndarray) -> bool:
    """Whether a hull has faces of more than three corners: triangles with the same plane (n, 4)."""
    return len(np.unique(equation, axis=0)) < len(equation)


def run(points: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """Run Qhull once, for its facets as for what it can tell of them after.

    Args:
        points: (n, 3) float64.

    Returns:
        SciPy's object of the run, vertices of the triangles (m, 3) and their planes (m, 4), as `ConvexHull` has them.

    Raises:
        QhullError: the points lie in a plane.
    """
    from scipy.spatial._qhull import _Qhull

    found = _Qhull(b"i", points, OPTIONS.encode(), None, False)
    found.triangulate()
    facet, _, equation, _, _ = found.get_simplex_facet_array()
    return found, facet, equation


def vertex_order(found: Any, facet: np.ndarray, *, flat: bool) -> np.ndarray:
    """Numbers of the hull's vertices in Qhull's order.

    Args:
        found: Qhull after its run, see `run`.
        facet: vertices of its triangles as SciPy lists them (m, 3).
        flat: whether it has faces of more than three corners.
    """
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


def facets_around(points: np.ndarray, facet: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of a vertex and a facet at it; those of a vertex come in Qhull's order.

    Args:
        points: (n, 3) float64.
        facet: vertices of its triangles as SciPy lists them (m, 3).

    Returns:
        Vertices and facets, (3 m,) each.
    """
    listed = facet.ravel(), np.repeat(np.arange(len(facet)), 3)
    qhull = program()
    if qhull is None or len(facet) > MANY:
        return listed
    numbers, vertices = _ask(qhull, points)
    number = {name: k for k, name in enumerate(numbers)}
    pairs = [(int(v), number.get(name[1:], 0)) for v, names in _VERTEX.findall(vertices) for name in names.split()]
    vertex, around = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    # it tells nothing where the list decides; another build of the library may find other facets
    if (
        len(number) != len(facet)
        or len(vertex) != facet.size
        or not (facet[around] == vertex[:, None]).any(axis=1).all()
    ):
        return listed
    return vertex, around


def _ask(qhull: Path, points: np.ndarray) -> tuple[list[bytes], bytes]:
    """Qhull's numbers of the facets in their order, and what it prints of the vertices.

    It would go on with all it knows of the facets, but nobody reads that.
    """
    # short lines, which it reads as a stream of numbers
    text = f"3\n{len(points)}\n" + "\n".join(map(repr, points.ravel().tolist())) + "\n"
    lines: list[bytes] = []
    with subprocess.Popen(
        [qhull, OPTIONS, "FI", "f"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        # all is read before anything is written
        with suppress(BrokenPipeError):
            process.stdin.write(text.encode())
            process.stdin.close()
        for line in process.stdout:
            if line.startswith(b"- f"):
                break
            lines.append(line)
        process.kill()
    titles = [k for k, line in enumerate(lines) if line.startswith(_TITLE)]
    return ([line.strip() for line in lines[1 : titles[0]]], b"".join(lines[titles[0] :])) if titles else ([], b"")


@cache
def program() -> Path | None:
    """Qhull's program, if its package is installed."""
    try:
        found = Path(str(distribution("cmeel-qhull").locate_file("cmeel.prefix/bin/qhull")))
    except PackageNotFoundError:
        return None
    return found if found.exists() else None
