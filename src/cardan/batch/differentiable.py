"""Step function of arrays, with its pull-back: the common part of `cardan.torch.step` and `cardan.jax.step`.

For a world with the state x, controls u and parameters p, ``(y, s) = f(x, u, p)`` is the next state and the sensor
data. The pull-back of (dL/dy, dL/ds) is (dL/dx, dL/du, dL/dp), by the transposed Jacobians of each step (see
`cardan.derive.trajectory`). Each thread has its own data, and its own model if there are parameters.

A state is a row of ``qpos, qvel, act``, as `mj_getState` returns it for ``mjSTATE_PHYSICS``, with four numbers for each
quaternion. The engine's Jacobians are in the tangent space. Gradients are converted by the matrix of the map
``w -> q (0, w) / 2`` for each quaternion q (spec: computation, floating objects).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import cache
from typing import Any

import numpy as np

from cardan.constants import mjMINVAL
from cardan.derive.inputs import COPIED, TangentSpace, part
from cardan.derive.jacobian import step_jacobian
from cardan.derive.linearisation import sensitivities
from cardan.derive.plugins import EVALUATED, remembered_numbers
from cardan.derive.trajectory import check_no_delays
from cardan.errors import FatalError
from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.plugins.registry import plugin_of
from cardan.step.hooks import hooks, share_hooks
from cardan.step.programs import step_program
from cardan.step.run import run
from cardan.threads import Crew, Job, Locked, processors

STATE = ("qpos", "qvel", "act")


@cache
def crew_of(count: int) -> Crew:
    """Return the thread pool that all differentiable steps and tapes with `count` threads share."""
    return Crew(count, "cardan-step")


def _check_no_memory(m: MjModel, d: MjData) -> None:
    """Check that no plugin has a state or remembers evaluations, because the arrays of a step can't contain these.

    Raises:
        NotImplementedError: a plugin has a state or remembers evaluations.
    """
    kept = "have a state" if m.npluginstate else "remember evaluations"
    if m.npluginstate or len(remembered_numbers(m, d, EVALUATED)):
        names = ", ".join(sorted({plugin_of(m, k).name for k in range(m.nplugin)}))
        raise NotImplementedError(
            f"step: differentiable steps of models whose plugins {kept} ({names}) are not supported"
        )


class Worker:
    """Data of one thread and, if there are parameters, the thread's own copy of the model."""

    def __init__(self, m: MjModel, names: Sequence[str]) -> None:
        self.source, self.m = m, m
        if names:
            self.m = copy(m)
            share_hooks(self.m, m)
        self.d = MjData(self.m)
        _check_no_memory(self.m, self.d)
        check_no_delays("step", self.m)
        if m.nstick > 0:
            raise NotImplementedError(
                "step: differentiable steps of models with contacts that stick are not supported (this model remembers "
                f"{m.nstick} contacts); cardan.record differentiates their trajectories"
            )
        self._fresh = MjData(self.m)
        self.parts = [part(self.d, name) for name in names]
        self.space = TangentSpace(self.m)
        self._starts = np.cumsum([0, m.nq, m.nv, m.na])
        self.lengths = np.zeros(0)  # lengths of the quaternions in the given state

    def refresh(self) -> None:
        """Copy the current values of the user's model to the worker's copy."""
        if self.m is not self.source:
            internals.memory(self.m).copy_from(internals.memory(self.source))

    def start(self, state: np.ndarray, ctrl: np.ndarray, values: Sequence[np.ndarray]) -> None:
        """Set the state (with normalised quaternions), controls and parameters of a world; reset all other inputs.

        Raises:
            ValueError: a quaternion has the length 0.
        """
        d, starts = self.d, self._starts
        d.time = 0.0
        for name in COPIED:
            getattr(d, name)[...] = getattr(self._fresh, name)
        for k, name in enumerate(STATE):
            getattr(d, name)[:] = state[starts[k] : starts[k + 1]]
        d.ctrl[:] = ctrl
        for wanted, value in zip(self.parts, values, strict=True):
            memory = internals.memory(self.m if wanted.field.startswith("m.") else d)
            name = wanted.field[2:]
            place = memory.scalars[name] if memory.struct.by_name[name].is_scalar else memory.arrays[name]
            place.reshape(-1)[wanted.numbers] = np.reshape(value, -1)
        where = self.space.quat_adr[:, None] + np.arange(4)
        self.lengths = lengths = np.linalg.norm(d.qpos[where], axis=1)
        if (lengths == 0.0).any():
            raise ValueError("step: a quaternion of the state has the length 0")
        off = np.abs(lengths - 1.0) > mjMINVAL  # quaternions of unit length don't change, bit by bit
        d.qpos[where[off]] /= lengths[off, None]

    def state(self) -> np.ndarray:
        """Return the state as one row."""
        return np.concatenate([getattr(self.d, name) for name in STATE])

    def advance(self, nstep: int) -> None:
        """Advance the world by `nstep` steps; raise FatalError if it became unstable."""
        d = self.d
        resets = internals.memory(d).scalars["work.auto_resets"]
        resets[0] = 0
        run(step_program(self.m), self.m, d, nstep)
        if resets[0]:
            raise FatalError("step: the simulation is unstable (bad numbers in qpos, qvel or qacc)")

    def pull(self, by_state: np.ndarray, by_sensors: np.ndarray, nstep: int) -> tuple[np.ndarray, ...]:
        """Compute the gradients of a loss with respect to the state, controls and parameters that `start` set.

        `by_state` (nq + nv + na) is the loss's gradient with respect to the state after `nstep` steps, and `by_sensors`
        (nsensordata) the loss's gradient with respect to the sensor data of the last step.
        """
        m, d, nv = self.m, self.d, self.m.nv
        lengths, first = self.lengths, d.qpos.copy()
        starts = []
        for _ in range(nstep):
            starts.append([(name, getattr(d, name).copy()) for name in (*STATE, "qacc_warmstart")])
            starts[-1].append(("time", d.time))
            self.advance(1)
        adjoint = np.concatenate([self.space.basis(d.qpos).T @ by_state[: m.nq], by_state[m.nq :]])
        nx = len(adjoint)
        controls, values = np.zeros(m.nu), [np.zeros(p.shape) for p in self.parts]
        for k in range(nstep - 1, -1, -1):
            for name, value in starts[k]:
                setattr(d, name, value)
            sensed = k == nstep - 1 and bool(by_sensors.any())
            pulled = np.concatenate([adjoint, by_sensors]) if sensed else adjoint
            self._add_parameters(values, adjoint, by_sensors if sensed else None)
            with step_jacobian(m, sensed) as jacobian:
                back = jacobian.compute(d, True, True).T @ pulled
            adjoint = back[:nx]
            controls += back[nx:]
        scale = np.ones(nv)  # from the tangent space to qpos, whose quaternions were divided by their lengths
        scale[self.space.quat_dof[:, None] + np.arange(3)] = (4.0 / lengths)[:, None]
        lifted = self.space.basis(first) @ (scale * adjoint[:nv])
        return np.concatenate([lifted, adjoint[nv:]]), controls, *values

    def _add_parameters(self, values: list[np.ndarray], adjoint: np.ndarray, by_sensors: np.ndarray | None) -> None:
        """Add one step's contribution to `values`, the gradients of the loss with respect to the parameters."""
        if not self.parts:
            return
        m = self.m
        ends = np.cumsum([m.nv, m.nv])
        pieces: dict[str, np.ndarray] = dict(zip(STATE, np.split(adjoint, ends), strict=True))
        if by_sensors is not None:
            pieces["sensordata"] = by_sensors
        pieces = {name: piece for name, piece in pieces.items() if len(piece)}
        found = sensitivities(m, self.d, tuple(pieces), [p.text for p in self.parts])
        for value, wanted in zip(values, self.parts, strict=True):
            for name, piece in pieces.items():
                value += np.tensordot(piece, found[name, wanted.text], 1)


