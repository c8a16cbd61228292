"""One stage on its own: how functions of the interface that are no whole program get to native code, the short way."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from cardan.api.arguments import check_pair
from cardan.jit import Program
from cardan.jit.view import InterpretedView
from cardan.model.attributes import standalone_memory
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.model.tables import DATA


@cache
def _program(stage: Any) -> Program:
    return Program([stage])


def run_stage(stage: Any, m: MjModel, d: MjData) -> None:
    """Run a stage on a model and a data.

    Raises:
        TypeError, ValueError: these are no model and data of the same sizes.
    """
    if getattr(d, "model", None) is m:
        _program(stage).run_once(d)
    else:
        check_pair(stage.__name__, m, d)
        _program(stage).run(m, d)


class Desk:
    """Memory laid out like that of a data, for functions that are given a model only.

    A model keeps the desks that aren't in use, so that each thread works at one of its own.

    Args:
        m: the model, which is not kept.
    """

    def __init__(self, m: MjModel) -> None:
        memory = standalone_memory(DATA, {"nq": m.nq, "nv": m.nv})
        self.address = memory.address
        self.arrays = memory.arrays
        self.scalars = memory.scalars
        self.view = InterpretedView(memory)
        self._call = np.array([0, 0, m.address, memory.address], np.int64)  # what a program is run with
        self._resume = self._call[:2]
        self._resume_address = self._call.ctypes.data
        self._memory = memory

    def run(self, stage: Any, m: MjModel) -> None:
        """Run a stage on the model and this memory."""
        program = _program(stage)
        if program.once is None:
            program.run(m, self)
        else:
            program.once(program.block_address, self._resume_address)


def take_desk(m: MjModel) -> Desk:
    """A desk that nobody works at; it goes back with ``m._desks.append``."""
    try:
        return m._desks.pop()
    except IndexError:
        return Desk(m)
