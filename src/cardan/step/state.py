"""The parts of a simulation state, by the bits of `mjtState` (spec: computation, state)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from cardan.enums.data import mjtState

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

STATE_FIELDS: tuple[tuple[mjtState, str], ...] = (
    (mjtState.mjSTATE_TIME, "time"),
    (mjtState.mjSTATE_QPOS, "qpos"),
    (mjtState.mjSTATE_QVEL, "qvel"),
    (mjtState.mjSTATE_ACT, "act"),
    (mjtState.mjSTATE_WARMSTART, "qacc_warmstart"),
    (mjtState.mjSTATE_CTRL, "ctrl"),
    (mjtState.mjSTATE_QFRC_APPLIED, "qfrc_applied"),
    (mjtState.mjSTATE_XFRC_APPLIED, "xfrc_applied"),
    (mjtState.mjSTATE_EQ_ACTIVE, "eq_active"),
    (mjtState.mjSTATE_MOCAP_POS, "mocap_pos"),
    (mjtState.mjSTATE_MOCAP_QUAT, "mocap_quat"),
    (mjtState.mjSTATE_USERDATA, "userdata"),
    (mjtState.mjSTATE_PLUGIN, "plugin_state"),
)

NSTATE = len(STATE_FIELDS)


@cache
def state_fields(spec: int) -> tuple[str, ...]:
    """Names of the fields of MjData that the bits of `spec` stand for, in the order of the bits."""
    return tuple(name for bit, name in STATE_FIELDS if spec & bit)


def field_sizes(m: MjModel) -> dict[str, int]:
    """How many numbers each part of the state has; found once a model."""
    if "_state_sizes" not in m.__dict__:
        m.__dict__["_state_sizes"] = _field_sizes(m)
    return m.__dict__["_state_sizes"]


def _field_sizes(m: MjModel) -> dict[str, int]:
    return {
        "time": 1,
        "qpos": m.nq,
        "qvel": m.nv,
        "act": m.na,
        "qacc_warmstart": m.nv,
        "ctrl": m.nu,
        "qfrc_applied": m.nv,
        "xfrc_applied": 6 * m.nbody,
        "eq_active": m.neq,
        "mocap_pos": 3 * m.nmocap,
        "mocap_quat": 4 * m.nmocap,
        "userdata": m.nuserdata,
        "plugin_state": m.npluginstate,
    }


def state_size(m: MjModel, spec: int) -> int:
    """Number of numbers in a state made of the bits of `spec`."""
    sizes = field_sizes(m)
    return sum(sizes[name] for name in state_fields(spec))


def _parts(d: MjData, spec: int) -> tuple[np.ndarray, ...]:
    """The parts of `spec` in the memory of `d`, each as a vector; found once a data and `spec`."""
    known = d.__dict__.setdefault("_state_parts", {})
    if spec not in known:
        memory = d._memory
        arrays = (memory.scalars[name] if name == "time" else memory.arrays[name] for name in state_fields(spec))
        known[spec] = tuple(array.reshape(-1) for array in arrays if array.size)
    return known[spec]


def get_state(d: MjData, state: np.ndarray, spec: int) -> None:
    """Copy the parts of `spec` from `d` into `state` (state_size,)."""
    at = 0
    for part in _parts(d, spec):
        state[at : at + part.size] = part
        at += part.size


def set_state(d: MjData, state: np.ndarray, spec: int) -> None:
    """Copy `state` (state_size,) into the parts of `spec` of `d`."""
    at = 0
    for part in _parts(d, spec):
        part[:] = state[at : at + part.size]
        at += part.size
