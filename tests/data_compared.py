"""Results of both engines side by side: one line of text for each field of MjData that differs; contacts in any order.

Differences are relative to the largest entry of the field, at least to 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from models_compared import value_of
from mujoco import mjtCone, mjtConstraintState, mjtGeom, mjtSolver, mjtTrn
from reference import NEWER_DATA

import cardan
from cardan.model.tables import DATA

SMOOTH, SOLVER = 1e-9, 1e-7

# what the solver's result goes into
AFTER_SOLVER = (
    *("qacc", "qacc_warmstart", "qfrc_constraint", "qfrc_inverse", "efc_force", "cacc", "cfrc_int", "cfrc_ext"),
    *("sensordata", "contact.H"),
)
# what contacts go into before that
AFTER_CONTACTS = ("contact.", "efc_", "ncon", "nefc", "nnzJ")
# how the solver got there; what belongs to one engine's memory; what is for drawing; `tendon_efcadr`, where the
# reference puts the id of the equality constraint (docs/differences.md)
NOT_COMPARED = (
    *("work.", "solver", "timer.", "island_", "maxuse_", "threadpool", "nbuffer", "narena", "parena"),
    *("pstack", "nplugin", "plugin_data", "efc_JT", "nisland", "dof_island", "efc_island", "signature"),
    *("bvh_active", "tendon_efcadr", *NEWER_DATA),
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


def rows_in_order(d: Any, contacts: np.ndarray) -> np.ndarray:
    """Constraint rows such that those of contacts, which come last, follow the given order of the contacts."""
    rows = np.arange(d.nefc)
    if np.all(contacts == np.arange(d.ncon)):
        return rows
    starts = np.asarray(d.contact.efc_address)[contacts]
    starts = starts[starts >= 0]
    if starts.size:
        ends = dict(zip(np.sort(starts).tolist(), [*np.sort(starts)[1:].tolist(), d.nefc], strict=True))
        rows[int(starts.min()) :] = np.concatenate([np.arange(start, ends[start]) for start in starts.tolist()])
    return rows


def sides_of(d: Any) -> np.ndarray:
    """What is on the two sides of each contact: geoms, flexes, elements and vertices (ncon, 8), -1 where none is."""
    names = ("geom", "flex", "elem", "vert")
    return np.hstack([np.asarray(getattr(d.contact, name)[: d.ncon]).reshape(-1, 2) for name in names])


def order_of(expected: Any, found: Any) -> Order:
    """The order in which contacts of the same geoms are nearest to each other.

    Contacts of boxes that are exactly aligned may come in another order: which of equal sides is first depends on the
    last bit.
    """
    pairs = [sides_of(d) for d in (expected, found)]
    places = [np.asarray(d.contact.pos[: d.ncon]).reshape(-1, 3) for d in (expected, found)]
    contacts = np.arange(found.ncon)
    if np.array_equal(*pairs) and np.max(np.abs(places[0] - places[1]), initial=0) > SMOOTH:
        off = np.abs(places[0] - places[1]).max(axis=1) > SMOOTH
        for pair in np.unique(pairs[0][off], axis=0):
            same = np.flatnonzero(np.all(pairs[0] == pair, axis=1))
            apart = np.abs(places[0][same][:, None] - places[1][same][None]).max(axis=2)
            nearest = apart.argmin(axis=1)
            if apart.trace() > SMOOTH and np.unique(nearest).size == same.size:
                contacts[same] = same[nearest]
    return Order(contacts, rows_in_order(found, contacts))


def data_differences(
    expected: Any, found: Any, names: tuple[str, ...], tolerances: tuple[float, float], what: str
) -> Iterator[str]:
    """Fields of two data that differ; ``tolerances`` of smooth fields and of those that follow the solver."""
    order = order_of(expected, found)
    for name in names:
        if (name in PLACES and not order.is_same) or is_left_alone(name, found.model):
            continue
        left = np.asarray(value_of(expected, name), np.float64).ravel()
        right = np.asarray(order.lined_up(found, name), np.float64).ravel()
        if name == "contact.H" and left.size == right.size:
            used = used_in_hessians(expected).ravel()
            left, right = left[used], right[used]
        if name == "efc_J":  # the reference's array is longer than what it uses
            left = left[: right.size]
        if left.size != right.size:
            yield f"{what} {name}: {right.size} values, not {left.size}"
            continue
        if name == "efc_state" and labels_differ(found.model):
            continue
        if name == "efc_state":
            left, right = (values[~undecided(expected)] for values in (left, right))
        worst = float(np.max(np.abs(left - right), initial=0)) / max(1.0, float(np.max(np.abs(left), initial=0)))
        if not worst <= tolerances[name in AFTER_SOLVER]:
            yield f"{what} {name}: {worst:.2g}"


def is_left_alone(name: str, m: Any) -> bool:
    """Whether a field has no meaning with the model's options, so that it may hold anything.

    The pattern of the Jacobian belongs to sparse storage, Hessians of contacts to Newton and elliptic cones.
    """
    if name == "nnzJ" or name.startswith("efc_J_"):
        return not cardan.mj_isSparse(m)
    newton = m.opt.solver == int(mjtSolver.mjSOL_NEWTON) and m.opt.noslip_iterations == 0
    return name == "contact.H" and not (newton and m.opt.cone == int(mjtCone.mjCONE_ELLIPTIC))


def used_in_hessians(d: Any) -> np.ndarray:
    """Which entries of ``contact.H`` are in use: the lower triangle, of contacts on the side of their cone."""
    used = np.zeros((d.ncon, 36), bool)
    for contact in range(d.ncon):
        row, dim = int(d.contact.efc_address[contact]), int(d.contact.dim[contact])
        if row >= 0 and d.efc_state[row] == int(mjtConstraintState.mjCNSTRSTATE_CONE):
            used[contact, : dim * dim] = np.tri(dim, dtype=bool).ravel()
    return used


def labels_differ(m: Any) -> bool:
    """Whether states of rows have another meaning: elliptic cones after PGS and no-slip (docs/differences.md)."""
    sweeps = m.opt.solver == int(mjtSolver.mjSOL_PGS) or m.opt.noslip_iterations > 0
    return sweeps and m.opt.cone == int(mjtCone.mjCONE_ELLIPTIC)


def undecided(d: Any) -> np.ndarray:
    """Rows whose force is 0 within the solver's tolerance, so that their state is a matter of rounding."""
    return np.abs(d.efc_force) <= SOLVER * np.max(np.abs(d.efc_force), initial=0)


