"""Stages that build all constraint rows that are active at the current position (spec: constraint model).

The stages read the configuration, kinematics, tendons and contacts. They write all efc_ fields that depend on position,
the counts ne, nf, nl, nefc and nnzJ, `tendon_efcadr`, and efc_address, mu and exclude of the contacts. Rows are ordered
as in the spec: equality, friction loss, limit, contact; within each kind, they have the order of the model's elements.
`MAKE_CONSTRAINT` lists the stages, each with the condition under which a model needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cardan.constraint.contact import make_contact, make_soft_contact
from cardan.constraint.effective import release_rows
from cardan.constraint.equality import make_equality, make_equality_awake
from cardan.constraint.jacobian import complete_sparse, complete_sparse_awake
from cardan.constraint.limit import (
    make_friction,
    make_friction_awake,
    make_limit,
    make_limit_awake,
    make_tendon_friction,
    make_tendon_friction_awake,
    make_tendon_limit,
    make_tendon_limit_awake,
)
from cardan.constraint.rows import arena_use
from cardan.dynamics.jacobian import is_sparse
from cardan.enums.codes import INT_DISCRETE
from cardan.jit import OK, stage
from cardan.model.kernel_views import AnyModel, Data, Model
from cardan.model.sleepers import may_sleep


@stage
def clear_constraint(m: Model, d: Data) -> int:
    """Remove all constraint rows and islands."""
    d.ne = 0
    d.nf = 0
    d.nl = 0
    d.nefc = 0
    d.nnzJ = 0
    d.nisland = 0
    d.work.arranged_rows = 0
    d.work.rows_full = 0
    d.work.nloose = 0
    for tendon in range(m.ntendon):
        d.tendon_efcadr[tendon] = -1
    return OK


@stage
def record_use(m: Model, d: Data) -> int:
    """Record the peak usage since the last reset: maxuse_con, maxuse_efc, and maxuse_arena (bytes)."""
    d.maxuse_con = max(int(d.maxuse_con), int(d.ncon))
    d.maxuse_efc = max(int(d.maxuse_efc), int(d.nefc))
    d.maxuse_arena = max(int(d.maxuse_arena), arena_use(d.ncon, d.nefc, d.nnzJ))
    return OK


def is_discrete(m: AnyModel) -> bool:
    """Return whether the model's integrator is discrete."""
    return m.opt.integrator == INT_DISCRETE


AWAKE: dict[Callable[[Any, Any], int], Callable[[Any, Any], int]] = {
    make_equality: make_equality_awake,
    make_friction: make_friction_awake,
    make_tendon_friction: make_tendon_friction_awake,
    make_limit: make_limit_awake,
    make_tendon_limit: make_tendon_limit_awake,
    complete_sparse: complete_sparse_awake,
}
"""Stages that take the place of others if trees of the model may sleep."""
MAKE_CONSTRAINT: tuple[tuple[Callable[[Any], bool], Callable[[Any, Any], int]], ...] = (
    (lambda m: True, clear_constraint),
    (lambda m: m.neq > 0 and m.nv > 0, make_equality),
    (lambda m: m.nv > 0, make_friction),
    (lambda m: m.ntendon > 0, make_tendon_friction),
    (lambda m: m.nv > 0, make_limit),
    (lambda m: m.ntendon > 0, make_tendon_limit),
    (lambda m: m.nflex == 0, make_contact),
    (lambda m: m.nflex > 0, make_soft_contact),
    (is_sparse, complete_sparse),
    (is_discrete, release_rows),
    (lambda m: True, record_use),
)


def constraint_stages(m: AnyModel) -> list[Callable[[Any, Any], int]]:
    """Return the stages that a model needs, in order. They depend on the model's sizes and on opt.jacobian."""
    chosen = [function for needed, function in MAKE_CONSTRAINT if needed(m)]
    return [AWAKE.get(function, function) for function in chosen] if may_sleep(m) else chosen
