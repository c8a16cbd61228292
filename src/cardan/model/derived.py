"""Index tables derived from a finished model, for private use by the stages.

They depend only on properties that can't change after compilation (the tree, sizes, addresses). `topology` computes the
tables of the kinematic tree, on which other tables depend. `DERIVATIONS` maps each other row of `fields_work.DERIVED`
to the function that computes it. If a model has no elements of a table's kind, the table is the same for all such
models; it is cached.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from cardan.jit.memory.struct import Shared
from cardan.model import flex_tables, hulls, pairing, tendon_sparsity
from cardan.model.fields_work import DERIVED
from cardan.model.sparsity import derivation
from cardan.model.topology import attach_tree_tables

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

DERIVATIONS: dict[str, Callable[[MjModel], np.ndarray]] = {
    "aux.ten_rowadr": tendon_sparsity.tendon_rowadr,
    "aux.ten_colind": tendon_sparsity.tendon_colind,
    "aux.wrap_entry": tendon_sparsity.wrap_entry,
    "aux.moment_rowadr": tendon_sparsity.moment_rowadr,
    "aux.moment_colind": tendon_sparsity.moment_colind,
    "aux.collision_body": pairing.collision_body,
    "aux.body_weldparent": pairing.body_weldparent,
    "aux.collider": pairing.collider,
    "aux.ten_J_rowadr": tendon_sparsity.stored_rowadr,
    "aux.ten_J_colind": tendon_sparsity.stored_colind,
    "aux.contact_filter": pairing.contact_filter,
    "aux.sdf_face": pairing.no_numbers,
    "aux.sdf_grid": pairing.no_numbers,
    "aux.sdf_shape": pairing.sdf_shape,
    "aux.sdf_attr": pairing.sdf_attr,
    "aux.plugin_call": pairing.plugin_call,
    "aux.vertex_certain": hulls.vertex_certain,
    "aux.edge_rowadr": flex_tables.edge_rowadr,
    "aux.edge_colind": flex_tables.edge_colind,
    "aux.edge_side": flex_tables.edge_side,
    "aux.edge_threes": flex_tables.edge_threes,
    "aux.flex_bvh_depth": flex_tables.flex_bvh_depth,
    "aux.uncertain_adr": hulls.uncertain_adr,
    "aux.uncertain": hulls.uncertain,
    "aux.hull_neighbour": hulls.hull_neighbour,
    "aux.hull_scan": hulls.hull_scan,
    "aux.hull_point": hulls.hull_point,
}


ABOUT: dict[str, tuple[str, ...]] = {
    "aux.ten_rowadr": ("ntendon",),
    "aux.ten_colind": ("ntendon",),
    "aux.wrap_entry": ("nwrap",),
    "aux.moment_rowadr": ("nu",),
    "aux.moment_colind": ("nu",),
    "aux.ten_J_rowadr": ("ntendon",),
    "aux.ten_J_colind": ("ntendon",),
    "aux.vertex_certain": ("nmesh", "nmeshvert"),
    "aux.edge_rowadr": ("nflexedge",),
    "aux.edge_colind": ("nflexedge",),
    "aux.edge_side": ("nflexedge",),
    "aux.edge_threes": ("nflexedge",),
    "aux.flex_bvh_depth": ("nflex",),
    "aux.uncertain_adr": ("nmesh",),
    "aux.uncertain": ("nmesh",),
    "aux.hull_neighbour": ("nmeshgraph",),
    "aux.hull_scan": ("nmesh",),
    "aux.hull_point": ("nmesh",),
}
"""For each table, the sizes that count its elements. If they are all 0, the table depends on nothing else."""


_SIZES = tuple({size: None for sizes in ABOUT.values() for size in sizes})
_about_nothing: dict[tuple[bool, ...], Shared] = {}
"""Cache of the tables without elements; the key says which of the sizes are 0."""


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
        nothing = [name for name, about in ABOUT.items() if not any(sizes[size] for size in about)]
        _about_nothing[key] = memory.shared(nothing)


ADDRESSES = ("aux.collider", "aux.contact_filter", "aux.plugin_call", "aux.sdf_shape")
"""Tables that contain addresses of functions."""

OWN = (*ADDRESSES, "aux.sdf_face", "aux.sdf_grid", "aux.sdf_attr")
"""Tables that each model computes for itself: addresses of functions, and tables of the model's plugins."""


def copy_derived(new: MjModel, old: MjModel) -> None:
    """Attach copies of the derived tables of `old` to `new`, a copy of it."""
    for field in DERIVED:
        name = field.name
        new._memory.attach(name, DERIVATIONS[name](new) if name in OWN else old._memory.arrays[name].copy())


def share_derived(new: MjModel, old: MjModel) -> None:
    """Attach the derived tables of `old`, without copying them, to `new`, the model of one of many worlds."""
    for field in DERIVED:
        new._memory.attach(field.name, old._memory.arrays[field.name])
