"""On which degrees of freedom the lengths of tendons and actuators depend.

As in `sparsity`, all functions take a finished model and return an integer table that depends on its topology alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from cardan.enums import mjtTrn, mjtWrap
from cardan.model.sparsity import DOFS_OF_JOINT, columns, derived, dof_chain, once, row_addresses

JOINT = int(mjtWrap.mjWRAP_JOINT)
PULLEY = int(mjtWrap.mjWRAP_PULLEY)
SITE = int(mjtWrap.mjWRAP_SITE)
ON_JOINT = int(mjtTrn.mjTRN_JOINT), int(mjtTrn.mjTRN_JOINTINPARENT)
ON_TENDON = int(mjtTrn.mjTRN_TENDON)
ON_SITE = int(mjtTrn.mjTRN_SITE), int(mjtTrn.mjTRN_SLIDERCRANK)

Chains = Callable[[int], frozenset[int]]


@once
def _chains(m: Any) -> Chains:
    """What tells the dofs that move a body."""
    last, parents = derived(m, "body_lastdof").tolist(), m.dof_parentid.tolist()
    return cache(lambda body: frozenset(dof_chain(parents, last[body])))


@once
def _wrap_bodies(m: Any) -> list[int]:
    """Body of each site and geom on a path, -1 for pulleys; what joints have here means nothing."""
    target = np.maximum(m.wrap_objid, 0)
    on_site = m.wrap_type == SITE
    body = np.full(m.nwrap, -1)
    body[on_site] = m.site_bodyid[target[on_site]]
    on_geom = ~on_site & (m.wrap_type != PULLEY) & (m.wrap_type != JOINT)
    body[on_geom] = m.geom_bodyid[target[on_geom]]
    return body.tolist()


@once
def _wraps(m: Any) -> tuple[list[int], list[int]]:
    """Numbers of what stands on paths, and the first dof of each joint."""
    return m.wrap_objid.tolist(), m.jnt_dofadr.tolist()


@once
def _paths(m: Any) -> list[range]:
    return [range(adr, adr + number) for adr, number in zip(m.tendon_adr.tolist(), m.tendon_num.tolist(), strict=True)]


def _joint_dofs(m: Any, path: range) -> list[int]:
    objects, dofs = _wraps(m)
    return sorted({dofs[joint] for joint in objects[path.start : path.stop]})


@once
def _tendon_rows(m: Any) -> tuple[list[list[int]], list[list[int]]]:
    """Dofs of each tendon, and those together with dofs that move both bodies of a segment, which don't change it."""
    if not m.ntendon:
        return [], []
    rows, stored, chains, types = [], [], _chains(m), m.wrap_type.tolist()
    for path in _paths(m):
        if len(path) and types[path[0]] == JOINT:
            row = both = _joint_dofs(m, path)
        else:
            ends = pairwise(_wrap_bodies(m)[path.start : path.stop])
            steps = [(chains(a), chains(b)) for a, b in ends if a != b and a >= 0 and b >= 0]
            row = sorted(_union([a ^ b for a, b in steps]))
            apart = all(a.isdisjoint(b) for a, b in steps)
            both = row if apart else sorted(_union([a | b for a, b in steps]))
        rows.append(row)
        stored.append(both)
    return rows, stored


def _union(parts: list[frozenset[int]]) -> frozenset[int]:
    """What is in one of the parts."""
    return parts[0] if len(parts) == 1 else frozenset().union(*parts)


def tendon_rowadr(m: Any) -> np.ndarray:
    """Start and end of each tendon's row of `tendon_colind` (ntendon + 1,)."""
    return row_addresses(_tendon_rows(m)[0])


def tendon_colind(m: Any) -> np.ndarray:
    """The dofs that can change the length of each tendon."""
    return columns(_tendon_rows(m)[0])


def stored_rowadr(m: Any) -> np.ndarray:
    """Start and end of each tendon's row of `stored_colind` (ntendon + 1,)."""
    return row_addresses(_tendon_rows(m)[1])


def stored_colind(m: Any) -> np.ndarray:
    """The dofs for which compressed rows of `ten_J` may have an entry: also those that move a whole segment."""
    return columns(_tendon_rows(m)[1])


def wrap_entry(m: Any) -> np.ndarray:
    """For each joint of a fixed tendon, the position of its dof in the tendon's row (nwrap,)."""
    entry = np.zeros(m.nwrap, np.int32)
    types, (objects, dofs) = m.wrap_type.tolist(), _wraps(m)
    for path in _paths(m) if JOINT in types else ():
        if len(path) and types[path[0]] == JOINT:
            row = _joint_dofs(m, path)
            for wrap in path:
                entry[wrap] = row.index(dofs[objects[wrap]])
    return entry


def _joint_rows(m: Any) -> list[list[int]]:
    """Dofs of each joint."""
    places = zip(m.jnt_dofadr.tolist(), m.jnt_type.tolist(), strict=True)
    return [list(range(start, start + DOFS_OF_JOINT[kind])) for start, kind in places]


def _site_row(m: Any, chains: Chains, site: int, other: int) -> list[int]:
    """Dofs that move one site against another, or against the world."""
    dofs = chains(int(m.site_bodyid[site]))
    return sorted(dofs ^ chains(int(m.site_bodyid[other])) if other >= 0 else dofs)


@once
def _moment_rows(m: Any) -> list[list[int]]:
    tendons, chains, joints = _tendon_rows(m)[0], _chains(m), _joint_rows(m)
    rows = []
    for kind, (target, other) in zip(m.actuator_trntype.tolist(), m.actuator_trnid.tolist(), strict=True):
        if kind in ON_JOINT:
            rows.append(joints[target])
        elif kind == ON_TENDON:
            rows.append(tendons[target])
        elif kind in ON_SITE:
            rows.append(_site_row(m, chains, target, other))
        else:
            rows.append(list(range(m.nv)))
    return rows


def moment_rowadr(m: Any) -> np.ndarray:
    """Start and end of each actuator's row of `moment_colind` (nu + 1,)."""
    return row_addresses(_moment_rows(m))


def moment_colind(m: Any) -> np.ndarray:
    """The dofs on which each actuator can act (of a body transmission: all, since anything may touch the body)."""
    return columns(_moment_rows(m))
