"""Trees that are awake, and what wakes a tree: changed positions, velocities and applied forces.

A *tree* is a body that is fixed to the world by joints only, with all its descendants. A tree at rest may sleep: stages
then leave out its bodies and dofs, whose values remain those of the last step in which the tree was awake.
``tree_asleep`` of a tree is at least 0 if the tree sleeps. It then is the next tree of a cycle: the trees of the cycle
fell asleep together, and wake together. Otherwise it is minus one, minus the number of steps at rest after which the
tree may sleep.

Bodies of a tree have consecutive numbers, and so have their joints, dofs, geoms and sites. A *span* is a range of
consecutive bodies that are awake or belong to no tree, with the ranges of their parts. Stages have a kernel that
handles a range. It runs once for all bodies if no tree of the model may sleep, else once for each span. A *rest* is a
range of consecutive trees that sleep.

Spec: simulation (programming), sleeping islands; computation, sleeping islands.
"""

from __future__ import annotations

from math import copysign

from cardan.enums.codes import ENBL_ISLAND, ENBL_SLEEP, JNT_BALL, JNT_FREE, TRN_BODY
from cardan.jit import OK, kernel, stage
from cardan.maths.types import ConstArray1
from cardan.model.kernel_views import Data, Model
from cardan.model.reset import EVERYTHING, FULLY_AWAKE, wake_everything
from cardan.model.tree_views import find_lengths

# columns of work.span: first number and end (exclusive) of the span's bodies, joints, ...
BODY, JOINT, DOF, GEOM, SITE, TREE, POS = 0, 2, 4, 6, 8, 10, 12
# columns of work.rest, likewise; HANGS: whether a tree of the rest hangs from a body that is not the world
REST_BODY, REST_DOF, REST_POS, REST_TREE, REST_JOINT, HANGS = 0, 2, 4, 6, 8, 10
# bits of work.unsettled: stages that have to write values of sleeping trees once
ROWS_UNSETTLED, SOLVER_UNSETTLED, START_UNSETTLED, STATE_UNSETTLED, BROAD_UNSETTLED = 1, 2, 4, 8, 16


@kernel
def span_range(d: Data, span: int, column: int) -> tuple[int, int]:
    """Return the first number and the end (exclusive) of a span's bodies, joints, ...; `column` is BODY, JOINT, ..."""
    return int(d.work.span[span, column]), int(d.work.span[span, column + 1])


@kernel
def trees_may_sleep(m: Model) -> bool:
    """Return whether trees of a model may sleep: the flag ``sleep``, and with compat 4.0 the flag ``island``, are set.

    If they may not, spans and rests have no meaning.
    """
    flags = m.opt.enableflags
    return flags & ENBL_SLEEP != 0 and (m.is_4_0 == 0 or flags & ENBL_ISLAND != 0)


@kernel
def visits(m: Model, d: Data, stage: int) -> int:
    """Return the number of ranges of dofs that a stage of the solver visits (see `visited_dofs`).

    These are the spans; or one range, all dofs, if no tree may sleep or if the spans are new to the stage. `stage` is
    its bit in ``work.unsettled``.
    """
    return int(d.work.nspan) if trees_may_sleep(m) and d.work.unsettled & stage == 0 else 1


@kernel
def visited_dofs(m: Model, d: Data, stage: int, visit: int) -> tuple[int, int]:
    """Return the first dof and the end (exclusive) of range `visit` of a stage (see `visits`)."""
    if trees_may_sleep(m) and d.work.unsettled & stage == 0:
        return span_range(d, visit, DOF)
    return 0, int(m.nv)


@kernel
def settle(d: Data, stage: int) -> None:
    """Note that a stage, given by its bit in ``work.unsettled``, has seen the present spans."""
    d.work.unsettled = d.work.unsettled & ~stage


@kernel
def moving_bodies(d: Data, span: int) -> tuple[int, int]:
    """Return the first body, which is not the world, and the end (exclusive) of the bodies of a span."""
    first, stop = span_range(d, span, BODY)
    return max(first, 1), stop


