"""The `mju_*` functions of quaternions, poses and rotations (spec: programming, utility functions).

Results go into the first arguments; see `arguments`. Quaternions are (w, x, y, z), matrices nine numbers row by row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.api.array_arguments import numbers, target_of
from cardan.errors import FatalError
from cardan.maths import quaternion as q
from cardan.maths.pose import IDENTITY, compose, euler2quat, mat2quat, z2quat
from cardan.maths.vector import (
    MINVAL,
    add3,
    cross,
    mul_mat_t_vec3,
    mul_mat_vec3,
    norm3,
    normalize3,
    scale3,
    sub3,
)


def mju_rotVecQuat(res: np.ndarray, vec: Any, quat: Any) -> None:
    """Rotate a vector by a quaternion."""
    target_of("res", res, 3)[:] = q.rot_vec_quat(numbers("vec", vec, 3), numbers("quat", quat, 4))


def mju_negQuat(res: np.ndarray, quat: Any) -> None:
    """Conjugate: the inverse rotation."""
    target_of("res", res, 4)[:] = q.neg_quat(numbers("quat", quat, 4))


def mju_mulQuat(res: np.ndarray, quat1: Any, quat2: Any) -> None:
    """Product of quaternions: rotate by `quat2`, then by `quat1`."""
    target_of("res", res, 4)[:] = q.mul_quat(numbers("quat1", quat1, 4), numbers("quat2", quat2, 4))


def mju_mulQuatAxis(res: np.ndarray, quat: Any, axis: Any) -> None:
    """Product of a quaternion and the pure quaternion (0, axis)."""
    target_of("res", res, 4)[:] = q.mul_quat(numbers("quat", quat, 4), (0.0, *numbers("axis", axis, 3)))


def mju_axisAngle2Quat(res: np.ndarray, axis: Any, angle: float) -> None:
    """Quaternion of the rotation by `angle` (rad) around a unit axis."""
    target_of("res", res, 4)[:] = q.axis_angle2quat(numbers("axis", axis, 3), angle)


def mju_quat2Vel(res: np.ndarray, quat: Any, dt: float) -> None:
    """Angular velocity that turns by `quat` in the time `dt`."""
    target_of("res", res, 3)[:] = q.quat2vel(numbers("quat", quat, 4), dt)


def mju_subQuat(res: np.ndarray, qa: Any, qb: Any) -> None:
    """Rotation vector, in the frame of `qb`, that takes `qb` to `qa`."""
    target_of("res", res, 3)[:] = q.sub_quat(numbers("qa", qa, 4), numbers("qb", qb, 4))


def mju_quat2Mat(res: np.ndarray, quat: Any) -> None:
    """Rotation matrix of a quaternion."""
    target_of("res", res, 9)[:] = q.quat2mat(numbers("quat", quat, 4))


def mju_mat2Quat(quat: np.ndarray, mat: Any) -> None:
    """Quaternion of a rotation matrix, computed from its largest component (Shepperd 1978)."""
    values = numbers("mat", mat, 9)
    target_of("quat", quat, 4)[:] = mat2quat(values[0::3], values[1::3], values[2::3])


def mju_derivQuat(res: np.ndarray, quat: Any, vel: Any) -> None:
    """Time derivative of a quaternion for an angular velocity in the world frame."""
    product = q.mul_quat((0.0, *numbers("vel", vel, 3)), numbers("quat", quat, 4))
    target_of("res", res, 4)[:] = [0.5 * x for x in product]


def mju_quatIntegrate(quat: np.ndarray, vel: Any, scale: float) -> None:
    """Turn a quaternion in place for the time `scale` with the body-frame angular velocity `vel`."""
    out = target_of("quat", quat, 4)
    out[:] = q.integrate_quat(tuple(out.tolist()), numbers("vel", vel, 3), scale)


def mju_quatZ2Vec(quat: np.ndarray, vec: Any) -> None:
    """Quaternion of the shortest rotation that takes the z axis to the direction of `vec`."""
    direction = numbers("vec", vec, 3)
    short = norm3(direction) < MINVAL
    target_of("quat", quat, 4)[:] = IDENTITY[1] if short else z2quat(normalize3(direction))


def mju_euler2Quat(quat: np.ndarray, euler: Any, seq: str) -> None:
    """Quaternion of Euler angles (rad): rotations around the axes named by `seq`.

    Small letters are axes that turn with the object, capital letters fixed axes.

    Raises:
        FatalError: `seq` isn't three of the letters x, y, z, X, Y, Z.
    """
    if len(seq) != 3:
        raise FatalError("mju_euler2Quat: seq must contain exactly 3 characters")
    for k, letter in enumerate(seq):
        if letter not in "xyzXYZ":
            raise FatalError(f"mju_euler2Quat: seq[{k}] is '{letter}', should be one of x, y, z, X, Y, Z")
    target_of("quat", quat, 4)[:] = euler2quat(numbers("euler", euler, 3), seq)


def mju_mulPose(posres: np.ndarray, quatres: np.ndarray, pos1: Any, quat1: Any, pos2: Any, quat2: Any) -> None:
    """Product of poses: the second, given in the frame of the first."""
    p1, q1 = numbers("pos1", pos1, 3), numbers("quat1", quat1, 4)
    p2, q2 = numbers("pos2", pos2, 3), numbers("quat2", quat2, 4)
    target_of("posres", posres, 3)[:], target_of("quatres", quatres, 4)[:] = compose((p1, q1), (p2, q2))


def mju_negPose(posres: np.ndarray, quatres: np.ndarray, pos: Any, quat: Any) -> None:
    """Inverse of a pose."""
    p, inverse = numbers("pos", pos, 3), q.neg_quat(numbers("quat", quat, 4))
    target_of("posres", posres, 3)[:] = scale3(q.rot_vec_quat(p, inverse), -1.0)
    target_of("quatres", quatres, 4)[:] = inverse


def mju_trnVecPose(res: np.ndarray, pos: Any, quat: Any, vec: Any) -> None:
    """Point `vec` of the frame with a pose, in the outer frame."""
    rotated = q.rot_vec_quat(numbers("vec", vec, 3), numbers("quat", quat, 4))
    target_of("res", res, 3)[:] = add3(rotated, numbers("pos", pos, 3))


def mju_rotVecMat(res: np.ndarray, vec: Any, mat: Any) -> None:
    """Res = mat vec."""
    target_of("res", res, 3)[:] = mul_mat_vec3(numbers("mat", mat, 9), numbers("vec", vec, 3))


def mju_rotVecMatT(res: np.ndarray, vec: Any, mat: Any) -> None:
    """Res = mat' vec."""
    target_of("res", res, 3)[:] = mul_mat_t_vec3(numbers("mat", mat, 9), numbers("vec", vec, 3))