def contact_difference(expected: Any, found: Any) -> float:
    """Largest difference of the contacts, infinite when their sides differ: other pairs, or other numbers."""
    pairs = [sides_of(d) for d in (expected, found)]
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


def is_iterative(first: int, second: int) -> bool:
    """Whether contacts of these types of geoms, ascending, come from an iterative search."""
    if int(mjtGeom.mjGEOM_PLANE) == first or (first, second) == SPHERE_CYLINDER:
        return False
    return first in ITERATIVE or second in ITERATIVE


def types_in_contact(m: Any, d: Any) -> set[tuple[int, int]]:
    """Types of the geoms of all contacts, each pair ascending."""
    geoms = np.asarray(d.contact.geom[: d.ncon]).reshape(-1, 2)
    types = np.sort(m.geom_type[geoms[np.all(geoms >= 0, axis=1)]], axis=1)
    return {(int(first), int(second)) for first, second in types}


def has_surface_contacts(m: Any, d: Any) -> bool:
    """Whether a triangle or tetrahedron of a flex is in contact."""
    sides = sides_of(d)
    flexes, elements = sides[:, 2:4], sides[:, 4:6]
    return bool(np.any(m.flex_dim[flexes[elements >= 0]] > 1))


def has_iterative_contacts(m: Any, d: Any) -> bool:
    """Whether a contact comes from an iterative search, so that it has the tolerance of that search."""
    return has_surface_contacts(m, d) or any(is_iterative(*pair) for pair in types_in_contact(m, d))
