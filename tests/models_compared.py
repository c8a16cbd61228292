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
from mujoco import mjtGeom, mjtIntegrator, mjtSolver, mjtStage, mjtTrn, mjtWrap
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
# entries of such rows, if they are not 0
NOISE = 1e-13


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


TIED = 1e-13
"""Relative difference of lengths up to which the order of boxes in a tree is a matter of rounding."""


def is_tie(expected: Any, found: Any, start: int, node: int) -> bool:
    """Whether rounding decides how a node is split: on which of two equal sides, or between equal positions."""
    half = np.sort(expected.bvh_aabb[start + node, 3:])
    if half[2] - half[1] <= TIED * half[2]:
        return True
    axis = int(np.argmax(expected.bvh_aabb[start + node, 3:]))
    left = [set(below(m, start, start + int(m.bvh_child[start + node, 0]))) for m in (expected, found)]
    exchanged = expected.bvh_aabb[np.isin(expected.bvh_nodeid, list(left[0] ^ left[1])), axis]
    return bool(np.ptp(exchanged) <= TIED * half[2])


def split_difference(expected: Any, found: Any, start: int, count: int) -> int:
    """First node of a tree over geoms that is split otherwise though nothing is tied; -1 if there is none."""
    skipped: set[int] = set()
    for node in range(count):
        children = expected.bvh_child[start + node].tolist()
        if children[0] < 0:
            continue
        if node not in skipped:
            left = [sorted(below(m, start, start + children[0])) for m in (expected, found)]
            if left[0] == left[1]:
                continue
            if not is_tie(expected, found, start, node):
                return node
        skipped.update(children)
    return -1


def body_tree_differences(expected: Any, found: Any) -> Iterator[str]:
    """Trees over the geoms of bodies: the same boxes, but where rounding decides how they are split."""
    for body, (start, count) in enumerate(zip(expected.body_bvhadr, expected.body_bvhnum, strict=True)):
        same = slice(int(start), int(start) + int(count))
        if np.array_equal(expected.bvh_nodeid[same], found.bvh_nodeid[same]):
            names = ("bvh_depth", "bvh_child", "bvh_aabb")
        elif (node := split_difference(expected, found, int(start), int(count))) >= 0:
            yield f"bvh_nodeid of body {body}: node {node} is split otherwise"
            continue
        else:
            names = ("bvh_depth", "bvh_child")
        for name in names:
            excess = excess_of(name, getattr(expected, name)[same], getattr(found, name)[same])
            if not excess <= 1:
                yield f"{name} of body {body}: {excess:.2g} times the tolerance"


def tree_differences(expected: Any, found: Any) -> Iterator[str]:
    """Bounding volumes: of bodies, and those of faces by their meaning."""
    yield from body_tree_differences(expected, found)
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


# places among contacts and rows, which are not compared where the order differs
PLACES = ("contact.efc_address", "efc_id")


@dataclass
class Order:
    """How contacts and rows of one data stand in the order of another.

    Attributes:
        contacts: for each contact there, the one here.
        rows: for each constraint row there, the one here.
    """

    contacts: np.ndarray
    rows: np.ndarray

    @property
    def is_same(self) -> bool:
        """Whether both have the same order."""
        return bool(np.all(self.contacts == np.arange(self.contacts.size)))

    def lined_up(self, d: Any, name: str) -> np.ndarray:
        """Values of a field here, in the order of the other data."""
        value = np.asarray(value_of(d, name))
        if name.startswith("contact."):
            return value[self.contacts]
        if name == "efc_J" and not self.is_same:
            return np.concatenate([row_of_jacobian(d, row) for row in self.rows])
        if name.startswith("efc_") and value.shape[:1] == self.rows.shape:
            return value[self.rows]
        return value


def row_of_jacobian(d: Any, row: int) -> np.ndarray:
    """Entries of one row of the constraint Jacobian, with either storage."""
    if cardan.mj_isSparse(d.model):
        start = d.efc_J_rowadr[row]
        return d.efc_J[start : start + d.efc_J_rownnz[row]]
    return np.reshape(d.efc_J, (d.nefc, -1))[row]


