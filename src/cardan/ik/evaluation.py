"""Evaluation of a problem at a configuration, and the decorator of the kernels of inverse kinematics."""

from __future__ import annotations

from cardan.ik.avoidance import pair_rows
from cardan.ik.equalities import equality_rows
from cardan.ik.kernel_views import Ik
from cardan.ik.placing import place
from cardan.ik.residuals import find_residuals
from cardan.jit.driver.program import native_over
from cardan.model.kernel_views import Model

ik_stage = native_over("Model", "Ik")
"""Decorator for kernels with the arguments ``(m, d, i, j)``: model, problem, and two integers."""


@ik_stage
def evaluate(m: Model, d: Ik, avoids: int, _unused: int) -> int:
    """Compute residuals, Jacobians and rows at ``d.qpos``; those of distances only if `avoids` is not 0."""
    place(m, d)
    find_residuals(m, d)
    equality_rows(m, d)
    if avoids != 0:
        pair_rows(m, d, d.ik.pair_gain)
    return 0
