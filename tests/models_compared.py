"""Both engines side by side on one model: the compiled fields, the forward dynamics of a state, single steps.

Each function yields one line of text a difference, none when the engines agree. Differences are relative to the value
(compiled fields) or to the largest entry of the field (results), at least to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np
from models_random import random_inputs, random_state
from mujoco import mjtGeom, mjtSolver, mjtTrn, mjtWrap
from reference import UNREADABLE, copy_state

import cardan
from cardan.model.tables import DATA, MODEL

COMPILE, SINGLE, SMOOTH, SOLVER, STEP = 1e-9, 2.0**-22, 1e-9, 1e-7, 1e-8
LENGTH_RANGE, CONVEX_STEP, CLOSE = 1e-4, 1e-6, 1e-5
# where the own result is nearer to the solver's optimum; tendons through obstacles, where the reference is off by this
UNCONVERGED, PASSING = 1e-6, 1e-6

# memory is laid out differently here
OTHER_MEMORY = ("narena", "nbuffer")
# added masses of ellipsoids: exact here, by numerical quadrature in the reference
LOOSER = {"geom_fluid": 1e-6}
# rows that nothing can move have this stiffness: their forces, and the cost, are rounding errors times it
IMMOVABLE = 1e14


def value_of(owner: Any, dotted: str) -> Any:
    """Value of a field by its dotted name."""
    for part in dotted.split("."):
        owner = getattr(owner, part)
    return owner


# ---- compiled models -------------------------------------------------------------------------------------------------


def hull_vertices(m: Any) -> list[np.ndarray]:
    """Vertices of each mesh's hull, ascending; empty for meshes without a hull graph."""
    hulls = []
    for start in m.mesh_graphadr:
        count = m.mesh_graph[start] if start >= 0 else 0
        hulls.append(np.sort(m.mesh_graph[start + 2 + count : start + 2 + 2 * count]))
    return hulls


def hull_differences(expected: Any, found: Any) -> Iterator[str]:
    """The hull graph by its meaning: the same vertices of each mesh. Facets of flat faces may be cut in any way."""
    for mesh, (left, right) in enumerate(zip(hull_vertices(expected), hull_vertices(found), strict=True)):
        if not np.array_equal(left, right):
            yield f"mesh_graph of {expected.mesh(mesh).name}: vertices {np.setxor1d(left, right).tolist()}"


def face_trees(m: Any) -> np.ndarray:
    """Whether each node of the bounding volumes belongs to the faces of a mesh."""
    nodes = np.zeros(m.nbvh, bool)
    for start, count in zip(m.mesh_bvhadr, m.mesh_bvhnum, strict=True):
        nodes[start : start + count] = start >= 0
    return nodes


def face_tree_differences(m: Any) -> Iterator[str]:
    """Trees over faces by their meaning: each face is one leaf, each box holds its vertices."""
    for mesh in range(m.nmesh):
        start, count = int(m.mesh_bvhadr[mesh]), int(m.mesh_bvhnum[mesh])
        leaves = np.sort(m.bvh_nodeid[start : start + count][m.bvh_nodeid[start : start + count] >= 0])
        if not np.array_equal(leaves, np.arange(m.mesh_facenum[mesh])):
            yield f"bvh_nodeid of {m.mesh(mesh).name}: not every face once"
        vertices = m.mesh_vert[m.mesh_vertadr[mesh] :][: m.mesh_vertnum[mesh]].astype(float)
        faces = m.mesh_face[m.mesh_faceadr[mesh] :][: m.mesh_facenum[mesh]]
        for node in range(start, start + count):
            inside = faces[below(m, start, node)].ravel()
            reach = np.abs(vertices[inside] - m.bvh_aabb[node, :3]).max(axis=0) - m.bvh_aabb[node, 3:]
            if np.any(np.abs(reach[m.bvh_aabb[node, 3:] > 0]) > 1e-5):
                yield f"bvh_aabb of {m.mesh(mesh).name}: node {node} off by {np.abs(reach).max():.2g}"
                break


def below(m: Any, start: int, node: int) -> list[int]:
    """Ids at the leaves below a node of the tree that starts at ``start``."""
    found, stack = [], [node]
    while stack:
        node = stack.pop()
        if m.bvh_nodeid[node] >= 0:
            found.append(int(m.bvh_nodeid[node]))
        else:
            stack += [start + int(child) for child in m.bvh_child[node]]
    return found


