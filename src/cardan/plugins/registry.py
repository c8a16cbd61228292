"""Registry of engine plugins; models name them in ``extension/plugin`` (spec: programming, engine plugins).

A plugin has attributes, which a model sets as text, and functions for one or more capabilities: forces of actuators,
values of sensors, passive forces, a signed-distance shape. An *instance* of a plugin is defined in the model, with
values of the attributes, and may have a state in the data. Models store the names of their plugins, so they do not
depend on the order of registration.

Functions are plain Python functions or compiled functions: Numba functions, and functions marked with `cardan.kernel`.
Packages provide plugins by the entry-point group ``cardan.plugins``. An entry point names a function without arguments
that registers the plugins, or a module that does so when it is imported. Entry points are loaded when a model names a
plugin that is not registered.

For compiled functions, the data of instances is in two arrays, filled from the results of `init`. The numbers of an
instance start at `numbers_of(d, instance)` in ``d.work.plugin_number``, its integers at `indices_of(d, instance)` in
``d.work.plugin_index``. Each MjData, even a copy, has its own arrays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.collision.sdf.shape import Shape
from cardan.enums import mjtStage
from cardan.enums.codes import PLUGIN_ACTUATOR, PLUGIN_PASSIVE, PLUGIN_SDF, PLUGIN_SENSOR
from cardan.errors import PluginError
from cardan.jit import kernel
from cardan.model import internals
from cardan.model.kernel_views import Data

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

Config = Mapping[str, str]
Size = int | Callable[[Config], int]
Function = Callable[..., Any]

_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|inf|nan)", re.IGNORECASE)
CAPABILITIES = {"actuator": PLUGIN_ACTUATOR, "sensor": PLUGIN_SENSOR, "passive": PLUGIN_PASSIVE, "sdf": PLUGIN_SDF}
PURPOSES = {
    "actuator": "actuator forces",
    "sensor": "sensors",
    "passive": "passive forces",
    "sdf": "signed distance fields",
}


@dataclass(frozen=True, eq=False)
class Plugin:
    """Registered plugin. See `register_plugin` for the attributes; only signed-distance shapes have a `shape`."""

    name: str
    attributes: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    needstage: int = int(mjtStage.mjSTAGE_ACC)
    nstate: Size = 0
    nsensordata: Size = 0
    actdim: Size = 0
    validate: Callable[[Config], Any] | None = None
    init: Function | None = None
    reset: Function | None = None
    compute: Function | None = None
    act_dot: Function | None = None
    advance: Function | None = None
    copy: Function | None = None
    destroy: Function | None = None
    visualize: Function | None = None
    shape: Shape | None = None

    @property
    def flags(self) -> int:
        """Capabilities as bits (`mjtPluginCapabilityBit`)."""
        return sum(CAPABILITIES[word] for word in self.capabilities)

    def check(self, config: Config) -> None:
        """Raise ValueError if a configuration has unknown attributes or invalid values."""
        for key in config:
            if key not in self.attributes:
                known = ", ".join(self.attributes) or "none"
                raise ValueError(f"{self.name} has no attribute {key!r}; it has: {known}")
        if self.shape is not None:
            self.shape.values(config)
        if self.validate is not None:
            self.validate(config)


SENSED = (mjtStage.mjSTAGE_POS, mjtStage.mjSTAGE_VEL, mjtStage.mjSTAGE_ACC)
"""Stages after which sensors are computed."""
PLUGINS: dict[str, Plugin] = {}
"""Registered plugins by name. A plugin's number in ``m.plugin`` is its position in this dictionary."""

_stock: set[str] = set()


def add_stock(plugin: Plugin) -> None:
    """Register a built-in plugin, which users cannot replace."""
    PLUGINS[plugin.name] = plugin
    _stock.add(plugin.name)


