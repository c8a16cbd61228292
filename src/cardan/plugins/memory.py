"""Data of plugin instances that compiled functions see: two arrays of numbers, made by `init`.

The numbers of an instance stand in ``d.work.plugin_number`` from `numbers_of(d, instance)`, its integers in
``d.work.plugin_index`` from `indices_of(d, instance)`. They belong to one MjData, and are made anew for its copies.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cardan.jit import kernel
from cardan.model.kernel_views import Data


@dataclass(frozen=True, slots=True)
class PluginMemory:
    """What an `init` function returns for compiled functions.

    Attributes:
        numbers: real numbers.
        indices: integers.
        remembered: places of those numbers that an evaluation leaves for later ones, if functions write numbers at all.
    """

    numbers: np.ndarray = field(default_factory=lambda: np.zeros(0))
    indices: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    remembered: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))


@kernel
def numbers_of(d: Data, instance: int) -> int:
    """Where the real numbers of an instance start in ``d.work.plugin_number``."""
    return d.work.plugin_start[2 * instance]


@kernel
def indices_of(d: Data, instance: int) -> int:
    """Where the integers of an instance start in ``d.work.plugin_index``."""
    return d.work.plugin_start[2 * instance + 1]


@kernel
def plugin_number(d: Data, instance: int, k: int) -> float:
    """Number `k` of the array that `init` returned for an instance: for compiled functions of plugins."""
    return d.work.plugin_number[numbers_of(d, instance) + k]


@kernel
def set_plugin_number(d: Data, instance: int, k: int, value: float) -> None:
    """Set number `k` of the array that `init` returned for an instance."""
    d.work.plugin_number[numbers_of(d, instance) + k] = value


def attach_memory(d: Any, memories: list[PluginMemory]) -> None:
    """Give data the numbers of all instances, one after the other."""
    numbers, indices, start, remembered = [np.zeros(0)], [np.zeros(0, np.int64)], [], [np.zeros(0, np.int64)]
    for memory in memories:
        start += [sum(map(len, numbers)), sum(map(len, indices))]
        remembered.append(start[-2] + memory.remembered)
        numbers.append(memory.numbers)
        indices.append(memory.indices)
    d._memory.attach("work.plugin_number", np.concatenate(numbers))
    d._memory.attach("work.plugin_index", np.concatenate(indices))
    d._memory.attach("work.plugin_start", np.array(start, np.int64))
    d._memory.attach("work.plugin_remembered", np.concatenate(remembered))
    d.__dict__.pop("_view", None)
