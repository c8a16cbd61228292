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
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.derive.inputs import Inputs, named_inputs
from cardan.derive.jacobian import ALL, Directions, StepJacobian, Wanted, step_jacobian
from cardan.derive.linearisation import MAKE_ROWS, linearisation
from cardan.derive.plugins import remembered_numbers
from cardan.derive.program import LANES
from cardan.derive.recording import begin_recorded, end_recorded, keep_jacobian, next_recorded, pull_back
from cardan.jit import Program
from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.step import pipeline
from cardan.step.programs import cached_program
from cardan.step.run import attached, run
from cardan.step.state import field_sizes

if TYPE_CHECKING:
    from cardan.derive.inputs import By
    from cardan.model.mjmodel import MjModel

FIRST: dict[str, Callable[[MjModel], int]] = {
    "d.qpos": lambda m: 0,
    "d.qvel": lambda m: m.nv,
    "d.act": lambda m: 2 * m.nv,
    "d.plugin_state": lambda m: 2 * m.nv + m.na,
}
"""Fields of the state, and where they begin in it."""

Feedback = tuple[np.ndarray, np.ndarray]
"""Reference states before each step and gains, (nstep, nq + nv + na) and (nstep, nu, 2 nv + na) (see `record`)."""


@cache
def _program_of(stage: Callable[..., Any]) -> Program:
    return Program([stage])


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
    """Steps of worlds that were recorded (see `record`); the model must stay as it is.

    Worlds start from `starts` (worlds, width of a row). Without these, the one world goes on from the state of `d`, and
    may have feedback. `controls` are (worlds, nstep, nu); with feedback, what is applied is written there.

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
        self.rows = self._record(d, starts, controls, every, self.sensordata, feedback)

    @cached_property
    def data(self) -> MjData:
        """Data of its own."""
        return MjData(self.m)

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
            arrays["tape_reference"], arrays["tape_gain"] = feedback
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


STATE = ("qpos", "qvel", "act")


@dataclass(frozen=True)
class Gradient:
    """The gradient of a loss of a trajectory.

    Attributes:
        state: by the first state, (2 nv + na), positions in the tangent space.
        controls: by the controls of each step, (nstep, nu).
        plugin_state: by the first states of plugins, (npluginstate).
    """

    state: np.ndarray
    controls: np.ndarray
    plugin_state: np.ndarray


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


class Tape:
    """Steps that were recorded.

    Attributes:
        m: model; it must stay as it was.
        nstep: number of steps.
        controls: controls of each step, (nstep, nu).
        qpos, qvel, act: states before each step that is kept and after the last step, (number of these, ...).
        sensordata: sensor data of each step, (nstep, nsensordata).
        nkept: how many numbers are kept of what steps start from.
    """

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded
        self.m, self.nstep = recorded.m, recorded.nstep
        self.nkept = recorded.rows.size
        self.controls, self.sensordata = recorded.controls[0], recorded.sensordata[0]
        self.qpos, self.qvel, self.act = (recorded.layout.field(recorded.rows[0], name) for name in STATE)

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
        by_states, by_sensors = loss_slopes(self.m, (self.nstep,), dL_dstate, dL_dsensors)
        found = self._recorded.gradient(by_states[None], None if by_sensors is None else by_sensors[None])
        return Gradient(*(array[0] for array in found))

    def jacobians(self, sensors: bool = False) -> Jacobians:
        """The Jacobians of all steps, as `mjd_transition` gives them for one: with what plugins keep as it is.

        Args:
            sensors: whether C and D are wanted.
        """
        return split_jacobians(self.m, self._recorded.jacobians(sensors)[0], sensors)

    def sensitivities(self, by: str | By) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Derivatives of all states and sensor data by a few numbers, the same in all steps: one sweep forwards.

        For parameters of the model ("body_mass[2]", "geom_friction[1, 0]"), where `gradient` is for controls. Eight
        numbers cost about as much as one.

        Args:
            by: names, as in `cardan.derivatives`; qpos, qvel and act are the first state. Or combinations, each a
                single direction: for a name of your own how much of what changes, as in
                ``{"load": {"body_mass[2]": 1.0, "body_inertia[2]": (0.1, 0.1, 0.2)}}``.

        Returns:
            For each name the derivatives of the states, (nstep + 1, 2 nv + na, ...), and of the sensor data,
            (nstep, nsensordata, ...). The dots are the shape of what is named; positions are in the tangent space.

        Raises:
            IndexError, TypeError, ValueError: a name refers to nothing, or to what a step does not read.
            NotImplementedError: the model or a state has a feature without derivatives.
        """
        return named_sensitivities(self._recorded, by, True)


def loss_slopes(
    m: MjModel, lead: tuple[int, ...], dL_dstate: Any, dL_dsensors: Any
) -> tuple[np.ndarray, np.ndarray | None]:
    """Derivatives of a loss as full arrays: by the states (..., nstep + 1, nx), by sensor data or None.

    `lead` is the number of worlds, if there are several, and of steps. Given are those by all states, or by the last
    ones alone (..., nx), and those by the sensor data (..., nstep, nsensordata), or None.

    Raises:
        ValueError: an array of another shape.
    """
    *worlds, n = lead
    nx = 2 * m.nv + m.na
    given = np.asarray(dL_dstate, float)
    by_states = np.zeros((*worlds, n + 1, nx))
    if given.shape == (*worlds, nx):
        by_states[..., n, :] = given
    elif given.shape == by_states.shape:
        by_states = given
    else:
        wanted = f"{(*worlds, nx)} or {by_states.shape}"
        raise ValueError(f"gradient: dL_dstate should be of shape {wanted}, got {given.shape}")
    by_sensors = None if dL_dsensors is None else np.asarray(dL_dsensors, float)
    if by_sensors is not None and by_sensors.shape != (*lead, m.nsensordata):
        wanted = f"{(*lead, m.nsensordata)}"
        raise ValueError(f"gradient: dL_dsensors should be of shape {wanted}, got {by_sensors.shape}")
    return by_states, by_sensors


def split_jacobians(m: MjModel, found: np.ndarray, sensors: bool) -> Jacobians:
    """A, B, C and D, views of Jacobians (..., nx or nx + nsensordata, nx + nu)."""
    nx = 2 * m.nv + m.na
    C, D = (found[..., nx:, :nx], found[..., nx:, nx:]) if sensors else (None, None)
    return Jacobians(found[..., :nx, :nx], found[..., :nx, nx:], C, D)


def named_sensitivities(recorded: Recorded, by: str | By, alone: bool) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The results of `Tape.sensitivities` for recorded worlds; `alone`: without the axis of the one world."""
    m = recorded.m
    with step_jacobian(m, m.nsensordata > 0, recorded.reach) as jacobian:
        inputs = named_inputs(jacobian.course.d, (by,) if isinstance(by, str) else by)
    states, sensors = recorded.sensitivities(inputs)
    if alone:
        states, sensors = states[0], sensors[0]
    results = {}
    for name, (columns, shape) in inputs.columns.items():
        found = (array[..., columns] for array in (states, sensors))
        results[name] = tuple(array.reshape(*array.shape[:-1], *shape) for array in found)
    return results


def record(
    m: MjModel,
    d: MjData,
    nstep: int,
    controls: np.ndarray | None,
    reach: float = 0.0,
    every: int = 1,
    feedback: Feedback | None = None,
) -> Tape:
    """Simulate and record; see `cardan.api.derivatives.record`."""
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
        leading = np.ascontiguousarray(states), np.ascontiguousarray(gains)
    return Tape(Recorded(m, d, np.array(given)[None], reach, every, feedback=leading))
