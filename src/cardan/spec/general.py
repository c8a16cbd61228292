"""The general form of an actuator: an element ``general`` in place of a shortcut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cardan.spec.element import Element
from cardan.spec.schema.actuator import GENERAL

DECLARED_INPUTS: dict[str, str] = {
    "position": "pos",
    "velocity": "vel",
    "intvelocity": "vel",
    "cylinder": "pressure",
}
"""Meaning of the control of a shortcut, which MuJoCo 4.0 records in the attribute ``input``."""


def general_form(element: Element, values: Mapping[str, Any]) -> Element:
    """Return an actuator as a ``general`` element, with the values that differ from its class.

    The element is not added to the tree.

    Args:
        element: the actuator.
        values: its resolved values.
    """
    base = element.default_class.base(GENERAL)
    given = {name: value for name, value in values.items()
             if name in GENERAL.attributes and value is not None and value != base.get(name)}  # fmt: skip
    explicit = [name for name in ("ctrlrange", "actrange") if name in element.attributes]
    if values.get("inheritrange") and explicit and "inheritrange" not in element.attributes:
        # a range of the element itself replaces the inherited one
        given["inheritrange"] = 0.0
    if element.tree.compat == "4.0" and element.tag in DECLARED_INPUTS:
        given.setdefault("input", DECLARED_INPUTS[element.tag])
    return Element(GENERAL, element.tree, element.parent, given, element.source, element.line)
