"""Stages behind the support functions: they work on ``d.work.arg_*``, which `cardan.api.support` fills and reads."""

from __future__ import annotations

from typing import Any

from cardan.constraint.jacobian import mul_jac_t_vec, mul_jac_vec
from cardan.constraint.update import constraint_update
from cardan.dynamics.configuration import differentiate_pos, integrate_pos
from cardan.dynamics.external import contact_force
from cardan.dynamics.inertia import half_solve_m, mul_m, solve_m
from cardan.dynamics.jacobian import apply_ft, arm_of, jac, point_column
from cardan.dynamics.object import object_acceleration, object_velocity
from cardan.jit import OK, kernel, stage
from cardan.maths.vector import get3
from cardan.model.kernel_views import Data, Model


@kernel
def _arg3(d: Data, k: int) -> Any:
    return (d.work.arg_point[k], d.work.arg_point[k + 1], d.work.arg_point[k + 2])


@kernel
def _clear_jacobians(m: Model, d: Data) -> None:
    for k in range(3 * m.nv):
        d.work.arg_jacp[k] = 0.0
        d.work.arg_jacr[k] = 0.0


@stage
def point_jacobian(m: Model, d: Data) -> int:
    """Jacobians of the point `arg_point` of the body `arg_id[0]` into `arg_jacp`, `arg_jacr`."""
    _clear_jacobians(m, d)
    jac(m, d, d.work.arg_jacp, d.work.arg_jacr, _arg3(d, 0), d.work.arg_id[0])
    return OK


@kernel
def in_subtree(m: Any, body: int, root: int) -> bool:
    """Whether a body belongs to the subtree of another (parents have smaller ids)."""
    while body > root:
        body = m.body_parentid[body]
    return body == root


@kernel
def _add_com_jacobian(m: Model, d: Data, body: int, weight: float) -> None:
    arm = arm_of(m, d, get3(d.xipos, body), body)
    dof = m.aux.body_lastdof[body]
    while dof >= 0:
        column = point_column(d, dof, arm)
        for k in range(3):
            d.work.arg_jacp[k * m.nv + dof] += weight * column[k]
        dof = m.dof_parentid[dof]


@stage
def subtree_com_jacobian(m: Model, d: Data) -> int:
    """Jacobian of the centre of mass of the subtree of body `arg_id[0]` into `arg_jacp`."""
    _clear_jacobians(m, d)
    root = d.work.arg_id[0]
    for body in range(root, m.nbody):
        if m.body_mass[body] > 0.0 and in_subtree(m, body, root):
            _add_com_jacobian(m, d, body, m.body_mass[body] / m.body_subtreemass[root])
    return OK


@stage
def external_force(m: Model, d: Data) -> int:
    """Joint forces of the force `arg_point[0:3]` and torque `[3:6]` at `[6:9]` on body `arg_id[0]` into `arg_res`."""
    for k in range(m.nv):
        d.work.arg_res[k] = 0.0
    apply_ft(m, d, _arg3(d, 0), _arg3(d, 3), _arg3(d, 6), d.work.arg_id[0], d.work.arg_res)
    return OK


@stage
def contact_wrench(m: Model, d: Data) -> int:
    """Force and torque of the contact `arg_id[0]`, in its frame, into `arg_point[0:6]`."""
    wrench = contact_force(m, d, d.work.arg_id[0])
    for k in range(6):
        d.work.arg_point[k] = wrench[k]
    return OK


@stage
def velocity_of_object(m: Model, d: Data) -> int:
    """Velocity of the object `arg_id[1]` of the type `arg_id[0]`, in its own frame if `arg_id[2]`, into `arg_point`."""
    velocity = object_velocity(m, d, d.work.arg_id[0], d.work.arg_id[1], d.work.arg_id[2] != 0)
    for k in range(6):
        d.work.arg_point[k] = velocity[k]
    return OK


@stage
def acceleration_of_object(m: Model, d: Data) -> int:
    """Acceleration of an object, likewise."""
    acceleration = object_acceleration(m, d, d.work.arg_id[0], d.work.arg_id[1], d.work.arg_id[2] != 0)
    for k in range(6):
        d.work.arg_point[k] = acceleration[k]
    return OK


@stage
def inertia_times(m: Model, d: Data) -> int:
    """`arg_res` = M `arg_vec`."""
    mul_m(m, d, d.work.arg_res, d.work.arg_vec)
    return OK


@stage
def inertia_solve(m: Model, d: Data) -> int:
    """`arg_vec` = M^-1 `arg_vec`."""
    solve_m(m, d, d.work.arg_vec)
    return OK


@stage
def inertia_half_solve(m: Model, d: Data) -> int:
    """`arg_vec` = D^-1/2 L'^-1 `arg_vec`."""
    half_solve_m(m, d, d.work.arg_vec, 0)
    return OK


@stage
def moved_position(m: Model, d: Data) -> int:
    """`qpos`, moved for `time` with the velocity `qvel`."""
    integrate_pos(m, d.qpos, d.qvel, d.time)
    return OK


@stage
def velocity_between(m: Model, d: Data) -> int:
    """`qvel` that moves `work.rk_qpos` to `qpos` in the time `time`."""
    differentiate_pos(m, d.qvel, d.time, d.work.rk_qpos, d.qpos)
    return OK


@stage
def jacobian_times(m: Model, d: Data) -> int:
    """`arg_efc` = J `arg_vec`."""
    mul_jac_vec(m, d, d.work.arg_vec, d.work.arg_efc)
    return OK


@stage
def jacobian_transposed_times(m: Model, d: Data) -> int:
    """`arg_vec` = J' `arg_efc`."""
    mul_jac_t_vec(m, d, d.work.arg_efc, d.work.arg_vec)
    return OK


@stage
def forces_of_residual(m: Model, d: Data) -> int:
    """Constraint forces of the residual J a - aref in `arg_efc`; their cost into `arg_point[0]`."""
    d.work.arg_point[0] = constraint_update(d, d.work.arg_efc, d.work.arg_id[0])
    mul_jac_t_vec(m, d, d.efc_force, d.qfrc_constraint)
    return OK
