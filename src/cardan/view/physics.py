"""The thread that steps the physics in real time, with its pace, the history of states, and the effect of the mouse.

The thread never waits for a page.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from cardan.api.pipeline import mj_forward, mj_step
from cardan.api.state import mj_getState, mj_setState, mj_stateSize
from cardan.enums import mjtState
from cardan.model import MjData, MjModel
from cardan.step.report import tell
from cardan.view.session import Session
from cardan.visual import MjvPerturb, mjv_applyPerturbForce, mjv_applyPerturbPose

LENGTH = 2000
MOST_BYTES = 100_000_000
SPEC = mjtState.mjSTATE_INTEGRATION.value


class History:
    """Latest states of some worlds, the oldest first: at most `length` states, or fewer if the states are large."""

    def __init__(self, model: MjModel, length: int = LENGTH, worlds: int = 1) -> None:
        self._shape = (worlds, mj_stateSize(model, SPEC))
        most = MOST_BYTES // (8 * worlds * max(self._shape[1], 1))
        self.capacity = max(2, min(length, most))
        self._states: deque[np.ndarray] = deque(maxlen=self.capacity)

    def __len__(self) -> int:
        return len(self._states)

    def add(self, model: MjModel, *worlds: MjData) -> None:
        """Record the current state of each world."""
        states = np.empty(self._shape)
        for state, data in zip(states, worlds, strict=True):
            mj_getState(model, data, state, SPEC)
        self._states.append(states)

    def restore(self, model: MjModel, worlds: Sequence[MjData], age: int) -> bool:
        """Restore the states recorded `age` records before the last record; return False if there are fewer records."""
        if not 0 <= age < len(self._states):
            return False
        for state, data in zip(self._states[-1 - age], worlds, strict=True):
            mj_setState(model, data, state, SPEC)
        return True

    def cut(self, age: int) -> None:
        """Remove the last `age` records, so that the simulation can continue from the record before them."""
        for _ in range(min(age, len(self._states))):
            self._states.pop()

    def clear(self) -> None:
        """Remove all states."""
        self._states.clear()


class Pusher:
    """Helper that applies the mouse's perturbation to the data and removes the force of the previous perturbation."""

    def __init__(self) -> None:
        self._body = 0

    def apply(self, m: MjModel, d: MjData, pert: MjvPerturb, paused: bool) -> bool:
        """Pull or rotate the selected body by a force or, if `paused`, move it; return whether the data changed."""
        had, self._body = self._body, 0
        if had:
            d.xfrc_applied[had] = 0.0
        if not (pert.active | pert.active2) or not 0 < pert.select < m.nbody:
            return bool(had)
        mjv_applyPerturbPose(m, d, pert, int(paused))
        if not paused:
            mjv_applyPerturbForce(m, d, pert)
            self._body = int(pert.select)
        return True


MISALIGNED = 0.1
"""Largest deviation, s, of the simulation from the wall clock; beyond it, the pace restarts."""


class Pace:
    """Clock that keeps the simulation at `speed` times real time. Lost time is not made up for."""

    def __init__(self, speed: float = 1.0) -> None:
        self.speed = speed
        self._start: tuple[float, float] | None = None
        self._measured: tuple[float, float] | None = None
        self.achieved = 0.0

    def restart(self) -> None:
        """Start counting again at the next call of `due`."""
        self._start = self._measured = None

    def due(self, wall: float, simulated: float) -> float:
        """Return the simulated time that should be reached now. `wall` is the wall clock's time, s.

        In the first call, or if the deviation is too large, the pace restarts, and `simulated` is returned.
        """
        if self._start is not None:
            wall0, simulated0 = self._start
            due = simulated0 + self.speed * (wall - wall0)
            if abs(due - simulated) <= MISALIGNED * self.speed:
                return due
        self._start = (wall, simulated)
        return simulated

    def measure(self, wall: float, simulated: float) -> None:
        """Measure the achieved speed every half second, and store it in `achieved`."""
        if self._measured is None or simulated < self._measured[1]:
            self._measured = (wall, simulated)
        elif wall - self._measured[0] > 0.5:
            self.achieved = (simulated - self._measured[1]) / (wall - self._measured[0])
            self._measured = (wall, simulated)


TURN = 1.0 / 60.0
"""Time, s, between two checks of the clock."""
SHARE = 0.75
"""Fraction of a turn that stepping may take; during the rest, other threads can use the data."""
REST = 5e-4
"""Shortest pause, s, between two turns. Without a pause, other threads might never get the lock."""

Clock = Callable[[], float]


class Physics:
    """Thread that steps a session's data in real time. While it is paused, it makes the requested single `steps`.

    If the displayed state was restored from the history, `age` is the number of records that follow that state.
    """

    def __init__(self, session: Session, clock: Clock = time.perf_counter) -> None:
        self.session, self._clock = session, clock
        self.pace, self._pusher = Pace(), Pusher()
        self.steps = 0
        self._generation = -1
        self._thread: threading.Thread | None = None
        self._prepare()

    def _prepare(self) -> None:
        """Prepare for the session's current model."""
        session = self.session
        self._generation = session.generation
        self.history = History(session.model, worlds=len(session.worlds))
        self.age = 0
        for d in session.worlds:
            mj_forward(session.model, d)
        self.history.add(session.model, *session.worlds)
        self.pace.restart()

    def start(self) -> None:
        """Start the thread; it ends when the session is closed."""
        self._thread = threading.Thread(target=self._run, name="cardan physics", daemon=True)
        self._thread.start()

    def join(self, timeout: float | None = None) -> None:
        """Wait for the thread to end."""
        if self._thread is not None:
            self._thread.join(timeout)

    def _run(self) -> None:
        while not self.session.closed.is_set():
            started = self._clock()
            with self.session.lock:
                try:
                    self.turn()
                except Exception as error:  # for example of a user's callback: pause, and report it
                    self.session.paused = True
                    tell(f"Physics stopped: {type(error).__name__}: {error}")
            time.sleep(max(REST, TURN - (self._clock() - started)))

    def resume(self) -> None:
        """Continue from a state restored from the history, and remove the states after it."""
        self.history.cut(self.age)
        self.age = 0

    def turn(self) -> None:
        """Do the work that is due: execute requested changes, apply the mouse's perturbation, make steps."""
        session = self.session
        if session.generation != self._generation:
            self._prepare()
        m, d = session.model, session.data
        changed = session.obey(m, d)
        if session.generation != self._generation:
            return
        if session.paused:
            self.pace.restart()
            if self.steps:
                for _ in range(self.steps):
                    self._step()
                self.steps = 0
                self.history.add(m, *session.worlds)
            elif self._pusher.apply(m, d, session.perturb, True) or changed:
                mj_forward(m, d)
            return
        # step until simulated time has reached the clock, or the turn is over
        wall = self._clock()
        self.pace.speed = session.speed
        due = self.pace.due(wall, d.time)
        stop = wall + SHARE * TURN
        before = d.time
        while d.time + 0.5 * m.opt.timestep < due and self._clock() < stop:
            self._step()
            if d.time < before:  # the data was reset
                self.pace.restart()
                break
        self.pace.measure(self._clock(), d.time)
        self.history.add(m, *session.worlds)

    def _step(self) -> None:
        session = self.session
        m, d = session.model, session.data
        self._pusher.apply(m, d, session.perturb, False)
        mj_step(m, d)
        for other in session.others:
            other.ctrl[:] = d.ctrl
            mj_step(m, other)
