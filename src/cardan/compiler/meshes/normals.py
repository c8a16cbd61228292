"""Vertex normals of a mesh: means over the surrounding faces, in single precision and in the order of the faces."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy import float32, float64

from cardan.compiler.meshes.surface import Surface
from cardan.constants import mjMINVAL
from cardan.jit import Field, Struct, StructMemory, exact, kernel
from cardan.jit.driver.program import call, native_over

_SHARP = 0.8  # cosine between a face's normal and the mean one, below which the edge is sharp
_LEAST_4_0 = 1e-7  # double areas and lengths of sums below this are 0 in 4.0

NORMALS = Struct(
    "Normals",
    [
        Field("total", "f4", ("any", 3), "sum of the face normals at each vertex"),
        Field("sharp", "f4", ("any", 3), "sum of the face normals at each vertex that deviate much from the mean"),
        Field("unit", "f4", ("any", 3), "unit vectors along the sums"),
    ],
    readonly=False,
)


def vertex_normals(surface: Surface, smooth: bool, is_4_0: bool = False) -> np.ndarray:
    """Return vertex normals: area-weighted means over faces. Without ``smooth``, faces across sharp edges are left out.

    In MuJoCo 4.0 (``is_4_0``), small faces are ignored and, without ``smooth``, short sums of normals count as 0.
    """
    memory, count = StructMemory(NORMALS, {}), len(surface.vertex)
    total, unit = np.zeros((count, 3), np.float32), np.empty((count, 3), np.float32)
    memory.attach("total", total)
    memory.attach("unit", unit)
    if is_4_0:
        surface = _large_faces(surface)
    call(sum_corners, surface.memory, memory)
    # if the normals of faces cancel: 3.1 determines sharp edges by their angle to x, for 4.0 all are sharp
    call(find_units, surface.memory, memory, 2 if smooth else 3 if is_4_0 else 0, is_4_0 and not smooth)
    if not smooth:
        memory.attach("sharp", np.zeros((count, 3), np.float32))
        call(take_sharp_corners, surface.memory, memory)
        call(find_units, surface.memory, memory, 2, is_4_0)
    return unit


def _large_faces(surface: Surface) -> Surface:
    """Return the faces that MuJoCo 4.0 does not ignore, with normals in double precision, rounded as in 4.0.

    `cross` is the unit normal times twice the area; `area` is set so that `_add_corner` adds it without more rounding.
    """
    a, b, c = (surface.vertex[surface.face[:, k]].astype(np.float64) for k in range(3))
    cross = np.cross(b - a, c - a)
    length = np.sqrt((cross * cross).sum(axis=1))
    large = length >= _LEAST_4_0
    found = Surface(surface.vertex, np.ascontiguousarray(surface.face[large]))
    normal = cross[large] / length[large, None]
    found.memory.arrays["normal"][:] = normal
    found.memory.arrays["cross"][:] = normal * length[large, None]
    found.area[:] = 0.5
    return found


def renormalized(vector: np.ndarray) -> np.ndarray:
    """Return unit vectors in single precision, by multiplication with the inverse length.

    The result is (0, 0, 1) for vectors whose squared length is below mjMINVAL, as in the reference.
    """
    memory, unit = StructMemory(NORMALS, {}), np.empty((len(vector), 3), np.float32)
    memory.attach("total", vector)
    memory.attach("unit", unit)
    call(renormalize, memory, memory)
    return unit


@kernel
def _add_corner(f: Any, total: Any, face: int, vertex: int) -> None:
    """Add the face's unit normal, weighted by its area, to the sum of a vertex; rounding is as in the reference."""
    length = 2.0 * f.area[face]
    inverse = 1.0 / (1.0 if length < mjMINVAL else length)
    for k in range(3):
        total[vertex, k] = total[vertex, k] + length * (inverse * f.cross[face, k])


@native_over("Surface", "Normals")
@exact
def sum_corners(f: Any, s: Any, _unused: int, _neither: int) -> int:
    """Sum the weighted face normals at each vertex, rounded to single precision after each addition. Return 0."""
    for i in range(len(f.face)):
        for j in range(3):
            _add_corner(f, s.total, i, f.face[i, j])
    return 0


@native_over("Surface", "Normals")
@exact
def take_sharp_corners(f: Any, s: Any, _unused: int, _neither: int) -> int:
    """Remove from each vertex's sum the face normals that deviate much from the mean normal. Return 0."""
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


@kernel
def _length(x: float, y: float, z: float) -> float:
    """Return the length of a vector, each operation rounded to single precision."""
    a, b, c = float32(x), float32(y), float32(z)
    return float64(float32(sqrt(a * a + b * b + c * c)))


@native_over("Surface", "Normals")
@exact
def find_units(_f: Any, s: Any, default: int, is_4_0: int) -> int:
    """Normalise the sums. Return 0.

    Very short sums become the unit vector along axis `default`, or 0 if `default` is 3.
    """
    least = _LEAST_4_0 if is_4_0 else mjMINVAL
    for i in range(len(s.total)):
        length = _length(s.total[i, 0], s.total[i, 1], s.total[i, 2])
        for k in range(3):
            if length < least:
                s.unit[i, k] = 1.0 if k == default else 0.0
            else:
                s.unit[i, k] = s.total[i, k] / length
    return 0


@native_over("Normals", "Normals")
@exact
def renormalize(s: Any, _same: Any, _unused: int, _neither: int) -> int:
    """Normalise vectors by multiplying by the inverse length; very short vectors become (0, 0, 1). Return 0."""
    for i in range(len(s.total)):
        length = _length(s.total[i, 0], s.total[i, 1], s.total[i, 2])
        real = length * length >= mjMINVAL
        inverse = float64(float32(1.0 / length)) if real else 0.0
        for k in range(3):
            s.unit[i, k] = s.total[i, k] * inverse
        if not real:
            s.unit[i, 2] = 1.0
    return 0
