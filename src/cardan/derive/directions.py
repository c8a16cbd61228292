"""Stages that set the directions of tangent programs, collect the results, and detect changes of contacts and rows.

A Jacobian is computed in blocks of `LANES` directions: positions first, then velocities, activations, memory of
plugins, and controls. Each direction is one lane of ``work.seed_lanes``, the tangents of ``work.seed_*``. The results
are the tangents of ``work.outcome``.

In small models with many actuators, all columns share one block (`begin_shared` to `end_shared`). Within an Euler step,
activations and controls affect positions and velocities only through the force of their own actuator, and affect only
that actuator's activation. One direction therefore gives the derivatives of all forces with respect to activations, and
one those with respect to controls (Curtis, Powell, Reid: On the estimation of sparse Jacobian matrices, IMA J. Appl.
Math. 1974). After the actuator forces, directions of joint forces replace those of the actuators ::

    dx / d act_i  =  sum_k  dx / d qfrc_k  moment_ik  d force_i / d act_i        x: position or velocity

in the same lanes, because the next activations do not depend on joint forces. So 2 nv + max(2, nv) lanes are enough,
in place of 2 nv + na + nu.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.derive.contact import pair_code, side_key
from cardan.derive.program import LANES, Plain
from cardan.dynamics.actuation import ALL_MADE
from cardan.dynamics.kinematics import get_quat
from cardan.enums import mjtIntegrator
from cardan.enums.codes import JNT_BALL, JNT_FREE
from cardan.jit import OK, kernel, stage
from cardan.jit.driver.scripts import SCRIPT_BEGINS_AGAIN, SCRIPT_CLEARS
from cardan.maths.quaternion import mul_quat, neg_quat
from cardan.model.kernel_views import Data, Model
from cardan.step.hooks import installed_hooks

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

RESTRUCTURED = -20
"""Status of a comparison: contacts or rows have changed so that other tangent programs are needed."""
CHANGED = 2
"""Index in ``work.kept_count`` of the flag that contacts have changed in this pass."""


@stage
def actuation_is_made(m: Model, d: Data) -> int:
    """Mark the gains, biases and rates that `fwd_actuation` needs as present: the run of the values computed them."""
    d.work.actuation_made = ALL_MADE
    return OK


@stage
def keep_next_position(m: Model, d: Data) -> int:
    """Store the configuration after a step in ``work.fd_qpos`` (nq,)."""
    for i in range(m.nq):
        d.work.fd_qpos[i] = d.qpos[i]
    return OK


@kernel
def lengths(m: Model, joint: int) -> int:
    """Number of coordinates of a joint before its quaternion: 3 (free) or 0 (ball). For all other joints, it is 1."""
    kind = m.jnt_type[joint]
    return 3 if kind == JNT_FREE else 0 if kind == JNT_BALL else 1


@kernel
def _turn(d: Data, adr: int, dof: int) -> None:
    """Rotate a quaternion of qpos by its seeds. The seeds are 0, so only the quaternion's tangents change."""
    seeds = d.work.seed_qpos
    turn = (1.0, 0.5 * seeds[dof], 0.5 * seeds[dof + 1], 0.5 * seeds[dof + 2])
    quat = mul_quat(get_quat(d.qpos, adr), turn)
    for k in range(4):
        d.qpos[adr + k] = quat[k]


@stage
def begin_block(m: Model, d: Data) -> int:
    """Set ``work.seed_lanes`` (inputs, LANES) to unit directions: one input per lane, from `work.column` on."""
    for lane in range(LANES):
        row = d.work.seeded_column + lane
        if row < len(d.work.seed_lanes):
            d.work.seed_lanes[row, lane] = 0.0
    first = d.work.column
    for lane in range(min(LANES, d.work.end_column - first)):
        d.work.seed_lanes[first + lane, lane] = 1.0
    d.work.seeded_column = first
    return OK


@stage
def end_block(m: Model, d: Data) -> int:
    """Copy the tangents of ``work.outcome`` to the block's columns of ``work.jacobian``; advance ``work.column``."""
    first = d.work.column
    width = 2 * m.nv + m.na + d.work.nmemory + m.nu
    lanes = min(LANES, d.work.end_column - first)
    for row in range(len(d.work.outcome)):
        for lane in range(lanes):
            d.work.jacobian[row * width + first + lane] = d.work.outcome_lanes[row, lane]
    d.work.column = first + lanes
    return OK


