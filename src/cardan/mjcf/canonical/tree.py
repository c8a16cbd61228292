"""Canonical tree: settings (``compiler``, ``option``, ``size``, ``visual``, ``statistic``) and default classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cardan.mjcf.canonical.assets import put_assets, put_custom, put_flexes
from cardan.mjcf.canonical.bodies import put_bodies
from cardan.mjcf.canonical.defaults import put_defaults
from cardan.mjcf.canonical.relations import put_relations
from cardan.mjcf.canonical.scribe import Scribe, Values, plain, word_of
from cardan.model import internals
from cardan.model.tables import MODEL, SIZE_NAMES
from cardan.spec.element import Element
from cardan.spec.scaling import scaled_tree
from cardan.spec.schema.keywords import DISABLE_FLAGS, ENABLE_FLAGS, disabled_in
from cardan.spec.schema.rows import Attribute, ElementRow, Type
from cardan.spec.schema.shared import ORIENTATION
from cardan.spec.tree import ModelTree

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel


# compiler settings without effect on a compiled model, except those on files and on the search for length ranges
_KEPT = ("passthrough", "meshdir", "texturedir", "assetdir", "strippath", "convexhull", "exactmeshinertia", "fitaabb")
# values of default classes that the compiler converts; elements give the result instead
_TURNED = {row.name for row in ORIENTATION} | {
    "fromto", "springdamper", "mesh", "hfield", "fitscale", "inheritrange",
    "focal", "focalpixel", "principal", "principalpixel", "sensorsize",
}  # fmt: skip
_MEMORY = ("memory", "njmax", "nconmax", "nstack")
_GROUPS = 31


def put_settings(scribe: Scribe, statistic: dict[str, Any]) -> None:
    """Add all settings that differ from their defaults.

    Values of ``m.stat`` equal to those in ``statistic`` are added only if the source has them.
    """
    tree, m, source = scribe.tree, scribe.m, scribe.source
    # compiler: the settings that matter when the canonical text is read
    given, section = source.section("compiler"), tree.section("compiler")
    section.attributes["angle"] = "radian"
    there = section.row.names_in(source.compat)
    _set(section, {name: given[name] for name in _KEPT if name in there})
    for part in given.children:
        target = section.child(part.tag)
        if target is not None and "mode" in part.attributes:
            target.attributes["mode"] = part.attributes["mode"]
    section = tree.section("option")
    names = [name for name in section.row.names_in(source.compat) if f"opt.{name}" in MODEL.by_name]
    _set(section, {name: _group_value(scribe, section.row, name, "opt.") for name in names})
    groups = tuple(group for group in range(_GROUPS) if m.opt.disableactuator >> group & 1)
    if groups:
        section.attributes["actuatorgroupdisable"] = groups
    for flag in section.children:
        disabled = disabled_in(source.compat, internals.number(m, "opt.disableflags"))
        _set(flag, {name: not disabled & bit for name, bit in DISABLE_FLAGS.items()})
        _set(flag, {name: bool(internals.number(m, "opt.enableflags") & bit) for name, bit in ENABLE_FLAGS.items()})
    # size: the memory as the user gave it, and lengths that do not follow from elements
    given, section = source.section("size"), tree.section("size")
    _set(section, {name: given.attributes[name] for name in _MEMORY if name in given.attributes})
    sizes = [name for name in section.row.attributes if name in SIZE_NAMES and name not in _MEMORY]
    section.attributes.update({name: size for name in sizes if (size := getattr(m, name))})
    for part in tree.section("visual").children:
        prefix = "vis.global_." if part.tag == "global" else f"vis.{part.tag}."
        _set(part, {name: _group_value(scribe, part.row, name, prefix) for name in part.row.attributes})
    given, section = source.section("statistic"), tree.section("statistic")
    for name in section.row.attributes:
        value = plain(getattr(m.stat, name))
        if name in given.attributes or value != statistic.get(name):
            section.attributes[name] = value


def _set(element: Element, values: Values) -> None:
    """Set those values of a settings element that differ from the defaults."""
    defaults = element.row.defaults_in(element.tree.compat)
    for name, value in values.items():
        if value != defaults[name]:
            element.attributes[name] = value


def _group_value(scribe: Scribe, row: ElementRow, name: str, prefix: str) -> Any:
    """Return a setting from a group of the model's fields. ``prefix`` names the group, such as ``vis.map.``."""
    attribute, field, memory = row.attributes[name], prefix + name, internals.memory(scribe.m)
    value = plain(memory.scalars[field][0] if field in memory.scalars else memory.arrays[field])
    if attribute.type is Type.KEYWORD:
        return word_of(attribute, value)
    return bool(value) if attribute.type is Type.BOOL else value


def _is_kept(scribe: Scribe, name: str, row: Attribute, value: Any) -> bool:
    """Return whether a value of a default class is valid in canonical form.

    References to objects that do not exist are left out.
    """
    return name not in _TURNED and (row.type is not Type.REFERENCE or value in scribe.names.get(row.kind or "", ()))


# --- the whole tree ---------------------------------------------------------------------------------------------------


def canonical_tree(m: MjModel, source: ModelTree, statistic: Mapping[str, Any] | None = None) -> ModelTree:
    """Return the model as a tree in the canonical subset of MJCF. Compiling the tree gives an equal model.

    Args:
        m: the compiled model. Its numbers may have been changed after compilation.
        source: the tree from which the model was compiled.
        statistic: the statistics (``m.stat``) that the compiler computed. Unchanged statistics are left out, so that
            they are computed again from the model. If None, all are written.
    """
    if source.uses_later:
        source = scaled_tree(source)
    scribe = Scribe(m, source)
    scribe.tree.root.attributes["model"] = source.model_name
    put_settings(scribe, dict(statistic or {}))
    put_defaults(scribe.tree, source.defaults, lambda name, row, value: _is_kept(scribe, name, row, value))
    put_custom(scribe)
    put_assets(scribe)
    put_bodies(scribe)
    put_flexes(scribe)
    put_relations(scribe)
    scribe.tree.changed()
    return scribe.tree
