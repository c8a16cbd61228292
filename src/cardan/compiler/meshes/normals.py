"""Vertex normals of a mesh: means over the surrounding faces, in single precision and in the order of the faces."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.compiler.meshes.surface import Surface
from cardan.constants import mjMINVAL
from cardan.jit import Field, Struct, StructMemory, exact, kernel
from cardan.jit.driver.program import call, native_over

_SHARP = 0.8  # cosine between a face's normal and the mean one, below which the edge is sharp

NORMALS = Struct(
    "Normals",
    [
        Field("total", "f4", ("any", 3), "sum over the corners at each vertex"),
        Field("sharp", "f4", ("any", 3), "the same over corners at sharp edges"),
        Field("unit", "f4", ("any", 3), "unit vectors"),
    ],
    readonly=False,
)


def vertex_normals(surface: Surface, smooth: bool) -> np.ndarray:
    """Return normals of vertices: area-weighted means over their faces. Sharp edges are excluded unless ``smooth``."""
    memory, total = StructMemory(NORMALS, {}), np.zeros((len(surface.vertex), 3), np.float32)
    memory.attach("total", total)
    call(sum_corners, surface.memory, memory)
    if not smooth:
        # if the normals of faces cancel, sharp edges are determined by their angle to x, as in the reference
        memory.attach("unit", _units(total, 0))
        memory.attach("sharp", np.zeros_like(total))
        call(take_sharp_corners, surface.memory, memory)
    return _units(total, 2)


def renormalized(vector: np.ndarray) -> np.ndarray:
    """Return unit vectors in single precision, by multiplication with the inverse length.

    The result is (0, 0, 1) for vectors whose squared length is below mjMINVAL, as in the reference.
    """
    length = _lengths(vector)
    real = length * length >= mjMINVAL
    inverse = np.divide(1.0, length, out=np.zeros(len(vector)), where=real).astype(np.float32)
    unit = (vector * inverse[:, None].astype(np.float64)).astype(np.float32)
    unit[~real, 2] = 1.0
    return unit


def _units(vector: np.ndarray, default: int) -> np.ndarray:
    """Return unit vectors in single precision; the axis `default` is used for vectors without direction."""
    length = _lengths(vector)
    real = length >= mjMINVAL
    unit = np.zeros((len(vector), 3))
    np.divide(vector, length[:, None], out=unit, where=real[:, None])
    unit[~real, default] = 1.0
    return unit.astype(np.float32)


def _lengths(vector: np.ndarray) -> np.ndarray:
    """Return the lengths of vectors (n, 3) float32, each operation rounded to single precision, as float64."""
    x, y, z = vector.T
    with np.errstate(over="ignore"):
        return np.sqrt(x * x + y * y + z * z).astype(np.float64)


@kernel
def _add_corner(f: Any, total: Any, face: int, vertex: int) -> None:
    """Add the face's normal, weighted with its area, to the sum of a vertex.

    It is the unit normal by the inverse length, rounded as in the reference.
    """
    length = 2.0 * f.area[face]
    inverse = 1.0 / (1.0 if length < mjMINVAL else length)
    for k in range(3):
        total[vertex, k] = total[vertex, k] + length * (inverse * f.cross[face, k])


@native_over("Surface", "Normals")
@exact
def sum_corners(f: Any, s: Any, _unused: int, _neither: int) -> int:
    """Sum over all corners, rounded to single precision after each addition."""
    for i in range(len(f.face)):
        for j in range(3):
            _add_corner(f, s.total, i, f.face[i, j])
    return 0


@native_over("Surface", "Normals")
@exact
def take_sharp_corners(f: Any, s: Any, _unused: int, _neither: int) -> int:
    """Subtract from the sums those corners at which the face's normal is far from the mean normal."""
    for i in range(len(f.face)):
        for j in range(3):
            vertex = f.face[i, j]
            cosine = f.normal[i, 0] * s.unit[vertex, 0]
            cosine = cosine + f.normal[i, 1] * s.unit[vertex, 1]
            cosine = cosine + f.normal[i, 2] * s.unit[vertex, 2]
            if cosine < _SHARP:
                _add_corner(f, s.sharp, i, vertex)
    for vertex in range(len(s.total)):
        for k in range(3):
            s.total[vertex, k] = s.total[vertex, k] - s.sharp[vertex, k]
    return 0