def texture_differences(expected: Any, found: Any) -> Iterator[str]:
    """Texels; those where exactly one engine put a random mark are left out, if both put about as many."""
    for texture in range(expected.ntex):
        count = int(expected.tex_height[texture] * expected.tex_width[texture])
        start = int(expected.tex_adr[texture])
        left, right = (m.tex_rgb[start : start + 3 * count].reshape(count, 3) for m in (expected, found))
        differing = np.any(left != right, axis=1)
        if not differing.any():
            continue
        colours, counts = np.unique(np.concatenate([left[differing], right[differing]]), axis=0, return_counts=True)
        marked = [np.all(texels == colours[np.argmax(counts)], axis=1) for texels in (left, right)]
        excess = abs(int(marked[0].sum()) - int(marked[1].sum()))
        if not np.all((marked[0] ^ marked[1])[differing]) or excess > 5 * np.sqrt(counts.max()):
            yield f"tex_rgb of {expected.texture(texture).name}: {int(differing.sum())} texels"


def tree_differences(expected: Any, found: Any) -> Iterator[str]:
    """Bounding volumes: those of bodies one by one, those of faces by their meaning."""
    bodies = ~face_trees(expected)
    for name in ("bvh_depth", "bvh_child", "bvh_nodeid", "bvh_aabb"):
        excess = excess_of(name, getattr(expected, name)[bodies], getattr(found, name)[bodies])
        if not excess <= 1:
            yield f"{name} of bodies: {excess:.2g} times the tolerance"
    yield from face_tree_differences(found)


BY_MEANING: dict[str, Callable[[Any, Any], Iterator[str]]] = {
    "mesh_graph": hull_differences,
    "tex_rgb": texture_differences,
    "bvh_nodeid": tree_differences,
}
# what `tree_differences` compares as well, and places in the hull graph
WITH_THEM = ("bvh_depth", "bvh_child", "bvh_aabb", "nmeshgraph", "mesh_graphadr")


def excess_of(name: str, expected: Any, found: Any) -> float:
    """Largest difference of two arrays of the same shape, as a multiple of what is allowed."""
    expected, found = np.asarray(expected), np.asarray(found)
    tolerance = SINGLE if expected.dtype == np.float32 else LOOSER.get(name, COMPILE)
    left, right = expected.astype(np.float64), found.astype(np.float64)
    scale = np.maximum(1.0, np.abs(left))
    if name == "bvh_aabb":
        scale = np.maximum(1.0, np.max(np.abs(left), initial=0))
    if name == "actuator_lengthrange":
        scale, tolerance = np.maximum(1e-3, np.ptp(left, axis=1)[:, None]), LENGTH_RANGE
    return float(np.max(np.abs(left - right) / scale, initial=0)) / tolerance


def compared_model_fields() -> Iterator[str]:
    skipped = {*OTHER_MEMORY, *UNREADABLE, *WITH_THEM}
    for row in MODEL.fields:
        if not row.is_attached and row.name not in skipped:
            yield row.name


MODEL_FIELDS = tuple(compared_model_fields())


def model_differences(expected: Any, found: Any) -> Iterator[str]:
    """Fields in which two compiled models differ, each with how many times the tolerance."""
    for name in MODEL_FIELDS:
        left, right = value_of(expected, name), value_of(found, name)
        if isinstance(left, bytes):
            if left != right:
                yield f"{name}: other text"
        elif name in BY_MEANING:
            if np.shape(expected.mesh_face) == np.shape(found.mesh_face):
                yield from BY_MEANING[name](expected, found)
        elif np.shape(left) != np.shape(right):
            yield f"{name}: shape {np.shape(right)}, not {np.shape(left)}"
        elif not (excess := excess_of(name, left, right)) <= 1:
            yield f"{name}: {excess:.2g} times the tolerance"


# ---- results ---------------------------------------------------------------------------------------------------------

# what the solver's result goes into
AFTER_SOLVER = (
    *("qacc", "qacc_warmstart", "qfrc_constraint", "qfrc_inverse", "efc_force", "cacc", "cfrc_int", "cfrc_ext"),
    "sensordata",
)
# what contacts go into before that
AFTER_CONTACTS = ("contact.", "efc_", "ncon", "nefc")
# how the solver got there; what belongs to one engine's memory; what is for drawing; `tendon_efcadr`, where the
# reference puts the id of the equality constraint (docs/differences.md)
NOT_COMPARED = (
    *("work.", "solver", "timer.", "warning.", "island_", "maxuse_", "threadpool", "nbuffer", "narena", "parena"),
    *("pstack", "nplugin", "nnzJ", "efc_J_", "efc_JT", "nisland", "dof_island", "efc_island", "signature"),
    *("bvh_active", "contact.H", "tendon_efcadr"),
)


