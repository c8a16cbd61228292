"""Plugin instances with their attributes (spec: modeling, "extension", "plugin"; programming, engine plugins).

Named instances are defined in the section ``extension``. An element either names such an instance, or it names a plugin
and gets an instance of its own. Actuators and sensors use attributes for this, other elements a child ``plugin``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cardan.collision.sdf.shape import Shape
from cardan.plugins import PLUGINS, Plugin, find_plugin
from cardan.plugins.registry import PURPOSES, number_of, size_of

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element


_BEARERS = {"worldbody": "passive", "body": "passive", "geom": "sdf"}
"""Map from the tags of elements that may have a plugin instance to the capability that its plugin must have."""


class Instance(NamedTuple):
    """A plugin instance: its id, its plugin, its configuration."""

    id: int
    plugin: Plugin
    config: dict[str, str]

    @property
    def shape(self) -> Shape:
        """Signed-distance shape of the instance. Its plugin must have the capability ``sdf``."""
        if self.plugin.shape is None:
            raise TypeError(f"{self.plugin.name} is no signed-distance shape")
        return self.plugin.shape

    @property
    def attributes(self) -> tuple[float, ...]:
        """Settings of a signed-distance shape as floats (see `Shape.values`)."""
        return self.shape.values(self.config)


def add_plugins(build: Build) -> None:
    """Add the named instances of the section ``extension``, in the user's order, except instances of macros."""
    for plugin in build.tree.section("extension").all("plugin"):
        found = _registered(plugin)
        build.declared.add(found.name)
        for element in plugin.all("instance"):
            if element.name not in build.tree.macro_instances:
                build.instances[element.name or ""] = _enter(build, element, found)


def add_own_instances(build: Build) -> None:
    """Record the instances of actuators and sensors, then those of other elements in document order.

    The instances are stored in ``build.own_instances``, by element. If an element names only a plugin, an unnamed
    instance is added for it.
    """
    for section in ("actuator", "sensor"):
        for element in build.tree.section(section).all("plugin"):
            build.own_instances[element] = own_instance(build, element, section)
    for element in [part for part in build.tree.outlines() if part.row.tag == "plugin"]:
        around = element.parent
        if around is not None and around.tag in _BEARERS:
            if around.child("plugin") is element and not build.dropped(around):
                build.own_instances[element] = own_instance(build, element, _BEARERS[around.tag])


def instance_of(build: Build, element: Element, capability: str) -> Instance | None:
    """Return the instance that an element requests by a child ``plugin``, or None if it has no such child.

    If the child names only a plugin, an unnamed instance is added. The plugin must have ``capability``, a key of
    `CAPABILITIES`.

    Raises:
        MjcfError: the instance or plugin does not exist, or the plugin lacks the capability.
    """
    known = element if element.pattern is None else element.pattern.model
    plugin = known.child("plugin") if known.children else None
    if plugin is None:
        return None
    return build.own_instances.get(plugin) or own_instance(build, plugin, capability)


def own_instance(build: Build, element: Element, capability: str) -> Instance:
    """Return the instance that the attributes ``plugin`` and ``instance`` of an element request (see `instance_of`)."""
    instance = _wanted(build, element)
    if capability not in instance.plugin.capabilities:
        can = ", ".join(PURPOSES[word] for word in instance.plugin.capabilities)
        reason = f"{instance.plugin.name} does not support {PURPOSES[capability]}; it supports {can}"
        raise element.error(reason, "instance" if element["instance"] else "plugin")
    return instance


def unnamed_instance(build: Build, element: Element, plugin: str) -> Instance:
    """Add an instance of a registered plugin, without a name and without settings, for an element."""
    return _enter(build, element, PLUGINS[plugin])


def _wanted(build: Build, element: Element) -> Instance:
    """Return the instance that an element names, or a new unnamed instance of the plugin that it names."""
    values = element.resolved() if element.row.entry else element.attributes
    name, plugin = values.get("instance"), values.get("plugin")
    if name:
        found = build.instances.get(name)
        if found is None:  # the instance of a composite or flexcomp: its first body requests it
            source = build.tree.names("plugin")[name]
            assert source.parent is not None
            found = build.instances[name] = _enter(build, source, _registered(source.parent))
        if plugin and plugin != found.plugin.name:
            raise element.error(f"instance '{name}' is one of {found.plugin.name}", "plugin")
        return found
    if not plugin:
        raise element.error("plugin or instance must be given", "plugin")
    registered = _registered(element)
    if registered.name not in build.declared:
        raise element.error(f"'{plugin}' is not declared: add <plugin plugin=\"{plugin}\"/> to <extension>", "plugin")
    return _enter(build, element, registered)


def _registered(element: Element) -> Plugin:
    found = find_plugin(element["plugin"] or "")
    if found is None:
        known = ", ".join(PLUGINS)
        reason = f"there is no plugin '{element['plugin']}'; register it with cardan.register_plugin, or use {known}"
        raise element.error(reason, "plugin")
    return found


def _enter(build: Build, element: Element, plugin: Plugin) -> Instance:
    """Add an instance to the model (name, plugin, size of its state, settings as text), and return it."""
    config = _config(element)
    try:
        plugin.check(config)
        nstate = size_of(plugin.nstate, config)
    except ValueError as error:
        raise element.error(str(error)) from None
    number = build.enter("plugin", element.name if element.tag == "instance" else None)
    address = build.sizes.get("npluginstate", 0)
    build.sizes["npluginstate"] = address + nstate
    build.plugin_names.append(plugin.name)
    build.plugin_elements.append(element)
    build.put(plugin=number_of(plugin.name), plugin_stateadr=address, plugin_statenum=nstate)
    build.columns["plugin_attradr"].append(len(build.columns["plugin_attr"]))
    text = b"".join(config.get(key, "").encode() + b"\0" for key in plugin.attributes) or b"\0"
    build.columns["plugin_attr"].extend(text)
    return Instance(number, plugin, config)


def plugin_activations(actuator: Element) -> int:
    """Return the number of activation variables of an actuator's plugin; 0 if the plugin or instance is not known.

    If the settings are invalid, the result is also 0.
    """
    name = actuator["instance"]
    source = actuator.tree.find("plugin", name) if name else actuator
    holder = source.parent if source is not None and name else source
    plugin = find_plugin(holder["plugin"] or "") if holder is not None else None
    if plugin is None or source is None:
        return 0
    try:
        return size_of(plugin.actdim, _config(source))
    except ValueError:
        return 0


def _config(element: Element) -> dict[str, str]:
    """Return the settings of an instance, as text by key."""
    config: dict[str, str] = {}
    for child in element.all("config"):
        key = child["key"] or ""
        if key in config:
            raise child.error(f"the key '{key}' stands twice", "key")
        config[key] = child["value"] or ""
    return config
