"""One mesh asset: reading, scaling, and conversion to the frame of its principal axes (spec: modeling, "mesh")."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cardan.compiler.files import asset_name, asset_path, read_asset
from cardan.compiler.meshes.hull import Hull
from cardan.compiler.meshes.implicit import implicit_mesh
from cardan.compiler.meshes.kept import ReadMesh, mesh_of_file
from cardan.compiler.plugins import instance_of
from cardan.formats.meshes import READERS, READERS_4_0, format_of
from cardan.formats.raw import MeshDataError, RawMesh, from_lists
from cardan.maths.pose import IDENTITY
from cardan.maths.quaternion import quat2mat
from cardan.maths.types import Pose, Quat, Vec3
from cardan.spec.builtins import builtin_mesh

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element


class MassProperties(NamedTuple):
    """Volume (or area), inertial frame in the file's coordinates, and half sides of the inertia box of a mesh.

    The inertia box is the box with the same mass and principal moments as the mesh.
    """

    volume: float
    pose: Pose
    box: Vec3


class Mesh:
    """A mesh asset, with the properties that geoms request from it.

    Tables (`vertex`, `normal`, ...) are those of `RawMesh`, in the file's coordinates after scaling. `settle` moves the
    tables to the mesh's own frame, and sets `low` and `high` to the corners of the bounding box in this frame. Each
    subclass implements the rules of one version of MuJoCo.
    """

    low: np.ndarray
    high: np.ndarray

    def __init__(self, build: Build, element: Element) -> None:
        self.element = element
        self.values = element.resolved()
        self.exact: bool = build.settings["exactmeshinertia"]
        self.is_4_0 = build.tree.compat == "4.0"
        self.is_implicit = False  # whether it is the surface of a plugin's shape
        self.needs_hull = False  # whether a geom collides with the mesh
        self.collides = False  # whether a geom of type mesh does
        self.pose: Pose = IDENTITY  # that the last geom gave the mesh (``mesh_pos``, ``mesh_quat``)
        self.path = asset_name(build, element)  # None for inline data
        if self.values["maxhullvert"] != -1 and self.values["maxhullvert"] <= 3:
            found = self.values["maxhullvert"]
            raise element.error(f"a hull has more than 3 vertices (-1: no bound), found {found}", "maxhullvert")
        try:
            self._prepare(self._read(build))
        except MeshDataError as error:
            raise element.error(str(error), error.attribute or ("file" if self.path else None)) from None

    # --- reading -----------------------------------------------------------------------------------------------------

    def _read(self, build: Build) -> ReadMesh:
        """Read the mesh from its file or attributes, or compute the surface of its plugin's signed-distance shape."""
        plugin = instance_of(build, self.element, "sdf")
        if plugin is not None and self.path is None and not plugin.shape.of_mesh:
            self.is_implicit = True
            return ReadMesh(implicit_mesh(plugin.shape, plugin.attributes, self.is_4_0))
        kind = self.values["builtin"]
        if self.path is None and kind is None:
            return ReadMesh(from_lists(self.values))
        source = "file" if kind is None else "builtin"
        given = [part for part in ("vertex", "normal", "texcoord", "face") if self.values[part] is not None]
        given += ["file"] if self.path is not None and kind is not None else []
        if given:
            raise MeshDataError(f"{source} and {given[0]} exclude each other", given[0])
        if kind is not None:
            return ReadMesh(builtin_mesh(kind, self.values["params"]))
        assert self.path is not None
        form = format_of(self.path, self.values["content_type"])
        read = (READERS_4_0 if self.is_4_0 else READERS)[form]
        place = asset_path(build, self.element)
        if place is None:
            return ReadMesh(read(read_asset(build, self.element)))
        return mesh_of_file(place, form + "_4_0" * self.is_4_0, lambda: read(read_asset(build, self.element)))

    def _prepare(self, mesh: ReadMesh) -> None:
        """Prepare faces, normals and texture coordinates, then apply reference frame and scale.

        If the mesh has no faces, it gets the faces of its convex hull.
        """
        self._read_mesh, raw = mesh, replace(mesh.raw)
        for remark in raw.remarks:
            self.element.warn(remark, "file")
        scale = np.array(self.values["scale"])
        if scale.prod() < 0.0:
            for table in self._mirrored(raw):
                corners = getattr(raw, table)
                if corners is not None:
                    setattr(raw, table, corners[:, [0, 2, 1]])
        self.vertex, self.normal, self.texcoord, self.face = raw.vertex, raw.normal, raw.texcoord, raw.face
        self.cloud_hull = None if len(raw.face) else self._hull_of(mesh)
        if self.cloud_hull is not None:
            self.face = self.cloud_hull.face
            raw.face_normal = raw.face_texcoord = None
        self._place(scale)
        # at each vertex of some meshes that the compiler makes there is a frame, whose first axis is the normal
        first = 3 * self.face if len(self.normal) == 3 * len(self.vertex) else self.face
        self.face_normal = first if raw.face_normal is None else raw.face_normal
        no_coordinates = self.face if len(self.texcoord) else np.zeros_like(self.face)
        self.face_texcoord = no_coordinates if raw.face_texcoord is None else raw.face_texcoord

    def _mirrored(self, raw: RawMesh) -> tuple[str, ...]:
        """Return the names of the tables of corners that must be reversed if the scale mirrors the mesh."""
        raise NotImplementedError

    def _place(self, scale: np.ndarray) -> None:
        """Compute normals if the mesh has none; convert vertices and normals to the reference pose, and scale them."""
        raise NotImplementedError

    # --- hull --------------------------------------------------------------------------------------------------------

    @cached_property
    def graph(self) -> np.ndarray:
        """Graph of the convex hull; empty if the mesh has faces of its own and no geom needs the hull.

        As in the reference, the hull is computed from the points in the file's coordinates. Results for nearly flat
        regions depend on these coordinates.
        """
        if self.cloud_hull is None and not self.needs_hull:
            return np.empty(0, np.int32)
        return self.hull.graph

    @cached_property
    def hull(self) -> Hull:
        """Convex hull of the mesh. Raises MjcfError if there is no hull."""
        if self.cloud_hull is not None:
            return self.cloud_hull
        try:
            return self._hull_of(self._read_mesh)
        except MeshDataError as error:
            raise self.element.error(str(error)) from None

    def _hull_of(self, mesh: ReadMesh) -> Hull:
        """Return the convex hull of a mesh as the mesh was read. Raises MeshDataError if there is no hull."""
        return mesh.hull(self.values["maxhullvert"])

    @property
    def bulge(self) -> float:
        """Ratio of the convex hull's volume to the mesh's volume, meaningful only for closed meshes."""
        return self._read_mesh.bulge

    @property
    def closed(self) -> bool:
        """Whether the triangles form closed surfaces."""
        return self._read_mesh.closed

    # --- mass --------------------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Compute the frame of the mesh, and move the vertices into it. Raises MjcfError if the mesh has no frame."""
        raise NotImplementedError

    def boxes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return lower and upper corners of the triangles' boxes, and the triangles' circumcentres: (m, 3) each."""
        raise NotImplementedError

    def properties(self, on_surface: bool) -> MassProperties:
        """Return the mass properties for a geom, and move the vertices into the mesh's frame.

        Args:
            on_surface: whether the geom has its mass on the surface (geom shellinertia).

        Raises:
            MjcfError: the mass properties cannot be computed.
        """
        raise NotImplementedError

    @property
    def centre(self) -> Vec3:
        """Centre of the bounding box in the mesh's frame."""
        return vector3(0.5 * (self.low + self.high))

    @property
    def half(self) -> Vec3:
        """Half sides of the bounding box."""
        return vector3(0.5 * (self.high - self.low))


