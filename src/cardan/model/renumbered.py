"""Arrays of enumeration members as programs see them.

The memory contains the numbers of the engine (those of MuJoCo 3.1.6). In a process with compat 4.0, attributes of
models return arrays with the numbers of 4.0.0; writing to their elements changes the model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cardan.enums import mjtBias, mjtDyn, mjtEq, mjtGain, mjtSensor
from cardan.enums.numbering import inward, is_later, outward

RENUMBERED: dict[str, Any] = {
    "eq_type": mjtEq,
    "actuator_dyntype": mjtDyn,
    "actuator_gaintype": mjtGain,
    "actuator_biastype": mjtBias,
    "sensor_type": mjtSensor,
}
"""Fields of a model with members of enumerations that MuJoCo 4.0 numbers in another way, and the enumerations."""


RETYPED: dict[str, Any] = {"tex_adr": np.int64, "flex_edgeequality": np.int32}
"""Fields of a model whose elements have another type in MuJoCo 4.0, and this type."""


class Linked(np.ndarray):
    """Array whose assignments also change another array. Results of computations are plain arrays and numbers."""

    def __array_wrap__(self, array: np.ndarray, context: Any = None, return_scalar: bool = False) -> Any:
        """Return the result of a computation: a plain array or number; if it was made in place, the array itself."""
        if array is self:
            self._write_back()
            return self
        plain = np.asarray(array)
        return plain[()] if plain.ndim == 0 else plain

    def _write_back(self) -> None:
        """Change the other array after a computation in place."""


def settled(value: Any) -> Any:
    """Return a copy of a `Linked` array, whose values a later read of the same attribute may renew; else the value."""
    return np.array(value) if isinstance(value, Linked) else value


class RenumberedArray(Linked):
    """Copy of an array in other numbers. Assignments to elements also change the array itself; slices are read-only."""

    _source: np.ndarray | None = None
    _enumeration: Any = None

    def __array_finalize__(self, other: np.ndarray | None) -> None:
        if isinstance(other, RenumberedArray) and self.base is not None:
            self.flags.writeable = False

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        if self._source is not None:
            values = self[key]
            self._source[key] = renumbered(values, inward(self._enumeration))


def renumbered(values: Any, numbers: dict[int, int]) -> np.ndarray:
    """Return integers with each number replaced by another; numbers without a member stay as they are."""
    array = np.array(values)
    return np.array([numbers.get(n, n) for n in array.ravel().tolist()], array.dtype).reshape(array.shape)


def in_process(name: str, array: np.ndarray) -> np.ndarray:
    """Return the array of a field of `RENUMBERED` as the process numbers it: `array` itself, or a `RenumberedArray`."""
    if not is_later():
        return array
    enumeration = RENUMBERED[name]
    shown = renumbered(array, outward(enumeration)).view(RenumberedArray)
    shown.flags.writeable = True
    shown._source, shown._enumeration = array, enumeration
    return shown


class WriteThrough(Linked):
    """Copy of an array in another form. Assignments to it and to its views also change the array itself."""

    _whole: np.ndarray | None = None
    _back: Callable[[np.ndarray], None] | None = None
    _now: Callable[[], np.ndarray | None] | None = None

    def __array_finalize__(self, other: np.ndarray | None) -> None:
        # views share the memory of the whole array; results of computations own theirs
        if isinstance(other, WriteThrough) and self.base is not None:
            self._whole, self._back, self._now = other._whole, other._back, other._now

    def __setitem__(self, key: Any, value: Any) -> None:
        value = settled(value)
        present = self._now() if self._now is not None and self._is_part() else None
        if self._whole is not None and present is not None and present.shape == self._whole.shape:
            self._whole[...] = present  # elements that are not assigned keep what the array itself has now
        super().__setitem__(key, value)
        self._write_back()

    def _is_part(self) -> bool:
        return self._whole is not None and np.may_share_memory(self, self._whole)

    def _write_back(self) -> None:
        if self._whole is not None and self._back is not None and self._is_part():
            self._back(self._whole)


def write_through(
    values: np.ndarray, back: Callable[[np.ndarray], None], now: Callable[[], np.ndarray | None]
) -> np.ndarray:
    """Return `values`, a copy of an array in another form, which writes changes into the array itself.

    Args:
        values: the copy.
        back: writes the changed copy into the array itself.
        now: returns the present values of the array in the other form, or None if it is gone.
    """
    shown = values.view(WriteThrough)
    shown._whole, shown._back, shown._now = shown.view(np.ndarray), back, now
    return shown


def live(
    owner: Any,
    name: str,
    values: np.ndarray,
    back: Callable[[np.ndarray], None],
    now: Callable[[], np.ndarray | None],
) -> np.ndarray:
    """Return the array `write_through` of a model or data. Calls with the same name and shape return the same array.

    Each call updates its values, so that the array follows changes of the memory when the attribute is read. The array
    owns its memory: `values`, its present values, may be a view of another array.
    """
    kept: dict[str, np.ndarray] = owner.__dict__.setdefault("_live", {})
    shown = kept.get(name)
    if shown is None or shown.shape != values.shape:
        kept[name] = write_through(values.copy(), back, now)
        return kept[name]
    shown.view(np.ndarray)[...] = values
    return shown


def widened(data: np.ndarray, relative: np.ndarray) -> np.ndarray:
    """Return `eq_data`, or a row of it, as the process's version of MuJoCo has it: with 12 columns in 4.0.

    Args:
        data: the model's array (neq, 11) or a row of it.
        relative: the model's array `eq_relative` (neq) or an element of it, as a view.
    """
    if not is_later():
        return data

    def back(values: np.ndarray) -> None:
        data[...] = values[..., :-1]
        relative[...] = values[..., -1] != 0

    def now() -> np.ndarray:
        return np.concatenate((data, relative[..., None]), axis=-1)

    return write_through(now(), back, now)


def retyped(m: Any, name: str) -> np.ndarray:
    """Return the array of a field of `RETYPED`: that of the model, or with compat 4.0 in the process a copy."""
    array = m._memory.arrays[name]
    if not is_later():
        return array

    def back(values: np.ndarray) -> None:
        array[...] = values

    return live(m, name, array.astype(RETYPED[name]), back, lambda: array.astype(RETYPED[name]))


def attribute(name: str, doc: str) -> property:
    """Return the property of a model for one of the fields in `RENUMBERED` or `RETYPED`."""

    def get(m: Any) -> np.ndarray:
        array = m._memory.arrays[name]
        return in_process(name, array) if name in RENUMBERED else retyped(m, name)

    return property(get, doc=doc)