def order_of(expected: Any, found: Any) -> Order:
    """The order in which contacts of the same geoms are nearest to each other.

    Contacts of two boxes come in another order (docs/differences.md).
    """
    pairs = [np.asarray(d.contact.geom[: d.ncon]).reshape(-1, 2) for d in (expected, found)]
    contacts = np.arange(found.ncon)
    if np.array_equal(*pairs):
        for pair in np.unique(pairs[0], axis=0):
            same = np.flatnonzero(np.all(pairs[0] == pair, axis=1))
            left, right = (np.asarray(d.contact.pos).reshape(-1, 3)[same] for d in (expected, found))
            apart = np.abs(left[:, None] - right[None]).max(axis=2)
            nearest = apart.argmin(axis=1)
            if apart.trace() > SMOOTH and np.unique(nearest).size == same.size:
                contacts[same] = same[nearest]
    rows = np.arange(found.nefc)
    starts = np.asarray(found.contact.efc_address)[: found.ncon]
    moved = contacts[starts[contacts] >= 0]
    counts = np.diff(np.append(np.sort(starts[moved]), found.nefc))
    count_at = dict(zip(np.sort(starts[moved]).tolist(), counts.tolist(), strict=True))
    if moved.size and np.any(contacts != np.arange(found.ncon)):
        blocks = [np.arange(start, start + count_at[start]) for start in starts[moved].tolist()]
        rows[int(starts[moved].min()) :] = np.concatenate(blocks)
    return Order(contacts, rows)


def data_differences(
    expected: Any, found: Any, names: tuple[str, ...], tolerances: tuple[float, float], what: str
) -> Iterator[str]:
    """Fields of two data that differ; ``tolerances`` of smooth fields and of those that follow the solver."""
    order = order_of(expected, found)
    for name in names:
        if name in PLACES and not order.is_same:
            continue
        left = np.asarray(value_of(expected, name), np.float64).ravel()
        right = np.asarray(order.lined_up(found, name), np.float64).ravel()
        if name == "efc_J":  # the reference's array is longer than what it uses
            left = left[: right.size]
        if left.size != right.size:
            yield f"{what} {name}: {right.size} values, not {left.size}"
            continue
        if name == "efc_state":
            left, right = (values[~undecided(expected)] for values in (left, right))
        worst = float(np.max(np.abs(left - right), initial=0)) / max(1.0, float(np.max(np.abs(left), initial=0)))
        if not worst <= tolerances[name in AFTER_SOLVER]:
            yield f"{what} {name}: {worst:.2g}"


def undecided(d: Any) -> np.ndarray:
    """Rows whose force is 0 within the solver's tolerance, so that their state is a matter of rounding."""
    return np.abs(d.efc_force) <= SOLVER * np.max(np.abs(d.efc_force), initial=0)


def contact_difference(expected: Any, found: Any) -> float:
    """Largest difference of the contacts, infinite when their geoms differ: other pairs, or other numbers."""
    pairs = [np.asarray(d.contact.geom[: d.ncon]).reshape(-1, 2) for d in (expected, found)]
    if not np.array_equal(*pairs):
        return np.inf
    order = order_of(expected, found)
    worst = 0.0
    for name in ("dist", "pos", "frame"):
        left, right = np.asarray(value_of(expected.contact, name)), order.lined_up(found, f"contact.{name}")
        worst = max(worst, float(np.max(np.abs(left - right.reshape(left.shape)), initial=0)))
    return worst


ITERATIVE = {int(mjtGeom.mjGEOM_HFIELD), int(mjtGeom.mjGEOM_ELLIPSOID), int(mjtGeom.mjGEOM_CYLINDER)}
ITERATIVE |= {int(mjtGeom.mjGEOM_MESH), int(mjtGeom.mjGEOM_SDF)}
SPHERE_CYLINDER = (int(mjtGeom.mjGEOM_SPHERE), int(mjtGeom.mjGEOM_CYLINDER))
# the second contact is not the reference's in all poses (docs/differences.md)
CAPSULE_BOX = (int(mjtGeom.mjGEOM_CAPSULE), int(mjtGeom.mjGEOM_BOX))


def is_iterative(first: int, second: int) -> bool:
    """Whether contacts of these types of geoms, ascending, come from an iterative search."""
    if int(mjtGeom.mjGEOM_PLANE) == first or (first, second) == SPHERE_CYLINDER:
        return False
    return first in ITERATIVE or second in ITERATIVE


