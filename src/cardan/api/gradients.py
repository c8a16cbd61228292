"""Derivatives by any field, and gradients of trajectories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cardan.api.arguments import check_pair, integer
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel

if TYPE_CHECKING:
    from cardan.derive.tape import Tape


def derivatives(
    m: MjModel,
    d: MjData,
    of: Sequence[str] = ("qpos", "qvel", "act", "sensordata"),
    by: Sequence[str] = ("qpos", "qvel", "act", "ctrl"),
    after: str = "step",
    contacts: str = "exact",
    reach: float | None = None,
) -> dict[tuple[str, str], np.ndarray]:
    """Derivatives of any real field of the data by any real field of data or model, exact up to rounding.

    What a step reads may be differentiated by: the state, controls and applied forces, and parameters of the model, as
    if that field alone had been changed, without `mj_setConst`. Of a parameter that switches something off at 0 the
    derivative there is one-sided where that makes sense. Fields that belong to the next state (qpos, qvel, act, time)
    are those after the step; all others are those that a step leaves, which belong to the state before it.

    Args:
        m: model.
        d: data; it does not change.
        of: names of results, as ``"qvel"``, ``"sensordata[2]"`` or ``"xpos[3, 0]"``.
        by: names of inputs, as ``"ctrl"``, ``"body_mass"``, ``"geom_friction[3]"`` or ``"opt.gravity"``.
        after: "step" for derivatives of `mj_step`, "forward" for those of `mj_forward`.
        contacts: "smooth" lets geoms that don't touch, but are within `reach`, take part in the derivatives (and in
            nothing else), so that they see contacts that are not made yet; see docs/derivatives.md.
        reach: that distance, m; None for the mean size of the model's bodies (``m.stat.meansize``).

    Returns:
        For each pair of a result and an input an array with the shape of the result, then that of the input. Positions
        (``"qpos"``) are in the tangent space, of shape (nv,), on both sides.

    Raises:
        IndexError: an index in a name is too large.
        NotImplementedError: the model or the state has a feature without derivatives; the message names it.
        RuntimeError: native code is switched off (``CARDAN_JIT=0``).
        TypeError: a name is no string, or `m` and `d` are none.
        ValueError: there is no such field, or `after`, `contacts` or `reach` is something else.
    """
    from cardan.derive.distant import reach_of
    from cardan.derive.sensitivity import sensitivities

    check_pair("derivatives", m, d)
    distance = reach_of("derivatives", m, contacts, reach)
    results, inputs = (of,) if isinstance(of, str) else of, (by,) if isinstance(by, str) else by
    return sensitivities(m, d, results, inputs, after, distance)


def record(
    m: MjModel,
    d: MjData,
    nstep: int,
    controls: np.ndarray | None = None,
    contacts: str = "exact",
    reach: float | None = None,
    every: int = 1,
    feedback: tuple[np.ndarray, np.ndarray] | None = None,
) -> Tape:
    """Simulate some steps and keep what gradients of the trajectory need.

    ``tape.gradient(dL_dstate, dL_dsensors)`` then goes back over the steps with their exact Jacobians, and
    ``tape.jacobians()`` gives these themselves. The tape keeps the state and the inputs before each step, or before
    each `every`-th one.

    Args:
        m: model; it must stay as it is while the tape is in use.
        d: data; it is stepped `nstep` times.
        nstep: number of steps.
        controls: controls of each step, (nstep, nu); None for those of `d`.
        contacts: "smooth" lets geoms that don't touch, but are within `reach`, take part in the derivatives (and in
            nothing else), so that they see contacts that are not made yet; see docs/derivatives.md.
        reach: that distance, m; None for the mean size of the model's bodies (``m.stat.meansize``).
        every: steps from one whose start is kept to the next. More than 1 takes less memory, and the time of one more
            simulation; applied forces then should be the same in all steps.
        feedback: reference states before each step, (nstep, nq + nv + na), and gains (nstep, nu, 2 nv + na): what is
            applied is ``controls + gains (x - states)``, with the deviation in the tangent space, clamped to the ranges
            of the controls; ``tape.controls`` has it. Derivatives are those of a step with given controls.

    Raises:
        TypeError: `nstep` or `every` is no integer, or `m` and `d` are none.
        ValueError: `nstep` is negative, `every` is less than 1, an array has another shape, or `contacts` or `reach`
            is something else.
    """
    from cardan.derive.distant import reach_of
    from cardan.derive.tape import record as start

    check_pair("record", m, d)
    distance = reach_of("record", m, contacts, reach)
    count, spacing = integer("record", "nstep", nstep), integer("record", "every", every)
    return start(m, d, count, controls, distance, spacing, feedback)


__all__ = ["derivatives", "record"]