@kernel
def rest_range(d: Data, rest: int, column: int) -> tuple[int, int]:
    """Return the first number and the end (exclusive) of a rest's bodies, ...; `column` is REST_BODY, ..."""
    return int(d.work.rest[rest, column]), int(d.work.rest[rest, column + 1])


@kernel
def sleeps(d: Data, tree: int) -> bool:
    """Return whether a tree sleeps. The number -1 means "no tree", which counts as awake."""
    return tree >= 0 and d.tree_asleep[tree] >= 0


@kernel
def is_driven(m: Model, body: int) -> bool:
    """Return whether the user moves a body that belongs to no tree: a mocap body, or one fixed to it."""
    return m.body_treeid[body] < 0 and m.body_mocapid[m.body_rootid[body]] >= 0


@kernel
def is_active(m: Model, d: Data, body: int) -> bool:
    """Return whether a body can move at present: its tree is awake, or it is driven by the user."""
    tree = m.body_treeid[body]
    return d.tree_asleep[tree] < 0 if tree >= 0 else is_driven(m, body)


@kernel
def tendon_sleeps(m: Model, d: Data, tendon: int) -> bool:
    """Return whether all trees that move a tendon sleep; False if no dof moves it."""
    first, stop = m.aux.ten_rowadr[tendon], m.aux.ten_rowadr[tendon + 1]
    for k in range(first, stop):
        if d.tree_asleep[m.dof_treeid[m.aux.ten_colind[k]]] < 0:
            return False
    return stop > first


@kernel
def actuator_sleeps(m: Model, d: Data, actuator: int) -> bool:
    """Return whether all trees on which an actuator acts sleep; False if there is none."""
    if m.actuator_trntype[actuator] == TRN_BODY:
        return sleeps(d, int(m.body_treeid[m.actuator_trnid[actuator, 0]]))
    count = 0
    for out in range(m.actuator_outadr[actuator], m.actuator_outadr[actuator] + m.actuator_outnum[actuator]):
        for k in range(m.aux.moment_rowadr[out], m.aux.moment_rowadr[out + 1]):
            if d.tree_asleep[m.dof_treeid[m.aux.moment_colind[k]]] < 0:
                return False
            count += 1
    return count > 0


@kernel
def wake_cycle(d: Data, tree: int, value: int) -> None:
    """Wake a tree and all trees that fell asleep with it: their `tree_asleep` becomes `value`.

    Marks the spans as outdated.
    """
    while d.tree_asleep[tree] >= 0:
        following = int(d.tree_asleep[tree])
        d.tree_asleep[tree] = value
        d.work.spans_known = 0
        tree = following


@kernel
def end_of_tree(m: Model, body: int, tree: int) -> int:
    """Return the number after the last body of a tree; `body` belongs to it."""
    while body < m.nbody and m.body_treeid[body] == tree:
        body += 1
    return body


@kernel
def cycle_of(d: Data, tree: int) -> int:
    """Return the smallest tree of the cycle of a sleeping tree."""
    least, other = tree, int(d.tree_asleep[tree])
    while other != tree:
        least = min(least, other)
        other = int(d.tree_asleep[other])
    return least


@kernel
def differs_from_zero(x: float) -> bool:
    """Return whether any bit of a number is set: the number is not zero, or it is -0."""
    return x != 0.0 or copysign(1.0, x) < 0.0


@kernel
def _any_set(values: ConstArray1, first: int, stop: int) -> bool:
    """Return whether any of the numbers `first` to `stop` (exclusive) has a bit set."""
    count = 0
    for i in range(first, stop):
        count += 1 if differs_from_zero(values[i]) else 0
    return count > 0


@kernel
def _is_pushed(d: Data, first: int, stop: int) -> bool:
    """Return whether the user applies a force to one of the bodies `first` to `stop` (exclusive)."""
    count = 0
    for body in range(first, stop):
        for k in range(6):
            count += 1 if differs_from_zero(d.xfrc_applied[body, k]) else 0
    return count > 0


