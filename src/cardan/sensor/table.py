"""Table of sensors, and the stages that are made from it (spec: computation, forward dynamics, sensors).

Each type of sensor has a stage. `sensor_stages` lists the stages of the types that a model uses, for each part of the
pipeline.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cardan.dynamics.awake import trees_may_sleep
from cardan.dynamics.history import delay_values, is_due
from cardan.enums import mjtDataType, mjtSensor, mjtStage
from cardan.enums.codes import DSBL_SENSOR, GEOM_SDF, SENS_E_KINETIC, SENS_E_POTENTIAL, SENS_PLUGIN, SENS_USER
from cardan.jit import OK, stage
from cardan.model import internals
from cardan.model.kernel_views import Data, Model
from cardan.sensor import motion, position
from cardan.sensor.contact import contact
from cardan.sensor.motion import touch
from cardan.sensor.output import apply_cutoff
from cardan.sensor.rangefinder import rangefinder
from cardan.sensor.tactile import tactile, tactile_of_shapes

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

_REAL, _POSITIVE = mjtDataType.mjDATATYPE_REAL, mjtDataType.mjDATATYPE_POSITIVE
_AXIS, _QUATERNION = mjtDataType.mjDATATYPE_AXIS, mjtDataType.mjDATATYPE_QUATERNION
_POS, _VEL, _ACC = mjtStage.mjSTAGE_POS, mjtStage.mjSTAGE_VEL, mjtStage.mjSTAGE_ACC


class SensorKind(NamedTuple):
    """Entry of the table for one type of sensor.

    Attributes:
        type: the `mjtSensor` value.
        stage: stage of the pipeline after which the sensor is computed.
        dim: number of values.
        datatype: kind of values, which determines how the cutoff is applied.
        compute: kernel of (m, d, sensor id) that writes the values.
        needs: name of a further computation that the sensor needs, besides the pipeline up to `stage`.
    """

    type: int
    stage: mjtStage
    dim: int
    datatype: mjtDataType
    compute: Callable[[Any, Any, int], None]
    needs: str = ""


def _kind(name: str, stage: mjtStage, dim: int, compute: Any, datatype: Any = _REAL, needs: str = "") -> SensorKind:
    return SensorKind(int(getattr(mjtSensor, "mjSENS_" + name)), stage, dim, datatype, compute, needs)


OF_ANY_STAGE = (int(mjtSensor.mjSENS_CONTACT),)
"""Types of sensors whose stage (`sensor_needstage`) depends on their data; the table has a row for each stage."""
RNE_POST, SUBTREE_VEL = "rne_post_constraint", "subtree_vel"

SENSORS: tuple[SensorKind, ...] = (
    _kind("MAGNETOMETER", _POS, 3, position.magnetometer),
    _kind("RANGEFINDER", _POS, 1, rangefinder, _POSITIVE),
    _kind("CAMPROJECTION", _POS, 2, position.camprojection),
    _kind("JOINTPOS", _POS, 1, position.jointpos),
    _kind("TENDONPOS", _POS, 1, position.tendonpos),
    _kind("ACTUATORPOS", _POS, 1, position.actuatorpos),
    _kind("BALLQUAT", _POS, 4, position.ballquat, _QUATERNION),
    _kind("JOINTLIMITPOS", _POS, 1, position.jointlimitpos),
    _kind("TENDONLIMITPOS", _POS, 1, position.tendonlimitpos),
    _kind("FRAMEPOS", _POS, 3, position.framepos),
    _kind("FRAMEQUAT", _POS, 4, position.framequat, _QUATERNION),
    _kind("FRAMEXAXIS", _POS, 3, position.framexaxis, _AXIS),
    _kind("FRAMEYAXIS", _POS, 3, position.frameyaxis, _AXIS),
    _kind("FRAMEZAXIS", _POS, 3, position.framezaxis, _AXIS),
    _kind("SUBTREECOM", _POS, 3, position.subtreecom),
    _kind("GEOMDIST", _POS, 1, position.distance, _POSITIVE),
    _kind("GEOMNORMAL", _POS, 3, position.normal, _AXIS),
    _kind("GEOMFROMTO", _POS, 6, position.fromto),
    _kind("INSIDESITE", _POS, 1, position.insidesite, _POSITIVE),
    _kind("E_POTENTIAL", _POS, 1, position.e_potential),
    _kind("CLOCK", _POS, 1, position.clock),
    _kind("VELOCIMETER", _VEL, 3, motion.velocimeter),
    _kind("GYRO", _VEL, 3, motion.gyro),
    _kind("JOINTVEL", _VEL, 1, motion.jointvel),
    _kind("TENDONVEL", _VEL, 1, motion.tendonvel),
    _kind("ACTUATORVEL", _VEL, 1, motion.actuatorvel),
    _kind("BALLANGVEL", _VEL, 3, motion.ballangvel),
    _kind("JOINTLIMITVEL", _VEL, 1, motion.jointlimitvel),
    _kind("TENDONLIMITVEL", _VEL, 1, motion.tendonlimitvel),
    _kind("FRAMELINVEL", _VEL, 3, motion.framelinvel),
    _kind("FRAMEANGVEL", _VEL, 3, motion.frameangvel),
    _kind("SUBTREELINVEL", _VEL, 3, motion.subtreelinvel, needs=SUBTREE_VEL),
    _kind("SUBTREEANGMOM", _VEL, 3, motion.subtreeangmom, needs=SUBTREE_VEL),
    _kind("E_KINETIC", _VEL, 1, motion.e_kinetic),
    _kind("TACTILE", _VEL, 0, tactile),
    _kind("TOUCH", _ACC, 1, touch, _POSITIVE),
    _kind("ACCELEROMETER", _ACC, 3, motion.accelerometer, needs=RNE_POST),
    _kind("FORCE", _ACC, 3, motion.force, needs=RNE_POST),
    _kind("TORQUE", _ACC, 3, motion.torque, needs=RNE_POST),
    _kind("ACTUATORFRC", _ACC, 1, motion.actuatorfrc),
    _kind("JOINTACTFRC", _ACC, 1, motion.jointactuatorfrc),
    _kind("TENDONACTFRC", _ACC, 1, motion.tendonactuatorfrc),
    _kind("JOINTLIMITFRC", _ACC, 1, motion.jointlimitfrc),
    _kind("TENDONLIMITFRC", _ACC, 1, motion.tendonlimitfrc),
    _kind("FRAMELINACC", _ACC, 3, motion.framelinacc, needs=RNE_POST),
    *(_kind("CONTACT", stage, 0, contact) for stage in (_POS, _VEL, _ACC)),
    _kind("FRAMEANGACC", _ACC, 3, motion.frameangacc, needs=RNE_POST),
)


_OF_SHAPES = _kind("TACTILE", _VEL, 0, tactile_of_shapes)
"""Replaces the row of tactile sensors in models with signed-distance shapes."""

Stage = Callable[[Any, Any], int]


@cache
def _stage_of(kind: SensorKind, histories: bool = False) -> Stage:
    """Make the stage that computes all sensors of one type; with `histories`, sensors may have delays and periods."""
    type = kind.type
    compute = kind.compute
    # sensors of one type may be due after different parts of the pipeline
    after = int(kind.stage) if type in OF_ANY_STAGE else -1

    def all_of_type(m: Model, d: Data) -> int:
        if not m.opt.disableflags & DSBL_SENSOR:
            some_rest = trees_may_sleep(m)
            for i in range(m.nsensor):
                if some_rest and d.work.sensor_rests[i] != 0:
                    continue
                if m.sensor_type[i] == type and (after < 0 or m.sensor_needstage[i] == after):
                    compute(m, d, i)
                    apply_cutoff(m, d, i)
        return OK

    def all_with_histories(m: Model, d: Data) -> int:
        if not m.opt.disableflags & DSBL_SENSOR:
            some_rest = trees_may_sleep(m)
            for i in range(m.nsensor):
                if m.sensor_type[i] == type and (after < 0 or m.sensor_needstage[i] == after):
                    due = is_due(m, d, i, d.time)
                    if due and not (some_rest and d.work.sensor_rests[i] != 0):
                        compute(m, d, i)
                        apply_cutoff(m, d, i)
                    delay_values(m, d, i, due)
        return OK

    chosen, suffix = (all_with_histories, "_with_history") if histories else (all_of_type, "")
    suffix += f"_{kind.stage.name.removeprefix('mjSTAGE_').lower()}" if after >= 0 else ""
    chosen.__qualname__ = chosen.__name__ = compute.__name__ + suffix  # its name in the cache and progress bars
    return stage(chosen)


def sensor_stages(m: MjModel, when: int) -> list[Stage]:
    """Return the stages of the model's sensors at `when`: `mjSTAGE_POS`, `mjSTAGE_VEL` or `mjSTAGE_ACC`."""
    types = internals.array(m, "sensor_type")
    used, past = set(types.tolist()), set(types[m.sensor_history[:, 0] > 0].tolist())
    kinds = [kind for kind in SENSORS if kind.stage == when and kind.type in used]
    if (m.geom_type == GEOM_SDF).any():
        kinds = [_OF_SHAPES if kind.compute is tactile else kind for kind in kinds]
    return [_stage_of(kind, kind.type in past) for kind in kinds]


