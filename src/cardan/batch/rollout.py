"""Open-loop rollouts: many worlds, each from its initial state through its controls, over native threads.

The interface is that of ``mujoco.rollout``. Each thread has its own MjData and does blocks of worlds; a block is one
native call (`cardan.batch.worlds`) that needs neither the GIL nor Python between steps. A world's results depend on
nothing but its own inputs, so they are the same, bit by bit, for any number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cardan.api.arguments import check_pair
from cardan.batch.shapes import checked_rows, results, unchecked_rows
from cardan.batch.threads import deal
from cardan.batch.worlds import BYTES, TIME, WORDS, rollout_input, rollout_output
from cardan.enums.data import mjtState
from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.step.pipeline import STEP
from cardan.step.programs import cached_program
from cardan.step.run import attached, run
from cardan.step.state import STATE_FIELDS, field_sizes, state_fields, state_size
from cardan.step.status import ROLLOUT_FROZEN
from cardan.threads import Crew, Job

_INPUT_FIELDS = tuple(name for bit, name in STATE_FIELDS if bit & mjtState.mjSTATE_USER)
_DEFAULT_INPUTS = ("ctrl", "qfrc_applied", "xfrc_applied", "eq_active", "mocap_pos", "mocap_quat")


@dataclass(frozen=True, slots=True)
class Worlds:
    """Inputs and outputs of a set of worlds: rows in C order.

    Attributes:
        initial_state: (nroll, nstate).
        initial_warmstart: (nroll, nv), or nothing.
        control: (nroll, nstep, ncontrol), or nothing.
        control_spec: what a row of controls is made of (`mjtState` bits).
        state: (nroll, nstep, nstate), written.
        sensordata: (nroll, nstep, nsensordata), written.
    """

    initial_state: np.ndarray
    initial_warmstart: np.ndarray | None
    control: np.ndarray | None
    control_spec: int
    state: np.ndarray
    sensordata: np.ndarray

    def block(self, begin: int, end: int) -> Worlds:
        """The worlds from `begin` up to `end`."""
        part = slice(begin, end)
        return Worlds(
            self.initial_state[part],
            None if self.initial_warmstart is None else self.initial_warmstart[part],
            None if self.control is None else self.control[part],
            self.control_spec,
            self.state[part],
            self.sensordata[part],
        )


def rollout(
    model: MjModel,
    data: MjData | Sequence[MjData],
    initial_state: npt.ArrayLike,
    control: npt.ArrayLike | None = None,
    *,
    control_spec: int = mjtState.mjSTATE_CTRL.value,
    skip_checks: bool = False,
    nroll: int | None = None,
    nstep: int | None = None,
    initial_warmstart: npt.ArrayLike | None = None,
    state: npt.ArrayLike | None = None,
    sensordata: npt.ArrayLike | None = None,
    nthread: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Roll out open-loop trajectories from initial states; returns the states and the sensor data after each step.

    Numbers of rollouts and steps are inferred from the arrays; dimensions of size 1 are repeated as needed. When a
    world raises a warning, its remaining rows repeat the last one.

    Args:
        model: the model.
        data: an MjData of the model, or a list of them: one a thread. Inputs that `control_spec` leaves out have their
            defaults; those that it names start from their values in the (first) data if no control is given.
        initial_state: initial states, of the full physics state ([nroll or 1] x nstate).
        control: inputs of each step ([nroll or 1] x [nstep or 1] x ncontrol).
        control_spec: what a row of `control` is made of: bits of `mjtState` within mjSTATE_USER.
        skip_checks: take all arrays as they are, in full size; `nroll` and `nstep` are needed then.
        nroll: number of rollouts.
        nstep: number of steps.
        initial_warmstart: initial `qacc_warmstart` ([nroll or 1] x nv); zero if not given.
        state: output array of states (nroll x nstep x nstate); made if not given.
        sensordata: output array of sensor data (nroll x nstep x nsensordata); made if not given.
        nthread: number of threads (default: as many as there are data; more data are made if needed).

    Returns:
        state (nroll, nstep, nstate) and sensordata (nroll, nstep, nsensordata).

    Raises:
        ValueError: shapes that don't fit, or `control_spec` with other bits.
    """
    workers = _workers(model, data, nthread)
    sizes = row_sizes(model, control_spec)
    prepare = unchecked_rows if skip_checks else checked_rows
    given = {"initial_state": initial_state, "control": control, "initial_warmstart": initial_warmstart}
    given |= {"state": state, "sensordata": sensordata}
    rows = prepare(sizes, nroll, nstep, given)
    _run_all(model, workers, Worlds(control_spec=control_spec, **rows))
    return results(rows["state"], state), results(rows["sensordata"], sensordata)


def row_sizes(model: MjModel, control_spec: int) -> dict[str, int]:
    """Length of a row of each array of a rollout.

    Raises:
        ValueError: `control_spec` has bits outside mjSTATE_USER.
    """
    if control_spec & ~mjtState.mjSTATE_USER.value:
        raise ValueError("control_spec can only contain bits in mjSTATE_USER")
    nstate = state_size(model, mjtState.mjSTATE_FULLPHYSICS)
    return {
        "initial_state": nstate,
        "control": state_size(model, control_spec),
        "initial_warmstart": model.nv,
        "state": nstate,
        "sensordata": model.nsensordata,
    }


