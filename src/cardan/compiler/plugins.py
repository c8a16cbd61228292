"""Plugin instances: signed-distance shapes with their attributes (spec: modeling, "extension", "plugin")."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cardan.collision.sdf.registry import SHAPES, Shape

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element


class Instance(NamedTuple):
    """A plugin instance: its id, the shape, all attributes as numbers."""

    id: int
    shape: Shape
    attributes: tuple[float, ...]


def add_plugins(build: Build) -> None:
    """Enter the named instances of the section ``extension``, in the user's order."""
    for plugin in build.tree.section("extension").all("plugin"):
        shape = _shape(plugin)
        for element in plugin.all("instance"):
            build.instances[element.name or ""] = _enter(build, element, shape)


def instance_of(build: Build, element: Element) -> Instance | None:
    """The instance that an element asks for by its own ``plugin`` element, or None; one without a name is entered."""
    plugin = element.child("plugin")
    if plugin is None:
        return None
    name = plugin["instance"]
    if name:
        found = build.instances[name]
        if plugin["plugin"] and plugin["plugin"] != found.shape.name:
            raise plugin.error(f"instance '{name}' is one of {found.shape.name}", "plugin")
        return found
    if not plugin["plugin"]:
        raise plugin.error("plugin or instance must be given", "plugin")
    return _enter(build, plugin, _shape(plugin))


def _shape(plugin: Element) -> Shape:
    """The shape that a ``plugin`` element names."""
    shape = SHAPES.get(plugin["plugin"])
    if shape is None:
        known = ", ".join(SHAPES)
        missing = f"the plugin '{plugin['plugin']}' is not there; any of the plugins beside {known}"
        raise plugin.unsupported(missing, "plugin")
    return shape


def _enter(build: Build, element: Element, shape: Shape) -> Instance:
    """Enter an instance: its name, its shape, and its configuration as text."""
    config = {child["key"] or "": child["value"] or "" for child in element.all("config")}
    try:
        attributes = shape.values(config)
    except ValueError as error:
        raise element.error(str(error)) from None
    number = build.enter("plugin", element.name if element.tag == "instance" else None)
    build.put(plugin=list(SHAPES).index(shape.name), plugin_stateadr=0, plugin_statenum=0)
    build.columns["plugin_attradr"].append(len(build.columns["plugin_attr"]))
    text = b"".join(config.get(key, "").encode() + b"\0" for key in shape.attributes) or b"\0"
    build.columns["plugin_attr"].extend(text)
    return Instance(number, shape, attributes)
