"""Derivatives of a step by extrapolated differences, to compare exact ones with."""

from __future__ import annotations

import numpy as np

import cardan

INPUTS = (
    "qpos",
    "qvel",
    "act",
    "history",
    "ctrl",
    "qacc_warmstart",
    "qfrc_applied",
    "xfrc_applied",
    "mocap_pos",
    "mocap_quat",
)


def exact_jacobian(m: cardan.MjModel, d: cardan.MjData) -> np.ndarray:
    """[[A, B], [C, D]] of `mjd_transition`: (2 nv + na + nsensordata, 2 nv + na + nu)."""
    nx, ns = 2 * m.nv + m.na, m.nsensordata
    A, B, C, D = np.empty((nx, nx)), np.empty((nx, m.nu)), np.empty((ns, nx)), np.empty((ns, m.nu))
    cardan.mjd_transition(m, d, A, B, C, D)
    return np.block([[A, B], [C, D]])


def _step(m: cardan.MjModel, d: cardan.MjData, column: int, size: float) -> tuple[np.ndarray, ...]:
    """Results of a step after moving one input."""
    w = cardan.MjData(m)
    w.time = d.time
    for name in INPUTS:
        getattr(w, name)[...] = getattr(d, name)
    nv, nx = m.nv, 2 * m.nv + m.na
    if column < nv:
        cardan.mj_integratePos(m, w.qpos, np.eye(nv)[column], size)
    elif column < 2 * nv:
        w.qvel[column - nv] += size
    elif column < nx:
        w.act[column - 2 * nv] += size
    else:
        w.ctrl[column - nx] += size
    cardan.mj_step(m, w)
    return w.qpos.copy(), w.qvel.copy(), w.act.copy(), w.sensordata.copy()


def _centred(m: cardan.MjModel, d: cardan.MjData, column: int, size: float) -> np.ndarray:
    high, low = _step(m, d, column, size), _step(m, d, column, -size)
    positions = np.zeros(m.nv)
    cardan.mj_differentiatePos(m, positions, 2 * size, low[0], high[0])
    return np.concatenate([positions, *((a - b) / (2 * size) for a, b in zip(high[1:], low[1:], strict=True))])


def extrapolated_jacobian(m: cardan.MjModel, d: cardan.MjData, size: float = 2e-4) -> np.ndarray:
    """The same by centred differences with two steps of Richardson extrapolation."""
    columns = []
    for column in range(2 * m.nv + m.na + m.nu):
        first, second, third = (_centred(m, d, column, size / k) for k in (1, 2, 4))
        once, again = (4 * second - first) / 3, (4 * third - second) / 3
        columns.append((16 * again - once) / 15)
    return np.array(columns).reshape(-1, 2 * m.nv + m.na + m.nsensordata).T


def assert_same_jacobians(m: cardan.MjModel, d: cardan.MjData, tolerance: float = 1e-6) -> None:
    """Assert that every entry agrees, relative to the largest one of its row (and 1)."""
    exact, differences = exact_jacobian(m, d), extrapolated_jacobian(m, d)
    scale = np.maximum(1.0, np.abs(differences).max(axis=1, keepdims=True, initial=0.0))
    error = np.abs(exact - differences) / scale
    where = np.unravel_index(error.argmax(), error.shape)
    assert error.max() < tolerance, f"{error.max():.1e} at {where}: {exact[where]} instead of {differences[where]}"
