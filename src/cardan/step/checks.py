"""Divergence checks: bad numbers reset the simulation, with a warning (spec: computation, stages 1 and 23)."""

from __future__ import annotations

from typing import Any

from cardan.constants import mjMAXVAL
from cardan.enums.data import mjtWarning
from cardan.jit import OK, kernel, stage
from cardan.model.reset import reset_data
from cardan.step.report import count_warning
from cardan.step.status import FORWARD_AGAIN

MAXVAL = float(mjMAXVAL)
BADQPOS = int(mjtWarning.mjWARN_BADQPOS)
BADQVEL = int(mjtWarning.mjWARN_BADQVEL)
BADQACC = int(mjtWarning.mjWARN_BADQACC)


@kernel
def first_bad(values: Any, n: int) -> int:
    """Index of the first of `n` numbers that is NaN, or beyond mjMAXVAL in size; -1 if there is none."""
    # one pass without branches: a NaN fails every comparison
    good = 0
    for i in range(n):
        good += 1 if abs(values[i]) <= MAXVAL else 0
    if good == n:
        return -1
    for i in range(n):
        if not abs(values[i]) <= MAXVAL:
            return i
    return -1


@kernel
def _reset_with_warning(m: Any, d: Any, kind: int, info: int) -> None:
    reset_data(m, d)
    count_warning(d, kind, info)


@stage
def check_pos(m: Any, d: Any) -> int:
    """Reset if qpos has a bad number (spec: mj_checkPos)."""
    bad = first_bad(d.qpos, m.nq)
    if bad >= 0:
        _reset_with_warning(m, d, BADQPOS, bad)
    return OK


@stage
def check_vel(m: Any, d: Any) -> int:
    """Reset if qvel has a bad number (spec: mj_checkVel)."""
    bad = first_bad(d.qvel, m.nv)
    if bad >= 0:
        _reset_with_warning(m, d, BADQVEL, bad)
    return OK


@stage
def check_acc(m: Any, d: Any) -> int:
    """Reset if qacc has a bad number, and have the forward dynamics of the new state computed (spec: mj_checkAcc)."""
    bad = first_bad(d.qacc, m.nv)
    if bad < 0:
        return OK
    _reset_with_warning(m, d, BADQACC, bad)
    return FORWARD_AGAIN


@stage
def clear_energy(m: Any, d: Any) -> int:
    """Zero the energies, when they are asked for while the flag energy is off (spec: mj_energyPos)."""
    d.energy[0] = 0.0
    d.energy[1] = 0.0
    return OK