@kernel
def _is_moved(d: Data, first: int, stop: int) -> bool:
    """Return whether qpos from `first` to `stop` (exclusive) differs from that at which the trees fell asleep."""
    count = 0
    for i in range(first, stop):
        count += 1 if d.qpos[i] != d.work.qpos_asleep[i] else 0
    return count > 0


@kernel
def has_forces(d: Data, body0: int, body1: int, dof0: int, dof1: int) -> bool:
    """Return whether the user applies forces to something with these bodies and dofs (first number and end)."""
    return _any_set(d.qfrc_applied, dof0, dof1) or _is_pushed(d, body0, body1)


@kernel
def is_touched(d: Data, body0: int, body1: int, dof0: int, dof1: int, pos0: int, pos1: int) -> bool:
    """Return whether the user has changed the position, velocity or applied force of something asleep.

    The arguments are the ranges of its bodies, dofs and elements of qpos: first number and end (exclusive).
    """
    if _any_set(d.qvel, dof0, dof1) or _is_moved(d, pos0, pos1):
        return True
    return has_forces(d, body0, body1, dof0, dof1)


@kernel
def positions_of(m: Model, joint: int) -> int:
    """Number of elements of qpos of a joint."""
    if m.jnt_type[joint] == JNT_FREE:
        return 7
    return 4 if m.jnt_type[joint] == JNT_BALL else 1


@kernel
def position_after(m: Model, body: int) -> int:
    """Address after the last element of qpos of a body that has joints."""
    last = m.body_jntadr[body] + m.body_jntnum[body] - 1
    return int(m.jnt_qposadr[last] + positions_of(m, last))


@kernel
def _wake_in_rest(m: Model, d: Data, rest: int) -> None:
    """Wake those trees of a rest that the user has touched, with their cycles."""
    body, stop = int(d.work.rest[rest, REST_BODY]), int(d.work.rest[rest, REST_BODY + 1])
    while body < stop:
        tree = int(m.body_treeid[body])
        first, dof0, pos0 = body, int(m.body_dofadr[body]), int(m.jnt_qposadr[m.body_jntadr[body]])
        dof1, pos1 = dof0, pos0
        while body < stop and m.body_treeid[body] == tree:
            if m.body_jntnum[body] > 0:
                dof1, pos1 = int(m.body_dofadr[body] + m.body_dofnum[body]), position_after(m, body)
            body += 1
        if d.tree_asleep[tree] >= 0 and is_touched(d, first, body, dof0, dof1, pos0, pos1):
            wake_cycle(d, tree, FULLY_AWAKE)


@kernel
def wake_touched(m: Model, d: Data) -> None:
    """Wake the trees whose position, velocity or applied force the user has changed."""
    for rest in range(d.work.nrest):
        row = d.work.rest
        body0, body1 = int(row[rest, REST_BODY]), int(row[rest, REST_BODY + 1])
        dof0, dof1 = int(row[rest, REST_DOF]), int(row[rest, REST_DOF + 1])
        if is_touched(d, body0, body1, dof0, dof1, int(row[rest, REST_POS]), int(row[rest, REST_POS + 1])):
            _wake_in_rest(m, d, rest)


@kernel
def _open_span(d: Data, ends: tuple[int, int, int, int, int, int, int]) -> None:
    """Begin a span after the parts that are counted so far."""
    span = int(d.work.nspan)
    for k in range(7):
        d.work.span[span, 2 * k] = ends[k]
        d.work.span[span, 2 * k + 1] = ends[k]
    d.work.nspan = span + 1


@kernel
def _open_rest(d: Data, body: int, joint: int, dof: int, pos: int, tree: int) -> None:
    """Begin a rest after the parts that are counted so far."""
    rest = int(d.work.nrest)
    d.work.rest[rest, REST_BODY] = body
    d.work.rest[rest, REST_DOF] = dof
    d.work.rest[rest, REST_POS] = pos
    d.work.rest[rest, REST_TREE] = tree
    d.work.rest[rest, REST_JOINT] = joint
    d.work.rest[rest, HANGS] = 0
    d.work.nrest = rest + 1