def register_plugin(
    name: str,
    *,
    capabilities: Iterable[str] = (),
    attributes: Iterable[str] = (),
    needstage: int = mjtStage.mjSTAGE_ACC,
    nstate: Size = 0,
    nsensordata: Size = 0,
    actdim: Size = 0,
    validate: Callable[[Config], Any] | None = None,
    init: Function | None = None,
    reset: Function | None = None,
    compute: Function | None = None,
    act_dot: Function | None = None,
    advance: Function | None = None,
    copy: Function | None = None,
    destroy: Function | None = None,
    visualize: Function | None = None,
) -> None:
    """Register an engine plugin, which models then use by its name. For shapes, use `register_sdf`.

    `compute`, `act_dot`, `advance` and `reset` may be Python functions, which get the MjModel and MjData objects. They
    may also be compiled functions (Numba functions, or functions marked with `cardan.kernel`), which run without the
    GIL. Sizes are numbers, or functions of the configuration, a mapping of attribute to text.

    Args:
        name: name of the plugin, such as ``"my.plugin"``. In models made later, it replaces a user plugin of this name.
        capabilities: "actuator", "sensor", "passive".
        attributes: names of the attributes that an instance may set in ``config``.
        needstage: `mjtStage` after which sensors are computed.
        nstate: number of state elements of an instance in ``d.plugin_state``, from ``m.plugin_stateadr[instance]``.
        nsensordata: number of elements of a sensor's value.
        actdim: number of activations of an actuator, without the activation of its dyntype, which follows them.
        validate: takes the configuration and raises ValueError if it is invalid; called by the compiler.
        init: (m, d, instance) -> data of the instance, called when an MjData is made. Returns any object, which Python
            functions get by `plugin_data`, or a float64 array, which compiled functions read by `plugin_number`.
        reset: (m, d, instance), called by `mj_resetData` after all states are set to zero.
        compute: (m, d, instance, capability), with the bit of a capability (`mjtPluginCapabilityBit`). It writes
            ``d.actuator_force`` of the actuators with ``m.actuator_plugin == instance``, or ``d.sensordata`` of the
            instance's sensors, or adds passive forces to ``d.qfrc_passive``.
        act_dot: (m, d, instance), writes ``d.act_dot`` of the plugin's own activations, before `compute`.
        advance: (m, d, instance), called at the end of a time step.
        copy: (dest, m, src, instance), called after ``src`` has been copied to ``dest``.
        destroy: (data of the instance, instance), called when an MjData is freed.
        visualize: (m, d, opt, scn, instance), called when a scene is made.

    Raises:
        TypeError: a function is not callable, or `name` is not a string.
        ValueError: `name` is a built-in plugin; capabilities are unknown or missing; `compute` is missing;
            `needstage` is not a stage after which sensors are computed.
    """
    _check_name("register_plugin", name)
    words = (capabilities,) if isinstance(capabilities, str) else tuple(capabilities)
    functions = (validate, init, reset, compute, act_dot, advance, copy, destroy, visualize)
    plugin = Plugin(name, tuple(attributes), words, needstage, nstate, nsensordata, actdim, *functions)
    _check_plugin(plugin)
    PLUGINS[name] = replace(plugin, needstage=int(needstage))


def _check_plugin(plugin: Plugin) -> None:
    for word in ("validate", "init", "reset", "compute", "act_dot", "advance", "copy", "destroy", "visualize"):
        function = getattr(plugin, word)
        if function is not None and not callable(function):
            raise TypeError(f"register_plugin: {word} must be a function, not {type(function).__name__}")
    known, found = [word for word in CAPABILITIES if word != "sdf"], plugin.capabilities
    if not found or set(found) - set(known):
        raise ValueError(f"register_plugin: capabilities must be some of {', '.join(known)}, found {found}")
    if plugin.compute is None:
        raise ValueError("register_plugin: compute is missing")
    if plugin.needstage not in SENSED:
        stages = ", ".join(f"mjtStage.{stage.name}" for stage in SENSED)
        raise ValueError(f"register_plugin: needstage must be one of {stages}, found {plugin.needstage!r}")


def _check_name(function: str, name: str) -> None:
    if not isinstance(name, str) or not name:
        raise TypeError(f"{function}: name must be a string, not {name!r}")
    if name in _stock:
        raise ValueError(f"{function}: {name!r} is a plugin of the package and can't be replaced")


def register_shape(function: str, shape: Shape) -> None:
    """Register a user's signed-distance shape as a plugin. `function` is the caller's name, for error messages."""
    _check_name(function, shape.name)
    PLUGINS[shape.name] = shape_plugin(shape)


def shape_plugin(shape: Shape) -> Plugin:
    """Return the plugin for a signed-distance shape."""
    return Plugin(shape.name, tuple(shape.attributes), ("sdf",), shape=shape)


@cache
def _load_packages() -> None:
    """Load the entry points of installed packages, which register their plugins. Only the first call has an effect."""
    from importlib.metadata import entry_points

    for entry in entry_points(group="cardan.plugins"):
        found = entry.load()
        if callable(found):
            found()


