"""Engine plugins in tangent programs, and the memory of plugins (spec: programming, engine plugins).

The pipeline calls functions of plugins by address, and tangents cannot be derived through addresses. In this module,
each function is called by name in a separate stage, for the instances that have it. Its tangents are those of its code.

The functions that plugins run at the end of a step (`advance`) are left out, except for trajectories. If plugins
remember evaluations (`plugins.strain`), a step also depends on this memory, and derivatives are taken at the memory in
the data. Programs evaluate a step several times; `recall` lets each evaluation begin with the same memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.constraint.stick import SLIDE
from cardan.derive.program import Stage
from cardan.enums.codes import PLUGIN_ACTUATOR, PLUGIN_PASSIVE, PLUGIN_SENSOR
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Array1, ConstIntArray1
from cardan.model import internals
from cardan.model.fields_own import MEMORY_WIDTH
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
"""Functions of plugins by their indices in a model's table (`step.plugin_stages`)."""
STOCK = "cardan.plugins."
NUMBER, STATE = "d.work.plugin_number", "d.plugin_state"
EVALUATED = (COMPUTE_ACTUATOR, COMPUTE_PASSIVE, *SENSOR_SLOTS.values(), ACT_DOT)
"""Kinds of functions that run in each evaluation of the dynamics."""
STEPPED = (*EVALUATED, ADVANCE)
"""Kinds of functions that run in a step."""


# functions of plugins as stages


@stage
def actuators_begin(m: Model, d: Data) -> int:
    """Set the forces of plugin actuators to 0. If an actuator has a `dyntype`, compute its last activation's rate."""
    begin_plugin_actuators(m, d)
    return OK


@cache
def sensors_bounded(when: int) -> Stage:
    """Make the stage that clamps the values of plugin sensors to their cutoffs, for sensors of the stage `when`."""

    def bounded(m: Model, d: Data) -> int:
        bound_plugin_sensors(m, d, when)
        return OK

    bounded.__qualname__ = bounded.__name__ = f"plugin_sensors_bounded_{when}"
    return stage(bounded)


@cache
def calls(function: Stage, first: int, end: int, argument: int) -> Stage:
    """Make a stage that calls ``function(m, d, instance, argument)`` for the plugin instances `first` to `end` - 1."""

    def called(m: Model, d: Data) -> int:
        for instance in range(first, min(end, m.nplugin)):
            function(m, d, instance, argument)
        return OK

    called.__qualname__ = called.__name__ = f"{function.__qualname__}_of_{first}_{end}"
    return stage(called)


def calls_of(m: MjModel, functions: Functions, slot: int, argument: int) -> list[Stage]:
    """Make stages that call the functions of kind `slot` of all plugins: one per run of instances with one function.

    Raises:
        NotImplementedError: a function is not compiled.
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
    """Return the stages that replace a stage of plugins, or None if `stage` is not a stage of plugins.

    If `advance` is not set, the functions that plugins run at the end of a step are left out.
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


# memory of plugins


def left_behind(functions: Functions, slots: Collection[int] = STEPPED) -> dict[int, frozenset[str]]:
    """Return the kinds of memory (`NUMBER`, `STATE`) that functions of the kinds `slots` write, by plugin instance.

    Only compiled functions are examined.
    """
    found: dict[int, frozenset[str]] = {}
    for place, function in functions.items():
        instance, slot = divmod(place, SLOTS)
        if slot in slots and not isinstance(function, int):
            writes = written(calls(function, 0, 1, 0)) & {NUMBER, STATE}
            found[instance] = found.get(instance, frozenset()) | writes
    return found


