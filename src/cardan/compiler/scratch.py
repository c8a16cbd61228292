"""Memory in which the compiler runs stages: the memory of a data, without a growable arena."""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from cardan.jit import Program
from cardan.jit.memory.struct import StructMemory, address_of
from cardan.jit.memory.view import InterpretedView
from cardan.model.reset import start_data
from cardan.model.tables import CAPACITIES, DATA

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel


@cache
def _start() -> Program:
    """Return the kernel that sets the default state, which includes mocap poses."""
    return Program([start_data])


class Scratch:
    """A data without contacts and constraints. Its attributes are the fields of fixed size."""

    def __init__(self, m: MjModel) -> None:
        self._memory = StructMemory(DATA, m._memory.sizes | dict.fromkeys(CAPACITIES, 0))
        self._memory.attach("work.plugin_handle", np.zeros(0))
        self.address = self._memory.address
        self._resume = np.zeros(5, np.int64)
        self._resume_address = address_of(self._resume)
        _start().run(m, self)

    @cached_property
    def view(self) -> InterpretedView:
        """Return the data in the form that stages receive if compilation is disabled."""
        return InterpretedView(self._memory)

    def __getattr__(self, name: str) -> np.ndarray:
        return self._memory.arrays[name]
