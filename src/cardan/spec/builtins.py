"""Meshes that the compiler generates: the attributes ``builtin`` and ``params`` of a mesh.

Sources: the documentation of MJCF 4.0, "mesh"; A. Barr, Superquadrics and angle-preserving transformations (1981).
The order of vertices and faces is that of MuJoCo 4.0, and was derived from its results.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, pi, prod, radians, sqrt
from typing import NamedTuple

import numpy as np

from cardan.formats.raw import MeshDataError, RawMesh
from cardan.spec.flexcomp.lattice import centred, disc_of, grid_elements, open_surface_of, surface_of

Params = tuple[float, ...]


class Shape(NamedTuple):
    """A generated mesh, before it is converted to a `RawMesh` in single precision."""

    vertex: np.ndarray  # (n, 3)
    face: np.ndarray | None = None  # (m, 3); None: the mesh is the convex hull
    normal: np.ndarray | None = None  # three axes of a frame at each vertex (3 n, 3)
    flat: bool = False  # whether it has no volume


def builtin_mesh(kind: str, params: Params | None) -> RawMesh:
    """Return a mesh that the compiler generates, from its kind (``builtin``) and parameters (``params``).

    Raises:
        MeshDataError: the parameters are not valid for this kind.
    """
    shape = _made(kind, params or ())
    empty = np.empty((0, 3))
    face = empty if shape.face is None else shape.face
    normal = empty if shape.normal is None else shape.normal
    vertex, normal = (np.ascontiguousarray(rows, np.float32) for rows in (shape.vertex, normal))
    return RawMesh(vertex, np.ascontiguousarray(face, np.int32), normal, np.empty((0, 2), np.float32))


def has_volume(kind: str, params: Params | None) -> bool:
    """Return whether a generated mesh encloses a volume. Raises MeshDataError for invalid parameters."""
    return not _made(kind, params or ()).flat


def _made(kind: str, params: Params) -> Shape:
    parameters, make = _KINDS[kind]
    least = len([name for name in parameters if not name.endswith("]")])
    if not least <= len(params) <= len(parameters):
        wanted = f"{least} parameters" if least == len(parameters) else f"{least} or {len(parameters)} parameters"
        raise MeshDataError(f"a {kind} has {wanted} ({', '.join(parameters)}), found {len(params)}", "params")
    return make(*params)


def _checked(name: str, value: float, low: float, high: float) -> int:
    """Return the integer part of a parameter. Raises MeshDataError if it is not between ``low`` and ``high``."""
    if not low <= value <= high:
        bounds = f"between {low:g} and {high:g}" if high < inf else f"at least {low:g}"
        raise MeshDataError(f"{name} must be {bounds}, found {value:g}", "params")
    return int(value)


def _check_total(*counts: int) -> None:
    """Raise MeshDataError if a mesh would have too many vertices. Their number is the product of ``counts``."""
    if prod(counts) > _MOST_VERTICES:
        raise MeshDataError(f"more than {_MOST_VERTICES} vertices", "params")


_MANY = 10_000.0
_MOST_VERTICES = 1_000_000
_SMALL = 1e-15


def _sphere(subdivision: float) -> Shape:
    """Return an icosahedron with faces subdivided ``subdivision`` times, and vertices on the unit sphere.

    The arithmetic is in single precision, as in the reference.
    """
    count = _checked("subdivision", subdivision, 0, 4)
    golden = 0.5 * (1.0 + sqrt(5.0))
    vertex = [(np.array(row) / sqrt(1.0 + golden * golden)).astype(np.float32) for row in _icosahedron(golden)]
    faces: list[tuple[int, int, int]] = list(_ICOSAHEDRON_FACES)
    for _ in range(count):
        middles: dict[tuple[int, int], int] = {}

        def middle(i: int, j: int, middles: dict[tuple[int, int], int] = middles) -> int:
            key = (min(i, j), max(i, j))
            if key not in middles:
                middles[key] = len(vertex)
                point = vertex[i] + vertex[j]
                vertex.append(point / np.sqrt((point * point).sum()))
            return middles[key]

        divided: list[tuple[int, int, int]] = []
        for a, b, c in faces:
            ab, bc, ca = middle(a, b), middle(b, c), middle(c, a)
            divided += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
        faces = divided
    return Shape(np.array(vertex), np.array(faces))


def _icosahedron(g: float) -> tuple[tuple[float, float, float], ...]:
    """Return the vertices of an icosahedron with edges of length 2; ``g`` is the golden ratio."""
    return ((-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g),
            (0, -1, -g), (0, 1, -g), (g, 0, -1), (g, 0, 1), (-g, 0, -1), (-g, 0, 1))  # fmt: skip


_ICOSAHEDRON_FACES = (
    (0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6),
    (7, 1, 8), (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7),
    (9, 8, 1),
)  # fmt: skip


def _hemisphere(resolution: float) -> Shape:
    """Return the upper half of an octahedron with subdivided faces, projected onto the unit sphere, and its base."""
    rings = _checked("resolution", resolution, 0, 10) + 1
    points = [(0, 0, rings)]
    for k in range(1, rings + 1):
        for x, y, dx, dy in ((k, 0, -1, 1), (0, k, -1, -1), (-k, 0, 1, -1), (0, -k, 1, 1)):
            points += [(x + i * dx, y + i * dy, rings - k) for i in range(k)]
    unit = np.array(points, float)
    unit /= np.sqrt((unit * unit).sum(axis=1))[:, None]
    faces: list[tuple[int, int, int]] = []
    inner, outer = 0, 1  # first points of two rings
    for k in range(rings):
        n_inner, n_outer = max(1, 4 * k), 4 * (k + 1)
        for quarter in range(4):
            for i in range(k + 1):
                a = inner + (quarter * k + i) % n_inner
                b, c = (outer + (quarter * (k + 1) + i + step) % n_outer for step in (0, 1))
                faces.append((a, b, c))
                if i < k:
                    faces.append((a, c, inner + (quarter * k + i + 1) % n_inner))
        inner, outer = outer, outer + n_outer
    edge = 4 * rings
    faces += [(inner + i, outer, inner + (i + 1) % edge) for i in range(edge)]
    return Shape(np.concatenate([unit, np.zeros((1, 3))]), np.array(faces))


def _cone(nvert: float, radius: float) -> Shape:
    """Return a cone's vertices: a polygon of radius 1 at z = -1, and at z = 1 one of the given ``radius`` (0: apex)."""
    count = _checked("nvert", nvert, 3, _MANY)
    _checked("radius", radius, 0, 1)
    angle = 2.0 * pi * np.arange(2 * count) / count
    ring = np.stack([np.cos(angle), np.sin(angle), np.repeat([-1.0, 1.0], count)], axis=1)
    ring[count:, :2] *= radius
    return Shape(ring if radius > 0.0 else np.concatenate([ring[:count], [[0.0, 0.0, 1.0]]]))


