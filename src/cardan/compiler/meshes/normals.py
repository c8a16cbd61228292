"""Normals of a mesh's vertices: means over the faces around, in single precision and in the order of the faces."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.compiler.meshes.triangles import Triangles
from cardan.constants import mjMINVAL
from cardan.jit import Field, Struct, StructMemory, exact
from cardan.jit.driver.direct import call, native_over

_SHARP = 0.8  # cosine between a face's normal and the mean one, below which the edge is sharp

FACES = Struct(
    "Faces",
    [
        Field("face", "i4", ("any", 3), "vertices of each face"),
        Field("normal", "f8", ("any", 3), "unit normal of each face"),
        Field("weighted", "f8", ("any", 3), "what the face adds to the sums of its vertices"),
    ],
    readonly=True,
)

SUMS = Struct(
    "Sums",
    [
        Field("total", "f4", ("any", 3), "sum over the corners at each vertex"),
        Field("mean", "f4", ("any", 3), "unit vector along the sum over all corners"),
    ],
    readonly=False,
)


def vertex_normals(parts: Triangles, face: np.ndarray, count: int, smooth: bool) -> np.ndarray:
    """Normals of vertices: means of the faces around, weighted by area; sharp edges don't count unless ``smooth``."""
    # the unit normal by the inverse length, rounded as in the reference
    length = 2.0 * parts.area
    inverse = 1.0 / np.where(length < mjMINVAL, 1.0, length)
    faces, sums = StructMemory(FACES, {}), StructMemory(SUMS, {})
    faces.attach("face", face)
    faces.attach("normal", parts.normal)
    faces.attach("weighted", length[:, None] * (inverse[:, None] * parts.cross))
    total, sharp = np.zeros((2, count, 3), np.float32)
    sums.attach("total", total)
    call(sum_corners, faces, sums)
    if smooth:
        return _unit(total)
    # where the faces cancel out, edges are sharp by their angle to x, as in the reference
    sums.attach("mean", _unit(total, (1.0, 0.0, 0.0)))
    sums.attach("total", sharp)
    call(sum_sharp_corners, faces, sums)
    return _unit(total - sharp)


@native_over("Faces", "Sums")
@exact
def sum_corners(f: Any, s: Any, _unused: int, _neither: int) -> int:
    """Sum over all corners, rounded to single precision after each addition."""
    for i in range(len(f.face)):
        for j in range(3):
            vertex = f.face[i, j]
            for k in range(3):
                s.total[vertex, k] = s.total[vertex, k] + f.weighted[i, k]
    return 0


@native_over("Faces", "Sums")
@exact
def sum_sharp_corners(f: Any, s: Any, _unused: int, _neither: int) -> int:
    """The same over the corners at which the face's normal is far from the mean one."""
    for i in range(len(f.face)):
        for j in range(3):
            vertex = f.face[i, j]
            cosine = f.normal[i, 0] * s.mean[vertex, 0]
            cosine = cosine + f.normal[i, 1] * s.mean[vertex, 1]
            cosine = cosine + f.normal[i, 2] * s.mean[vertex, 2]
            if cosine < _SHARP:
                for k in range(3):
                    s.total[vertex, k] = s.total[vertex, k] + f.weighted[i, k]
    return 0


def _unit(vector: np.ndarray, default: tuple[float, float, float] = (0.0, 0.0, 1.0)) -> np.ndarray:
    """Unit vectors in single precision; ``default`` for those without direction."""
    x, y, z = vector.T
    length = np.sqrt(x * x + y * y + z * z)
    zero = length < mjMINVAL
    unit = vector / np.where(zero, np.float32(1.0), length)[:, None]
    unit[zero] = default
    return unit


def renormalized(vector: np.ndarray) -> np.ndarray:
    """Unit vectors in single precision, by multiplication with the inverse length; (0, 0, 1) for zero vectors."""
    x, y, z = vector.T
    length = np.sqrt(x * x + y * y + z * z)
    zero = length < mjMINVAL
    unit = vector * (np.float32(1.0) / np.where(zero, np.float32(1.0), length))[:, None]
    unit[zero] = (0.0, 0.0, 1.0)
    return unit
