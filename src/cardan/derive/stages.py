"""Small stages of programs of tangents."""

from __future__ import annotations

from cardan.dynamics.actuation import MUSCLES_MADE, USERS_MADE
from cardan.jit import OK, stage
from cardan.model.kernel_views import Data, Model


@stage
def actuation_is_made(m: Model, d: Data) -> int:
    """Gains, biases and rates that come from stages before `fwd_actuation` are there, from the run of the values."""
    d.work.actuation_made = MUSCLES_MADE | USERS_MADE
    return OK


@stage
def keep_next_position(m: Model, d: Data) -> int:
    """Keep the configuration after a step in ``work.fd_qpos`` (nq,)."""
    for i in range(m.nq):
        d.work.fd_qpos[i] = d.qpos[i]
    return OK
