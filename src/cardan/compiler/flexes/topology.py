"""What follows from the elements of a flex alone: edges, shell, layers, and pairs that internal collisions look at.

An element has dim + 1 vertices; its fragments are its sides, with dim vertices each. A fragment that belongs to one
element only is part of the shell. All tables are made at once for all elements, by sorting.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cardan.spec.flexcomp.simplices import edges_of

# places of the vertices of each fragment, which turn outwards (3D), or as the element does (2D)
_FRAGMENTS: dict[int, tuple[tuple[int, ...], ...]] = {
    1: ((0,), (1,)),
    2: ((0, 1), (1, 2), (2, 0)),
    3: ((0, 1, 2), (0, 2, 3), (0, 3, 1), (1, 3, 2)),
}
# place of the vertex that a fragment leaves out
_OPPOSITE: dict[int, tuple[int, ...]] = {1: (1, 0), 2: (2, 0, 1), 3: (3, 1, 2, 0)}
_SOLID = 3


class Topology(NamedTuple):
    """Tables of one flex, its vertices numbered from 0.

    Attributes:
        edge: vertices of the edges, the lower one first (nedge, 2).
        shell: vertices of the shell's fragments (nshell, dim).
        layer: number of elements between an element and the shell; 0 but for solids (nelem,).
        evpair: elements, and vertices of their neighbours, that may touch inside the flex; none in solids (npair, 2).
    """

    edge: np.ndarray
    shell: np.ndarray
    layer: np.ndarray
    evpair: np.ndarray


def topology(elem: np.ndarray) -> Topology:
    """The tables that follow from the elements (nelem, dim + 1)."""
    dim = elem.shape[1] - 1
    sides = _Sides(elem, dim)
    layer = _layers(sides, len(elem)) if dim == _SOLID else np.zeros(len(elem), np.int32)
    evpair = _pairs(sides, elem) if dim < _SOLID else np.empty((0, 2), np.int32)
    return Topology(edges_of(elem)[0], sides.vertex[sides.is_shell], layer, evpair)


class _Sides:
    """All fragments of all elements, those with the same vertices side by side, lowest vertices first.

    Attributes:
        vertex: vertices as the element orders them (n, dim); elem: the element; opposite: its vertex that is left out.
        group: number of the set of equal fragments; is_shell: whether there is no equal one.
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
        """Fragments that are equal to the next one, which is another element's (n,)."""
        return np.flatnonzero(self.group[1:] == self.group[:-1])


def _layers(sides: _Sides, nelem: int) -> np.ndarray:
    """How many sides lie between each element and the shell; one more than there are elements where none is reached."""
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
    """For neighbours that share a fragment: each of the two elements, and the vertex that only the other one has.

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
