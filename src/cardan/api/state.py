"""Getting and setting the simulation state as one vector (spec: computation, state)."""

from __future__ import annotations

import numpy as np

from cardan.api.arguments import check_model, check_pair, integer, vector
from cardan.errors import FatalError
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.step.state import NSTATE, get_state, set_state, state_size


def _spec(name: str, spec: int) -> int:
    spec = integer(name, "spec", spec)
    if spec < 0:
        raise TypeError(f"{name}: spec must be a combination of mjtState bits, not {spec}")
    if spec >= 1 << NSTATE:
        raise FatalError(f"{name}: invalid state spec {spec} >= 2^mjNSTATE")
    return spec


def mj_stateSize(m: MjModel, spec: int) -> int:
    """Number of numbers in the state that `spec` (bits of `mjtState`) describes.

    Raises:
        FatalError: `spec` has a bit that isn't in `mjtState`.
    """
    check_model("mj_stateSize", m)
    return state_size(m, _spec("mj_stateSize", spec))


def mj_getState(m: MjModel, d: MjData, state: np.ndarray, spec: int) -> None:
    """Copy the parts of `d` that `spec` (bits of `mjtState`) describes into `state` (mj_stateSize,)."""
    check_pair("mj_getState", m, d)
    vector("mj_getState", "state", state, state_size(m, _spec("mj_getState", spec)), "mj_stateSize(m, spec)")
    get_state(d, state.reshape(-1), int(spec))


def mj_setState(m: MjModel, d: MjData, state: np.ndarray, spec: int) -> None:
    """Copy `state` (mj_stateSize,) into the parts of `d` that `spec` (bits of `mjtState`) describes."""
    check_pair("mj_setState", m, d)
    vector("mj_setState", "state", state, state_size(m, _spec("mj_setState", spec)), "mj_stateSize(m, spec)")
    set_state(d, state.reshape(-1), int(spec))


__all__ = [
    "mj_getState",
    "mj_setState",
    "mj_stateSize",
]
