"""Timers: number of runs of the parts of the pipeline, and their durations (spec: simulation, diagnostics).

The counters of `d.timer` are always updated. A program does this in a few small native stages, at its end and before
each stage that may reset a bad state. Durations are measured only if a clock is installed (`mjcb_time`). Programs
then call the clock before and after each timed part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from cardan.enums import mjtTimer
from cardan.jit import OK, kernel, stage
from cardan.model import internals
from cardan.model.kernel_views import Data, Model


class Tick(NamedTuple):
    """Item in a list of stages that counts one run of a timer."""

    timer: int


def _timers(*names: str) -> tuple[int, ...]:
    return tuple(int(getattr(mjtTimer, "mjTIMER_" + name)) for name in names)


_COLLISION = _timers("POS_COLLISION", "COL_BROAD", "COL_NARROW")
_ACTUATION = _timers("ACTUATION")
_FORWARD = _timers(
    *("FORWARD", "POSITION", "POS_KINEMATICS", "POS_INERTIA", "POS_MAKE", "POS_PROJECT", "VELOCITY", "CONSTRAINT")
)
_GROUPS = (
    (*_FORWARD, *_COLLISION, *_ACTUATION),
    (*_FORWARD, *_COLLISION),
    (*_FORWARD, *_ACTUATION),
    _FORWARD,
    _timers("STEP", "ADVANCE"),
    *((timer,) for timer in range(int(mjtTimer.mjNTIMER))),
)
"""Groups of timers that one stage counts. First come timers that often run together, then each timer alone."""


@cache
def _counting(timers: tuple[int, ...]) -> Callable[[Any, Any], int]:
    """Return the stage that counts one run of each of `timers`."""

    def count_timers(m: Model, d: Data) -> int:
        for k in timers:
            d.timer.number[k] += 1
        return OK

    count_timers.__qualname__ = "count_timers_" + "_".join(map(str, timers))
    return stage(count_timers)


def counting_stages() -> list[Callable[[Any, Any], int]]:
    """Return all stages that count runs of timers."""
    return [_counting(timers) for timers in _GROUPS]


def _counters(runs: Counter[int]) -> Iterator[Callable[[Any, Any], int]]:
    """Yield stages that together count `runs` (number of runs by timer); the largest groups of timers first."""
    for timers in _GROUPS:
        times = min(runs[k] for k in timers)
        runs.subtract(dict.fromkeys(timers, times))
        yield from [_counting(timers)] * times


def with_counters(stages: Iterable[Any], resetting: Collection[Any]) -> Iterator[Any]:
    """Replace ticks by counting stages. These run before each stage that may reset the data, and at the end."""
    pending: Counter[int] = Counter()
    for item in stages:
        if isinstance(item, Tick):
            pending[item.timer] += 1
            continue
        if item in resetting:
            yield from _counters(pending)
        yield item
    yield from _counters(pending)


# clocks ------------------------------------------------------------------------


def native_clock(clock: Callable[..., Any], timer: int, starts: bool) -> Callable[..., Any]:
    """Convert a compiled clock to a function of (m, d) that starts or stops a timer."""
    kernel(clock)

    def start(m: Model, d: Data) -> int:
        d.work.timer_start[timer] = clock()
        return OK

    def stop(m: Model, d: Data) -> int:
        d.timer.duration[timer] += clock() - d.work.timer_start[timer]
        return OK

    return start if starts else stop


def python_clock(clock: Callable[..., Any], timer: int, starts: bool) -> Callable[..., Any]:
    """Convert a Python clock to a function of (m, d) that starts or stops a timer."""

    def now() -> float:
        try:
            return float(clock())
        except (TypeError, ValueError):
            raise TypeError("mjcb_time callback did not return a number") from None

    def start(m: Any, d: Any) -> None:
        internals.array(d, "work.timer_start")[timer] = now()

    def stop(m: Any, d: Any) -> None:
        d.timer.duration[timer] += now() - internals.array(d, "work.timer_start")[timer]

    return start if starts else stop