def check_orientation(element: Element, face: np.ndarray) -> None:
    """Check that all faces have a consistent orientation, which the exact volume requires; raise MjcfError if not.

    Two faces that share an edge must list its vertices in opposite orders. Faces with a repeated vertex are ignored.
    """
    start = face[(face != np.roll(face, 1, axis=1)).all(axis=1)].astype(np.int64)
    edge = np.sort((start << 32 | start[:, [1, 2, 0]]).ravel())
    twice = np.flatnonzero(edge[1:] == edge[:-1])
    if len(twice):
        first = int(edge[twice[0]])
        where = f"check the faces with vertices {first >> 32} and {first & 0xFFFFFFFF}"
        raise element.error(f"the faces have inconsistent orientation: {where}")


def inertia_box(moments: Vec3, mass: float) -> Vec3:
    """Return half sides of the box with given principal moments of inertia and mass; 0 if the mass is 0."""
    if mass <= 0.0:
        return (0.0, 0.0, 0.0)
    a, b, c = moments
    x, y, z = (0.5 * sqrt(max(0.0, 6.0 * moment / mass)) for moment in (b + c - a, a + c - b, a + b - c))
    return (x, y, z)


def vector3(row: np.ndarray) -> Vec3:
    """Return an array of three numbers as a tuple."""
    return (float(row[0]), float(row[1]), float(row[2]))


def rotation_matrix(quat: Quat) -> np.ndarray:
    """Return the rotation matrix (3, 3) of a unit quaternion."""
    return np.array(quat2mat(quat)).reshape(3, 3)
