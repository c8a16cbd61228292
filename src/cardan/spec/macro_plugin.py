"""Plugins of ``composite`` and ``flexcomp``. All bodies share one instance, which has all elastic elements."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from cardan.errors import MjcfError, suggestion
from cardan.spec.flexcomp.lattice import edges_of

if TYPE_CHECKING:
    from cardan.spec.element import Element


def plugin_of(macro: Element) -> Element | None:
    """Return the first child ``plugin`` of a macro, or None. Further plugins are ignored with a warning."""
    plugins = list(macro.all("plugin"))
    if len(plugins) > 1:
        reason = f"ignored: a {macro.tag} has one plugin"
        warnings.warn(str(MjcfError(reason, plugins[1].source, plugins[1].line, "plugin")), stacklevel=2)
    return plugins[0] if plugins else None


def _new_instance(plugin: Element, name: str, settings: Mapping[str, str]) -> Element:
    """Append a plugin instance to ``extension``, with ``settings`` and the settings of the macro's ``plugin``.

    Return the instance. Raises MjcfError if the plugin is missing or not declared.
    """
    word, tree = plugin["plugin"], plugin.tree
    extension = tree.section("extension")
    if not word:
        raise plugin.error("plugin or instance must be given", "plugin")
    if word not in {declared["plugin"] for declared in extension.all("plugin")}:
        raise plugin.error(f"'{word}' is not declared: add <plugin plugin=\"{word}\"/> to <extension>", "plugin")
    instance = extension.append("plugin", {"plugin": word}, plugin).append("instance", {"name": name}, plugin)
    tree.macro_instances.add(name)
    for key, value in settings.items():
        instance.append("config", {"key": key, "value": value}, plugin)
    for config in plugin.all("config"):
        instance.append("config", dict(config.attributes), config)
    tree.changed()
    return instance


def give_plugin(plugin: Element, name: str, bodies: Sequence[Element], elements: Sequence[int] = ()) -> None:
    """Assign a plugin instance to the bodies of a composite: the user's named instance, or a new one called ``name``.

    ``elements`` are indices of the bodies at the corners of the elastic elements, one element after the other. Raises
    MjcfError if the plugin is not declared. With ``elements``, the user's plugin must neither set ``face`` nor name an
    instance.
    """
    if not plugin["instance"]:
        own = next((config for config in plugin.all("config") if config["key"] == "face"), None)
        if elements and own is not None:
            raise own.error("the composite sets its faces itself", "key")
        _new_instance(plugin, name, {"face": _text(elements)} if elements else {})
    elif elements:
        raise plugin.error("give the plugin and its settings here: a named instance has no elements", "instance")
    for body in bodies:
        body.append("plugin", {"instance": plugin["instance"] or name}, plugin)


def give_flex_plugin(macro: Element, bodies: Sequence[Element], elem: np.ndarray) -> None:
    """Assign a flexcomp's plugin, if it has one, to ``bodies``. ``elem`` has the vertices of the flex's elements.

    The settings ``face`` and ``edge`` of the instance are the vertices and the edges of the elements. ``edge`` is
    padded with zeros to its length in the reference. Raises MjcfError if there are no bodies, or if the plugin
    or its instance is unknown.
    """
    plugin = plugin_of(macro)
    if plugin is None:
        return
    if not bodies:
        raise plugin.error("a rigid flexcomp has no bodies on which a plugin could act")
    name = plugin["instance"]
    if not name:
        instance = _new_instance(plugin, f"flexcomp_{macro.name or ''}", {})
    else:
        instance = macro.tree.find("plugin", name)
        if instance is None:
            hint = suggestion(name, macro.tree.names("plugin"))
            raise plugin.error(f"there is no plugin named '{name}'{hint}", "instance")
        holder = instance.parent
        assert holder is not None
        if plugin["plugin"] and plugin["plugin"] != holder["plugin"]:
            raise plugin.error(f"instance '{name}' is one of {holder['plugin']}", "plugin")
        instance.children = [part for part in instance.children if part["key"] not in ("face", "edge")]
    _, edge = edges_of(elem)
    padding = np.zeros(edge.size * (elem.shape[1] - 1), int)
    for key, flat in (("face", elem.ravel()), ("edge", np.concatenate([edge.ravel(), padding]))):
        instance.append("config", {"key": key, "value": _text(flat.tolist())}, plugin)
    for body in bodies:
        if body.child("plugin") is None:
            body.append("plugin", {"instance": instance.name}, plugin)


def _text(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers))
