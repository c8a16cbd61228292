"""Warnings: counted by the stages in `d.warning`, told to the user once (spec: simulation, diagnostics).

A stage that meets trouble raises a counter and goes on. The last stage of a program asks for a report when a counter
has left zero since the last report, so that a healthy step pays for eight comparisons. Each kind is told once for a
data, and again after a reset, as a Python warning of the class `SimulationWarning`.
"""

from __future__ import annotations

import warnings
from typing import Any

from cardan.enums.data import mjtWarning
from cardan.jit import OK, kernel, stage
from cardan.step.status import WARNED

NWARNING = int(mjtWarning.mjNWARNING)
_UNSTABLE = "NaN, infinite or huge value in {} at {} {}: the simulation is unstable"
MESSAGES: dict[int, str] = {
    int(mjtWarning.mjWARN_INERTIA): "inertia matrix is too close to singular at dof {info}; check the model",
    int(
        mjtWarning.mjWARN_CONTACTFULL
    ): "contacts reached the memory limit of the model (ncon = {info}) and are left out; raise <size memory>",
    int(
        mjtWarning.mjWARN_CNSTRFULL
    ): "constraint rows reached the memory limit of the model (nefc = {info}): no constraints; raise <size memory>",
    int(mjtWarning.mjWARN_VGEOMFULL): "visual geoms reached the limit (ngeom = {info})",
    int(mjtWarning.mjWARN_BADQPOS): _UNSTABLE.format("qpos", "position", "{info}"),
    int(mjtWarning.mjWARN_BADQVEL): _UNSTABLE.format("qvel", "dof", "{info}"),
    int(mjtWarning.mjWARN_BADQACC): _UNSTABLE.format("qacc", "dof", "{info}"),
    int(mjtWarning.mjWARN_BADCTRL): _UNSTABLE.format("ctrl", "actuator", "{info}"),
}


class SimulationWarning(RuntimeWarning):
    """The simulation went on, but something is wrong: unstable numbers, a limit reached, a singular inertia."""


@kernel
def count_warning(d: Any, kind: int, info: int) -> None:
    """Count a warning of a kind (mjtWarning), with its information (an id or a size)."""
    d.warning.number[kind] += 1
    d.warning.lastinfo[kind] = info


@stage
def report_warnings(m: Any, d: Any) -> int:
    """Ask for a report if there are warnings of a kind that was not reported yet."""
    for kind in range(NWARNING):
        if d.warning.number[kind] > 0 and d.work.warned[kind] == 0:
            return WARNED
    return OK


def report(d: Any) -> None:
    """Tell the user the new warnings of `d` (an MjData)."""
    numbers, warned = d.warning.number, d._memory.arrays["work.warned"]
    for kind, message in MESSAGES.items():
        if numbers[kind] and not warned[kind]:
            warned[kind] = 1
            text = message.format(info=d.warning.lastinfo[kind])
            warnings.warn(f"{text} (time = {d.time:.4f})", SimulationWarning, stacklevel=2)
