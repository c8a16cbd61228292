"""Plans: what runs for a model, as plain values that can be printed and compared.

A plan follows from a list of the pipeline, a model with its options, and the callbacks that are installed. Making one
compiles nothing and writes nothing. `cardan.step.programs` loads the functions of a plan and writes their addresses
into memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from cardan.collision.detection import collision
from cardan.collision.table import collider_functions
from cardan.plugins.attach_sdf import shape_functions
from cardan.soft.detection import soft_collision
from cardan.step.checks import check_acc
from cardan.step.hooks import colliders_of, filter_of, hook_at
from cardan.step.items import Chosen, Place, Timed, When
from cardan.step.pipeline import FORWARD, RESETTING
from cardan.step.plugin_stages import has_resetting_plugins, plugin_functions, plugin_reset
from cardan.step.report import report_warnings
from cardan.step.support import check_support
from cardan.step.timers import Tick, with_counters

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

Function = Callable[..., Any] | int
"""A stage or another compiled function; or the address of a native function that calls a Python function."""


class FunctionTable(NamedTuple):
    """Functions that stages call through a table of the model.

    Attributes:
        field: the table, a private field of the model.
        functions: functions by their place in the table. All other places have the table's default.
    """

    field: str
    functions: tuple[tuple[int, Function], ...]


class Plan(NamedTuple):
    """What runs for a model.

    Attributes:
        stages: stages in the order in which they run.
        tables: the functions that stages call.
        forward: the plan of the forward dynamics that runs after a stage has reset a bad state; None if none of the
            stages checks accelerations.
        reset: the plan that resets plugins when a stage has reset the state; None if there are no such plugins.
    """

    stages: tuple[Function, ...]
    tables: tuple[FunctionTable, ...] = ()
    forward: Plan | None = None
    reset: Plan | None = None

    @property
    def needs_objects(self) -> bool:
        """Whether Python functions are called, which get the MjModel and MjData objects."""
        return any(isinstance(function, int) for function in self.functions())

    def functions(self) -> Iterator[Function]:
        """All functions: stages, those that stages call, those of the forward dynamics after a reset."""
        yield from self.stages
        for table in self.tables:
            yield from (function for _, function in table.functions)
        for other in (self.forward, self.reset):
            yield from other.functions() if other is not None else ()

    def __str__(self) -> str:
        """The stages by name, then the functions of each table."""
        lines = [*map(function_name, self.stages)]
        for field, functions in self.tables:
            lines += [f"{field}[{place}] = {function_name(function)}" for place, function in functions]
        return "\n".join(lines)


def function_name(function: Function) -> str:
    """Name of a function of a plan."""
    return "Python function" if isinstance(function, int) else function.__name__


def plan_of(m: MjModel, items: tuple[Any, ...]) -> Plan:
    """The plan of a list of the pipeline for a model.

    Args:
        m: model.
        items: the list.

    Raises:
        ValueError: the model asks for something that the stages don't have.
        FatalError: an option has a value that doesn't exist.
    """
    stages = stages_of(m, items)
    plugins, resets = plugin_table(m), check_acc in stages
    tables = (*plugins, *contact_tables(m)) if resets or detects_contacts(stages) else plugins
    forward = Plan((*stages_of(m, FORWARD), report_warnings), tables) if resets else None
    reset = Plan((plugin_reset,), plugins) if has_resetting_plugins(m) else None
    return Plan((*stages, report_warnings), tables, forward, reset)


def stages_of(m: MjModel, items: tuple[Any, ...]) -> tuple[Any, ...]:
    """The stages of a list of the pipeline that a model needs, in order, with callbacks and counters of timers.

    Raises:
        ValueError: the model asks for something that the stages don't have.
        FatalError: an option has a value that doesn't exist.
    """
    stages = tuple(with_counters(_needed(m, items), RESETTING))
    check_support(m, stages)
    return stages


def detects_contacts(stages: Iterable[Any]) -> bool:
    """Whether stages detect contacts, with flexes or without."""
    return any(stage is collision or stage is soft_collision for stage in stages)


def _needed(m: MjModel, items: tuple[Any, ...]) -> Iterator[Any]:
    """The stages and ticks of timers that `m` needs."""
    for item in items:
        if isinstance(item, When):
            if item.needed(m):
                yield from _needed(m, item.items)
        elif isinstance(item, Chosen):
            yield from item.stages_of(m)
        elif isinstance(item, Place):
            hook = hook_at(m, item.name)
            if hook:
                yield hook.entry(*item.variant)
        elif isinstance(item, Timed):
            yield from _timed(m, item)
        else:
            yield item


def _timed(m: MjModel, part: Timed) -> Iterator[Any]:
    """The stages of a timed part, between calls of the clock if there is one, and the tick of its timer."""
    clock = hook_at(m, "time")
    if clock:
        yield clock.entry(part.timer, True)
    yield from _needed(m, part.items)
    if clock:
        yield clock.entry(part.timer, False)
    if part.counts:
        yield Tick(part.timer)


def plugin_table(m: MjModel) -> tuple[FunctionTable, ...]:
    """The functions of the plugins of a model, if it has some."""
    return (FunctionTable("aux.plugin_call", tuple(plugin_functions(m).items())),) if m.nplugin else ()


def contact_tables(m: MjModel) -> tuple[FunctionTable, ...]:
    """The functions that collision detection calls: the filter of pairs, collision functions, shapes."""
    refuses = filter_of(m)
    return (
        FunctionTable("aux.contact_filter", ((0, refuses),) if refuses is not None else ()),
        FunctionTable("aux.collider", tuple(collider_functions(m, colliders_of(m)).items())),
        FunctionTable("aux.sdf_shape", tuple(shape_functions(m).items())),
    )
