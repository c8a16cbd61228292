"""Sensor stages, one for each type of sensor, made from the table (spec: computation, forward dynamics, sensors).

A model runs only the stages of the types that it uses: `sensor_stages` lists them for each part of the pipeline.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.enums import mjtSensor, mjtStage
from cardan.enums.codes import DSBL_SENSOR
from cardan.jit import OK, stage
from cardan.model.kernel_views import Data, Model
from cardan.sensor.output import apply_cutoff
from cardan.sensor.table import RNE_POST, SENSORS, SUBTREE_VEL, SensorKind

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

Stage = Callable[[Any, Any], int]

OPEN_ENDED = (int(mjtSensor.mjSENS_USER), int(mjtSensor.mjSENS_PLUGIN))  # what these read is unknown
STAGE_VEL, STAGE_ACC = int(mjtStage.mjSTAGE_VEL), int(mjtStage.mjSTAGE_ACC)


@cache
def _stage_of(kind: SensorKind) -> Stage:
    """Make the stage that computes all sensors of one type."""
    type = kind.type
    compute = kind.compute

    def all_of_type(m: Model, d: Data) -> int:
        if not m.opt.disableflags & DSBL_SENSOR:
            for i in range(m.nsensor):
                if m.sensor_type[i] == type:
                    compute(m, d, i)
                    apply_cutoff(m, d, i)
        return OK

    all_of_type.__qualname__ = all_of_type.__name__ = compute.__name__  # its name in the cache and progress bars
    return stage(all_of_type)


def sensor_stages(m: MjModel, when: int) -> list[Stage]:
    """Return the stages of the model's sensors that are due at a part of the pipeline.

    Args:
        m: the model.
        when: `mjSTAGE_POS`, `mjSTAGE_VEL` or `mjSTAGE_ACC`.
    """
    types = set(m.sensor_type.tolist())
    return [_stage_of(kind) for kind in SENSORS if kind.stage == when and kind.type in types]


def all_sensor_stages() -> list[Stage]:
    """Return the stages of all types of sensors."""
    return [_stage_of(kind) for kind in SENSORS]


def _uses(m: MjModel, need: str, when: int) -> bool:
    own = np.isin(m.sensor_type, [kind.type for kind in SENSORS if kind.needs == need])
    users = np.isin(m.sensor_type, OPEN_ENDED) & (m.sensor_needstage == when)
    return bool((own | users).any())


def needs_rne_post(m: MjModel) -> bool:
    """Whether a sensor of the model may need body accelerations and forces (`rne_post_constraint` before the sensors).

    User and plugin sensors may read any result, so they count as needing everything at their stage.
    """
    return _uses(m, RNE_POST, STAGE_ACC)


def needs_subtree_vel(m: MjModel) -> bool:
    """Whether a sensor of the model may need subtree momenta (`subtree_vel` before the velocity sensors)."""
    return _uses(m, SUBTREE_VEL, STAGE_VEL)
