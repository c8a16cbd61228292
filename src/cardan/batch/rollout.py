"""Open-loop rollouts: simulate many worlds, each from its initial state with its controls, on native threads.

The interface is that of ``mujoco.rollout``. Each thread has its own MjData and simulates blocks of worlds. A block is
one native call (`cardan.batch.stages`) that needs neither the GIL nor Python between steps. A world's results depend
only on its own inputs, so they are bitwise identical for any number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from cardan.api.arguments import check_pair
from cardan.batch.arguments import checked_rows, results, unchecked_rows
from cardan.batch.stages import rollout_input, rollout_output, row_parts
from cardan.batch.threads import deal
from cardan.enums.data import mjtState
from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.step.pipeline import STEP
from cardan.step.programs import cached_program
from cardan.step.report import ROLLOUT_FROZEN
from cardan.step.run import attached, run
from cardan.step.state import STATE_FIELDS, field_sizes, state_fields, state_size
from cardan.threads import Crew, Job

_INPUT_FIELDS = tuple(name for bit, name in STATE_FIELDS if bit & mjtState.mjSTATE_USER)
_DEFAULT_INPUTS = ("ctrl", "qfrc_applied", "xfrc_applied", "eq_active", "mocap_pos", "mocap_quat")


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
    """Roll out open-loop trajectories from initial states; return the states and the sensor data after each step.

    The numbers of rollouts and steps are inferred from the arrays; dimensions of size 1 are repeated as needed. If a
    world raises a warning, its remaining rows repeat its last valid row.

    Args:
        model: the model.
        data: an MjData of the model, or a list with one for each thread. Inputs that are not in `control_spec` have
            their default values. If `control` is not given, inputs in `control_spec` keep the values of the (first)
            data.
        initial_state: initial full physics states ([nroll or 1] x nstate).
        control: inputs of each step ([nroll or 1] x [nstep or 1] x ncontrol).
        control_spec: fields that a row of `control` contains: bits of `mjtState` within mjSTATE_USER.
        skip_checks: expect all arrays in full size, and repeat none; `nroll` and `nstep` are then required.
        nroll: number of rollouts.
        nstep: number of steps.
        initial_warmstart: initial `qacc_warmstart` ([nroll or 1] x nv); zero if not given.
        state: output array of states (nroll x nstep x nstate); made if not given.
        sensordata: output array of sensor data (nroll x nstep x nsensordata); made if not given.
        nthread: number of threads; None: one for each MjData in `data`. Missing MjData objects are made.

    Returns:
        state (nroll, nstep, nstate) and sensordata (nroll, nstep, nsensordata).

    Raises:
        ValueError: shapes don't fit, or `control_spec` has bits outside mjSTATE_USER.
    """
    workers = _workers(model, data, nthread)
    sizes = row_sizes(model, control_spec)
    prepare = unchecked_rows if skip_checks else checked_rows
    given = {"initial_state": initial_state, "control": control, "initial_warmstart": initial_warmstart}
    given |= {"state": state, "sensordata": sensordata}
    rows = prepare(sizes, nroll, nstep, given)
    _run_all(model, workers, rows, control_spec)
    return results(rows["state"], state), results(rows["sensordata"], sensordata)


def row_sizes(model: MjModel, control_spec: int) -> dict[str, int]:
    """Return the row length of each array of a rollout; raise ValueError if `control_spec` exceeds mjSTATE_USER."""
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
    """Return one MjData for each of `nthread` threads (None: as many as in `data`).

    If `data` has too few, copies of its first MjData are added.
    """
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


def _run_all(model: MjModel, workers: list[MjData], rows: dict[str, np.ndarray | None], control_spec: int) -> None:
    """Simulate all worlds in blocks, and write their states and sensor data to the arrays in `rows`.

    If there is a single MjData, use one block and the calling thread.
    """
    nothing = np.zeros(0)
    given: dict[str, Any] = {name: nothing if array is None else array for name, array in rows.items()}
    nroll, nstep = given["state"].shape[:2]
    if nroll * nstep == 0:
        return
    d = workers[0]
    program = cached_program(
        model, "rollout", (rollout_input, *STEP, rollout_output), answers={ROLLOUT_FROZEN: _repeat_last_row}
    )
    kept, defaults = state_fields(control_spec), MjData(model)
    start = {
        name: getattr(defaults if name in _DEFAULT_INPUTS and name not in kept else d, name).ravel()
        for name in _INPUT_FIELDS
    }
    shared = {
        "input": np.concatenate([nothing, *start.values()]),
        "state_part": _parts(model, d, state_fields(mjtState.mjSTATE_FULLPHYSICS)),
        "control_part": _parts(model, d, kept),
        "input_part": _parts(model, d, list(start)),
    }

    def run_block(begin: int, end: int, worker: MjData, job: Job | None = None) -> None:
        block = {name: array if array is nothing else array[begin:end] for name, array in given.items()}
        block["initial"], block["warmstart"] = block.pop("initial_state"), block.pop("initial_warmstart")
        scalars = internals.memory(worker).scalars
        scalars["work.rollout_row"][0] = 0
        scalars["work.rollout_nstep"][0] = nstep
        arrays = {f"work.rollout_{name}": array.reshape(-1) for name, array in {**block, **shared}.items()}
        with attached(worker, arrays):
            run(program, model, worker, (end - begin) * nstep, job)

    if len(workers) == 1:
        run_block(0, nroll, d)
        return
    blocks = deal(nroll, len(workers))

    def work(job: Job, worker: int) -> None:
        for k in job.parts(len(blocks)):
            run_block(*blocks[k], workers[worker], job)

    with closing(Crew(len(workers), "cardan-rollout")) as crew:
        crew.share(work, len(blocks))


def _parts(m: MjModel, d: MjData, names: Sequence[str]) -> np.ndarray:
    """Return the parts of a row that consists of the named fields (see `row_parts`)."""
    base = internals.memory(d).buffer.ctypes.data
    return row_parts(names, field_sizes(m), lambda name: (getattr(d, name).ctypes.data - base) // 8)


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
