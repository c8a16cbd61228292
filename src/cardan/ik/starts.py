"""Random configurations from which solutions are sought."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cardan.enums.codes import JNT_FREE, JNT_SLIDE

if TYPE_CHECKING:
    from cardan.ik.problem import Problem

RANGE = 0.5
"""Half of the range, m, in which slides without limits and free joints start, around their values in the first
configuration."""
SEED = 20261


def table_of_starts(problem: Problem, base: np.ndarray, count: int) -> np.ndarray:
    """Return `count` configurations, (count, nq): `base`, then random ones, always the same.

    Hinges and slides are uniform within their limits, hinges without limits in a full turn. Ball and free joints have
    uniform orientations.
    """
    m, random = problem.m, np.random.default_rng(SEED)
    table = np.repeat(base[None], count, 0)
    kind = m.jnt_type[m.dof_jntid[problem.dof]]
    for c in np.flatnonzero(problem.scalar):
        adr = m.jnt_qposadr[m.dof_jntid[problem.dof[c]]]
        middle, half = (base[adr], RANGE) if kind[c] == JNT_SLIDE else (0.0, np.pi)
        low, high = problem.tables["low"][c], problem.tables["high"][c]
        low = low if np.isfinite(low) else min(middle - half, high)
        high = high if np.isfinite(high) else max(middle + half, low)
        table[1:, adr] = random.uniform(low, high, max(0, count - 1))
    for joint in problem.joint:
        if joint in m.dof_jntid[problem.dof[~problem.scalar]]:
            adr = int(m.jnt_qposadr[joint])
            if m.jnt_type[joint] == JNT_FREE:
                table[1:, adr : adr + 3] += random.uniform(-RANGE, RANGE, (max(0, count - 1), 3))
                adr += 3
            quats = random.normal(size=(max(0, count - 1), 4))
            table[1:, adr : adr + 4] = quats / np.linalg.norm(quats, axis=1, keepdims=True)
    return table
