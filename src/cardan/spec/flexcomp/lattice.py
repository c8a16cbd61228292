"""Points and elements that a ``flexcomp`` generates: grids, and surfaces of boxes projected on other shapes.

Vertices of a grid of (nx, ny, nz) points are numbered so that the last coordinate varies fastest. On a closed surface,
vertex 0 is the centre. The next vertices are on the lower and upper faces along z, the last ones on the remaining parts
of the faces along y and x.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from cardan.spec.element import Element

_MOST_POINTS = 100_000

# how a cube of eight grid points is cut into tetrahedra; bits of a corner's number are its steps in x, y and z
_TETRAHEDRA = ((0, 2, 4, 3), (0, 4, 1, 3), (4, 2, 6, 3), (4, 6, 7, 3), (4, 5, 1, 3), (4, 7, 5, 3))
# how a square is cut into triangles, along one diagonal or the other; bits of a corner's number are its two steps
_TRIANGLES = ((0, 2, 3), (0, 3, 1))
_OTHER_TRIANGLES = ((0, 2, 1), (2, 3, 1))
# triangles of squares on lower z, upper y and lower x faces, and on the others
_INWARD = ((0, 2, 3), (1, 0, 3))
_OUTWARD = ((2, 0, 3), (0, 1, 3))
# triangles of squares on the lower face, and on faces of sides, of a surface without upper face
_DOWN = ((0, 3, 2), (0, 1, 3))
_TRIANGLES_OUT = ((0, 2, 3), (0, 3, 1))
_TRIANGLES_IN = ((2, 0, 1), (2, 1, 3))


# pairs of corners of an element, by dimension, in the order of its edges
ELEMENT_EDGES: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((0, 1),),
    2: ((1, 2), (2, 0), (0, 1)),
    3: ((0, 1), (1, 2), (2, 0), (2, 3), (0, 3), (1, 3)),
}


class Lattice(NamedTuple):
    """Points and elements of a flexcomp before it is placed.

    A ``closed`` lattice is a surface around vertex 0. In 3.1, all other vertices by default move along rays from there.
    """

    point: np.ndarray  # positions of the vertices, m (n, 3)
    elem: np.ndarray  # vertices of the elements (m, dim + 1)
    closed: bool = False
    flat: bool = False  # whether it is drawn with flat shading by default


def _checked_count(element: Element, values: dict[str, Any], least: int) -> tuple[int, int, int]:
    """Return the number of points along each axis. Raises MjcfError for wrong numbers, or points too close together."""
    count = values["count"]
    if min(count) < least:
        raise element.error(f"numbers of points must be at least {least}, found {min(count)}", "count")
    if count[0] * count[1] * count[2] > _MOST_POINTS:
        raise element.error(f"more than {_MOST_POINTS} points", "count")
    contact = element.child("contact")
    closest, least_apart = min(values["spacing"]), 2.0 * values["radius"] + (contact["margin"] if contact else 0.0)
    if closest < least_apart:
        reason = f"two radii and the margin apart ({least_apart:g})"
        raise element.error(f"points must be at least {reason}, found {closest:g}", "spacing")
    return count


def centred(count: tuple[int, ...], spacing: tuple[float, ...]) -> np.ndarray:
    """Return the points of a regular grid that is centred at the origin (n, 3)."""
    axes = [spacing[k] * (np.arange(count[k]) - 0.5 * (count[k] - 1)) for k in range(3)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def grid(element: Element, values: dict[str, Any]) -> Lattice:
    """Return a grid of points along 1, 2 or 3 axes."""
    dim = values["dim"]
    given = _checked_count(element, values, 1)
    count = (*given[:dim], 1, 1)[:3]
    least = min(count[:dim])
    if least < 2:
        raise element.error(f"a grid of dimension {dim} needs 2 points along each axis, found {least}", "count")
    return Lattice(centred(count, values["spacing"]), grid_elements((count[0], count[1], count[2]), dim), flat=dim == 3)


def grid_elements(count: tuple[int, int, int], dim: int) -> np.ndarray:
    """Return the elements of a grid of ``count`` points along the first ``dim`` axes (nelem, dim + 1).

    Each row has the indices of the points at the corners of a segment, triangle or tetrahedron.
    """
    number = np.arange(count[0] * count[1] * count[2]).reshape(count)
    if dim == 1:
        line = number[:, 0, 0]
        return np.stack([line[:-1], line[1:]], axis=1)
    if dim == 2:
        return _corners(number[:, :, 0])[:, _TRIANGLES].reshape(-1, 3)
    steps = [slice(None, -1), slice(1, None)]
    corner = np.stack([number[i, j, k] for i in steps for j in steps for k in steps], axis=-1).reshape(-1, 8)
    return corner[:, _TETRAHEDRA].reshape(-1, 4)


def _corners(number: np.ndarray) -> np.ndarray:
    """Return the corners of the squares of a 2D grid of vertex numbers: (number of squares, 4)."""
    return np.stack([number[:-1, :-1], number[:-1, 1:], number[1:, :-1], number[1:, 1:]], axis=-1).reshape(-1, 4)


def disc(element: Element, values: dict[str, Any]) -> Lattice:
    """Return a plane grid of triangles that is deformed to an ellipse. The diagonals of its squares run outwards."""
    nx, ny, _ = _checked_count(element, values, 1)
    if min(nx, ny) < 2:
        raise element.error(f"a disc needs 2 points along each axis, found {min(nx, ny)}", "count")
    return Lattice(*disc_of(nx, ny, values["spacing"]))


def disc_of(nx: int, ny: int, spacing: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return points (nx * ny, 3) and triangles of a plane grid that is deformed to an ellipse."""
    point = centred((nx, ny, 1), spacing)
    half = np.abs(point).max(axis=0)
    # the half sizes are applied twice, as in the reference
    point = half * _onto_ellipsoid(point)
    corner = _corners(np.arange(nx * ny).reshape(nx, ny))
    i, j = np.divmod(np.arange(len(corner)), ny - 1)
    across = (i < nx // 2) != (j < ny // 2)
    elem = np.where(across[:, None, None], corner[:, _OTHER_TRIANGLES], corner[:, _TRIANGLES])
    return point, elem.reshape(-1, 3)


def circle(element: Element, values: dict[str, Any]) -> Lattice:
    """Return a closed line in the x-y plane. The first number of ``count`` counts the first point twice."""
    if values["dim"] != 1:
        raise element.error(f"a circle is a line: dim must be 1, found {values['dim']}", "dim")
    number = _checked_count(element, values, 1)[0] - 1
    if number < 3:
        raise element.error(f"a circle needs at least 3 points and the first one again, found {number + 1}", "count")
    angle = 2.0 * np.pi * np.arange(number) / number
    radius = values["spacing"][0] / (2.0 * np.sin(np.pi / number))
    point = radius * np.stack([np.cos(angle), np.sin(angle), np.zeros(number)], axis=1)
    return Lattice(point, np.stack([np.arange(number), (np.arange(number) + 1) % number], axis=1))


def _onto_ellipsoid(point: np.ndarray) -> np.ndarray:
    """Move points along rays from the origin so that cubes around the origin become their inscribed spheres."""
    length = np.linalg.norm(point, axis=1, keepdims=True)
    return point * (np.abs(point).max(axis=1, keepdims=True) / np.where(length > 0.0, length, 1.0))


def _onto_cylinder(point: np.ndarray) -> np.ndarray:
    """Move points in the x-y plane, along rays from the z axis, so that squares become their inscribed circles."""
    return np.concatenate([_onto_ellipsoid(point[:, :2]), point[:, 2:]], axis=1)


_PROJECTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "box": lambda point: point,
    "cylinder": _onto_cylinder,
    "ellipsoid": _onto_ellipsoid,
}


