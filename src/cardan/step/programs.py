"""Programs of a model: plans made ready to run.

`plan_of` selects the functions to run. This module loads these functions (and compiles missing ones), writes the
model's function tables, and stores the programs with the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from cardan.dynamics.actuation import ACTUATION_STALE
from cardan.enums import mjtStage
from cardan.enums.codes import SLEEP_INIT
from cardan.errors import FatalError
from cardan.jit import addresses
from cardan.model import internals
from cardan.model.mjmodel import MjModel
from cardan.plugins.sdf import attach_shape_data
from cardan.step.hooks import hooks
from cardan.step.pipeline import ACTUATOR_FORCES, PROGRAMS, skip_items
from cardan.step.plan import FunctionTable, Plan, plan_of
from cardan.step.report import tell
from cardan.step.run import ANSWERS, StepProgram, run
from cardan.step.sleep import FELL_ASLEEP, SLEEP_REFUSED

DATA_OF = {"aux.sdf_shape": attach_shape_data}
"""Functions that attach the arrays needed by the functions of a table, by the table's name."""
MOST_EARLIER = 64
"""Maximum number of programs for earlier settings that a model keeps. At this number, all of them are dropped."""


def cached_program(m: MjModel, key: Any, items: tuple[Any, ...], **answers: Any) -> StepProgram:
    """Return the program that a model keeps under a key; make it if necessary.

    Programs made for earlier callbacks are dropped; those for earlier settings are kept and reused. Errors are those of
    `plan_of`; `answers` are those of `StepProgram`.
    """
    now = hooks.version
    programs = internals.programs(m)
    found = programs.get(key, now)
    return programs.of(key, now, lambda: _program_again(m, key, now, items, answers)) if found is None else found


def _program_again(
    m: MjModel, key: Any, version: int, items: tuple[Any, ...], answers: Mapping[str, Any]
) -> StepProgram:
    """Return an earlier program for the same settings (its tables are rewritten), or make and keep a new program."""
    earlier, setting = internals.programs(m).earlier, (key, version, m.settings())
    found = earlier.get(setting)
    if found is not None:
        write_tables(m, found.plan.tables)
        return found
    found = make_program(m, plan_of(m, items), **answers)
    if len(earlier) >= MOST_EARLIER:
        earlier.clear()
    if m.settings() == setting[2]:  # otherwise, another thread or a signal handler has set an option meanwhile
        earlier[setting] = found
    return found


def make_program(m: MjModel, plan: Plan, **answers: Any) -> StepProgram:
    """Make the program of a plan ready to run; `answers` as in `StepProgram`."""
    form = internals.form(m)
    addresses([function for function in plan.functions() if not isinstance(function, int)], form)  # all at once
    program = StepProgram(plan, form=form, **answers)
    program.code = write_tables(m, plan.tables)
    return program


def write_tables(m: MjModel, tables: Iterable[FunctionTable]) -> Any:
    """Load the functions that stages call, write their addresses into the tables of a model, and attach their data.

    Return objects that keep loaded both these functions and those that are written to the tables later.
    """
    later = internals.later_functions(m)
    for field, functions in tables:
        m.put_functions(field, functions)
        if functions and field in DATA_OF:
            DATA_OF[field](m)
    return later, internals.functions(m)


def program(m: MjModel, name: str) -> StepProgram:
    """Return the program of a public function that has no further arguments; `name` is a key of `PROGRAMS`."""
    return cached_program(m, name, PROGRAMS[name])


def step_program(m: MjModel) -> StepProgram:
    """Return the program of one time step."""
    return program(m, "mj_step")


def skip_program(m: MjModel, name: str, skipstage: int, skipsensor: bool) -> StepProgram:
    """Return the program of `mj_forwardSkip` or `mj_inverseSkip`, which omits early parts and optionally sensors."""
    items = skip_items(name, skipstage, skipsensor)
    return cached_program(m, (name, min(skipstage, 2), bool(skipsensor)), items)


def functions_ahead(m: MjModel, items: tuple[Any, ...]) -> list[Callable[..., Any]]:
    """Return the functions of a list, for compilation in advance; an empty list if the model cannot run `items`."""
    try:
        return [function for function in plan_of(m, items).functions() if not isinstance(function, int)]
    except (ValueError, FatalError):
        return []


def _renew_actuation(running: Any, m: MjModel, d: Any) -> None:
    """Compute actuator forces with the stages for the edited actuator types, and continue after the current stage.

    All cached programs of the model are discarded.
    """
    stage, repetition = (int(k) for k in internals.position(d))
    with internals.programs(m).lock:
        internals.programs(m).clear()
        forces = make_program(m, plan_of(m, ACTUATOR_FORCES))
    run(forces, m, d)
    internals.position(d)[:] = stage + 1, repetition


ANSWERS[ACTUATION_STALE] = _renew_actuation


def _settle(running: Any, m: MjModel, d: Any) -> None:
    """Run forward dynamics again from the velocities on, for trees that fall asleep."""
    stage, repetition = (int(k) for k in internals.position(d))
    run(skip_program(m, "mj_forwardSkip", int(mjtStage.mjSTAGE_POS), False), m, d)
    internals.position(d)[:] = stage, repetition


ANSWERS[FELL_ASLEEP] = _settle


def start_asleep(m: MjModel, d: Any) -> None:
    """Let the trees with the policy ``init`` sleep, in data that are in the default state."""
    run(program(m, "start_asleep"), m, d)


def _report_refusal(running: Any, m: MjModel, d: Any) -> None:
    """Warn of trees with the policy ``init`` that stay awake, and continue after the current stage."""
    stage, repetition = (int(k) for k in internals.position(d))
    awake = (m.tree_sleep_policy == SLEEP_INIT) & (d.tree_asleep < 0)
    body = int(m.tree_bodyadr[int(np.argmax(awake))])
    wanted = int(np.sum(m.tree_sleep_policy == SLEEP_INIT))
    tell(
        f"{wanted} trees were marked as sleep='init' but only {wanted - int(awake.sum())} could be slept. Body "
        f"'{m.body(body).name}' (id={body}) is the root of the first tree that could not be slept."
    )
    internals.position(d)[:] = stage + 1, repetition


ANSWERS[SLEEP_REFUSED] = _report_refusal
