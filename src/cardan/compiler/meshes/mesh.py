"""One mesh asset: read, scaled, centred on its mass and rotated to its principal axes (spec: modeling, "mesh")."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cardan.compiler.box_tree import box_tree
from cardan.compiler.files import asset_name, asset_path, read_asset
from cardan.compiler.meshes.implicit import implicit_mesh
from cardan.compiler.meshes.kept import ReadMesh, mesh_of_file
from cardan.compiler.meshes.normals import renormalized, vertex_normals
from cardan.compiler.meshes.surface import Surface, moved, turned
from cardan.compiler.plugins import instance_of
from cardan.constants import mjMINVAL
from cardan.formats.meshes import reader
from cardan.formats.raw import MeshDataError, from_lists
from cardan.maths.pose import IDENTITY, principal_axes
from cardan.maths.quaternion import neg_quat, normalize4, quat2mat
from cardan.maths.types import Pose, Quat, Vec3
from cardan.maths.vector import add3
from cardan.threads import Crew, processors

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element


_DENSITY = 1000.0  # kg/m^3
Weigh = Callable[[], np.ndarray]


class MassProperties(NamedTuple):
    """Volume (or area), inertial frame in the file's coordinates, and half sides of the inertia box of a mesh.

    The inertia box is the box with the same mass and principal moments as the mesh.
    """

    volume: float
    pose: Pose
    box: Vec3


class Mesh:
    """A mesh asset, with the properties that geoms request from it.

    Its tables `vertex`, `normal`, ... are those of `RawMesh`, in the file's coordinates after scaling. A request for
    `solid` or `shell` moves them to the mesh's own frame. After it, `surface` holds the triangles, and `low` and `high`
    are the corners of the bounding box.
    """

    def __init__(self, build: Build, element: Element) -> None:
        self.element = element
        self.values = element.resolved()
        self.exact: bool = build.settings["exactmeshinertia"]
        self.needs_hull = False  # whether a geom collides with the mesh
        self._flat: MassProperties | None = None
        self.pose: Pose = IDENTITY  # that the last geom gave the mesh (``mesh_pos``, ``mesh_quat``)
        self.path = asset_name(build, element)  # None for inline data
        try:
            self._prepare(self._read(build))
        except MeshDataError as error:
            raise element.error(str(error), error.attribute or ("file" if self.path else None)) from None

    # --- reading -----------------------------------------------------------------------------------------------------

    def _read(self, build: Build) -> ReadMesh:
        """Return the mesh from its file or its attributes, or the surface of its plugin's shape."""
        plugin = instance_of(build, self.element, "sdf")
        if plugin is not None and self.path is None and not plugin.shape.of_mesh:
            return ReadMesh(implicit_mesh(plugin.shape, plugin.attributes))
        if self.path is None:
            return ReadMesh(from_lists(self.values))
        given = [part for part in ("vertex", "normal", "texcoord", "face") if self.values[part] is not None]
        if given:
            raise MeshDataError(f"file and {given[0]} exclude each other", given[0])
        read = reader(self.path, self.values["content_type"])
        place = asset_path(build, self.element)
        if place is None:
            return ReadMesh(read(read_asset(build, self.element)))
        return mesh_of_file(place, read.__name__, lambda: read(read_asset(build, self.element)))

    def _prepare(self, mesh: ReadMesh) -> None:
        """Prepare faces, normals and texture coordinates, then apply reference frame and scale."""
        self._read_mesh, raw = mesh, replace(mesh.raw)
        for remark in raw.remarks:
            self.element.warn(remark, "file")
        scale = np.array(self.values["scale"])
        if scale.prod() < 0.0:  # the faces of a mirrored mesh are reversed if its format requires that
            for table in raw.mirrored:
                corners = getattr(raw, table)
                if corners is not None:
                    setattr(raw, table, corners[:, [0, 2, 1]])
        self.vertex, self.normal, self.texcoord, self.face = raw.vertex, raw.normal, raw.texcoord, raw.face
        self.cloud_hull = None if len(raw.face) else mesh.hull
        if self.cloud_hull is not None:
            self.face = self.cloud_hull.face
            raw.face_normal = raw.face_texcoord = None
        self._first_surface: Surface | None = None
        if not len(self.normal):
            self._first_surface = Surface(self.vertex, self.face)
            self.normal = vertex_normals(self._first_surface, self.values["smoothnormal"])
        self._transform(np.array(self.values["refpos"]), self.values["refquat"], scale)
        self.face_normal = self.face if raw.face_normal is None else raw.face_normal
        no_coordinates = self.face if len(self.texcoord) else np.zeros_like(self.face)
        self.face_texcoord = no_coordinates if raw.face_texcoord is None else raw.face_texcoord

    def _transform(self, position: np.ndarray, quat: Quat, scale: np.ndarray) -> None:
        """Convert coordinates to the reference pose, and scale them."""
        if position.any():
            self.vertex = self.vertex - position.astype(np.float32)
        if quat != IDENTITY[1] and any(quat):
            turn = _matrix(neg_quat(normalize4(quat)))
            self.vertex = turned(self.vertex, turn)[0]
            self.normal = turned(self.normal, turn)[0]
        if (scale != 1.0).any():
            self.vertex = (self.vertex * scale).astype(np.float32)
            self.normal = (self.normal * scale).astype(np.float32)
        self.normal = renormalized(self.normal)

    # --- hull --------------------------------------------------------------------------------------------------------

    @cached_property
    def graph(self) -> np.ndarray:
        """Graph of the convex hull; empty if no geom needs it.

        As in the reference, the hull is computed from the points in the file's coordinates. Results for nearly flat
        regions depend on these coordinates.
        """
        if self.cloud_hull is not None:
            return self.cloud_hull.graph
        if not self.needs_hull:
            return np.empty(0, np.int32)
        try:
            return self._read_mesh.hull.graph
        except MeshDataError as error:
            raise self.element.error(str(error)) from None

    # --- mass --------------------------------------------------------------------------------------------------------

    @cached_property
    def solid(self) -> MassProperties:
        """Mass properties of the mesh as a solid. First access moves the vertices into the mesh's frame.

        If the volume is zero, so are mass and inertia, and the frame is that of the surface. With exactmeshinertia, a
        mesh that is turned inside out (negative volume) is treated as if this setting were off.
        """
        parts, self._first_surface = self._first_surface, None
        if parts is None or parts.vertex is not self.vertex:  # `parts` has the vertices as they were read
            parts = Surface(self.vertex, self.face)
        self.surface = parts
        self._centroid = parts.centroid()
        signed = self.exact
        if signed:
            _check_orientation(self.element, self.face)
        volumes = parts.pyramid_volumes(self._centroid, signed)
        total = parts.total(volumes)
        if signed and total < mjMINVAL:
            signed = False
            volumes = parts.pyramid_volumes(self._centroid, signed)
            total = parts.total(volumes)
        if total < mjMINVAL:
            self._flat = self._turn(parts.weighted_centre(self._centroid, parts.area), lambda: parts.area, 12.0)
            return MassProperties(0.0, IDENTITY, (0.0, 0.0, 0.0))

        def pyramids() -> np.ndarray:
            return parts.pyramid_volumes(np.zeros(3), signed)

        return self._turn(parts.weighted_centre(self._centroid, volumes), pyramids, 20.0)

    def _turn(self, centre: np.ndarray, weigh: Weigh, share: float) -> MassProperties:
        """Centre the vertices, rotate them to the principal axes, and record the box around them.

        ``weigh`` returns the volume or area of the triangles after centring. Divided by ``share``, these are the
        weights of the triangles in the second moments.
        """
        self.surface.move(moved(self.vertex, centre))
        weight = weigh()
        box, quat = _inertia_box(self.surface, weight, share)
        volume = self.surface.total(weight)
        turn = _matrix(neg_quat(quat))
        self.vertex, (self.low, self.high) = turned(self.surface.vertex, turn)
        self.normal = turned(self.normal, turn)[0]
        self.surface.move(self.vertex)
        return MassProperties(volume, (_vector(centre), quat), box)

    @cached_property
    def shell(self) -> MassProperties:
        """Mass properties of the surface.

        As in the reference, the centre mixes two frames: the weighted centre of the faces is taken in the mesh's frame,
        the centroid in the file's coordinates. The orientation of the frame is that of the solid.
        """
        solid = self.solid
        if self._flat is not None:
            return self._flat
        parts = self.surface
        centre = parts.weighted_centre(self._centroid, parts.area)
        box, _ = _inertia_box(parts, parts.area, 12.0)
        return MassProperties(parts.total(parts.area), (_vector(centre), solid.pose[1]), box)

    @property
    def centre(self) -> Vec3:
        """Centre of the bounding box in the mesh's frame."""
        return _vector(0.5 * (self.low + self.high))

    @property
    def half(self) -> Vec3:
        """Half sides of the bounding box."""
        return _vector(0.5 * (self.high - self.low))


