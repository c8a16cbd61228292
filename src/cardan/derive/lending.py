"""What computes derivatives of a model, lent to one user at a time.

It has data and programs of its own, which take a while to make, so a model keeps what is idle until an option or a
callback is set. There are as many as were ever in use at a time, however many threads have come and gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from cardan.model import internals
from cardan.step.hooks import hooks
from cardan.threads import Locked

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

Thing = TypeVar("Thing")
BUILDING = Locked()
"""Held while programs are made, which compiles: threads would do it twice."""


@contextmanager
def lent(m: MjModel, name: tuple[Any, ...], make: Callable[[], Thing]) -> Iterator[Thing]:
    """Something that a model keeps, or that is made now; after use it is kept for the next one.

    Args:
        m: model.
        name: what it is.
        make: makes it.
    """
    idle: list[Thing] = internals.programs(m).of(("idle", *name), hooks.version, list)
    try:
        found = idle.pop()
    except IndexError:
        with BUILDING.lock:
            found = make()
    yield found
    idle.append(found)  # what raised an error is thrown away
