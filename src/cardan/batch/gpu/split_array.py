"""Arrays over worlds that stand on several GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class SplitArray:
    """Rows of worlds in several arrays, one behind the other.

    NumPy copies all of it (``np.asarray``); numbers and NumPy arrays may be assigned to any rows of it. Other libraries
    take the parts.

    Args:
        parts: the arrays, (n, ...) each.
    """

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = tuple(parts)
        self.flags = self.parts[0].flags
        self._starts = np.cumsum([0, *(len(part) for part in self.parts)])

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape, with all worlds first."""
        return (int(self._starts[-1]), *self.parts[0].shape[1:])

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype:
        """Type of the elements."""
        return self.parts[0].dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"SplitArray{self.shape} of {self.dtype} in {len(self.parts)} parts"

    def numpy(self) -> np.ndarray:
        """A copy on this machine."""
        return np.concatenate([np.asarray(part) for part in self.parts])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("an array on GPUs can't become a NumPy array without a copy")
        values = self.numpy()
        return values if dtype is None else values.astype(dtype)

    def reshape(self, *shape: Any) -> SplitArray:
        """A view of another shape with as many worlds."""
        wanted = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
        return SplitArray([part.reshape((len(part), *wanted[1:])) for part in self.parts])

    def _split(self, key: Any) -> tuple[Any, tuple[Any, ...]]:
        """Which worlds an index is about, and what of each."""
        keys = key if isinstance(key, tuple) else (key,)
        if Ellipsis in [k for k in keys if k is Ellipsis]:
            at = next(i for i, k in enumerate(keys) if k is Ellipsis)
            keys = (*keys[:at], *(slice(None),) * (self.ndim - len(keys) + 1), *keys[at + 1 :])
        return (keys[0] if keys else slice(None)), keys[1:]

    def __getitem__(self, key: Any) -> Any:
        """A view of all worlds (``[:, 2]``); of some, a NumPy copy."""
        worlds, rest = self._split(key)
        if isinstance(worlds, slice) and worlds == slice(None):
            return SplitArray([part[(slice(None), *rest)] for part in self.parts])
        return self.numpy()[(worlds, *rest)]

    def __setitem__(self, key: Any, value: Any) -> None:
        """Set elements from numbers, arrays of this machine, or an array that is split in the same way.

        Raises:
            ValueError: the array is read-only, or shapes don't fit.
        """
        worlds, rest = self._split(key)
        ids = np.atleast_1d(np.arange(len(self))[worlds])
        views = [part[(slice(None), *rest)] for part in self.parts]
        if isinstance(value, SplitArray) and np.array_equal(value._starts, self._starts) and len(ids) == len(self):
            for view, part in zip(views, value.parts, strict=True):
                view[...] = part
            return
        inner = views[0].shape[1:]
        given = np.asarray(value)
        try:
            rows = np.broadcast_to(given, inner if np.ndim(np.arange(len(self))[worlds]) == 0 else (len(ids), *inner))
        except ValueError:
            raise ValueError(f"could not broadcast from shape {given.shape} to {(len(ids), *inner)}") from None
        rows = rows.reshape((len(ids), *inner))
        for view, start, stop in zip(views, self._starts, self._starts[1:], strict=False):
            here = np.flatnonzero((ids >= start) & (ids < stop))
            if len(here):
                view[ids[here] - start] = rows[here]
