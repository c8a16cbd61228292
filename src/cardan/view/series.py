"""Values over time, for plots."""

from __future__ import annotations

import numpy as np

LENGTH = 400


class Series:
    """The last values of some quantities over time.

    Args:
        names: names of the quantities.
        length: largest number of stored values of each quantity.
    """

    def __init__(self, names: tuple[str, ...], length: int = LENGTH) -> None:
        self.names, self._length = names, length
        self._rows = np.zeros((0, 1 + len(names)))

    def add(self, time: float, values: np.ndarray) -> None:
        """Append one value for each name.

        If the time is before the last one, start again; if it is equal, do nothing.
        """
        if len(self._rows) and time == self._rows[-1, 0]:
            return
        if len(self._rows) and time < self._rows[-1, 0]:
            self._rows = self._rows[:0]
        row = np.concatenate([[time], np.asarray(values, float).ravel()])
        self._rows = np.concatenate([self._rows[-self._length + 1 :], row[None]])

    def columns(self) -> tuple[np.ndarray, ...]:
        """Times, then the values of each quantity; at least two points, which a plot needs."""
        rows = self._rows
        if len(rows) < 2:
            last = rows[-1:] if len(rows) else np.zeros((1, 1 + len(self.names)))
            rows = np.concatenate([last, last + np.eye(1, last.shape[1]) * 1e-9])
        return tuple(np.ascontiguousarray(rows[:, k]) for k in range(rows.shape[1]))