def types_in_contact(m: Any, d: Any) -> set[tuple[int, int]]:
    """Types of the geoms of all contacts, each pair ascending."""
    types = np.sort(m.geom_type[np.asarray(d.contact.geom[: d.ncon]).reshape(-1, 2)], axis=1)
    return {(int(first), int(second)) for first, second in types}


def has_iterative_contacts(m: Any, d: Any) -> bool:
    """Whether a contact comes from an iterative search, so that it has the tolerance of that search."""
    return any(is_iterative(*pair) for pair in types_in_contact(m, d))


def may_differ(m: Any, d: Any) -> bool:
    """Whether a contact is of geoms whose contacts need not be the reference's to rounding."""
    return has_iterative_contacts(m, d) or CAPSULE_BOX in types_in_contact(m, d)


@dataclass
class Comparison:
    """What came out of comparing states: lines of difference, and how well contacts agree.

    Attributes:
        states: number of states compared.
        exact: of these, with equal contacts; in these every field is compared.
        tied: of these, with equal contacts only from poses that are equal to the last bit.
        close: with the same pairs of geoms, contacts apart by less than 1e-5; up to the contacts all is compared.
        other: with contacts further apart or of other geoms.
        lines: differences beyond the tolerances.
        worst: largest difference of a step from states with equal contacts.
    """

    states: int = 0
    exact: int = 0
    tied: int = 0
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
        if not exact and not may_differ(rm, rd) and not may_differ(rm, d):
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


POSES = (
    *("xpos", "xquat", "xmat", "xipos", "ximat", "xanchor", "xaxis"),
    *("geom_xpos", "geom_xmat", "site_xpos", "site_xmat"),
)


def forward_from_poses(m: Any, rd: Any, d: Any) -> None:
    """Contacts and what follows, from poses equal to the reference's to the last bit, after `mj_forward`.

    Iterative searches on flat faces, and which corners of a box count, may depend on that bit.
    """
    for name in POSES:
        getattr(d, name)[...] = np.reshape(getattr(rd, name), np.shape(getattr(d, name)))
    cardan.mj_collision(m, d)
    cardan.mj_makeConstraint(m, d)
    cardan.mj_forwardSkip(m, d, int(mjtStage.mjSTAGE_POS), 0)


def is_beyond_rounding(rm: Any, rd: Any) -> bool:
    """Whether the reference's result hangs on rounding errors: a bad state, or rows that nothing can move.

    Such rows have a Jacobian of rounding errors; the reference leaves them out where these are 0.
    """
    if rd.warning.number.any() or np.any(rd.efc_D > IMMOVABLE):
        return True
    if mujoco.mj_isSparse(rm) or not rm.nv:
        return False
    effect = np.max(np.abs(rd.efc_J.reshape(-1, rm.nv)[: rd.nefc]), axis=1, initial=0)
    return bool(np.any((effect > 0) & (effect < NOISE)))