def _power(value: np.ndarray, exponent: float) -> np.ndarray:
    return np.sign(value) * np.abs(value) ** exponent


def _supersphere(resolution: float, e: float, n: float) -> Shape:
    """Return a superellipsoid with unit semiaxes. ``e`` and ``n`` are its exponents along longitude and latitude."""
    count = _checked("resolution", resolution, 3, _MANY)
    _check_total(count, count)
    _checked("e", e, 0, inf)
    _checked("n", n, 0, inf)
    latitude = -0.5 * pi + pi * np.arange(1, count) / count
    longitude = -pi + 2.0 * pi * np.arange(count) / count
    across, up = _power(np.cos(latitude), n), _power(np.sin(latitude), n)
    x, y = _power(np.cos(longitude), e), _power(np.sin(longitude), e)
    ring = np.stack([np.outer(across, x), np.outer(across, y), np.outer(up, np.ones(count))], axis=-1)
    vertex = np.concatenate([[[0.0, 0.0, -1.0]], ring.reshape(-1, 3), [[0.0, 0.0, 1.0]]])
    here, there = np.arange(count), (np.arange(count) + 1) % count
    faces = [np.stack([np.zeros(count, int), 1 + there, 1 + here], axis=1)]
    for k in range(count - 2):
        low, high = 1 + k * count, 1 + (k + 1) * count
        first = np.stack([low + here, low + there, high + here], axis=1)
        second = np.stack([low + there, high + there, high + here], axis=1)
        faces.append(np.stack([first, second], axis=1).reshape(-1, 3))
    last = 1 + (count - 2) * count
    faces.append(np.stack([last + here, last + there, np.full(count, len(vertex) - 1)], axis=1))
    return Shape(vertex, np.concatenate(faces))


