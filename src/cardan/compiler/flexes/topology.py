"""Tables derived from the elements of a flex: edges, shell, layers, and candidate pairs for internal collisions.

An element has dim + 1 vertices; its fragments are its sides, with dim vertices each. A fragment that belongs to only
one element is part of the shell. All tables are computed for all elements together, by sorting.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cardan.spec.flexcomp.lattice import edges_of

# local vertices of each fragment; their orientation is outwards (3D), or that of the element (2D)
_FRAGMENTS: dict[int, tuple[tuple[int, ...], ...]] = {
    1: ((0,), (1,)),
    2: ((0, 1), (1, 2), (2, 0)),
    3: ((0, 1, 2), (0, 2, 3), (0, 3, 1), (1, 3, 2)),
}
# local vertex that is not part of the fragment
_OPPOSITE: dict[int, tuple[int, ...]] = {1: (1, 0), 2: (2, 0, 1), 3: (3, 1, 2, 0)}
_SOLID = 3


class Topology(NamedTuple):
    """Tables of one flex, with vertices numbered from 0.

    Attributes:
        edge: vertices of the edges, the lower one first (nedge, 2).
        shell: vertices of the shell's fragments (nshell, dim).
        layer: number of elements between an element and the shell; 0 except in solids (nelem,).
        evpair: elements, and vertices of their neighbours, that may touch inside the flex; none in solids (npair, 2).
    """

    edge: np.ndarray
    shell: np.ndarray
    layer: np.ndarray
    evpair: np.ndarray


def topology(elem: np.ndarray) -> Topology:
    """Compute the tables from the elements (nelem, dim + 1)."""
    dim = elem.shape[1] - 1
    sides = _Sides(elem, dim)
    layer = _layers(sides, len(elem)) if dim == _SOLID else np.zeros(len(elem), np.int32)
    evpair = _pairs(sides, elem) if dim < _SOLID else np.empty((0, 2), np.int32)
    return Topology(edges_of(elem)[0], sides.vertex[sides.is_shell], layer, evpair)


class _Sides:
    """All fragments of all elements, with equal ones side by side, lowest vertices first.

    Attributes:
        vertex: vertices in the order of the element (n, dim).
        elem: the element.
        opposite: the vertex of the element that is not part of the fragment.
        group: index of the set of equal fragments.
        is_shell: whether there is no equal fragment.
    """

    def __init__(self, elem: np.ndarray, dim: int) -> None:
        places = _FRAGMENTS[dim]
        vertex = elem[:, places].reshape(-1, dim)
        ordered = np.sort(vertex, axis=1)
        order = np.lexsort(ordered.T[::-1])
        ordered = ordered[order]
        self.vertex = vertex[order]
        self.elem = order // len(places)
        self.opposite = elem[:, _OPPOSITE[dim]].reshape(-1)[order]
        self.group = np.cumsum(np.any(np.diff(ordered, axis=0, prepend=-1), axis=1)) - 1
        self.is_shell = np.bincount(self.group)[self.group] == 1

    def shared(self) -> np.ndarray:
        """Return which fragments are equal to the next one, which belongs to another element (n,)."""
        return np.flatnonzero(self.group[1:] == self.group[:-1])


def _layers(sides: _Sides, nelem: int) -> np.ndarray:
    """Return the number of sides between each element and the shell; nelem + 1 if the shell cannot be reached."""
    layer = np.full(nelem, -1, np.int32)
    first = sides.shared()
    one, two = sides.elem[first], sides.elem[first + 1]
    front = np.zeros(nelem, bool)
    front[sides.elem[sides.is_shell]] = True
    depth = 0
    while front.any():
        layer[front] = depth
        depth += 1
        inner = np.zeros(nelem, bool)
        inner[two[front[one]]] = True
        inner[one[front[two]]] = True
        front = inner & (layer < 0)
    layer[layer < 0] = nelem + 1
    return layer


def _pairs(sides: _Sides, elem: np.ndarray) -> np.ndarray:
    """Return both elements of neighbours that share a fragment, each with the vertex that only the other one has.

    One of the two must have a fragment of the shell.
    """
    outer = np.zeros(len(elem), bool)
    outer[sides.elem[sides.is_shell]] = True
    first = sides.shared()
    one, two = sides.elem[first], sides.elem[first + 1]
    vertex_one, vertex_two = sides.opposite[first], sides.opposite[first + 1]
    keep = (outer[one] | outer[two]) & (vertex_one != vertex_two)
    pairs = np.stack([two, vertex_one, one, vertex_two], axis=1)[keep]
    return pairs.reshape(-1, 2).astype(np.int32)
