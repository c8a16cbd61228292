"""Meshes by the rules of MuJoCo 4.0: vertices, volume, centre and inertia are in double precision.

The attribute ``inertia`` of a mesh defines how mass is distributed: over the pyramids from the centroid of its faces to
the faces (with signed or absolute volumes), over the convex hull, or over the surface. Sums add one triangle at a time,
so that results agree with the reference to the last bit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from cardan.compiler.meshes.base import MassProperties, Mesh, check_orientation, inertia_box, rotation_matrix, vector3
from cardan.compiler.meshes.hull import Hull
from cardan.compiler.meshes.kept import ReadMesh
from cardan.compiler.meshes.normals import renormalized, vertex_normals
from cardan.compiler.meshes.surface import Surface
from cardan.constants import mjMINVAL
from cardan.formats.raw import Indices, RawMesh
from cardan.maths.pose import IDENTITY, principal_axes_4_0
from cardan.maths.quaternion import neg_quat, normalize4
from cardan.spec.builtins import has_volume

ROUND = 1e-7
"""Relative tolerance below which principal moments count as equal, and products of inertia as 0.

Round and regular shapes therefore keep the axes of the file.
"""


class DoubleMesh(Mesh):
    """A mesh asset in double precision, as in MuJoCo 4.0."""

    _found: MassProperties | None = None
    _corners: tuple[np.ndarray, ...]  # of the triangles, in the mesh's frame (m, 3) each
    _by_geoms: bool | None = None  # ``shellinertia`` of the mesh's geoms; None before the first geom

    def _mirrored(self, raw: RawMesh) -> tuple[str, ...]:
        return ("face", "face_normal", "face_texcoord")

    def _hull_of(self, mesh: ReadMesh) -> Hull:
        hull = super()._hull_of(mesh)
        return replace(hull, face=hull.face[:, [0, 2, 1]]) if np.prod(self.values["scale"]) < 0.0 else hull

    def _place(self, scale: np.ndarray) -> None:
        if not len(self.normal):
            face = self.face[:, [0, 2, 1]] if scale.prod() < 0.0 else self.face  # not mirrored, as the vertices
            self.normal = vertex_normals(Surface(self.vertex, face), self.values["smoothnormal"], is_4_0=True)
        vertex, normal = self.vertex.astype(np.float64), self.normal.astype(np.float64)
        vertex -= self.values["refpos"]
        quat = self.values["refquat"]
        if quat != IDENTITY[1] and any(quat):
            turn = rotation_matrix(neg_quat(normalize4(quat)))
            vertex, normal = _turned(vertex, turn), _turned(normal, turn)
        self.vertex = vertex * scale
        with np.errstate(divide="ignore", invalid="ignore"):
            self.normal = renormalized(np.nan_to_num(normal / scale).astype(np.float32))

    @property
    def _kind(self) -> str:
        """Distribution of mass: the attribute ``inertia``.

        If this is "legacy", it becomes "shell" for geoms with ``shellinertia`` and for flat builtin meshes, and "exact"
        if ``exactmeshinertia`` is set.
        """
        word: str = self.values["inertia"]
        builtin = self.values["builtin"]
        is_flat = builtin is not None and not has_volume(builtin, self.values["params"])
        if word == "legacy" and (self._by_geoms or is_flat):
            return "shell"
        return "exact" if word == "legacy" and self.exact else word

    def properties(self, on_surface: bool) -> MassProperties:
        """Return the mass properties of the mesh, or of its surface if geoms have ``shellinertia`` (``on_surface``).

        Raises:
            MjcfError: the mesh has no mass in this distribution, or its geoms disagree about ``shellinertia``.
        """
        if on_surface and self.values["inertia"] not in ("legacy", "shell"):
            raise self.element.error("geoms of this mesh have shellinertia, which needs inertia='shell'", "inertia")
        if self._by_geoms is not None and self._by_geoms != on_surface:
            hint = "set inertia='shell' at the mesh, or use two meshes"
            raise self.element.error(f"only some of its geoms have shellinertia: {hint}", "inertia")
        self._by_geoms = on_surface
        self.settle()
        assert self._found is not None
        return self._found

    def settle(self) -> None:
        """Compute the mass properties, and move the vertices into the inertial frame.

        The surface of a plugin's shape is not moved. Raises MjcfError if a moment of inertia is not positive.
        """
        if self._found is not None:
            return
        parts = self._distribution()
        centre = parts.centre()
        parts = parts.moved(self.vertex - centre)
        moments, quat = principal_axes_4_0(parts.second_moments(), ROUND, ROUND)
        if not self.is_implicit:  # the functions of plugins are in the coordinates of the plugin
            self.pose = (vector3(centre), quat)
            turn = rotation_matrix(neg_quat(quat))
            self.vertex = _turned(parts.vertex, turn)
            self.normal = _turned(self.normal.astype(np.float64), turn).astype(np.float32)
        if moments[2] <= 0.0:
            hint = "correct the faces, or set inertia='convex'"
            raise self.element.error(f"a moment of inertia of the mesh is not positive: {hint}", "inertia")
        self.low, self.high = self.vertex.min(axis=0), self.vertex.max(axis=0)
        self._corners = tuple(self.vertex[self.face[:, k]] for k in range(3))
        self.vertex = self.vertex.astype(np.float32)
        self._found = MassProperties(parts.total, self.pose, inertia_box(moments, parts.total))

    def boxes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return boxes and circumcentres of the triangles; see `Mesh.boxes`.

        As in the reference, corners of boxes are computed back from centres and half sides.
        """
        a, b, c = self._corners
        u, v = a - c, b - c
        normal = _cross(u, v)
        square = (normal * normal).sum(axis=1)[:, None]
        way = _cross((u * u).sum(axis=1)[:, None] * v - (v * v).sum(axis=1)[:, None] * u, normal)
        around = c + np.where(square > 0.0, way / np.where(square > 0.0, 2.0 * square, 1.0), 0.0)
        low, high = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
        centre, half = 0.5 * (low + high), 0.5 * (high - low)
        return centre - half, centre + half, around

    def _distribution(self) -> Distribution:
        """Return the distribution of mass in the file's coordinates.

        Raises:
            MjcfError: there is no volume or no area, or the faces lack the orientation that exact inertia requires.
        """
        kind, element = self._kind, self.element
        if kind == "exact":
            check_orientation(element, self.face)
        surface = Distribution.of(self.vertex, self.face, "area", np.zeros(3))
        if surface.total < mjMINVAL:
            raise element.error("the area of the mesh is too small: its vertices lie on a line, or nearly", "inertia")
        surface = surface._replace(apex=surface.centroid())
        if kind == "shell":
            return surface
        self.needs_hull |= kind == "convex"
        face = self.hull.face if kind == "convex" else self.face
        found = Distribution.of(self.vertex, face, "signed" if kind == "exact" else "volume", surface.apex)
        if found.total < -mjMINVAL:
            raise element.error("exact inertia needs faces whose normals point outside: reverse their vertices", "face")
        if found.total < mjMINVAL:
            hint = "set inertia='shell' to have the mass on the surface"
            raise element.error(f"the volume of the mesh is too small: {hint}", "inertia")
        return found