def _supertorus(resolution: float, radius: float, s: float, t: float) -> Shape:
    """Return a supertoroid around z with major radius 1. ``s`` and ``t`` are exponents of cross-section and ring."""
    count = _checked("resolution", resolution, 3, _MANY)
    _check_total(count, count)
    _checked("radius", radius, _SMALL, 1)
    _checked("s", s, _SMALL, inf)
    _checked("t", t, _SMALL, inf)
    angle = 2.0 * pi * np.arange(count) / count
    across, up = 1.0 + radius * _power(np.cos(angle), s), radius * _power(np.sin(angle), s)
    x, y = _power(np.cos(angle), t), _power(np.sin(angle), t)
    vertex = np.stack([np.outer(x, across), np.outer(y, across), np.outer(np.ones(count), up)], axis=-1)
    number = np.arange(count * count).reshape(count, count)
    a, b = number, np.roll(number, -1, axis=0)
    d, c = np.roll(a, -1, axis=1), np.roll(b, -1, axis=1)
    return Shape(vertex.reshape(-1, 3), np.stack([a, b, d, b, c, d], axis=-1).reshape(-1, 3))


def _cells(count: int, field_of_view: float, gamma: float) -> np.ndarray:
    """Return midpoints (rad) of intervals within ±``field_of_view`` (degrees). ``gamma`` narrows inner intervals."""
    edge = 2.0 * np.arange(count + 1) / count - 1.0
    edge = radians(field_of_view) * ((1.0 - gamma) * edge + gamma * edge**5)
    return 0.5 * (edge[:-1] + edge[1:])


def _wedge(res_phi: float, res_theta: float, fov_phi: float, fov_theta: float, gamma: float) -> Shape:
    """Return points on a patch of the unit sphere around -z, each with a frame whose first axis points outward."""
    nphi = _checked("res_phi", res_phi, 1, _MANY)
    ntheta = _checked("res_theta", res_theta, 1, _MANY)
    _check_total(nphi, ntheta)
    _checked("fov_phi", fov_phi, _SMALL, 180)
    _checked("fov_theta", fov_theta, _SMALL, 90)
    _checked("gamma", gamma, 0, 1)
    phi, theta = np.meshgrid(_cells(nphi, fov_phi, gamma), _cells(ntheta, fov_theta, gamma), indexing="ij")
    sin_phi, cos_phi, sin_theta, cos_theta = np.sin(phi), np.cos(phi), np.sin(theta), np.cos(theta)
    zero = np.zeros_like(phi)
    outside = np.stack([sin_phi * cos_theta, sin_theta, -cos_phi * cos_theta], axis=-1)
    along_phi = np.stack([cos_phi, zero, sin_phi], axis=-1)
    along_theta = np.stack([-sin_phi * sin_theta, cos_theta, cos_phi * sin_theta], axis=-1)
    frames = np.stack([outside, along_phi, along_theta], axis=-2)
    return Shape(outside.reshape(-1, 3), normal=frames.reshape(-1, 3))