@kernel
def _contacts_are_kept(m: Model, d: Data) -> bool:
    if d.work.kept_count[0] != d.ncon:
        return False
    for con in range(d.ncon):
        for side in range(2):
            if d.work.kept_geom[con, side] != side_key(m, d, con, side):
                return False
    return True


@kernel
def _contacts_are_known(m: Model, d: Data) -> bool:
    """Return whether the programs handle the pair kinds of all contacts, and ``work.kept_geom`` has room for them."""
    if d.ncon > len(d.work.kept_geom):
        return False
    for con in range(d.ncon):
        code, known = pair_code(m, d, con), False
        for k in range(len(d.work.kept_code)):
            known = known or d.work.kept_code[k] == code
        if not known:
            return False
    return True


@stage
def compare_contacts(m: Model, d: Data) -> int:
    """Compare the contacts' sides with the previous pass. Return OK if they are the same.

    If they differ, record the new sides and return SCRIPT_CLEARS, a request to clear old tangents. If the current
    programs do not handle these contacts, return RESTRUCTURED instead.
    """
    kept = d.work.kept_count
    kept[CHANGED] = 0
    if _contacts_are_kept(m, d):
        return OK
    if not _contacts_are_known(m, d):
        return RESTRUCTURED
    kept[0], kept[CHANGED] = d.ncon, 1
    for con in range(d.ncon):
        for side in range(2):
            d.work.kept_geom[con, side] = side_key(m, d, con, side)
    d.work.kept_version += 1
    return SCRIPT_CLEARS


@kernel
def _rows_are_kept(d: Data) -> bool:
    if d.work.kept_count[1] != d.nefc:
        return False
    for i in range(d.nefc):
        if d.work.kept_row[i, 0] != d.efc_type[i] or d.work.kept_row[i, 1] != d.efc_id[i]:
            return False
    return True


@stage
def compare_rows(m: Model, d: Data) -> int:
    """Compare types and ids of constraint rows with the previous pass. Return OK if they are the same.

    If they differ, record them; their old tangents are invalid. If the contacts have changed in this pass, these
    tangents are cleared already, and the result is OK. Otherwise, return SCRIPT_BEGINS_AGAIN: all stages must run
    again. If the rows do not fit in ``work.kept_row``, return RESTRUCTURED.
    """
    if _rows_are_kept(d):
        return OK
    if d.nefc > len(d.work.kept_row):
        return RESTRUCTURED
    kept = d.work.kept_count
    kept[1] = d.nefc
    for i in range(d.nefc):
        d.work.kept_row[i, 0], d.work.kept_row[i, 1] = d.efc_type[i], d.efc_id[i]
    d.work.kept_version += 1
    return OK if kept[CHANGED] != 0 else SCRIPT_BEGINS_AGAIN


@stage
def plant_seeds(m: Model, d: Data) -> int:
    """Add ``work.seed_*`` to state and controls. The seeds are 0; their tangents are the directions.

    Directions of positions are in the tangent space.
    """
    for joint in range(m.njnt):
        adr, dof, n = m.jnt_qposadr[joint], m.jnt_dofadr[joint], lengths(m, joint)
        for k in range(n):
            d.qpos[adr + k] += d.work.seed_qpos[dof + k]
        if n != 1:
            _turn(d, adr + n, dof + n)
    for i in range(m.nv):
        d.qvel[i] += d.work.seed_qvel[i]
    for i in range(m.na):
        d.act[i] += d.work.seed_act[i]
    for i in range(m.nu):
        d.ctrl[i] += d.work.seed_ctrl[i]
    return OK


@kernel
def _gather_turn(d: Data, adr: int, dof: int) -> None:
    """Store in ``work.outcome`` the first-order rotation vector from a quaternion in `work.fd_qpos` to that in qpos."""
    turn = mul_quat(neg_quat(get_quat(d.work.fd_qpos, adr)), get_quat(d.qpos, adr))
    for k in range(3):
        d.work.outcome[dof + k] = 2.0 * turn[k + 1]


