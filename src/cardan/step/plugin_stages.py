"""Stages that call the functions of plugins (spec: programming, engine plugins).

A model's table ``aux.plugin_call`` holds the addresses of the functions of each instance, `SLOTS` numbers each. If the
plugin does not have a function, its address is 0.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from cardan.dynamics.actuation import limit_controls, set_activation_rate
from cardan.enums import mjtStage
from cardan.enums.codes import DSBL_SENSOR, PLUGIN_ACTUATOR, PLUGIN_PASSIVE, PLUGIN_SENSOR, SENS_PLUGIN
from cardan.jit import OK, call_collider, kernel, stage
from cardan.model import internals
from cardan.model.kernel_views import Data, Model
from cardan.plugins.registry import Plugin, plugin_of
from cardan.sensor.output import apply_cutoff
from cardan.step.hooks import Hook

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

SLOTS = 8
COMPUTE_ACTUATOR, COMPUTE_PASSIVE, ACT_DOT, ADVANCE, RESET = range(5)
SENSOR_SLOTS = {int(mjtStage.mjSTAGE_POS): 5, int(mjtStage.mjSTAGE_VEL): 6, int(mjtStage.mjSTAGE_ACC): 7}
"""Slots of the functions that compute sensors, by the stage (`mjtStage`) after which they run."""


_known: weakref.WeakKeyDictionary[Plugin, dict[int, Callable[..., Any] | int]] = weakref.WeakKeyDictionary()


def entries_of(plugin: Plugin) -> dict[int, Callable[..., Any] | int]:
    """Return the functions of a plugin by slot, as kernels or addresses of native functions; made on first use."""
    if plugin in _known:
        return _known[plugin]
    found: dict[int, Callable[..., Any] | int] = {}
    if plugin.compute is not None:
        entry = Hook("plugin_compute", plugin.compute).entry()
        slots = {"actuator": COMPUTE_ACTUATOR, "passive": COMPUTE_PASSIVE, "sensor": SENSOR_SLOTS[plugin.needstage]}
        found |= {slot: entry for word, slot in slots.items() if word in plugin.capabilities}
    for word, slot in {"act_dot": ACT_DOT, "advance": ADVANCE, "reset": RESET}.items():
        function = getattr(plugin, word)
        if function is not None:
            found[slot] = Hook("plugin_call", function).entry()
    _known[plugin] = found
    return found


def plugin_functions(m: MjModel) -> dict[int, Callable[..., Any] | int]:
    """Return the plugin functions of all instances by their index in the table. All plugins must be registered."""
    kept = internals.kept(m)
    if "plugin_functions" not in kept:
        kept["plugin_functions"] = {
            SLOTS * instance + slot: entry
            for instance in range(m.nplugin)
            for slot, entry in entries_of(plugin_of(m, instance)).items()
        }
    return kept["plugin_functions"]


def calls_python(m: MjModel) -> bool:
    """Return whether any plugin of a model has Python functions."""
    return any(isinstance(entry, int) for entry in plugin_functions(m).values())


def _has(m: MjModel, slot: int) -> bool:
    """Return whether a plugin of the model has a function for a slot."""
    return m.nplugin > 0 and any(place % SLOTS == slot for place in plugin_functions(m))


def has_passive_plugins(m: MjModel) -> bool:
    """Return whether plugins apply passive forces."""
    return _has(m, COMPUTE_PASSIVE)


def has_actuator_plugins(m: MjModel) -> bool:
    """Return whether plugins compute forces of actuators."""
    return bool((m.actuator_plugin >= 0).any())


def has_sensor_plugins(m: MjModel, when: int) -> bool:
    """Return whether plugins compute sensors after the stage `when` (`mjtStage`)."""
    return _has(m, SENSOR_SLOTS[int(when)])


def has_advancing_plugins(m: MjModel) -> bool:
    """Return whether plugins are called at the end of a time step."""
    return _has(m, ADVANCE)


def has_resetting_plugins(m: MjModel) -> bool:
    """Return whether plugins are called when data are reset."""
    return _has(m, RESET)


# stages ------------------------------------------------------------------------


@kernel
def call_all(m: Model, d: Data, slot: int, argument: int) -> int:
    """Call the function in a slot for every instance that has one; stop at the first status that is not OK."""
    for instance in range(m.nplugin):
        address = m.aux.plugin_call[SLOTS * instance + slot]
        if address != 0:
            status = call_collider(address, m, d, instance, argument)
            if status != OK:
                return status
    return OK


@stage
def plugin_passive(m: Model, d: Data) -> int:
    """Add the passive forces of plugins to qfrc_passive."""
    return call_all(m, d, COMPUTE_PASSIVE, PLUGIN_PASSIVE)


@kernel
def begin_plugin_actuators(m: Model, d: Data) -> None:
    """Set the forces of plugin actuators to 0. If such an actuator has a `dyntype`, set its last activation's rate.

    The controls, limited to their ranges, are first copied to `work.ctrl`.
    """
    limit_controls(m, d)
    for i in range(m.nactuator):
        if m.actuator_plugin[i] >= 0:
            d.actuator_force[m.actuator_outadr[i]] = 0.0
            if m.actuator_dyntype[i] != 0 and m.actuator_actnum[i] > 0:
                set_activation_rate(m, d, i, m.actuator_actadr[i] + m.actuator_actnum[i] - 1, m.actuator_ctrladr[i])


@stage
def plugin_actuators(m: Model, d: Data) -> int:
    """Compute activation rates and forces of plugin actuators (act_dot, actuator_force), before `fwd_actuation`."""
    begin_plugin_actuators(m, d)
    status = call_all(m, d, ACT_DOT, 0)
    if status != OK:
        return status
    return call_all(m, d, COMPUTE_ACTUATOR, PLUGIN_ACTUATOR)


@stage
def plugin_advance(m: Model, d: Data) -> int:
    """Call the `advance` functions of plugins at the end of a time step."""
    return call_all(m, d, ADVANCE, 0)


@stage
def plugin_reset(m: Model, d: Data) -> int:
    """Call the `reset` functions of plugins when data are reset."""
    return call_all(m, d, RESET, 0)


@kernel
def bound_plugin_sensors(m: Model, d: Data, when: int) -> None:
    """Clamp the values of plugin sensors to their cutoffs; `when` is the sensors' `mjtStage`."""
    for i in range(m.nsensor):
        if m.sensor_type[i] == SENS_PLUGIN and m.sensor_needstage[i] == when:
            apply_cutoff(m, d, i)


@cache
def plugin_sensors(when: int) -> Callable[[Any, Any], int]:
    """Return the stage that computes plugin sensors and clamps them to their cutoffs; `when` is their `mjtStage`."""
    slot = SENSOR_SLOTS[int(when)]

    def plugin_sensor(m: Model, d: Data) -> int:
        if m.opt.disableflags & DSBL_SENSOR:
            return OK
        status = call_all(m, d, slot, PLUGIN_SENSOR)
        if status == OK:
            bound_plugin_sensors(m, d, when)
        return status

    plugin_sensor.__qualname__ = f"plugin_sensor_{mjtStage(when).name[8:].lower()}"
    return stage(plugin_sensor)
