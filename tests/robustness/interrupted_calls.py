"""Calls that signals interrupt at random moments, in a process of their own (run by `test_interruption.py`).

Prints a line for each interruption: the call, the signal, and the processor time in seconds from the signal to the
exception; for an alarm, from its handler. Raises AssertionError if the exception is another one, or if the next call is
wrong.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import cardan
from cardan.cli.simulate import simulate

XML = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <light pos="0 0 3"/>
    <camera name="side" pos="0 -3 1" xyaxes="1 0 0 0 0.3 1"/>
    <geom type="plane" size="5 5 0.1"/>
    <body pos="0 0 0.5">
      <freejoint/>
      <geom type="capsule" size="0.1 0.2"/>
      <body pos="0 0 0.3"><joint axis="0 1 0"/><geom type="capsule" size="0.08 0.2"/>
        <body pos="0 0 0.3"><joint name="last" axis="1 0 0"/><geom type="box" size="0.1 0.1 0.1"/></body>
      </body>
    </body>
    <body pos="0.1 0 1.5"><freejoint/><geom size="0.15"/></body>
    <body pos="-0.1 0 1.9"><freejoint/><geom type="box" size="0.15 0.1 0.1"/></body>
  </worldbody>
  <actuator><motor joint="last"/></actuator>
</mujoco>
"""
STATE = int(cardan.mjtState.mjSTATE_INTEGRATION)
FOREVER = 10**8
LONGEST = 0.030
"""Processor time up to the signal, s."""


class Struck(Exception):
    """What the handler of a timer's signal raises."""


def is_dropping(frame: Any) -> bool:
    """Whether Python drops what is raised in a frame: it is that of a callback of a weak reference."""
    while frame is not None:
        if os.path.basename(frame.f_code.co_filename) == "_weakrefset.py" and frame.f_code.co_name == "_remove":
            return True
        frame = frame.f_back
    return False


class Strike:
    """One signal, after some processor time or a sleep of this process."""

    def __init__(self, kind: str, delay: float) -> None:
        self.kind, self.delay = kind, delay
        self.armed = False
        self.sent = 0.0
        self.raised: BaseException | None = None

    def handler(self, number: int, frame: Any) -> None:
        """Raise, once, while armed."""
        if self.armed and is_dropping(frame):  # strike again
            if self.kind == "alarm":
                signal.setitimer(signal.ITIMER_PROF, 0.001)
            else:
                threading.Thread(target=self._kill).start()
        elif self.armed:
            self.armed = False
            if self.kind == "alarm":  # when the system sends it is not known exactly
                self.sent = time.process_time()
            self.raised = KeyboardInterrupt() if number == signal.SIGINT else Struck(self.kind)
            raise self.raised

    def _kill(self) -> None:
        time.sleep(self.delay)
        self.sent = time.process_time()
        os.kill(os.getpid(), signal.SIGINT)

    def at(self, call: Callable[[], object]) -> float:
        """Repeat a call until the signal ends it; returns the processor time from the signal to the exception."""
        numbers = {"alarm": signal.SIGPROF, "interrupt": signal.SIGINT}
        signal.signal(numbers[self.kind], self.handler)
        killer = threading.Thread(target=self._kill)
        self.armed = True
        try:
            if self.kind == "alarm":
                signal.setitimer(signal.ITIMER_PROF, self.delay)
            else:
                killer.start()
            while self.raised is None:
                call()
            raise AssertionError(f"the exception of {self.kind} was lost")
        except (Struck, KeyboardInterrupt) as error:
            ended = time.process_time()
            assert error is self.raised
        if self.kind == "interrupt":
            killer.join()
        return ended - self.sent


def new_model() -> cardan.MjModel:
    return cardan.MjModel.from_xml_string(XML)


class Stepping:
    """`mj_step` with very many steps."""

    running = 1

    def __init__(
        self, callback: Callable[..., Any] | None = None, place: str = "control", nstep: int = FOREVER
    ) -> None:
        self.m = new_model()
        self.d = cardan.MjData(self.m)
        self.nstep = nstep
        if callback is not None:
            cardan.set_callback(self.m, place, callback)
        cardan.mj_step(self.m, self.d)

    def call(self) -> None:
        cardan.mj_step(self.m, self.d, nstep=self.nstep)

    def check(self) -> None:
        """Going on gives what new data in the same state give."""
        state = np.zeros(cardan.mj_stateSize(self.m, STATE))
        cardan.mj_getState(self.m, self.d, state, STATE)
        twin = cardan.MjData(self.m)
        cardan.mj_setState(self.m, twin, state, STATE)
        for d in (self.d, twin):
            cardan.mj_step(self.m, d, 5)
        assert twin.time == self.d.time
        np.testing.assert_array_equal(twin.qpos, self.d.qpos)
        np.testing.assert_array_equal(twin.qvel, self.d.qvel)
        cardan.mj_resetData(self.m, self.d)