class DifferentiableStep(Locked):
    """Differentiable function of arrays: `nstep` steps with constant controls in many worlds of a model.

    Parameters are named as in `cardan.derivatives`: real fields of the model; or applied forces, mocap poses and user
    data, which are fields of the data.

    Raises:
        ValueError: a name can't be a parameter, or `nstep` is less than 1.
        NotImplementedError: when gradients are computed, the model has a feature without derivatives.
    """

    def __init__(self, m: MjModel, names: tuple[str, ...], nstep: int = 1) -> None:
        super().__init__()
        if nstep < 1:
            raise ValueError(f"step: nstep must be at least 1, got {nstep}")
        self.m, self.nstep, self.names = m, nstep, names
        self._workers: list[Worker] = []
        scout = MjData(m)
        self.shapes = {}
        for name in names:
            found = part(scout, name)
            field = found.field[2:]
            if found.field.startswith("d.") and (field not in COPIED or field in (*STATE, "ctrl")):
                raise ValueError(f"step: {name} can't be a parameter: states and controls are arguments of their own")
            self.shapes[name] = found.shape
        self.nstate = m.nq + m.nv + m.na

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the inputs of one world, by name."""
        return {"state": (self.nstate,), "ctrl": (self.m.nu,), **self.shapes}

    def _spread(self, worlds: int, work: Callable[[Worker, int], None]) -> None:
        """Call ``work(worker, world)`` for all worlds; each thread has its own worker."""
        count = max(1, min(processors(), worlds))

        def several(job: Job, k: int) -> None:
            workers[k].refresh()
            for world in job.parts(worlds):
                work(workers[k], world)

        with self.lock:  # held during a call: one call at a time
            while len(self._workers) < count:
                self._workers.append(Worker(self.m, self.names))
            workers = self._workers
            crew_of(count).share(several)

    def _check(self, state: np.ndarray, ctrl: np.ndarray, values: Sequence[np.ndarray]) -> None:
        wanted = ((self.nstate, state, "state"), (self.m.nu, ctrl, "ctrl"))
        for size, array, name in wanted:
            if array.ndim != 2 or array.shape[1] != size:
                raise ValueError(f"step: {name} should be of shape (..., {size}), got {array.shape}")
        for array, name in ((ctrl, "ctrl"), *zip(values, self.names, strict=True)):
            if len(array) != len(state):
                raise ValueError(f"step: {name} is given for {len(array)} worlds, state for {len(state)}")

    def forward(
        self, state: np.ndarray, ctrl: np.ndarray, values: Sequence[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute the next states and the sensor data of n worlds; the first dimension of all arrays is n.

        Raises:
            FatalError: a world is unstable.
            ValueError: an array has a wrong shape, or a quaternion has the length 0.
        """
        self._check(state, ctrl, values)
        found, sensors = np.zeros((len(state), self.nstate)), np.zeros((len(state), self.m.nsensordata))

        def work(worker: Worker, k: int) -> None:
            worker.start(state[k], ctrl[k], [v[k] for v in values])
            worker.advance(self.nstep)
            found[k], sensors[k] = worker.state(), worker.d.sensordata

        self._spread(len(state), work)
        return found, sensors

    def pull_back(
        self,
        state: np.ndarray,
        ctrl: np.ndarray,
        values: Sequence[np.ndarray],
        by_state: np.ndarray,
        by_sensors: np.ndarray,
    ) -> list[np.ndarray]:
        """Compute the gradients of a loss with respect to the states, controls and parameters of n worlds.

        `by_state` and `by_sensors` are the loss's gradients with respect to the next states and the sensor data. The
        first dimension of all arrays is n.

        Raises:
            NotImplementedError: the model has a feature without derivatives.
            ValueError: an array has a wrong shape.
        """
        self._check(state, ctrl, values)
        found = [np.zeros(array.shape) for array in (state, ctrl, *values)]

        def work(worker: Worker, k: int) -> None:
            worker.start(state[k], ctrl[k], [v[k] for v in values])
            pulled = worker.pull(by_state[k], by_sensors[k], self.nstep)
            for target, gradient in zip(found, pulled, strict=True):
                target[k] = gradient

        self._spread(len(state), work)
        return found


