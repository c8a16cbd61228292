"""Getting and setting the simulation state as one vector (spec: computation, state)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cardan.api.arguments import check_model, check_pair, integer, writable_vector
from cardan.api.native_call import native_by
from cardan.errors import FatalError
from cardan.jit.binding.arguments import ANY, Integer, target
from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.step.state import NSTATE, get_state, set_state, state_size


def _spec(name: str, spec: int) -> int:
    spec = integer(name, "spec", spec, 2**32)
    if spec < 0:
        raise TypeError(f"{name}: spec must be a combination of mjtState bits, not {spec}")
    if spec >= 1 << NSTATE:
        raise FatalError(f"{name}: invalid state spec {spec} >= 2^mjNSTATE")
    return spec


def mj_stateSize(m: MjModel, spec: int) -> int:
    """Number of elements of the state described by `spec` (bits of `mjtState`).

    Raises:
        FatalError: `spec` has a bit that isn't in `mjtState`.
    """
    check_model("mj_stateSize", m)
    return state_size(m, _spec("mj_stateSize", spec))


def _fits(function: str) -> Callable[..., None]:
    """Make a function that raises TypeError unless `state` is a writable vector of the size described by `spec`."""

    def check(m: MjModel, state: np.ndarray, spec: int, **_: Any) -> None:
        writable_vector(function, "state", state, state_size(m, _spec(function, spec)), "mj_stateSize(m, spec)")

    return check


@native_by(get_state, check=_fits("mj_getState"), refuses=True, state=target(ANY), spec=Integer())
def mj_getState(m: MjModel, d: MjData, state: np.ndarray, spec: int) -> None:
    """Copy the parts of `d` selected by `spec` (bits of `mjtState`) into `state` (mj_stateSize,)."""


@native_by(set_state, check=_fits("mj_setState"), refuses=True, state=target(ANY), spec=Integer())
def mj_setState(m: MjModel, d: MjData, state: np.ndarray, spec: int) -> None:
    """Copy `state` (mj_stateSize,) into the parts of `d` selected by `spec` (bits of `mjtState`)."""


def mj_copyData(dest: MjData, m: MjModel, src: MjData) -> MjData:
    """Copy all values of `src` to `dest`, and return `dest`. Both are data of the model `m`."""
    check_pair("mj_copyData", m, dest)
    check_pair("mj_copyData", m, src)
    internals.copy_values(dest, src)
    return dest


def last_good_state(d: MjData) -> np.ndarray | None:
    """Return the state before the last automatic reset, to find out what went wrong.

    If a step finds NaN or huge numbers in positions, velocities or accelerations, it resets the data and warns. The
    result is the last state before the reset that had good positions and velocities, at the start of a step.

    Args:
        d: the data.

    Returns:
        The full physics state (for `mj_setState` with `mjSTATE_FULLPHYSICS`), or None if there was no automatic reset,
        or no good state before it.
    """
    if not isinstance(d, MjData):
        raise TypeError(f"last_good_state: d must be an MjData, not {type(d).__name__}")
    lost = internals.array(d, "work.lost_state")
    return lost[1:].copy() if lost[0] else None


__all__ = ["last_good_state", "mj_copyData", "mj_getState", "mj_setState", "mj_stateSize"]
