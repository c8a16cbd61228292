"""Differences of states, many at once: rotations as rotation vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

FREE, BALL = 0, 1


def turns(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Rotation vectors (..., 3) from quaternions `a` to quaternions `b` (..., 4), in the frame of `a`."""
    real = (a * b).sum(axis=-1, keepdims=True)
    w, x, y, z = np.moveaxis(a, -1, 0)
    s, i, j, k = np.moveaxis(b, -1, 0)
    vector = np.stack([w * i - s * x - y * k + z * j, w * j - s * y - z * i + x * k, w * k - s * z - x * j + y * i], -1)
    sine = np.sqrt((vector * vector).sum(axis=-1, keepdims=True))
    angle = 2.0 * np.arctan2(sine, real)
    angle = np.where(angle > np.pi, angle - 2.0 * np.pi, angle)
    return vector * np.where(sine > 0.0, angle / np.where(sine > 0.0, sine, 1.0), 2.0)


def differences(m: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """From states `a` to states `b` (..., nq + nv + na): (..., 2 nv + na), as `mj_differentiatePos` gives them."""
    result = np.empty((*np.broadcast_shapes(a.shape, b.shape)[:-1], 2 * m.nv + m.na))
    result[..., m.nv :] = b[..., m.nq :] - a[..., m.nq :]
    if m.nq == m.nv:
        result[..., : m.nv] = b[..., : m.nq] - a[..., : m.nq]
        return result
    for kind, adr, dof in zip(m.jnt_type.tolist(), m.jnt_qposadr.tolist(), m.jnt_dofadr.tolist(), strict=True):
        count = {FREE: 3, BALL: 0}.get(kind, 1)
        result[..., dof : dof + count] = b[..., adr : adr + count] - a[..., adr : adr + count]
        if kind in (FREE, BALL):
            adr, dof = adr + count, dof + count
            result[..., dof : dof + 3] = turns(a[..., adr : adr + 4], b[..., adr : adr + 4])
    return result