def mju_transformSpatial(res: np.ndarray, vec: Any, flg_force: int, newpos: Any, oldpos: Any, rotnew2old: Any) -> None:
    """A spatial motion or force vector (rotation, translation) seen from another point and orientation.

    Args:
        res: the new vector (6,).
        vec: the old vector (6,).
        flg_force: whether it is a force (torque, force); else a motion.
        newpos: the new point (3,).
        oldpos: the old point (3,).
        rotnew2old: rotation from the new to the old orientation (9,).
    """
    values = numbers("vec", vec, 6)
    rotational, linear = values[:3], values[3:]
    shift = sub3(numbers("newpos", newpos, 3), numbers("oldpos", oldpos, 3))
    if flg_force:
        rotational = sub3(rotational, cross(shift, linear))
    else:
        linear = sub3(linear, cross(shift, rotational))
    turn = numbers("rotnew2old", rotnew2old, 9)
    rotational, linear = mul_mat_t_vec3(turn, rotational), mul_mat_t_vec3(turn, linear)
    target_of("res", res, 6)[:] = (*rotational, *linear)


__all__ = [
    "mju_axisAngle2Quat",
    "mju_derivQuat",
    "mju_euler2Quat",
    "mju_mat2Quat",
    "mju_mulPose",
    "mju_mulQuat",
    "mju_mulQuatAxis",
    "mju_negPose",
    "mju_negQuat",
    "mju_quat2Mat",
    "mju_quat2Vel",
    "mju_quatIntegrate",
    "mju_quatZ2Vec",
    "mju_rotVecMat",
    "mju_rotVecMatT",
    "mju_rotVecQuat",
    "mju_subQuat",
    "mju_transformSpatial",
    "mju_trnVecPose",
]
