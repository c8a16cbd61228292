"""Sparsity of tendons and actuators: the degrees of freedom on which their lengths depend.

As in `sparsity`, all functions take a finished model, and their results depend only on the model's topology.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cardan.enums import mjtTrn
from cardan.enums.codes import TRN_SO3, TRN_TENDON, WRAP_JOINT, WRAP_PULLEY, WRAP_SITE
from cardan.jit import Field, Struct, StructMemory, kernel
from cardan.jit.driver.program import call, native_over
from cardan.model.kernel_views import Model
from cardan.model.sparsity import DOF_WIDTH, derived, dof_chain, once

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

ON_JOINT = int(mjtTrn.mjTRN_JOINT), int(mjtTrn.mjTRN_JOINTINPARENT)
ON_SITE = int(mjtTrn.mjTRN_SITE), int(mjtTrn.mjTRN_SLIDERCRANK)

Chains = Callable[[int], frozenset[int]]


@once
def _chains(m: MjModel) -> Chains:
    """Return a function that maps a body to the set of dofs that move the body."""
    last, parents = derived(m, "body_lastdof").tolist(), m.dof_parentid.tolist()
    return cache(lambda body: frozenset(dof_chain(parents, last[body])))


ROWS = Struct(
    "TendonRows",
    [
        Field("adr", "i4", ("any",), "start of each tendon's row of dofs that change its length, and the end"),
        Field("colind", "i4", ("any",), "dofs that change the length of each tendon, row by row"),
        Field("stored_adr", "i4", ("any",), "start of each tendon's row of dofs that move a part of it, and the end"),
        Field("stored_colind", "i4", ("any",), "dofs that move a part of each tendon, row by row"),
        Field("entry", "i4", ("any",), "position in the row of the dof of each joint of a fixed tendon"),
        Field("mark", "i4", ("any",), "effect of each dof on the current tendon, 0 for none"),
        Field("span", "i4", ("any",), "the first and the last dof with an effect on this tendon (2,)"),
    ],
    readonly=False,
)

_CHANGES, _MOVES = 1, 2
"""Flags for the effects of a dof on a tendon: the dof can change the length, or moves both ends of a segment."""


class TendonTables(NamedTuple):
    """Tables of tendons; `ROWS` describes them."""

    adr: np.ndarray
    colind: np.ndarray
    stored_adr: np.ndarray
    stored_colind: np.ndarray
    entry: np.ndarray


@once
def tendon_rows(m: MjModel) -> TendonTables:
    """Compute the sparsity tables of a model's tendons.

    Raises:
        ValueError: a tendon's path is invalid, or contains an object that does not exist.
    """
    found = StructMemory(ROWS, {})
    adr, stored_adr, entry = (np.zeros(n, np.int32) for n in (m.ntendon + 1, m.ntendon + 1, m.nwrap))
    for name, table in (("adr", adr), ("stored_adr", stored_adr), ("entry", entry)):
        found.attach(name, table)
    found.attach("mark", np.zeros(m.nv, np.int32))
    found.attach("span", np.zeros(2, np.int32))
    wrong = call(find_tendon_rows, m._memory, found, 0)
    if wrong:
        raise ValueError(f"the path of tendon {wrong - 1} contains an object that does not exist")
    colind, stored_colind = (np.empty(ends[-1], np.int32) for ends in (adr, stored_adr))
    found.attach("colind", colind)
    found.attach("stored_colind", stored_colind)
    call(find_tendon_rows, m._memory, found, 1)
    return TendonTables(adr, colind, stored_adr, stored_colind, entry)


def _relative_chain(m: MjModel, site: int, other: int) -> list[int]:
    """Return the dofs that move one site relative to another, or relative to the world (-1)."""
    chains = _chains(m)
    dofs = chains(int(m.site_bodyid[site]))
    return sorted(dofs ^ chains(int(m.site_bodyid[other])) if other >= 0 else dofs)


@once
def moment_rows(m: MjModel) -> list[Sequence[int]]:
    """Return, for each output of an actuator, the dofs on which the output can act.

    A body transmission can act on all dofs, because its body can touch any other body.
    """
    if not m.nactuator:
        return []
    rows, starts, kinds = [], m.jnt_dofadr.tolist(), m.jnt_type.tolist()
    for kind, (target, other) in zip(m.actuator_trntype.tolist(), m.actuator_trnid.tolist(), strict=True):
        if kind == TRN_SO3 and other < 0:
            rows += [[starts[target] + k] for k in range(3)]
        elif kind == TRN_SO3:
            rows += [_relative_chain(m, target, other)] * 3
        elif kind in ON_JOINT:
            rows.append(range(starts[target], starts[target] + DOF_WIDTH[kinds[target]]))
        elif kind == TRN_TENDON:
            tables = tendon_rows(m)
            rows.append(tables.colind[tables.adr[target] : tables.adr[target + 1]].tolist())
        elif kind in ON_SITE:
            rows.append(_relative_chain(m, target, other))
        else:
            rows.append(range(m.nv))
    return rows


@once
def driver_rows(m: MjModel) -> list[list[int]]:
    """Return the actuators on each joint, then those on each tendon, in ascending order."""
    rows: list[list[int]] = [[] for _ in range(m.njnt + m.ntendon)]
    for actuator, (kind, target) in enumerate(zip(m.actuator_trntype.tolist(), m.actuator_trnid.tolist(), strict=True)):
        if kind in ON_JOINT:
            rows[target[0]].append(actuator)
        elif kind == TRN_TENDON:
            rows[m.njnt + target[0]].append(actuator)
    return rows


def contributors(m: MjModel) -> np.ndarray:
    """Return, for each joint and then each tendon, the actuator that adds armature or damping to it.

    The value is -1 if there is none, and -2 if there are several.
    """
    adds = (m.actuator_armature != 0.0) | (m.actuator_damping != 0.0) | m.actuator_dampingpoly.any(axis=1)
    rows = [[actuator for actuator in row if adds[actuator]] for row in driver_rows(m)]
    return np.array([-1 if not row else row[0] if len(row) == 1 else -2 for row in rows], np.int32)


# --- kernels ---------------------------------------------------------------------------------------------------------


@kernel
def _wrap_body(m: Model, wrap: int) -> int:
    """Return the body of a site or geom on a path; -1 for a pulley or joint; -2 if the object does not exist."""
    kind, target = m.wrap_type[wrap], m.wrap_objid[wrap]
    if kind in (WRAP_PULLEY, WRAP_JOINT):
        return -1
    if target < 0 or target >= (m.nsite if kind == WRAP_SITE else m.ngeom):
        return -2
    body = m.site_bodyid[target] if kind == WRAP_SITE else m.geom_bodyid[target]
    return body if 0 <= body < m.nbody else -2


@kernel
def _mark(t: Any, dof: int, what: int) -> None:
    """Record the effect `what` of a dof on the current tendon."""
    t.mark[dof] |= what
    t.span[0] = min(t.span[0], dof)
    t.span[1] = max(t.span[1], dof)


@kernel
def _mark_joints(m: Model, t: Any, start: int, end: int) -> bool:
    """Mark the dofs of a fixed tendon's joints; return whether all these joints exist."""
    for wrap in range(start, end):
        joint = m.wrap_objid[wrap]
        if joint < 0 or joint >= m.njnt or m.jnt_dofadr[joint] < 0 or m.jnt_dofadr[joint] >= m.nv:
            return False
        _mark(t, m.jnt_dofadr[joint], _CHANGES)
    return True


