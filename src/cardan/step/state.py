"""Parts of a simulation state, by the bits of `mjtState` (spec: computation, state)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from cardan.enums.data import mjtState
from cardan.jit import OK, kernel
from cardan.model import internals
from cardan.model.kernel_views import Data, Model

if TYPE_CHECKING:
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
_BITS = tuple(int(bit) for bit, _ in STATE_FIELDS)
TIME, QPOS, QVEL, ACT, WARMSTART, CTRL = _BITS[:6]
QFRC_APPLIED, XFRC_APPLIED, EQ_ACTIVE, MOCAP_POS, MOCAP_QUAT, USERDATA, PLUGIN = _BITS[6:]


@cache
def state_fields(spec: int) -> tuple[str, ...]:
    """Return the names of the fields of MjData that the bits of `spec` select, in the order of the bits."""
    return tuple(name for bit, name in STATE_FIELDS if spec & bit)


def field_sizes(m: MjModel) -> dict[str, int]:
    """Return the size of each part of the state; computed once per model."""
    kept = internals.kept(m)
    if "state_sizes" not in kept:
        kept["state_sizes"] = _field_sizes(m)
    return kept["state_sizes"]


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
    """Return the size of a state with the parts of `spec`."""
    sizes = field_sizes(m)
    return sum(sizes[name] for name in state_fields(spec))


# native functions ------------------------------------------------------------


@kernel
def _vector(part: Any, n: int, state: Any, at: int, out: bool) -> int:
    """Copy a part of `n` numbers to `state` (`out`) or from it; return the index after it."""
    for k in range(n):
        if out:
            state[at + k] = part[k]
        else:
            part[k] = state[at + k]
    return at + n


@kernel
def _rows(part: Any, n: int, width: int, state: Any, at: int, out: bool) -> int:
    """Copy `n` rows of `width` numbers to `state` (`out`) or from it; return the index after them."""
    for i in range(n):
        for k in range(width):
            if out:
                state[at + width * i + k] = part[i, k]
            else:
                part[i, k] = state[at + width * i + k]
    return at + width * n


@kernel
def exchange_state(m: Model, d: Data, state: Any, at: int, spec: int, out: bool) -> int:
    """Copy the parts of a state to `state` (`out`), or from it, from index `at` on; return the index after them."""
    if spec & TIME:
        if out:
            state[at] = d.time
        else:
            d.time = state[at]
        at += 1
    at = _vector(d.qpos, m.nq if spec & QPOS else 0, state, at, out)
    at = _vector(d.qvel, m.nv if spec & QVEL else 0, state, at, out)
    at = _vector(d.act, m.na if spec & ACT else 0, state, at, out)
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
    """Copy the parts of `spec` from `d` to `state` (state_size,); return 1 if `state` has another size."""
    if not _fits(m, state, spec):
        return 1
    exchange_state(m, d, state, 0, spec, True)
    return OK


@kernel
def set_state(m: Model, d: Data, state: Any, spec: int) -> int:
    """Copy `state` (state_size,) to the parts of `spec` in `d`; return 1 if `state` has another size."""
    if not _fits(m, state, spec):
        return 1
    exchange_state(m, d, state, 0, spec, False)
    return OK
