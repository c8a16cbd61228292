"""Parts of a simulation state, by the bits of `mjtState` (spec: computation, state)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from cardan.enums.data import mjtState
from cardan.enums.numbering import later
from cardan.jit import OK, kernel
from cardan.model import internals
from cardan.model.fields_own import MEMORY_WIDTH
from cardan.model.kernel_views import Data, Model

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

_PARTS: tuple[tuple[mjtState, str, Callable[[MjModel], int]], ...] = (
    (mjtState.mjSTATE_TIME, "time", lambda m: 1),
    (mjtState.mjSTATE_QPOS, "qpos", lambda m: m.nq),
    (mjtState.mjSTATE_QVEL, "qvel", lambda m: m.nv),
    (mjtState.mjSTATE_ACT, "act", lambda m: m.na),
    (mjtState.mjSTATE_HISTORY, "history", lambda m: m.nhistory),
    (mjtState.mjSTATE_HISTORY, "stick", lambda m: MEMORY_WIDTH * m.nstick),
    (mjtState.mjSTATE_WARMSTART, "qacc_warmstart", lambda m: m.nv),
    (mjtState.mjSTATE_CTRL, "ctrl", lambda m: m.nu),
    (mjtState.mjSTATE_QFRC_APPLIED, "qfrc_applied", lambda m: m.nv),
    (mjtState.mjSTATE_XFRC_APPLIED, "xfrc_applied", lambda m: 6 * m.nbody),
    (mjtState.mjSTATE_EQ_ACTIVE, "eq_active", lambda m: m.neq),
    (mjtState.mjSTATE_MOCAP_POS, "mocap_pos", lambda m: 3 * m.nmocap),
    (mjtState.mjSTATE_MOCAP_QUAT, "mocap_quat", lambda m: 4 * m.nmocap),
    (mjtState.mjSTATE_USERDATA, "userdata", lambda m: m.nuserdata),
    (mjtState.mjSTATE_PLUGIN, "plugin_state", lambda m: m.npluginstate),
)
"""Parts of a state, in the order in which they are stored: bit, field of the data, size.

