"""Smooth acceleration: due to all forces except those of constraints (spec: computation, general framework)."""

from __future__ import annotations

from cardan.dynamics.inertia import solve_m
from cardan.dynamics.jacobian import apply_ft
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Array1
from cardan.maths.vector import get3
from cardan.model.kernel_views import Data, Model


@kernel
def _is_pushed(d: Data, body: int) -> bool:
    for k in range(6):
        if d.xfrc_applied[body, k] != 0.0:
            return True
    return False


@kernel
def add_applied_forces(m: Model, d: Data, result: Array1) -> None:
    """Add the joint forces of `xfrc_applied` to `result` (nv,). Its forces and torques act at the centres of mass."""
    applied = d.xfrc_applied
    for body in range(1, m.nbody):
        if _is_pushed(d, body):
            force = (applied[body, 0], applied[body, 1], applied[body, 2])
            torque = (applied[body, 3], applied[body, 4], applied[body, 5])
            apply_ft(m, d, force, torque, get3(d.xipos, body), body, result)


@stage
def fwd_acceleration(m: Model, d: Data) -> int:
    """Sum the forces without constraints, and compute the acceleration that they cause.

    Reads qfrc_passive, qfrc_bias, qfrc_applied, qfrc_actuator, xfrc_applied, qLD; writes qfrc_smooth and
    qacc_smooth (nv,).
    """
    for dof in range(m.nv):
        d.qfrc_smooth[dof] = d.qfrc_passive[dof] - d.qfrc_bias[dof] + d.qfrc_applied[dof] + d.qfrc_actuator[dof]
    add_applied_forces(m, d, d.qfrc_smooth)
    for dof in range(m.nv):
        d.qacc_smooth[dof] = d.qfrc_smooth[dof]
    solve_m(m, d, d.qacc_smooth)
    return OK
