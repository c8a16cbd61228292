"""Meshes of signed-distance shapes: the surface where the distance is 0, from samples on a grid (spec: modeling).

Triangles are found by marching cubes: the corners of a cube that are inside determine which of its edges are crossed. A
table specifies how the crossings are joined to triangles. The table, the order of the vertices and the order of the
triangles are those of the reference.

Source: W. E. Lorensen, H. E. Cline, Marching cubes (1987).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from cardan.collision.sdf.sampling import shape_distances
from cardan.compiler.meshes.normals import vertex_normals
from cardan.compiler.meshes.surface import Surface
from cardan.formats.raw import MeshDataError, RawMesh

if TYPE_CHECKING:
    from cardan.collision.sdf.shape import Shape


_CORNERS = np.array([(k & 1, k >> 1 & 1, k >> 2 & 1) for k in range(8)])
_EDGES = tuple((a, a | bit) for bit in (1, 2, 4) for a in range(8) if not a & bit)

_TABLE = """
- 048 509 495489 1a4 1801a8 1a4950 51a5a99a8 b15 5b1804 0b109b 14818bb89 a5ba45 05b0b88ba 40949aa9b 8ba89b 286
062046 950628 295256654 41a286 a62a21120 0958621a4 61a621251295 28615b 604620b15 b09b10628 46162916919b
5a45ba286 2a625a5ba052 286a9ba49409 2a629a9ba 927 048792 250275 827874475 1a4279 1801a8792 250275a41
827871175a81 b15279 0485b1279 7b1712210 48242112717b a5ba45279 7928ba80b05b ba7a407a0702 7827b8ba8 879867
904947746 086065567 467475 7867981a4 79661a916901 a41567506086 a51a65675 87986715b 15b746794904 08606bb6710b
17b147467 4ba45b698679 670ba0a605b0790 ba06707b0860a40 67b6ba 36a a36048 36a095 94895436a 341364 680603301
341364950 958836538513 36a5b1 15b48036a 0b109b6a3 6a3b89b18148 b36b65564 8368030b305b 6b360b09b406 6b368b89b
2a328a 4a3430032 a28a32509 34a394954293 841812213 013032 509213281841 529512132 2a328a5b1 b150320434a3
38a32819b109 9b4324294a34b14 5b4428b24b32 b05b30320 3249b4b34094284 32939b 792a36 2796a3048 527502a36
36a475487827 436413927 927301360680 164136075027 138758518278368 36a79215b 0486a379215b a362102717b1
36ab17127142482 2795645b6b36 2798060360535b3 02b64b40b36b27b 6838b387b827 37939aa98 a04a30390379 8a0a370a7075
34a374754 184178798371 937903013 758138378418508 137175 5b1a98a39379 15ba34304370790 8a7107087b17a37
37a74a7147b1 4539838437935b3 9070370b305b 08437b 7b3 73b 0483b7 5093b7 4954893b7 b7341a 81a80173b 1a4b73095
3b79a895a51a 173157 715731804 973930031 148187789317 3a4347745 80aa7307a057 a40a03309397 3973a9a89 286b73
062046b73 2869503b7 b73654625295 3b7a41286 73b1201a2a62 1a48629503b7 3b762a21a291951 173157862 246204357315
628031093973 469319149739629 8627457343a4 57a20a05a62a73a 2867393093a0a40 2969a693a973 3923b9 3923b9480
b50b03302 54b482b42b23 93b92341a 0a801a2b923b 41a3023b0b50 235a858251a53b5 592521123 804123152592 031023
814821231 3a4349945239 a852353a5925805 43a403023 23a2a8 63b6b88b9 63b6b00b9460 86383003b0b5 b63b56546
1a48b986b63b 016b969063b61a6 1a450b03b083863 a616516b563b 985863583531 319469639049159 608630310 314346
983453593a43863 3a6059 6383083403a4 3a6 6b76ab b6ab76048 6b76ab095 854895a76ab7 1b7174476 0680b6b761b0
9504764171b7 891761681b71951 a15a56657 0486576a5a15 7696a1961910 7618919714816a1 476457 068056576 940974764
897876 72878bb8a b7aa0470a720 095b8ab78728 ab25424a2952b72 4284121721b7 71b721201 0954181281b2b72 5191291721b7
872817157a18 20a57a72a15a04a 1078a7a17287097 14a297 872847457 205257 842472497409 972 26a2a99ab 4809ab92a26a
26a2a55ab025 542ab2b526a2482 4166921961b9 b960161b6806926 64b02b26b50b41b 2681b5 6a1612215259 0489252152616a1
a26a12102 a16126182148 259265645 058568526592 026064 268 8ab8b9 4904a9ab9 0b508b8ab ab5a54 1841b8b98 01b0b9
1b4b84b08b50 b51 5a159a98a 4a0a90a59a15 10818a 14a 459498 590 084 -
"""
"""Triangles of each case of marching cubes, as text. Bit k of a case's index is set if corner k is inside the surface.

