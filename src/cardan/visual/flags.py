"""Flags of options and scenes as programs see them.

The memory contains one byte for each flag of MuJoCo 3.1.6. In a process with compat 4.0, the attribute ``flags`` has
the order of 4.0.0; writing to its elements changes the memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.enums import mjtRndFlag, mjtVisFlag
from cardan.enums.numbering import inward, is_later, later

ENUMERATIONS: dict[int, Any] = {int(mjtVisFlag.mjNVISFLAG): mjtVisFlag, int(mjtRndFlag.mjNRNDFLAG): mjtRndFlag}
"""Enumerations of flags, by the number of their bytes."""
_EFFECTS = later(mjtRndFlag)
DEPTH, POST_PROCESSING = int(_EFFECTS.mjRND_DEPTH), int(_EFFECTS.mjRND_POST_PROCESSING)


class FlagArray(np.ndarray):
    """Copy of flags in the order of MuJoCo 4.0. Assignments to elements also change the flags; slices are read-only."""

    _source: np.ndarray | None = None
    _rows: np.ndarray | None = None  # index of each flag in the source, or -1

    def __array_finalize__(self, other: np.ndarray | None) -> None:
        if isinstance(other, FlagArray) and self.base is not None:
            self.flags.writeable = False

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        if self._source is None or self._rows is None:
            return
        if len(self) > DEPTH and self._rows[DEPTH] < 0 and self[DEPTH]:
            super().__setitem__(DEPTH, 0)
            raise ValueError("mjRND_DEPTH: depths in place of colours are not supported; mjr_readPixels returns depths")
        known = self._rows >= 0
        self._source[self._rows[known]] = np.asarray(self)[known]


def points_in_process(points: np.ndarray) -> np.ndarray:
    """Return the points of the lines of a figure: 1001 of each line, but 1000 in a process with compat 3.1."""
    return points if is_later() else points[:, :-2]


def in_process(flags: np.ndarray) -> np.ndarray:
    """Return flags in the order that the process uses: `flags` itself, or a `FlagArray`."""
    if not is_later():
        return flags
    enumeration = ENUMERATIONS[len(flags)]
    rows = np.full(list(inward(enumeration))[-1], -1)
    for flag, row in list(inward(enumeration).items())[:-1]:
        rows[flag] = row
    values = np.where(rows >= 0, flags[rows], np.arange(len(rows)) == POST_PROCESSING).astype(flags.dtype)
    shown = values.view(FlagArray)
    shown.flags.writeable = True
    shown._source, shown._rows = flags, rows
    return shown
