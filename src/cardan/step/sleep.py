"""Falling asleep: trees that are at rest for some steps stop to move, together with all trees of their islands.

A tree is at rest in a step if two conditions hold. All its velocities at the start of the step, as linear velocities,
are below ``opt.sleep_tolerance``, and the user applies no forces to it. If all trees of an island have been at rest for
`mjMINAWAKE` steps, and no policy forbids it, they fall asleep. Their velocities become 0, forward dynamics runs once
more from the velocities on, so that all results are those of rest, and then the trees sleep before positions are
advanced.

Spec: simulation (programming), sleeping islands.
"""

from __future__ import annotations

from cardan.constraint.make import clear_constraint
from cardan.dynamics.awake import DOF, end_of_tree, find_spans, has_forces, keep_positions, span_range
from cardan.enums.codes import SLEEP_AUTO_NEVER, SLEEP_INIT, SLEEP_NEVER
from cardan.jit import OK, kernel, stage
from cardan.model.kernel_views import Data, Model
from cardan.model.reset import FULLY_AWAKE

FELL_ASLEEP = -8
"""Status: trees fall asleep, so that forward dynamics has to run again from the velocities on."""
SLEEP_REFUSED = -10
"""Status: some trees with the policy ``init`` can't sleep."""
READY = -1
"""Value of `tree_asleep` for a tree that has been at rest for long enough."""


@kernel
def _end_of_tree(m: Model, dof: int, stop: int) -> int:
    """Return the first dof after `dof` that belongs to another tree, or `stop`."""
    tree = m.dof_treeid[dof]
    while dof < stop and m.dof_treeid[dof] == tree:
        dof += 1
    return dof


@kernel
def _is_at_rest(m: Model, d: Data, first: int, stop: int) -> bool:
    """Return whether the dofs `first` to `stop` (exclusive) move more slowly than ``opt.sleep_tolerance``."""
    fastest = 0.0
    for dof in range(first, stop):
        fastest = max(fastest, abs(d.work.dof_length[dof] * d.qvel[dof]))
    return fastest < m.opt.sleep_tolerance


@kernel
def _is_pushed(m: Model, d: Data, tree: int, dof: int, stop: int) -> bool:
    """Return whether the user applies forces to a tree, which has the dofs `dof` to `stop` (exclusive)."""
    body = int(m.dof_bodyid[dof])
    return has_forces(d, body, end_of_tree(m, body, tree), dof, stop)


@kernel
def _may_sleep(m: Model, tree: int) -> bool:
    """Return whether the policy of a tree allows it to sleep."""
    policy = m.tree_sleep_policy[tree]
    return policy != SLEEP_AUTO_NEVER and policy != SLEEP_NEVER


@kernel
def count_steps_at_rest(m: Model, d: Data) -> None:
    """Update `tree_asleep` of all trees that are awake, for one more step."""
    for span in range(d.work.nspan):
        dof, stop = span_range(d, span, DOF)
        while dof < stop:
            tree, end = int(m.dof_treeid[dof]), _end_of_tree(m, dof, stop)
            if _may_sleep(m, tree) and _is_at_rest(m, d, dof, end) and not _is_pushed(m, d, tree, dof, end):
                d.tree_asleep[tree] = min(int(d.tree_asleep[tree]) + 1, READY)
            else:
                d.tree_asleep[tree] = FULLY_AWAKE
            dof = end


@kernel
def find_ready_islands(m: Model, d: Data) -> None:
    """Set ``work.bucket`` to 1 for each island whose trees are all ready to sleep, else to 0."""
    for island in range(d.nisland):
        d.work.bucket[island] = 1
    for span in range(d.work.nspan):
        dof, stop = span_range(d, span, DOF)
        while dof < stop:
            tree, island = int(m.dof_treeid[dof]), int(d.dof_island[dof])
            if island >= 0 and d.tree_asleep[tree] != READY:
                d.work.bucket[island] = 0
            dof = _end_of_tree(m, dof, stop)


