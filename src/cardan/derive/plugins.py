"""Engine plugins in programs of tangents, and what they remember (spec: programming, engine plugins).

The pipeline calls functions of plugins by their addresses, which a transformation can't see through. Here each of them
is called by its name, in a stage of its own, for the instances that have it. So its tangents are those of its code.

What plugins do at the end of a step (`advance`) is left out except for trajectories. If they remember evaluations
(`plugins.strain`), a step is a function of what they remember, too: derivatives are those at the memory that the data
has. Programs evaluate a step several times: `recall` lets each of these begin with the same memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.derive.program import Stage
from cardan.enums.codes import PLUGIN_ACTUATOR, PLUGIN_PASSIVE, PLUGIN_SENSOR
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Array1, ConstIntArray1
from cardan.model import internals
from cardan.model.kernel_views import Data, Model
from cardan.plugins.registry import plugin_of
from cardan.step.plugin_stages import (
    ACT_DOT,
    ADVANCE,
    COMPUTE_ACTUATOR,
    COMPUTE_PASSIVE,
    SENSOR_SLOTS,
    SLOTS,
    begin_plugin_actuators,
    bound_plugin_sensors,
    plugin_actuators,
    plugin_advance,
    plugin_functions,
    plugin_passive,
    plugin_sensors,
)
from cardan.tangents.stages import written

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

Functions = Mapping[int, Callable[..., Any] | int]
"""Functions of plugins by their places in a model's table (`step.plugin_stages`)."""
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


def calls_of(m: MjModel, functions: Functions, slot: int, argument: int) -> list[Stage]:
    """The stages that call a kind of function (`slot`) of all plugins, one for each run of consecutive instances.

    Raises:
        NotImplementedError: a function is Python's.
    """
    runs: list[tuple[Stage, int, int]] = []
    for instance in range(m.nplugin):
        function = functions.get(SLOTS * instance + slot)
        if isinstance(function, int):
            raise NotImplementedError(
                f"derivatives through the plugin {internals.plugins(m)[instance]} are not supported: its functions are "
                "Python's, and only compiled ones have exact derivatives. Mark them with cardan.kernel (or "
                "numba.njit), or take finite differences (mjd_transitionFD, mjd_inverseFD)"
            )
        if function is not None:
            first = runs.pop()[1] if runs and runs[-1][::2] == (function, instance) else instance
            runs.append((function, first, instance + 1))
    return [calls(*run, argument) for run in runs]


def plugin_tangents(m: MjModel, functions: Functions, stage: Stage, advance: bool) -> list[Stage] | None:
    """The stages that replace a stage of plugins; None if it is not one of them.

    If `advance`, plugins act at the end of a step, too.
    """
    if stage is plugin_advance:
        return calls_of(m, functions, ADVANCE, 0) if advance else []
    if stage is plugin_passive:
        return calls_of(m, functions, COMPUTE_PASSIVE, PLUGIN_PASSIVE)
    if stage is plugin_actuators:
        rates, forces = ((ACT_DOT, 0), (COMPUTE_ACTUATOR, PLUGIN_ACTUATOR))
        return [actuators_begin, *calls_of(m, functions, *rates), *calls_of(m, functions, *forces)]
    for when, slot in SENSOR_SLOTS.items() if m.nplugin else ():
        if stage is plugin_sensors(when):
            return [*calls_of(m, functions, slot, PLUGIN_SENSOR), sensors_bounded(when)]
    return None


# what plugins remember


def left_behind(functions: Functions, slots: Collection[int] = STEPPED) -> dict[int, frozenset[str]]:
    """Find what each instance's compiled functions of some kinds leave for later evaluations: numbers, states."""
    found: dict[int, frozenset[str]] = {}
    for place, function in functions.items():
        instance, slot = divmod(place, SLOTS)
        if slot in slots and not isinstance(function, int):
            writes = written(calls(function, 0, 1, 0)) & {NUMBER, STATE}
            found[instance] = found.get(instance, frozenset()) | writes
    return found


def places_of(d: MjData, left: Mapping[int, frozenset[str]]) -> np.ndarray:
    """Places in ``d.work.plugin_number`` of the numbers that functions leave for later (`left_behind`)."""
    places, starts = (internals.array(d, f"work.plugin_{name}") for name in ("remembered", "start"))
    writes = np.array([NUMBER in left.get(instance, ()) for instance in range(len(starts) // 2)], bool)
    return places[writes[np.searchsorted(starts[::2], places, side="right") - 1]].copy()


def remembered_numbers(m: MjModel, d: MjData, slots: Collection[int] = STEPPED) -> np.ndarray:
    """Places in ``d.work.plugin_number`` of what functions of some kinds leave for the next evaluation or step."""
    if not len(internals.array(d, "work.plugin_remembered")):
        return np.zeros(0, np.int64)
    return places_of(d, left_behind(plugin_functions(m), slots))


def made_by_the_user(m: MjModel) -> bool:
    """Whether plugins of the user are among those of a model: `init` may make as many numbers as it likes."""
    computing = [plugin_of(m, k).compute for k in range(m.nplugin)]
    return any(compute is None or not f"{compute.__module__}.".startswith(STOCK) for compute in computing)


def begin_memory(d: MjData, left: Mapping[int, frozenset[str]]) -> int:
    """Give data room for what `recall` keeps; returns how many numbers plugins remember, besides their states."""
    places = places_of(d, left)
    internals.attach(d, "work.plugin_remembered", places)
    internals.attach(d, "work.plugin_kept", np.zeros(len(d.plugin_state) + len(places)))
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


@kernel
def exchange_numbers(d: Data, places: ConstIntArray1, kept: Array1, at: int, writes: bool) -> None:
    """Write numbers of plugins at some places into an array from `at` on, or put them back."""
    for k in range(len(places)):
        if writes:
            kept[at + k] = d.work.plugin_number[places[k]]
        else:
            d.work.plugin_number[places[k]] = kept[at + k]


@kernel
def exchange_memory(m: Model, d: Data, kept: Array1, at: int, writes: bool) -> None:
    """Write states of plugins and what they remember into an array from `at` on, or put them back."""
    for i in range(m.npluginstate):
        if writes:
            kept[at + i] = d.plugin_state[i]
        else:
            d.plugin_state[i] = kept[at + i]
    exchange_numbers(d, d.work.plugin_remembered, kept, at + m.npluginstate, writes)


@stage
def gather_memory(m: Model, d: Data) -> int:
    """States of plugins and what they remember behind the state in ``work.outcome``."""
    exchange_memory(m, d, d.work.outcome, 2 * m.nv + m.na, True)
    return OK


@stage
def recall(m: Model, d: Data) -> int:
    """Before an evaluation of a step: keep the memory if it is new (``work.plugin_is_kept`` is 0), else put it back."""
    exchange_memory(m, d, d.work.plugin_kept, 0, d.work.plugin_is_kept == 0)
    d.work.plugin_is_kept = 1
    return OK


@stage
def put_back(m: Model, d: Data) -> int:
    """After a block of directions: put the memory back, with tangents of 0."""
    exchange_memory(m, d, d.work.plugin_kept, 0, False)
    return OK
