"""Divergence checks: reset the simulation at NaN or huge numbers, with a warning (spec: computation, stages 1, 23).

The checks are stages that search for such numbers in positions, velocities and accelerations. A check that finds one
stops the step with the status `DIVERGED`, and Python calls `settle_divergence`. This function finds the first field
with a bad number, for the warning, saves the state of the last step that passed the checks, and resets the data. If
the flag ``autoreset`` is disabled, other stages only count warnings.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from cardan.constants import mjMAXVAL
from cardan.dynamics.awake import DOF, POS, STATE_UNSETTLED, settle, span_range
from cardan.enums.codes import WARN_BADQACC, WARN_BADQPOS, WARN_BADQVEL
from cardan.jit import OK, Program, kernel, stage
from cardan.jit.front.stage import Form
from cardan.maths.types import ConstArray1
from cardan.model import internals
from cardan.model.fields_own import MEMORY_WIDTH
from cardan.model.kernel_views import Data, Model
from cardan.model.reset import reset_data
from cardan.step.diagnosis import first_trouble
from cardan.step.report import DIVERGED, count_warning, keep_message, was_told

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

MAXVAL = float(mjMAXVAL)


@kernel
def first_bad(values: ConstArray1, first: int, stop: int) -> int:
    """Return the first index from `first` to `stop` (exclusive) of a number that is NaN or above mjMAXVAL, or -1."""
    # one pass without branches: every comparison with a NaN is false
    good = 0
    for i in range(first, stop):
        good += 1 if abs(values[i]) <= MAXVAL else 0
    if good == stop - first:
        return -1
    for i in range(first, stop):
        if not abs(values[i]) <= MAXVAL:
            return i
    return -1


@kernel
def first_bad_awake(d: Data, values: ConstArray1, column: int) -> int:
    """Do as `first_bad`, for trees that are awake; `column` is POS or DOF (see `cardan.dynamics.awake`).

    Trees that sleep have the values of earlier steps, which have passed the checks: otherwise the trees would wake.
    """
    bad = -1
    for span in range(d.work.nspan):
        first, stop = span_range(d, span, column)
        if bad < 0:
            bad = first_bad(values, first, stop)
    return bad


@kernel
def _diverged(d: Data, kind: int, index: int) -> int:
    d.work.bad_kind = kind
    d.work.bad_index = index
    return DIVERGED


@kernel
def _keep_state(m: Model, d: Data) -> None:
    """Save the full physics state after it has passed the checks."""
    _keep_motion(m, d, 0, m.nq, 0, m.nv)
    _keep_rest_of_state(m, d)


@kernel
def _keep_motion(m: Model, d: Data, first: int, stop: int, dof: int, end: int) -> None:
    """Save qpos from `first` to `stop` (exclusive), and qvel from `dof` to `end` (exclusive)."""
    at = 2
    for i in range(first, stop):
        d.work.good_state[at + i] = d.qpos[i]
    at += m.nq
    for i in range(dof, end):
        d.work.good_state[at + i] = d.qvel[i]


@kernel
def _keep_rest_of_state(m: Model, d: Data) -> None:
    """Save all parts of the physics state except positions and velocities."""
    d.work.good_state[0] = 1.0
    d.work.good_state[1] = d.time
    at = 2 + m.nq + m.nv
    for i in range(m.na):
        d.work.good_state[at + i] = d.act[i]
    at += m.na
    for i in range(m.nhistory):
        d.work.good_state[at + i] = d.history[i]
    at += m.nhistory
    for i in range(m.nstick):
        for k in range(MEMORY_WIDTH):
            d.work.good_state[at + k] = d.stick[i, k]
        at += MEMORY_WIDTH
    for i in range(m.npluginstate):
        d.work.good_state[at + i] = d.plugin_state[i]


@stage
def check_pos(m: Model, d: Data) -> int:
    """Request a reset if qpos contains a bad number (spec: mj_checkPos)."""
    bad = first_bad(d.qpos, 0, m.nq)
    return OK if bad < 0 else _diverged(d, WARN_BADQPOS, bad)


@stage
def check_pos_awake(m: Model, d: Data) -> int:
    """Do as `check_pos`, for trees that are awake."""
    bad = first_bad_awake(d, d.qpos, POS)
    return OK if bad < 0 else _diverged(d, WARN_BADQPOS, bad)


@stage
def check_vel(m: Model, d: Data) -> int:
    """If qvel contains a bad number, request a reset; otherwise, save the last good state (spec: mj_checkVel)."""
    bad = first_bad(d.qvel, 0, m.nv)
    if bad >= 0:
        return _diverged(d, WARN_BADQVEL, bad)
    _keep_state(m, d)
    return OK


@stage
def check_vel_awake(m: Model, d: Data) -> int:
    """Do as `check_vel`, for trees that are awake."""
    bad = first_bad_awake(d, d.qvel, DOF)
    if bad >= 0:
        return _diverged(d, WARN_BADQVEL, bad)
    if d.work.unsettled & STATE_UNSETTLED != 0:
        _keep_motion(m, d, 0, m.nq, 0, m.nv)
        settle(d, STATE_UNSETTLED)
    for span in range(d.work.nspan):
        first, stop = span_range(d, span, POS)
        dof, end = span_range(d, span, DOF)
        _keep_motion(m, d, first, stop, dof, end)
    _keep_rest_of_state(m, d)
    return OK


@stage
def check_acc(m: Model, d: Data) -> int:
    """If qacc contains a bad number, request a reset and the forward dynamics of the new state (spec: mj_checkAcc)."""
    bad = first_bad(d.qacc, 0, m.nv)
    return OK if bad < 0 else _diverged(d, WARN_BADQACC, bad)


@stage
def check_acc_awake(m: Model, d: Data) -> int:
    """Do as `check_acc`, for trees that are awake."""
    bad = first_bad_awake(d, d.qacc, DOF)
    return OK if bad < 0 else _diverged(d, WARN_BADQACC, bad)


@kernel
def _note(d: Data, kind: int, bad: int) -> int:
    if bad >= 0:
        count_warning(d, kind, bad)
    return OK


@stage
def note_pos(m: Model, d: Data) -> int:
    """Count a warning if qpos has a bad number. Replaces `check_pos` if the flag ``autoreset`` is disabled."""
    return _note(d, WARN_BADQPOS, first_bad(d.qpos, 0, m.nq))


@stage
def note_vel(m: Model, d: Data) -> int:
    """Count a warning if qvel has a bad number. Replaces `check_vel` if the flag ``autoreset`` is disabled."""
    return _note(d, WARN_BADQVEL, first_bad(d.qvel, 0, m.nv))


@stage
def note_acc(m: Model, d: Data) -> int:
    """Count a warning if qacc has a bad number. Replaces `check_acc` if the flag ``autoreset`` is disabled."""
    return _note(d, WARN_BADQACC, first_bad(d.qacc, 0, m.nv))


@stage
def reset_diverged(m: Model, d: Data) -> int:
    """Save the last good state, reset the data and count the warning of the failed check.

    If the warning was reported after the user's last reset, it is not reported again. A simulation that diverges
    repeatedly thus reports once. The reset clears the warning counters; `work.auto_resets` counts the divergences.
    """
    kind = d.work.bad_kind
    told = d.work.warned[kind] if d.warning.number[kind] > 0 else 0
    for i in range(len(d.work.good_state)):
        d.work.lost_state[i] = d.work.good_state[i]
    reset_data(m, d)
    d.work.auto_resets += 1
    count_warning(d, kind, d.work.bad_index)
    d.work.warned[kind] = told
    return OK


@cache
def _reset_program(form: Form) -> Program:
    return Program([reset_diverged], form)


def keep_trouble(m: MjModel, d: MjData, kind: int, index: int) -> None:
    """Store the message of a failed check. It describes the first bad number, which the reset will clear."""
    trouble = first_trouble(m, d, kind == WARN_BADQACC)
    keep_message(d, kind, index, f"{trouble}; cardan.last_good_state(d) has the state before")


def settle_divergence(m: MjModel, d: MjData) -> bool:
    """Handle a failed check: store its message unless it was reported before, save the last good state, and reset.

    Return whether the forward dynamics of the new state must be computed.
    """
    kind = internals.number(d, "work.bad_kind")
    if not was_told(d, kind):
        keep_trouble(m, d, kind, internals.number(d, "work.bad_index"))
    _reset_program(internals.form(m)).run(m, d)
    return kind == WARN_BADQACC


@stage
def clear_energy(m: Model, d: Data) -> int:
    """Set the energies to zero. This stage runs if the flag ``energy`` is off (spec: mj_energyPos)."""
    d.energy[0] = 0.0
    d.energy[1] = 0.0
    return OK
