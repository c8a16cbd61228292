"""Waking by constraints: equalities and tendon limits that connect trees which sleep with others.

Spec: simulation (programming), sleeping islands, waking.
"""

from __future__ import annotations

from cardan.dynamics.anchors import bodies_of, has_objects, loop_rows
from cardan.dynamics.awake import cycle_of, find_spans, is_driven, wake_cycle
from cardan.dynamics.com import centers_of_awake
from cardan.enums.codes import (
    DSBL_CONSTRAINT,
    DSBL_EQUALITY,
    DSBL_FRICTIONLOSS,
    DSBL_LIMIT,
    EQ_FLEX,
    EQ_JOINT,
)
from cardan.jit import OK, kernel, stage
from cardan.model.kernel_views import Data, Model
from cardan.model.reset import FULLY_AWAKE

NOTHING, ASLEEP, DIFFERENT, MIXED = range(4)
"""States of the trees of a constraint: none; all in one cycle that sleeps; in several that sleep; some are awake. The
last two, from `DIFFERENT` on, ask to wake them."""


@kernel
def _with_tree(d: Data, state: int, before: int, tree: int, wakes: bool) -> tuple[int, int]:
    """Return the state of the trees seen so far, with one more tree, and a sleeping tree among them or -1.

    If `wakes` is set, wake the tree instead.
    """
    if d.tree_asleep[tree] < 0:
        return MIXED, before
    if wakes:
        wake_cycle(d, tree, FULLY_AWAKE)
        return MIXED, before
    if state == NOTHING:
        return ASLEEP, tree
    if state == ASLEEP and cycle_of(d, tree) != cycle_of(d, before):
        return DIFFERENT, before
    return state, tree if before < 0 else before


@kernel
def _with_body(m: Model, d: Data, state: int, before: int, body: int, wakes: bool) -> tuple[int, int]:
    """Do as `_with_tree` for the tree of a body; a body that the user drives counts as awake."""
    tree = int(m.body_treeid[body])
    if tree >= 0:
        return _with_tree(d, state, before, tree, wakes)
    return (MIXED, before) if is_driven(m, body) else (state, before)


@kernel
def _with_tendon(m: Model, d: Data, state: int, before: int, tendon: int, wakes: bool) -> tuple[int, int]:
    """Do as `_with_tree` for all trees that move a tendon."""
    for k in range(m.aux.ten_rowadr[tendon], m.aux.ten_rowadr[tendon + 1]):
        state, before = _with_tree(d, state, before, int(m.dof_treeid[m.aux.ten_colind[k]]), wakes)
    return state, before


@kernel
def equality_state(m: Model, d: Data, e: int, wakes: bool) -> int:
    """Return the state of the trees of an equality (NOTHING, ...). If `wakes` is set, wake all of them."""
    kind = m.eq_type[e]
    one, other = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    state, before = NOTHING, -1
    if loop_rows(m, e) > 0:
        body1, body2 = bodies_of(m, e)
        state, before = _with_body(m, d, state, before, int(body1), wakes)
        state, before = _with_body(m, d, state, before, int(body2), wakes)
    elif kind == EQ_JOINT:
        state, before = _with_body(m, d, state, before, int(m.jnt_bodyid[one]), wakes)
        if other >= 0:
            state, before = _with_body(m, d, state, before, int(m.jnt_bodyid[other]), wakes)
    elif kind == EQ_FLEX:
        for vertex in range(m.flex_vertadr[one], m.flex_vertadr[one] + m.flex_vertnum[one]):
            state, before = _with_body(m, d, state, before, int(m.flex_vertbodyid[vertex]), wakes)
    else:
        state, before = _with_tendon(m, d, state, before, one, wakes)
        if other >= 0:
            state, before = _with_tendon(m, d, state, before, other, wakes)
    return state


@kernel
def wake_by_equalities(m: Model, d: Data) -> None:
    """Wake the trees that active equalities connect with trees that are awake, or sleep in another cycle."""
    if m.opt.disableflags & (DSBL_CONSTRAINT | DSBL_EQUALITY) == 0:
        for e in range(m.neq):
            if d.eq_active[e] != 0 and has_objects(m, e):
                state = equality_state(m, d, e, False)
                if state >= DIFFERENT:
                    equality_state(m, d, e, True)


@kernel
def tendon_acts(m: Model, d: Data, tendon: int) -> bool:
    """Return whether a tendon has constraint rows: it has friction loss, or is at one of its limits."""
    if m.tendon_frictionloss[tendon] > 0.0 and m.opt.disableflags & DSBL_FRICTIONLOSS == 0:
        return True
    if m.tendon_limited[tendon] == 0 or m.opt.disableflags & DSBL_LIMIT != 0:
        return False
    length, margin = d.ten_length[tendon], m.tendon_margin[tendon]
    return length - m.tendon_range[tendon, 0] < margin or m.tendon_range[tendon, 1] - length < margin


@kernel
def wake_by_tendons(m: Model, d: Data) -> None:
    """Wake the trees that a tendon with constraint rows connects with a tree that is awake.

    They take over the number of steps at rest of the tree that wakes them.
    """
    if m.opt.disableflags & DSBL_CONSTRAINT != 0:
        return
    for tendon in range(m.ntendon):
        if not tendon_acts(m, d, tendon):
            continue
        first, stop = m.aux.ten_rowadr[tendon], m.aux.ten_rowadr[tendon + 1]
        waking = 0
        for k in range(first, stop):
            waking = min(waking, int(d.tree_asleep[m.dof_treeid[m.aux.ten_colind[k]]]))
        if waking < 0:
            for k in range(first, stop):
                wake_cycle(d, int(m.dof_treeid[m.aux.ten_colind[k]]), waking)


@kernel
def wake_connected(m: Model, d: Data) -> bool:
    """Wake the trees that equalities and tendon limits connect with what is awake; find the spans if necessary.

    Return whether any tree wakes.
    """
    wakes = False
    while True:
        wake_by_equalities(m, d)
        wake_by_tendons(m, d)
        if d.work.spans_known != 0:
            return wakes
        find_spans(m, d)
        wakes = True


@stage
def wake_by_constraints(m: Model, d: Data) -> int:
    """Wake the trees that equalities and tendon limits connect with what is awake.

    Reads eq_active and ten_length; writes tree_asleep.
    """
    if wake_connected(m, d):
        centers_of_awake(m, d)
    return OK