class Distribution(NamedTuple):
    """Mass of unit density in the triangles of a mesh, or in the pyramids from an apex to the triangles.

    If the mass is in the triangles, only `centre` uses the apex, which must then be the centroid of the triangles.
    """

    vertex: np.ndarray  # (n, 3)
    face: Indices  # (m, 3)
    weigh: str  # "area", "volume" or "signed"
    apex: np.ndarray  # tip of the pyramids (3,)
    middle: np.ndarray  # centres of the triangles (m, 3)
    weight: np.ndarray  # areas of the triangles or volumes of the pyramids (m,)
    total: float  # sum of the weights

    @classmethod
    def of(cls, vertex: np.ndarray, face: Indices, weigh: str, apex: np.ndarray) -> Distribution:
        """Make the distribution from vertices in double precision; the arguments are members of this class."""
        a, b, c = (vertex[face[:, k]] for k in range(3))
        middle = (a + b + c) / 3.0
        normal = _cross(b - a, c - a)
        length = np.sqrt(normal[:, 0] * normal[:, 0] + normal[:, 1] * normal[:, 1] + normal[:, 2] * normal[:, 2])
        weight = 0.5 * length
        if weigh != "area":
            normal /= np.where(length > 0.0, length, 1.0)[:, None]
            arm = middle - apex
            height = arm[:, 0] * normal[:, 0] + arm[:, 1] * normal[:, 1] + arm[:, 2] * normal[:, 2]
            weight = height * weight / 3.0
            if weigh == "volume":
                weight = np.abs(weight)
        return cls(vertex, face, weigh, apex, middle, weight, float(_sum(weight)))

    def moved(self, vertex: np.ndarray) -> Distribution:
        """Return the distribution with new vertices, relative to the centre of mass, and the apex at the origin."""
        return Distribution.of(vertex, self.face, self.weigh, np.zeros(3))

    def centroid(self) -> np.ndarray:
        """Return the weighted mean of the centres of the triangles (3,)."""
        return _sum(self.weight[:, None] * self.middle) / self.total

    def centre(self) -> np.ndarray:
        """Return the centre of mass (3,). If the mass is in the triangles, the apex must be their centroid."""
        return _sum(self.weight[:, None] * (0.75 * self.middle + 0.25 * self.apex)) / self.total

    def second_moments(self) -> tuple[float, ...]:
        """Return the rotational inertia about the origin, which must be the apex: (xx, yy, zz, xy, xz, yz)."""
        a, b, c = (self.vertex[self.face[:, k]] for k in range(3))
        weight = self.weight / (12.0 if self.weigh == "area" else 20.0)

        def product(m: int, n: int) -> float:
            total = 2.0 * (a[:, m] * a[:, n] + b[:, m] * b[:, n] + c[:, m] * c[:, n])
            for u, v in ((a, b), (b, a), (a, c), (c, a), (b, c), (c, b)):
                total += u[:, m] * v[:, n]
            return float(_sum(weight * total))

        xx, yy, zz, xy, xz, yz = (product(*pair) for pair in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
        return (yy + zz, xx + zz, xx + yy, -xy, -xz, -yz)


def _sum(rows: np.ndarray) -> np.ndarray:
    """Return the sum of all rows, added one after the other."""
    return np.cumsum(rows, axis=0)[-1]


def _cross(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the cross product of each row of `u` and the same row of `v`: (n, 3)."""
    x = u[:, 1] * v[:, 2] - u[:, 2] * v[:, 1]
    y = u[:, 2] * v[:, 0] - u[:, 0] * v[:, 2]
    return np.stack((x, y, u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]), axis=1)


def _turned(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Multiply vectors (n, 3) by a matrix (3, 3), with sums from left to right."""
    x, y, z = rows.T
    return np.stack([matrix[k, 0] * x + matrix[k, 1] * y + matrix[k, 2] * z for k in range(3)], axis=1)
