"""The thread that steps the physics in real time; it never waits for a page."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from cardan.api.pipeline import mj_forward, mj_step
from cardan.step.report import tell
from cardan.view.history import History
from cardan.view.pace import Pace
from cardan.view.perturbing import Pusher
from cardan.view.session import Session

TURN = 1.0 / 60.0
"""Time between two checks of the clock, s."""
SHARE = 0.75
"""Fraction of a turn that stepping may take; the rest is for threads that wait for the data."""
REST = 5e-4
"""Shortest pause between two turns, s: without it, no other thread might get the lock."""

Clock = Callable[[], float]


class Physics:
    """Steps a session's data in real time.

    Args:
        session: the session.
        clock: the wall clock, s.

    Attributes:
        history: states of the recent past.
        pace: speed of the simulation.
        steps: number of requested single steps while physics is paused.
        age: age of the displayed state, in records before the last, after it was restored from the history.
    """

    def __init__(self, session: Session, clock: Clock = time.perf_counter) -> None:
        self.session, self._clock = session, clock
        self.pace, self._pusher = Pace(), Pusher()
        self.steps = 0
        self._generation = -1
        self._thread: threading.Thread | None = None
        self._prepare()

    def _prepare(self) -> None:
        """Start with the session's current model."""
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
                except Exception as error:  # of a callback of the user, say: it stands still, and says so
                    self.session.paused = True
                    tell(f"Physics stopped: {type(error).__name__}: {error}")
            time.sleep(max(REST, TURN - (self._clock() - started)))

    def resume(self) -> None:
        """Continue from a state of the past, and remove the states after it."""
        self.history.cut(self.age)
        self.age = 0

    def turn(self) -> None:
        """Do what is due: requested changes, the mouse, steps."""
        session = self.session
        if session.generation != self._generation:
            self._prepare()
        m, d = session.model, session.data
        changed = session.obey(m, d)
        if session.generation != self._generation:
            return
        if session.paused:
            self._stand_still(changed)
        else:
            self._go_on()

    def _stand_still(self, changed: bool) -> None:
        session = self.session
        m, d = session.model, session.data
        self.pace.restart()
        if self.steps:
            for _ in range(self.steps):
                self._step()
            self.steps = 0
            self.history.add(m, *session.worlds)
        elif self._pusher.apply(m, d, session.perturb, True) or changed:
            mj_forward(m, d)

    def _go_on(self) -> None:
        session = self.session
        m, d = session.model, session.data
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
