"""Fields of MuJoCo 4.0 that describe the convex hulls of meshes: extreme vertices and polygons.

Functions take a finished model. Polygons are those of the collider (`cardan.model.polygons`); their order is Cardan's.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cardan.model.hulls import hull_rows

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

DIRECTIONS = np.array([*product((-1.0, 0.0, 1.0), repeat=3)], np.float32)
"""Directions in which hulls have extreme vertices (27, 3): z changes first. The direction in the middle is 0."""


def extreme_vertices(m: MjModel) -> np.ndarray:
    """Return the farthest vertices of hulls along `DIRECTIONS` (nmesh, 27), as numbers in the graphs of the hulls.

    Distances are in single precision, as in the reference. Of equally far vertices, the first counts. Meshes without a
    hull have zeros.
    """
    found, along = np.zeros((m.nmesh, len(DIRECTIONS)), np.int32), DIRECTIONS.T
    for mesh, rows in enumerate(hull_rows(m)):
        if m.mesh_graphadr[mesh] >= 0:
            x, y, z = m.mesh_vert[rows].T[:, :, None]
            found[mesh] = (x * along[0] + y * along[1] + z * along[2]).argmax(axis=0)
    return found


class Polygons(NamedTuple):
    """Polygons of the hulls of a model. All arrays are int32, except `normal`."""

    number: np.ndarray  # of polygons of each mesh (nmesh,)
    adr: np.ndarray  # first polygon of each mesh (nmesh,)
    normal: np.ndarray  # outward unit normals (nmeshpoly, 3)
    vertadr: np.ndarray  # first vertex of each polygon in `vert` (nmeshpoly,)
    vertnum: np.ndarray  # number of vertices of each polygon (nmeshpoly,)
    vert: np.ndarray  # vertices of the mesh, from 0, polygon by polygon (nmeshpolyvert,)
    mapadr: np.ndarray  # first polygon in `map` of each vertex (nmeshvert,)
    mapnum: np.ndarray  # number of polygons around each vertex (nmeshvert,)
    map: np.ndarray  # polygons of the mesh, from 0, vertex by vertex (nmeshpolymap,)


def largest(m: MjModel, part: str) -> int:
    """Return the largest number in a part of `polygons`, or 0."""
    return int(max(getattr(polygons(m), part), default=0))


def polygons(m: MjModel) -> Polygons:
    """Return the polygons of all hulls, with numbers of vertices and polygons that begin at 0 in each mesh."""
    table = m._memory.arrays
    count = int(table["aux.polygon_adr"][m.nmesh])
    adr, vertadr = table["aux.polygon_adr"][: m.nmesh + 1], table["aux.polygon_vertadr"][: count + 1]
    mapadr = table["aux.around_adr"][: m.nmeshvert + 1]
    vertices, around = table["aux.polygon_vert"][: vertadr[-1]], table["aux.around"][: vertadr[-1]]
    first_vertex = np.repeat(np.repeat(m.mesh_vertadr, np.diff(adr)), np.diff(vertadr))
    first_polygon = np.repeat(np.repeat(adr[:-1], m.mesh_vertnum), np.diff(mapadr))
    return Polygons(
        *(np.diff(adr), adr[:-1].copy(), table["aux.polygon_normal"][:count].copy()),
        *(vertadr[:-1].copy(), np.diff(vertadr), vertices - first_vertex),
        *(mapadr[:-1].copy(), np.diff(mapadr), around - first_polygon),
    )