@kernel
def find_spans(m: Model, d: Data) -> None:
    """Write the spans and rests from `tree_asleep`, and the mass of sleeping trees below bodies that belong to none."""
    d.work.nspan, d.work.nrest = 0, 0
    joint, dof, geom, site, tree, pos = 0, 0, 0, 0, 0, 0
    resting = True  # whether the previous body sleeps
    for body in range(m.nbody):
        own = int(m.body_treeid[body])
        asleep = sleeps(d, own)
        if body == 0 or asleep != resting:
            if asleep:
                _open_rest(d, body, joint, dof, pos, tree)
            else:
                _open_span(d, (body, joint, dof, geom, site, tree, pos))
        resting = asleep
        joint += int(m.body_jntnum[body])
        dof += int(m.body_dofnum[body])
        geom += int(m.body_geomnum[body])
        while site < m.nsite and m.site_bodyid[site] <= body:
            site += 1
        tree = max(tree, own + 1)
        pos = position_after(m, body) if m.body_jntnum[body] > 0 else pos
        if asleep:
            rest = int(d.work.nrest) - 1
            d.work.rest[rest, REST_BODY + 1] = body + 1
            d.work.rest[rest, REST_DOF + 1] = dof
            d.work.rest[rest, REST_POS + 1] = pos
            d.work.rest[rest, REST_TREE + 1] = tree
            d.work.rest[rest, REST_JOINT + 1] = joint
            if m.body_rootid[body] != body and m.body_treeid[m.body_rootid[body]] < 0:
                d.work.rest[rest, HANGS] = 1
        else:
            span = int(d.work.nspan) - 1
            d.work.span[span, BODY + 1] = body + 1
            d.work.span[span, JOINT + 1] = joint
            d.work.span[span, DOF + 1] = dof
            d.work.span[span, GEOM + 1] = geom
            d.work.span[span, SITE + 1] = site
            d.work.span[span, TREE + 1] = tree
            d.work.span[span, POS + 1] = pos
    _weigh_rests(m, d)
    d.work.spans_known = 1
    d.work.unsettled = EVERYTHING


@kernel
def _weigh_rests(m: Model, d: Data) -> None:
    """Write the mass of the sleeping trees below each body that belongs to no tree, and mass times centre of mass."""
    for body in range(m.nbody):
        if m.body_treeid[body] < 0:
            for k in range(4):
                d.work.rest_mass[body, k] = 0.0
    for body in range(m.nbody - 1, 0, -1):
        tree, parent = int(m.body_treeid[body]), int(m.body_parentid[body])
        if tree < 0:
            for k in range(4):
                d.work.rest_mass[parent, k] += d.work.rest_mass[body, k]
        elif d.tree_asleep[tree] >= 0 and m.body_treeid[parent] < 0:
            mass = d.work.subtree_mass[body]
            for k in range(3):
                d.work.rest_mass[parent, k] += mass * d.subtree_com[body, k]
            d.work.rest_mass[parent, 3] += mass


@kernel
def keep_positions(d: Data) -> None:
    """Store qpos of all sleeping trees, to find changes by the user."""
    for rest in range(d.work.nrest):
        for i in range(d.work.rest[rest, REST_POS], d.work.rest[rest, REST_POS + 1]):
            d.work.qpos_asleep[i] = d.qpos[i]


@kernel
def count_awake_dofs(d: Data) -> int:
    """Number of dofs of all spans."""
    count = 0
    for span in range(d.work.nspan):
        first, stop = span_range(d, span, DOF)
        count += stop - first
    return count


@stage
def wake_by_state(m: Model, d: Data) -> int:
    """Wake the trees whose qpos, qvel, qfrc_applied or xfrc_applied the user has changed; find the spans if necessary.

    Reads these fields and tree_asleep; writes tree_asleep.
    """
    if d.work.has_lengths == 0:
        find_lengths(m, d.work.island_gain, d.work.dof_length)
        d.work.has_lengths = 1
    wake_touched(m, d)
    if d.work.spans_known == 0:
        find_spans(m, d)
    return OK


@stage
def wake_all(m: Model, d: Data) -> int:
    """Wake all trees. Writes tree_asleep."""
    wake_everything(m, d)
    return OK
