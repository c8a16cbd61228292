"""Worlds side by side against worlds alone: the same stages, compiled to the same rounding, in both layouts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from lane_code import LaneCode
from tests.lane_worlds import LaneWorlds

import cardan
from cardan.jit import Program
from cardan.jit.front.stage import HERE, INTERLEAVED, Form
from cardan.model.derived import ADDRESSES
from cardan.model.mjdata import model_in
from cardan.model.tables import COUNTERS, DATA
from cardan.plugins.sdf import attach_shape_data
from cardan.step.plan import plan_of
from cardan.step.programs import write_tables
from cardan.step.run import run

PROCESS = ("plugin_data", "timer.duration", "nbuffer", "narena", "maxuse_arena", "work.need")
"""Fields that hold addresses, the time that something took, or sizes of memory, which grows for all worlds at once."""


class Alone:
    """A program for single worlds, compiled to the rounding of the interpreter.

    Args:
        m: the model.
        items: a list of the pipeline.
    """

    def __init__(self, m: cardan.MjModel, items: tuple[Any, ...]) -> None:
        attach_shape_data(m)
        self.model = model_in(Form(INTERLEAVED), m)  # with numbers of functions in its tables
        plan = plan_of(self.model, items)
        write_tables(self.model, plan.tables)
        stages = list(plan.stages)
        self._code = LaneCode(stages, list(self.model._numbered), HERE, exact=True)
        for name in ADDRESSES:
            table = self.model._memory.arrays[name]
            functions = table > 0
            table[functions] = np.array([0, *self._code.table])[table[functions]]
        self._program = Program(self._code.addresses)

    def run(self, d: cardan.MjData, repeat: int) -> None:
        """Run the program on data of the model."""
        run(self._program, self.model, d, repeat)


def perturbed(m: cardan.MjModel, seed: int, count: int) -> list[cardan.MjData]:
    """Data of some worlds: a keyframe or the default, with small random velocities and controls; the first has none."""
    rng = np.random.default_rng(seed)
    found = []
    for world in range(count):
        d = cardan.MjData(m)
        if m.nkey:
            cardan.mj_resetDataKeyframe(m, d, 0)
        if world:
            d.qvel[:] += 0.1 * rng.normal(size=m.nv)
            d.ctrl[:] = rng.uniform(-0.5, 0.5, m.nu)
        found.append(d)
    return found


def differences(lanes: LaneWorlds, datas: Sequence[cardan.MjData]) -> Iterator[str]:
    """Fields of worlds that are not, bit by bit, those of the same worlds alone; of the arena, what is in use."""
    for field in DATA.fields:
        capacities = [dim for dim in field.shape if isinstance(dim, str) and dim in lanes.memory.growable]
        if field.is_attached or field.name in PROCESS or any(dim not in COUNTERS for dim in capacities):
            continue
        for world, d in enumerate(datas):
            own = lanes.memory.view(field.name)[world]
            memory = d._memory
            if field.is_scalar:
                alone = memory.scalars[field.name][0]
            else:
                alone = memory.arrays[field.name]
                used = [
                    memory.scalars[COUNTERS[dim]].item() if dim in capacities else n
                    for dim, n in zip(field.shape, alone.shape, strict=True)
                ]
                part = tuple(slice(0, n) for n in used)
                own, alone = own[part], alone[part]
            if not np.array_equal(own, alone, equal_nan=field.dtype.startswith("f")):
                worst = np.abs(np.asarray(own, float) - np.asarray(alone, float))
                yield f"{field.name} of world {world}: by {np.nanmax(worst):.2g} at {math.prod(np.shape(own))} numbers"


def compare(m: cardan.MjModel, items: tuple[Any, ...], seed: int = 0, count: int = 3, repeat: int = 2) -> list[str]:
    """Run a list of the pipeline in some worlds, side by side and alone; returns what differs."""
    datas = perturbed(m, seed, count)
    lanes = LaneWorlds(m, datas, exact=True)
    lanes.run(items, repeat)
    alone = Alone(m, items)
    for d in datas:
        alone.run(d, repeat)
    return list(differences(lanes, datas))
