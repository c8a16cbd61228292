"""What models may ask for that batches on a GPU don't have: named before the first step."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cardan.model.mjmodel import MjModel
from cardan.step.plugin_stages import calls_python


class Missing(NamedTuple):
    """A feature, and whether a model has it."""

    feature: str
    asked: Callable[[MjModel], bool]


MISSING = (Missing("plugins with functions in Python (compile them with numba.njit)", calls_python),)


def refuse(m: MjModel) -> None:
    """Raise if a model has something that batches on a GPU don't have.

    Raises:
        ValueError: it has; all such features are named.
    """
    found = [missing.feature for missing in MISSING if missing.asked(m)]
    if found:
        raise ValueError(f"can't run on a GPU: {', '.join(found)}; use device='cpu'")
