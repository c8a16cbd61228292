"""Execution of a rollout: blocks of worlds, each on the MjData of a thread.

A block is one native call for each of its models (`cardan.batch.stages`), which needs neither the GIL nor Python
between steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cardan.batch.stages import rollout_input, rollout_output, row_parts
from cardan.enums.data import mjtState
from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.step.pipeline import STEP
from cardan.step.programs import cached_program
from cardan.step.report import ROLLOUT_FROZEN
from cardan.step.run import StepProgram, attached, run
from cardan.step.state import STATE_FIELDS, field_sizes, state_fields, state_size
from cardan.threads import Crew, Job

_INPUT_FIELDS = tuple(name for bit, name in STATE_FIELDS if bit & mjtState.mjSTATE_USER)
_DEFAULT_INPUTS = ("ctrl", "qfrc_applied", "xfrc_applied", "eq_active", "mocap_pos", "mocap_quat")
_NOTHING = np.zeros(0)


class OpenLoop:
    """One rollout: the models, the MjData of each thread, and the arrays of inputs and outputs.

    Args:
        models: one model, or one for each world; all have the same sizes.
        workers: the MjData of each thread. The first one contains the inputs that are neither in `control_spec` nor
            have default values.
        rows: arrays by name, in full size; None for those that are not given.
        control_spec: fields that a row of controls contains, as bits of `mjtState`.
    """

    def __init__(
        self, models: list[MjModel], workers: list[MjData], rows: Mapping[str, np.ndarray | None], control_spec: int
    ) -> None:
        self.models, self.workers = models, workers
        self.arrays: dict[str, Any] = {name: _NOTHING if array is None else array for name, array in rows.items()}
        self.nstep = self.arrays["state"].shape[1]
        first, kept = workers[0], state_fields(control_spec)
        self.parts = {
            "work.rollout_state_part": _parts(first, state_fields(mjtState.mjSTATE_FULLPHYSICS)),
            "work.rollout_control_part": _parts(first, kept),
            "work.rollout_input_part": _parts(first, _INPUT_FIELDS),
        }
        distinct = {id(m): m for m in models}
        self.programs = {key: _program(m) for key, m in distinct.items()}
        self.inputs = {key: _first_inputs(m, first, kept) for key, m in distinct.items()}

    def run(self, crew: Crew | None, blocks: Sequence[tuple[int, int]]) -> None:
        """Simulate the worlds of all blocks (begin, end) on a thread pool; None: on the calling thread."""

        def work(job: Job, thread: int) -> None:
            for k in job.parts(len(blocks)):
                self._run_block(*blocks[k], self.workers[thread], job)

        if crew is not None:
            crew.share(work, min(len(blocks), len(self.workers)))
            return
        for begin, end in blocks:
            self._run_block(begin, end, self.workers[0])

    def _run_block(self, begin: int, end: int, worker: MjData, job: Job | None = None) -> None:
        """Simulate the worlds from `begin` to `end` (exclusive) on one MjData."""
        for m, first, last in _equal_models(self.models, begin, end):
            block = {name: a if a is _NOTHING else a[first:last] for name, a in self.arrays.items()}
            block["initial"], block["warmstart"] = block.pop("initial_state"), block.pop("initial_warmstart")
            block["input"] = self.inputs[id(m)]
            scalars = internals.memory(worker).scalars
            scalars["work.rollout_row"][0] = 0
            scalars["work.rollout_nstep"][0] = self.nstep
            arrays = {f"work.rollout_{name}": array.reshape(-1) for name, array in block.items()}
            with attached(worker, {**arrays, **self.parts}):
                run(self.programs[id(m)], m, worker, (last - first) * self.nstep, job)


def _equal_models(models: list[MjModel], begin: int, end: int) -> Iterator[tuple[MjModel, int, int]]:
    """Divide the worlds from `begin` to `end` into groups of consecutive worlds that have the same model.

    Yield the model, the first world and the end of each group.
    """
    if len(models) == 1:
        yield models[0], begin, end
        return
    while begin < end:
        last = begin + 1
        while last < end and models[last] is models[begin]:
            last += 1
        yield models[begin], begin, last
        begin = last


def _program(m: MjModel) -> StepProgram:
    """Return the program of one step of a rollout."""
    items = (rollout_input, *STEP, rollout_output)
    return cached_program(m, "rollout", items, answers={ROLLOUT_FROZEN: _repeat_last_row})


def _first_inputs(m: MjModel, d: MjData, kept: Sequence[str]) -> np.ndarray:
    """Return the inputs at the start of each world: defaults of the model, or the values of `d` for fields in `kept`.

    Inputs without a default in rollouts have the values of `d`, too.
    """
    defaults = MjData(m)
    values = [getattr(defaults if name in _DEFAULT_INPUTS and name not in kept else d, name) for name in _INPUT_FIELDS]
    return np.concatenate([_NOTHING, *(value.ravel() for value in values)])


def _parts(d: MjData, names: Sequence[str]) -> np.ndarray:
    """Return the parts of a row that consists of the named fields (see `row_parts`)."""
    base = internals.memory(d).buffer.ctypes.data
    return row_parts(names, field_sizes(d.model), lambda name: (getattr(d, name).ctypes.data - base) // 8)


def _repeat_last_row(program: Any, m: MjModel, d: MjData) -> None:
    """Fill the remaining rows of a world that raised a warning with its last row, and continue with the next world."""
    row, nstep = (internals.number(d, f"work.rollout_{name}") for name in ("row", "nstep"))
    end = (row // nstep + 1) * nstep
    widths = {"state": state_size(m, mjtState.mjSTATE_FULLPHYSICS), "sensordata": m.nsensordata}
    for name, width in widths.items():
        rows = internals.array(d, f"work.rollout_{name}").reshape(-1, width) if width else np.zeros((end, 0))
        rows[row:end] = rows[row - 1]
    internals.set_number(d, "work.rollout_row", end)
    internals.position(d)[:] = 0, end