Each group of three hexadecimal digits lists the crossed edges that are the corners of one triangle; "-": no triangle.
"""

_CASES = _TABLE.split()


@cache
def _triangles(case: int) -> tuple[tuple[int, int, int], ...]:
    """Return the triangles of a case of marching cubes, as triples of crossed edges. Normals point outwards."""
    edges = [int(digit, 16) for digit in _CASES[case] if digit != "-"]
    return tuple(zip(edges[0::3], edges[1::3], edges[2::3], strict=True))


def marching_cubes(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices (n, 3) and triangles (k, 3) of the surface on which a function is zero.

    ``values`` are the function's values at integer coordinates (nx, ny, nz), negative inside. Vertices are interpolated
    along the edges of unit cubes. Vertices are in the order of their edges, and triangles in the order of their cubes:
    by z, then y, then x.
    """
    inside = values < 0.0
    nx, ny, nz = np.array(values.shape) - 1
    case = np.zeros((nx, ny, nz), np.uint8)
    for corner, (x, y, z) in enumerate(_CORNERS):
        case |= inside[x : nx + x, y : ny + y, z : nz + z].astype(np.uint8) << corner
    case = case.transpose(2, 1, 0)
    cells = np.argwhere((case > 0) & (case < 255))
    kinds = case[tuple(cells.T)]
    corners, places = [np.empty((0, 3), np.int64)], [np.empty(0, np.int64)]
    for kind in np.flatnonzero(np.bincount(kinds)):
        here = np.flatnonzero(kinds == kind)
        for number, triangle in enumerate(_triangles(int(kind))):
            keys = [_edge_key(cells[here, ::-1], edge, values.shape) for edge in triangle]
            corners.append(np.stack(keys, axis=1))
            places.append(len(_EDGES) * here + number)
    in_order = np.concatenate(corners)[np.argsort(np.concatenate(places), kind="stable")]
    keys, face = np.unique(in_order, return_inverse=True)
    return _crossings(values, keys), face.reshape(-1, 3)


def _edge_key(cells: np.ndarray, edge: int, shape: tuple[int, ...]) -> np.ndarray:
    """Return a key for one edge of each cube. All cubes that share an edge get the same key for this edge.

    Keys are ordered by the edge's upper end (z first, then y, then x), then by the edge's axis.
    """
    start, end = _EDGES[edge]
    x, y, z = (cells + _CORNERS[end]).T
    return ((z * shape[1] + y) * shape[0] + x) * 3 + int(np.log2(end - start))


def _crossings(values: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Return the points on edges at which the function is 0, interpolated in single precision as in the reference."""
    nx, ny, _ = values.shape
    node, axis = np.divmod(keys, 3)
    end = np.stack([node % nx, node // nx % ny, node // (nx * ny)], axis=1)
    start = end - np.eye(3, dtype=np.int64)[axis]
    first, last = (values[tuple(node.T)].astype(np.float32) for node in (start, end))
    share = first / (first - last)
    return start.astype(np.float32) + (end - start).astype(np.float32) * share[:, None]


CELLS = 300
"""Total number of cells of the grid along x, y and z, divided in proportion to the sides of the box."""


def implicit_mesh(shape: Shape, attributes: tuple[float, ...], is_4_0: bool = False) -> RawMesh:
    """Return the surface of a shape as a mesh. As in the reference, normals are computed on a grid of unit cubes.

    With `is_4_0`, they are computed by `_single_normals`.

    Raises:
        MeshDataError: the shape's box is invalid or too flat, a distance is not finite, or the box contains no surface.
    """
    box = np.array(shape.aabb(attributes), float)
    sides = 2.0 * box[3:]
    if not (np.isfinite(box).all() and (sides > 0.0).all()):
        raise MeshDataError(f"the bounding box of {shape.name} must have three positive half sides, found {box[3:]}")
    count = (CELLS * sides / sides.sum()).astype(int) + 1
    if (count < 2).any():
        raise MeshDataError(f"the bounding box of {shape.name} is too flat for a grid")
    low = box[:3] - box[3:]
    values = shape_distances(shape, attributes, low, sides, count)
    if not np.isfinite(values).all():
        raise MeshDataError(f"the distance of {shape.name} is not finite everywhere in its box")
    vertex, face = marching_cubes(values)
    if not len(face):
        raise MeshDataError(f"the distance of {shape.name} has no zero in its box: it has no surface there")
    placed = (low + sides * vertex / (count - 1)).astype(np.float32)
    face = face.astype(np.int32)
    normal = _single_normals(vertex, face) if is_4_0 else vertex_normals(Surface(vertex, face), smooth=True)
    return RawMesh(placed, face, normal, np.empty((0, 2), np.float32))


def _single_normals(vertex: np.ndarray, face: np.ndarray) -> np.ndarray:
    """Return area-weighted means of face normals, each operation in single precision and in the order of the faces."""
    a, b, c = (vertex[face[:, k]] for k in range(3))
    u, v = b - a, c - b
    total = np.zeros_like(vertex)
    for k in range(3):
        m, n = (k + 1) % 3, (k + 2) % 3
        cross = u[:, m] * v[:, n] - u[:, n] * v[:, m]
        np.add.at(total[:, k], face.ravel(), np.repeat(cross, 3))
    x, y, z = total.T
    length = np.sqrt(x * x + y * y + z * z)[:, None]
    return total / np.where(length > 0.0, length, np.float32(1.0))