def _check_orientation(element: Element, face: np.ndarray) -> None:
    """Check that all faces have a consistent orientation, which the exact volume requires.

    Two faces that share an edge must pass along it in opposite directions. Faces with a repeated vertex are ignored.
    """
    start = face[(face != np.roll(face, 1, axis=1)).all(axis=1)].astype(np.int64)
    edge = np.sort((start << 32 | start[:, [1, 2, 0]]).ravel())
    twice = np.flatnonzero(edge[1:] == edge[:-1])
    if len(twice):
        first = int(edge[twice[0]])
        where = f"check the faces with vertices {first >> 32} and {first & 0xFFFFFFFF}"
        raise element.error(f"the faces have inconsistent orientation: {where}")


def _inertia_box(parts: Surface, weight: np.ndarray, share: float) -> tuple[Vec3, Quat]:
    """Return half sides and orientation of the inertia box; ``weight`` is the volume or area of the triangles.

    Moments are computed for a typical density, since the search for principal axes has an absolute tolerance.
    """
    (a, b, c), quat = principal_axes(parts.second_moments(_DENSITY * weight / share))
    mass = _DENSITY * parts.total(weight)
    if mass <= 0.0:
        return (0.0, 0.0, 0.0), quat
    x, y, z = (0.5 * sqrt(max(0.0, 6.0 * moment / mass)) for moment in (b + c - a, a + c - b, a + b - c))
    return (x, y, z), quat


