"""Default options and texts (spec: programming, API reference, "Initialization" and "Miscellaneous")."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from cardan.api.arguments import integer, text
from cardan.api.array_arguments import target_of
from cardan.api.loading import load_empty
from cardan.model.attributes import copy_group
from cardan.model.mjmodel import MjOption, MjVisual
from cardan.model.tables import MODEL
from cardan.step.report import size_text, warning_text

LOG_FILE = "MUJOCO_LOG.TXT"
_DEFAULT_SOLREF = (0.02, 1.0)
_DEFAULT_SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)


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
    """Write the default constraint parameters into `solref` (2,) and `solimp` (5,)."""
    reference, impedance = target_of("solref", solref, 2), target_of("solimp", solimp, 5)
    reference[:], impedance[:] = _DEFAULT_SOLREF, _DEFAULT_SOLIMP


def mju_writeNumBytes(nbytes: int) -> str:
    """Return a number of bytes as text, with the largest suffix (K, M, ...) that leaves it a whole number."""
    value = integer("mju_writeNumBytes", "nbytes", nbytes, 2**64)
    if value < 0:
        raise TypeError(f"mju_writeNumBytes: nbytes should not be negative, got {value}")
    return size_text(value)


def mju_warningText(warning: int, info: int) -> str:
    """Return the text of a warning (`mjtWarning`) with its information."""
    kind, value = integer("mju_warningText", "warning", warning), integer("mju_warningText", "info", info, 2**64)
    if value < 0:
        raise TypeError(f"mju_warningText: info should not be negative, got {value}")
    return warning_text(kind, value)


def mju_writeLog(type: str | bytes, msg: str | bytes) -> None:
    """Append the date and "type: msg" to ``MUJOCO_LOG.TXT`` in the working directory."""
    type, msg = text("mju_writeLog", "type", type), text("mju_writeLog", "msg", msg)
    with Path(LOG_FILE).open("a", encoding="utf-8") as file:
        file.write(f"{datetime.now().astimezone():%a %b %d %H:%M:%S %Y}\n{type}: {msg}\n\n")


__all__ = [
    "mj_defaultOption",
    "mj_defaultSolRefImp",
    "mj_defaultVisual",
    "mju_warningText",
    "mju_writeLog",
    "mju_writeNumBytes",
]
