"""Features that the pipeline does not have yet: a table with one row per feature, checked when a program is made.

A program is refused only if it contains a stage that needs the missing feature. So, for example, the kinematics of any
model can be computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from cardan.enums import mjtIntegrator, mjtSensor
from cardan.sensor.table import SENSORS
from cardan.step.inverse import continuous_acc_euler

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

Stage = Callable[..., Any]


class Missing(NamedTuple):
    """Feature that does not exist yet.

    Attributes:
        feature: name of the feature, and where the model requests it.
        asked: function that returns whether a model requests it.
        stages: stages that would need it.
        instead: advice to the user.
    """

    feature: str
    asked: Callable[[MjModel], bool]
    stages: tuple[Stage, ...]
    instead: str = ""


def _enabled(bit: int) -> Callable[[MjModel], bool]:
    return lambda m: bool(m.opt.enableflags & bit)


def _discrete_rk4(m: MjModel) -> bool:
    return m.opt.integrator == mjtIntegrator.mjINT_RK4


SENSOR_TYPES = (*(kind.type for kind in SENSORS), int(mjtSensor.mjSENS_USER), int(mjtSensor.mjSENS_PLUGIN))

MISSING: tuple[Missing, ...] = (
    Missing(
        "discrete-time inverse dynamics (flag invdiscrete) of the integrator RK4",
        _discrete_rk4,
        (continuous_acc_euler,),
    ),
)


def check_support(m: MjModel, stages: Iterable[Any]) -> None:
    """Refuse a program that contains a stage which lacks a feature that the model requests.

    Raises:
        ValueError: a feature is missing; the message names it.
    """
    wanted = set(stages)
    for row in MISSING:
        if wanted.intersection(row.stages) and row.asked(m):
            advice = f"; use {row.instead}" if row.instead else ""
            raise ValueError(f"this model asks for {row.feature}, which Cardan does not have yet{advice}")


def check_sensors(m: MjModel) -> None:
    """Refuse a model with sensors of types that do not exist yet.

    Raises:
        ValueError: the model has such sensors; the message names their types.
    """
    unknown = sorted(set(m.sensor_type.tolist()).difference(SENSOR_TYPES))
    if unknown:
        names = ", ".join(mjtSensor(kind).name.removeprefix("mjSENS_").lower() for kind in unknown)
        raise ValueError(f"this model has sensors of the types {names}, which Cardan does not have yet")
