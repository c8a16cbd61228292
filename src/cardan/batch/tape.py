"""Tapes of batches: recorded steps of many worlds and gradients of losses, computed by native threads.

Each thread handles some of the worlds and has its own data and tangent programs. One native call computes all steps of
a thread's worlds (`cardan.derive.trajectory`). Results are the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from cardan.api.arguments import reach_of
from cardan.api.tape import STATE, Gradient, Jacobians, loss_slopes, split_jacobians
from cardan.batch.arguments import integer
from cardan.batch.differentiable import crew_of
from cardan.derive.linearisation import lent
from cardan.derive.plugins import check_numbers, remembered_numbers
from cardan.derive.trajectory import Recorded, Rows
from cardan.jit.front.stage import HERE
from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.step.programs import program
from cardan.step.run import run
from cardan.threads import Locked

if TYPE_CHECKING:
    from cardan.batch.batch import Batch
    from cardan.derive.inputs import By

Result = TypeVar("Result")
STEPPED = ("time", *STATE, "ctrl", "qacc_warmstart", "plugin_state")
"""Parts of the state that steps change."""


class BatchTape(Locked):
    """Recorded steps of worlds.

    Attributes:
        m: the batch's model, which must not be changed while the tape is in use.
        nworld: number of worlds.
        nstep: number of steps.
        controls: controls of each step, (nworld, nstep, nu).
        qpos, qvel, act: stored states (nworld, n, ...): before every `every`-th step, and after the last step.
        sensordata: sensor data of each step, (nworld, nstep, nsensordata).
    """

    def __init__(self, batch: Batch, worlds: np.ndarray, controls: np.ndarray, reach: float, every: int) -> None:
        super().__init__()
        self.m, self.controls = batch.model, controls
        self.nworld, self.nstep = controls.shape[:2]
        with lent(self.m, ("data to record with",), lambda: MjData(self.m)) as d:
            layout = Rows(self.m, remembered_numbers(self.m, d))
            ids = worlds.tolist() if len(layout.remembered) else []
            numbers = [internals.array(batch.data(i), "work.plugin_number") for i in ids]
            for own in numbers:
                check_numbers(internals.array(d, "work.plugin_number"), own)
        starts = np.zeros((self.nworld, layout.width))
        for name, place in layout.places.items():
            starts[:, place] = np.asarray(batch.bind(name))[worlds].reshape(self.nworld, -1)
        for row, own in zip(starts, numbers, strict=False):
            row[-len(layout.remembered) :] = own[layout.remembered]
        count = max(1, min(batch.nthread, self.nworld))
        ends = [self.nworld * k // count for k in range(count + 1)]
        self._parts = [slice(*ends[k : k + 2]) for k in range(count)]

        def record(part: slice) -> Recorded:
            own = np.ascontiguousarray(controls[part])
            with lent(self.m, ("data to record with",), lambda: MjData(self.m)) as d:
                run(program(self.m, "mj_resetData"), self.m, d)
                return Recorded(self.m, d, own, reach, every, starts[part])

        self._recorded = self._spread(record, self._parts)
        rows = np.concatenate([recorded.rows for recorded in self._recorded])
        self.sensordata = np.concatenate([recorded.sensordata for recorded in self._recorded])
        self.qpos, self.qvel, self.act = (layout.field(rows, name) for name in STATE)
        for name in STEPPED:
            values = controls[:, -1] if name == "ctrl" and self.nstep else layout.field(rows[:, -1], name)
            target = batch.bind(name)
            target[worlds] = values.reshape(self.nworld, *target.shape[1:])
        for row, own in zip(rows[:, -1], numbers, strict=False):
            own[layout.remembered] = row[-len(layout.remembered) :]

    def _spread(self, work: Callable[[Any], Result], items: Sequence[Any]) -> list[Result]:
        """Call `work` for each item, each in its own thread. Return the results in the order of the items."""
        found: list[Any] = [None] * len(items)

        def one(k: int, _: int) -> None:
            found[k] = work(items[k])

        with self.lock:  # for one call at a time
            crew_of(len(items)).each(one, len(items))
        return found

    def gradient(self, dL_dstate: np.ndarray, dL_dsensors: np.ndarray | None = None) -> Gradient:
        """Compute the gradients of a loss of all worlds, or of one loss for each world (see `Tape.gradient`).

        Args:
            dL_dstate: derivatives of the loss with respect to all states, (nworld, nstep + 1, 2 nv + na), or to the
                last state, (nworld, 2 nv + na); positions in the tangent space.
            dL_dsensors: derivatives of the loss with respect to the sensor data of each step, (nworld, nstep,
                nsensordata), or None.

        Returns:
            Gradients with respect to the initial states and the controls of each step; the first axis is the world.
        """
        by_states, by_sensors = loss_slopes(self.m, (self.nworld, self.nstep), dL_dstate, dL_dsensors)

        def work(k: int) -> tuple[np.ndarray, ...]:
            part = self._parts[k]
            return self._recorded[k].gradient(by_states[part], None if by_sensors is None else by_sensors[part])

        found = self._spread(work, range(len(self._parts)))
        return Gradient(*(np.concatenate(arrays) for arrays in zip(*found, strict=True)))

    def jacobians(self, sensors: bool = False) -> Jacobians:
        """Compute the Jacobians of all steps (see `Tape.jacobians`); the first axis of the results is the world."""
        found = self._spread(lambda recorded: recorded.jacobians(sensors), self._recorded)
        return split_jacobians(self.m, np.concatenate(found), sensors)

    def sensitivities(self, by: str | By) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Compute derivatives of all states and sensor data with respect to the inputs `by` (see `Tape.sensitivities`).

        Returns:
            For each name the derivatives of the states, (nworld, nstep + 1, 2 nv + na, ...), and of the sensor data,
            (nworld, nstep, nsensordata, ...).
        """
        found = self._spread(lambda recorded: recorded.sensitivities(by), self._recorded)
        if len(found) == 1:
            return found[0]
        return {
            name: (np.concatenate([f[name][0] for f in found]), np.concatenate([f[name][1] for f in found]))
            for name in found[0]
        }


def record(
    batch: Batch, worlds: np.ndarray, nstep: int, controls: Any, contacts: str, reach: float | None, every: int
) -> BatchTape:
    """Simulate the worlds with ids `worlds` (k,) of a batch, and return their tape.

    The batch must be on the CPU and in double precision. All other arguments and the errors are as in `Batch.record`.
    """
    if batch._worlds.form != HERE:
        raise NotImplementedError("record: tapes are of batches on the CPU in double precision, not of others yet")
    if batch._worlds.models.values or batch._worlds.models.given is not None:
        raise NotImplementedError("record: tapes of batches whose worlds have models of their own are not there yet")
    m, count, spacing = batch.model, integer("nstep", nstep), integer("every", every)
    if count < 0 or spacing < 1:
        raise ValueError(f"record: nstep must not be negative and every at least 1, got {nstep} and {every}")
    shape = (len(worlds), count, m.nu)
    given = np.asarray(batch.bind("ctrl"))[worlds][:, None] if controls is None else np.asarray(controls, float)
    try:
        rows = np.array(np.broadcast_to(given, shape))
    except ValueError:
        raise ValueError(f"record: controls should be of shape {shape}, got {given.shape}") from None
    return BatchTape(batch, worlds, rows, reach_of("record", m, contacts, reach), spacing)