def _vector(row: np.ndarray) -> Vec3:
    return (float(row[0]), float(row[1]), float(row[2]))


def _matrix(quat: Quat) -> np.ndarray:
    return np.array(quat2mat(quat)).reshape(3, 3)


def fit(element: Element, mesh: Mesh, values: dict[str, Any], to_box: bool) -> tuple[Pose, Vec3]:
    """Return the pose (in the file's coordinates) and the sizes of the primitive shape that replaces a mesh.

    The shape has the mesh's inertia box or, with ``to_box`` (compiler fitaabb), encloses the mesh's bounding box.
    """
    word, scale = values["type"], values["fitscale"]
    if word not in _BY_INERTIA:
        raise element.error(f"a {word} cannot be fitted to a mesh: use {', '.join(_BY_INERTIA)}", "type")
    position, quat = mesh.solid.pose
    if to_box:
        # the shift is not rotated, as in the reference
        position = add3(position, mesh.centre)
        size = _BY_BOX[word](mesh.vertex.astype(np.float64) - mesh.centre, mesh.half)
    elif mesh.solid.volume <= 0.0:
        raise element.error("the volume of the mesh is too small to fit a shape to it", "mesh")
    else:
        size = _BY_INERTIA[word](mesh.solid.box)
    return (position, quat), (size[0] * scale, size[1] * scale, size[2] * scale)


_BY_INERTIA: dict[str, Callable[[Vec3], Vec3]] = {
    "sphere": lambda box: (sum(box) / 3.0, 0.0, 0.0),
    "capsule": lambda box: ((box[0] + box[1]) / 2.0, max(0.0, box[2] - (box[0] + box[1]) / 4.0), 0.0),
    "ellipsoid": lambda box: box,
    "cylinder": lambda box: ((box[0] + box[1]) / 2.0, box[2], 0.0),
    "box": lambda box: box,
}


