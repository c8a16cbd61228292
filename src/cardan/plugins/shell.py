"""The plugin ``mujoco.elasticity.shell``: thin plates that resist bending, but not stretching.

Two triangles with a common edge form a flap. From the cotangents of its angles, its four vertices get weights c that
vanish on all linear functions of the plane. So s = sum c_i x_i measures the bending of the flap. Its energy and forces
are

    W = 1/2 mu h^3 / (8 (A0 + A1)) s's,    f_i = - mu h^3 / (8 (A0 + A1)) c_i s

with the shear modulus mu, the thickness h and the areas A0, A1 at rest. This is the energy of a plate that is flat
without stress, for deformations without stretching.

Attributes: `face`, corners of the triangles (three vertices each); `young`, Young's modulus, Pa; `poisson`, Poisson's
ratio; `thickness` of the plate, m. `edge` is not used.

Sources: M. Bergou, M. Wardetzky, D. Harmon, D. Zorin, E. Grinspun, A quadratic bending model for inextensible surfaces
(2006); numbers of the reference.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.jit import kernel
from cardan.maths.vector import add3, cross, scale3
from cardan.model.kernel_views import Data, Model
from cardan.plugins.elastic import (
    ATTRIBUTES,
    BODIES,
    NPART,
    NVERT,
    VERTEX,
    apply_vertex_forces,
    lame,
    memory_of,
    mesh_of,
    place_vertices,
    vector_at,
)
from cardan.plugins.registry import Config, Plugin, PluginMemory, config_of, indices_of, number, numbers_of

_THICKEST = 1e6  # m
FLAP = 5
"""Numbers per flap: four weights, its stiffness."""


def thickness_of(config: Config) -> float:
    """Return the thickness, m; raise ValueError if this or another attribute is invalid."""
    lame(config)
    thickness = number(config, "thickness", 0.0)
    if not abs(thickness) < _THICKEST:
        raise ValueError(f"the thickness must be below {_THICKEST:g} m, found {thickness:g}")
    return thickness


def flaps_of(elements: np.ndarray) -> np.ndarray:
    """Return the flaps (n, 4): ends of the common edge, ordered as in the first triangle, and opposite vertices."""
    ends = np.sort(elements[:, [[0, 1], [1, 2], [2, 0]]], axis=2).reshape(-1, 2)
    opposite = elements[:, [2, 0, 1]].ravel()
    # sort sides by their edges; the sort is stable, so that the sides of an edge keep the order of the triangles
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    starts = np.flatnonzero(np.diff(ends[order], axis=0, prepend=-1).any(axis=1))
    first, last = order[starts], order[np.append(starts[1:], len(order))[: len(starts)] - 1]
    by_first = np.argsort(first)
    first, last = first[by_first], last[by_first]
    first, last = first[first != last], last[first != last]
    return np.column_stack([ends[first], opposite[first], opposite[last]])


def _cotangents(a: Any, b: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return cotangents of the angles between vectors, given by coordinates, and lengths of their cross products."""
    x, y, z = cross(a, b)
    across = np.sqrt(x * x + y * y + z * z)
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / across, across


def weights(rest: np.ndarray, flaps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return weights of the flaps' vertices (n, 4), and the total area of their two triangles (n,)."""
    x0, x1, x2, x3 = np.ascontiguousarray(rest[flaps].transpose(1, 2, 0))  # coordinates, corner by corner
    with np.errstate(all="ignore"):
        first0, area0 = _cotangents(x1 - x0, x2 - x0)
        second0, area1 = _cotangents(x1 - x0, x3 - x0)
        first1, _ = _cotangents(x0 - x1, x2 - x1)
        second1, _ = _cotangents(x0 - x1, x3 - x1)
        found = np.stack([first1 + second1, first0 + second0, -first0 - first1, -second0 - second1], axis=1)
    if not np.isfinite(found).all():
        raise ValueError("a triangle has no area: its corners are on a line")
    return found, 0.5 * (area0 + area1)


def init(m: Any, d: Any, instance: int) -> PluginMemory:
    """Make the flaps of an instance: their vertices, weights and stiffnesses."""
    config = config_of(m, instance)
    vertices, elements = mesh_of(m, instance, 3)
    flaps = flaps_of(elements)
    weight, area = weights(vertices.rest, flaps)
    stiffness = lame(config)[1] * thickness_of(config) ** 3 / (8.0 * area)
    rows = np.concatenate([weight, stiffness[:, None]], axis=1)
    return memory_of(vertices, len(flaps), 0, [rows.ravel()], [flaps.ravel()])


@kernel
def compute(m: Model, d: Data, instance: int, capability: int) -> None:
    """Add the bending forces of an instance to qfrc_passive."""
    place_vertices(d, instance)
    head = indices_of(d, instance)
    nvert = d.work.plugin_index[head + NVERT]
    position = numbers_of(d, instance) + 3 * nvert
    force = position + 3 * nvert
    for k in range(d.work.plugin_index[head + NPART]):
        corner = head + BODIES + nvert + 4 * k
        at = numbers_of(d, instance) + VERTEX * nvert + FLAP * k
        bent = (0.0, 0.0, 0.0)
        for i in range(4):
            point = vector_at(d, position + 3 * d.work.plugin_index[corner + i])
            bent = add3(bent, scale3(point, d.work.plugin_number[at + i]))
        bent = scale3(bent, -d.work.plugin_number[at + 4])
        for i in range(4):
            for axis in range(3):
                place = force + 3 * d.work.plugin_index[corner + i] + axis
                d.work.plugin_number[place] += d.work.plugin_number[at + i] * bent[axis]
    apply_vertex_forces(m, d, instance)


SHELL = Plugin(
    "mujoco.elasticity.shell",
    (*ATTRIBUTES, "thickness"),
    ("passive",),
    validate=thickness_of,
    init=init,
    compute=compute,
)
