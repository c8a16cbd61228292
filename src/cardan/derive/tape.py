"""Gradients of trajectories: adjoint sweeps over recorded steps.

For a loss of the states x_0 ... x_n and the sensor data s_0 ... s_(n-1), with x_(t+1) = f(x_t, u_t), the adjoint state
is l_n = dL/dx_n and then, from the last step to the first ::

    l_t = A_t' l_(t+1) + C_t' dL/ds_t + dL/dx_t          dL/du_t = B_t' l_(t+1) + D_t' dL/ds_t

(Bryson and Ho, Applied Optimal Control, 1975, section 2.2.) The tape holds what each step starts from, a few numbers a
degree of freedom; everything between is computed again when the sweep comes by. With checkpoints every k steps it holds
that of each k-th step, and the steps between are simulated again, k at a time (Griewank and Walther, Evaluating
Derivatives, 2008, section 12.2): memory for n / k + k steps, and the time of one more simulation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from cardan.derive.forward_sweep import sensitivities_of
from cardan.derive.jacobian import COLUMNS, StepJacobian, Wanted, step_jacobian
from cardan.derive.linearisation import COPIED
from cardan.derive.recording import KEPT, begin_recorded, end_recorded, keep_end, keep_jacobian, kept_sizes, pull_back
from cardan.jit import Program
from cardan.model.mjdata import MjData
from cardan.step import pipeline
from cardan.step.run import attached, run

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

ALL = COLUMNS[True, True]
STATE = ("qpos", "qvel", "act")
FIXED = tuple(name for name in COPIED if name not in KEPT)
"""What steps depend on and no step changes."""


@dataclass(frozen=True)
class Gradient:
    """The gradient of a loss of a trajectory.

    Attributes:
        state: by the first state, (2 nv + na), positions in the tangent space.
        controls: by the controls of each step, (nstep, nu).
    """

    state: np.ndarray
    controls: np.ndarray


@dataclass(frozen=True)
class Jacobians:
    """The Jacobians of each step: dx_next = A dx + B du, dsensor = C dx + D du; positions in the tangent space.

    Attributes:
        A: (nstep, 2 nv + na, 2 nv + na).
        B: (nstep, 2 nv + na, nu).
        C: (nstep, nsensordata, 2 nv + na), or None.
        D: (nstep, nsensordata, nu), or None.
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray | None
    D: np.ndarray | None


@dataclass(frozen=True)
class Feedback:
    """A linear feedback: controls + gains (x - states), clamped to the ranges of the controls.

    Attributes:
        states: reference states before each step, (nstep, nq + nv + na).
        gains: (nstep, nu, 2 nv + na), by deviations in the tangent space.
    """

    states: np.ndarray
    gains: np.ndarray


