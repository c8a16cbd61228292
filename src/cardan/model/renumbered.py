"""Arrays of enumeration members as programs see them.

The memory contains the numbers of the engine (those of MuJoCo 3.1.6). In a process with compat 4.0, attributes of
models return arrays with the numbers of 4.0.0; writing to their elements changes the model.
"""

from __future__ import annotations

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


class RenumberedArray(np.ndarray):
    """Copy of an array in other numbers. Assignments to elements also change the array itself; slices are read-only."""

    _source: np.ndarray | None = None
    _enumeration: Any = None  # None: the numbers are the same

    def __array_finalize__(self, other: np.ndarray | None) -> None:
        if isinstance(other, RenumberedArray) and self.base is not None:
            self.flags.writeable = False

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        if self._source is not None:
            values = self[key]
            self._source[key] = values if self._enumeration is None else renumbered(values, inward(self._enumeration))


def renumbered(values: Any, numbers: dict[int, int]) -> np.ndarray:
    """Return integers with each number replaced by another; numbers without a member stay as they are."""
    array = np.array(values)
    return np.array([numbers.get(n, n) for n in array.ravel().tolist()], array.dtype).reshape(array.shape)


def in_process(name: str, array: np.ndarray) -> np.ndarray:
    """Return the array of a field in the numbers that the process uses: `array` itself, or a `RenumberedArray`."""
    if not is_later():
        return array
    enumeration = RENUMBERED.get(name)
    values = array.astype(RETYPED[name]) if enumeration is None else renumbered(array, outward(enumeration))
    shown = values.view(RenumberedArray)
    shown.flags.writeable = True
    shown._source, shown._enumeration = array, enumeration
    return shown


class WidenedArray(np.ndarray):
    """Rows of `eq_data` with their twelfth number, `eq_relative`. Assignments also change the model's two arrays."""

    _whole: np.ndarray | None = None
    _source: tuple[np.ndarray, np.ndarray] | None = None

    def __array_finalize__(self, other: np.ndarray | None) -> None:
        # views share the memory of the whole array; results of computations own theirs
        if isinstance(other, WidenedArray) and self.base is not None:
            self._whole, self._source = other._whole, other._source

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        if self._whole is not None and self._source is not None and np.may_share_memory(self, self._whole):
            data, relative = self._source
            data[...] = self._whole[..., :-1]
            relative[...] = self._whole[..., -1] != 0


def widened(data: np.ndarray, relative: np.ndarray) -> np.ndarray:
    """Return `eq_data`, or a row of it, as the process's version of MuJoCo has it: with 12 columns in 4.0.

    Args:
        data: the model's array (neq, 11) or a row of it.
        relative: the model's array `eq_relative` (neq) or an element of it, as a view.
    """
    if not is_later():
        return data
    shown = np.concatenate((data, relative[..., None]), axis=-1).view(WidenedArray)
    shown._whole, shown._source = shown.view(np.ndarray), (data, relative)
    return shown


def attribute(name: str, doc: str) -> property:
    """Return the property of a model for one of the fields in `RENUMBERED` or `RETYPED`."""

    def get(m: Any) -> np.ndarray:
        return in_process(name, m._memory.arrays[name])

    return property(get, doc=doc)
