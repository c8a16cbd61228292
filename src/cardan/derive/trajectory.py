"""Derivatives along trajectories: recorded steps, and forward and backward sweeps over them (one native call each).

For a loss of the states x_0 ... x_n and the sensor data s_0 ... s_(n-1), with x_(t+1) = f(x_t, u_t), the adjoint state
is l_n = dL/dx_n and then, from the last step to the first ::

    l_t = A_t' l_(t+1) + C_t' dL/ds_t + dL/dx_t          dL/du_t = B_t' l_(t+1) + D_t' dL/ds_t

(Bryson and Ho, Applied Optimal Control, 1975, section 2.2.) A_t and B_t are the Jacobians of x_(t+1), and C_t and D_t
those of s_t, with respect to x_t and u_t. This suits many inputs and one result. For few parameters p and many results,
the sensitivity S_t = dx_t/dp is propagated forwards ::

    S_(t+1) = A_t S_t + P_t          ds_t/dp = C_t S_t + Q_t

(Dickinson and Gelinas, Sensitivity analysis of ordinary differential equation systems, J. Comp. Phys. 1976.) P_t and
Q_t are the Jacobians of x_(t+1) and s_t with respect to p. A step's tangents are computed along the columns of S_t and
p together: eight parameters take one block of lanes, whatever the size of the state.

The *tape* has one row per recorded step, which holds the start of the step: a few floats per degree of freedom. A sweep
computes all other quantities again. With checkpoints every k steps, only each k-th step is kept. The steps in between
are recorded again, a *stretch* of k steps of all worlds at a time (Griewank and Walther, Evaluating Derivatives, 2008,
section 12.2). This needs memory for n / k + k steps, and the time of one more simulation. All worlds have the same
model and the same number of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.derive.inputs import Inputs, named_inputs
from cardan.derive.jacobian import ALL, Directions, StepJacobian, Wanted, step_jacobian
from cardan.derive.linearisation import MAKE_ROWS, program_of
from cardan.derive.plugins import contact_memory, remembered_numbers
from cardan.derive.program import LANES, in_blocks, in_columns
from cardan.derive.recording import begin_recorded, end_recorded, keep_jacobian, next_recorded, pull_back
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
"""Fields of the state, with functions that return their first index in the state."""

Feedback = tuple[np.ndarray, np.ndarray]
"""Reference states (nstep, nq + nv + na) before each step, and gains (nstep, nu, 2 nv + na) (see `record`)."""


def check_no_delays(name: str, m: MjModel) -> None:
    """Check that no step depends on values of earlier steps beside the state.

    Raises:
        NotImplementedError: an actuator or a sensor has a delay, or a sensor has a period.
    """
    kinds = ("actuator", m.actuator_history, m.actuator_delay), ("sensor", m.sensor_history, m.sensor_delay)
    for kind, history, delay in kinds:
        late = history[:, 0] > 0
        late &= (delay > 0.0) if kind == "actuator" else (delay > 0.0) | (m.sensor_interval[:, 0] > 0.0)
        if late.any():
            number = int(late.argmax())
            raise NotImplementedError(
                f"{name}: derivatives of several steps with delays are not supported, but {kind} {number} has a delay "
                "or a period; mjd_transition differentiates one step, with the history as it is"
            )


class Rows:
    """Layout of a row of the tape, which holds the start of a step.

    `remembered` contains the indices of the values that plugins remember.
    """

    def __init__(self, m: MjModel, remembered: np.ndarray) -> None:
        sizes = field_sizes(m)
        ends = np.cumsum([0, *sizes.values()]).tolist()
        self.width, self.remembered = ends[-1] + len(remembered), remembered
        self.places = {name: slice(ends[k], ends[k + 1]) for k, (name, size) in enumerate(sizes.items()) if size}

    def field(self, rows: np.ndarray, name: str) -> np.ndarray:
        """Return a view of a field in all rows (..., size)."""
        return rows[..., self.places.get(name, slice(0, 0))]


class Recorded:
    """Recorded steps of one or several worlds (see `record`). The model must not change afterwards.

    Worlds start from `starts` (worlds, width of a row). Without `starts`, a single world continues from the state of
    `d`, and can have feedback. `controls` are (worlds, nstep, nu); with feedback, applied controls are written there.

    Attributes:
        rows: starts of the kept steps, and final states (worlds, number of rows, width).
        sensordata: sensor data after each step (worlds, nstep, nsensordata).
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
        check_no_delays("record", m)
        self.m, self.controls, self.reach, self.every = m, controls, reach, every
        self.worlds, self.nstep = controls.shape[:2]
        self.layout = Rows(m, remembered_numbers(m, d))
        self.nmemory = m.npluginstate + len(self.layout.remembered) + contact_memory(m)
        self.sensordata = np.zeros((self.worlds, self.nstep, m.nsensordata))
        self.rows = self._record(d, starts, controls, every, self.sensordata, feedback)

    @cached_property
    def data(self) -> MjData:
        """Private data in which steps are recorded again."""
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
        """Simulate, and return the rows of the kept steps and of the final states."""
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
        """Lend the `StepJacobian` whose state includes everything that plugins pass from one step to the next."""
        return step_jacobian(self.m, sensors, self.reach, self.nmemory > 0)

    def _sweep(
        self,
        jacobian: StepJacobian,
        wanted: Wanted,
        after: Callable[..., Any],
        of_steps: Mapping[str, np.ndarray],
        others: Mapping[str, np.ndarray] = MappingProxyType({}),
        backwards: bool = False,
        seeds: Mapping[str, np.ndarray] = MappingProxyType({}),
        beforehand: bool = False,
    ) -> None:
        """Go through all steps of all worlds, one stretch after the other; the stage `after` runs after each step.

        This stage reads and writes arrays in private fields of the data. The arrays `of_steps` contain values for each
        step (worlds, nstep, ...) or for each state (worlds, nstep + 1, ...).
        """
        length = self.nstep if self.every == 1 else self.every
        firsts = range(0, self.nstep, max(length, 1))
        for first in reversed(firsts) if backwards else firsts:
            end = min(first + length, self.nstep)
            rows, n = self.rows, end - first
            if self.every > 1:
                starts = self.rows[:, first // self.every]
                rows = self._record(self.data, starts, np.ascontiguousarray(self.controls[:, first:end]), 1)
            views = {name: array[:, first : end + array.shape[1] - self.nstep] for name, array in of_steps.items()}
            parts = {name: np.ascontiguousarray(view) for name, view in views.items()}
            arrays = {**parts, **others, "tape_remembered": self.layout.remembered}
            steps = range(self.worlds * n)
            internals.set_number(jacobian.course.d, "work.tape_nstep", n)
            with attached(jacobian.course.d, {f"work.{name}": array.reshape(-1) for name, array in arrays.items()}):
                order = steps[::-1] if backwards else steps
                jacobian.sweep(rows.reshape(-1), order, program_of(after), wanted, seeds, beforehand)
            for name, view in views.items():
                if not np.may_share_memory(view, parts[name]):
                    view[...] = parts[name]

    def gradient(self, by_states: np.ndarray, by_sensors: np.ndarray | None) -> tuple[np.ndarray, ...]:
        """Return the gradients of a loss with respect to initial states, controls and initial plugin states.

        Their shapes are (worlds, nx), (worlds, nstep, nu) and (worlds, npluginstate).

        Args:
            by_states: derivatives of the loss with respect to states (worlds, nstep + 1, nx).
            by_sensors: derivatives with respect to sensor data (worlds, nstep, nsensordata), or None.
        """
        m, nx = self.m, by_states.shape[-1]
        if self.nmemory:
            by_states = np.pad(by_states, ((0, 0), (0, 0), (0, self.nmemory)))
        sensed = by_sensors is not None and bool(by_sensors.any())
        adjoint, controls = by_states[:, -1].copy(), np.zeros((self.worlds, self.nstep, m.nu))
        of_steps = {"adjoint_states": by_states[:, :-1], "adjoint_controls": controls}
        if by_sensors is not None and sensed:
            of_steps["adjoint_sensors"] = by_sensors
        others = {"adjoint": adjoint, "pulled": np.zeros(adjoint.shape[1] + m.nu)}
        with self._jacobian(sensed) as jacobian:
            self._sweep(jacobian, ALL, pull_back, of_steps, others, backwards=True)
        return adjoint[:, :nx], controls, adjoint[:, nx : nx + m.npluginstate]

    def jacobians(self, sensors: bool) -> np.ndarray:
        """Return the Jacobians of all steps (worlds, nstep, nx or nx + nsensordata, nx + nu)."""
        m = self.m
        nx, sensed = 2 * m.nv + m.na, sensors and m.nsensordata > 0
        found = np.zeros((self.worlds, self.nstep, nx + (m.nsensordata if sensed else 0), nx + m.nu))
        with step_jacobian(m, sensed, self.reach) as jacobian:
            self._sweep(jacobian, ALL, keep_jacobian, {"jacobians": found})
        return found

    def sensitivities(self, by: str | By) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return the derivatives with respect to named inputs (`derive.inputs.named_inputs`), by name.

        Each value is a pair: derivatives of states (worlds, nstep + 1, nx, ...), and of sensor data (worlds, nstep,
        nsensordata, ...).
        """
        m, nx = self.m, 2 * self.m.nv + self.m.na
        with self._jacobian(m.nsensordata > 0) as jacobian:
            course = jacobian.course
            inputs = named_inputs(course.d, (by,) if isinstance(by, str) else by)
            fields = {given.field for given, _, _ in inputs.parts}
            # a native sweep restores time and warm start, and has no memory for rows that only tangents create
            beforehand = bool(fields & {"d.time", "d.qacc_warmstart"})
            beforehand |= any(f in fields and not internals.array(m, f[2:]).all() for f in MAKE_ROWS)
            state, control = self._first_directions(inputs)
            blocks = -(-inputs.total // LANES)
            states = np.zeros((self.worlds, self.nstep + 1, blocks, len(state), LANES))
            sensors = np.zeros((self.worlds, self.nstep, blocks, m.nsensordata, LANES))
            states[:, 0] = in_blocks(state)
            of_steps = {"sensitivity": states, "sensitivity_sensors": sensors}
            others = {"sensitivity_control": in_blocks(control)}
            seeds = inputs.seeds(course.space, course.d, (*FIRST, "d.ctrl"))
            wanted = Directions((*(jacobian.inputs if control.any() else jacobian.inputs[:-1]), *seeds), blocks)
            internals.set_number(course.d, "work.tape_blocks", blocks)
            if blocks:
                self._sweep(jacobian, wanted, next_recorded, of_steps, others, seeds=seeds, beforehand=beforehand)
        of_states, of_sensors = in_columns(states, inputs.total)[..., :nx, :], in_columns(sensors, inputs.total)
        return {
            name: (
                of_states[..., columns].reshape(*of_states.shape[:-1], *shape),
                of_sensors[..., columns].reshape(*of_sensors.shape[:-1], *shape),
            )
            for name, (columns, shape) in inputs.columns.items()
        }

    def _first_directions(self, inputs: Inputs) -> tuple[np.ndarray, np.ndarray]:
        """Return directions of the initial state (nx, total), and of the controls of all steps (nu, total)."""
        m = self.m
        state = np.zeros((2 * m.nv + m.na + self.nmemory, inputs.total))
        control = np.zeros((m.nu, inputs.total))
        for given, columns, weights in inputs.parts:
            if given.field in FIRST:
                state[FIRST[given.field](m) + given.numbers, columns] += weights
            elif given.field == "d.ctrl":
                control[given.numbers, columns] += weights
        return state, control
