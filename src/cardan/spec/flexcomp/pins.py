"""Points of a ``flexcomp`` that are fixed to its parent body: the elements ``pin``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from cardan.spec.element import Element


def pinned_points(macro: Element, values: dict[str, Any], count: int) -> np.ndarray:
    """Return a mask of the points that are pinned by all elements ``pin`` together (count,).

    All points of a rigid flexcomp are pinned; numbers outside its range get only a warning.

    Args:
        macro: the flexcomp.
        values: its resolved attributes.
        count: number of its points.

    Raises:
        MjcfError: incomplete rows of numbers, grid coordinates without a grid, or points that do not exist.
    """
    pinned = np.zeros(count, bool)
    for pin in macro.all("pin"):
        for attribute, rows in pin.attributes.items():
            if rows and attribute in _SETTERS:
                _SETTERS[attribute](pinned, pin, values, rows)
    return pinned | values["rigid"]


def _pin_ids(pinned: np.ndarray, pin: Element, values: dict[str, Any], flat: tuple[int, ...]) -> None:
    """Pin single points."""
    if _in_range(pin, "id", min(flat), max(flat), values, len(pinned)):
        pinned[list(flat)] = True


def _pin_ranges(pinned: np.ndarray, pin: Element, values: dict[str, Any], flat: tuple[int, ...]) -> None:
    """Pin points between two numbers, both included; none if the first is the larger one."""
    for first, last in _table(pin, "range", flat, 2):
        if _in_range(pin, "range", min(first, last), max(first, last), values, len(pinned)):
            pinned[first : last + 1] = True


def _pin_grid(pinned: np.ndarray, pin: Element, values: dict[str, Any], flat: tuple[int, ...]) -> None:
    """Pin points by their coordinates in the grid."""
    grid = _grid(pinned, pin, "grid", values)
    for place in _table(pin, "grid", flat, grid.ndim):
        if _in_grid(pin, "grid", place, values, grid):
            grid[tuple(place)] = True


def _pin_grid_ranges(pinned: np.ndarray, pin: Element, values: dict[str, Any], flat: tuple[int, ...]) -> None:
    """Pin boxes of the grid, between two points, both included."""
    grid = _grid(pinned, pin, "gridrange", values)
    for row in _table(pin, "gridrange", flat, 2 * grid.ndim):
        low, high = row[: grid.ndim], row[grid.ndim :]
        if all(_in_grid(pin, "gridrange", place, values, grid) for place in (low, high)):
            grid[tuple(slice(a, b + 1) for a, b in zip(low, high, strict=True))] = True


_SETTERS = {"id": _pin_ids, "range": _pin_ranges, "grid": _pin_grid, "gridrange": _pin_grid_ranges}


def _table(pin: Element, attribute: str, flat: tuple[int, ...], width: int) -> list[list[int]]:
    """Return rows of ``width`` numbers."""
    if len(flat) % width:
        raise pin.error(f"the number of values must be a multiple of {width}, found {len(flat)}", attribute)
    return np.array(flat).reshape(-1, width).tolist()


def _grid(pinned: np.ndarray, pin: Element, attribute: str, values: dict[str, Any]) -> np.ndarray:
    """Return the mask by grid coordinates."""
    dim = values["dim"]
    if values["type"] != "grid" or dim == 1:
        found = f"this one is of type {values['type']} and dim {dim}"
        raise pin.error(f"grid coordinates are for flexcomps of type grid with dim 2 or 3; {found}", attribute)
    return pinned.reshape(values["count"][:dim])


def _in_range(pin: Element, attribute: str, low: int, high: int, values: dict[str, Any], count: int) -> bool:
    """Return whether these are numbers of points."""
    if low < 0 or high >= count:
        found = low if low < 0 else high
        _complain(pin, attribute, f"points are 0 to {count - 1}, found {found}", values)
        return False
    return True


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
