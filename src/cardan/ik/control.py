"""Velocities for control loops: one quadratic program for each configuration.

A velocity v moves the configuration by ``dq = v dt``. The program minimises the sum over the tasks of

    |W (J dq + gain r)|^2 + lm_damping |W r|^2 |dq|^2,   plus   damping |dq|^2,

within joint and velocity limits, equality constraints and distances. Sources: documentation of mink; B. Siciliano et
al., Robotics: Modelling, Planning and Control, section 3.5.
"""

from __future__ import annotations

from cardan.ik.descent import UNBOUNDED
from cardan.ik.evaluation import ik_stage
from cardan.ik.fields import POSTURE
from cardan.ik.kernel_views import Ik
from cardan.ik.quadratic import factorise
from cardan.ik.residuals import find_hessian
from cardan.jit import call_collider, kernel
from cardan.model.kernel_views import Model


@kernel
def apply_gains(d: Ik) -> float:
    """Multiply the residuals of each task by its gain; return the damping that tasks ask for."""
    damping = 0.0
    for t in range(len(d.ik.task_kind)):
        gain = d.ik.task_gain[t]
        row = d.ik.task_row[t]
        square = 0.0
        if d.ik.task_kind[t] == POSTURE:
            for c in range(d.ik.n):
                square += d.ik.posture[row, c] * d.ik.posture[row, c]
                d.ik.posture[row, c] *= gain
        else:
            for k in range(row, row + d.ik.task_rows[t]):
                square += d.ik.r[k] * d.ik.r[k]
                d.ik.r[k] *= gain
        damping += d.ik.task_damping[t] * square
    return damping


@kernel
def set_step_bounds(d: Ik) -> None:
    """Set the bounds of ``v dt``: velocity limits, then joint limits; velocity limits come first if both conflict."""
    for c in range(d.ik.n):
        most = min(d.ik.speed[c] * d.ik.dt, UNBOUNDED)
        low, high = -most, most
        adr = d.ik.qadr[c]
        if adr >= 0:
            low = min(max(low, d.ik.limit_gain * (d.ik.low[c] - d.qpos[adr])), most)
            high = max(min(high, d.ik.limit_gain * (d.ik.high[c] - d.qpos[adr])), -most)
        d.ik.x_low[c] = low
        d.ik.x_high[c] = high


@ik_stage
def find_velocities(m: Model, d: Ik, first: int, last: int) -> int:
    """Compute the velocities at the configurations `first` to `last` (exclusive)."""
    for row in range(first, last):
        d.ik.row = row
        for i in range(m.nq):
            d.qpos[i] = d.ik.given[row, i]
        call_collider(d.ik.evaluate, m, d, 1, 0)
        d.ik.error[row, 0] = d.ik.place_error
        d.ik.error[row, 1] = d.ik.turn_error
        damping = apply_gains(d)
        find_hessian(d)
        set_step_bounds(d)
        factorise(d, damping + d.ik.damping)
        d.ik.ok[row] = 1 if call_collider(d.ik.minimise, m, d, 0, 0) == 0 else 0
        for i in range(m.nv):
            d.ik.found[row, i] = 0.0
        for c in range(d.ik.n):
            d.ik.found[row, d.ik.dof[c]] = d.ik.x[c] / d.ik.dt
    return 0