@kernel
def _mark_segments(m: Model, t: Any, start: int, end: int) -> bool:
    """Mark the dofs that move the objects of a path; return whether all these objects exist.

    Dofs that move only one end of a segment are in the chain of only one of the two bodies. The chains are followed
    from the larger id on, because a dof has a larger id than its ancestors.
    """
    for wrap in range(start, end):
        a = _wrap_body(m, wrap)
        b = _wrap_body(m, wrap + 1) if wrap + 1 < end else -1
        if a == -2:
            return False
        if a < 0 or b < 0 or a == b:
            continue
        first, second = m.aux.body_lastdof[a], m.aux.body_lastdof[b]
        while first != second:
            if first > second:
                _mark(t, first, _CHANGES)
                first = m.dof_parentid[first]
            else:
                _mark(t, second, _CHANGES)
                second = m.dof_parentid[second]
        while first >= 0:
            _mark(t, first, _MOVES)
            first = m.dof_parentid[first]
    return True


@kernel
def _find_entries(m: Model, t: Any, tendon: int, start: int, end: int) -> None:
    """Store, for each joint of a fixed tendon, the position of the joint's dof in the tendon's row."""
    first = t.adr[tendon]
    for wrap in range(start, end):
        dof = m.jnt_dofadr[m.wrap_objid[wrap]]
        place = first
        while t.colind[place] != dof:
            place += 1
        t.entry[wrap] = place - first


@native_over("Model", "TendonRows")
def find_tendon_rows(m: Model, t: Any, fill: int, _unused: int) -> int:
    """Find the addresses of all tendons' rows. If `fill` is set, also write the contents of the rows.

    Return 0, or 1 + the id of a tendon whose path is invalid or contains an object that does not exist.
    """
    total = stored = 0
    for tendon in range(m.ntendon):
        start, number = m.tendon_adr[tendon], m.tendon_num[tendon]
        end = start + number
        if start < 0 or number < 0 or end > m.nwrap:
            return tendon + 1
        t.span[0], t.span[1] = m.nv, -1
        fixed = number > 0 and m.wrap_type[start] == WRAP_JOINT
        if not (_mark_joints(m, t, start, end) if fixed else _mark_segments(m, t, start, end)):
            return tendon + 1
        for dof in range(t.span[0], t.span[1] + 1):
            mark = t.mark[dof]
            if mark == 0:
                continue
            t.mark[dof] = 0
            if mark & _CHANGES:
                if fill:
                    t.colind[total] = dof
                total += 1
            if fill:
                t.stored_colind[stored] = dof
            stored += 1
        t.adr[tendon + 1] = total
        t.stored_adr[tendon + 1] = stored
        if fill and fixed:
            _find_entries(m, t, tendon, start, end)
    return 0