class Tape:
    """Steps that were recorded.

    Attributes:
        m: model; it must stay as it was.
        nstep: number of steps.
        controls: controls of each step, (nstep, nu).
        qpos, qvel, act: states before each step that is kept and after the last step, (number of these, ...).
        sensordata: sensor data of each step, (nstep, nsensordata).
        every: steps from one that is kept to the next.
        reach: distance, m, up to which geoms that don't touch take part in derivatives (`derive.distant`).
    """

    def __init__(
        self, m: MjModel, d: MjData, controls: np.ndarray, reach: float, every: int, feedback: Feedback | None = None
    ) -> None:
        self.m, self.nstep, self.reach, self.every, self.controls = m, len(controls), reach, every, controls
        self._fixed = {name: getattr(d, name).copy() for name in FIXED}
        self._data: MjData | None = None
        ends = np.cumsum([0, 1, *kept_sizes(m)]).tolist()
        self._places = [slice(*ends[k : k + 2]) for k in range(len(ends) - 1)]
        self.sensordata = np.zeros((self.nstep, m.nsensordata))
        self._rows = self._record(d, self.controls, every, self.sensordata, feedback)
        self.qpos, self.qvel, self.act = (self._rows[:, self._places[1 + KEPT.index(name)]] for name in STATE)

    def _record(
        self, d: MjData, controls: np.ndarray, every: int, sensordata: np.ndarray, feedback: Feedback | None = None
    ) -> np.ndarray:
        """Step, and return the rows of the steps that are kept, and of the end."""
        m, n = self.m, len(controls)
        rows = np.zeros((-(-n // every) + 1, self._places[-1].stop))
        arrays: dict[str, np.ndarray] = {"tape": rows, "tape_control": controls, "tape_sensordata": sensordata}
        if feedback is not None:
            arrays |= {"tape_reference": feedback.states, "tape_gain": feedback.gains}
            arrays |= {"tape_qpos": np.zeros(m.nq), "tape_deviation": np.zeros(2 * m.nv + m.na)}
        scalars = d._memory.scalars
        scalars["work.tape_step"][0], scalars["work.tape_every"][0] = 0, every
        program = pipeline.cached_program(m, "record", (begin_recorded, *pipeline.STEP, end_recorded))
        with attached(d, {f"work.{name}": array.reshape(-1) for name, array in arrays.items()}):
            run(program, m, d, n)
            run(pipeline.cached_program(m, "end of a record", (keep_end,)), m, d)
        return rows

    def _put(self, d: MjData, row: np.ndarray) -> None:
        """Set data as a row says."""
        for name, value in self._fixed.items():
            getattr(d, name)[...] = value
        d.time = float(row[0])
        for name, place in zip(KEPT, self._places[1:], strict=True):
            target = getattr(d, name)
            target[...] = row[place].reshape(target.shape)

    def data_at(self, step: int) -> MjData:
        """Data as they were before a step; the same object each time."""
        if self._data is None:
            self._data = MjData(self.m)
        d = self._data
        kept, after = divmod(step, self.every)
        self._put(d, self._rows[kept])
        if after:
            first = kept * self.every
            self._put(d, self._record(d, self.controls[first : first + after], after, np.zeros(0))[-1])
        if step < self.nstep:
            d.ctrl[:] = self.controls[step]
        return d

    def stretches(self) -> list[tuple[int, int]]:
        """First and last step, exclusive, of the stretches that are in memory at a time."""
        n = self.nstep
        length = n if self.every == 1 else self.every
        return [(k, min(k + length, n)) for k in range(0, n, max(length, 1))]

    def _stretch(self, first: int, end: int) -> np.ndarray:
        """The rows of a stretch of steps."""
        if self.every == 1:
            return self._rows[first : end + 1]
        return self._record(self.data_at(first), self.controls[first:end], 1, np.zeros(0))

    def gradient(self, dL_dstate: np.ndarray, dL_dsensors: np.ndarray | None = None) -> Gradient:
        """The gradient of a loss by the first state and all controls.

        Args:
            dL_dstate: derivatives of the loss by the states, (nstep + 1, 2 nv + na), or by the last one alone,
                (2 nv + na); positions in the tangent space.
            dL_dsensors: its derivatives by the sensor data of each step, (nstep, nsensordata), or None.

        Raises:
            ValueError: an array of another shape.
            NotImplementedError: the model or a state has a feature without derivatives.
            RuntimeError: native code is switched off.
        """
        m, n = self.m, self.nstep
        nx = 2 * m.nv + m.na
        by_states = np.asarray(dL_dstate, float)
        if by_states.shape == (nx,):
            by_states = np.vstack([np.zeros((n, nx)), by_states])
        if by_states.shape != (n + 1, nx):
            wanted = f"({nx},) or ({n + 1}, {nx})"
            raise ValueError(f"gradient: dL_dstate should be of shape {wanted}, got {by_states.shape}")
        by_sensors = None if dL_dsensors is None else np.asarray(dL_dsensors, float)
        if by_sensors is not None and by_sensors.shape != (n, m.nsensordata):
            wanted = f"({n}, {m.nsensordata})"
            raise ValueError(f"gradient: dL_dsensors should be of shape {wanted}, got {by_sensors.shape}")
        sensed = by_sensors is not None and bool(by_sensors.any())
        jacobian = step_jacobian(m, sensed, self.reach)
        adjoint, controls = by_states[n].copy(), np.zeros((n, m.nu))
        arrays = {"adjoint": adjoint, "pulled": np.zeros(nx + m.nu)}
        for first, end in reversed(self.stretches()):
            part = slice(first, end)
            arrays |= {"adjoint_states": by_states[part], "adjoint_controls": controls[part]}
            if by_sensors is not None and sensed:
                arrays["adjoint_sensors"] = by_sensors[part]
            self.sweep(jacobian, ALL, (first, end), arrays, Program([pull_back]), backwards=True)
        return Gradient(adjoint, controls)

    def jacobians(self, sensors: bool = False) -> Jacobians:
        """The Jacobians of all steps, as `mjd_transition` gives them for one.

        Args:
            sensors: whether C and D are wanted.

        Raises:
            NotImplementedError: the model or a state has a feature without derivatives.
            RuntimeError: native code is switched off.
        """
        m = self.m
        nx, sensed = 2 * m.nv + m.na, sensors and m.nsensordata > 0
        found = np.zeros((self.nstep, nx + (m.nsensordata if sensed else 0), nx + m.nu))
        jacobian = step_jacobian(m, sensed, self.reach)
        for first, end in self.stretches():
            self.sweep(jacobian, ALL, (first, end), {"jacobians": found[first:end]}, Program([keep_jacobian]))
        C, D = (found[:, nx:, :nx], found[:, nx:, nx:]) if sensors else (None, None)
        return Jacobians(found[:, :nx, :nx], found[:, :nx, nx:], C, D)

    def sweep(
        self,
        jacobian: StepJacobian,
        wanted: Wanted,
        stretch: tuple[int, int],
        arrays: dict[str, np.ndarray],
        after: Program,
        backwards: bool = False,
        seeds: Mapping[str, np.ndarray] = MappingProxyType({}),
    ) -> None:
        """Go over a stretch of steps, with arrays in private fields of the data that works (`StepJacobian.sweep`)."""
        rows = self._stretch(*stretch)
        count = stretch[1] - stretch[0]
        steps = range(count - 1, -1, -1) if backwards else range(count)
        with attached(jacobian.course.d, {f"work.{name}": array.reshape(-1) for name, array in arrays.items()}):
            jacobian.sweep(rows, lambda d, k: self._put(d, rows[k]), steps, after, wanted, seeds)

    def sensitivities(self, by: Sequence[str]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Derivatives of all states and sensor data by a few numbers, the same in all steps: one sweep forwards.

        For parameters of the model ("body_mass[2]", "geom_friction[1, 0]"), where `gradient` is for controls. Eight
        numbers cost about as much as one.

        Args:
            by: names, as in `cardan.derivatives`; qpos, qvel and act stand for the first state.

        Returns:
            For each name the derivatives of the states, (nstep + 1, 2 nv + na, ...), positions in the tangent space,
            and of the sensor data, (nstep, nsensordata, ...), with the shape of what is named in place of the dots.

        Raises:
            IndexError, TypeError, ValueError: a name stands for nothing, or for what a step does not read.
            NotImplementedError: the model or a state has a feature without derivatives.
            RuntimeError: native code is switched off.
        """
        return sensitivities_of(self, (by,) if isinstance(by, str) else by)


def record(
    m: MjModel,
    d: MjData,
    nstep: int,
    controls: np.ndarray | None,
    reach: float = 0.0,
    every: int = 1,
    feedback: tuple[np.ndarray, np.ndarray] | None = None,
) -> Tape:
    """Simulate and record; see `cardan.api.gradients.record`."""
    if nstep < 0:
        raise ValueError(f"record: nstep must not be negative, got {nstep}")
    if every < 1:
        raise ValueError(f"record: every must be at least 1, got {every}")
    given = np.broadcast_to(d.ctrl, (nstep, m.nu)) if controls is None else np.asarray(controls, float)
    if given.shape != (nstep, m.nu):
        raise ValueError(f"record: controls should be of shape ({nstep}, {m.nu}), got {given.shape}")
    leading = None
    if feedback is not None:
        states, gains = (np.asarray(array, float) for array in feedback)
        shapes = (nstep, m.nq + m.nv + m.na), (nstep, m.nu, 2 * m.nv + m.na)
        for name, array, shape in zip(("states", "gains"), (states, gains), shapes, strict=True):
            if array.shape != shape:
                raise ValueError(f"record: {name} of the feedback should be of shape {shape}, got {array.shape}")
        leading = Feedback(np.ascontiguousarray(states), np.ascontiguousarray(gains))
    return Tape(m, d, np.array(given), reach, every, leading)
