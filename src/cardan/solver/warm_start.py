"""Warm start: the acceleration from which the solver starts in the next step (`qacc_warmstart`).

In MuJoCo 3.1 each run of the solver replaces the warm start. Repeated calls of `mj_forward` therefore continue to
converge, and each stage of a Runge-Kutta step starts from the previous stage. In MuJoCo 4.0 only integrators replace
the warm start, so that forward dynamics is a function of the state.
"""

from __future__ import annotations

from cardan.jit import OK, stage
from cardan.model.kernel_views import Data, Model


@stage
def save_warm_start(m: Model, d: Data) -> int:
    """Copy qacc to qacc_warmstart."""
    for i in range(m.nv):
        d.qacc_warmstart[i] = d.qacc[i]
    return OK
