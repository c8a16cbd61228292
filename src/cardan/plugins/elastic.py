"""Common parts of the elasticity plugins, and the plugin ``mujoco.elasticity.shell``.

A vertex is a point of a body. If the bodies of an instance carry vertices of a flex, the instance has the vertices of
this flex. Otherwise, it has one vertex at the origin of each of its bodies, in the order of the bodies. Elements, of
three or four vertices each, are read from the attribute ``face``, which `flexcomp` and `composite` write. They also
write the attribute ``edge``, which contains no further information.

A shell is a thin plate of triangles that resists bending, but not stretching. Two triangles with a common edge form a
flap. The cotangents of its angles determine weights c of its four vertices x. The vector s = sum c_i x_i is 0 if the
flap is flat and not stretched, and therefore measures its bending. The energy and forces of a flap are

    W = 1/2 mu h^3 / (8 (A0 + A1)) s's,    f_i = - mu h^3 / (8 (A0 + A1)) c_i s

with the shear modulus mu, the thickness h and the areas A0, A1 at rest. This is the energy of a plate with a flat
stress-free shape, for deformations without stretching. Weights are computed by `cardan.soft.material`.

Attributes: `face`, corners of the triangles (three vertices each); `young`, Young's modulus, Pa; `poisson`, Poisson's
ratio; `thickness` of the plate, m. `edge` is not used.

Sources: M. Bergou, M. Wardetzky, D. Harmon, D. Zorin, E. Grinspun, A quadratic bending model for inextensible surfaces
(2006); results of MuJoCo.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from cardan.dynamics.jacobian import arm_of, point_column
from cardan.jit import kernel
from cardan.maths.quaternion import mul_quat, rot_vec_quat
from cardan.maths.types import Vec3
from cardan.maths.vector import add3, dot3, get3, get9, mul_mat_vec3, scale3
from cardan.model.kernel_views import Data, Model
from cardan.plugins.registry import Config, Plugin, PluginMemory, config_of, indices_of, number, numbers_of
from cardan.soft import material

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

ATTRIBUTES = ("face", "edge", "young", "poisson")

# the first integers of an instance, followed by the body of each vertex
NVERT, NPART, NEDGE, HAS_OFFSET, BODIES = range(5)
# the first numbers: positions of the vertices in their bodies' frames, world positions, forces
VERTEX = 9
_THICKEST = 1e6  # m
FLAP = 5
"""Count of numbers per flap: four weights and a stiffness."""


class Vertices(NamedTuple):
    """Vertices of an instance: bodies (n,), positions in the body frames and in the world at qpos0 (both (n, 3), m)."""

    body: np.ndarray
    offset: np.ndarray
    rest: np.ndarray


def lame(config: Config) -> tuple[float, float]:
    """Return Lame's parameters (lambda, mu) of a material, Pa. Raises ValueError if an attribute is invalid."""
    young, poisson = number(config, "young", 0.0), number(config, "poisson", 0.0)
    if poisson in (-1.0, 0.5) or not np.isfinite((young, poisson)).all():
        raise ValueError(f"poisson must be between -1 and 0.5, young finite; found {poisson:g}, {young:g}")
    return material.lame(young, poisson)


def vertices_of(m: MjModel, instance: int) -> Vertices:
    """Return the vertices of an instance."""
    body = np.flatnonzero(m.body_plugin == instance)
    offset = np.zeros((len(body), 3))
    for flex in range(m.nflex):
        part = slice(m.flex_vertadr[flex], m.flex_vertadr[flex] + m.flex_vertnum[flex])
        if np.isin(m.flex_vertbodyid[part], body).any():
            body = m.flex_vertbodyid[part].astype(np.int64)
            offset = np.zeros((len(body), 3)) if m.flex_centered[flex] else m.flex_vert[part].copy()
            break
    turns = bool(offset.any())
    pos, quat = _poses(m, turns)
    rest = np.array(pos)[body] + 0.0  # convert -0 to 0
    if turns:
        turned = [rot_vec_quat(cast("Vec3", v), quat[b]) for v, b in zip(offset.tolist(), body.tolist(), strict=True)]
        rest = rest + np.array(turned).reshape(-1, 3)
    return Vertices(body, offset, rest)


def _poses(m: MjModel, turns: bool) -> tuple[list[Any], list[Any]]:
    """Return world positions and orientations of all bodies at qpos0.

    If ``turns`` is false, the orientations of bodies without children are relative to their parents.
    """
    parents = m.body_parentid.tolist()
    turned = set(parents)
    quats: list[Any] = [(1.0, 0.0, 0.0, 0.0)]
    places: list[Any] = [(0.0, 0.0, 0.0)]
    bodies = zip(parents, m.body_pos.tolist(), m.body_quat.tolist(), strict=True)
    next(bodies)  # skip the world
    for body, (parent, pos, quat) in enumerate(bodies, 1):
        places.append(add3(places[parent], rot_vec_quat(pos, quats[parent])) if parent else pos)
        quats.append(mul_quat(quats[parent], quat) if turns or body in turned else quat)
    return places, quats