def compared_data_fields() -> Iterator[str]:
    for row in DATA.fields:
        islands = "nefc_dual" in row.shape or "nisland" in row.shape
        if not (row.is_attached or islands or row.name.startswith(NOT_COMPARED)):
            yield row.name


DATA_FIELDS = tuple(compared_data_fields())
# what adhesion makes of contacts
AFTER_ADHESION = ("actuator_", "qfrc_actuator", "qfrc_smooth", "qacc_smooth")


def fields_before_contacts(m: Any) -> tuple[str, ...]:
    """Fields that don't depend on contacts."""
    after = (*AFTER_CONTACTS, *AFTER_SOLVER)
    if np.any(m.actuator_trntype == int(mjtTrn.mjTRN_BODY)):
        after += AFTER_ADHESION
    return tuple(name for name in DATA_FIELDS if not name.startswith(after))


STATE_FIELDS = ("time", "qpos", "qvel", "act")


def data_differences(
    expected: Any, found: Any, names: tuple[str, ...], tolerances: tuple[float, float], what: str
) -> Iterator[str]:
    """Fields of two data that differ; ``tolerances`` of smooth fields and of those that follow the solver."""
    for name in names:
        left, right = (np.asarray(value_of(d, name), np.float64).ravel() for d in (expected, found))
        if name == "efc_J":  # the reference's array is longer than what it uses
            left = left[: right.size]
        if left.size != right.size:
            yield f"{what} {name}: {right.size} values, not {left.size}"
            continue
        worst = float(np.max(np.abs(left - right), initial=0)) / max(1.0, float(np.max(np.abs(left), initial=0)))
        if not worst <= tolerances[name in AFTER_SOLVER]:
            yield f"{what} {name}: {worst:.2g}"


def contact_difference(expected: Any, found: Any) -> float:
    """Largest difference of the contacts in order, infinite when their geoms differ: other pairs, or other numbers."""
    pairs = [np.asarray(d.contact.geom[: d.ncon]).reshape(-1, 2) for d in (expected, found)]
    if pairs[0].shape != pairs[1].shape or np.any(pairs[0] != pairs[1]):
        return np.inf
    worst = 0.0
    for name in ("dist", "pos", "frame"):
        left, right = (np.asarray(getattr(d.contact, name)) for d in (expected, found))
        worst = max(worst, float(np.max(np.abs(left - right), initial=0)))
    return worst


ITERATIVE = {int(mjtGeom.mjGEOM_HFIELD), int(mjtGeom.mjGEOM_ELLIPSOID), int(mjtGeom.mjGEOM_CYLINDER)}
ITERATIVE |= {int(mjtGeom.mjGEOM_MESH), int(mjtGeom.mjGEOM_SDF)}
SPHERE_CYLINDER = (int(mjtGeom.mjGEOM_SPHERE), int(mjtGeom.mjGEOM_CYLINDER))


def is_iterative(first: int, second: int) -> bool:
    """Whether contacts of these types of geoms come from an iterative search."""
    if int(mjtGeom.mjGEOM_PLANE) in (first, second) or (first, second) == SPHERE_CYLINDER:
        return False
    return first in ITERATIVE or second in ITERATIVE


def has_iterative_contacts(m: Any, d: Any) -> bool:
    """Whether a contact comes from an iterative search, so that it has the tolerance of that search."""
    types = np.sort(m.geom_type[np.asarray(d.contact.geom[: d.ncon]).reshape(-1, 2)], axis=1)
    return any(is_iterative(int(first), int(second)) for first, second in np.unique(types, axis=0))


@dataclass
class Comparison:
    """What came out of comparing states: lines of difference, and how well contacts agree.

    Attributes:
        states: number of states compared.
        exact: of these, with equal contacts; in these every field is compared.
        close: with the same pairs of geoms, contacts apart by less than 1e-5; up to the contacts all is compared.
        other: with contacts further apart or of other geoms.
        lines: differences beyond the tolerances.
        worst: largest difference of a step from states with equal contacts.
    """

    states: int = 0
    exact: int = 0
    close: int = 0
    other: int = 0
    lines: list[str] = field(default_factory=list)
    worst: float = 0.0

    def count(self, rm: Any, rd: Any, d: Any, what: str) -> bool:
        """Sort one state into its class; True if contacts are equal."""
        apart = contact_difference(rd, d)
        self.states += 1
        exact, close = apart <= SMOOTH, SMOOTH < apart <= CLOSE
        self.exact, self.close, self.other = self.exact + exact, self.close + close, self.other + (apart > CLOSE)
        if not exact and not has_iterative_contacts(rm, rd) and not has_iterative_contacts(rm, d):
            self.lines.append(f"{what} contacts: {apart:.2g}, {rd.ncon} there and {d.ncon} here")
        return exact


