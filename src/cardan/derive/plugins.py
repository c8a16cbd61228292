"""Engine plugins in programs of tangents, and what they remember (spec: programming, engine plugins).

The pipeline calls functions of plugins by their addresses, which a transformation can't see through. Here each of them
is called by its name, in a stage of its own, for the instances that have it. So its tangents are those of its code.

What plugins do at the end of a step (`advance`) is left out except for trajectories. If they remember evaluations
(`plugins.strain`), a step is a function of what they remember, too: derivatives are those at the memory that the data
has. Programs evaluate a step several times: `recall` lets each of these begin with the same memory.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from cardan.derive.program import Stage
from cardan.enums import mjtStage
from cardan.enums.codes import PLUGIN_ACTUATOR, PLUGIN_PASSIVE, PLUGIN_SENSOR
from cardan.jit import OK, kernel, stage
from cardan.model import internals
from cardan.model.kernel_views import Data, Model
from cardan.plugins.registry import Plugin, plugin_of
from cardan.step.plugin_stages import (
    ACT_DOT,
    ADVANCE,
    COMPUTE_ACTUATOR,
    COMPUTE_PASSIVE,
    SENSOR_SLOTS,
    SLOTS,
    begin_plugin_actuators,
    bound_plugin_sensors,
    entries_of,
    plugin_actuators,
    plugin_advance,
    plugin_passive,
    plugin_sensors,
)
from cardan.tangents.stages import written

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel
    from cardan.step.plan import Plan

WHENS = (mjtStage.mjSTAGE_POS, mjtStage.mjSTAGE_VEL, mjtStage.mjSTAGE_ACC)
STOCK = "cardan.plugins."
NUMBER, STATE = "d.work.plugin_number", "d.plugin_state"
EVALUATED = (COMPUTE_ACTUATOR, COMPUTE_PASSIVE, *SENSOR_SLOTS.values(), ACT_DOT)
"""Kinds of functions that run in each evaluation of the dynamics."""
STEPPED = (*EVALUATED, ADVANCE)
"""Kinds of functions that run in a step."""


# functions of plugins as stages


@stage
def actuators_begin(m: Model, d: Data) -> int:
    """Rates of the dyntypes of plugins' actuators, and forces of 0."""
    begin_plugin_actuators(m, d)
    return OK


@cache
def sensors_bounded(when: int) -> Stage:
    """The stage that bounds the values of plugins' sensors by their cutoffs."""

    def bounded(m: Model, d: Data) -> int:
        bound_plugin_sensors(m, d, when)
        return OK

    bounded.__qualname__ = bounded.__name__ = f"plugin_sensors_bounded_{when}"
    return stage(bounded)


@cache
def calls(function: Stage, first: int, end: int, argument: int) -> Stage:
    """The stage that calls a function of (m, d, instance, argument) of a plugin for instances `first` to `end` - 1."""

    def called(m: Model, d: Data) -> int:
        for instance in range(first, min(end, m.nplugin)):
            function(m, d, instance, argument)
        return OK

    called.__qualname__ = called.__name__ = f"{function.__qualname__}_of_{first}_{end}"
    return stage(called)


def calls_of(m: MjModel, slot: int, argument: int) -> list[Stage]:
    """The stages that call a kind of function (`slot`) of all plugins, one for each run of consecutive instances.

    Raises:
        NotImplementedError: a function is Python's.
    """
    found: list[Stage] = []
    of_plugin: dict[Plugin, list[int]] = {}
    for instance in range(m.nplugin):
        of_plugin.setdefault(plugin_of(m, instance), []).append(instance)
    for plugin, instances in of_plugin.items():
        entry = entries_of(plugin).get(slot)
        if entry is None:
            continue
        if isinstance(entry, int):
            raise NotImplementedError(
                f"derivatives through the plugin {plugin.name} are not supported: its functions are Python's, and only "
                "compiled ones have exact derivatives. Mark them with cardan.kernel (or numba.njit), or take finite "
                "differences (mjd_transitionFD, mjd_inverseFD)"
            )
        for run in np.split(instances, np.flatnonzero(np.diff(instances) != 1) + 1):
            found.append(calls(entry, int(run[0]), int(run[-1]) + 1, argument))
    return found


def plugin_tangents(m: MjModel, stage: Stage, advance: bool) -> list[Stage] | None:
    """The stages that replace a stage of plugins; None if it is not one of them (`advance`: see `schedule`)."""
    if stage is plugin_advance:
        return calls_of(m, ADVANCE, 0) if advance else []
    if stage is plugin_passive:
        return calls_of(m, COMPUTE_PASSIVE, PLUGIN_PASSIVE)
    if stage is plugin_actuators:
        return [actuators_begin, *calls_of(m, ACT_DOT, 0), *calls_of(m, COMPUTE_ACTUATOR, PLUGIN_ACTUATOR)]
    for when in WHENS if m.nplugin else ():
        if stage is plugin_sensors(int(when)):
            return [*calls_of(m, SENSOR_SLOTS[int(when)], PLUGIN_SENSOR), sensors_bounded(int(when))]
    return None


# what plugins remember


