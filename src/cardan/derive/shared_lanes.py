"""All columns of a Jacobian in one block: one lane for all activations, one for all controls, and one a joint force.

Within a step of Euler's, activations and controls act on positions and velocities by the force of their own actuator
alone, and on no activation but that actuator's. So derivatives of all forces by their activations need one direction,
and so do those by the controls (Curtis, Powell, Reid: On the estimation of sparse Jacobian matrices, IMA J. Appl.
Math. 1974). From there on directions of joint forces are followed in place of those of the actuators, ::

    dx / d act_i  =  sum_k  dx / d qfrc_k  moment_ik  d force_i / d act_i        x: position or velocity

and, as the next activations don't depend on joint forces, in the same lanes. So 2 nv + max(2, nv) lanes do where there
were 2 nv + na + nu.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.derive.program import Plain
from cardan.derive.shadows import LANES
from cardan.enums import mjtIntegrator
from cardan.jit import OK, kernel, stage
from cardan.model.kernel_views import Data, Model
from cardan.step.hooks import installed_hooks

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel


def lanes_are_shared(m: MjModel) -> bool:
    """Whether all columns by state and controls fit one block like this, and wouldn't fit otherwise."""
    fits = m.nv > 0 and 2 * m.nv + max(2, m.nv) <= LANES < 2 * m.nv + m.na + m.nu
    own = m.opt.integrator == mjtIntegrator.mjINT_EULER and not m.nplugin and not installed_hooks(m)
    return bool(fits and own and (m.actuator_actnum <= 1).all() and not m.jnt_actfrclimited.any())


@kernel
def _clear_seeds(d: Data) -> None:
    for row in range(len(d.work.seed_lanes)):
        for lane in range(LANES):
            d.work.seed_lanes[row, lane] = 0.0


@stage
def begin_shared(m: Model, d: Data) -> int:
    """Set the directions: a lane for each position and velocity, one for all activations, one for all controls."""
    _clear_seeds(d)
    seeds, shared = d.work.seed_lanes, 2 * m.nv
    for i in range(shared):
        seeds[i, i] = 1.0
    for i in range(m.na):
        seeds[shared + i, shared] = 1.0
    for i in range(m.nu):
        seeds[shared + m.na + i, shared + 1] = 1.0
    return OK


@stage
def _spread_forces(m: Model, d: Data) -> int:
    """Go on with directions of joint forces, in the lanes of activations and controls.

    The tangents of ``actuator_force`` and ``qfrc_actuator`` are behind those of ``work.outcome``. A limit of the force
    on a joint, where one was set since this program was made, lets no force through.
    """
    lanes, first = d.work.outcome_lanes, len(d.work.outcome) + m.nu
    for dof in range(m.nv):
        for lane in range(2 * m.nv, LANES):
            lanes[first + dof, lane] = 0.0
        joint, force = m.dof_jntid[dof], d.qfrc_actuator[dof]
        limited = m.jnt_actfrclimited[joint] != 0
        if not limited or m.jnt_actfrcrange[joint, 0] < force < m.jnt_actfrcrange[joint, 1]:
            lanes[first + dof, 2 * m.nv + dof] = 1.0
    return OK


SPREAD_FORCES = Plain(_spread_forces, reads=("d.actuator_force",), writes=("d.qfrc_actuator",))
"""What follows `fwd_actuation`."""


@kernel
def _end_row(m: Model, d: Data, row: int, width: int) -> None:
    """A row of a position or a velocity: by activations and controls, from joint forces."""
    lanes, shared = d.work.outcome_lanes, 2 * m.nv
    at = row * width + shared
    for i in range(m.nu):
        effect = 0.0
        for k in range(m.aux.moment_rowadr[i], m.aux.moment_rowadr[i + 1]):
            dof = m.aux.moment_colind[k]
            effect += lanes[row, shared + dof] * d.actuator_moment[i, dof]
        force = len(d.work.outcome) + i
        if m.actuator_actnum[i] > 0:
            d.work.jacobian[at + m.actuator_actadr[i]] = effect * lanes[force, shared]
        d.work.jacobian[at + m.na + i] = effect * lanes[force, shared + 1]


@kernel
def _end_activation(m: Model, d: Data, actuator: int, width: int) -> None:
    """A row of an activation: by its own actuator."""
    lanes, shared = d.work.outcome_lanes, 2 * m.nv
    act = m.actuator_actadr[actuator]
    row = shared + act
    for column in range(row * width + shared, (row + 1) * width):
        d.work.jacobian[column] = 0.0
    d.work.jacobian[row * width + shared + act] = lanes[row, shared]
    d.work.jacobian[row * width + shared + m.na + actuator] = lanes[row, shared + 1]


@stage
def end_shared(m: Model, d: Data) -> int:
    """Bring the results into ``work.jacobian``, and clear the directions."""
    width = 2 * m.nv + m.na + m.nu
    for row in range(len(d.work.outcome)):
        for column in range(2 * m.nv):
            d.work.jacobian[row * width + column] = d.work.outcome_lanes[row, column]
    for row in range(2 * m.nv):
        _end_row(m, d, row, width)
    for i in range(m.nu):
        if m.actuator_actnum[i] > 0:
            _end_activation(m, d, i, width)
    _clear_seeds(d)
    d.work.column = width
    return OK


__all__ = ["SPREAD_FORCES", "begin_shared", "end_shared", "lanes_are_shared"]