def _plate(res_x: float, res_y: float) -> Shape:
    """Return the centres of a square's cells at z = -1, triangles between them, and frames along the axes."""
    nx, ny = _checked("res_x", res_x, 1, _MANY), _checked("res_y", res_y, 1, _MANY)
    _check_total(nx, ny)
    x, y = ((2.0 * np.arange(count) + 1.0) / count - 1.0 for count in (nx, ny))
    vertex = np.stack([*np.meshgrid(x, y, indexing="ij"), np.full((nx, ny), -1.0)], axis=-1).reshape(-1, 3)
    number = np.arange(nx * ny).reshape(nx, ny)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[:-1, 1:], number[1:, 1:]
    face = np.stack([a, b, c, d, c, b], axis=-1).reshape(-1, 3)
    return Shape(vertex, face, np.tile(np.eye(3), (nx * ny, 1)), flat=True)


def _counts(least: int, *counts: float) -> tuple[int, int, int]:
    nx, ny, nz = (_checked("count", count, least, _MANY) for count in counts)
    _check_total(nx, ny, nz)
    return nx, ny, nz


def _grid(nx: float, ny: float, nz: float, dx: float, dy: float, dz: float, dim: float = 3) -> Shape:
    """Return the vertices of a regular grid centred at the origin. Add triangles if ``dim`` is 2."""
    count = _counts(1, nx, ny, nz)
    three = _checked("dim", dim, 2, 3) == 3
    if min(count if three else count[:2]) < 2:
        raise MeshDataError(f"a grid has at least 2 vertices along each axis, found {min(count)}", "params")
    if three:
        return Shape(centred(count, (dx, dy, dz)))
    if count[2] != 1:
        raise MeshDataError(f"a grid of dimension 2 has one vertex along z, found {count[2]}", "params")
    return Shape(centred(count, (dx, dy, dz)), grid_elements(count, 2), flat=True)


def _square(nx: float, ny: float, nz: float, dx: float, dy: float, dz: float) -> Shape:
    return _grid(nx, ny, nz, dx, dy, dz, 2)


def _disc(nx: float, ny: float, nz: float, dx: float, dy: float, dz: float) -> Shape:
    count = _counts(1, nx, ny, nz)
    if count[2] != 1 or min(count[:2]) < 2:
        found = " ".join(map(str, count))
        raise MeshDataError(f"a disc has at least 2 vertices along x and y, and one along z, found {found}", "params")
    return Shape(*disc_of(count[0], count[1], (dx, dy, dz)), flat=True)


def _solid(kind: str) -> Callable[..., Shape]:
    """Return the function that makes a box, cylinder or ellipsoid.

    With ``dim`` 3, the vertices are those of the surface and the centre. With ``dim`` 2, they are those of the surface
    without its top, and triangles are added.
    """

    def make(nx: float, ny: float, nz: float, dx: float, dy: float, dz: float, dim: float = 3) -> Shape:
        count, spacing = _counts(2, nx, ny, nz), (dx, dy, dz)
        if _checked("dim", dim, 2, 3) == 3:
            return Shape(surface_of(kind, count, spacing)[0])
        return Shape(*open_surface_of(kind, count, spacing), flat=True)

    return make


_LATTICE = ("count x", "count y", "count z", "spacing x", "spacing y", "spacing z")
_KINDS: dict[str, tuple[tuple[str, ...], Callable[..., Shape]]] = {
    "sphere": (("subdivision",), _sphere),
    "hemisphere": (("resolution",), _hemisphere),
    "cone": (("nvert", "radius"), _cone),
    "supersphere": (("resolution", "e", "n"), _supersphere),
    "supertorus": (("resolution", "radius", "s", "t"), _supertorus),
    "wedge": (("res_phi", "res_theta", "fov_phi", "fov_theta", "gamma"), _wedge),
    "plate": (("res_x", "res_y"), _plate),
    "grid": ((*_LATTICE, "[dim]"), _grid),
    "box": ((*_LATTICE, "[dim]"), _solid("box")),
    "cylinder": ((*_LATTICE, "[dim]"), _solid("cylinder")),
    "ellipsoid": ((*_LATTICE, "[dim]"), _solid("ellipsoid")),
    "square": (_LATTICE, _square),
    "disc": (_LATTICE, _disc),
}
