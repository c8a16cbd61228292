"""User sensors: the callback that fills them, and their cutoff (spec: modeling, sensor, user; callbacks).

The callback is a function of model, data and stage (`mjtStage`) that writes `d.sensordata`. It runs after the other
sensors in each stage for which the model has user sensors. Without a callback, their values do not change.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from cardan.enums import mjtStage
from cardan.enums.codes import DSBL_SENSOR, SENS_USER
from cardan.jit import OK, kernel, stage
from cardan.model.kernel_views import Data, Model
from cardan.sensor.output import apply_cutoff


def has_user_sensors(m: Any, when: int) -> bool:
    """Whether the model has user sensors that are due at a stage (`mjtStage`)."""
    return bool(np.any((m.sensor_type == SENS_USER) & (m.sensor_needstage == when)))


@cache
def user_cutoff(when: int) -> Callable[[Any, Any], int]:
    """Return the stage that limits the values of the user sensors of a stage to their cutoffs."""

    def user_sensors(m: Model, d: Data) -> int:
        if not m.opt.disableflags & DSBL_SENSOR:
            for i in range(m.nsensor):
                if m.sensor_type[i] == SENS_USER and m.sensor_needstage[i] == when:
                    apply_cutoff(m, d, i)
        return OK

    user_sensors.__qualname__ = f"user_sensors_{mjtStage(when).name[8:].lower()}"
    return stage(user_sensors)


def native_sensor(callback: Callable[..., Any], when: int) -> Callable[..., Any]:
    """Return a compiled callback as a function of (m, d)."""
    kernel(callback)

    def sensor(m: Model, d: Data) -> int:
        callback(m, d, when)
        return OK

    return sensor


def python_sensor(callback: Callable[..., Any], when: int) -> Callable[..., Any]:
    """Return a Python callback as a function of (m, d)."""

    def sensor(m: Any, d: Any) -> None:
        callback(m, d, when)

    return sensor
