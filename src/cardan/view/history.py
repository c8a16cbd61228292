"""States of the recent past, to go back to."""

from __future__ import annotations

from collections import deque

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
        length: states that are kept; fewer if they would take too much memory.
    """

    def __init__(self, model: MjModel, length: int = LENGTH) -> None:
        self._size = mj_stateSize(model, SPEC)
        self._states: deque[np.ndarray] = deque(maxlen=max(2, min(length, MOST_BYTES // (8 * max(self._size, 1)))))

    def __len__(self) -> int:
        return len(self._states)

    @property
    def capacity(self) -> int:
        """States that are kept at most."""
        return self._states.maxlen or 0

    def add(self, model: MjModel, data: MjData) -> None:
        """Keep the present state."""
        state = np.empty(self._size)
        mj_getState(model, data, state, SPEC)
        self._states.append(state)

    def restore(self, model: MjModel, data: MjData, age: int) -> bool:
        """Put the state that was kept `age` records before the last one back into the data.

        Returns:
            Whether there is such a state.
        """
        if not 0 <= age < len(self._states):
            return False
        mj_setState(model, data, self._states[-1 - age], SPEC)
        return True

    def cut(self, age: int) -> None:
        """Forget what came after the state of that age: the simulation goes on from there."""
        for _ in range(min(age, len(self._states))):
            self._states.pop()

    def clear(self) -> None:
        """Forget all."""
        self._states.clear()
