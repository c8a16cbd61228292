"""Recursive Newton-Euler algorithm: bias forces, forces between bodies, and the smooth acceleration.

Featherstone 2008, section 5.3, in the frames of `cardan.dynamics.com`. An acceleration of the world replaces gravity.
The smooth acceleration is due to all forces except those of constraints (spec: computation, general framework).
"""

from __future__ import annotations

from cardan.dynamics.awake import DOF, REST_BODY, moving_bodies, rest_range, span_range
from cardan.dynamics.external import add_external_forces
from cardan.dynamics.inertia import solve_m, solve_range
from cardan.dynamics.jacobian import apply_ft
from cardan.dynamics.reflected import add_tendon_bias
from cardan.enums.codes import DSBL_GRAVITY
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Array1, Array2, Vec6
from cardan.maths.vector import add6, add_scaled6, cross_force, dot6, get3, get6, get10, mul_inertia, set6
from cardan.model.kernel_views import Data, Model


@kernel
def world_acceleration(m: Model) -> Vec6:
    """Spatial acceleration of the world that replaces gravity: minus `opt.gravity`, or 0 if gravity is disabled."""
    if m.opt.disableflags & DSBL_GRAVITY:
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    return (0.0, 0.0, 0.0, -m.opt.gravity[0], -m.opt.gravity[1], -m.opt.gravity[2])


@kernel
def _body_acceleration(m: Model, d: Data, cacc: Array2, body: int, with_acceleration: bool) -> Vec6:
    """Acceleration of a body: its parent's, plus a velocity-dependent part, plus the part due to `qacc`.

    If `with_acceleration` is not set, the part due to `qacc` is left out.
    """
    acceleration = get6(cacc, m.body_parentid[body])
    first = m.body_dofadr[body]
    for dof in range(first, first + m.body_dofnum[body]):
        acceleration = add_scaled6(acceleration, get6(d.cdof_dot, dof), d.qvel[dof])
        if with_acceleration:
            acceleration = add_scaled6(acceleration, get6(d.cdof, dof), d.qacc[dof])
    return acceleration


@kernel
def _inertial_force(d: Data, body: int, acceleration: Vec6) -> Vec6:
    """Spatial force that causes the acceleration of a body: I a + v x* I v."""
    inertia = get10(d.cinert, body)
    velocity = get6(d.cvel, body)
    momentum = mul_inertia(inertia, velocity)
    return add6(mul_inertia(inertia, acceleration), cross_force(velocity, momentum))


@kernel
def newton_euler(m: Model, d: Data, result: Array1, with_acceleration: bool) -> None:
    """Write to `result` (nv,) the joint forces that cause the current motion under gravity, without armature.

    If `with_acceleration` is not set, `qacc` counts as 0. Reads cinert, cdof, cvel, cdof_dot, qvel (and qacc).
    """
    set6(d.work.rne_cacc, 0, world_acceleration(m))
    _accelerate(m, d, 1, m.nbody, with_acceleration)
    _add_forces_to_parents(m, d, 1, m.nbody)
    _project_forces(m, d, result, 0, m.nv)


@kernel
def _accelerate(m: Model, d: Data, first: int, stop: int, with_acceleration: bool) -> None:
    """Forward pass over the bodies `first` to `stop` (exclusive): accelerations and the forces that cause them."""
    cacc = d.work.rne_cacc
    cfrc = d.work.rne_cfrc
    for body in range(first, stop):
        acceleration = _body_acceleration(m, d, cacc, body, with_acceleration)
        set6(cacc, body, acceleration)
        set6(cfrc, body, _inertial_force(d, body, acceleration))


@kernel
def _add_forces_to_parents(m: Model, d: Data, first: int, stop: int) -> None:
    """Backward pass over the bodies `first` to `stop` (exclusive): forces of the subtrees."""
    cfrc = d.work.rne_cfrc
    for body in range(stop - 1, first - 1, -1):
        parent = m.body_parentid[body]
        if parent > 0:
            for k in range(6):
                cfrc[parent, k] += cfrc[body, k]


