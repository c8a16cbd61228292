"""Index tables derived from a finished model, for the stages' private use.

They depend only on what can't change after compilation (the tree, sizes, addresses). `DERIVATIONS` maps each row of
`fields_work.DERIVED` to the function that computes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from cardan.model import flex_tables, hulls, pairing, sparsity, tendon_sparsity

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

DERIVATIONS: dict[str, Callable[[MjModel], np.ndarray]] = {
    "aux.M_rowadr": sparsity.inertia_rowadr,
    "aux.M_colind": sparsity.inertia_colind,
    "aux.M_to_D": sparsity.inertia_to_derivative,
    "aux.D_rowadr": sparsity.derivative_rowadr,
    "aux.D_colind": sparsity.derivative_colind,
    "aux.B_rowadr": sparsity.body_rowadr,
    "aux.B_colind": sparsity.body_colind,
    "aux.body_lastdof": sparsity.body_lastdof,
    "aux.ten_rowadr": tendon_sparsity.tendon_rowadr,
    "aux.ten_colind": tendon_sparsity.tendon_colind,
    "aux.wrap_entry": tendon_sparsity.wrap_entry,
    "aux.moment_rowadr": tendon_sparsity.moment_rowadr,
    "aux.moment_colind": tendon_sparsity.moment_colind,
    "aux.collision_body": pairing.collision_body,
    "aux.body_weldparent": pairing.body_weldparent,
    "aux.collider": pairing.collider,
    "aux.M_to_DT": sparsity.inertia_to_derivative_t,
    "aux.ten_J_rowadr": tendon_sparsity.stored_rowadr,
    "aux.ten_J_colind": tendon_sparsity.stored_colind,
    "aux.contact_filter": pairing.contact_filter,
    "aux.sdf_face": pairing.no_numbers,
    "aux.sdf_grid": pairing.no_numbers,
    "aux.sdf_shape": pairing.sdf_shape,
    "aux.sdf_attr": pairing.sdf_attr,
    "aux.plugin_call": pairing.plugin_call,
    "aux.bvh_next": pairing.bvh_next,
    "aux.geom_in_tree": pairing.geom_in_tree,
    "aux.vertex_certain": hulls.vertex_certain,
    "aux.edge_rowadr": flex_tables.edge_rowadr,
    "aux.edge_colind": flex_tables.edge_colind,
    "aux.edge_side": flex_tables.edge_side,
    "aux.edge_threes": flex_tables.edge_threes,
    "aux.flex_bvh_next": flex_tables.flex_bvh_next,
    "aux.flex_bvh_depth": flex_tables.flex_bvh_depth,
    "aux.uncertain_adr": hulls.uncertain_adr,
    "aux.uncertain": hulls.uncertain,
}


def _check_parents(m: MjModel, name: str) -> None:
    """Parents come before their children: chains towards the root end."""
    first = 1 if name.startswith("body") else 0
    parents = m._memory.arrays[name][first:]
    wrong = np.flatnonzero(parents >= np.arange(first, first + len(parents)))
    if wrong.size:
        i = int(wrong[0])
        raise ValueError(f"{name}[{i + first}] is {parents[i]}: a parent must come before its children")


def attach_derived(m: MjModel) -> None:
    """Compute all derived tables of `m` and attach them.

    Raises:
        ValueError: a parent of a body or of a degree of freedom doesn't come before it.
    """
    _check_parents(m, "body_parentid")
    _check_parents(m, "dof_parentid")
    with sparsity.derivation():
        for name, derive in DERIVATIONS.items():
            m._memory.attach(name, derive(m))


# addresses of functions, and what belongs to the plugins that a model uses: each model finds its own
OWN = (
    "aux.collider",
    "aux.contact_filter",
    "aux.plugin_call",
    "aux.sdf_face",
    "aux.sdf_grid",
    "aux.sdf_shape",
    "aux.sdf_attr",
)


def copy_derived(new: MjModel, old: MjModel) -> None:
    """Attach copies of the derived tables of `old` to `new`, a copy of it."""
    for name, derive in DERIVATIONS.items():
        new._memory.attach(name, derive(new) if name in OWN else old._memory.arrays[name].copy())


def share_derived(new: MjModel, old: MjModel) -> None:
    """Attach the derived tables of `old` themselves to `new`, a model of one world of many."""
    for name in DERIVATIONS:
        new._memory.attach(name, old._memory.arrays[name])
