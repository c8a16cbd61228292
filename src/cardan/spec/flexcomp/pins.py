"""Points of a ``flexcomp`` that are fixed to its parent body: the elements ``pin``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from cardan.spec.element import Element


def pinned_points(macro: Element, values: dict[str, Any], count: int) -> np.ndarray:
    """Return a mask of the points of a flexcomp that are pinned by all elements ``pin`` together (count,).

    All points of a rigid flexcomp are pinned; numbers outside its range get only a warning. Raises MjcfError for
    incomplete rows of numbers, grid coordinates without a grid, and points that do not exist.
    """
    pinned = np.zeros(count, bool)
    for pin in macro.all("pin"):
        for attribute, numbers in pin.attributes.items():
            if numbers and attribute in ("id", "range"):
                _pin_points(pinned, pin, attribute, values, numbers)
            elif numbers and attribute in ("grid", "gridrange"):
                _pin_grid(pinned, pin, attribute, values, numbers)
    return pinned | values["rigid"]


def _pin_points(
    pinned: np.ndarray, pin: Element, attribute: str, values: dict[str, Any], numbers: tuple[int, ...]
) -> None:
    """Pin single points (``id``), or points between two numbers, both included; none if the first is larger."""
    rows = [numbers] if attribute == "id" else rows_of(pin, attribute, numbers, 2).tolist()
    for row in rows:
        low, high = min(row), max(row)
        if low < 0 or high >= len(pinned):
            found = low if low < 0 else high
            _complain(pin, attribute, f"points are 0 to {len(pinned) - 1}, found {found}", values)
        elif attribute == "id":
            pinned[list(row)] = True
        else:
            pinned[row[0] : row[1] + 1] = True


def _pin_grid(
    pinned: np.ndarray, pin: Element, attribute: str, values: dict[str, Any], numbers: tuple[int, ...]
) -> None:
    """Pin points by their coordinates (``grid``), or boxes of the grid between two points, both included."""
    dim = values["dim"]
    if values["type"] != "grid" or dim == 1:
        found = f"this one is of type {values['type']} and dim {dim}"
        raise pin.error(f"grid coordinates are for flexcomps of type grid with dim 2 or 3; {found}", attribute)
    grid = pinned.reshape(values["count"][:dim])
    for row in rows_of(pin, attribute, numbers, dim if attribute == "grid" else 2 * dim).tolist():
        low, high = row[:dim], row[-dim:]
        places = (low,) if attribute == "grid" else (low, high)
        if all(_in_grid(pin, attribute, place, values, grid) for place in places):
            grid[tuple(slice(a, b + 1) for a, b in zip(low, high, strict=True))] = True


def _in_grid(pin: Element, attribute: str, place: list[int], values: dict[str, Any], grid: np.ndarray) -> bool:
    """Return whether this is a point of the grid."""
    for axis, (found, count) in enumerate(zip(place, grid.shape, strict=True)):
        if not 0 <= found < count:
            message = f"the grid has points 0 to {count - 1} along axis {axis}, found {found}"
            _complain(pin, attribute, message, values)
            return False
    return True


def _complain(pin: Element, attribute: str, message: str, values: dict[str, Any]) -> None:
    """Raise MjcfError, or warn if the flexcomp is rigid: the reference ignores the numbers of its pins."""
    if not values["rigid"]:
        raise pin.error(message, attribute)
    pin.warn(f"{message}; ignored, all points of a rigid flexcomp are pinned", attribute)
