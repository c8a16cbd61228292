"""Shapes as triangles: spheres, capsules, boxes, ... of unit size (spec: XML reference, visual/quality).

A vertex has four numbers: x, y and z, which are scaled by the size of a geom, and a factor `end`. The vertex is moved
along z by `end` times the half length: in a capsule, +1 for the upper hemisphere, -1 for the lower one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Shape(NamedTuple):
    """A surface of triangles, and the lines of its wireframe.

    Vertices have a position and an `end` (n, 4), a normal (n, 3), and texture coordinates (n, 2). Each triangle (m, 3)
    is given by three vertices, counter-clockwise seen from outside. Each line (k, 2) is given by two vertices.
    """

    vert: np.ndarray
    normal: np.ndarray
    texcoord: np.ndarray
    face: np.ndarray
    edge: np.ndarray


def patch(vert: np.ndarray, normal: np.ndarray, texcoord: np.ndarray | None = None) -> Shape:
    """Make quadrilaterals, of two triangles each, from a rectangular grid of vertices (rows, columns, ...).

    Seen from outside, rows go up and columns to the right.
    """
    rows, columns = vert.shape[:2]
    number = np.arange(rows * columns).reshape(rows, columns)
    corner = [number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]]
    a, b, c, d = (part.ravel() for part in corner)
    face = np.stack([np.stack([a, b, d], 1), np.stack([b, c, d], 1)], 1).reshape(-1, 3)
    across = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], 1)
    along = np.stack([number[:-1, :].ravel(), number[1:, :].ravel()], 1)
    if texcoord is None:
        texcoord = np.zeros((rows, columns, 2))
    return Shape(
        vert.reshape(-1, 4), normal.reshape(-1, 3), texcoord.reshape(-1, 2), face, np.concatenate([across, along])
    )


def joined(*shapes: Shape) -> Shape:
    """Combine several shapes into one."""
    offsets = np.cumsum([0, *(len(shape.vert) for shape in shapes)])[:-1]
    face = [shape.face + offset for shape, offset in zip(shapes, offsets, strict=True)]
    edge = [shape.edge + offset for shape, offset in zip(shapes, offsets, strict=True)]
    columns = [np.concatenate([shape[k] for shape in shapes]) for k in range(3)]
    return Shape(columns[0], columns[1], columns[2], np.concatenate(face), np.concatenate(edge))


def _with_end(points: np.ndarray, end: float | np.ndarray) -> np.ndarray:
    return np.concatenate([points, np.broadcast_to(end, points.shape[:-1])[..., None]], -1)


def _revolved(slices: int, profile: np.ndarray, normal: np.ndarray, end: float | np.ndarray = 0.0) -> Shape:
    """Make a surface of revolution from radii and heights (n, 2), and radial and axial components of normals (n, 2)."""
    longitude = np.linspace(0, 2 * np.pi, slices + 1)

    def around(rows: np.ndarray) -> np.ndarray:
        radial, axial = rows[:, :1], np.broadcast_to(rows[:, 1:], (len(rows), slices + 1))
        return np.stack([radial * np.cos(longitude), radial * np.sin(longitude), axial], -1)

    return patch(_with_end(around(profile), end), around(normal))


def cap(slices: int, first: float, last: float, stacks: int, end: float = 0.0) -> Shape:
    """Make the part of a sphere of radius 1 between two latitudes, radians; all vertices get the factor `end`."""
    latitude = np.linspace(first, last, stacks + 1)
    profile = np.stack([np.cos(latitude), np.sin(latitude)], 1)
    return _revolved(slices, profile, profile, end)


def sphere(slices: int, stacks: int) -> Shape:
    """Make a sphere of radius 1."""
    return cap(slices, -np.pi / 2, np.pi / 2, stacks)


def tube(slices: int, stacks: int, by_end: bool) -> Shape:
    """Make a cylinder of radius 1 without ends, from z = -1 to 1. If `by_end`, z is 0, and `end` is from -1 to 1."""
    z = np.linspace(-1, 1, stacks + 1)[:, None]
    one, zero = np.ones_like(z), np.zeros_like(z)
    return _revolved(slices, np.hstack([one, zero if by_end else z]), np.hstack([one, zero]), z if by_end else 0.0)


def disk(slices: int, rings: int, z: float, up: bool) -> Shape:
    """Make a disk of radius 1 at height `z` that is visible from above if `up`, else from below."""
    radius = np.linspace(1, 0, rings + 1)[:, None] if up else np.linspace(0, 1, rings + 1)[:, None]
    normal = np.hstack([np.zeros_like(radius), np.full_like(radius, 1.0 if up else -1.0)])
    return _revolved(slices, np.hstack([radius, np.full_like(radius, z)]), normal)


def cone(slices: int, stacks: int) -> Shape:
    """Make a cone without its base: radius 1 at z = 0, tip at z = 1."""
    height = np.linspace(0, 1, stacks + 1)[:, None]
    return _revolved(slices, np.hstack([1 - height, height]), np.full((stacks + 1, 2), np.sqrt(0.5)))


def capsule(slices: int, stacks: int) -> Shape:
    """Make a capsule of radius 1. Its hemispheres move along z with the length (`end` 1 and -1)."""
    half = max(1, stacks // 2)
    return joined(
        tube(slices, stacks, by_end=True),
        cap(slices, 0.0, np.pi / 2, half, 1.0),
        cap(slices, -np.pi / 2, 0.0, half, -1.0),
    )


def cylinder(slices: int, stacks: int, rings: int) -> Shape:
    """Make a cylinder of radius 1 and half height 1, with its ends."""
    return joined(tube(slices, stacks, by_end=False), disk(slices, rings, 1.0, True), disk(slices, rings, -1.0, False))


def box(quads: int) -> Shape:
    """Make a cube from -1 to 1 with a grid of `quads` by `quads` on each side."""
    t = np.linspace(-1, 1, quads + 1)
    right, up = np.meshgrid(t, t)
    one = np.ones_like(right)
    # for each side: its axis, and the axes to the right and up, seen from outside
    sides = []
    for axis, sign in ((0, 1), (0, -1), (1, 1), (1, -1), (2, 1), (2, -1)):
        points = np.zeros((*one.shape, 3))
        points[..., axis] = sign * one
        points[..., (axis + 1) % 3] = sign * right
        points[..., (axis + 2) % 3] = up
        normal = np.zeros_like(points)
        normal[..., axis] = sign
        sides.append(patch(_with_end(points, 0.0), normal))
    return joined(*sides)


def rectangle(columns: int, rows: int) -> Shape:
    """Make a rectangle from -1 to 1 in the plane z = 0, visible from above, with a grid of `columns` by `rows`."""
    x, y = np.meshgrid(np.linspace(-1, 1, columns + 1), np.linspace(-1, 1, rows + 1))
    points = np.stack([x, y, np.zeros_like(x)], -1)
    normal = np.broadcast_to(np.array([0.0, 0.0, 1.0]), points.shape)
    return patch(_with_end(points, 0.0), normal)


def height_field(height: np.ndarray, size: np.ndarray) -> Shape:
    """Make the surface of a height field, and the sides and bottom of its base, with flat triangles.

    Heights (rows along y, columns along x) are from 0 to 1. `size` contains both half lengths, the elevation of height
    1, and the depth of the base, m.
    """
    rows, columns = height.shape
    x, y = np.meshgrid(np.linspace(-size[0], size[0], columns), np.linspace(-size[1], size[1], rows))
    top = np.stack([x, y, size[2] * height], -1)
    low = np.stack([x, y, np.full_like(x, -size[3])], -1)
    a, b, c, d = top[:-1, :-1], top[:-1, 1:], top[1:, 1:], top[1:, :-1]
    corners = [np.stack([np.stack([a, b, c], -2), np.stack([a, c, d], -2)], -3).reshape(-1, 3, 3)]
    # around the base, counter-clockwise from above, and below
    rim = [(top[0], low[0]), (top[:, -1], low[:, -1]), (top[-1, ::-1], low[-1, ::-1]), (top[::-1, 0], low[::-1, 0])]
    for high, base in rim:
        corners.append(np.stack([base[:-1], base[1:], high[1:]], 1))
        corners.append(np.stack([base[:-1], high[1:], high[:-1]], 1))
    corners.append(low[[0, 0, -1], [0, -1, -1]][None, ::-1])
    corners.append(low[[0, -1, -1], [0, -1, 0]][None, ::-1])
    return flat_faces(np.concatenate(corners))


def flat_faces(corner: np.ndarray) -> Shape:
    """Make a shape of flat triangles from corners (n, 3, 3): each corner has the normal of its triangle."""
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
    face = np.arange(3 * len(corner)).reshape(-1, 3)
    return plain(corner.reshape(-1, 3), np.repeat(normal, 3, axis=0), np.zeros((3 * len(corner), 2)), face)


def plain(vert: np.ndarray, normal: np.ndarray, texcoord: np.ndarray, face: np.ndarray) -> Shape:
    """Make a shape without moving ends: `end` is 0 for all vertices, and the wireframe contains all edges of triangles.

    `vert` and `normal` are (n, 3), `texcoord` is (n, 2), and `face` contains the vertices of each triangle (m, 3).
    """
    edge = np.concatenate([face[:, [0, 1]], face[:, [1, 2]], face[:, [2, 0]]])
    return Shape(_with_end(np.asarray(vert), 0.0), np.asarray(normal), np.asarray(texcoord), face, edge)


def line() -> Shape:
    """Make a line from the origin to z = 1."""
    vert = np.array([[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    return Shape(vert, np.tile([0.0, 0.0, 1.0], (2, 1)), np.zeros((2, 2)), np.zeros((0, 3), int), np.array([[0, 1]]))


def line_box() -> Shape:
    """Make the edges of a cube from -1 to 1."""
    points = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    pairs = [(i, j) for i in range(8) for j in range(i) if np.abs(points[i] - points[j]).sum() == 2]
    return Shape(_with_end(points, 0.0), points / np.sqrt(3), np.zeros((8, 2)), np.zeros((0, 3), int), np.array(pairs))


def triangle() -> Shape:
    """Make a triangle with corners at the origin, x = 1 and y = 1, visible from both sides."""
    one = np.array([[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    return flat_faces(np.concatenate([one, one[:, ::-1]]))
