"""Differences of states, many at once: rotations as rotation vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

FREE, BALL = 0, 1


@njit(cache=True)
def turn(a: np.ndarray, b: np.ndarray, result: np.ndarray) -> None:
    """Set `result` (3,) to the rotation vector from a quaternion `a` to a quaternion `b`, in the frame of `a`."""
    real = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    result[0] = a[0] * b[1] - b[0] * a[1] - a[2] * b[3] + a[3] * b[2]
    result[1] = a[0] * b[2] - b[0] * a[2] - a[3] * b[1] + a[1] * b[3]
    result[2] = a[0] * b[3] - b[0] * a[3] - a[1] * b[2] + a[2] * b[1]
    sine = np.sqrt(result[0] * result[0] + result[1] * result[1] + result[2] * result[2])
    angle = 2.0 * np.arctan2(sine, real)
    if angle > np.pi:
        angle -= 2.0 * np.pi
    scale = angle / sine if sine > 0.0 else 2.0
    for i in range(3):
        result[i] *= scale


@njit(cache=True)
def subtract(joints: np.ndarray, nv: int, a: np.ndarray, b: np.ndarray, result: np.ndarray) -> None:
    """Set rows of `result` (n, 2 nv + na) to differences of states (n, nq + nv + na), from `a` to `b`.

    Args:
        joints: type, address in qpos and address in qvel of each joint, (njnt, 3).
        nv: degrees of freedom.
        a: first states; one row is that of all.
        b: second states.
        result: written.
    """
    n, width = result.shape
    more = b.shape[1] - width  # nq - nv
    for row in range(n):
        x, y, difference = a[row if len(a) > 1 else 0], b[row], result[row]
        for joint in range(len(joints)):
            kind, adr, dof = joints[joint]
            if kind == FREE:
                for i in range(3):
                    difference[dof + i] = y[adr + i] - x[adr + i]
                turn(x[adr + 3 : adr + 7], y[adr + 3 : adr + 7], difference[dof + 3 : dof + 6])
            elif kind == BALL:
                turn(x[adr : adr + 4], y[adr : adr + 4], difference[dof : dof + 3])
            else:
                difference[dof] = y[adr] - x[adr]
        for i in range(nv, width):
            difference[i] = y[i + more] - x[i + more]


def differences(m: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """From states `a` to states `b` (..., nq + nv + na): (..., 2 nv + na), as `mj_differentiatePos` gives them."""
    shape = np.broadcast_shapes(a.shape, b.shape)
    result = np.empty((*shape[:-1], 2 * m.nv + m.na))
    joints = np.array((m.jnt_type, m.jnt_qposadr, m.jnt_dofadr), np.int64).T.copy()
    first = a[None] if a.ndim == 1 else np.ascontiguousarray(np.broadcast_to(a, shape)).reshape(-1, shape[-1])
    second = np.ascontiguousarray(np.broadcast_to(b, shape)).reshape(-1, shape[-1])
    subtract(joints, m.nv, np.ascontiguousarray(first), second, result.reshape(-1, result.shape[-1]))
    return result