def surface(element: Element, values: dict[str, Any]) -> Lattice:
    """Return a box, an elliptic cylinder along z, or an ellipsoid, made of tetrahedra.

    The surface of the cube from -1 to 1 is projected onto the shape. Each tetrahedron joins a triangle to the centre.
    """
    shape = values["type"]
    point, triangles = surface_of(shape, _checked_count(element, values, 2), values["spacing"])
    centre = np.zeros((len(triangles), 1), np.int64)
    return Lattice(point, np.concatenate([centre, triangles], axis=1), closed=True, flat=shape != "ellipsoid")


def surface_of(shape: str, count: tuple[int, ...], spacing: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return points and triangles of the surface of a box, cylinder or ellipsoid. The first point is the centre.

    ``shape`` is the type. ``count`` and ``spacing`` (m) are the number of grid points along each axis, and the distance
    between them.
    """
    number = np.zeros(count, np.int64)
    inner = slice(1, -1)
    point = _on_shell(number, [number[:, :, 0], number[:, :, -1], *_sides(number, inner)], 1, shape, spacing)
    point = np.concatenate([np.zeros((1, 3)), point])
    faces = ((number[:, :, 0], _INWARD), (number[:, :, -1], _OUTWARD), (number[:, 0, :], _OUTWARD),
             (number[:, -1, :], _INWARD), (number[0], _INWARD), (number[-1], _OUTWARD))  # fmt: skip
    return point, _triangles(faces)


def open_surface_of(shape: str, count: tuple[int, ...], spacing: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return points and triangles of the surface of a box, cylinder or ellipsoid without its upper face.

    The arguments are as for `surface_of`.
    """
    number = np.zeros(count, np.int64)
    point = _on_shell(number, [number[:, :, 0], *_sides(number, slice(1, None))], 0, shape, spacing)
    faces = ((number[:, :, 0], _DOWN), (number[:, 0, :], _TRIANGLES_OUT), (number[:, -1, :], _TRIANGLES_IN),
             (number[0], _TRIANGLES_IN), (number[-1], _TRIANGLES_OUT))  # fmt: skip
    return point, _triangles(faces)


def _sides(number: np.ndarray, upright: slice) -> list[np.ndarray]:
    """Return views of the points on the two faces along y, and of the remaining points on the two faces along x."""
    lateral = slice(1, -1)
    return [number[:, 0, upright], number[:, -1, upright], number[0, lateral, upright], number[-1, lateral, upright]]


def _on_shell(
    number: np.ndarray, parts: list[np.ndarray], first: int, shape: str, spacing: tuple[float, ...]
) -> np.ndarray:
    """Number the points on some faces of a grid, and return their positions after projection on a shape (n, 3).

    ``parts`` are views of the faces in ``number``. They are filled with point numbers from ``first`` on; the rest of
    ``number`` becomes -1.
    """
    number[...] = -1
    last = first
    for part in parts:
        part[...] = last + np.arange(part.size).reshape(part.shape)
        last += part.size
    shell = number >= 0
    steps = np.array(number.shape) - 1
    unit = 2.0 * np.stack(np.nonzero(shell), axis=1) / steps - 1.0
    point = np.zeros((last - first, 3))
    point[number[shell] - first] = 0.5 * np.array(spacing) * steps * _PROJECTIONS[shape](unit)
    return point


def _triangles(faces: Iterable[tuple[np.ndarray, tuple[tuple[int, int, int], ...]]]) -> np.ndarray:
    """Cut the squares of grids of point numbers into triangles (n, 3)."""
    return np.concatenate([_corners(face)[:, cut].reshape(-1, 3) for face, cut in faces])


# --- simplices -------------------------------------------------------------------------------------------------------


def in_order(items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number distinct items (or rows) in order of appearance.

    Return the index at which each distinct item first appears, and the number of each item.
    """
    axis = 0 if items.ndim > 1 else None
    _, first, inverse = np.unique(items, axis=axis, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    return first[order], number[inverse.ravel()]


def edges_of(elem: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the edges of elements. ``elem`` has the vertices of each element (nelem, dim + 1).

    Returns:
        the vertices of the edges (nedge, 2), lower vertex first, in order of first use; and the edges of each element.
    """
    places = ELEMENT_EDGES[elem.shape[1] - 1]
    pairs = np.sort(elem[:, places].reshape(-1, 2), axis=1).astype(np.int64)
    key = pairs[:, 0] * (int(elem.max()) + 1) + pairs[:, 1]
    first, number = in_order(key)
    return pairs[first].astype(np.int32), number.reshape(len(elem), len(places))


def oriented(elem: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Return tetrahedra (nelem, 4) of equal orientation: swap two vertices if the signed volume is positive."""
    corner = point[elem]
    side = corner[:, 1:] - corner[:, :1]
    inverted = (np.cross(side[:, 0], side[:, 1]) * side[:, 2]).sum(axis=1) > 0.0
    elem = elem.copy()
    elem[inverted, 1:3] = elem[inverted, 2:0:-1]
    return elem
