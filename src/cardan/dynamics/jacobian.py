"""Jacobians of points and bodies, column by column along the chain of dofs that move a body (spec: mj_jac).

The chain of a body starts at ``m.aux.body_lastdof[body]`` and goes on through ``m.dof_parentid`` until it is negative;
all other columns of the body's Jacobians are zero.
"""

from __future__ import annotations

from typing import Any

from cardan.enums import mjtJacobian
from cardan.jit import kernel
from cardan.maths.vector import add3, cross, dot3, get3, sub3
from cardan.model.kernel_views import AnyModel, Data, Model

SPARSE = int(mjtJacobian.mjJAC_SPARSE)
AUTO = int(mjtJacobian.mjJAC_AUTO)
AUTO_SPARSE_NV = 60


@kernel
def is_sparse(m: AnyModel) -> bool:
    """Whether constraint and tendon Jacobians are stored in compressed rows (spec: mj_isSparse)."""
    return m.opt.jacobian == SPARSE or (m.opt.jacobian == AUTO and m.nv >= AUTO_SPARSE_NV)


@kernel
def arm_of(m: Model, d: Data, point: Any, body: int) -> Any:
    """Vector from the centre of mass of the body's tree to a point (world frame): what the columns below need."""
    return sub3(point, get3(d.subtree_com, m.body_rootid[body]))


@kernel
def rotation_column(d: Data, dof: int) -> Any:
    """Column of the rotational Jacobian: angular velocity of the bodies that `dof` moves, per unit of its velocity."""
    return (d.cdof[dof, 0], d.cdof[dof, 1], d.cdof[dof, 2])


@kernel
def point_column(d: Data, dof: int, arm: Any) -> Any:
    """Column of the translational Jacobian of the point at `arm` (see `arm_of`)."""
    linear = (d.cdof[dof, 3], d.cdof[dof, 4], d.cdof[dof, 5])
    return add3(linear, cross(rotation_column(d, dof), arm))


@kernel
def dof_rate(d: Data, dof: int, force: Any, torque: Any) -> float:
    """Power of a force and a torque, as seen at the centre of mass of the tree, per unit velocity of a dof."""
    linear = (d.cdof[dof, 3], d.cdof[dof, 4], d.cdof[dof, 5])
    return dot3(linear, force) + dot3(rotation_column(d, dof), torque)


@kernel
def jac(m: Model, d: Data, jacp: Any, jacr: Any, point: Any, body: int) -> None:
    """Add the Jacobians of a point (world frame) fixed to a body to `jacp` and `jacr` (3 * nv,), row by row.

    Only the columns of the body's chain are written, so the arrays must be zero at first.
    """
    arm = arm_of(m, d, point, body)
    dof = m.aux.body_lastdof[body]
    while dof >= 0:
        linear = point_column(d, dof, arm)
        angular = rotation_column(d, dof)
        for k in range(3):
            jacp[k * m.nv + dof] += linear[k]
            jacr[k * m.nv + dof] += angular[k]
        dof = m.dof_parentid[dof]


@kernel
def apply_ft(m: Model, d: Data, force: Any, torque: Any, point: Any, body: int, result: Any) -> None:
    """Add the joint forces of a force at a point and a torque on a body (world frame) to `result` (nv,)."""
    arm = arm_of(m, d, point, body)
    # the same force as seen at the centre of mass of the tree
    moment = add3(torque, cross(arm, force))
    dof = m.aux.body_lastdof[body]
    while dof >= 0:
        result[dof] += dof_rate(d, dof, force, moment)
        dof = m.dof_parentid[dof]
