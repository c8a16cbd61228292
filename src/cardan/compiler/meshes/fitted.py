"""Primitive shapes fitted to meshes (spec: modeling, "geom", attribute mesh)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.maths.pose import IDENTITY, compose
from cardan.maths.types import Pose, Vec3
from cardan.maths.vector import add3

if TYPE_CHECKING:
    from cardan.compiler.meshes.base import Mesh
    from cardan.spec.element import Element


def fit(element: Element, mesh: Mesh, values: dict[str, Any], to_box: bool) -> tuple[Pose, Vec3]:
    """Return the pose (in the file's coordinates) and the sizes of the primitive shape that replaces a mesh.

    Without ``to_box``, the sizes are computed from the mesh's inertia box. With ``to_box`` (compiler fitaabb), all
    shapes except ellipsoids contain the mesh in 3.1. In 4.0, the bounding box of the shape contains that of the mesh.

    Raises:
        MjcfError: no shape can be fitted.
    """
    word, scale = values["type"], values["fitscale"]
    if word not in _BY_INERTIA:
        raise element.error(f"a {word} cannot be fitted to a mesh: use {', '.join(_BY_INERTIA)}", "type")
    found = mesh.properties(False)
    position, quat = found.pose
    if to_box and mesh.is_4_0:
        position, size = compose(found.pose, (mesh.centre, IDENTITY[1]))[0], _AROUND_BOX[word](mesh.half)
    elif to_box:
        # the shift is not rotated, as in the reference
        position = add3(position, mesh.centre)
        size = _AROUND_MESH[word](mesh.vertex.astype(np.float64) - mesh.centre, mesh.half)
    elif found.volume <= 0.0:
        raise element.error("the volume of the mesh is too small to fit a shape to it", "mesh")
    else:
        size = _BY_INERTIA[word](found.box)
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


_AROUND_MESH: dict[str, Callable[[np.ndarray, Vec3], Vec3]] = {
    "sphere": lambda vertex, half: (float(np.sqrt((vertex * vertex).sum(axis=1).max())), 0.0, 0.0),
    "capsule": _around_capsule,
    "ellipsoid": lambda vertex, half: half,
    "cylinder": _around_cylinder,
    "box": lambda vertex, half: half,
}
_AROUND_BOX: dict[str, Callable[[Vec3], Vec3]] = {
    "sphere": lambda half: (max(half), 0.0, 0.0),
    "capsule": lambda half: (max(half[:2]), max(0.0, half[2] - max(half[:2])), 0.0),
    "ellipsoid": lambda half: half,
    "cylinder": lambda half: (max(half[:2]), half[2], 0.0),
    "box": lambda half: half,
}
