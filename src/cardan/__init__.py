"""Cardan: a physics engine for articulated and soft bodies in contact.

The names are those of MuJoCo's Python package, so that ``import cardan as mujoco`` runs existing simulation loops. The
module that defines a name is imported when the name is first used.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cardan import rollout, viewer
    from cardan.api.asset_files import *
    from cardan.api.callbacks import *
    from cardan.api.collisions import *
    from cardan.api.defaults import *
    from cardan.api.derivatives import *
    from cardan.api.histories import *
    from cardan.api.loading import *
    from cardan.api.mjspec import *
    from cardan.api.mju_bands import *
    from cardan.api.mju_boxqp import *
    from cardan.api.mju_matrices import *
    from cardan.api.mju_quaternions import *
    from cardan.api.mju_scalars import *
    from cardan.api.mju_sparse import *
    from cardan.api.mju_vectors import *
    from cardan.api.names import *
    from cardan.api.pipeline import *
    from cardan.api.products import *
    from cardan.api.rays import *
    from cardan.api.saving import *
    from cardan.api.state import *
    from cardan.api.support import *
    from cardan.batch import Batch, SimulationError
    from cardan.compat import get_compat, set_compat
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
        MjVfs,
        MjVisual,
        MjWarningStat,
    )
    from cardan.render import *
    from cardan.visual import *

del TYPE_CHECKING
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Import the module that defines a name, when the name is first used.

    For a missing name, raise AttributeError; its message states whether MuJoCo has the name.
    """
    from cardan.face import absent, find, public_names

    if name == "__all__":
        return public_names()
    if name.startswith("__"):
        raise AttributeError(f"module 'cardan' has no attribute {name!r}")
    found = find(name)
    if found is None:
        raise AttributeError(absent(name))
    return globals().setdefault(name, found[0])


def _forget_versioned_names() -> None:
    """Forget the names whose objects depend on the version that the process uses, which has changed."""
    from cardan.face import versioned_names

    for name in versioned_names():
        globals().pop(name, None)


def __dir__() -> list[str]:
    from cardan.face import public_names

    return sorted({*globals(), *public_names()})