@stage
def gather_outcome(m: Model, d: Data) -> int:
    """Write the next state to ``work.outcome`` (2 nv + na); positions are (zero) differences from `work.fd_qpos`."""
    for joint in range(m.njnt):
        adr, dof, n = m.jnt_qposadr[joint], m.jnt_dofadr[joint], lengths(m, joint)
        for k in range(n):
            d.work.outcome[dof + k] = d.qpos[adr + k] - d.work.fd_qpos[adr + k]
        if n != 1:
            _gather_turn(d, adr + n, dof + n)
    for i in range(m.nv):
        d.work.outcome[m.nv + i] = d.qvel[i]
    for i in range(m.na):
        d.work.outcome[2 * m.nv + i] = d.act[i]
    return OK


@stage
def gather_sensors(m: Model, d: Data) -> int:
    """Write the sensor data to ``work.outcome``, after the state."""
    at = 2 * m.nv + m.na + d.work.nmemory
    for i in range(m.nsensordata):
        d.work.outcome[at + i] = d.sensordata[i]
    return OK


def lanes_are_shared(m: MjModel) -> bool:
    """Return whether lanes are shared.

    This is the case if the model permits sharing, and all columns fit in one block only with sharing.
    """
    fits = m.nv > 0 and 2 * m.nv + max(2, m.nv) <= LANES < 2 * m.nv + m.na + m.nu
    own = m.opt.integrator == mjtIntegrator.mjINT_EULER and not m.nplugin and not installed_hooks(m)
    own = own and (m.actuator_ctrlnum == 1).all() and (m.actuator_outnum == 1).all()
    limited = m.jnt_actfrclimited.any() or m.tendon_actfrclimited.any()
    return bool(fits and own and (m.actuator_actnum <= 1).all() and not limited)


@kernel
def _clear_seeds(d: Data) -> None:
    for row in range(len(d.work.seed_lanes)):
        for lane in range(LANES):
            d.work.seed_lanes[row, lane] = 0.0


@stage
def begin_shared(m: Model, d: Data) -> int:
    """Set the directions: one lane per position and velocity, one for all activations, one for all controls."""
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
    """Replace the directions of activations and controls by those of joint forces, in the same lanes.

    The tangents of ``actuator_force`` and ``qfrc_actuator`` are stored after those of ``work.outcome``. If a joint's
    force is at a limit that was set after compilation, the direction of this force is 0.
    """
    lanes, first = d.work.outcome_lanes, len(d.work.outcome) + m.nout
    for dof in range(m.nv):
        for lane in range(2 * m.nv, LANES):
            lanes[first + dof, lane] = 0.0
        joint, force = m.dof_jntid[dof], d.qfrc_actuator[dof]
        limited = m.jnt_actfrclimited[joint] != 0
        if not limited or m.jnt_actfrcrange[joint, 0] < force < m.jnt_actfrcrange[joint, 1]:
            lanes[first + dof, 2 * m.nv + dof] = 1.0
    return OK


SPREAD_FORCES = Plain(_spread_forces, reads=frozenset(("d.actuator_force",)), writes=frozenset(("d.qfrc_actuator",)))
"""Entry that follows `fwd_actuation` in the list of stages."""


@kernel
def _end_row(m: Model, d: Data, row: int, width: int) -> None:
    """Write the columns of activations and controls in the row of a position or velocity, by the chain rule."""
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
    """Write the columns of activations and controls in the row of an activation: 0 except those of its actuator."""
    lanes, shared = d.work.outcome_lanes, 2 * m.nv
    act = m.actuator_actadr[actuator]
    row = shared + act
    for column in range(row * width + shared, (row + 1) * width):
        d.work.jacobian[column] = 0.0
    d.work.jacobian[row * width + shared + act] = lanes[row, shared]
    d.work.jacobian[row * width + shared + m.na + actuator] = lanes[row, shared + 1]


@stage
def end_shared(m: Model, d: Data) -> int:
    """Write the results of a shared block to ``work.jacobian``, and clear the directions."""
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