def find_plugin(name: str) -> Plugin | None:
    """Return the plugin `name`, or None. If it is not registered, first load the plugins of installed packages."""
    if name not in PLUGINS:
        _load_packages()
    return PLUGINS.get(name)


def number_of(name: str) -> int:
    """Return the index of the plugin `name` in the registry, or -1 if the registry lacks it."""
    return list(PLUGINS).index(name) if find_plugin(name) else -1


def plugin_of(m: MjModel, instance: int) -> Plugin:
    """Return the plugin of an instance of a model. Raises ValueError if the plugin is not registered."""
    name = internals.plugins(m)[instance]
    found = find_plugin(name)
    if found is None:
        raise ValueError(f"plugin instance {instance} is one of {name!r}, which is not registered: see register_plugin")
    return found


def looks_at_data(name: str) -> bool:
    """Return whether `init` of plugin `name` may read the data. Only built-in plugins are known not to read it."""
    return name not in _stock


def make_instance(m: MjModel, d: Any, instance: int) -> Any:
    """Call the `init` of an instance's plugin, if any, and return its result.

    Raises:
        PluginError: `init` raises ValueError.
    """
    plugin = plugin_of(m, instance)
    try:
        return plugin.init(m, d, instance) if plugin.init else None
    except ValueError as error:
        raise PluginError(instance, plugin.name, str(error)) from error


def config_of(m: MjModel, instance: int) -> dict[str, str]:
    """Return the configuration of an instance of a model: the text of each attribute that is set."""
    start = int(m.plugin_attradr[instance])
    attributes = plugin_of(m, instance).attributes
    texts = m.plugin_attr.tobytes()[start:].split(b"\0", len(attributes))[: len(attributes)]
    return {key: text.decode() for key, text in zip(attributes, texts, strict=False) if text}


def size_of(size: Size, config: Config) -> int:
    """Return a size as a number. If `size` is a function, call it with the configuration."""
    return int(size(config)) if callable(size) else int(size)


def number(config: Config, key: str, default: float) -> float:
    """Return the number at the start of the text of attribute `key` in `config`, or `default` if the text is missing.

    Raises:
        ValueError: the text does not start with a number.
    """
    text = config.get(key, "")
    if not text.strip():
        return float(default)
    found = _NUMBER.match(text)
    if found is None:
        raise ValueError(f"attribute {key} must be a number, found {text!r}")
    return float(found.group())


@dataclass(frozen=True, slots=True)
class PluginMemory:
    """Result of an `init` function, for compiled functions: real numbers and integers.

    `remembered` holds the indices of the numbers that an evaluation stores for the next evaluation.
    """

    numbers: np.ndarray = field(default_factory=lambda: np.zeros(0))
    indices: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    remembered: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))


@kernel
def numbers_of(d: Data, instance: int) -> int:
    """Index in ``d.work.plugin_number`` at which the real numbers of an instance begin."""
    return d.work.plugin_start[2 * instance]


@kernel
def indices_of(d: Data, instance: int) -> int:
    """Index in ``d.work.plugin_index`` at which the integers of an instance begin."""
    return d.work.plugin_start[2 * instance + 1]


@kernel
def plugin_number(d: Data, instance: int, k: int) -> float:
    """Return number `k` of the array that `init` returned for an instance; compiled plugin functions may call this."""
    return d.work.plugin_number[numbers_of(d, instance) + k]


@kernel
def set_plugin_number(d: Data, instance: int, k: int, value: float) -> None:
    """Set number `k` of the array that `init` returned for an instance."""
    d.work.plugin_number[numbers_of(d, instance) + k] = value


def attach_memory(d: MjData, memories: list[PluginMemory]) -> None:
    """Concatenate the numbers and the integers of all instances, and attach the two arrays to `d`.

    Also attach the address of each instance's numbers and integers, and the indices of all remembered numbers.
    """
    numbers, indices, start, remembered = [np.zeros(0)], [np.zeros(0, np.int64)], [], [np.zeros(0, np.int64)]
    for memory in memories:
        start += [sum(map(len, numbers)), sum(map(len, indices))]
        remembered.append(start[-2] + memory.remembered)
        numbers.append(memory.numbers)
        indices.append(memory.indices)
    internals.attach(d, "work.plugin_number", np.concatenate(numbers))
    internals.attach(d, "work.plugin_index", np.concatenate(indices))
    internals.attach(d, "work.plugin_start", np.array(start, np.int64))
    internals.attach(d, "work.plugin_remembered", np.concatenate(remembered))
