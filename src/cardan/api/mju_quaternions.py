"""The `mju_*` functions of quaternions, poses and rotations (spec: programming, utility functions).

Results are written into the first arguments. Quaternions are (w, x, y, z); matrices are nine numbers, row by row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.api.arguments import numbers, target_of
from cardan.api.native_call import native
from cardan.errors import FatalError
from cardan.jit.binding.arguments import Integer, Number, source, target
from cardan.maths import quaternion as q
from cardan.maths.pose import euler2quat, mat2quat, z2quat
from cardan.maths.vector import (
    MINVAL,
    add3,
    cross,
    get3,
    get4,
    get9,
    mul_mat_t_vec3,
    mul_mat_vec3,
    norm3,
    normalize3,
    scale3,
    set3,
    set4,
    set6,
    set9,
    sub3,
)


@native(res=target(3), vec=source(3), quat=source(4))
def mju_rotVecQuat(res: np.ndarray, vec: Any, quat: Any) -> None:
    """Rotate a vector by a quaternion."""
    set3(res, 0, q.rot_vec_quat(get3(vec, 0), get4(quat, 0)))


@native(res=target(4), quat=source(4))
def mju_negQuat(res: np.ndarray, quat: Any) -> None:
    """Conjugate of a quaternion: the inverse rotation."""
    set4(res, 0, q.neg_quat(get4(quat, 0)))


@native(res=target(4), quat1=source(4), quat2=source(4))
def mju_mulQuat(res: np.ndarray, quat1: Any, quat2: Any) -> None:
    """Product of quaternions: rotate by `quat2`, then by `quat1`."""
    set4(res, 0, q.mul_quat(get4(quat1, 0), get4(quat2, 0)))


@native(res=target(4), quat=source(4), axis=source(3))
def mju_mulQuatAxis(res: np.ndarray, quat: Any, axis: Any) -> None:
    """Product of a quaternion and the pure quaternion (0, axis)."""
    set4(res, 0, q.mul_quat(get4(quat, 0), (0.0, axis[0, 0], axis[0, 1], axis[0, 2])))


@native(res=target(4), axis=source(3), angle=Number())
def mju_axisAngle2Quat(res: np.ndarray, axis: Any, angle: float) -> None:
    """Quaternion of the rotation by `angle` (rad) around a unit axis."""
    set4(res, 0, q.axis_angle2quat(get3(axis, 0), angle))


@native(res=target(3), quat=source(4), dt=Number())
def mju_quat2Vel(res: np.ndarray, quat: Any, dt: float) -> None:
    """Angular velocity that causes the rotation `quat` in the time `dt`; along x if the rotation axis is undefined."""
    s = norm3((quat[0, 1], quat[0, 2], quat[0, 3]))
    if s < MINVAL:
        set3(res, 0, scale3((1.0, 0.0, 0.0), q.turning_angle(quat[0, 0], s) / dt))
    else:
        set3(res, 0, q.quat2vel(get4(quat, 0), dt))


@native(res=target(3), qa=source(4), qb=source(4))
def mju_subQuat(res: np.ndarray, qa: Any, qb: Any) -> None:
    """Rotation vector, in the frame of `qb`, that rotates `qb` to `qa`."""
    set3(res, 0, q.sub_quat(get4(qa, 0), get4(qb, 0)))


@native(res=target(9), quat=source(4))
def mju_quat2Mat(res: np.ndarray, quat: Any) -> None:
    """Rotation matrix of a quaternion."""
    set9(res, 0, q.quat2mat(get4(quat, 0)))


@native(quat=target(4), mat=source(9))
def mju_mat2Quat(quat: np.ndarray, mat: Any) -> None:
    """Quaternion of a rotation matrix, computed from its largest component (Shepperd 1978)."""
    r = get9(mat, 0)
    set4(quat, 0, mat2quat((r[0], r[3], r[6]), (r[1], r[4], r[7]), (r[2], r[5], r[8])))


@native(res=target(4), quat=source(4), vel=source(3))
def mju_derivQuat(res: np.ndarray, quat: Any, vel: Any) -> None:
    """Time derivative of a quaternion for an angular velocity in the world frame."""
    product = q.mul_quat((0.0, vel[0, 0], vel[0, 1], vel[0, 2]), get4(quat, 0))
    set4(res, 0, (0.5 * product[0], 0.5 * product[1], 0.5 * product[2], 0.5 * product[3]))


@native(quat=target(4), vel=source(3), scale=Number())
def mju_quatIntegrate(quat: np.ndarray, vel: Any, scale: float) -> None:
    """Rotate a quaternion in place for the time `scale` with the body-frame angular velocity `vel`."""
    set4(quat, 0, q.integrate_quat(get4(quat, 0), get3(vel, 0), scale))


@native(quat=target(4), vec=source(3))
def mju_quatZ2Vec(quat: np.ndarray, vec: Any) -> None:
    """Quaternion of the shortest rotation that takes the z axis to the direction of `vec`."""
    direction = get3(vec, 0)
    if norm3(direction) < MINVAL:
        set4(quat, 0, (1.0, 0.0, 0.0, 0.0))
    else:
        set4(quat, 0, z2quat(normalize3(direction), MINVAL))


def mju_euler2Quat(quat: np.ndarray, euler: Any, seq: str) -> None:
    """Quaternion of Euler angles (rad): rotations around the axes named by `seq`.

    Small letters are axes that rotate with the object, capital letters are fixed axes.

    Raises:
        FatalError: `seq` isn't three of the letters x, y, z, X, Y, Z.
    """
    if len(seq) != 3:
        raise FatalError("mju_euler2Quat: seq must contain exactly 3 characters")
    for k, letter in enumerate(seq):
        if letter not in "xyzXYZ":
            raise FatalError(f"mju_euler2Quat: seq[{k}] is '{letter}', should be one of x, y, z, X, Y, Z")
    target_of("quat", quat, 4)[:] = euler2quat(numbers("euler", euler, 3), seq)


@native(posres=target(3), quatres=target(4), pos1=source(3), quat1=source(4), pos2=source(3), quat2=source(4))
def mju_mulPose(posres: np.ndarray, quatres: np.ndarray, pos1: Any, quat1: Any, pos2: Any, quat2: Any) -> None:
    """Product of two poses: transform the second pose from the frame of the first pose to the outer frame."""
    rotation = get4(quat1, 0)
    pos = add3(get3(pos1, 0), q.rot_vec_quat(get3(pos2, 0), rotation))
    set4(quatres, 0, q.normalize4(q.mul_quat(rotation, get4(quat2, 0))))
    set3(posres, 0, pos)


@native(posres=target(3), quatres=target(4), pos=source(3), quat=source(4))
def mju_negPose(posres: np.ndarray, quatres: np.ndarray, pos: Any, quat: Any) -> None:
    """Inverse of a pose."""
    point, inverse = get3(pos, 0), q.neg_quat(get4(quat, 0))
    set3(posres, 0, scale3(q.rot_vec_quat(point, inverse), -1.0))
    set4(quatres, 0, inverse)


@native(res=target(3), pos=source(3), quat=source(4), vec=source(3))
def mju_trnVecPose(res: np.ndarray, pos: Any, quat: Any, vec: Any) -> None:
    """Transform the point `vec` from the frame with the pose (pos, quat) to the outer frame."""
    set3(res, 0, add3(q.rot_vec_quat(get3(vec, 0), get4(quat, 0)), get3(pos, 0)))


@native(res=target(3), vec=source(3), mat=source(9))
def mju_rotVecMat(res: np.ndarray, vec: Any, mat: Any) -> None:
    """Compute res = mat vec."""
    set3(res, 0, mul_mat_vec3(get9(mat, 0), get3(vec, 0)))


@native(res=target(3), vec=source(3), mat=source(9))
def mju_rotVecMatT(res: np.ndarray, vec: Any, mat: Any) -> None:
    """Compute res = mat' vec."""
    set3(res, 0, mul_mat_t_vec3(get9(mat, 0), get3(vec, 0)))


