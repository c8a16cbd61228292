"""Derivatives with respect to any field, and gradients of trajectories."""

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
    """Compute derivatives of any real field of the data by any real field of data or model, exact up to rounding.

    Inputs may be all values that a step reads: the state, controls, applied forces, and parameters of the model. A
    parameter is changed alone, without `mj_setConst`. If a parameter switches something off at 0, the derivative at 0
    is one-sided where possible. Fields that belong to the next state (qpos, qvel, act, time) are taken after the step.
    All other results are the values that a step leaves in the data, which belong to the state before it.

    Args:
        m: model.
        d: data; it does not change.
        of: names of results, as ``"qvel"``, ``"sensordata[2]"`` or ``"xpos[3, 0]"``.
        by: names of inputs, as ``"ctrl"``, ``"body_mass"``, ``"geom_friction[3]"`` or ``"opt.gravity"``.
        after: "step" for derivatives of `mj_step`, "forward" for those of `mj_forward`.
        contacts: "exact" or "smooth". If "smooth", geoms that don't touch, but are within `reach`, also contribute to
            the derivatives (and to nothing else): possible contacts then have an effect; see docs/derivatives.md.
        reach: largest distance of such geoms, m; None for the mean size of the model's bodies (``m.stat.meansize``).

    Returns:
        For each pair (result, input), an array whose shape is that of the result followed by that of the input.
        Positions
        (``"qpos"``) are in the tangent space, of shape (nv,), in results and inputs.

    Raises:
        IndexError: an index in a name is too large.
        NotImplementedError: the model or the state has a feature without derivatives; the message names it.
        RuntimeError: native code is switched off (``CARDAN_JIT=0``).
        TypeError: a name is not a string, `m` is not a model, or `d` is not a data.
        ValueError: a field does not exist, or `after`, `contacts` or `reach` has an invalid value.
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
    """Simulate some steps and store what gradients of the trajectory need.

    ``tape.gradient(dL_dstate, dL_dsensors)`` then goes back through the steps with their exact Jacobians, and
    ``tape.jacobians()`` returns the Jacobians. The tape stores the state and the inputs before each step, or before
    each `every`-th step.

    Args:
        m: model; it must not be changed while the tape is in use.
        d: data; it is stepped `nstep` times.
        nstep: number of steps.
        controls: controls of each step, (nstep, nu); None for the controls in `d`.
        contacts: "exact" or "smooth". If "smooth", geoms that don't touch, but are within `reach`, also contribute to
            the derivatives (and to nothing else): possible contacts then have an effect; see docs/derivatives.md.
        reach: largest distance of such geoms, m; None for the mean size of the model's bodies (``m.stat.meansize``).
        every: number of steps between two stored states. Values above 1 save memory, but gradients then simulate the
            steps once more, and applied forces should be equal in all steps.
        feedback: reference states before each step, (nstep, nq + nv + na), and gains (nstep, nu, 2 nv + na). The
            applied controls are ``controls + gains (x - states)``, with the deviation in the tangent space, clamped to
            the ranges of the controls; ``tape.controls`` holds them. Derivatives treat these controls as given.

    Raises:
        TypeError: `nstep` or `every` is not an integer, `m` is not a model, or `d` is not a data.
        ValueError: `nstep` is negative, `every` is less than 1, an array has a wrong shape, or `contacts` or `reach`
            has an invalid value.
    """
    from cardan.derive.distant import reach_of
    from cardan.derive.tape import record as start

    check_pair("record", m, d)
    distance = reach_of("record", m, contacts, reach)
    count, spacing = integer("record", "nstep", nstep), integer("record", "every", every)
    return start(m, d, count, controls, distance, spacing, feedback)


__all__ = ["derivatives", "record"]
