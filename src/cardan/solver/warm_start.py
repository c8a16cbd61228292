"""Warm start: the acceleration from which the solver starts in the next step (`qacc_warmstart`).

In MuJoCo 3.1 each run of the solver replaces the warm start. Repeated calls of `mj_forward` therefore continue to
converge, and each stage of a Runge-Kutta step starts from the previous stage. In MuJoCo 4.0 only integrators replace
the warm start, so that forward dynamics is a function of the state.
"""

from __future__ import annotations

from cardan.dynamics.awake import SOLVER_UNSETTLED, START_UNSETTLED, settle, visited_dofs, visits
from cardan.jit import OK, stage
from cardan.model.kernel_views import Data, Model


@stage
def save_warm_start(m: Model, d: Data) -> int:
    """Copy qacc to qacc_warmstart, except for trees that sleep."""
    for visit in range(visits(m, d, START_UNSETTLED)):
        first, stop = visited_dofs(m, d, START_UNSETTLED, visit)
        for i in range(first, stop):
            d.qacc_warmstart[i] = d.qacc[i]
    if d.work.unsettled & SOLVER_UNSETTLED == 0:  # the solver has seen the present spans
        settle(d, START_UNSETTLED)
    return OK
