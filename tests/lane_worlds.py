"""Worlds in the interleaved memory layout of GPUs, run one after the other by this processor.

Tests compare each world, bit by bit, with a single one. Python answers requests between stages, as for a GPU: if worlds
ask for room, the capacity grows for all worlds, and the stage runs again in those that asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from lane_code import LaneCode
from lane_memory import Lanes

from cardan.jit.front.stage import DOUBLE, INTERLEAVED, Form
from cardan.jit.memory.struct import StructMemory
from cardan.model import internals
from cardan.model.mjdata import MjData, model_in
from cardan.model.mjmodel import MjModel
from cardan.model.tables import CAPACITIES, DATA
from cardan.plugins.sdf import attach_shape_data
from cardan.step.plan import plan_of
from cardan.step.programs import write_tables
from cardan.step.report import WARNED


class LaneWorlds:
    """Some worlds of one model, side by side.

    Args:
        m: the model.
        datas: an MjData a world, whose values they start with.
        precision: of the numbers.
        exact: whether code is compiled to the rounding of the interpreter.
    """

    def __init__(self, m: MjModel, datas: Sequence[MjData], precision: str = DOUBLE, exact: bool = False) -> None:
        attach_shape_data(m)
        self.form, self.exact = Form(INTERLEAVED, precision), exact
        self.model = model_in(self.form, m)
        first = internals.memory(datas[0])
        self.memory = Lanes(self.form.struct(DATA), first.sizes, CAPACITIES, len(datas))
        for world, data in enumerate(datas):
            self.memory.put(world, internals.memory(data))
        for field in DATA.fields:
            if field.is_attached:
                self._attach(field.name, len(field.shape), [internals.memory(data) for data in datas])
        self.memory.attach("work.buffer", self.memory.numbers())

    def _attach(self, name: str, ndim: int, memories: Sequence[StructMemory]) -> None:
        """Attach a private array of all worlds, with the values of theirs; an empty one where they have none."""
        if name in memories[0].arrays:
            array = np.stack([memory.arrays[name] for memory in memories], axis=-1)
        else:
            array = np.zeros((*(0,) * ndim, len(memories)))
        self.memory.attach(name, array)

    def run(self, items: tuple[Any, ...], repeat: int = 1) -> None:
        """Run the stages of a list of the pipeline that the model needs, in all worlds.

        Raises:
            RuntimeError: a stage asks for what isn't done here (a reset, a Python function).
        """
        plan = plan_of(self.model, items)
        write_tables(self.model, plan.tables)
        stages: list[Any] = list(plan.stages)
        code = LaneCode(stages, list(internals.numbered(self.model)), self.form, self.exact)
        for _ in range(repeat):
            for k in range(len(code)):
                self._run_stage(code, k)

    def _run_stage(self, code: LaneCode, k: int) -> None:
        worlds: Sequence[int] = range(self.memory.worlds)
        while worlds:
            stopped = code.run(k, worlds, self.memory.worlds, self.model.address, self.memory.address)
            worlds = [world for world, status in stopped.items() if status > 0]
            for world, status in stopped.items():
                if status > 0:
                    self._grow(CAPACITIES[status - 1], int(self.memory.view("work.need")[world]))
                elif status != WARNED:
                    raise RuntimeError(f"stage {k} of a program in lanes stopped in world {world} with status {status}")

    def _grow(self, capacity: str, need: int) -> None:
        now = self.memory.sizes[capacity]
        if need > now:
            self.memory.grow(capacity, max(need + need // 4, now + now // 2, 16))
