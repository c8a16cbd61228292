"""Default options and texts (spec: programming, API reference, "Initialization" and "Miscellaneous")."""

from __future__ import annotations

from typing import Any

from cardan.api.arguments import check_pair, integer, numbers, target_of, text
from cardan.api.loading import load_empty
from cardan.api.log import append_to_log, now
from cardan.compiler.lengthrange import LengthRanges, MjLROpt
from cardan.dynamics import muscle
from cardan.enums import mjtLRMode, mjtWarning
from cardan.enums.numbering import inward, is_later
from cardan.model.attributes import copy_group
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel, MjOption, MjVisual
from cardan.model.tables import MODEL
from cardan.step.report import size_text, warning_text


def mj_defaultOption(opt: MjOption) -> None:
    """Set physics options to their defaults."""
    if not isinstance(opt, MjOption):
        raise TypeError(f"mj_defaultOption: opt must be an MjOption, not {type(opt).__name__}")
    copy_group(opt, load_empty().opt)


def mj_defaultVisual(vis: MjVisual) -> None:
    """Set visual options to their defaults."""
    if not isinstance(vis, MjVisual):
        raise TypeError(f"mj_defaultVisual: vis must be an MjVisual, not {type(vis).__name__}")
    default = load_empty().vis
    for prefix in MODEL.prefixes:
        if prefix.startswith("vis.") and prefix != "vis.":
            name = prefix[4:-1]
            copy_group(getattr(vis, name), getattr(default, name))


def mj_defaultSolRefImp(solref: Any, solimp: Any) -> None:
    """Write the default constraint parameters into `solref` (2,) and `solimp` (5,); None: not needed."""
    defaults = (("solref", solref, (0.02, 1.0)), ("solimp", solimp, (0.9, 0.95, 0.001, 0.5, 2.0)))
    targets = [(target_of(name, array, len(values)), values) for name, array, values in defaults if array is not None]
    for target, values in targets:
        target[:] = values


def mju_writeNumBytes(nbytes: int) -> str:
    """Return a number of bytes as text, with the largest suffix (K, M, ...) that leaves a whole number."""
    value = integer("mju_writeNumBytes", "nbytes", nbytes, 2**64)
    if value < 0:
        raise TypeError(f"mju_writeNumBytes: nbytes should not be negative, got {value}")
    return size_text(value)


def mju_warningText(warning: int, info: int) -> str:
    """Return the text of a warning (`mjtWarning`), which includes its information `info`."""
    kind, value = integer("mju_warningText", "warning", warning), integer("mju_warningText", "info", info, 2**64)
    if value < 0:
        raise TypeError(f"mju_warningText: info should not be negative, got {value}")
    return warning_text(inward(mjtWarning).get(kind, kind) if is_later() else kind, value)


def mju_writeLog(type: str | bytes, msg: str | bytes) -> None:
    """Append the date and "type: msg" to the log: ``MUJOCO_LOG.TXT``, or another file (`MjLogConfig`)."""
    type, msg = text("mju_writeLog", "type", type), text("mju_writeLog", "msg", msg)
    append_to_log(f"{now()}\n{type}: {msg}\n\n")


def mju_muscleGain(len: float, vel: float, lengthrange: Any, acc0: float, prm: Any) -> float:
    """Return a muscle's active force per unit of activation; it is negative, because a muscle pulls.

    Args:
        len: length of the actuator.
        vel: rate of change of the length.
        lengthrange: smallest and largest length (2,).
        acc0: acceleration that a unit force causes at qpos0; used only if the force in `prm` is negative.
        prm: range (2), force, scale, lmin, lmax, vmax, fpmax, fvmax (9,).
    """
    span, nine = numbers("lengthrange", lengthrange, 2), numbers("prm", prm, 9)
    return float(muscle.muscle_gain(float(len), float(vel), span, float(acc0), nine))


def mju_muscleBias(len: float, lengthrange: Any, acc0: float, prm: Any) -> float:
    """Return a muscle's passive force, negative because a muscle pulls; arguments as in `mju_muscleGain`."""
    span, nine = numbers("lengthrange", lengthrange, 2), numbers("prm", prm, 9)
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
    """Compute and set `m.actuator_lengthrange` of one actuator, if the options include actuators of its kind.

    Args:
        m: the model.
        d: data of the model; it does not change.
        index: id of the actuator.
        opt: options.

    Raises:
        ValueError: the actuator does not exist, or its range can't be found.
    """
    check_pair("mj_setLengthRange", m, d)
    actuator = integer("mj_setLengthRange", "index", index)
    if not 0 <= actuator < m.nactuator:
        raise ValueError(f"mj_setLengthRange: index must be between 0 and {m.nactuator - 1}, found {actuator}")
    if not isinstance(opt, MjLROpt):
        raise TypeError(f"mj_setLengthRange: opt must be an MjLROpt, not {type(opt).__name__}")
    try:
        LengthRanges(m, opt).set(actuator)
    except ValueError as error:
        raise ValueError(f"mj_setLengthRange: actuator {actuator}: {error}") from None


__all__ = ["MjLROpt", "mj_defaultLROpt", "mj_defaultOption", "mj_defaultSolRefImp", "mj_defaultVisual"]
__all__ += ["mj_setLengthRange", "mju_muscleBias", "mju_muscleDynamics", "mju_muscleGain", "mju_warningText"]
__all__ += ["mju_writeLog", "mju_writeNumBytes"]
