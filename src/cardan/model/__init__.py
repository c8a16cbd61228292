"""Tables of all fields, and the classes MjModel and MjData, whose attributes are made from these tables."""

from cardan.jit.binding.functions import Binding
from cardan.model.mjdata import MjContact, MjData, MjSolverStat, MjTimerStat, MjWarningStat
from cardan.model.mjmodel import MjModel, MjOption, MjStatistic, MjVisual
from cardan.model.vfs import MjVfs

Binding.types.update(Model=MjModel, Data=MjData)

__all__ = [
    "MjContact",
    "MjData",
    "MjModel",
    "MjOption",
    "MjSolverStat",
    "MjStatistic",
    "MjTimerStat",
    "MjVfs",
    "MjVisual",
    "MjWarningStat",
]