def _around_capsule(vertex: np.ndarray, half: Vec3) -> Vec3:
    squares = vertex[:, 0] ** 2 + vertex[:, 1] ** 2
    radius = float(np.sqrt(squares.max()))
    # a vertex may be in one of the two round ends
    inside = np.sqrt(np.maximum(0.0, radius * radius - squares))
    return (radius, max(0.0, float((np.abs(vertex[:, 2]) - inside).max())), 0.0)


def _around_cylinder(vertex: np.ndarray, half: Vec3) -> Vec3:
    radius = float(np.sqrt((vertex[:, 0] ** 2 + vertex[:, 1] ** 2).max()))
    return (radius, float(np.abs(vertex[:, 2]).max()), 0.0)


_BY_BOX: dict[str, Callable[[np.ndarray, Vec3], Vec3]] = {
    "sphere": lambda vertex, half: (float(np.sqrt((vertex * vertex).sum(axis=1).max())), 0.0, 0.0),
    "capsule": _around_capsule,
    "ellipsoid": lambda vertex, half: half,
    "cylinder": _around_cylinder,
    "box": lambda vertex, half: half,
}


_SMALL = 100  # hulls of at most this many vertices are computed without a thread
_TREE_FIELDS = ("bvh_depth", "bvh_child", "bvh_nodeid", "bvh_aabb")


def add_meshes(build: Build) -> None:
    """Read the mesh assets, in the user's order."""
    for element in build.tree.section("asset").all("mesh"):
        mesh = build.meshes[element.name or ""] = Mesh(build, element)
        if not build.dropped(element):
            build.enter("mesh", element.name)
            build.put(mesh_path=mesh.path)


def put_meshes(build: Build) -> None:
    """Fill columns ``mesh_*`` and the trees over the meshes' faces, after all geoms have made their requests."""
    meshes = [mesh for mesh in build.meshes.values() if not build.dropped(mesh.element)]
    if not meshes:
        return
    # hulls are computed in parallel, since Qhull releases the GIL; threads cost more than small hulls
    wanted = [mesh for mesh in meshes if mesh.needs_hull]
    if len(wanted) > 1 and max(len(mesh.vertex) for mesh in wanted) > _SMALL:
        with closing(Crew(min(len(wanted), processors()), "cardan-hull")) as crew:
            crew.each(lambda k, _: wanted[k].graph, len(wanted))
    for mesh in meshes:
        _put_mesh(build, mesh)
    build.sizes["nbvhstatic"] = build.sizes["nbvh"]


def _put_mesh(build: Build, mesh: Mesh) -> None:
    """Add one mesh, in its own frame even if no geom uses it."""
    _ = mesh.solid  # moves the vertices into this frame
    tree = box_tree(*mesh.surface.boxes())
    tree_adr, *_ = [build.add_block(field, rows) for field, rows in zip(_TREE_FIELDS, tree, strict=True)]
    texcoord_adr = build.add_block("mesh_texcoord", mesh.texcoord)
    graph_adr = build.add_block("mesh_graph", mesh.graph)
    build.add_block("mesh_facenormal", mesh.face_normal)
    build.add_block("mesh_facetexcoord", mesh.face_texcoord)
    build.put(
        mesh_vertadr=build.add_block("mesh_vert", mesh.vertex),
        mesh_vertnum=len(mesh.vertex),
        mesh_normaladr=build.add_block("mesh_normal", mesh.normal),
        mesh_normalnum=len(mesh.normal),
        mesh_texcoordadr=texcoord_adr if len(mesh.texcoord) else -1,
        mesh_texcoordnum=len(mesh.texcoord),
        mesh_faceadr=build.add_block("mesh_face", mesh.face),
        mesh_facenum=len(mesh.face),
        mesh_bvhadr=tree_adr,
        mesh_bvhnum=len(tree.depth),
        mesh_graphadr=graph_adr if len(mesh.graph) else -1,
        mesh_scale=mesh.values["scale"],
        mesh_pos=mesh.pose[0],
        mesh_quat=mesh.pose[1],
    )
