"""Finite elements of constant strain: the plugins ``mujoco.elasticity.membrane`` and ``mujoco.elasticity.solid``.

A membrane consists of triangles, which resist stretching but not bending; a solid consists of tetrahedra.

Attributes: `face`, corners of the elements (three or four vertices each); `young`, Young's modulus, Pa; `poisson`,
Poisson's ratio; `thickness` of a membrane, m; `damping`, weight of the strain rate relative to the strain, s. `edge` is
not used.

The elongation of an edge is its squared length minus its squared length at rest: twice the Green strain along the edge.
The six elongations of a tetrahedron (three of a triangle) determine its strain E. E is a linear combination of
symmetric matrices G that are dual to the edges: for the rest vectors r of edges, r_a' G_b r_a is 1 if a = b, else 0.
The energy of the element is therefore a quadratic form of its elongations, whose matrix is computed once. For the Saint
Venant-Kirchhoff material

    W = V (lambda (tr E)^2 + mu tr E^2),    E = 1/2 sum_a G_a elongation_a,

and the force of an edge is along the edge. The volume V of a tetrahedron is signed by the order of its corners; for a
triangle, V is a quarter of area times thickness. The factors are those of MuJoCo: the literature has lambda / 2 in
place of lambda, and one in place of a quarter. Damping adds a multiple of the rate of change of each elongation,
computed from the elongation in the previous evaluation.

Sources: R. Kikuuwe, H. Tabuchi, M. Yamamoto, An edge-based computationally efficient formulation of Saint
Venant-Kirchhoff tetrahedral finite elements (2009); H. Delingette, Triangular springs for modeling nonlinear membranes
(2008); results of MuJoCo.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from cardan.jit import kernel
from cardan.maths.vector import sub3
from cardan.model.kernel_views import Data, Model
from cardan.plugins.elastic import (
    ATTRIBUTES,
    BODIES,
    NEDGE,
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
from cardan.soft.material import strain_forms

# numbers after those of the vertices: damping; then, for each edge
DAMPING = 1
REST, LAST, ELONGATION = range(3)
EDGE = 3


def edges_of(elements: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the two vertices of each edge (n, 2), and the edges of each element (m, 3 or 6)."""
    pairs = np.array(list(combinations(range(elements.shape[1]), 2)))
    ends = np.sort(elements[:, pairs], axis=2)
    count = int(elements.max(initial=0)) + 1
    edges, back = np.unique(ends[..., 0] * count + ends[..., 1], return_inverse=True)
    return np.stack(np.divmod(edges, count), axis=1), back.reshape(len(elements), len(pairs))


def metrics(rest: np.ndarray, elements: np.ndarray, bulk: float, shear: float, thickness: float) -> np.ndarray:
    """Compute the matrix of each element's energy (m, edges, edges), which maps elongations to the energy's gradient.

    `rest` holds the stress-free positions of the vertices (n, 3), and `elements` the corners (m, 3 or 4). `bulk` and
    `shear` are Lame's parameters, Pa. Raises ValueError if an element has no volume.
    """
    pairs = np.array(list(combinations(range(elements.shape[1]), 2)))
    forms = strain_forms(rest, elements, pairs)
    quadratic = 0.5 * bulk * forms.trace + 0.5 * shear * forms.product
    return quadratic * (forms.volume * (0.25 * thickness if elements.shape[1] == 3 else 1.0))[:, None, None]


def parameters(config: Config) -> tuple[float, float]:
    """Return damping (s) and thickness (m). Raises ValueError if any attribute is invalid."""
    lame(config)
    return number(config, "damping", 0.0), number(config, "thickness", 0.0)


def make_init(corners: int) -> Callable[[Any, Any, int], PluginMemory]:
    """Return the function `init` for elements with `corners` corners."""

    def init(m: Any, d: Any, instance: int) -> PluginMemory:
        config = config_of(m, instance)
        vertices, elements = mesh_of(m, instance, corners)
        edges, of_element = edges_of(elements)
        bulk, shear = lame(config)
        damping, thickness = parameters(config)
        matrix = metrics(vertices.rest, elements, bulk, shear, thickness) if len(elements) else np.zeros(0)
        side = vertices.rest[edges[:, 1]] - vertices.rest[edges[:, 0]]
        squared = (side * side).sum(axis=1)
        per_edge = np.stack([squared, squared, np.zeros_like(squared)], axis=1)
        numbers, indices = [[damping], per_edge.ravel(), matrix.ravel()], [edges.ravel(), of_element.ravel()]
        lasts = VERTEX * len(vertices.body) + DAMPING + LAST + EDGE * np.arange(len(edges) if damping else 0)
        return memory_of(vertices, len(elements), len(edges), numbers, indices, lasts)

    return init


