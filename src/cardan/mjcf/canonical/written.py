"""A model as it was written, for ``compiler savecompiled="false"``: its tree, in the notation of the user or canonical.

Macros, attachments and included files are expanded, as they are when the model is read. Canonical notation has
quaternions, radians, sizes and poses in place of ``fromto``, ``diaginertia`` and general actuators.
"""

from __future__ import annotations

from math import radians
from typing import TYPE_CHECKING, Any

from cardan.maths.pose import principal_axes, principal_axes_4_0
from cardan.mjcf.canonical.bodies import put_inertial, written
from cardan.mjcf.canonical.defaults import put_defaults
from cardan.mjcf.canonical.scribe import Scribe, plain
from cardan.spec.defaults import Defaults
from cardan.spec.general import general_form
from cardan.spec.orientation import orientation, segment_pose, size_from_segment
from cardan.spec.schema.shared import ORIENTATION
from cardan.spec.tree import copied_tree

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel
    from cardan.spec.element import Element
    from cardan.spec.tree import ModelTree

_OF_SAVING = ("savecompiled", "savecanonical", "saveinertial")
_FORMATS = tuple(row.name for row in ORIENTATION if row.name != "quat")
_ANGLES = ("range", "ref", "springref")
_SHORTCUTS_LOST = (*_FORMATS, "fromto")


def is_written(source: ModelTree) -> bool:
    """Return whether a model is saved as it was written, not with the values of the compiler."""
    return not source.section("compiler")["savecompiled"]


def written_tree(source: ModelTree, m: MjModel) -> ModelTree:
    """Return the model of a tree as it was written, as a tree with default classes as elements.

    Args:
        source: the tree. Its ``compiler`` settings ``savecanonical`` and ``saveinertial`` are obeyed.
        m: the compiled model, which gives the inertias of bodies for ``saveinertial="true"``.
    """
    made = copied_tree(source)
    settings = source.section("compiler").resolved()
    for name in _OF_SAVING:
        made.section("compiler").attributes.pop(name, None)
    if settings["saveinertial"]:
        _put_inertias(Scribe(m, source), made)
    _complete_keys(made, m)
    sections = [section for section in made.root.children if section.row.tag == "default"]
    if settings["savecanonical"]:
        _to_canonical(made)
        same = False
    else:
        same = _define(made.defaults, sections)
    if not same:
        made.root.children = [section for section in made.root.children if section not in sections]
        lost = _SHORTCUTS_LOST if settings["savecanonical"] else ()
        put_defaults(made, made.defaults, lambda name, row, value: name not in lost)
        section = made.section("actuator")
        if any(cls.actuator not in (None, "general") for cls in made.defaults):
            # the class is written in general form, from which shortcuts may take other parameters
            section.children = [general_form(element, element.resolved()) for element in section.children]
    made.changed()
    return made


def _define(defaults: Defaults, sections: list[Element]) -> bool:
    """Return whether default elements, as they were read, define these classes."""
    made = Defaults(defaults.main.version)
    for section in sections:
        made.define(section)
    facts = [[(cls.name, cls.parent and cls.parent.name, cls.entries, cls.actuator) for cls in classes]
             for classes in (made, defaults)]  # fmt: skip
    return facts[0] == facts[1]


def _put_inertias(scribe: Scribe, tree: ModelTree) -> None:
    """Add the inertias of all bodies that have none."""
    for number in range(1, scribe.m.nbody):
        origin = scribe.origins.find("body", number)
        if origin is None:
            raise scribe.source.section("compiler").error(
                "the compiler fused bodies: their inertias can't be saved with the model as it was written",
                "saveinertial",
            )
        body = _twin(tree, origin)
        if not any(part.tag == "inertial" for part, _ in body.content()):
            put_inertial(scribe, body, number)


def _twin(tree: ModelTree, element: Element) -> Element:
    """Return the element of a copied tree that stands where an element of the original stands."""
    places: list[int] = []
    while element.parent is not None:
        places.append(element.parent.children.index(element))
        element = element.parent
    found = tree.root
    for place in reversed(places):
        found = found.children[place]
    return found


def _complete_keys(tree: ModelTree, m: MjModel) -> None:
    """Replace vectors of keyframes with unknown entries, which attached keyframes have, by those of the model."""
    for number, key in enumerate(tree.section("keyframe").children):
        for name, values in key.attributes.items():
            if isinstance(values, tuple) and any(value != value for value in values):
                key.attributes[name] = plain(getattr(m, f"key_{name}")[number])


# --- canonical notation -----------------------------------------------------------------------------------------------


def _to_canonical(tree: ModelTree) -> None:
    """Convert all elements to canonical notation, in place."""
    settings = tree.section("compiler").resolved()
    for element in tree.worldbody.descendants():
        values = element.resolved()
        if values.get("fromto") is not None:
            _convert_segment(element, values)
        elif values.get("fullinertia") is not None:
            if element.parent is not None and element.parent.tag == "body":  # frames do not turn a full matrix
                _convert_inertia(element, values)
        elif "quat" in values:
            _convert_orientation(element, values, settings)
        elif element.tag == "joint" and settings["angle"] == "degree" and values["type"] in ("hinge", "ball"):
            for name in _ANGLES:
                if element.is_set(name):
                    given = values[name]
                    turned = tuple(map(radians, given)) if isinstance(given, tuple) else radians(given)
                    element.attributes[name] = turned
    section = tree.section("actuator")
    section.children = [
        element if element.tag == "plugin" else general_form(element, element.resolved())
        for element in section.children
    ]
    given = tree.section("compiler").attributes
    given["angle"] = "radian"
    given.pop("eulerseq", None)


def _convert_orientation(element: Element, values: dict[str, Any], settings: dict[str, Any]) -> None:
    """Write the orientation of an element as a quaternion, unless it has one."""
    if any(values.get(name) is not None for name in _FORMATS):
        for name in _FORMATS:
            element.attributes.pop(name, None)
        element.attributes["quat"] = written(orientation(settings, element, values))


def _convert_segment(element: Element, values: dict[str, Any]) -> None:
    """Write size and pose of a shape that is given by two points."""
    pose, half = segment_pose(element, values["fromto"])
    size = (*values["size"], 0.0, 0.0)[:3]
    for name in _SHORTCUTS_LOST:
        element.attributes.pop(name, None)
    size = size_from_segment(element, values["type"], (size[0], size[1], size[2]), half)
    element.attributes.update(size=size, pos=pose[0], quat=written(pose[1]))


def _convert_inertia(element: Element, values: dict[str, Any]) -> None:
    """Write a full inertia matrix as principal moments and the orientation of the axes."""
    axes = principal_axes_4_0 if element.tree.compat == "4.0" else principal_axes
    moments, quat = axes(values["fullinertia"])
    element.attributes.pop("fullinertia")
    element.attributes.update(diaginertia=moments, quat=written(quat))
