"""Derivatives along trajectories: recorded steps, and sweeps over them forwards and backwards, a native call each.

For a loss of the states x_0 ... x_n and the sensor data s_0 ... s_(n-1), with x_(t+1) = f(x_t, u_t), the adjoint state
is l_n = dL/dx_n and then, from the last step to the first ::

    l_t = A_t' l_(t+1) + C_t' dL/ds_t + dL/dx_t          dL/du_t = B_t' l_(t+1) + D_t' dL/ds_t

(Bryson and Ho, Applied Optimal Control, 1975, section 2.2.) This is for many inputs and one result. For a few inputs p
and many results the sensitivity S_t of the state before step t is followed forwards ::

    S_(t+1) = A_t S_t + P_t        dx_(t+1)/dp, and of the sensor data C_t S_t + Q_t

(Dickinson and Gelinas, Sensitivity analysis of ordinary differential equation systems, J. Comp. Phys. 1976.) A step's
tangents are computed along the columns of S_t and p together: eight parameters take one block of lanes, whatever the
size of the state.

A row has what a step starts from, a few numbers a degree of freedom; everything between is computed again when a sweep
comes by. With checkpoints every k steps only each k-th step is kept, and the steps between are recorded again, a
*stretch* of k steps of all worlds at a time (Griewank and Walther, Evaluating Derivatives, 2008, section 12.2): memory
for n / k + k steps, and the time of one more simulation. Worlds have the same model and the same number of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cardan.derive.inputs import Inputs
from cardan.derive.jacobian import ALL, Directions, StepJacobian, Wanted, step_jacobian
from cardan.derive.linearisation import MAKE_ROWS, linearisation
from cardan.derive.plugins import remembered_numbers
from cardan.derive.program import LANES
from cardan.derive.recording import (
    begin_recorded,
    end_recorded,
    keep_jacobian,
    next_recorded,
    pull_back,
)
from cardan.jit import Program
from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.step import pipeline
from cardan.step.programs import cached_program
from cardan.step.run import attached, run
from cardan.step.state import field_sizes

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

FIRST: dict[str, Callable[[MjModel], int]] = {
    "d.qpos": lambda m: 0,
    "d.qvel": lambda m: m.nv,
    "d.act": lambda m: 2 * m.nv,
    "d.plugin_state": lambda m: 2 * m.nv + m.na,
}
"""Fields of the state, and where they begin in it."""


@cache
def _program_of(stage: Callable[..., Any]) -> Program:
    return Program([stage])


class Feedback(NamedTuple):
    """A linear feedback: controls + gains (x - states), clamped to the ranges of the controls."""

    states: np.ndarray  # reference states before each step, (nstep, nq + nv + na)
    gains: np.ndarray  # (nstep, nu, 2 nv + na), by deviations in the tangent space


class Rows:
    """Where fields are in a row of what a step starts from; `remembered`: places of what plugins remember."""

    def __init__(self, m: MjModel, remembered: np.ndarray) -> None:
        sizes = field_sizes(m)
        ends = np.cumsum([0, *sizes.values()]).tolist()
        self.width, self.remembered = ends[-1] + len(remembered), remembered
        self.places = {name: slice(ends[k], ends[k + 1]) for k, (name, size) in enumerate(sizes.items()) if size}

    def put(self, d: MjData, row: np.ndarray) -> None:
        """Set data as a row says."""
        for name, place in self.places.items():
            if name == "time":
                d.time = float(row[0])
            else:
                target = getattr(d, name)
                target[...] = row[place].reshape(target.shape)
        if len(self.remembered):
            internals.array(d, "work.plugin_number")[self.remembered] = row[-len(self.remembered) :]

    def field(self, rows: np.ndarray, name: str) -> np.ndarray:
        """A field in all rows (..., size)."""
        return rows[..., self.places.get(name, slice(0, 0))]


class Recorded:
    """Steps of worlds that were recorded.

    Args:
        m: model; it must stay as it is.
        d: data to work with; without `starts` the one world goes on from its state.
        controls: (worlds, nstep, nu); with feedback, what is applied is written there.
        reach: distance, m, up to which geoms that don't touch take part in derivatives (`derive.distant`).
        every: steps from one that is kept to the next.
        starts: what worlds start from (worlds, width of a row), or None.
        feedback: of the one world, or None.

    Attributes:
        rows: what steps that are kept start from, and the ends (worlds, number of these, width).
        sensordata: (worlds, nstep, nsensordata).
    """

    def __init__(
        self,
        m: MjModel,
        d: MjData,
        controls: np.ndarray,
        reach: float,
        every: int,
        starts: np.ndarray | None = None,
        feedback: Feedback | None = None,
    ) -> None:
        self.m, self.controls, self.reach, self.every = m, controls, reach, every
        self.worlds, self.nstep = controls.shape[:2]
        self.layout = Rows(m, remembered_numbers(m, d))
        self.nmemory = m.npluginstate + len(self.layout.remembered)
        self.sensordata = np.zeros((self.worlds, self.nstep, m.nsensordata))
        self._data: MjData | None = None
        self.rows = self._record(d, starts, controls, every, self.sensordata, feedback)

    @property
    def data(self) -> MjData:
        """Data of its own, made when they are needed."""
        if self._data is None:
            self._data = MjData(self.m)
        return self._data

    def _record(
        self,
        d: MjData,
        starts: np.ndarray | None,
        controls: np.ndarray,
        every: int,
        sensordata: np.ndarray | None = None,
        feedback: Feedback | None = None,
    ) -> np.ndarray:
        """Step, and return the rows of the steps that are kept, and of the ends."""
        m, (worlds, n) = self.m, controls.shape[:2]
        rows = np.zeros((worlds, -(-n // every) + 1, self.layout.width))
        if n == 0 or worlds == 0:
            fields = (np.asarray(getattr(d, name), float).reshape(-1) for name in self.layout.places)
            numbers = internals.array(d, "work.plugin_number")[self.layout.remembered]
            rows[:, 0] = np.concatenate([*fields, numbers]) if starts is None else starts
            return rows
        nothing = np.zeros(0)
        arrays: dict[str, np.ndarray] = {"tape": rows, "tape_control": controls, "tape_gain": nothing}
        arrays["tape_starts"] = nothing if starts is None else np.ascontiguousarray(starts)
        arrays["tape_sensordata"] = nothing if sensordata is None else sensordata
        if feedback is not None:
            arrays |= {"tape_reference": feedback.states, "tape_gain": feedback.gains}
            arrays |= {"tape_qpos": np.zeros(m.nq), "tape_deviation": np.zeros(2 * m.nv + m.na)}
        arrays["tape_remembered"] = self.layout.remembered
        for name, value in (("step", 0), ("every", every), ("nstep", n)):
            internals.set_number(d, f"work.tape_{name}", value)
        program = cached_program(m, "record", (begin_recorded, *pipeline.STEP, end_recorded))
        with attached(d, {f"work.{name}": array.reshape(-1) for name, array in arrays.items()}):
            run(program, m, d, worlds * n)
        return rows

    def _jacobian(self, sensors: bool) -> AbstractContextManager[StepJacobian]:
        """The Jacobians of a step by all that goes over from one step to the next."""
        return step_jacobian(self.m, sensors, self.reach, self.nmemory > 0)

    def stretches(self) -> list[tuple[int, int]]:
        """First and last step, exclusive, of the stretches that are in memory at a time."""
        length = self.nstep if self.every == 1 else self.every
        return [(k, min(k + length, self.nstep)) for k in range(0, self.nstep, max(length, 1))]

    def row_at(self, world: int, step: int) -> np.ndarray:
        """The row of numbers that a step starts from."""
        kept, after = divmod(step, self.every)
        row = self.rows[world, kept]
        if after:
            between = np.ascontiguousarray(self.controls[world : world + 1, step - after : step])
            row = self._record(self.data, row[None], between, after)[0, -1]
        row = row.copy()
        if "ctrl" in self.layout.places:
            row[self.layout.places["ctrl"]] = self.controls[world, step]
        return row

    def _sweep(
        self,
        jacobian: StepJacobian,
        wanted: Wanted,
        stretch: tuple[int, int],
        arrays: dict[str, np.ndarray],
        after: Callable[..., Any],
        backwards: bool = False,
        seeds: Mapping[str, np.ndarray] = MappingProxyType({}),
    ) -> None:
        """Go over a stretch of steps of all worlds, with arrays in private fields of the data; then comes `after`."""
        first, end = stretch
        rows, n = self.rows, end - first
        if self.every > 1:
            starts = self.rows[:, first // self.every]
            rows = self._record(self.data, starts, np.ascontiguousarray(self.controls[:, first:end]), 1)
        steps = range(self.worlds * n)
        internals.set_number(jacobian.course.d, "work.tape_nstep", n)

        def put(d: MjData, step: int) -> None:
            self.layout.put(d, rows[step // n, step % n])

        arrays["tape_remembered"] = self.layout.remembered
        with attached(jacobian.course.d, {f"work.{name}": array.reshape(-1) for name, array in arrays.items()}):
            order = steps[::-1] if backwards else steps
            jacobian.sweep(rows.reshape(-1), put, order, _program_of(after), wanted, seeds)

    def gradient(self, by_states: np.ndarray, by_sensors: np.ndarray | None) -> tuple[np.ndarray, ...]:
        """Gradients of a loss by first states (worlds, nx), controls (worlds, nstep, nu), and first states of plugins.

        Its derivatives by states and sensor data are (worlds, nstep + 1, nx), (worlds, nstep, nsensordata) or None.
        """
        m, nx = self.m, by_states.shape[-1]
        if self.nmemory:
            by_states = np.pad(by_states, ((0, 0), (0, 0), (0, self.nmemory)))
        sensed = by_sensors is not None and bool(by_sensors.any())
        adjoint, controls = by_states[:, -1].copy(), np.zeros((self.worlds, self.nstep, m.nu))
        for first, end in reversed(self.stretches()):
            found = np.zeros((self.worlds, end - first, m.nu))
            arrays = {"adjoint": adjoint, "pulled": np.zeros(adjoint.shape[1] + m.nu), "adjoint_controls": found}
            arrays["adjoint_states"] = np.ascontiguousarray(by_states[:, first:end])
            if by_sensors is not None and sensed:
                arrays["adjoint_sensors"] = np.ascontiguousarray(by_sensors[:, first:end])
            with self._jacobian(sensed) as jacobian:
                self._sweep(jacobian, ALL, (first, end), arrays, pull_back, backwards=True)
            controls[:, first:end] = found
        return adjoint[:, :nx], controls, adjoint[:, nx : nx + m.npluginstate]

    def jacobians(self, sensors: bool) -> np.ndarray:
        """The Jacobians of all steps, (worlds, nstep, nx or nx + nsensordata, nx + nu)."""
        m = self.m
        nx, sensed = 2 * m.nv + m.na, sensors and m.nsensordata > 0
        found = np.zeros((self.worlds, self.nstep, nx + (m.nsensordata if sensed else 0), nx + m.nu))
        for first, end in self.stretches():
            part = found if self.every == 1 else np.zeros((self.worlds, end - first, *found.shape[2:]))
            with step_jacobian(m, sensed, self.reach) as jacobian:
                self._sweep(jacobian, ALL, (first, end), {"jacobians": part}, keep_jacobian)
            if part is not found:
                found[:, first:end] = part
        return found

    def sensitivities(self, inputs: Inputs) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives by n inputs of states (worlds, nstep + 1, nx, n), sensor data (worlds, nstep, nsensordata, n)."""
        m, total = self.m, inputs.total
        fields = {given.field for given, _ in inputs.parts}
        unlike = fields & {"d.time", "d.qacc_warmstart"}  # the native sweep puts others back
        if unlike or any(f in fields and not internals.array(m, f[2:]).all() for f in MAKE_ROWS):
            if self.nmemory:
                raise NotImplementedError(
                    "sensitivities: by friction losses that are 0, by time or by qacc_warmstart they are not supported "
                    "for models whose plugins have a state or remember evaluations"
                )
            found = [self._step_by_step(world, inputs) for world in range(self.worlds)]
            return np.array([states for states, _ in found]), np.array([sensors for _, sensors in found])
        worlds, n, blocks = self.worlds, self.nstep, -(-total // LANES)
        with self._jacobian(m.nsensordata > 0) as jacobian:
            course, nx = jacobian.course, 2 * m.nv + m.na
            seeds = dict(sorted(inputs.seeds(course.space, course.d, (*FIRST, "d.ctrl")).items()))
            state, control = self._first_directions(inputs)
            states = np.zeros((worlds, n + 1, blocks, len(state), LANES))
            sensors = np.zeros((worlds, n, blocks, m.nsensordata, LANES))
            states[:, 0] = in_blocks(state, blocks)
            wanted = Directions((*(jacobian.inputs if control.any() else jacobian.inputs[:-1]), *seeds), blocks)
            internals.set_number(course.d, "work.tape_blocks", blocks)
            for first, end in self.stretches() if total else []:
                part = np.ascontiguousarray(states[:, first : end + 1])
                sensed = np.ascontiguousarray(sensors[:, first:end])
                arrays = {"sensitivity": part, "sensitivity_sensors": sensed}
                arrays["sensitivity_control"] = in_blocks(control, blocks)
                self._sweep(jacobian, wanted, (first, end), arrays, next_recorded, seeds=seeds)
                states[:, first : end + 1], sensors[:, first:end] = part, sensed
        return in_columns(states, total)[..., :nx, :], in_columns(sensors, total)

    def _first_directions(self, inputs: Inputs) -> tuple[np.ndarray, np.ndarray]:
        """Directions of the first state (nx, total), and of the controls of all steps (nu, total)."""
        m = self.m
        state = np.zeros((2 * m.nv + m.na + self.nmemory, inputs.total))
        control = np.zeros((m.nu, inputs.total))
        for given, weights in inputs.parts:
            if given.field in FIRST:
                state[FIRST[given.field](m) + given.numbers] += weights
            elif given.field == "d.ctrl":
                control[given.numbers] += weights
        return state, control

    def _step_by_step(self, world: int, inputs: Inputs) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of states (nstep + 1, nx, total) and sensor data (nstep, nsensordata, total), step by step.

        So rows can be made on the way, where a parameter varies that is 0.
        """
        m, n, total = self.m, self.nstep, inputs.total
        nv, nx = m.nv, 2 * m.nv + m.na
        states, sensors = np.zeros((n + 1, nx, total)), np.zeros((n, m.nsensordata, total))
        states[0] = self._first_directions(inputs)[0]
        rows = {"d.qpos": slice(0, nv), "d.qvel": slice(nv, 2 * nv), "d.act": slice(2 * nv, nx)}
        with linearisation(m, "step", self.reach) as course:
            varying = {field: where for field, where in rows.items() if where.stop > where.start}
            outputs = (*varying, *(("d.sensordata",) if m.nsensordata else ()))
            for k in range(n if total else 0):
                self.layout.put(course.d, self.row_at(world, k))
                course.evaluate()
                seeds = {field: states[k, where] for field, where in varying.items()}
                if "d.qpos" in seeds:
                    seeds["d.qpos"] = course.space.basis(course.d.qpos) @ seeds["d.qpos"]
                found = course.tangents(seeds | inputs.seeds(course.space, course.d, tuple(rows)), outputs)
                for name, where in varying.items():
                    states[k + 1, where] = found[name]
                if m.nsensordata:
                    sensors[k] = found["d.sensordata"]
        return states, sensors


def in_blocks(columns: np.ndarray, blocks: int) -> np.ndarray:
    """Columns (rows, n) as blocks (blocks, rows, LANES)."""
    padded = np.zeros((len(columns), blocks * LANES))
    padded[:, : columns.shape[1]] = columns
    return np.ascontiguousarray(padded.reshape(len(columns), blocks, LANES).transpose(1, 0, 2))


def in_columns(blocks: np.ndarray, total: int) -> np.ndarray:
    """Blocks (..., blocks, rows, LANES) as columns (..., rows, total)."""
    *outer, count, rows, lanes = blocks.shape
    return np.swapaxes(blocks, -3, -2).reshape(*outer, rows, count * lanes)[..., :total]
