"""The process of one engine: does what the comparison tells it over its standard input, answers on its output.

A message is a pickled ``(method, arguments)``; the answer is ``(True, result)`` or ``(False, text of the error)``.
"""

from __future__ import annotations

import gc
import os
import pickle
import sys
import time
import traceback
import warnings
from typing import Any

import numpy as np
from clients.programs import PROGRAMS
from clients.sessions import Array, Session, Trace, difference, numbers

MOVE = 1e-10
"""By how much the state is moved to see how far results scatter."""


UNTIL_THE_END = {"tolerance": 0.0, "noslip_tolerance": 0.0, "iterations": 500}
"""Options with which solvers don't stop early."""


class Worker:
    """Runs programs on the engine that this process knows as mujoco."""

    session: Session

    def engine(self) -> str:
        """Which engine that is."""
        import mujoco

        return mujoco.MjModel.__module__.partition(".")[0]

    def open(self, name: str) -> None:
        """Make a program ready."""
        self.session = PROGRAMS[name].open()

    def episode(self, seed: int, count: int) -> Trace:
        """Reset and so many steps with random actions."""
        first = self._first(seed)
        return Trace(first, [], [self._step(action) for action in self._actions(seed, count)])

    def guided(self, seed: int, count: int, states: list[Array] | None) -> Trace:
        """The same, but before each step the state is set: to those given, or to its own."""
        first, before, after = self._first(seed), [], []
        for k, action in enumerate(self._actions(seed, count)):
            before.append(self._state() if states is None else states[k])
            after.append(self._step_from(before[k], action))
        return Trace(first, before, after)

    def scatter(self, seed: int, state: Array, k: int, count: int) -> float:
        """How far results of the k-th step lie from the one after `state`, over states that are moved a little."""
        action = self._actions(seed, k + 1)[k]
        results = []
        for sample in range(count + 1):
            self._first(seed)
            results.append(self._step_from(state, action, np.random.default_rng(sample) if sample else None))
        return max(difference(result, results[0]) for result in results[1:])

    def converged(self, seed: int, state: Array, k: int) -> Array:
        """The result of the k-th step from a state, with solvers that go on until nothing changes."""
        action = self._actions(seed, k + 1)[k]
        self._first(seed)
        options = self.session.physics()[0].opt
        kept = {name: getattr(options, name) for name in UNTIL_THE_END}
        for name, value in UNTIL_THE_END.items():
            setattr(options, name, value)
        result = self._step_from(state, action)
        for name, value in kept.items():
            setattr(options, name, value)
        return result

    def seconds(self, seed: int, state: Array, count: int, fresh: bool) -> float:
        """Processor time of so many steps from a state; `fresh` resets the program before."""
        if fresh:
            self._first(seed)
        actions = self._actions(seed, count)
        self._set_state(state)
        gc.disable()
        begin = time.process_time()
        for action in actions:
            self.session.step(action)
        spent = time.process_time() - begin
        gc.enable()
        return spent

    def _actions(self, seed: int, count: int) -> Array:
        return self.session.actions(np.random.default_rng(seed), count)

    def _first(self, seed: int) -> Array:
        told = numbers(self.session.reset(seed))
        return np.concatenate([told, self._coordinates()])

    def _step(self, action: Array) -> Array:
        told = numbers(self.session.step(action))
        return np.concatenate([told, self._coordinates()])

    def _step_from(self, state: Array, action: Array, moved: np.random.Generator | None = None) -> Array:
        self._set_state(state, moved)
        return self._step(action)

    def _coordinates(self) -> Array:
        """Positions, velocities and activations."""
        _, d = self.session.physics()
        return np.concatenate([d.qpos, d.qvel, d.act])

    def _state(self) -> Array:
        import mujoco

        m, d = self.session.physics()
        state = np.empty(mujoco.mj_stateSize(m, int(mujoco.mjtState.mjSTATE_INTEGRATION)))
        mujoco.mj_getState(m, d, state, int(mujoco.mjtState.mjSTATE_INTEGRATION))
        return state

    def _set_state(self, state: Array, moved: np.random.Generator | None = None) -> None:
        import mujoco

        m, d = self.session.physics()
        mujoco.mj_setState(m, d, state, int(mujoco.mjtState.mjSTATE_INTEGRATION))
        if moved is not None:
            d.qpos[:] += MOVE * moved.uniform(-1.0, 1.0, m.nq)
            d.qvel[:] += MOVE * moved.uniform(-1.0, 1.0, m.nv)
        mujoco.mj_forward(m, d)


def serve() -> None:
    """Answer messages until the input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what programs print goes to the errors
    warnings.simplefilter("ignore")
    worker = Worker()
    while True:
        try:
            method, arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer: tuple[bool, Any] = True, getattr(worker, method)(*arguments)
        except Exception:
            answer = False, traceback.format_exc()
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    serve()
