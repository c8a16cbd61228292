"""Surface normals where rays hit geoms: the argument ``normal`` of ray functions, which came with MuJoCo 3.5."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.enums.codes import (
    GEOM_BOX,
    GEOM_CAPSULE,
    GEOM_CYLINDER,
    GEOM_ELLIPSOID,
    GEOM_HFIELD,
    GEOM_MESH,
    GEOM_PLANE,
    GEOM_SPHERE,
)
from cardan.errors import UnsupportedFeature
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel


def shape_normal(kind: int, size: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Return the outward normal (3,) of a primitive shape at a point of its surface, both in the frame of the shape."""
    if kind == GEOM_PLANE:
        return np.array([0.0, 0.0, 1.0])
    if kind == GEOM_SPHERE:
        normal = point
    elif kind == GEOM_CAPSULE:
        normal = point - [0.0, 0.0, np.clip(point[2], -size[1], size[1])]
    elif kind == GEOM_ELLIPSOID:
        normal = point / size**2
    elif kind == GEOM_BOX:
        axis = int(np.argmin(np.abs(np.abs(point) - size)))
        normal = np.eye(3)[axis] * np.sign(point[axis])
    else:
        assert kind == GEOM_CYLINDER
        round_side = abs(np.hypot(point[0], point[1]) - size[0]) < abs(abs(point[2]) - size[1])
        normal = np.array([point[0], point[1], 0.0] if round_side else [0.0, 0.0, np.sign(point[2])])
    return normal / np.linalg.norm(normal)


def mesh_normal(m: MjModel, mesh: int, point: np.ndarray) -> np.ndarray:
    """Return the normal (3,) of the triangle of a mesh that contains a point, both in the frame of the mesh."""
    first, count = int(m.mesh_faceadr[mesh]), int(m.mesh_facenum[mesh])
    vert = m.mesh_vert[int(m.mesh_vertadr[mesh]) :].astype(float)
    a, b, c = (vert[m.mesh_face[first : first + count, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    area = np.linalg.norm(normals, axis=1)
    normals = normals / np.maximum(area, 1e-300)[:, None]
    away = np.abs(((point - a) * normals).sum(axis=1))
    for p, q in ((a, b), (b, c), (c, a)):  # distance beyond each edge, in the plane of the triangle
        across = np.cross(q - p, normals)
        beyond = ((point - p) * across).sum(axis=1) / np.maximum(np.linalg.norm(across, axis=1), 1e-300)
        away = np.maximum(away, beyond)
    return normals[np.argmin(np.where(area > 0.0, away, np.inf))]


def geom_normal(m: MjModel, d: MjData, geom: int, point: Any) -> np.ndarray:
    """Return the outward normal of a geom (3,) at a point of its surface, world frame.

    Raises:
        UnsupportedFeature: the geom is a height field or a signed-distance shape.
    """
    turn, kind = d.geom_xmat[geom].reshape(3, 3), int(m.geom_type[geom])
    local = (np.asarray(point, float) - d.geom_xpos[geom]) @ turn
    if kind == GEOM_MESH:
        return turn @ mesh_normal(m, int(m.geom_dataid[geom]), local)
    if kind > GEOM_MESH or kind == GEOM_HFIELD:
        raise UnsupportedFeature(f"normals of geom {geom}: rays have normals of primitive shapes and meshes only")
    return turn @ shape_normal(kind, m.geom_size[geom], local)
