"""Cardan: a physics engine for articulated and soft bodies in contact.

The names here are those of MuJoCo's Python package, so that ``import cardan as mujoco`` runs existing simulation loops.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from cardan import rollout
from cardan.api import *
from cardan.api.absent import absent_feature as _absent_feature
from cardan.constants import *
from cardan.enums import *
from cardan.errors import FatalError, UnexpectedError
from cardan.jit import kernel, stage
from cardan.model import (
    MjContact,
    MjData,
    MjModel,
    MjOption,
    MjSolverStat,
    MjStatistic,
    MjTimerStat,
    MjVisual,
    MjWarningStat,
)
from cardan.render import *
from cardan.visual import *

if _TYPE_CHECKING:
    from cardan.batch import Batch, SimulationError

__version__ = "0.1.0"

_LATE = ("Batch", "SimulationError")  # imported when they are first asked for


def __getattr__(name: str) -> object:
    """Answer for a name that this module lacks: AttributeError, which says whether MuJoCo has it and Cardan not yet."""
    if name in _LATE:
        from cardan import batch

        return getattr(batch, name)
    feature = _absent_feature(name)
    if feature is None:
        raise AttributeError(f"module 'cardan' has no attribute {name!r}")
    raise AttributeError(f"cardan.{name} is not supported yet ({feature}); docs/status.md lists what is")