def mesh_of(m: MjModel, instance: int, corners: int) -> tuple[Vertices, np.ndarray]:
    """Return the vertices and elements of an instance. An element has `corners` vertices.

    Raises:
        ValueError: the attribute ``face`` is not a list of integers, or refers to a missing vertex.
    """
    vertices, words = vertices_of(m, instance), config_of(m, instance).get("face", "").split()
    try:
        found = np.fromiter(map(int, words), np.int64, len(words))
    except (ValueError, OverflowError):
        raise ValueError("attribute face must hold numbers of vertices") from None
    elements = found[: len(found) // corners * corners].reshape(-1, corners)
    count = len(vertices.body)
    if elements.size and not (elements.min() >= 0 and elements.max() < count):
        wrong = elements.max() if elements.max() >= count else elements.min()
        raise ValueError(f"plugin instance {instance}: face names vertex {wrong}; there are {count}")
    return vertices, elements


def memory_of(
    vertices: Vertices, nparts: int, nedge: int, numbers: list[Any], indices: list[Any], remembered: Any = ()
) -> PluginMemory:
    """Return the memory of an instance: the data of its `vertices`, followed by `numbers` and `indices`.

    `nparts` and `nedge` are the numbers of parts (elements or flaps) and edges. `numbers` and `indices` are lists of
    arrays. `remembered` is explained at `PluginMemory`.
    """
    counts = [len(vertices.body), nparts, nedge, int(vertices.offset.any())]
    room = [vertices.offset.ravel(), np.zeros(6 * len(vertices.body))]
    integers = np.concatenate([counts, vertices.body, *indices]).astype(np.int64)
    return PluginMemory(np.concatenate([*room, *numbers]), integers, np.array(remembered, np.int64))


@kernel
def place_vertices(d: Data, instance: int) -> None:
    """Store the world positions of the vertices of an instance, and set the forces on them to zero."""
    index, offset = indices_of(d, instance), numbers_of(d, instance)
    nvert = d.work.plugin_index[index + NVERT]
    position = offset + 3 * nvert
    force = position + 3 * nvert
    for k in range(nvert):
        body = d.work.plugin_index[index + BODIES + k]
        point = get3(d.xpos, body)
        if d.work.plugin_index[index + HAS_OFFSET] != 0:
            point = add3(point, mul_mat_vec3(get9(d.xmat, body), vector_at(d, offset + 3 * k)))
        for i in range(3):
            d.work.plugin_number[position + 3 * k + i] = point[i]
            d.work.plugin_number[force + 3 * k + i] = 0.0


@kernel
def vector_at(d: Data, at: int) -> Vec3:
    """Vector stored at index `at` of ``d.work.plugin_number``."""
    return d.work.plugin_number[at], d.work.plugin_number[at + 1], d.work.plugin_number[at + 2]


@kernel
def apply_vertex_forces(m: Model, d: Data, instance: int) -> None:
    """Add the forces on the vertices of an instance to qfrc_passive."""
    index = indices_of(d, instance)
    nvert = d.work.plugin_index[index + NVERT]
    position = numbers_of(d, instance) + 3 * nvert
    for k in range(nvert):
        body = d.work.plugin_index[index + BODIES + k]
        force = vector_at(d, position + 3 * (nvert + k))
        dof = m.aux.body_lastdof[body]
        arm = arm_of(m, d, vector_at(d, position + 3 * k), body)
        while dof >= 0:
            d.qfrc_passive[dof] += dot3(point_column(d, dof, arm), force)
            dof = m.dof_parentid[dof]


def thickness_of(config: Config) -> float:
    """Return the thickness, m. Raises ValueError if the thickness or a parameter of the material is invalid."""
    lame(config)
    thickness = number(config, "thickness", 0.0)
    if not abs(thickness) < _THICKEST:
        raise ValueError(f"the thickness must be below {_THICKEST:g} m, found {thickness:g}")
    return thickness


def init(m: MjModel, d: Any, instance: int) -> PluginMemory:
    """Return the memory of an instance of the shell: vertices, weights and stiffnesses of its flaps."""
    config = config_of(m, instance)
    vertices, elements = mesh_of(m, instance, 3)
    flaps = material.flaps_of(elements)
    weight, area = material.hinge_weights(vertices.rest, flaps)
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
