"""Sleep policies: which trees may sleep (spec: XML reference, body, sleep; ``m.tree_sleep_policy``).

A policy that the user gives for the body at the root of a tree is kept. Without one, trees that are moved by actuators
may not sleep, nor may those of flexes without equality constraints and elasticity. Trees that tendons couple by forces,
or tendons that move more than two trees, may not sleep in any case.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from cardan.enums.codes import TRN_BODY
from cardan.enums.later import mjtSleepPolicy
from cardan.errors import MjcfError
from cardan.model import internals
from cardan.spec.schema.keywords import SLEEP

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.model.mjmodel import MjModel

AUTO_NEVER = int(mjtSleepPolicy.mjSLEEP_AUTO_NEVER)
AUTO_ALLOWED = int(mjtSleepPolicy.mjSLEEP_AUTO_ALLOWED)
NEVER = int(mjtSleepPolicy.mjSLEEP_NEVER)
INIT = int(mjtSleepPolicy.mjSLEEP_INIT)
MOST_TREES = 2
"""Largest number of trees that a tendon may move if they are to sleep."""


def put_given_policies(build: Build, m: MjModel) -> None:
    """Set ``tree_sleep_policy`` of the trees for which the user gives a policy; all others stay 0, automatic.

    Raises:
        MjcfError: a body with a policy is not the root of a tree.
    """
    for body in build.bodies[1:]:
        word = body.element.attributes.get("sleep", "auto") if body.element.pattern is None else "auto"
        if word == "auto":
            continue
        tree = int(m.body_treeid[body.id])
        if tree < 0 or m.body_treeid[m.body_parentid[body.id]] >= 0:
            raise body.element.error(
                "a sleep policy is for the root of a kinematic tree: a body with joints below bodies without", "sleep"
            )
        m.tree_sleep_policy[tree] = SLEEP[word]


def find_policies(m: MjModel) -> None:
    """Set the automatic policies of all trees, from actuators, flexes and tendons.

    Raises:
        MjcfError: the user lets a tree sleep that may not.
    """
    policy = m.tree_sleep_policy
    automatic = policy < NEVER
    policy[automatic] = AUTO_ALLOWED
    if m.nactuator:
        policy[_driven_trees(m) & automatic] = AUTO_NEVER
    if m.nflex:
        policy[_unconstrained_trees(m) & automatic] = AUTO_NEVER
    for tree, reason in _forbidden(m) if m.ntendon else ():
        if policy[tree] > NEVER:
            raise MjcfError(f"tree {tree} may not sleep, but its policy allows it: it is moved by {reason}")
        if policy[tree] < NEVER:
            policy[tree] = AUTO_NEVER


def _driven_trees(m: MjModel) -> np.ndarray:
    """Return for each tree whether an actuator acts on it (ntree,)."""
    driven = np.zeros(m.ntree, bool)
    by_body = internals.array(m, "actuator_trntype") == TRN_BODY  # these may act on any dof, by contacts
    of_joints = np.repeat(~by_body, m.actuator_outnum)  # for each output
    number = np.diff(internals.array(m, "aux.moment_rowadr")[: len(of_joints) + 1])
    dofs = internals.array(m, "aux.moment_colind")[np.repeat(of_joints, number)]
    trees = m.body_treeid[m.actuator_trnid[by_body, 0]]
    driven[m.dof_treeid[dofs]] = True
    driven[trees[trees >= 0]] = True
    return driven


def _unconstrained_trees(m: MjModel) -> np.ndarray:
    """Return for each tree whether it moves vertices of a flex without equality constraint or elasticity (ntree,)."""
    held = m.flex_edgeequality.astype(bool) | (m.flex_stiffnessadr >= 0) | (m.flex_bendingadr >= 0)
    free = np.repeat(~held, m.flex_vertnum)
    trees = m.body_treeid[m.flex_vertbodyid[free]]
    moves = np.zeros(m.ntree, bool)
    moves[trees[trees >= 0]] = True
    return moves


def _forbidden(m: MjModel) -> Iterator[tuple[int, str]]:
    """Yield the trees that tendons keep awake, with what moves them."""
    start, dofs = internals.array(m, "aux.ten_rowadr"), internals.array(m, "aux.ten_colind")
    forces = np.column_stack([m.tendon_stiffness, m.tendon_damping, m.tendon_stiffnesspoly, m.tendon_dampingpoly])
    for tendon in range(m.ntendon):
        trees = np.unique(m.dof_treeid[dofs[start[tendon] : start[tendon + 1]]])
        if len(trees) > MOST_TREES:
            reason = f"tendon {tendon}, which moves more than two trees"
        elif len(trees) == MOST_TREES and forces[tendon].any():
            reason = f"tendon {tendon}, which couples two trees by a spring or a damper"
        else:
            continue
        for tree in trees.tolist():
            yield tree, reason
