"""What engine plugins remember from one evaluation to the next, in derivatives of a step.

Elastic solids and membranes with damping keep the lengths of their edges, and damp by the difference to those of the
evaluation before (`plugins.strain`). Compiled functions of the user may keep numbers or states likewise. A step is then
a function of what they remember, too: derivatives are those at the memory that the data has. Programs evaluate a step
several times: `recall` lets each of these begin with the same memory.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from cardan.derive.plugins import calls
from cardan.jit import OK, kernel, stage
from cardan.jit.transform.stages import written
from cardan.model import internals
from cardan.model.kernel_views import Data, Model
from cardan.plugins.registry import Plugin, plugin_of
from cardan.step.plugin_stages import (
    ACT_DOT,
    ADVANCE,
    COMPUTE_ACTUATOR,
    COMPUTE_PASSIVE,
    SENSOR_SLOTS,
    entries_of,
)

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

STOCK = "cardan.plugins."
NUMBER, STATE = "d.work.plugin_number", "d.plugin_state"
EVALUATED = (COMPUTE_ACTUATOR, COMPUTE_PASSIVE, *SENSOR_SLOTS.values(), ACT_DOT)
"""Kinds of functions that run in each evaluation of the dynamics."""
STEPPED = (*EVALUATED, ADVANCE)
"""Kinds of functions that run in a step."""


def is_stock(plugin: Plugin) -> bool:
    """Whether a plugin is one of the package."""
    return plugin.compute is not None and f"{plugin.compute.__module__}.".startswith(STOCK)


@cache
def memory_written(plugin: Plugin, slots: tuple[int, ...]) -> frozenset[str]:
    """Which of numbers and states the compiled functions of some kinds write."""
    entries = [entries_of(plugin).get(slot) for slot in slots]
    fields = [written(calls(entry, 0, 1, 0)) for entry in entries if entry is not None and not isinstance(entry, int)]
    return frozenset().union(*fields) & {NUMBER, STATE}


def remembered_numbers(m: MjModel, d: MjData, slots: tuple[int, ...] = STEPPED) -> np.ndarray:
    """Places in ``d.work.plugin_number`` of what functions of some kinds leave for the next evaluation or step."""
    if not m.nplugin:
        return np.zeros(0, np.int64)
    arrays = internals.memory(d).arrays
    places, starts = arrays["work.plugin_remembered"], arrays["work.plugin_start"][::2]
    if not len(places):
        return places
    writes = [NUMBER in memory_written(plugin_of(m, k), slots) for k in range(m.nplugin)]
    return places[np.array(writes)[np.searchsorted(starts, places, side="right") - 1]].copy()


def evaluations_matter(m: MjModel, d: MjData) -> bool:
    """Whether an evaluation of the dynamics depends on what the one before has left."""
    if not m.nplugin:
        return False
    own = [plugin_of(m, k) for k in range(m.nplugin)]
    return len(remembered_numbers(m, d, EVALUATED)) > 0 or any(
        STATE in memory_written(plugin, EVALUATED) for plugin in own
    )


def check_no_memory(m: MjModel, d: MjData, what: str) -> None:
    """Refuse models whose plugins have a state, or remember evaluations.

    Args:
        m: model.
        d: data of it.
        what: what does not work with them, for the message.

    Raises:
        NotImplementedError: they have, or do.
    """
    names = ", ".join(sorted({plugin_of(m, k).name for k in range(m.nplugin)}))
    if m.npluginstate:
        raise NotImplementedError(f"{what} of models whose plugins have a state ({names}) are not supported")
    if evaluations_matter(m, d):
        raise NotImplementedError(f"{what} of models whose plugins remember evaluations ({names}) are not supported")


def memory_size(m: MjModel, d: MjData) -> int:
    """How many numbers plugins keep from one step to the next: states, and what they remember."""
    return m.npluginstate + len(remembered_numbers(m, d))


def made_by_the_user(m: MjModel) -> bool:
    """Whether plugins of the user are among those of a model: `init` may make as many numbers as it likes."""
    return any(not is_stock(plugin_of(m, k)) for k in range(m.nplugin))


def begin_memory(m: MjModel, d: MjData) -> None:
    """Give data room for what `recall` keeps."""
    places = remembered_numbers(m, d)
    internals.attach(d, "work.plugin_remembered", places)
    internals.attach(d, "work.plugin_kept", np.zeros(m.npluginstate + len(places)))


def check_numbers(own: np.ndarray, other: np.ndarray) -> None:
    """Refuse numbers of plugins that are not as many as those of other data of the same model.

    Raises:
        ValueError: `init` has made another number of numbers.
    """
    if own.shape != other.shape:
        raise ValueError(
            f"derivatives: a plugin's init made {len(other)} numbers for this data and {len(own)} for others of its "
            "model; they must be as many"
        )


def take_memory(target: MjData, source: MjData) -> None:
    """Take over what the plugins of other data of the same model remember.

    Raises:
        ValueError: `init` has made another number of numbers for them.
    """
    own, other = (internals.array(d, "work.plugin_number") for d in (target, source))
    check_numbers(own, other)
    own[...] = other


@stage
def plant_memory(m: Model, d: Data) -> int:
    """Move states of plugins and what they remember by ``work.seed_memory``, which is 0: only its tangents count."""
    for i in range(m.npluginstate):
        d.plugin_state[i] += d.work.seed_memory[i]
    for k in range(len(d.work.plugin_remembered)):
        d.work.plugin_number[d.work.plugin_remembered[k]] += d.work.seed_memory[m.npluginstate + k]
    return OK


@stage
def gather_memory(m: Model, d: Data) -> int:
    """States of plugins and what they remember behind the state in ``work.outcome``."""
    at = 2 * m.nv + m.na
    for i in range(m.npluginstate):
        d.work.outcome[at + i] = d.plugin_state[i]
    for k in range(len(d.work.plugin_remembered)):
        d.work.outcome[at + m.npluginstate + k] = d.work.plugin_number[d.work.plugin_remembered[k]]
    return OK


@kernel
def _put_back(m: Model, d: Data) -> None:
    for i in range(m.npluginstate):
        d.plugin_state[i] = d.work.plugin_kept[i]
    for k in range(len(d.work.plugin_remembered)):
        d.work.plugin_number[d.work.plugin_remembered[k]] = d.work.plugin_kept[m.npluginstate + k]


@stage
def recall(m: Model, d: Data) -> int:
    """Before an evaluation of a step: keep the memory if it is new (``work.plugin_is_kept`` is 0), else put it back."""
    if d.work.plugin_is_kept != 0:
        _put_back(m, d)
        return OK
    for i in range(m.npluginstate):
        d.work.plugin_kept[i] = d.plugin_state[i]
    for k in range(len(d.work.plugin_remembered)):
        d.work.plugin_kept[m.npluginstate + k] = d.work.plugin_number[d.work.plugin_remembered[k]]
    d.work.plugin_is_kept = 1
    return OK


@stage
def put_back(m: Model, d: Data) -> int:
    """After a block of directions: put the memory back, with tangents of 0."""
    _put_back(m, d)
    return OK
