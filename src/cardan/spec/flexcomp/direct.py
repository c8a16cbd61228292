"""Points and elements of a ``flexcomp`` that the user gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.spec.flexcomp.lattice import Lattice

if TYPE_CHECKING:
    from cardan.spec.element import Element


def direct(element: Element, values: dict[str, Any]) -> Lattice:
    """What the attributes ``point`` and ``element`` say."""
    for name in ("point", "element"):
        if not values[name]:
            raise element.error("required attribute missing (type direct needs it)", name)
    elem = _table(element, values, "element", values["dim"] + 1, np.int64)
    return scaled(element, values, _table(element, values, "point", 3, np.float64), elem)


def _table(element: Element, values: dict[str, Any], name: str, width: int, kind: Any) -> np.ndarray:
    """Rows of ``width`` numbers."""
    flat = values[name]
    if len(flat) % width:
        raise element.error(f"the number of values must be a multiple of {width}, found {len(flat)}", name)
    return np.array(flat, kind).reshape(-1, width)


def scaled(element: Element, values: dict[str, Any], point: np.ndarray, elem: np.ndarray) -> Lattice:
    """Points that were given, scaled; raises MjcfError when an element refers to none of them."""
    wrong = (elem < 0) | (elem >= len(point))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        found = f"found {elem[row, column]}"
        raise element.error(f"element {row} must name points 0 to {len(point) - 1}, {found}", "element")
    return Lattice(point * np.array(values["scale"]), elem)