@kernel
def _project_forces(m: Model, d: Data, result: Array1, first: int, stop: int) -> None:
    """Write the forces of subtrees along the dofs `first` to `stop` (exclusive) to `result`."""
    for dof in range(first, stop):
        result[dof] = dot6(get6(d.cdof, dof), get6(d.work.rne_cfrc, m.dof_bodyid[dof]))


@stage
def rne(m: Model, d: Data) -> int:
    """Compute the bias force: Coriolis, centrifugal and gravitational. Writes qfrc_bias (nv,)."""
    newton_euler(m, d, d.qfrc_bias, False)
    return OK


@kernel
def _bias_of_awake(m: Model, d: Data) -> None:
    """Write qfrc_bias of trees that are awake, without tendons."""
    set6(d.work.rne_cacc, 0, world_acceleration(m))
    for span in range(d.work.nspan):
        first, stop = moving_bodies(d, span)
        _accelerate(m, d, first, stop, False)
    for span in range(d.work.nspan - 1, -1, -1):
        first, stop = moving_bodies(d, span)
        _add_forces_to_parents(m, d, first, stop)
    for span in range(d.work.nspan):
        first, stop = span_range(d, span, DOF)
        _project_forces(m, d, d.qfrc_bias, first, stop)


@stage
def rne_awake(m: Model, d: Data) -> int:
    """Do as `rne`, for trees that are awake."""
    _bias_of_awake(m, d)
    return OK


@stage
def rne_with_tendons(m: Model, d: Data) -> int:
    """Do as `rne`, and add the bias force of spatial tendons with armature. Also reads site_xpos, ten_J."""
    newton_euler(m, d, d.qfrc_bias, False)
    add_tendon_bias(m, d, d.work.rne_cacc, False)
    return OK


@stage
def rne_with_tendons_awake(m: Model, d: Data) -> int:
    """Do as `rne_with_tendons`, for trees that are awake."""
    _bias_of_awake(m, d)
    add_tendon_bias(m, d, d.work.rne_cacc, True)
    return OK


@stage
def rne_post_constraint(m: Model, d: Data) -> int:
    """Compute accelerations of bodies and forces on them, after qacc and the constraint forces are known.

    Reads qacc, xfrc_applied, contacts and efc_force; writes cacc (acceleration with gravity), cfrc_int (force from the
    parent body) and cfrc_ext (sum of external forces). All are (nbody, 6), about the tree's centre of mass.
    """
    add_external_forces(m, d, False)
    finish_rne_post(m, d)
    return OK


