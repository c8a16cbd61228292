"""Execution of programs: the stages run natively until a stage makes a request, which Python handles.

A stage makes a request by returning a status. Examples: a capacity of the arena must grow, a callback raised an
exception, a collision function is not compiled yet, the state was reset, new warnings were counted. `ANSWERS` maps each
status to a function that handles it. Then the same stage runs again, or the next stage if the function has advanced the
position. Programs may run on different data in different threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.collision.table import attach_missing_collider
from cardan.constraint.equality import UNKNOWN_EQUALITY
from cardan.dynamics.anchors import has_objects, object_count
from cardan.enums.model import mjtEq
from cardan.errors import FatalError
from cardan.jit import CALLBACK_FAILED, COLLIDER_MISSING, Program
from cardan.jit.driver.program import PAUSED
from cardan.jit.front.stage import HERE, Form
from cardan.jit.memory.fields import WORDS, Struct
from cardan.jit.memory.layout import address_of
from cardan.jit.memory.struct import Shared
from cardan.model import internals
from cardan.model.mjdata import ArenaHeld
from cardan.model.tables import CAPACITIES
from cardan.step.checks import settle_divergence
from cardan.step.hooks import ObjectsMissing, colliders_of, running, take_error
from cardan.step.report import DIVERGED, WARNED, report
from cardan.threads import Job

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel
    from cardan.step.plan import Plan

Answer = Callable[[Program, Any, Any], None]


class StepProgram(Program):
    """A program of the simulation pipeline.

    Attributes:
        needs_objects: whether it calls Python functions, which get the MjModel and MjData objects.
        forward, reset: programs that run after a stage has reset the state, or None.
        answers: functions that handle requests, by status.
        code: object that keeps loaded the functions whose addresses are stored in the model and called by stages.

    Args:
        plan: stages and functions to run.
        answers: functions that handle requests in addition to (or instead of) those of `ANSWERS`.
        form: form of the stages' native code.
        whole: plan that contains `plan`; None if `plan` is not part of another plan.
    """

    def __init__(
        self, plan: Plan, answers: Mapping[int, Answer] | None = None, form: Form = HERE, whole: Plan | None = None
    ) -> None:
        super().__init__(plan.stages, form)
        self.plan, whole = plan, whole or plan
        self.needs_objects = whole.needs_objects
        self.forward, self.reset = (
            None if part is None else StepProgram(part, form=form, whole=whole) for part in (plan.forward, plan.reset)
        )
        self.answers: Mapping[int, Answer] = {**ANSWERS, **(answers or {})}
        self.code: Any = None


def run(program: Program, m: MjModel, d: MjData, repeat: int = 1, job: Job | None = None) -> None:
    """Run all stages of a program (a `StepProgram` or a plain one) `repeat` times, and handle their requests.

    The program pauses every few milliseconds, so that signal handlers can run. An exception of a handler, or the
    cancellation of ``job``, ends the run between two repetitions.

    Raises:
        BaseException: exception that a Python callback or a signal handler raised.
    """
    if getattr(program, "needs_objects", False):
        before = running.objects
        try:
            running.objects = (m, d)
            settle(program.run(m, d, repeat), program, m, d, repeat, job)
        finally:
            running.objects = before
        return
    status = program.run(m, d, repeat)
    if status:
        settle(status, program, m, d, repeat, job)


def settle(status: int, program: Program, m: MjModel, d: MjData, repeat: int, job: Job | None = None) -> None:
    """Handle the request of the stage that stopped, and continue, until the program has finished (see `run`).

    `status` is the stage's status; `program`, `repeat` and `job` are those of `run`.
    """
    before = running.objects
    try:
        running.objects = (m, d)
        while status and not (job and job.cancelled):
            if status != PAUSED:
                answer(status, program, m, d)
            status = program.resume(m, d, repeat)
    finally:
        running.objects = before


def answer(status: int, program: Program, m: MjModel, d: MjData) -> None:
    """Call the function that handles the request `status` of the stopped stage; raise RuntimeError if there is none."""
    answers: Mapping[int, Answer] = getattr(program, "answers", ANSWERS)
    if status not in answers:
        raise RuntimeError(f"stage {int(internals.position(d)[0])} of a program returned the unknown status {status}")
    answers[status](program, m, d)


@contextmanager
def attached(d: MjData, arrays: Mapping[str, np.ndarray]) -> Iterator[None]:
    """Context manager that attaches arrays to private fields of `d`, and empties the fields at the end.

    Arrays that are not contiguous, or have another dtype than the field, are copied.
    """
    memory, names = internals.memory(d), tuple(arrays)
    slots, nothing = _nothing(memory.struct, names)
    held = {name: np.ascontiguousarray(arrays[name], nothing.arrays[name].dtype) for name in names}
    rows = [(address_of(array), len(array), array.size // max(len(array), 1)) for array in held.values()]
    try:
        memory.share(Shared(held, slots, np.array(rows, np.int64).reshape(-1, WORDS)))
        internals.forget_view(d)
        yield
    finally:
        memory.share(nothing)
        internals.forget_view(d)


@cache
def _nothing(struct: Struct, names: tuple[str, ...]) -> tuple[np.ndarray, Shared]:
    """Return the slot numbers of some fields, and empty arrays for these fields."""
    slots = np.array([struct.slot[name] for name in names], np.intp)
    empty = {name: np.zeros(0, struct.by_name[name].numpy_dtype) for name in names}
    rows = [(address_of(array), 0, 1) for array in empty.values()]
    return slots, Shared(empty, slots, np.array(rows, np.int64).reshape(-1, WORDS))


def _grow(capacity: str) -> Answer:
    def grow(program: Program, m: MjModel, d: MjData) -> None:
        need = internals.number(d, "work.need")
        if need > 0:  # otherwise, the user's memory limit is reached, and the stage does without
            d.grow(capacity, need)

    return grow


def _answer_callback_error(program: Program, m: MjModel, d: MjData) -> None:
    """Raise the exception of a callback, unless it is enough to run the stage again.

    Running again is enough if the arena was too small (the arena grows here), or if the callback did not get the model
    and the data (`settle` has set them now).
    """
    error = take_error()
    if isinstance(error, ObjectsMissing) and running.objects is not None:
        return
    if not isinstance(error, ArenaHeld):
        raise error
    d.grow(error.capacity, error.need)


def _attach_collider(program: Program, m: MjModel, d: MjData) -> None:
    attach_missing_collider(m, d, colliders_of(m))


def _reset_diverged(program: Program, m: MjModel, d: MjData) -> None:
    stage, repetition = internals.position(d).tolist()
    forward = getattr(program, "forward", None)
    again = settle_divergence(m, d)
    reset = getattr(program, "reset", None)
    if reset is not None:
        run(reset, m, d)
    if again and forward is not None:
        run(forward, m, d)
    internals.position(d)[:] = stage + 1, repetition


def _refuse_equality(program: Program, m: Any, d: MjData) -> None:
    """Raise the error for an active equality with unknown type or objects. Only edits of a model can cause this."""
    last = int(mjtEq.mjEQ_FLEX)
    wrong = next(int(e) for e in np.flatnonzero(d.eq_active) if not has_objects(m, int(e)))
    kind = int(internals.array(m, "eq_type")[wrong])
    if not 0 <= kind <= last:
        raise FatalError(f"mj_ne: unknown constraint type {kind}: eq_type[{wrong}] should be 0 to {last}")
    raise FatalError(
        f"mj_ne: equality {wrong} of type {mjtEq(kind).name} is of objects that are not there: eq_obj1id[{wrong}] is "
        f"{m.eq_obj1id[wrong]}, eq_obj2id[{wrong}] is {m.eq_obj2id[wrong]}; of this type there are "
        f"{object_count(m, wrong)}"
    )


def _report_warnings(program: Program, m: MjModel, d: MjData) -> None:
    report(d)


ANSWERS: dict[int, Answer] = {
    **{number: _grow(capacity) for number, capacity in enumerate(CAPACITIES, start=1)},
    COLLIDER_MISSING: _attach_collider,
    CALLBACK_FAILED: _answer_callback_error,
    DIVERGED: _reset_diverged,
    WARNED: _report_warnings,
    UNKNOWN_EQUALITY: _refuse_equality,
}