The memory of contacts belongs to the histories: both are values of earlier steps.
"""

STATE_FIELDS = tuple((bit, name) for bit, name, _ in _PARTS)
_BITS = tuple(dict.fromkeys(int(bit) for bit, _ in STATE_FIELDS))
NSTATE = len(_BITS)
TIME, QPOS, QVEL, ACT, HISTORY, WARMSTART, CTRL = _BITS[:7]
QFRC_APPLIED, XFRC_APPLIED, EQ_ACTIVE, MOCAP_POS, MOCAP_QUAT, USERDATA, PLUGIN = _BITS[7:]
NSTATE_4_0 = int(later(mjtState).mjNSTATE)


@cache
def state_fields(spec: int) -> tuple[str, ...]:
    """Return the names of the fields of MjData that the bits of `spec` select, in the order of the state."""
    return tuple(name for bit, name in STATE_FIELDS if spec & bit)


def field_sizes(m: MjModel) -> dict[str, int]:
    """Return the size of each field of the state; computed once per model."""
    kept = internals.kept(m)
    if "state_sizes" not in kept:
        kept["state_sizes"] = {name: size(m) for _, name, size in _PARTS}
    return kept["state_sizes"]


def state_size(m: MjModel, spec: int) -> int:
    """Return the size of a state with the parts of `spec`."""
    sizes = field_sizes(m)
    return sum(sizes[name] for name in state_fields(spec))


# native functions ------------------------------------------------------------


@kernel
def _vector(part: Any, n: int, state: Any, at: int, out: bool) -> int:
    """Copy `n` numbers from a part to `state[at:]` if `out` is set, otherwise back; return the index after them."""
    for k in range(n):
        if out:
            state[at + k] = part[k]
        else:
            part[k] = state[at + k]
    return at + n


@kernel
def _rows(part: Any, n: int, width: int, state: Any, at: int, out: bool) -> int:
    """Copy `n` rows of `width` numbers to `state[at:]` if `out` is set, otherwise back; return the index after them."""
    for i in range(n):
        for k in range(width):
            if out:
                state[at + width * i + k] = part[i, k]
            else:
                part[i, k] = state[at + width * i + k]
    return at + width * n


@kernel
def exchange_state(m: Model, d: Data, state: Any, at: int, spec: int, out: bool) -> int:
    """Copy the parts of `spec` to `state[at:]` if `out` is set, otherwise back; return the index after them."""
    if spec & TIME:
        if out:
            state[at] = d.time
        else:
            d.time = state[at]
        at += 1
    at = _vector(d.qpos, m.nq if spec & QPOS else 0, state, at, out)
    at = _vector(d.qvel, m.nv if spec & QVEL else 0, state, at, out)
    at = _vector(d.act, m.na if spec & ACT else 0, state, at, out)
    at = _vector(d.history, m.nhistory if spec & HISTORY else 0, state, at, out)
    at = _rows(d.stick, m.nstick if spec & HISTORY else 0, MEMORY_WIDTH, state, at, out)
    at = _vector(d.qacc_warmstart, m.nv if spec & WARMSTART else 0, state, at, out)
    at = _vector(d.ctrl, m.nu if spec & CTRL else 0, state, at, out)
    at = _vector(d.qfrc_applied, m.nv if spec & QFRC_APPLIED else 0, state, at, out)
    at = _rows(d.xfrc_applied, m.nbody if spec & XFRC_APPLIED else 0, 6, state, at, out)
    at = _vector(d.eq_active, m.neq if spec & EQ_ACTIVE else 0, state, at, out)
    at = _rows(d.mocap_pos, m.nmocap if spec & MOCAP_POS else 0, 3, state, at, out)
    at = _rows(d.mocap_quat, m.nmocap if spec & MOCAP_QUAT else 0, 4, state, at, out)
    at = _vector(d.userdata, m.nuserdata if spec & USERDATA else 0, state, at, out)
    return _vector(d.plugin_state, m.npluginstate if spec & PLUGIN else 0, state, at, out)


@kernel
def count_state(m: Model, spec: int) -> int:
    """Return the size of a state with the parts of `spec` (as `state_size`)."""
    size = 1 if spec & TIME else 0
    size += m.nq if spec & QPOS else 0
    size += m.nv * ((1 if spec & QVEL else 0) + (1 if spec & WARMSTART else 0) + (1 if spec & QFRC_APPLIED else 0))
    size += m.na if spec & ACT else 0
    size += m.nhistory + MEMORY_WIDTH * m.nstick if spec & HISTORY else 0
    size += m.nu if spec & CTRL else 0
    size += 6 * m.nbody if spec & XFRC_APPLIED else 0
    size += m.neq if spec & EQ_ACTIVE else 0
    size += m.nmocap * ((3 if spec & MOCAP_POS else 0) + (4 if spec & MOCAP_QUAT else 0))
    size += m.nuserdata if spec & USERDATA else 0
    size += m.npluginstate if spec & PLUGIN else 0
    return size


@kernel
def _fits(m: Model, state: Any, spec: int) -> bool:
    return 0 <= spec < (1 << NSTATE) and len(state) == count_state(m, spec)


@kernel
def get_state(m: Model, d: Data, state: Any, spec: int) -> int:
    """Copy the parts of `spec` from `d` to `state` (state_size,), and return 0.

    If `spec` is invalid or `state` has a different size, copy nothing and return 1.
    """
    if not _fits(m, state, spec):
        return 1
    exchange_state(m, d, state, 0, spec, True)
    return OK


@kernel
def set_state(m: Model, d: Data, state: Any, spec: int) -> int:
    """Copy `state` (state_size,) to the parts of `spec` in `d`, and return 0.

    If `spec` is invalid or `state` has a different size, copy nothing and return 1.
    """
    if not _fits(m, state, spec):
        return 1
    exchange_state(m, d, state, 0, spec, False)
    return OK


# bits of MuJoCo 4.0 -----------------------------------------------------------


@kernel
def engine_bits(spec: int) -> int:
    """Convert bits of `mjtState` of MuJoCo 4.0 to those of the engine; bits of parts that the engine lacks are dropped.

    In 4.0, `HISTORY` is the fifth bit, and all bits from `WARMSTART` to `PLUGIN` are doubled.
    """
    bits = spec & (WARMSTART - 1) | (spec >> 1) & (2 * PLUGIN - WARMSTART) | (HISTORY if spec & WARMSTART else 0)
    return bits & ((1 << NSTATE) - 1)


@kernel
def _is_valid_4_0(sig: int) -> bool:
    return 0 <= sig < (1 << NSTATE_4_0)


@kernel
def get_state_4_0(m: Model, d: Data, state: Any, sig: int) -> int:
    """Do the same as `get_state` with the bits of MuJoCo 4.0."""
    return get_state(m, d, state, engine_bits(sig)) if _is_valid_4_0(sig) else 1


@kernel
def set_state_4_0(m: Model, d: Data, state: Any, sig: int) -> int:
    """Do the same as `set_state` with the bits of MuJoCo 4.0."""
    return set_state(m, d, state, engine_bits(sig)) if _is_valid_4_0(sig) else 1


def copy_state(source: MjData, target: MjData, spec: int) -> None:
    """Copy the parts of `spec` (bits of the engine) from one data to another data of the same model."""
    for name in state_fields(spec):
        if name == "time":
            target.time = source.time
        else:
            internals.array(target, name)[...] = internals.array(source, name)
