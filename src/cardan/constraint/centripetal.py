"""Velocity-dependent accelerations of connect and weld constraints: (dJ/dt) qvel.

The acceleration of a residual r is ``J qacc + (dJ/dt) qvel``. MuJoCo 4.0 subtracts the second term from the reference
acceleration of these constraints, so that closed loops stay closed in fast motion; MuJoCo 3.1 leaves it out.

If qacc = 0, the spatial acceleration (alpha, a) of a body is the sum of ``cdof_dot qvel`` over the dofs that move the
body (Featherstone 2008, section 5.3). A point of the body at r from the tree's centre of mass, with the velocity v, has
the acceleration ``a + alpha x r + omega x v``, where omega is the body's angular velocity.
"""

from __future__ import annotations

from cardan.constraint.update import set_reference
from cardan.dynamics.anchors import anchors_of, loop_rows, weld_quats
from cardan.dynamics.jacobian import arm_of
from cardan.jit import OK, kernel, stage
from cardan.maths.quaternion import mul_quat
from cardan.maths.types import Quat, Vec3, Vec6
from cardan.maths.vector import add3, add_scaled6, cross, get6, scale3, sub3
from cardan.model.kernel_views import Data, Model


@kernel
def _free_acceleration(m: Model, d: Data, body: int) -> Vec6:
    """Spatial acceleration of a body about the centre of mass of its tree, for qacc = 0 and without gravity."""
    acceleration = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    dof = m.aux.body_lastdof[body]
    while dof >= 0:
        acceleration = add_scaled6(acceleration, get6(d.cdof_dot, dof), d.qvel[dof])
        dof = m.dof_parentid[dof]
    return acceleration


@kernel
def _angular(v: Vec6) -> Vec3:
    """Rotational part of a spatial vector."""
    return (v[0], v[1], v[2])


@kernel
def _linear_at(v: Vec6, arm: Vec3) -> Vec3:
    """Translational part of a spatial motion vector, at a point with the offset ``arm`` from the vector's origin."""
    return add3((v[3], v[4], v[5]), cross(_angular(v), arm))


@kernel
def _point_acceleration(m: Model, d: Data, point: Vec3, body: int) -> Vec3:
    """Acceleration of a point of a body (world frame), for qacc = 0 and without gravity."""
    arm = arm_of(m, d, point, body)
    velocity = get6(d.cvel, body)
    turning = cross(_angular(velocity), _linear_at(velocity, arm))
    return add3(_linear_at(_free_acceleration(m, d, body), arm), turning)


@kernel
def _pure(v: Vec3) -> Quat:
    """Quaternion with the vector part ``v`` and the scalar part 0."""
    return (0.0, v[0], v[1], v[2])


@kernel
def _triple(a: Quat, b: Quat, c: Quat) -> Vec3:
    """Vector part of the product a b c."""
    product = mul_quat(mul_quat(a, b), c)
    return (product[1], product[2], product[3])


@kernel
def _rotation_rate(m: Model, d: Data, e: int, body1: int, body2: int) -> Vec3:
    """Compute (dJ/dt) qvel for the rotational rows of a weld.

    The rate of their residual is torquescale / 2 times the vector part of ``q2^-1 (w1 - w2) q1 relquat``, for bodies
    with the orientations q1, q2 and the angular velocities w1, w2. The product rule gives three terms, with the rates
    ``w1 q1 / 2`` of q1 and ``-q2^-1 w2 / 2`` of q2^-1.
    """
    quat1, inverse2 = weld_quats(m, d, e)
    w1, w2 = _angular(get6(d.cvel, body1)), _angular(get6(d.cvel, body2))
    a1, a2 = _angular(_free_acceleration(m, d, body1)), _angular(_free_acceleration(m, d, body2))
    relative = _pure(sub3(w1, w2))
    moved1 = mul_quat(_pure(scale3(w1, 0.5)), quat1)
    moved2 = mul_quat(inverse2, _pure(scale3(w2, -0.5)))
    turning = add3(_triple(moved2, relative, quat1), _triple(inverse2, relative, moved1))
    return scale3(add3(turning, _triple(inverse2, _pure(sub3(a1, a2)), quat1)), 0.5 * m.eq_data[e, 10])


@kernel
def _subtract(d: Data, row: int, rate: Vec3) -> None:
    """Subtract `rate` from the reference accelerations of the three rows from `row` on."""
    for k in range(3):
        d.efc_aref[row + k] -= rate[k]


@stage
def reference_with_centripetal(m: Model, d: Data) -> int:
    """Compute efc_vel and efc_aref as `reference_constraint` does, then subtract (dJ/dt) qvel from efc_aref.

    Only the rows of connect and weld constraints are changed. The stage also reads cvel, cdof, cdof_dot and body poses.
    """
    set_reference(m, d)
    row = 0
    while row < d.ne:
        e = int(d.efc_id[row])
        count = loop_rows(m, e)
        if count > 0:
            body1, body2, point1, point2 = anchors_of(m, d, e)
            first = _point_acceleration(m, d, point1, body1)
            _subtract(d, row, sub3(first, _point_acceleration(m, d, point2, body2)))
            if count > 3:
                _subtract(d, row + 3, _rotation_rate(m, d, e, body1, body2))
        row += max(count, 1)
    return OK