@kernel
def finish_rne_post(m: Model, d: Data) -> None:
    """Write cacc and cfrc_int, after cfrc_ext is known."""
    set6(d.cacc, 0, world_acceleration(m))
    set6(d.cfrc_int, 0, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    _accelerate_loaded(m, d, 1, m.nbody)
    _add_reactions(m, d, 1, m.nbody)


@kernel
def _accelerate_loaded(m: Model, d: Data, first: int, stop: int) -> None:
    """Forward pass over the bodies `first` to `stop` (exclusive): cacc, and forces from parents, without children."""
    for body in range(first, stop):
        acceleration = _body_acceleration(m, d, d.cacc, body, True)
        set6(d.cacc, body, acceleration)
        set6(d.cfrc_int, body, add_scaled6(_inertial_force(d, body, acceleration), get6(d.cfrc_ext, body), -1.0))


@kernel
def _add_reactions(m: Model, d: Data, first: int, stop: int) -> None:
    """Backward pass over the bodies `first` to `stop` (exclusive): add cfrc_int to that of the parents."""
    for body in range(stop - 1, first - 1, -1):
        parent = m.body_parentid[body]
        for k in range(6):
            d.cfrc_int[parent, k] += d.cfrc_int[body, k]


@kernel
def finish_rne_post_awake(m: Model, d: Data) -> None:
    """Do as `finish_rne_post`, for trees that are awake.

    Trees that sleep load the bodies to which they are fixed as in the last step in which they were awake.
    """
    set6(d.cacc, 0, world_acceleration(m))
    set6(d.cfrc_int, 0, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    for span in range(d.work.nspan):
        first, stop = moving_bodies(d, span)
        _accelerate_loaded(m, d, first, stop)
    for rest in range(d.work.nrest):
        first, stop = rest_range(d, rest, REST_BODY)
        for body in range(first, stop):
            if m.body_treeid[m.body_parentid[body]] < 0:
                _add_reactions(m, d, body, body + 1)
    for span in range(d.work.nspan - 1, -1, -1):
        first, stop = moving_bodies(d, span)
        _add_reactions(m, d, first, stop)


@stage
def rne_post_constraint_awake(m: Model, d: Data) -> int:
    """Do as `rne_post_constraint`, for trees that are awake."""
    add_external_forces(m, d, True)
    finish_rne_post_awake(m, d)
    return OK


@kernel
def _is_pushed(d: Data, body: int) -> bool:
    for k in range(6):
        if d.xfrc_applied[body, k] != 0.0:
            return True
    return False


@kernel
def add_applied_forces(m: Model, d: Data, result: Array1) -> None:
    """Project `xfrc_applied`, wrenches at the bodies' centres of mass, to joint forces; add these to `result` (nv,)."""
    _add_applied(m, d, result, 1, m.nbody)


@kernel
def _add_applied(m: Model, d: Data, result: Array1, first: int, stop: int) -> None:
    """Do as `add_applied_forces`, for the bodies `first` to `stop` (exclusive)."""
    applied = d.xfrc_applied
    for body in range(first, stop):
        if _is_pushed(d, body):
            force = (applied[body, 0], applied[body, 1], applied[body, 2])
            torque = (applied[body, 3], applied[body, 4], applied[body, 5])
            apply_ft(m, d, force, torque, get3(d.xipos, body), body, result)


@stage
def sum_smooth_forces(m: Model, d: Data) -> int:
    """Sum all forces except constraint forces: qfrc_smooth (nv,)."""
    _sum_forces(d, 0, m.nv)
    add_applied_forces(m, d, d.qfrc_smooth)
    return OK


@kernel
def _sum_forces(d: Data, first: int, stop: int) -> None:
    """Write qfrc_smooth of the dofs `first` to `stop` (exclusive), without `xfrc_applied`."""
    for dof in range(first, stop):
        d.qfrc_smooth[dof] = d.qfrc_passive[dof] - d.qfrc_bias[dof] + d.qfrc_applied[dof] + d.qfrc_actuator[dof]


@stage
def fwd_acceleration_awake(m: Model, d: Data) -> int:
    """Do as `fwd_acceleration`, for trees that are awake."""
    for span in range(d.work.nspan):
        first, stop = span_range(d, span, DOF)
        _sum_forces(d, first, stop)
        body, end = moving_bodies(d, span)
        _add_applied(m, d, d.qfrc_smooth, body, end)
        for dof in range(first, stop):
            d.qacc_smooth[dof] = d.qfrc_smooth[dof]
        solve_range(m, d.qLD, d.qLDiagInv, d.qacc_smooth, 0, first, stop)
    return OK


@stage
def fwd_acceleration(m: Model, d: Data) -> int:
    """Sum all forces except constraint forces, and compute the acceleration that they cause.

    Reads qfrc_passive, qfrc_bias, qfrc_applied, qfrc_actuator, xfrc_applied, qLD; writes qfrc_smooth and
    qacc_smooth (nv,).
    """
    sum_smooth_forces(m, d)
    for dof in range(m.nv):
        d.qacc_smooth[dof] = d.qfrc_smooth[dof]
    solve_m(m, d, d.qacc_smooth)
    return OK