def _workers(model: MjModel, data: MjData | Sequence[MjData], nthread: int | None) -> list[MjData]:
    """One MjData a thread: those given, and more if they are too few."""
    workers = list(data) if isinstance(data, Sequence) else [data]
    if not workers:
        raise ValueError("data is an empty list; give one MjData or more")
    for d in workers:
        check_pair("rollout", model, d)
    if len({id(d) for d in workers}) < len(workers):
        raise ValueError("data has the same MjData more than once; each thread needs its own")
    if nthread is None:
        return workers
    if nthread < 1:
        raise ValueError(f"nthread must be positive, not {nthread}")
    while len(workers) < nthread:
        workers.append(copy(workers[0]))
    return workers[:nthread]


def _run_all(model: MjModel, workers: list[MjData], worlds: Worlds) -> None:
    """Simulate all worlds.

    The worlds are cut into blocks. Each thread has an MjData, and simulates block after block on it, each in one native
    call. A single MjData does all worlds in one block, on the calling thread.
    """
    nroll, nstep = worlds.state.shape[:2]
    if nroll * nstep == 0:
        return
    program = cached_program(
        model, "rollout", (rollout_input, *STEP, rollout_output), answers={ROLLOUT_FROZEN: _repeat_last_row}
    )
    start = _start_inputs(model, workers[0], worlds.control_spec)
    if len(workers) == 1:
        _run_block(program, model, workers[0], worlds, start)
        return
    blocks = deal(nroll, len(workers))

    def work(job: Job, worker: int) -> None:
        for k in job.parts(len(blocks)):
            _run_block(program, model, workers[worker], worlds.block(*blocks[k]), start, job)

    with closing(Crew(len(workers), "cardan-rollout")) as crew:
        crew.share(work, len(blocks))


def _start_inputs(m: MjModel, d: MjData, control_spec: int) -> dict[str, np.ndarray]:
    """Inputs at the start of each world: those of `d`, but the ones outside `control_spec` have their defaults."""
    kept = state_fields(control_spec)
    defaults = MjData(m)
    return {
        n: np.array(getattr(defaults if n in _DEFAULT_INPUTS and n not in kept else d, n)).ravel()
        for n in _INPUT_FIELDS
    }


def _parts(m: MjModel, d: MjData, names: Sequence[str]) -> np.ndarray:
    """The parts of a row made of the named fields: kind, address in `work.buffer`, size."""
    base = internals.memory(d).buffer.ctypes.data
    sizes = field_sizes(m)
    rows = []
    for name in names:
        kind = {"time": TIME, "eq_active": BYTES}.get(name, WORDS)
        address = (getattr(d, name).ctypes.data - base) // 8 if kind == WORDS else 0
        rows.append((kind, address, sizes[name]))
    return np.array(rows, np.int64).reshape(-1)


def _run_block(
    program: Any, m: MjModel, d: MjData, worlds: Worlds, start: dict[str, np.ndarray], job: Job | None = None
) -> None:
    """Do the worlds of one block on one data, in one native call."""
    nroll, nstep = worlds.state.shape[:2]
    nothing = np.zeros(0)
    scalars = internals.memory(d).scalars
    scalars["work.rollout_row"][0] = 0
    scalars["work.rollout_nstep"][0] = nstep
    rows = {
        "initial": worlds.initial_state,
        "warmstart": nothing if worlds.initial_warmstart is None else worlds.initial_warmstart,
        "control": nothing if worlds.control is None else worlds.control,
        "state": worlds.state,
        "sensordata": worlds.sensordata,
        "input": np.concatenate([nothing, *start.values()]),
        "state_part": _parts(m, d, state_fields(mjtState.mjSTATE_FULLPHYSICS)),
        "control_part": _parts(m, d, state_fields(worlds.control_spec)),
        "input_part": _parts(m, d, list(start)),
    }
    with attached(d, {f"work.rollout_{name}": array.reshape(-1) for name, array in rows.items()}):
        run(program, m, d, nroll * nstep, job)


def _repeat_last_row(program: Any, m: MjModel, d: MjData) -> None:
    """Fill the rest of a world that raised a warning with its last row, and go on with the next world."""
    row, nstep = (internals.number(d, f"work.rollout_{name}") for name in ("row", "nstep"))
    end = (row // nstep + 1) * nstep
    widths = {"state": state_size(m, mjtState.mjSTATE_FULLPHYSICS), "sensordata": m.nsensordata}
    for name, width in widths.items():
        rows = internals.array(d, f"work.rollout_{name}").reshape(-1, width) if width else np.zeros((end, 0))
        rows[row:end] = rows[row - 1]
    internals.set_number(d, "work.rollout_row", end)
    internals.position(d)[:] = 0, end