def all_sensor_stages() -> list[Stage]:
    """Return the stages of all types of sensors, without and with histories."""
    return [_stage_of(kind, histories) for histories in (False, True) for kind in (*SENSORS, _OF_SHAPES)]


def _uses(m: MjModel, need: str, when: int) -> bool:
    types = internals.array(m, "sensor_type")
    own = np.isin(types, [kind.type for kind in SENSORS if kind.needs == need])
    users = np.isin(types, (SENS_USER, SENS_PLUGIN)) & (m.sensor_needstage == int(when))
    return bool((own | users).any())


def needs_rne_post(m: MjModel) -> bool:
    """Return whether a sensor of the model may need `rne_post_constraint` (body accelerations and forces).

    User and plugin sensors of the acceleration stage may read any result, so they count.
    """
    return _uses(m, RNE_POST, _ACC)


def needs_energy_pos(m: MjModel) -> bool:
    """Return whether a sensor of the model measures the potential energy."""
    return bool((internals.array(m, "sensor_type") == SENS_E_POTENTIAL).any())


def needs_energy_vel(m: MjModel) -> bool:
    """Return whether a sensor of the model measures the kinetic energy."""
    return bool((internals.array(m, "sensor_type") == SENS_E_KINETIC).any())


def needs_subtree_vel(m: MjModel) -> bool:
    """Return whether a sensor of the model may need subtree momenta.

    If so, `subtree_vel` runs before velocity sensors.
    """
    return _uses(m, SUBTREE_VEL, _VEL)
