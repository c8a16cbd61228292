"""Items of the lists of `cardan.step.pipeline`, in addition to stages: conditions, places of callbacks, timers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from cardan.enums import mjtTimer

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

Predicate = Callable[["MjModel"], bool]


class When(NamedTuple):
    """Items that a model needs only if a condition on its sizes and options holds."""

    needed: Predicate
    items: tuple[Any, ...]


class Place(NamedTuple):
    """Place where a callback may be installed."""

    name: str
    variant: tuple[Any, ...] = ()


class Chosen(NamedTuple):
    """Stages of one kind (sensors, constraint rows) that depend on which elements the model has, and their name."""

    stages_of: Callable[[MjModel], list[Any]]
    name: str = ""


class Timed(NamedTuple):
    """Part of the pipeline that a timer measures.

    Attributes:
        timer: the timer (`mjtTimer`).
        items: the items of the part.
        counts: whether the part counts as a separate run (a second piece of the same part does not).
    """

    timer: int
    items: tuple[Any, ...]
    counts: bool = True


def when(needed: Predicate, *items: Any) -> When:
    """Items that a model needs only if `needed(m)` holds."""
    return When(needed, items)


def timed(name: str, *items: Any) -> Timed:
    """Items that the timer ``mjTIMER_<name>`` measures."""
    return Timed(int(getattr(mjtTimer, "mjTIMER_" + name)), items)


def also_timed(name: str, *items: Any) -> Timed:
    """A further piece of a timed part: its time is added, but it does not count as another run."""
    return Timed(int(getattr(mjtTimer, "mjTIMER_" + name)), items, counts=False)
