"""Data of plugin instances for compiled functions: two arrays of numbers, made by `init`.

The numbers of an instance start at `numbers_of(d, instance)` in ``d.work.plugin_number``, its integers at
`indices_of(d, instance)` in ``d.work.plugin_index``. They belong to one MjData, and copies of it get new ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cardan.jit import kernel
from cardan.model import internals
from cardan.model.kernel_views import Data


@dataclass(frozen=True, slots=True)
class PluginMemory:
    """Result of an `init` function, for compiled functions.

    Attributes:
        numbers: real numbers.
        indices: integers.
        remembered: indices of the numbers that an evaluation leaves for later ones, if functions write numbers at all.
    """

    numbers: np.ndarray = field(default_factory=lambda: np.zeros(0))
    indices: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    remembered: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))


@kernel
def numbers_of(d: Data, instance: int) -> int:
    """Index in ``d.work.plugin_number`` at which the real numbers of an instance start."""
    return d.work.plugin_start[2 * instance]


@kernel
def indices_of(d: Data, instance: int) -> int:
    """Index in ``d.work.plugin_index`` at which the integers of an instance start."""
    return d.work.plugin_start[2 * instance + 1]


@kernel
def plugin_number(d: Data, instance: int, k: int) -> float:
    """Return number `k` of the array that `init` returned for an instance, for compiled functions of plugins."""
    return d.work.plugin_number[numbers_of(d, instance) + k]


@kernel
def set_plugin_number(d: Data, instance: int, k: int, value: float) -> None:
    """Set number `k` of the array that `init` returned for an instance."""
    d.work.plugin_number[numbers_of(d, instance) + k] = value


def attach_memory(d: Any, memories: list[PluginMemory]) -> None:
    """Attach the numbers of all instances, one after the other, to data."""
    numbers, indices, start, remembered = [np.zeros(0)], [np.zeros(0, np.int64)], [], [np.zeros(0, np.int64)]
    for memory in memories:
        start += [sum(map(len, numbers)), sum(map(len, indices))]
        remembered.append(start[-2] + memory.remembered)
        numbers.append(memory.numbers)
        indices.append(memory.indices)
    internals.attach(d, "work.plugin_number", np.concatenate(numbers))
    internals.attach(d, "work.plugin_index", np.concatenate(indices))
    internals.attach(d, "work.plugin_start", np.array(start, np.int64))
    internals.attach(d, "work.plugin_remembered", np.concatenate(remembered))
