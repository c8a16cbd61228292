"""Plans: lists of all stages and functions that run for a model, as plain values that can be printed and compared.

A plan is built from one of the lists in `cardan.step.pipeline`, a model with its options, and the installed callbacks.
Making a plan compiles nothing and writes nothing to memory. `cardan.step.programs` loads the functions of a plan and
writes their addresses into memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from cardan.collision.detection import collision, collision_awake
from cardan.collision.table import collider_functions
from cardan.enums import mjtIntegrator
from cardan.model.sleepers import starts_asleep
from cardan.plugins.sdf import shape_functions
from cardan.soft.contacts import soft_collision
from cardan.step.checks import check_acc, check_acc_awake
from cardan.step.hooks import Callbacks, Hook, callbacks_of
from cardan.step.inverse import continuous_acc_euler
from cardan.step.pipeline import AFTER_RESET, FORWARD, RESETTING, Chosen, Place, Timed, When
from cardan.step.plugin_stages import plugin_functions
from cardan.step.report import report_warnings
from cardan.step.timers import Tick, with_counters

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

Function = Callable[..., Any] | int
"""Stage or other compiled function, or the address of a native function that calls a Python function."""


class FunctionTable(NamedTuple):
    """Table of functions that stages call: name of the model's private field, and the functions by index.

    Other entries of the table are unset.
    """

    field: str
    functions: tuple[tuple[int, Function], ...]


class Plan(NamedTuple):
    """Stages and functions that run for a model.

    Attributes:
        stages: stages in the order in which they run.
        tables: functions that stages call through tables.
        forward: plan of the forward dynamics, run after a bad state was reset; None if no stage checks accelerations.
        reset: plan that runs after a stage has reset the state: it resets plugins, and lets trees sleep; or None.
    """

    stages: tuple[Function, ...]
    tables: tuple[FunctionTable, ...] = ()
    forward: Plan | None = None
    reset: Plan | None = None

    @property
    def needs_objects(self) -> bool:
        """Whether the plan contains Python functions, which get the MjModel and MjData objects."""
        return any(isinstance(function, int) for function in self.functions())

    def functions(self) -> Iterator[Function]:
        """Yield all functions: the stages, the functions that they call, and those of the plans after a reset."""
        yield from self.stages
        for table in self.tables:
            yield from (function for _, function in table.functions)
        for other in (self.forward, self.reset):
            yield from other.functions() if other is not None else ()

    def __str__(self) -> str:
        """List the stages by name, then the functions of each table."""
        lines = [*map(function_name, self.stages)]
        for field, functions in self.tables:
            lines += [f"{field}[{place}] = {function_name(function)}" for place, function in functions]
        return "\n".join(lines)


def function_name(function: Function) -> str:
    """Return the name of a function of a plan."""
    return "Python function" if isinstance(function, int) else function.__name__


class Called(NamedTuple):
    """Kind of function that stages call through a table; `functions_of` returns these functions by index."""

    field: str
    functions_of: Callable[[Any, Callbacks], Mapping[int, Function]]
    by_detection: bool = True  # whether only collision detection calls them


CALLED = (
    Called("aux.plugin_call", lambda m, callbacks: plugin_functions(m), by_detection=False),
    Called("aux.contact_filter", lambda m, callbacks: callbacks.contact_filter),
    Called("aux.collider", lambda m, callbacks: collider_functions(m, callbacks.colliders)),
    Called("aux.sdf_shape", lambda m, callbacks: shape_functions(m)),
)
"""All kinds of functions that stages call through tables."""


def plan_of(m: MjModel, items: tuple[Any, ...], callbacks: Callbacks | None = None) -> Plan:
    """Return the plan of a pipeline list for a model, with `callbacks` or the currently installed callbacks.

    Raises:
        ValueError: the model needs something that does not exist, like a collision function or a plugin.
        FatalError: an option has an invalid value.
    """
    callbacks = callbacks or callbacks_of(m)
    stages = stages_of(m, items, callbacks)
    resets = check_acc in stages or check_acc_awake in stages
    detects = resets or not {collision, collision_awake, soft_collision}.isdisjoint(stages)
    tables = tuple(
        FunctionTable(kind.field, tuple(kind.functions_of(m, callbacks).items()))
        for kind in CALLED
        if detects or not kind.by_detection
    )
    forward = Plan((*stages_of(m, FORWARD, callbacks), report_warnings), tables) if resets else None
    after = stages_of(m, AFTER_RESET, callbacks)
    reset = Plan(after, tables if starts_asleep(m) else tables[:1]) if after else None
    return Plan((*stages, report_warnings), tables, forward, reset)


def stages_of(m: MjModel, items: tuple[Any, ...], callbacks: Callbacks) -> tuple[Any, ...]:
    """Return the stages of a list that a model needs, in order, with callbacks and counters (errors as `plan_of`)."""
    stages = tuple(with_counters(_needed(m, items, callbacks.at), RESETTING))
    if continuous_acc_euler in stages and m.opt.integrator == mjtIntegrator.mjINT_RK4:
        raise ValueError(
            "this model asks for discrete-time inverse dynamics (flag invdiscrete) of the integrator RK4, which Cardan "
            "does not have yet"
        )
    return stages


def _needed(m: MjModel, items: tuple[Any, ...], at: Mapping[str, Hook]) -> Iterator[Any]:
    """Yield the stages, callbacks and timer ticks that `m` needs; `at` contains the installed callbacks by place."""
    for item in items:
        if isinstance(item, When):
            if item.needed(m):
                yield from _needed(m, item.items, at)
        elif isinstance(item, Chosen):
            yield from item.stages_of(m)
        elif isinstance(item, Place):
            if item.name in at:
                yield at[item.name].entry(*item.variant)
        elif isinstance(item, Timed):
            clock = at.get("time")
            if clock:
                yield clock.entry(item.timer, True)
            yield from _needed(m, item.items, at)
            if clock:
                yield clock.entry(item.timer, False)
            if item.counts:
                yield Tick(item.timer)
        else:
            yield item