@native(res=target(6), vec=source(6), flg_force=Integer(), newpos=source(3), oldpos=source(3), rotnew2old=source(9))
def mju_transformSpatial(res: np.ndarray, vec: Any, flg_force: int, newpos: Any, oldpos: Any, rotnew2old: Any) -> None:
    """Transform a spatial motion or force vector (rotation, translation) to another point and orientation.

    Args:
        res: the new vector (6,).
        vec: the old vector (6,).
        flg_force: nonzero for a force vector (torque, force), 0 for a motion vector.
        newpos: the new point (3,).
        oldpos: the old point (3,).
        rotnew2old: rotation from the new to the old orientation (9,).
    """
    rotational, linear = (vec[0, 0], vec[0, 1], vec[0, 2]), (vec[0, 3], vec[0, 4], vec[0, 5])
    shift = sub3(get3(newpos, 0), get3(oldpos, 0))
    if flg_force:
        rotational = sub3(rotational, cross(shift, linear))
    else:
        linear = sub3(linear, cross(shift, rotational))
    turn = get9(rotnew2old, 0)
    rotational, linear = mul_mat_t_vec3(turn, rotational), mul_mat_t_vec3(turn, linear)
    set6(res, 0, (rotational[0], rotational[1], rotational[2], linear[0], linear[1], linear[2]))


__all__ = ["mju_axisAngle2Quat", "mju_derivQuat", "mju_euler2Quat", "mju_mat2Quat", "mju_mulPose", "mju_mulQuat"]
__all__ += ["mju_mulQuatAxis", "mju_negPose", "mju_negQuat", "mju_quat2Mat", "mju_quat2Vel", "mju_quatIntegrate"]
__all__ += ["mju_quatZ2Vec", "mju_rotVecMat", "mju_rotVecMatT", "mju_rotVecQuat", "mju_subQuat"]
__all__ += ["mju_transformSpatial", "mju_trnVecPose"]
