"""Instances of engine plugins as structs, and the elements that use them: bodies, geoms, meshes, actuators, sensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cardan.errors import suggestion
from cardan.spec.element import Element
from cardan.spec.mjspec.struct import Named
from cardan.spec.schema.actuator import PLUGIN_ACTUATOR

if TYPE_CHECKING:
    from cardan.spec.mjspec.specification import Specification


class MjsPlugin(Named):
    """An instance of an engine plugin: its name, its plugin, its settings."""

    @property
    def plugin_name(self) -> str:
        """Name of the instance's plugin, such as ``mujoco.pid``."""
        return self.element.parent["plugin"]

    @property
    def config(self) -> dict[str, str]:
        """Copy of the settings, text by key; assign a mapping to replace all of them."""
        return {part["key"]: part["value"] or "" for part in self.element.all("config")}

    @config.setter
    def config(self, value: Mapping[str, Any]) -> None:
        settings = {str(key): _text(part) for key, part in dict(value).items()}
        self.element.children = [part for part in self.element.children if part.tag != "config"]
        for key, text in settings.items():
            self.element.add("config", key=key, value=text)


def _text(value: Any) -> str:
    """Return a setting as text: words and numbers as in MJCF, several values separated by spaces."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else " ".join(map(str, value)) if hasattr(value, "__iter__") else str(value)


def add_instance(spec: Specification, plugin_name: str, name: str, config: Mapping[str, Any] | None) -> MjsPlugin:
    """Add an instance of a plugin to ``extension``, and declare the plugin unless it is declared.

    Raises:
        MjcfError: a name is missing or taken.
    """
    extension = spec.tree.section("extension")
    for word, value in (("plugin_name", plugin_name), ("name", name)):
        if not isinstance(value, str) or not value:
            raise extension.error(f"add_plugin needs a text as {word}, found {value!r}")
    if name in spec.tree.names("plugin"):
        raise extension.error(f"there is a plugin instance '{name}' already", "name")
    holder = next((part for part in extension.all("plugin") if part["plugin"] == plugin_name), None)
    element = (holder or extension.add("plugin", plugin=plugin_name)).add("instance", name=name)
    struct = spec.struct(element)
    struct.config = config or {}
    return struct


def _instance_name(spec: Specification, element: Element, value: Any) -> str:
    """Return the checked name of an instance that is given as struct or text."""
    if element.row.is_entry:
        raise element.error("default classes have no plugins", "plugin")
    name = getattr(value, "name", value)
    known = spec.tree.names("plugin")
    if name not in known:
        raise element.error(f"there is no plugin instance '{name}'{suggestion(str(name), known)}", "plugin")
    return name


def _user_of(element: Element) -> Element | None:
    """Return the element that names the instance: an actuator, sensor or child ``plugin``; None in default classes."""
    if element.row.is_entry:
        return None
    return element if "instance" in element.row.attributes else element.child("plugin")


def _get(struct: Any) -> MjsPlugin | None:
    user = _user_of(struct.element)
    name = user["instance"] if user is not None else None
    return struct.spec.plugin(name) if name else None


def _put_inside(struct: Any, value: Any) -> None:
    """Set the instance of a body, geom or mesh; None removes it."""
    element = struct.element
    if value is None and element.row.is_entry:
        return
    name = None if value is None else _instance_name(struct.spec, element, value)
    element.children = [part for part in element.children if part.tag != "plugin"]
    if name is not None:
        element.add("plugin", instance=name)
    struct.spec.tree.changed()


def _put_on_actuator(struct: Any, value: Any) -> None:
    """Turn an actuator into one that a plugin computes; its own gains and biases are removed."""
    element = struct.element
    name = _instance_name(struct.spec, element, value)
    element.row = PLUGIN_ACTUATOR
    element.attributes = {key: part for key, part in element.attributes.items() if key in element.row.attributes}
    element["instance"] = name


def _put_on_sensor(struct: Any, value: Any) -> None:
    """Set the instance that computes a sensor of the type ``mjSENS_PLUGIN``."""
    element = struct.element
    if "instance" not in element.row.attributes:
        raise element.error("only sensors of the type mjSENS_PLUGIN have a plugin: set the type first", "plugin")
    element["instance"] = _instance_name(struct.spec, element, value)


_DOC = "The plugin instance (`MjsPlugin`) of this element, or None; may be set to an instance or its name."
plugin_inside = property(_get, _put_inside, doc=_DOC)
plugin_of_actuator = property(_get, _put_on_actuator, doc=_DOC)
plugin_of_sensor = property(_get, _put_on_sensor, doc=_DOC)
