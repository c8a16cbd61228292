"""What models may ask for that batches on a GPU don't have: named before the first step."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cardan.model.mjmodel import MjModel
from cardan.step.plugin_stages import (
    has_actuator_plugins,
    has_advancing_plugins,
    has_passive_plugins,
    has_resetting_plugins,
    has_sensor_plugins,
)


class Missing(NamedTuple):
    """A feature, and whether a model has it."""

    feature: str
    asked: Callable[[MjModel], bool]


def _plugins(m: MjModel) -> bool:
    others = (has_actuator_plugins, has_passive_plugins, has_advancing_plugins, has_resetting_plugins)
    stages = (1, 2, 3)
    return m.nplugin > 0 and (any(has(m) for has in others) or any(has_sensor_plugins(m, k) for k in stages))


MISSING = (
    Missing("plugins of actuators, sensors and passive forces", _plugins),
    Missing("a limit on memory (<size memory>)", lambda m: m.narena > 0),
)


def refuse(m: MjModel) -> None:
    """Raise if a model has something that batches on a GPU don't have.

    Raises:
        ValueError: it has; all such features are named.
    """
    found = [missing.feature for missing in MISSING if missing.asked(m)]
    if found:
        raise ValueError(f"not supported on the GPU yet: {', '.join(found)}; use device='cpu'")