def compared_state(rm: Any, seed: int, steps: int) -> mujoco.MjData:
    """A random state with random inputs; of odd seeds, one that the reference reaches from a random one.

    In fresh data, without what steps leave in fields that `mj_forward` does not write.
    """
    rd = mujoco.MjData(rm)
    if seed % 2:
        copy_state(settled(rm, seed, steps * (seed // 2 + 1)), rd)
    else:
        random_state(mujoco, rm, rd, seed)
    random_inputs(rm, rd, seed)
    return rd


def compare_forward(rm: Any, m: Any, states: int = 10, steps: int = 40) -> Comparison:
    """Forward dynamics of random states: all fields."""
    result = Comparison()
    for model in (rm, m):
        model.opt.tolerance, model.opt.iterations = 1e-14, 200
        if model.opt.solver == int(mjtSolver.mjSOL_CG):
            model.opt.solver = int(mjtSolver.mjSOL_NEWTON)  # the same optimum; the other stops before it
    smooth = PASSING if passes_through(rm) else SMOOTH
    for seed in range(states):
        rd, d = compared_state(rm, seed, steps), cardan.MjData(m)
        if not np.all(np.isfinite(rd.qpos)):
            continue
        copy_state(rd, d)
        mujoco.mj_forward(rm, rd)
        if is_beyond_rounding(rm, rd):
            continue
        cardan.mj_forward(m, d)
        what = f"state {seed}"
        if not result.count(rm, rd, d, what):
            result.lines += data_differences(rd, d, fields_before_contacts(rm), (smooth, smooth), what)
            forward_from_poses(m, rd, d)
            if contact_difference(rd, d) > SMOOTH:
                continue
            result.tied += 1
        solver = UNCONVERGED if residual(rm, rd, d) < residual(rm, rd, rd) else SOLVER
        result.lines += data_differences(rd, d, DATA_FIELDS, (smooth, max(smooth, solver)), what)
    return result


NEARBY, SAMPLES = 1e-15, 20
"""Relative size and number of the changes of a state that show how far the reference's own steps scatter."""


def scatter(rm: Any, start: mujoco.MjData, expected: mujoco.MjData) -> float:
    """How far steps of the reference are from its step, if the state it starts from changes by rounding errors.

    Conjugate gradients that stop before they converge amplify such changes along the iterations.
    """
    rng = np.random.default_rng(0)
    furthest = 0.0
    for _ in range(SAMPLES):
        rd = mujoco.MjData(rm)
        copy_state(start, rd)
        for values in (rd.qpos, rd.qvel, rd.qacc_warmstart):
            values *= 1 + NEARBY * rng.uniform(-1, 1, values.size)
        mujoco.mj_step(rm, rd)
        furthest = max(furthest, largest(expected, rd))
    return furthest


def compare_steps(rm: Any, m: Any, steps: int, every: int = 1) -> Comparison:
    """One step from every state of a trajectory of the reference (or every so many), with random controls.

    Where contacts come in another order, steps with PGS are not compared, since it sweeps over them in their order.
    """
    result = Comparison()
    if rm.opt.integrator == int(mjtIntegrator.mjINT_IMPLICITFAST):
        rm.dof_simplenum[:] = 0  # else the reference drops damping between these dofs (docs/differences.md)
    rd, d, start = mujoco.MjData(rm), cardan.MjData(m), mujoco.MjData(rm)
    rng = np.random.default_rng(1)
    rd.qvel[:] = 0.3 * rng.standard_normal(rm.nv)
    for step in range(steps):
        rd.ctrl[:] = 0.9 * rd.ctrl + 0.1 * rng.standard_normal(rm.nu)
        copy_state(rd, start)
        rd.actuator_moment[:] = 0  # those of slider-cranks add up there (docs/differences.md)
        mujoco.mj_step(rm, rd)
        if rd.warning.number.any():
            break
        if step % every == 0:
            compare_step(result, rm, m, (start, rd, d), f"step {step}")
    return result


def compare_step(result: Comparison, rm: Any, m: Any, data: tuple[Any, Any, Any], what: str) -> None:
    """Compare a step: of data with the state before it and after it, there, and of data for it here."""
    start, rd, d = data
    copy_state(start, d)
    mujoco.mj_fwdPosition(rm, start)
    cardan.mj_fwdPosition(m, d)
    comparable = result.count(rm, start, d, what)
    if rm.opt.solver == int(mjtSolver.mjSOL_PGS) or rm.opt.noslip_iterations > 0:
        comparable &= order_of(start, d).is_same
    iterative = has_iterative_contacts(rm, start) or has_iterative_contacts(rm, rd)
    cardan.mj_step(m, d)
    if not comparable or (iterative and contact_difference(rd, d) > SMOOTH):  # of the last stage of RK4
        return
    bar, apart = CONVEX_STEP if iterative else STEP, largest(rd, d)
    result.worst = max(result.worst, apart)
    if apart > bar and rm.opt.solver == int(mjtSolver.mjSOL_CG):
        bar = max(bar, 2 * scatter(rm, start, rd))
    result.lines += data_differences(rd, d, STATE_FIELDS, (bar, bar), what)


def largest(expected: Any, found: Any) -> float:
    """Largest difference of the state, relative to the largest entry of its field."""
    worst = 0.0
    for name in STATE_FIELDS:
        left, right = np.asarray(getattr(expected, name)), np.asarray(getattr(found, name))
        worst = max(worst, float(np.max(np.abs(left - right), initial=0)) / max(1.0, np.abs(left).max(initial=0)))
    return worst
