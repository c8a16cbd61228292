"""A program on both engines: same seeds, same actions; how far results lie apart, and how long each takes."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections import Counter
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from clients.sessions import Array, Trace, difference

ROOT = Path(__file__).parents[2]
SEED = 7
ENGINES = {"mujoco": ("-m", "clients.worker"), "cardan": ("-m", "cardan.as_mujoco", "-m", "clients.worker")}
"""How the process of each engine starts: the second through the door."""


def installed(package: str) -> str | None:
    """The version of a distribution, or None if it is not there."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


class ProgramFails(Exception):
    """A program raised an error on one of the engines."""

    def needs_opengl(self) -> bool:
        """Whether the reference could not draw, which no program does here."""
        return str(self).startswith("mujoco:") and "No OpenGL rendering backend" in str(self)


class Engine:
    """The process of one engine."""

    def __init__(self, name: str) -> None:
        self.name = name
        paths = [str(ROOT / "src"), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
        single = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
        self.process = subprocess.Popen(
            [sys.executable, *ENGINES[name]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **single, "PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": "0"},
        )

    def call(self, method: str, *arguments: Any) -> Any:
        """Let the worker do something.

        Raises:
            ProgramFails: it raised an error, or its process ended.
        """
        self.start(method, *arguments)
        return self.result()

    def start(self, method: str, *arguments: Any) -> None:
        """Tell the worker what to do."""
        assert self.process.stdin is not None
        pickle.dump((method, arguments), self.process.stdin)
        self.process.stdin.flush()

    def result(self) -> Any:
        """What came of it."""
        assert self.process.stdout is not None
        try:
            right, value = pickle.load(self.process.stdout)
        except EOFError:
            raise ProgramFails(f"the process of {self.name} ended with status {self.process.wait()}") from None
        if not right:
            raise ProgramFails(f"{self.name}: {value}")
        return value

    def close(self) -> None:
        """End the process."""
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()
        self.process.wait(timeout=60)

    def ended(self) -> bool:
        """Whether the process is there no more."""
        return self.process.poll() is not None


ALLOWED = 1e-9
"""What a single step may differ by."""
MOVES = 12
"""How often the state is moved to see how far the reference differs from itself."""
TURN = 0.004
"""How long one engine's turn is to take when times are compared, in seconds; it is 10 steps at least."""
FIRST = 1e-6
"""What the first observation may differ by, after a reset that may itself be an episode of hundreds of steps."""


class Row(NamedTuple):
    """The outcome for one program; differences are relative where numbers are above 1.

    Attributes:
        program: its name.
        steps: steps compared.
        first: largest difference after the reset.
        single: largest difference after a single step from the reference's state, ties aside.
        stops: steps that differ by more than `ALLOWED`, but not once solvers go on below the model's tolerance.
        ties: steps that still do, but by less than the reference from itself when the state is moved a little.
        beyond: steps that differ by more than all of that.
        open_loop: largest difference at the end of an undisturbed episode of so many steps.
        time: processor time of a step, Cardan's by the reference's; 0 where it was not measured.
        microseconds: processor time of the reference's step.
    """

    program: str
    steps: int
    first: float
    single: float
    stops: int
    ties: int
    beyond: int
    open_loop: float
    time: float = 0.0
    microseconds: float = 0.0

    @property
    def right(self) -> bool:
        """Whether both engines agree."""
        return self.first <= FIRST and not self.beyond


class Pair:
    """Both engines."""

    def __init__(self) -> None:
        self.mujoco, self.cardan = Engine("mujoco"), Engine("cardan")
        assert (self.mujoco.call("engine"), self.cardan.call("engine")) == ("mujoco", "cardan")

    def both(self, method: str, *arguments: Any) -> tuple[Any, Any]:
        """The same on both at the same time."""
        self.mujoco.start(method, *arguments)
        self.cardan.start(method, *arguments)
        results, errors = [], []
        for engine in (self.mujoco, self.cardan):
            try:
                results.append(engine.result())
            except ProgramFails as error:
                errors.append(error)
        if errors:
            raise errors[0]
        return results[0], results[1]

    def compare(self, program: str, steps: int, timed: bool = False) -> Row:
        """Run a program on both."""
        self.both("open", program)
        reference, cardan = self.both("episode", SEED, steps)
        open_loop = difference(cardan.after[-1], reference.after[-1])
        guide: Trace = self.mujoco.call("guided", SEED, steps, None)
        followed: Trace = self.cardan.call("guided", SEED, steps, guide.before)
        single, kinds = 0.0, Counter[str]()
        for k, (a, b) in enumerate(zip(followed.after, guide.after, strict=True)):
            apart = difference(a, b)
            kind = "" if apart <= ALLOWED else self._kind(apart, guide.before[k], k)
            single = single if kind in ("stops", "ties") else max(single, apart)
            kinds[kind] += 1
        first, counts = difference(cardan.first, reference.first), (kinds[kind] for kind in ("stops", "ties", "beyond"))
        times = self._times(guide.before) if timed else ()
        return Row(program, steps, first, single, *counts, open_loop, *times)

    def _kind(self, apart: float, state: Array, k: int) -> str:
        """Why the k-th step differs: where solvers stop, a tie, or neither."""
        reference, cardan = self.both("converged", SEED, state, k)
        if difference(cardan, reference) <= ALLOWED:
            return "stops"
        return "ties" if apart <= self.mujoco.call("scatter", SEED, state, k, MOVES) else "beyond"

    def _times(self, states: list[Array]) -> tuple[float, float]:
        """Ratio of the times of steps, and the reference's in microseconds, from both in turn."""
        warm = [engine.call("seconds", SEED, states[0], 10, True) / 10 for engine in (self.cardan, self.mujoco)]
        count = int(np.clip(TURN / warm[1], 10, 100))
        ratios, times = [], []
        for k, state in enumerate([*states[::2], *states[::2]]):
            turn = (self.mujoco, self.cardan) if k % 2 else (self.cardan, self.mujoco)
            spent = {engine.name: engine.call("seconds", SEED, state, count, False) for engine in turn}
            ratios.append(spent["cardan"] / spent["mujoco"])
            times.append(spent["mujoco"] / count)
        return median(ratios), 1e6 * median(times)

    def close(self) -> None:
        """End both processes."""
        self.mujoco.close()
        self.cardan.close()

    def ended(self) -> bool:
        """Whether one of the processes is there no more."""
        return self.mujoco.ended() or self.cardan.ended()


class Pairs:
    """Both engines for the programs of one package after the other."""

    package = ""
    pair: Pair | None = None

    def of(self, package: str) -> Pair:
        """The processes that know this package."""
        if self.pair is None or self.package != package or self.pair.ended():
            self.close()
            self.package, self.pair = package, Pair()
        return self.pair

    def close(self) -> None:
        """End the processes."""
        if self.pair is not None:
            self.pair.close()
        self.pair = None