@kernel
def _falls_asleep(m: Model, d: Data, dof: int) -> bool:
    """Return whether a tree that is awake, with the first dof `dof`, falls asleep now."""
    island = int(d.dof_island[dof])
    return d.tree_asleep[m.dof_treeid[dof]] == READY and (island < 0 or d.work.bucket[island] != 0)


@kernel
def stop_ready_trees(m: Model, d: Data) -> int:
    """Set the velocities of the trees that fall asleep to 0; return the number of these trees."""
    count = 0
    for span in range(d.work.nspan):
        dof, stop = span_range(d, span, DOF)
        while dof < stop:
            end = _end_of_tree(m, dof, stop)
            if _falls_asleep(m, d, dof):
                count += 1
                for k in range(dof, end):
                    d.qvel[k] = 0.0
                    d.qacc[k] = 0.0
            dof = end
    return count


@kernel
def close_cycles(m: Model, d: Data) -> None:
    """Write `tree_asleep` of the trees that fall asleep: each has the number of the next one of its island."""
    for island in range(d.nisland):
        d.work.island_run[island] = -1  # the last tree of the island so far
    for span in range(d.work.nspan):
        dof, stop = span_range(d, span, DOF)
        while dof < stop:
            tree, island = int(m.dof_treeid[dof]), int(d.dof_island[dof])
            if _falls_asleep(m, d, dof):
                d.tree_asleep[tree] = tree
                if island >= 0 and d.work.island_run[island] >= 0:
                    before = int(d.work.island_run[island])
                    d.tree_asleep[tree] = d.tree_asleep[before]
                    d.tree_asleep[before] = tree
                if island >= 0:
                    d.work.island_run[island] = tree
            dof = _end_of_tree(m, dof, stop)
    find_spans(m, d)
    keep_positions(d)


@stage
def fall_asleep(m: Model, d: Data) -> int:
    """Let trees at rest fall asleep. Reads qvel, dof_island; writes tree_asleep, and sets qvel of these trees to 0.

    Returns the status FELL_ASLEEP if there are such trees. The stage runs again when forward dynamics has run from the
    velocities on.
    """
    if d.work.is_settling == 0:
        count_steps_at_rest(m, d)
        find_ready_islands(m, d)
        if stop_ready_trees(m, d) == 0:
            return OK
        d.work.is_settling = 1
        return FELL_ASLEEP
    d.work.is_settling = 0
    find_ready_islands(m, d)
    close_cycles(m, d)
    return OK


@kernel
def mark_initial_sleepers(m: Model, d: Data) -> None:
    """Mark the trees with the policy ``init`` as ready to sleep, unless the user pushes them."""
    for span in range(d.work.nspan):
        dof, stop = span_range(d, span, DOF)
        while dof < stop:
            tree, end = int(m.dof_treeid[dof]), _end_of_tree(m, dof, stop)
            if m.tree_sleep_policy[tree] == SLEEP_INIT:
                d.tree_asleep[tree] = FULLY_AWAKE if _is_pushed(m, d, tree, dof, end) else READY
            dof = end


@stage
def sleep_from_start(m: Model, d: Data) -> int:
    """Let the trees with the policy ``init`` sleep. Forward dynamics must have run for the default state.

    An island sleeps if all its trees have this policy. Removes all constraint rows. Returns the status SLEEP_REFUSED if
    some trees with the policy stay awake.
    """
    count_steps_at_rest(m, d)
    mark_initial_sleepers(m, d)
    find_ready_islands(m, d)
    stop_ready_trees(m, d)
    close_cycles(m, d)
    refused = 0
    for tree in range(m.ntree):
        if d.tree_asleep[tree] == READY:
            d.tree_asleep[tree] = FULLY_AWAKE
            refused += 1
        elif d.tree_asleep[tree] < 0 and m.tree_sleep_policy[tree] == SLEEP_INIT:
            refused += 1
    clear_constraint(m, d)
    return OK if refused == 0 else SLEEP_REFUSED