@cache
def memory_written(function: Stage) -> frozenset[str]:
    """Return which of numbers and states a compiled function of a plugin writes."""
    return written(calls(function, 0, 1, 0)) & {NUMBER, STATE}


def writes_memory(plan: Plan, extended: bool) -> bool:
    """Whether plugins may leave something for the next evaluation; or, if `extended`, for the next step."""
    slots = STEPPED if extended else EVALUATED
    functions = dict(plan.tables).get("aux.plugin_call", ())
    return any(
        memory_written(function)
        for place, function in functions
        if place % SLOTS in slots and not isinstance(function, int)
    )


def remembered_numbers(m: MjModel, d: MjData, slots: tuple[int, ...] = STEPPED) -> np.ndarray:
    """Places in ``d.work.plugin_number`` of what functions of some kinds leave for the next evaluation or step."""
    if not m.nplugin:
        return np.zeros(0, np.int64)
    arrays = internals.memory(d).arrays
    places, starts = arrays["work.plugin_remembered"], arrays["work.plugin_start"][::2]
    if not len(places):
        return places
    writes = []
    for instance in range(m.nplugin):
        entries = [entries_of(plugin_of(m, instance)).get(slot) for slot in slots]
        compiled = [entry for entry in entries if entry is not None and not isinstance(entry, int)]
        writes.append(any(NUMBER in memory_written(entry) for entry in compiled))
    return places[np.array(writes)[np.searchsorted(starts, places, side="right") - 1]].copy()


def check_no_memory(m: MjModel, d: MjData, what: str) -> None:
    """Refuse models whose plugins have a state, or remember evaluations; `what` does not work with them.

    Raises:
        NotImplementedError: they have, or do.
    """
    names = ", ".join(sorted({plugin_of(m, k).name for k in range(m.nplugin)}))
    if m.npluginstate:
        raise NotImplementedError(f"{what} of models whose plugins have a state ({names}) are not supported")
    if len(remembered_numbers(m, d, EVALUATED)):
        raise NotImplementedError(f"{what} of models whose plugins remember evaluations ({names}) are not supported")


def made_by_the_user(m: MjModel) -> bool:
    """Whether plugins of the user are among those of a model: `init` may make as many numbers as it likes."""
    computing = [plugin_of(m, k).compute for k in range(m.nplugin)]
    return any(compute is None or not f"{compute.__module__}.".startswith(STOCK) for compute in computing)


def begin_memory(m: MjModel, d: MjData) -> int:
    """Give data room for what `recall` keeps; returns how many numbers plugins remember, besides their states."""
    places = remembered_numbers(m, d)
    internals.attach(d, "work.plugin_remembered", places)
    internals.attach(d, "work.plugin_kept", np.zeros(m.npluginstate + len(places)))
    return len(places)


def check_numbers(own: np.ndarray, other: np.ndarray) -> None:
    """Refuse numbers of plugins that are not as many as those of other data of the same model."""
    if own.shape != other.shape:
        raise ValueError(
            f"derivatives: a plugin's init made {len(other)} numbers for this data and {len(own)} for others of its "
            "model; they must be as many"
        )


@stage
def plant_memory(m: Model, d: Data) -> int:
    """Move states of plugins and what they remember by ``work.seed_memory``, which is 0: only its tangents count."""
    for i in range(m.npluginstate):
        d.plugin_state[i] += d.work.seed_memory[i]
    for k in range(len(d.work.plugin_remembered)):
        d.work.plugin_number[d.work.plugin_remembered[k]] += d.work.seed_memory[m.npluginstate + k]
    return OK


@stage
def gather_memory(m: Model, d: Data) -> int:
    """States of plugins and what they remember behind the state in ``work.outcome``."""
    at = 2 * m.nv + m.na
    for i in range(m.npluginstate):
        d.work.outcome[at + i] = d.plugin_state[i]
    for k in range(len(d.work.plugin_remembered)):
        d.work.outcome[at + m.npluginstate + k] = d.work.plugin_number[d.work.plugin_remembered[k]]
    return OK


@kernel
def _put_back(m: Model, d: Data) -> None:
    for i in range(m.npluginstate):
        d.plugin_state[i] = d.work.plugin_kept[i]
    for k in range(len(d.work.plugin_remembered)):
        d.work.plugin_number[d.work.plugin_remembered[k]] = d.work.plugin_kept[m.npluginstate + k]


@stage
def recall(m: Model, d: Data) -> int:
    """Before an evaluation of a step: keep the memory if it is new (``work.plugin_is_kept`` is 0), else put it back."""
    if d.work.plugin_is_kept != 0:
        _put_back(m, d)
        return OK
    for i in range(m.npluginstate):
        d.work.plugin_kept[i] = d.plugin_state[i]
    for k in range(len(d.work.plugin_remembered)):
        d.work.plugin_kept[m.npluginstate + k] = d.work.plugin_number[d.work.plugin_remembered[k]]
    d.work.plugin_is_kept = 1
    return OK


@stage
def put_back(m: Model, d: Data) -> int:
    """After a block of directions: put the memory back, with tangents of 0."""
    _put_back(m, d)
    return OK
