"""Index tables derived from a finished model, for private use by the stages.

The tables depend only on properties that can't change after compilation (the tree, sizes, addresses). `topology`
computes the tables of the kinematic tree, on which other tables depend. `DERIVATIONS` maps the name of each other table
in `fields_work.DERIVED` to the function that computes the table. If a model has no elements of a table's kind, the
table is constant and cached.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

import numpy as np

from cardan.enums import mjtGeom
from cardan.jit.memory.struct import Shared
from cardan.model import hulls, polygons, sparsity
from cardan.model.fields_work import DERIVED
from cardan.model.sparsity import as_table, columns, derivation, row_addresses
from cardan.model.tendon_sparsity import driver_rows, moment_rows, tendon_rows
from cardan.model.topology import attach_tree_tables

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

NTYPES = int(mjtGeom.mjGEOM_SDF) + 1
"""Number of geom types that can collide."""
NO_COLLIDER = -1
"""Entry of ``aux.collider`` for a pair of types that never collides."""
SURFACES = (int(mjtGeom.mjGEOM_PLANE), int(mjtGeom.mjGEOM_HFIELD))
"""Types of static surfaces, which collide with solids but not with each other."""


def _no_colliders() -> np.ndarray:
    """Return a table without collision functions, in which pairs of surfaces are marked as never colliding."""
    table = np.zeros((NTYPES, NTYPES), np.int64)
    table[np.ix_(SURFACES, SURFACES)] = NO_COLLIDER
    return table.reshape(-1)


_TENDONS, _EDGES, _MESHES = ("ntendon",), ("nflexedge",), ("nmesh",)
_ALL: tuple[str, ...] = ()

_TABLES: dict[str, tuple[Callable[[MjModel], np.ndarray], tuple[str, ...]]] = {
    "aux.ten_rowadr": (lambda m: tendon_rows(m).adr, _TENDONS),
    "aux.ten_colind": (lambda m: tendon_rows(m).colind, _TENDONS),
    "aux.wrap_entry": (lambda m: tendon_rows(m).entry, ("nwrap",)),
    "aux.moment_rowadr": (lambda m: row_addresses(moment_rows(m)), ("nactuator",)),
    "aux.moment_colind": (lambda m: columns(moment_rows(m)), ("nactuator",)),
    "aux.driver_rowadr": (lambda m: row_addresses(driver_rows(m)), ("nactuator", "njnt", "ntendon")),
    "aux.driver": (lambda m: columns(driver_rows(m)), ("nactuator",)),
    "aux.collision_body": (lambda m: as_table(np.flatnonzero(m.body_geomnum > 0)), _ALL),
    "aux.body_weldparent": (lambda m: m.body_weldid[m.body_parentid[m.body_weldid]], _ALL),
    "aux.collider": (lambda m: _no_colliders(), _ALL),
    "aux.ten_J_rowadr": (lambda m: tendon_rows(m).stored_adr, _TENDONS),
    "aux.ten_J_colind": (lambda m: tendon_rows(m).stored_colind, _TENDONS),
    "aux.contact_filter": (lambda m: np.zeros(1, np.int64), _ALL),
    "aux.sdf_face": (lambda m: np.zeros(0), _ALL),
    "aux.sdf_grid": (lambda m: np.zeros(0), _ALL),
    "aux.sdf_shape": (lambda m: np.zeros(max(1, m.nplugin), np.int64), _ALL),
    "aux.sdf_attr": (lambda m: np.zeros(8 * max(1, m.nplugin)), _ALL),
    "aux.plugin_call": (lambda m: np.zeros(8 * max(1, m.nplugin), np.int64), _ALL),
    "aux.vertex_certain": (hulls.vertex_certain, ("nmesh", "nmeshvert")),
    "aux.edge_rowadr": (sparsity.edge_rowadr, _EDGES),
    "aux.edge_colind": (sparsity.edge_colind, _EDGES),
    "aux.edge_side": (sparsity.edge_side, _EDGES),
    "aux.edge_threes": (sparsity.edge_threes, _EDGES),
    "aux.flex_bvh_depth": (sparsity.flex_bvh_depth, ("nflex",)),
    "aux.uncertain_adr": (hulls.uncertain_adr, _MESHES),
    "aux.uncertain": (hulls.uncertain, _MESHES),
    "aux.hull_neighbour": (hulls.hull_neighbour, ("nmeshgraph",)),
    "aux.hull_scan": (hulls.hull_scan, _MESHES),
    "aux.hull_point": (hulls.hull_point, _MESHES),
    "aux.polygon_adr": (polygons.polygon_adr, _MESHES),
    "aux.polygon_normal": (polygons.polygon_normal, _MESHES),
    "aux.polygon_vertadr": (polygons.polygon_vertadr, _MESHES),
    "aux.polygon_vert": (polygons.polygon_vert, _MESHES),
    "aux.around_adr": (polygons.around_adr, _MESHES),
    "aux.around": (polygons.around, _MESHES),
}
"""For each table, the function that computes it and the sizes that count its elements.

If all these sizes are 0, the table is constant. Tables without such sizes are computed for each model. Tables of
addresses, shapes and grids are filled at first use.
"""

DERIVATIONS: dict[str, Callable[[MjModel], np.ndarray]] = {name: derive for name, (derive, _) in _TABLES.items()}
"""Function that computes each table of `fields_work.DERIVED`, except the tables of the kinematic tree."""

_SIZES = tuple({size: None for _, sizes in _TABLES.values() for size in sizes})
_about_nothing: dict[tuple[bool, ...], Shared] = {}
"""Cache of tables without elements. The key contains one flag for each size: whether it is 0."""


def attach_derived(m: MjModel) -> None:
    """Compute all derived tables of `m` and attach them.

    Raises:
        ValueError: a parent of a body or of a degree of freedom doesn't come before its child, or the arrays are
            inconsistent.
    """
    attach_tree_tables(m)
    sizes, memory = m._memory.sizes, m._memory
    key = tuple([sizes[size] == 0 for size in _SIZES])
    kept = _about_nothing.get(key)
    if kept is not None:
        memory.share(kept)
    known = kept.arrays if kept is not None else {}
    with derivation():
        for name, derive in DERIVATIONS.items():
            if name not in known:
                memory.attach(name, derive(m))
    if kept is None:
        nothing = [name for name, (_, about) in _TABLES.items() if about and not any(sizes[size] for size in about)]
        _about_nothing[key] = memory.shared(nothing)


ADDRESSES = ("aux.collider", "aux.contact_filter", "aux.plugin_call", "aux.sdf_shape")
"""Tables that contain addresses of functions."""

OWN = (*ADDRESSES, "aux.sdf_face", "aux.sdf_grid", "aux.sdf_attr")
"""Tables that are not copied with a model: addresses of functions, and tables of the model's plugins."""


def copy_derived(new: MjModel, old: MjModel) -> None:
    """Attach copies of the derived tables of `old` to its copy `new`; compute the tables `OWN` for `new`."""
    for field in DERIVED:
        name = field.name
        new._memory.attach(name, DERIVATIONS[name](new) if name in OWN else old._memory.arrays[name].copy())


def share_derived(new: MjModel, old: MjModel, own: Collection[str] = ()) -> None:
    """Attach the derived tables of `old` to `new` without copying them; compute the tables `own` for `new`."""
    for field in DERIVED:
        name = field.name
        new._memory.attach(name, DERIVATIONS[name](new) if name in own else old._memory.arrays[name])
