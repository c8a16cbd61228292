"""Getting and setting the simulation state as one vector (spec: computation, state)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cardan.api.arguments import check_model, check_pair, integer, target_of, vector_of, writable_vector
from cardan.api.native_call import native_by
from cardan.enums.data import mjtState
from cardan.enums.numbering import is_later, later
from cardan.errors import FatalError
from cardan.jit.binding.arguments import ANY, Integer, target
from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.step.state import (
    NSTATE,
    copy_state,
    engine_bits,
    field_sizes,
    get_state,
    get_state_4_0,
    set_state,
    set_state_4_0,
    state_fields,
    state_size,
)

KNOWN = (1 << NSTATE, 1 << int(later(mjtState).mjNSTATE))
"""Smallest number that isn't a combination of bits: of MuJoCo 3.1, of 4.0."""


def _spec(name: str, spec: int, after: bool) -> int:
    """Convert a combination of bits of 3.1, or of 4.0 if ``after``, to the bits of the engine; check it."""
    spec = integer(name, "spec", spec, 2**32)
    if spec < 0:
        raise TypeError(f"{name}: spec must be a combination of mjtState bits, not {spec}")
    if spec >= KNOWN[after]:
        raise FatalError(f"{name}: invalid state {'signature' if after else 'spec'} {spec} >= 2^mjNSTATE")
    return engine_bits(spec) if after else spec


def mj_stateSize(m: MjModel, spec: int) -> int:
    """Number of elements of the state described by `spec` (bits of `mjtState`).

    Raises:
        FatalError: `spec` has a bit that isn't in `mjtState`.
    """
    check_model("mj_stateSize", m)
    return state_size(m, _spec("mj_stateSize", spec, False))


def _fits(function: str) -> Callable[..., None]:
    """Make a function that raises TypeError unless `state` is a writable vector of the size described by the bits."""

    def check(m: MjModel, state: np.ndarray, spec: int | None = None, sig: int = 0, **_: Any) -> None:
        size = state_size(m, _spec(function, sig if spec is None else spec, spec is None))
        writable_vector(function, "state", state, size, f"mj_stateSize(m, {'sig' if spec is None else 'spec'})")

    return check


@native_by(get_state, check=_fits("mj_getState"), refuses=True, state=target(ANY), spec=Integer())
def mj_getState(m: MjModel, d: MjData, state: np.ndarray, spec: int) -> None:
    """Copy the parts of `d` selected by `spec` (bits of `mjtState`) into `state` (mj_stateSize,)."""


@native_by(set_state, check=_fits("mj_setState"), refuses=True, state=target(ANY), spec=Integer())
def mj_setState(m: MjModel, d: MjData, state: np.ndarray, spec: int) -> None:
    """Copy `state` (mj_stateSize,) into the parts of `d` selected by `spec` (bits of `mjtState`)."""


def mj_copyState(m: MjModel, src: MjData, dst: MjData, sig: int) -> None:
    """Copy the parts of the state selected by `sig` (bits of `mjtState`) from the data `src` to the data `dst`."""
    check_pair("mj_copyState", m, src)
    check_pair("mj_copyState", m, dst)
    copy_state(src, dst, _spec("mj_copyState", sig, is_later()))


def mj_extractState(m: MjModel, src: Any, srcsig: int, dst: np.ndarray, dstsig: int) -> None:
    """Copy parts of a state vector to a smaller one.

    Args:
        m: the model.
        src: state (mj_stateSize(m, srcsig),), as `mj_getState` writes it.
        srcsig: parts of `src` (bits of `mjtState`).
        dst: the parts `dstsig` (mj_stateSize(m, dstsig),), written.
        dstsig: bits of `srcsig`.

    Raises:
        FatalError: `dstsig` has bits that `srcsig` lacks, or a bit that isn't in `mjtState`.
    """
    name = "mj_extractState"
    check_model(name, m)
    given, wanted = _spec(name, srcsig, is_later()), _spec(name, dstsig, is_later())
    source = vector_of("src", src, state_size(m, given), "mj_stateSize(m, srcsig)")
    result = target_of("dst", dst, state_size(m, wanted), "mj_stateSize(m, dstsig)")
    if wanted & ~given:
        raise FatalError(f"{name}: dstsig is not a subset of srcsig")
    sizes, kept = field_sizes(m), state_fields(wanted)
    start = end = 0
    for field in state_fields(given):
        if field in kept:
            result[end : end + sizes[field]] = source[start : start + sizes[field]]
            end += sizes[field]
        start += sizes[field]


_KEY_FIELDS = ("qpos", "qvel", "act", "mocap_pos", "mocap_quat", "ctrl")
"""Fields of the data that keyframes contain, besides the time."""


def mj_setKeyframe(m: MjModel, d: MjData, k: int) -> None:
    """Copy the state of `d` to keyframe `k` of the model: time, qpos, qvel, act, mocap poses and ctrl.

    Raises:
        FatalError: the model has no such keyframe.
    """
    check_pair("mj_setKeyframe", m, d)
    key = integer("mj_setKeyframe", "k", k)
    if key >= m.nkey:
        raise FatalError(f"mj_setKeyframe: index must be smaller than {m.nkey} (keyframes allocated in model)")
    if key < 0:
        raise FatalError("mj_setKeyframe: keyframe index cannot be negative")
    m.key_time[key] = d.time
    for field in _KEY_FIELDS:
        internals.array(m, f"key_{field.replace('mocap_', 'm')}")[key] = internals.array(d, field).reshape(-1)


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


def _functions_of_4_0() -> dict[str, Callable[..., Any]]:
    """Make the functions that take the bits of MuJoCo 4.0."""

    def mj_stateSize(m: MjModel, sig: int) -> int:
        """Number of elements of the state described by `sig` (bits of `mjtState` of MuJoCo 4.0)."""
        check_model("mj_stateSize", m)
        return state_size(m, _spec("mj_stateSize", sig, True))

    @native_by(get_state_4_0, check=_fits("mj_getState"), refuses=True, public=False, state=target(ANY), sig=Integer())
    def mj_getState(m: MjModel, d: MjData, state: np.ndarray, sig: int) -> None:
        """Copy the parts of `d` selected by `sig` (bits of `mjtState`) into `state` (mj_stateSize,)."""

    @native_by(set_state_4_0, check=_fits("mj_setState"), refuses=True, public=False, state=target(ANY), sig=Integer())
    def mj_setState(m: MjModel, d: MjData, state: np.ndarray, sig: int) -> None:
        """Copy `state` (mj_stateSize,) into the parts of `d` selected by `sig` (bits of `mjtState`)."""

    return {"mj_stateSize": mj_stateSize, "mj_getState": mj_getState, "mj_setState": mj_setState}


LATER = _functions_of_4_0()
"""Functions that take the bits of `mjtState` of MuJoCo 4.0: what the names mean in a process with compat 4.0."""

__all__ = ["last_good_state", "mj_copyData", "mj_copyState", "mj_extractState", "mj_getState", "mj_setKeyframe"]
__all__ += ["mj_setState", "mj_stateSize"]