class Worlds:
    """`Batch.step`."""

    def __init__(self, nthread: int, nstep: int) -> None:
        self.batch = cardan.Batch(new_model(), 8, nthread=nthread)
        self.fresh = cardan.Batch(new_model(), 8, nthread=1)
        self.nstep, self.running = nstep, nthread
        self.batch.step()

    def call(self) -> None:
        self.batch.step(nstep=self.nstep)

    def check(self) -> None:
        """Nothing goes on, and the next call gives what another batch in the same states gives."""
        times = [self.batch.data(i).time for i in range(8)]
        time.sleep(0.002)
        assert times == [self.batch.data(i).time for i in range(8)]
        self.fresh.state[:] = self.batch.state
        for batch in (self.batch, self.fresh):
            batch.step(nstep=3)
        np.testing.assert_array_equal(self.batch.state, self.fresh.state)
        assert not self.batch.status.any()
        self.batch.reset()


class Rolling:
    """`rollout`."""

    def __init__(self, nthread: int) -> None:
        self.m = new_model()
        self.running = nthread
        self.data = [cardan.MjData(self.m) for _ in range(nthread)]
        full = int(cardan.mjtState.mjSTATE_FULLPHYSICS)
        start = np.zeros(cardan.mj_stateSize(self.m, full))
        cardan.mj_getState(self.m, self.data[0], start, full)
        self.starts = np.tile(start, (6, 1))
        self.expected = self.roll(20)

    def roll(self, nstep: int) -> tuple[np.ndarray, ...]:
        return cardan.rollout.rollout(self.m, self.data, self.starts, np.zeros((6, nstep, 1)))

    def call(self) -> None:
        self.roll(4000)

    def check(self) -> None:
        """The next one is the same as the first."""
        for found, expected in zip(self.roll(20), self.expected, strict=True):
            np.testing.assert_array_equal(found, expected)


class Drawing:
    """`Renderer.render`, and `render_batch`."""

    def __init__(self, threads: int, many: bool) -> None:
        self.m = new_model()
        self.states = [cardan.MjData(self.m) for _ in range(3)]
        for k, d in enumerate(self.states):
            cardan.mj_step(self.m, d, 50 * k + 1)
        self.running, self.many = threads, many
        size = (60, 80) if many else (240, 320)
        self.renderer = cardan.Renderer(self.m, *size, threads=threads)
        self.expected = self.draw()

    def draw(self) -> np.ndarray:
        if self.many:
            return self.renderer.render_batch(self.states, ("side", -1))
        pictures = []
        for d in self.states:
            self.renderer.update_scene(d, "side")
            pictures.append(self.renderer.render())
        return np.stack(pictures)

    call = draw

    def check(self) -> None:
        """The next pictures are the same as the first ones."""
        np.testing.assert_array_equal(self.draw(), self.expected)


class Simulating(Stepping):
    """What ``cardan simulate`` does."""

    def call(self) -> None:
        with contextlib.redirect_stderr(io.StringIO()):
            simulate(self.m, self.d, 5000, None)


def pushing(m: Any, d: Any) -> None:
    d.ctrl[0] = np.sin(d.time)


CASES: dict[str, Callable[[], Any]] = {
    "mj_step": Stepping,
    "mj_step, few steps a call": lambda: Stepping(nstep=3),
    "mj_step with a callback": lambda: Stepping(pushing),
    "mj_step with a filter": lambda: Stepping(lambda m, d, geom1, geom2: 0, "contactfilter"),
    "Batch.step, one thread": lambda: Worlds(1, FOREVER),
    "Batch.step, threads": lambda: Worlds(2, FOREVER),
    "Batch.step, few steps a call": lambda: Worlds(2, 2),
    "rollout, one thread": lambda: Rolling(1),
    "rollout, threads": lambda: Rolling(2),
    "render": lambda: Drawing(1, many=False),
    "render, threads": lambda: Drawing(2, many=False),
    "render_batch": lambda: Drawing(2, many=True),
    "simulate": Simulating,
}


def main(count: int, seed: int) -> None:
    """Interrupt each call in turn, `count` times in all."""
    numbers = random.Random(seed)
    cases = {name: make() for name, make in CASES.items()}
    for case in cases.values():
        case.check()
    for k in range(count):
        name, case = list(cases.items())[k % len(cases)]
        kind = numbers.choice(("alarm", "interrupt"))
        seconds = Strike(kind, LONGEST * numbers.random() + 1e-4).at(case.call)
        print(f"{name}: {kind}: {seconds:.4f} {case.running}", flush=True)
        case.check()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