@kernel
def edge_start(d: Data, instance: int) -> tuple[int, int]:
    """Return the indices at which the integers and the numbers of an instance's edges begin."""
    nvert = d.work.plugin_index[indices_of(d, instance) + NVERT]
    return indices_of(d, instance) + BODIES + nvert, numbers_of(d, instance) + VERTEX * nvert + DAMPING


@kernel
def reset(m: Model, d: Data, instance: int) -> None:
    """Set each edge's squared length of the previous evaluation to its squared length at rest."""
    _, at = edge_start(d, instance)
    for edge in range(d.work.plugin_index[indices_of(d, instance) + NEDGE]):
        d.work.plugin_number[at + EDGE * edge + LAST] = d.work.plugin_number[at + EDGE * edge + REST]


@kernel
def elongate(m: Model, d: Data, instance: int) -> None:
    """Compute the elongations of an instance's edges, including the damping term.

    Store the edges' squared lengths for the next evaluation.
    """
    index, at = edge_start(d, instance)
    nvert = d.work.plugin_index[indices_of(d, instance) + NVERT]
    position = numbers_of(d, instance) + 3 * nvert
    rate = d.work.plugin_number[at - DAMPING] / m.opt.timestep
    for edge in range(d.work.plugin_index[indices_of(d, instance) + NEDGE]):
        tail = position + 3 * d.work.plugin_index[index + 2 * edge]
        head = position + 3 * d.work.plugin_index[index + 2 * edge + 1]
        x, y, z = sub3(vector_at(d, head), vector_at(d, tail))
        squared = x * x + y * y + z * z
        k = at + EDGE * edge
        elongation = squared - d.work.plugin_number[k + REST]
        d.work.plugin_number[k + ELONGATION] = elongation + rate * (squared - d.work.plugin_number[k + LAST])
        d.work.plugin_number[k + LAST] = squared


def make_compute(nedges: int) -> Callable[[Any, Any, int, int], None]:
    """Return the function that computes the forces of elements with `nedges` edges."""

    @kernel
    def stretch(d: Data, instance: int) -> None:
        """Add the forces of all elements to the forces on the vertices."""
        index, at = edge_start(d, instance)
        head = indices_of(d, instance)
        nvert, nedge = d.work.plugin_index[head + NVERT], d.work.plugin_index[head + NEDGE]
        position = numbers_of(d, instance) + 3 * nvert
        force = position + 3 * nvert
        matrix = at + EDGE * nedge
        element = index + 2 * nedge
        for _ in range(d.work.plugin_index[head + NPART]):
            for a in range(nedges):
                slope = 0.0
                for b in range(nedges):
                    other = d.work.plugin_index[element + b]
                    slope += (
                        d.work.plugin_number[matrix + nedges * a + b]
                        * d.work.plugin_number[at + EDGE * other + ELONGATION]
                    )
                # the edge's force on its vertices, as tension per length
                edge = index + 2 * d.work.plugin_index[element + a]
                tail, tip = 3 * d.work.plugin_index[edge], 3 * d.work.plugin_index[edge + 1]
                along = sub3(vector_at(d, position + tip), vector_at(d, position + tail))
                for i in range(3):
                    d.work.plugin_number[force + tail + i] += 2.0 * slope * along[i]
                    d.work.plugin_number[force + tip + i] -= 2.0 * slope * along[i]
            element += nedges
            matrix += nedges * nedges

    @kernel
    def compute(m: Model, d: Data, instance: int, capability: int) -> None:
        """Add the elastic forces of an instance to qfrc_passive."""
        place_vertices(d, instance)
        elongate(m, d, instance)
        stretch(d, instance)
        apply_vertex_forces(m, d, instance)

    compute.__qualname__ = f"compute_{nedges}_edges"  # kernels are identified by their names
    return compute


MEMBRANE = Plugin(
    "mujoco.elasticity.membrane",
    (*ATTRIBUTES, "thickness", "damping"),
    ("passive",),
    validate=parameters,
    init=make_init(corners=3),
    reset=reset,
    compute=make_compute(nedges=3),
)


SOLID = Plugin(
    "mujoco.elasticity.solid",
    (*ATTRIBUTES, "damping"),
    ("passive",),
    validate=parameters,
    init=make_init(corners=4),
    reset=reset,
    compute=make_compute(nedges=6),
)