def places_of(d: MjData, left: Mapping[int, frozenset[str]]) -> np.ndarray:
    """Indices in ``d.work.plugin_number`` of the numbers that functions write for later use (`left_behind`)."""
    places, starts = (internals.array(d, f"work.plugin_{name}") for name in ("remembered", "start"))
    writes = np.array([NUMBER in left.get(instance, ()) for instance in range(len(starts) // 2)], bool)
    return places[writes[np.searchsorted(starts[::2], places, side="right") - 1]].copy()


def remembered_numbers(m: MjModel, d: MjData, slots: Collection[int] = STEPPED) -> np.ndarray:
    """Indices in ``d.work.plugin_number`` of the numbers that functions of the kinds `slots` write for later use."""
    if not len(internals.array(d, "work.plugin_remembered")):
        return np.zeros(0, np.int64)
    return places_of(d, left_behind(plugin_functions(m), slots))


def made_by_the_user(m: MjModel) -> bool:
    """Return whether a model has user-defined plugins. The `init` of such a plugin can create any number of values."""
    computing = [plugin_of(m, k).compute for k in range(m.nplugin)]
    return any(compute is None or not f"{compute.__module__}.".startswith(STOCK) for compute in computing)


def begin_memory(d: MjData, left: Mapping[int, frozenset[str]]) -> int:
    """Allocate the memory that `recall` uses. Return how many numbers plugins remember, without their states."""
    places = places_of(d, left)
    internals.attach(d, "work.plugin_remembered", places)
    internals.attach(d, "work.plugin_kept", np.zeros(len(d.plugin_state) + len(places) + d.stick.size))
    return len(places)


def check_numbers(own: np.ndarray, other: np.ndarray) -> None:
    """Raise ValueError if the plugins of two data of one model have stored different numbers of values."""
    if own.shape != other.shape:
        raise ValueError(
            f"derivatives: a plugin's init made {len(other)} numbers for this data and {len(own)} for others of its "
            "model; they must be as many"
        )


VARYING = MEMORY_WIDTH - SLIDE
"""Numbers of a remembered contact that have derivatives: deformations and normal force, at the end of its row."""


def contact_memory(m: MjModel) -> int:
    """Return the number of values with derivatives that a model's contacts remember."""
    return VARYING * m.nstick


@stage
def plant_memory(m: Model, d: Data) -> int:
    """Add ``work.seed_memory`` to the memory of plugins and contacts: its values are 0, its tangents the directions."""
    for i in range(m.npluginstate):
        d.plugin_state[i] += d.work.seed_memory[i]
    for k in range(len(d.work.plugin_remembered)):
        d.work.plugin_number[d.work.plugin_remembered[k]] += d.work.seed_memory[m.npluginstate + k]
    at = m.npluginstate + len(d.work.plugin_remembered)
    for i in range(m.nstick):
        for k in range(VARYING):
            d.stick[i, SLIDE + k] += d.work.seed_memory[at + VARYING * i + k]
    return OK


@kernel
def exchange_numbers(d: Data, places: ConstIntArray1, kept: Array1, at: int, writes: bool) -> None:
    """Copy the numbers of plugins at `places` to `kept[at:]` if `writes` is set, otherwise back."""
    for k in range(len(places)):
        if writes:
            kept[at + k] = d.work.plugin_number[places[k]]
        else:
            d.work.plugin_number[places[k]] = kept[at + k]


@kernel
def exchange_memory(m: Model, d: Data, kept: Array1, at: int, writes: bool, first: int) -> None:
    """Copy states and memory of plugins, then that of contacts, to `kept[at:]` if `writes` is set, otherwise back.

    Of contacts, the numbers from `first` on are copied.
    """
    for i in range(m.npluginstate):
        if writes:
            kept[at + i] = d.plugin_state[i]
        else:
            d.plugin_state[i] = kept[at + i]
    exchange_numbers(d, d.work.plugin_remembered, kept, at + m.npluginstate, writes)
    at += m.npluginstate + len(d.work.plugin_remembered)
    for i in range(m.nstick):
        for k in range(first, MEMORY_WIDTH):
            if writes:
                kept[at] = d.stick[i, k]
            else:
                d.stick[i, k] = kept[at]
            at += 1


@stage
def gather_memory(m: Model, d: Data) -> int:
    """Write states and memory of plugins, and what varies of contacts' memory, to ``work.outcome``, after the state."""
    exchange_memory(m, d, d.work.outcome, 2 * m.nv + m.na, True, SLIDE)
    return OK


@stage
def recall(m: Model, d: Data) -> int:
    """Restore the memory of plugins and contacts before an evaluation; save it if ``work.plugin_is_kept`` is 0."""
    exchange_memory(m, d, d.work.plugin_kept, 0, d.work.plugin_is_kept == 0, 0)
    d.work.plugin_is_kept = 1
    return OK


@stage
def put_back(m: Model, d: Data) -> int:
    """Restore the memory of plugins and contacts after a block of directions, with tangents of 0."""
    exchange_memory(m, d, d.work.plugin_kept, 0, False, 0)
    return OK
