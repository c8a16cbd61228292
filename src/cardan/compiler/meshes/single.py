"""Meshes by the rules of MuJoCo 3.1: vertices, centres and products are in single precision.

The frame of a mesh is the inertial frame of the solid inside it, or of its surface if it has no volume (spec: modeling,
"mesh").
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from cardan.compiler.meshes.base import MassProperties, Mesh, check_orientation, inertia_box, rotation_matrix, vector3
from cardan.compiler.meshes.normals import renormalized, vertex_normals
from cardan.compiler.meshes.surface import Surface, moved, turned
from cardan.constants import mjMINVAL
from cardan.formats.raw import RawMesh
from cardan.maths.pose import IDENTITY, principal_axes
from cardan.maths.quaternion import neg_quat, normalize4
from cardan.maths.types import Quat, Vec3

_DENSITY = 1000.0  # kg/m^3
Weigh = Callable[[], np.ndarray]


class SingleMesh(Mesh):
    """A mesh asset in single precision, as in MuJoCo 3.1."""

    _flat: MassProperties | None = None
    _first_surface: Surface | None = None
    surface: Surface  # the triangles in the mesh's frame

    def _mirrored(self, raw: RawMesh) -> tuple[str, ...]:
        return raw.mirrored

    def _place(self, scale: np.ndarray) -> None:
        if not len(self.normal):
            self._first_surface = Surface(self.vertex, self.face)
            self.normal = vertex_normals(self._first_surface, self.values["smoothnormal"])
        position, quat = np.array(self.values["refpos"]), self.values["refquat"]
        if position.any():
            self.vertex = self.vertex - position.astype(np.float32)
        if quat != IDENTITY[1] and any(quat):
            turn = rotation_matrix(neg_quat(normalize4(quat)))
            self.vertex = turned(self.vertex, turn)[0]
            self.normal = turned(self.normal, turn)[0]
        if (scale != 1.0).any():
            self.vertex = (self.vertex * scale).astype(np.float32)
            self.normal = (self.normal * scale).astype(np.float32)
        self.normal = renormalized(self.normal)

    def settle(self) -> None:
        """Move the vertices into the mesh's frame."""
        _ = self.solid

    def boxes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return boxes and circumcentres of the triangles; see `Mesh.boxes`."""
        return self.surface.boxes()

    def properties(self, on_surface: bool) -> MassProperties:
        """Return the mass properties of the mesh as a solid or, with ``on_surface``, of its surface."""
        return self._shell if on_surface else self.solid

    @cached_property
    def solid(self) -> MassProperties:
        """Mass properties of the mesh as a solid. First access moves the vertices into the mesh's frame.

        If the volume is zero, mass and inertia are also zero, and the frame is the inertial frame of the surface. A
        mesh that is turned inside out (negative volume) is treated as if exactmeshinertia were off.
        """
        parts, self._first_surface = self._first_surface, None
        if parts is None or parts.vertex is not self.vertex:  # `parts` has the vertices as they were read
            parts = Surface(self.vertex, self.face)
        self.surface = parts
        self._centroid = parts.centroid()
        signed = self.exact
        if signed:
            check_orientation(self.element, self.face)
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

        ``weigh`` returns the volume or area of each triangle after centring. These values, divided by ``share``, weigh
        the triangles in the second moments.
        """
        self.surface.move(moved(self.vertex, centre))
        weight = weigh()
        box, quat = _inertia_box(self.surface, weight, share)
        volume = self.surface.total(weight)
        turn = rotation_matrix(neg_quat(quat))
        self.vertex, (self.low, self.high) = turned(self.surface.vertex, turn)
        self.normal = turned(self.normal, turn)[0]
        self.surface.move(self.vertex)
        return MassProperties(volume, (vector3(centre), quat), box)

    @cached_property
    def _shell(self) -> MassProperties:
        """Mass properties of the surface.

        As in the reference, the centre is computed from quantities in two different frames: the faces are in the mesh's
        frame, the centroid is in the file's coordinates. The inertial frame has the orientation of the solid's.
        """
        solid = self.solid
        if self._flat is not None:
            return self._flat
        parts = self.surface
        centre = parts.weighted_centre(self._centroid, parts.area)
        box, _ = _inertia_box(parts, parts.area, 12.0)
        return MassProperties(parts.total(parts.area), (vector3(centre), solid.pose[1]), box)


def _inertia_box(parts: Surface, weight: np.ndarray, share: float) -> tuple[Vec3, Quat]:
    """Return half sides and orientation of the inertia box; ``weight`` is the volume or area of the triangles.

    Moments are computed for a typical density, since the search for principal axes has an absolute tolerance.
    """
    moments, quat = principal_axes(parts.second_moments(_DENSITY * weight / share))
    return inertia_box(moments, _DENSITY * parts.total(weight)), quat
