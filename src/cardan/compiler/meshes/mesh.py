"""One mesh asset: read, scaled, centred on its mass and turned to its principal axes (spec: modeling, "mesh")."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cardan.compiler.files import asset_name, read_asset
from cardan.compiler.meshes import triangles as tri
from cardan.compiler.meshes.files import reader
from cardan.compiler.meshes.hull import hull_faces, hull_graph
from cardan.compiler.meshes.raw import MeshDataError, RawMesh, checked, from_lists
from cardan.constants import mjMINVAL
from cardan.maths.eigen import principal_axes
from cardan.maths.pose import IDENTITY, Pose, Vec3
from cardan.maths.quaternion import neg_quat, normalize4, quat2mat

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element


class MassProperties(NamedTuple):
    """Volume (or area), where the mesh's mass is in the file's coordinates, and principal moments at unit density."""

    volume: float
    pose: Pose
    inertia: Vec3


class Mesh:
    """A mesh asset, and what geoms ask of it.

    Attributes:
    ----------
    element, values: the asset, and its resolved attributes.
    vertex: (n, 3) float32, in the file's coordinates after scaling; in the mesh's own frame once a geom has asked for
        `solid` or `shell`.
    normal, texcoord, face, face_normal, face_texcoord: see `RawMesh`.
    pose: pose that the last geom gave the mesh (field ``mesh_pos``, ``mesh_quat``).
    path: name of the file, None for inline data.
    needs_hull: whether a geom collides with the mesh.
    low, high: corners of the bounding box in the mesh's frame.
    """

    def __init__(self, build: Build, element: Element) -> None:
        self.element = element
        self.values = element.resolved()
        self.exact: bool = build.settings["exactmeshinertia"]
        self.needs_hull = False
        self.pose: Pose = IDENTITY
        self.path = asset_name(build, element)
        try:
            self._prepare(checked(self._read(build)))
        except MeshDataError as error:
            raise element.error(str(error), error.attribute or ("file" if self.path else None)) from None

    # --- reading -----------------------------------------------------------------------------------------------------

    def _read(self, build: Build) -> RawMesh:
        """The mesh as it is in its file or its attributes."""
        if self.path is None:
            return from_lists(self.values)
        given = [part for part in ("vertex", "normal", "texcoord", "face") if self.values[part] is not None]
        if given:
            raise MeshDataError(f"file and {given[0]} exclude each other", given[0])
        read = reader(self.path, self.values["content_type"])
        return read(read_asset(build, self.element))

    def _prepare(self, raw: RawMesh) -> None:
        """Faces, normals and texture coordinates; then reference frame and scale."""
        self.vertex, self.normal, self.texcoord, self.face = raw.vertex, raw.normal, raw.texcoord, raw.face
        self.is_cloud = not len(raw.face)
        if self.is_cloud:
            self.face = hull_faces(self.vertex)
            self._cloud_hull = self.face
        self.face_normal, self.face_texcoord = raw.face_normal, raw.face_texcoord
        if not len(self.normal):
            parts = tri.triangles(self.vertex, self.face)
            self.normal = tri.vertex_normals(parts, self.face, len(self.vertex), self.values["smoothnormal"])
        self._apply_reference()
        scale = np.array(self.values["scale"])
        self._apply_scale(scale, raw.mirrors and scale.prod() < 0.0)
        self.normal = tri.renormalized(self.normal)
        if self.face_normal is None or self.is_cloud:
            self.face_normal = self.face
        if self.face_texcoord is None or self.is_cloud:
            self.face_texcoord = self.face if len(self.texcoord) else np.zeros_like(self.face)

    def _apply_reference(self) -> None:
        """Coordinates relative to the reference pose."""
        position, quat = np.array(self.values["refpos"]), self.values["refquat"]
        if position.any():
            self.vertex = (self.vertex - position).astype(np.float32)
        if quat != IDENTITY[1] and any(quat):
            turn = _matrix(neg_quat(normalize4(quat)))
            self.vertex = _turned(self.vertex, turn)[0]
            self.normal = _turned(self.normal, turn)[0]

    def _apply_scale(self, scale: np.ndarray, turn_faces: bool) -> None:
        """Scaled vertices and normals; a mirrored mesh of a file gets its faces the other way round."""
        if (scale == 1.0).all():
            return
        self.vertex = (self.vertex * scale).astype(np.float32)
        self.normal = (self.normal * scale).astype(np.float32)
        if turn_faces:
            swapped = [0, 2, 1]
            self.face = self.face[:, swapped]
            self.face_normal = None if self.face_normal is None else self.face_normal[:, swapped]
            self.face_texcoord = None if self.face_texcoord is None else self.face_texcoord[:, swapped]

    # --- hull --------------------------------------------------------------------------------------------------------

    @cached_property
    def graph(self) -> np.ndarray:
        """Graph of the convex hull; empty when no geom needs it."""
        if self.is_cloud:
            return hull_graph(self._cloud_hull)
        if not self.needs_hull:
            return np.empty(0, np.int32)
        try:
            return hull_graph(hull_faces(self.vertex))
        except MeshDataError as error:
            raise self.element.error(str(error)) from None

    # --- mass --------------------------------------------------------------------------------------------------------

    @cached_property
    def solid(self) -> MassProperties:
        """Mass properties of the mesh as a solid; puts the vertices into the mesh's frame.

        Without volume they are those of nothing, and the surface gives the frame.
        """
        parts = tri.triangles(self.vertex, self.face)
        self._centroid = tri.face_centroid(parts)
        if self.exact:
            self._check_orientation()
        volumes = tri.pyramid_volumes(parts, self._centroid, self.exact)
        if abs(volumes.sum()) < mjMINVAL:
            self._place(tri.weighted_centre(parts, self._centroid, parts.area), lambda parts: parts.area / 12.0)
            return MassProperties(0.0, IDENTITY, (0.0, 0.0, 0.0))
        return self._place(
            tri.weighted_centre(parts, self._centroid, volumes),
            lambda parts: tri.pyramid_volumes(parts, np.zeros(3), self.exact) / 20.0,
            20.0,
        )

    def _check_orientation(self) -> None:
        """For the exact volume all faces must look to the same side."""
        found = tri.turned_edge(self.face)
        if found:
            where = f"check the faces with vertices {found[0]} and {found[1]}"
            raise self.element.error(f"the faces have inconsistent orientation: {where}")

    def _place(self, centre: np.ndarray, weigh: Any, factor: float = 12.0) -> MassProperties:
        """Centre the vertices, turn them to the principal axes, and note the box around them."""
        self.vertex = (self.vertex - centre).astype(np.float32)
        weight = weigh(tri.triangles(self.vertex, self.face))
        inertia, quat = principal_axes(tri.second_moments(self.vertex, self.face, weight))
        turn = _matrix(neg_quat(quat))
        self.vertex, exact = _turned(self.vertex, turn)
        self.normal = _turned(self.normal, turn)[0]
        self.low, self.high = exact.min(axis=0), exact.max(axis=0)
        position = (float(centre[0]), float(centre[1]), float(centre[2]))
        return MassProperties(float(weight.sum()) * factor, (position, quat), inertia)

    @cached_property
    def shell(self) -> MassProperties:
        """Mass properties of the surface.

        As in the reference, its centre is a mixture: that of the faces in the mesh's frame, and the centroid in the
        file's coordinates; its frame has the orientation of the solid's.
        """
        solid = self.solid
        parts = tri.triangles(self.vertex, self.face)
        centre = tri.weighted_centre(parts, self._centroid, parts.area)
        inertia, _ = principal_axes(tri.second_moments(self.vertex, self.face, parts.area / 12.0))
        position = (float(centre[0]), float(centre[1]), float(centre[2]))
        return MassProperties(float(parts.area.sum()), (position, solid.pose[1]), inertia)

    @property
    def centre(self) -> Vec3:
        """Centre of the bounding box in the mesh's frame."""
        x, y, z = (0.5 * (self.low + self.high)).tolist()
        return (x, y, z)

    @property
    def half(self) -> Vec3:
        """Half sides of the bounding box."""
        x, y, z = (0.5 * (self.high - self.low)).tolist()
        return (x, y, z)


def _matrix(quat: Any) -> np.ndarray:
    return np.array(quat2mat(quat)).reshape(3, 3)


def _turned(rows: np.ndarray, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The vectors turned, in single precision and as computed."""
    x, y, z = rows.astype(np.float64).T
    exact = np.stack([row[0] * x + row[1] * y + row[2] * z for row in matrix], axis=1)
    return exact.astype(np.float32), exact
