"""Warnings: counted by the stages in `d.warning`, reported to the user once (spec: simulation, diagnostics).

A stage that detects a problem increments a counter and continues. The last stage of a program requests a report if a
counter has become positive since the last report, so that a step without warnings costs only eight comparisons. Each
kind of warning is reported once per MjData object. After a reset by the user, it can be reported again. After an
automatic reset, this holds for all kinds except the one that caused the reset. The report goes to the user's handler
(`set_mju_user_warning`). Without a handler, it is a Python warning of the class `SimulationWarning`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.enums.data import mjtWarning
from cardan.jit import OK, kernel, stage
from cardan.model import internals
from cardan.model.kernel_views import Data, Model

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData

DIVERGED = -3  # a check found a bad number: reset, run the forward dynamics if needed, continue after this stage
WARNED = -4  # new warnings were counted
ROLLOUT_FROZEN = -5  # a world of a rollout raised a warning: its remaining rows repeat the last one


NWARNING = int(mjtWarning.mjNWARNING)
_UNSTABLE = "Nan, Inf or huge value in {} at {} {}. The simulation is unstable."
MESSAGES: dict[int, str] = {
    int(mjtWarning.mjWARN_INERTIA): "Inertia matrix is too close to singular at DOF {info}. Check model.",
    int(mjtWarning.mjWARN_CONTACTFULL): (
        "Too many contacts. Either the arena memory is full, or nconmax is specified and is exceeded. "
        "Increase arena memory allocation, or increase/remove nconmax. (ncon = {info})"
    ),
    int(mjtWarning.mjWARN_CNSTRFULL): (
        "Insufficient arena memory for the number of constraints generated. "
        "Increase arena memory allocation above {info} bytes."
    ),
    int(mjtWarning.mjWARN_VGEOMFULL): "Pre-allocated visual geom buffer is full. Increase maxgeom above {info}.",
    int(mjtWarning.mjWARN_BADQPOS): _UNSTABLE.format("QPOS", "DOF", "{info}"),
    int(mjtWarning.mjWARN_BADQVEL): _UNSTABLE.format("QVEL", "DOF", "{info}"),
    int(mjtWarning.mjWARN_BADQACC): _UNSTABLE.format("QACC", "DOF", "{info}"),
    int(mjtWarning.mjWARN_BADCTRL): _UNSTABLE.format("CTRL", "ACTUATOR", "{info}"),
}
"""Texts of the warnings; `warning_text` fills in the information."""
_IN_BYTES = (int(mjtWarning.mjWARN_CNSTRFULL),)
_SUFFIXES = ("", "K", "M", "G", "T", "P", "E")


class SimulationWarning(RuntimeWarning):
    """Warning that a simulation continued despite unstable numbers, a reached limit or a singular inertia matrix."""


class _Handler:
    """User's warning handler: `function` gets the text of a warning, in place of `warnings.warn`."""

    function: Callable[..., Any] | None = None
    takes_bytes: bool = False


handler = _Handler()
listeners: list[Callable[[str], None]] = []
"""Functions that get the text of each warning before it is reported."""


@kernel
def count_warning(d: Data, kind: int, info: int) -> None:
    """Increment the count of a kind of warning (mjtWarning), and store `info` (an id or a size) as its latest info."""
    d.warning.number[kind] += 1
    d.warning.lastinfo[kind] = info


@stage
def report_warnings(m: Model, d: Data) -> int:
    """Request a report if any kind of warning has been counted but not reported."""
    for kind in range(NWARNING):
        if d.warning.number[kind] > 0 and d.work.warned[kind] == 0:
            return WARNED
    return OK


def size_text(nbytes: int) -> str:
    """Format a number of bytes, with the largest suffix (K, M, ...) that leaves an integer."""
    power = 0
    while nbytes and nbytes % 1024 == 0 and power < len(_SUFFIXES) - 1:
        nbytes //= 1024
        power += 1
    return f"{nbytes}{_SUFFIXES[power]}"


def warning_text(kind: int, info: int) -> str:
    """Return the text of a warning: `kind` is its kind (mjtWarning), `info` an id or a size."""
    if kind not in MESSAGES:
        return f"Unknown warning type {kind}."
    return MESSAGES[kind].format(info=size_text(info) if kind in _IN_BYTES else info)


def was_told(d: MjData, kind: int) -> bool:
    """Return whether a warning of this kind has been reported since the count of the kind was last 0."""
    arrays = internals.memory(d).arrays
    return bool(arrays["warning.number"][kind] and arrays["work.warned"][kind])


def keep_message(d: MjData, kind: int, info: int, details: str) -> None:
    """Store the message of a warning, which contains the current time and `details`, before a reset.

    `kind` is the kind of the warning (mjtWarning), and `info` an id or a size.
    """
    text = f"{_message(kind, info, d.time)} {details[0].upper()}{details[1:]}."
    internals.kept(d).setdefault("messages", {})[kind] = text


def new_messages(
    number: np.ndarray, lastinfo: np.ndarray, warned: np.ndarray, time: float, kept: Mapping[int, str]
) -> Iterator[tuple[int, str]]:
    """Yield kind (`mjtWarning`) and message of each new warning, and mark the warning as reported in `warned`.

    `number` and `lastinfo` are the count and the latest information of each kind. `kept` contains messages that were
    stored before a reset, by kind.
    """
    for kind in MESSAGES:
        if number[kind] and not warned[kind]:
            warned[kind] = 1
            yield kind, kept.get(kind) or _message(kind, lastinfo[kind], time)


def _message(kind: int, info: int, time: float) -> str:
    return f"{warning_text(kind, info)} Time = {time:.4f}."


def pending_messages(d: MjData) -> Iterator[tuple[int, str]]:
    """Yield the new warnings of `d` (an MjData), as `new_messages` does."""
    kept = internals.kept(d).pop("messages", {})
    number, info, warned = (internals.array(d, name) for name in ("warning.number", "warning.lastinfo", "work.warned"))
    yield from new_messages(number, info, warned, d.time, kept)


def report(d: MjData) -> None:
    """Report the new warnings of `d` (an MjData) to the user."""
    for _, text in pending_messages(d):
        tell(text)


def tell(text: str) -> None:
    """Pass the text of a warning to listeners, then to the user's handler or, without one, to `warnings.warn`."""
    for listener in listeners:
        listener(text)
    if handler.function is not None:
        handler.function(text.encode() if handler.takes_bytes else text)
    else:
        warnings.warn(text, SimulationWarning, stacklevel=2)
