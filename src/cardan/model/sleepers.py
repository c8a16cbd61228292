"""Models with trees that may sleep, and the start of data in which some trees sleep from the beginning."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cardan.enums.codes import ENBL_ISLAND, ENBL_SLEEP, SLEEP_INIT
from cardan.model import internals

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

_PROGRAMS = "cardan.step.programs"


def may_sleep(m: Any) -> bool:
    """Return whether trees of a model may sleep: the flag ``sleep`` is set, and with compat 4.0 the flag ``island``."""
    flags = internals.number(m, "opt.enableflags")
    return bool(flags & ENBL_SLEEP) and (not m.is_4_0 or bool(flags & ENBL_ISLAND))


def starts_asleep(m: Any) -> bool:
    """Return whether trees of a model sleep in its default state: their policy is ``init``."""
    return may_sleep(m) and bool((m.tree_sleep_policy == SLEEP_INIT).any())


def begin_asleep(m: MjModel, d: MjData) -> None:
    """Let the trees with the policy ``init`` sleep in new data."""
    if starts_asleep(m):
        import_module(_PROGRAMS).start_asleep(m, d)