def settled(rm: Any, seed: int, steps: int) -> mujoco.MjData:
    """A state that the reference reaches from a random one."""
    rng = np.random.default_rng(seed)
    rd = mujoco.MjData(rm)
    rd.qvel[:] = 0.3 * rng.standard_normal(rm.nv)
    rd.ctrl[:] = 0.3 * rng.standard_normal(rm.nu)
    mujoco.mj_step(rm, rd, steps)
    rd.qvel[:] += 0.1 * rng.standard_normal(rm.nv)
    return rd


def residual(rm: Any, rd: Any, d: Any) -> float:
    """Largest entry of the gradient of the solver's cost at a result: M qacc - qfrc_smooth - qfrc_constraint."""
    product = np.zeros(rm.nv)
    mujoco.mj_mulM(rm, rd, product, np.array(d.qacc))
    return float(np.max(np.abs(product - d.qfrc_smooth - d.qfrc_constraint), initial=0))


def passes_through(rm: Any) -> bool:
    """Whether a tendon passes through a sphere or cylinder, where the reference is off (docs/differences.md)."""
    for kind, geom, side in zip(rm.wrap_type, rm.wrap_objid, rm.wrap_prm, strict=True):
        if kind in (int(mjtWrap.mjWRAP_SPHERE), int(mjtWrap.mjWRAP_CYLINDER)) and side >= 0:
            if np.linalg.norm(rm.site_pos[int(side)] - rm.geom_pos[geom]) < rm.geom_size[geom, 0]:
                return True
    return False


def compare_forward(rm: Any, m: Any, states: int = 10, steps: int = 40) -> Comparison:
    """Forward dynamics of random states, every second one reached by the reference: all fields."""
    result = Comparison()
    for model in (rm, m):
        model.opt.tolerance, model.opt.iterations = 1e-14, 200
        if model.opt.solver == int(mjtSolver.mjSOL_CG):
            model.opt.solver = int(mjtSolver.mjSOL_NEWTON)  # the same optimum; the other stops before it
    for seed in range(states):
        rd, d = mujoco.MjData(rm), cardan.MjData(m)
        if seed % 2:
            # into fresh data, without what the steps leave in fields that `mj_forward` does not write
            copy_state(settled(rm, seed, steps * (seed // 2 + 1)), rd)
        else:
            random_state(mujoco, rm, rd, seed)
        random_inputs(rm, rd, seed)
        if not np.all(np.isfinite(rd.qpos)):
            continue
        copy_state(rd, d)
        mujoco.mj_forward(rm, rd)
        if rd.warning.number.any() or np.any(rd.efc_D > IMMOVABLE):
            continue
        cardan.mj_forward(m, d)
        what = f"state {seed}"
        names = DATA_FIELDS if result.count(rm, rd, d, what) else fields_before_contacts(rm)
        solver = UNCONVERGED if residual(rm, rd, d) < residual(rm, rd, rd) else SOLVER
        smooth = PASSING if passes_through(rm) else SMOOTH
        result.lines += data_differences(rd, d, names, (smooth, solver), what)
    return result


def compare_steps(rm: Any, m: Any, steps: int, every: int = 1, tolerance: float = STEP) -> Comparison:
    """One step from every state of a trajectory of the reference (or every so many), with random controls."""
    result = Comparison()
    rd, d = mujoco.MjData(rm), cardan.MjData(m)
    rng = np.random.default_rng(1)
    rd.qvel[:] = 0.3 * rng.standard_normal(rm.nv)
    for step in range(steps):
        rd.ctrl[:] = 0.9 * rd.ctrl + 0.1 * rng.standard_normal(rm.nu)
        compared = step % every == 0
        if compared:
            copy_state(rd, d)
        mujoco.mj_step(rm, rd)
        if rd.warning.number.any():
            break
        if compared:
            cardan.mj_step(m, d)
            what = f"step {step}"
            if result.count(rm, rd, d, what):
                bar = CONVEX_STEP if has_iterative_contacts(rm, rd) else tolerance
                result.worst = max(result.worst, largest(rd, d))
                result.lines += data_differences(rd, d, STATE_FIELDS, (bar, bar), what)
    return result


def largest(expected: Any, found: Any) -> float:
    """Largest difference of the state, relative to the largest entry of its field."""
    worst = 0.0
    for name in STATE_FIELDS:
        left, right = np.asarray(getattr(expected, name)), np.asarray(getattr(found, name))
        worst = max(worst, float(np.max(np.abs(left - right), initial=0)) / max(1.0, np.abs(left).max(initial=0)))
    return worst
