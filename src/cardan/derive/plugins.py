"""Engine plugins in programs of tangents (spec: programming, engine plugins).

The pipeline calls functions of plugins by their addresses, which a transformation can't see through. Here each of
them is called by its name, in a stage of its own: for the instances that have it, so that its tangents are its code's.

What plugins do at the end of a step (`advance`) changes their state for the steps that follow, and nothing else: it is
left out, but for trajectories. What they remember from one evaluation to the next belongs to what a step starts from
(`derive.plugin_memory`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.enums import mjtStage
from cardan.enums.codes import PLUGIN_ACTUATOR, PLUGIN_PASSIVE, PLUGIN_SENSOR
from cardan.jit import OK, stage
from cardan.model.kernel_views import Data, Model
from cardan.plugins.registry import plugin_of
from cardan.step.plugin_stages import (
    ACT_DOT,
    ADVANCE,
    COMPUTE_ACTUATOR,
    COMPUTE_PASSIVE,
    SENSOR_SLOTS,
    begin_plugin_actuators,
    bound_plugin_sensors,
    entries_of,
    plugin_actuators,
    plugin_advance,
    plugin_passive,
    plugin_sensors,
)

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

Stage = Callable[..., Any]

WHENS = (mjtStage.mjSTAGE_POS, mjtStage.mjSTAGE_VEL, mjtStage.mjSTAGE_ACC)


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
    """The stage that calls a function of a plugin for some instances.

    Args:
        function: compiled function of (m, d, instance, argument).
        first: the first instance.
        end: the one after the last.
        argument: what it is called for.
    """

    def called(m: Model, d: Data) -> int:
        for instance in range(first, min(end, m.nplugin)):
            function(m, d, instance, argument)
        return OK

    called.__qualname__ = called.__name__ = f"{function.__qualname__}_of_{first}_{end}"
    return stage(called)


def runs_of(instances: list[int]) -> Iterator[tuple[int, int]]:
    """First and end of each run of consecutive numbers."""
    for run in np.split(instances, np.flatnonzero(np.diff(instances) != 1) + 1) if instances else ():
        yield int(run[0]), int(run[-1]) + 1


def calls_of(m: MjModel, slot: int, argument: int) -> list[Stage]:
    """The stages that call a kind of function of all plugins of a model.

    Args:
        m: model.
        slot: the kind.
        argument: what it is called for.

    Raises:
        NotImplementedError: a function is Python's.
    """
    found: list[Stage] = []
    of_plugin: dict[str, list[int]] = {}
    for instance in range(m.nplugin):
        of_plugin.setdefault(plugin_of(m, instance).name, []).append(instance)
    for name, instances in of_plugin.items():
        plugin = plugin_of(m, instances[0])
        entry = entries_of(plugin).get(slot)
        if entry is None:
            continue
        if isinstance(entry, int):
            raise NotImplementedError(
                f"derivatives through the plugin {name} are not supported: its functions are Python's, and only "
                "compiled ones have exact derivatives. Mark them with cardan.kernel (or numba.njit), or take finite "
                "differences (mjd_transitionFD, mjd_inverseFD)"
            )
        found += [calls(entry, first, end, argument) for first, end in runs_of(instances)]
    return found


def check_results(m: MjModel, fields: list[str]) -> None:
    """Refuse the state of plugins as a result.

    Raises:
        NotImplementedError: it is among the fields.
    """
    if "d.plugin_state" in fields and m.npluginstate:
        raise NotImplementedError("derivatives of plugin_state are not supported: only those by it are")


def plugin_tangents(m: MjModel, stage: Stage, advance: bool) -> list[Stage] | None:
    """What stands for a stage of plugins; None if it is none of them.

    Args:
        m: model.
        stage: the stage.
        advance: whether what plugins do at the end of a step counts.

    Raises:
        NotImplementedError: a function is Python's.
    """
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
