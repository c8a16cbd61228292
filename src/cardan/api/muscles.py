"""Muscles and length ranges of actuators in MuJoCo's Python interface (spec: modeling, muscles and length range)."""

from __future__ import annotations

from typing import Any

from cardan.api.arguments import check_pair, integer
from cardan.api.array_arguments import numbers
from cardan.compiler.lengthrange import LengthRanges, MjLROpt
from cardan.dynamics import muscle
from cardan.enums import mjtLRMode
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel

_PARAMETERS = 9


def mju_muscleGain(len: float, vel: float, lengthrange: Any, acc0: float, prm: Any) -> float:
    """Active force of a muscle per unit of activation (negative: it pulls).

    Args:
        len: length of the actuator.
        vel: rate of change of the length.
        lengthrange: smallest and largest length (2,).
        acc0: acceleration by a unit force at qpos0 (only used if the force in `prm` is negative).
        prm: range (2), force, scale, lmin, lmax, vmax, fpmax, fvmax (9,).
    """
    span = numbers("lengthrange", lengthrange, 2)
    nine = numbers("prm", prm, _PARAMETERS)
    return float(muscle.muscle_gain(float(len), float(vel), span, float(acc0), nine))


def mju_muscleBias(len: float, lengthrange: Any, acc0: float, prm: Any) -> float:
    """Passive force of a muscle (negative: it pulls); arguments as in `mju_muscleGain`."""
    span = numbers("lengthrange", lengthrange, 2)
    nine = numbers("prm", prm, _PARAMETERS)
    return float(muscle.muscle_bias(float(len), span, float(acc0), nine))


def mju_muscleDynamics(ctrl: float, act: float, prm: Any) -> float:
    """Rate of change of a muscle's activation.

    Args:
        ctrl: control; clamped to [0, 1].
        act: activation.
        prm: time constants of activation and deactivation, s, and width of the transition between them (3,).
    """
    return float(muscle.muscle_dynamics(float(ctrl), float(act), numbers("prm", prm, 3)))


def mj_defaultLROpt(opt: MjLROpt) -> None:
    """Set options to the defaults of the element ``compiler/lengthrange``."""
    if not isinstance(opt, MjLROpt):
        raise TypeError(f"mj_defaultLROpt: opt must be an MjLROpt, not {type(opt).__name__}")
    opt.mode = int(mjtLRMode.mjLRMODE_MUSCLE)
    opt.useexisting, opt.uselimit = 1, 0
    opt.accel, opt.maxforce, opt.timeconst, opt.timestep = 20.0, 0.0, 1.0, 0.01
    opt.inttotal, opt.interval, opt.tolrange = 10.0, 2.0, 0.05


def mj_setLengthRange(m: MjModel, d: MjData, index: int, opt: MjLROpt) -> None:
    """Set `m.actuator_lengthrange` of one actuator, if the options include actuators of its kind.

    Args:
        m: the model.
        d: a data of the model; it is not changed.
        index: id of the actuator.
        opt: options.

    Raises:
        ValueError: the actuator does not exist, or its range can't be found.
    """
    check_pair("mj_setLengthRange", m, d)
    actuator = integer("mj_setLengthRange", "index", index)
    if not 0 <= actuator < m.nu:
        raise ValueError(f"mj_setLengthRange: index must be between 0 and {m.nu - 1}, found {actuator}")
    if not isinstance(opt, MjLROpt):
        raise TypeError(f"mj_setLengthRange: opt must be an MjLROpt, not {type(opt).__name__}")
    try:
        LengthRanges(m, opt).set(actuator)
    except ValueError as error:
        raise ValueError(f"mj_setLengthRange: actuator {actuator}: {error}") from None


__all__ = [
    "MjLROpt",
    "mj_defaultLROpt",
    "mj_setLengthRange",
    "mju_muscleBias",
    "mju_muscleDynamics",
    "mju_muscleGain",
]
