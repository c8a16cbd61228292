"""Timers: how often the parts of the pipeline ran, and for how long (spec: simulation, diagnostics).

The counters of `d.timer` always run: a program adds what it has done in one native stage, at its end and where a bad
state may be reset. Durations are measured only while a clock is installed (`mjcb_time`), which programs then
call before and after each timed part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from cardan.enums import mjtTimer
from cardan.jit import OK, kernel, stage
from cardan.model.kernel_views import Data, Model

NTIMER = int(mjtTimer.mjNTIMER)


@dataclass(frozen=True, slots=True)
class Timed:
    """A part of the pipeline that a timer measures.

    Attributes:
        timer: the timer (`mjtTimer`).
        items: the stages of the part.
        counts: whether the part counts as a run of its own (a second piece of the same part does not).
    """

    timer: int
    items: tuple[Any, ...]
    counts: bool = True


@dataclass(frozen=True, slots=True)
class Tick:
    """In a list of stages: a timer counts one run."""

    timer: int


def timed(name: str, *items: Any) -> Timed:
    """`items`, measured by the timer ``mjTIMER_<name>``."""
    return Timed(int(getattr(mjtTimer, "mjTIMER_" + name)), items)


def also_timed(name: str, *items: Any) -> Timed:
    """A further piece of a part: its time counts, but not as another run."""
    return Timed(int(getattr(mjtTimer, "mjTIMER_" + name)), items, counts=False)


@cache
def _counting(runs: tuple[int, ...]) -> Callable[[Any, Any], int]:
    """The stage that adds `runs` (one number a timer) to the counters."""

    def count_timers(m: Model, d: Data) -> int:
        for k in range(NTIMER):
            d.timer.number[k] += runs[k]
        return OK

    return stage(count_timers)


def with_counters(stages: Iterable[Any], resetting: Collection[Any]) -> Iterator[Any]:
    """The stages of a program, with its ticks gathered: before each stage that may reset the data, and at the end."""
    pending: Counter[int] = Counter()
    for item in stages:
        if isinstance(item, Tick):
            pending[item.timer] += 1
            continue
        if pending and item in resetting:
            yield _counting(tuple(pending[k] for k in range(NTIMER)))
            pending.clear()
        yield item
    if pending:
        yield _counting(tuple(pending[k] for k in range(NTIMER)))


# clocks ----------------------------------------------------------------------


def native_clock(clock: Callable[..., Any], timer: int, starts: bool) -> Callable[..., Any]:
    """A compiled clock as a function of (m, d) that starts or stops a timer."""
    kernel(clock)

    def start(m: Model, d: Data) -> int:
        d.work.timer_start[timer] = clock()
        return OK

    def stop(m: Model, d: Data) -> int:
        d.timer.duration[timer] += clock() - d.work.timer_start[timer]
        return OK

    return start if starts else stop


def python_clock(clock: Callable[..., Any], timer: int, starts: bool) -> Callable[..., Any]:
    """A Python clock as a function of (m, d) that starts or stops a timer."""

    def now() -> float:
        try:
            return float(clock())
        except (TypeError, ValueError):
            raise TypeError("mjcb_time callback did not return a number") from None

    def start(m: Any, d: Any) -> None:
        d._memory.arrays["work.timer_start"][timer] = now()

    def stop(m: Any, d: Any) -> None:
        d.timer.duration[timer] += now() - d._memory.arrays["work.timer_start"][timer]

    return start if starts else stop
