"""The plugin of a ``flexcomp``: one instance for all bodies, which also learns the elements and their edges."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.errors import MjcfError, suggestion
from cardan.spec.element import Element
from cardan.spec.flexcomp.simplices import edges_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_PREFIX = "flexcomp_"


def add_plugin(macro: Element, bodies: list[Element], elem: np.ndarray) -> None:
    """Give the bodies the plugin that the macro asks for, if it does.

    Without an instance of the user's own, one is made. Its settings ``face`` and ``edge`` are vertices and edges
    of the elements. The latter are filled up with zeros to the length that the reference gives them.

    Args:
        macro: the flexcomp.
        bodies: the bodies of its vertices.
        elem: vertices of the elements (nelem, dim + 1).
    """
    plugins = list(macro.all("plugin"))
    if not plugins:
        return
    if len(plugins) > 1:
        message = MjcfError("ignored: a flexcomp has one plugin", plugins[1].source, plugins[1].line, "plugin")
        warnings.warn(f"{message}", stacklevel=2)
    plugin = plugins[0]
    if not bodies:
        raise plugin.error("a rigid flexcomp has no bodies on which a plugin could act")
    instance = _own_instance(macro, plugin) if plugin["instance"] else _new_instance(macro, plugin)
    _, edge = edges_of(elem)
    padding = np.zeros(edge.size * (elem.shape[1] - 1), int)
    for key, flat in (("face", elem.ravel()), ("edge", np.concatenate([edge.ravel(), padding]))):
        _append(instance, "config", {"key": key, "value": _text(flat.tolist())}, plugin)
    for body in bodies:
        if body.child("plugin") is None:
            _append(body, "plugin", {"instance": instance.name}, plugin)


def _own_instance(macro: Element, plugin: Element) -> Element:
    """The instance that the user names, without what the flexcomp sets."""
    name = plugin["instance"]
    instance = macro.tree.find("plugin", name)
    if instance is None:
        known = suggestion(name, macro.tree.names("plugin"))
        raise plugin.error(f"there is no plugin named '{name}'{known}", "instance")
    holder = instance.parent
    assert holder is not None
    if plugin["plugin"] and plugin["plugin"] != holder["plugin"]:
        raise plugin.error(f"instance '{name}' is one of {holder['plugin']}", "plugin")
    instance.children = [part for part in instance.children if part["key"] not in ("face", "edge")]
    return instance


def _new_instance(macro: Element, plugin: Element) -> Element:
    """A new instance with the macro's settings, after all others."""
    word = plugin["plugin"]
    extension = macro.tree.section("extension")
    if not word:
        raise plugin.error("plugin or instance must be given", "plugin")
    if word not in {declared["plugin"] for declared in extension.all("plugin")}:
        raise plugin.error(f"'{word}' is not declared: add <plugin plugin=\"{word}\"/> to <extension>", "plugin")
    name = f"{_PREFIX}{macro.name or ''}"
    instance = _append(_append(extension, "plugin", {"plugin": word}, plugin), "instance", {"name": name}, plugin)
    macro.tree.macro_instances.add(name)
    for config in plugin.all("config"):
        _append(instance, "config", dict(config.attributes), config)
    macro.tree.changed()
    return instance


def _append(parent: Element, tag: str, attributes: dict[str, Any], origin: Element) -> Element:
    """A new element at the end of the parent's; messages name the line of its origin."""
    element = Element(parent.row.children[tag], parent.tree, parent, attributes, origin.source, origin.line)
    parent.children.append(element)
    return element


def _text(values: Iterable[int]) -> str:
    return " ".join(map(str, values))
