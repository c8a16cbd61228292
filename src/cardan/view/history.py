"""Recorded states of the recent past, which can be restored."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from cardan.api.state import mj_getState, mj_setState, mj_stateSize
from cardan.enums import mjtState
from cardan.model import MjData, MjModel

LENGTH = 2000
MOST_BYTES = 100_000_000
SPEC = mjtState.mjSTATE_INTEGRATION.value


class History:
    """A bounded record of states, the oldest first.

    Args:
        model: the model.
        length: largest number of states; fewer if they would take too much memory.
        worlds: number of worlds whose states are recorded together.
    """

    def __init__(self, model: MjModel, length: int = LENGTH, worlds: int = 1) -> None:
        self._shape = (worlds, mj_stateSize(model, SPEC))
        most = MOST_BYTES // (8 * worlds * max(self._shape[1], 1))
        self._states: deque[np.ndarray] = deque(maxlen=max(2, min(length, most)))

    def __len__(self) -> int:
        return len(self._states)

    @property
    def capacity(self) -> int:
        """Largest number of states."""
        return self._states.maxlen or 0

    def add(self, model: MjModel, *worlds: MjData) -> None:
        """Record the current state of each world."""
        states = np.empty(self._shape)
        for state, data in zip(states, worlds, strict=True):
            mj_getState(model, data, state, SPEC)
        self._states.append(states)

    def restore(self, model: MjModel, worlds: Sequence[MjData], age: int) -> bool:
        """Restore the states that were recorded `age` records before the last one into the data of the worlds.

        Returns:
            Whether such a state exists.
        """
        if not 0 <= age < len(self._states):
            return False
        for state, data in zip(self._states[-1 - age], worlds, strict=True):
            mj_setState(model, data, state, SPEC)
        return True

    def cut(self, age: int) -> None:
        """Remove the states after the state of that age, from which the simulation continues."""
        for _ in range(min(age, len(self._states))):
            self._states.pop()

    def clear(self) -> None:
        """Remove all states."""
        self._states.clear()