def differentiable_step(m: MjModel, names: tuple[str, ...], nstep: int) -> DifferentiableStep:
    """Return the differentiable step of a model for the parameters `names`; cached until an option or callback is set.

    Errors are as in `DifferentiableStep`.
    """
    if not isinstance(m, MjModel):
        raise TypeError(f"step: m must be an MjModel, not {type(m).__name__}")
    what = ("differentiable step", names, nstep)
    return internals.programs(m).of(what, hooks.version, lambda: DifferentiableStep(m, names, nstep))


def common_shape(function: str, names: Sequence[str], arrays: Sequence[Any], shapes: Sequence[Any]) -> tuple[int, ...]:
    """Return the broadcast leading dimensions (worlds) of arrays. `shapes` are the arrays' shapes in one world.

    Raises:
        ValueError: an array has a wrong shape; the message names the calling `function`.
    """
    leading = []
    for name, array, shape in zip(names, arrays, shapes, strict=True):
        given, count = tuple(array.shape), array.ndim - len(shape)
        if given[count:] != tuple(shape):
            wanted = ", ".join(str(n) for n in ("...", *shape))
            raise ValueError(f"{function}: {name} should be of shape ({wanted}), got {given}")
        leading.append(given[:count])
    return np.broadcast_shapes(*leading)
