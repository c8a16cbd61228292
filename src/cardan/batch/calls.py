"""Implementation of calls of a batch that return arrays: rollouts, Jacobians, rays, random numbers.

This module also checks their arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.batch.arguments import input_bits, integer, per_world, state_bits
from cardan.batch.back_end import Item, Rollout
from cardan.batch.stages import ANSWER_WIDTH, RAY_HEAD, RAY_WIDTH, answer_jacobian, answer_rays
from cardan.collision.ray_scene import NGROUP
from cardan.constants import mjMINVAL
from cardan.step.state import state_fields, state_size

if TYPE_CHECKING:
    import numpy.typing as npt

    from cardan.batch.batch import Batch


def rollout(
    batch: Batch,
    worlds: np.ndarray,
    nstep: int,
    control: npt.ArrayLike | None,
    control_spec: int,
    record: Sequence[Item],
    out: Mapping[Item, np.ndarray] | None,
    every: int,
) -> dict[Item, np.ndarray]:
    """Advance the worlds with ids `worlds` (k,) of a batch, and record fields. Return the arrays by item.

    All other arguments, results and errors are as in `Batch.rollout`.
    """
    nstep, every = integer("nstep", nstep), integer("every", every, 1)
    bits = input_bits(control_spec)
    back, names = batch._worlds, state_fields(bits)
    inputs = None
    if control is not None:
        shape = (len(worlds), nstep, state_size(batch.model, bits))
        if tuple(np.shape(control)) != shape:
            raise ValueError(f"control should be of shape {shape}, got {tuple(np.shape(control))}")
        inputs = back.taken(control, shape)
    items = _checked_items(batch, record, out or {}, (len(worlds), nstep // every))
    return back.rollout(worlds, Rollout(nstep, inputs, names, items, out or {}, every))


def _checked_items(
    batch: Batch, record: Sequence[Item], out: Mapping[Item, np.ndarray], count: tuple[int, int]
) -> dict[Item, tuple[tuple[int, ...], np.dtype]]:
    """Return the shape and type of one record of each item; `count` is (worlds, records per world).

    Raises:
        ValueError: `record` is a string or contains an unknown field, or an array of `out` is not recorded, is
            read-only, or has a wrong shape or type.
    """
    if isinstance(record, str):
        raise ValueError(f"record should be a list of fields and mjtState bits, got the string {record!r}")
    unknown = [item for item in out if item not in record]
    if unknown:
        raise ValueError(f"out has arrays for {unknown}, which are not recorded")
    rows: dict[Item, tuple[tuple[int, ...], np.dtype]] = {}
    for item in record:
        if isinstance(item, str):
            rows[item] = batch.bind(item).shape[1:], batch._worlds.dtype_of(item)
        else:
            rows[item] = (state_size(batch.model, state_bits("record", item)),), batch.state.dtype
    for item, array in out.items():
        shape, dtype = rows[item]
        if not isinstance(array, np.ndarray) or array.shape != (*count, *shape) or array.dtype != dtype:
            raise ValueError(f"out[{item!r}] should be an array of shape {(*count, *shape)} and type {dtype}")
        if not array.flags.writeable:
            raise ValueError(f"out[{item!r}] can't be written")
    return rows


def _repeated(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    try:
        return np.broadcast_to(np.asarray(value, np.float64), shape)
    except ValueError:
        raise ValueError(f"{name} should be of shape {shape}, or such that it can be repeated to it") from None


def jacobians(
    batch: Batch, body: npt.ArrayLike, point: npt.ArrayLike, worlds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compute Jacobians of points fixed to bodies; see `Batch.jac`."""
    k, nv = len(worlds), batch.model.nv
    bodies = per_world("body", body, (k,), 0, batch.model.nbody)
    points = _repeated("point", point, (k, 3))
    batch._worlds.call("jac", worlds, [("jacobian", 1)])
    moving, turning = np.zeros((k, 3, nv)), np.zeros((k, 3, nv))
    question = np.ascontiguousarray(np.hstack([points, bodies[:, None]]))
    arrays = {"work.batch_question": question, "work.batch_jacp": moving, "work.batch_jacr": turning}
    batch._worlds.ask(answer_jacobian, worlds, arrays)
    return moving, turning


def rays(
    batch: Batch,
    pnt: npt.ArrayLike,
    vec: npt.ArrayLike,
    geomgroup: npt.ArrayLike | None,
    flg_static: bool,
    bodyexclude: npt.ArrayLike,
    worlds: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute distances, ids and normals of the nearest geoms along rays; see `Batch.ray`."""
    k = len(worlds)
    nray = max(np.shape(a)[-2] if np.ndim(a) > 1 else 1 for a in (pnt, vec))
    starts, directions = (_repeated(n, a, (k, nray, 3)) for n, a in (("pnt", pnt), ("vec", vec)))
    excluded = per_world("bodyexclude", bodyexclude, (k, nray), -1, batch.model.nbody)
    groups = None if geomgroup is None else np.asarray(geomgroup).reshape(-1)
    if groups is not None and groups.size != NGROUP:
        raise ValueError(f"geomgroup should have {NGROUP} values, got {groups.size}")
    if (np.linalg.norm(directions, axis=-1) < mjMINVAL).any():
        raise ValueError("ray: vector length is too small")
    batch._worlds.call("ray", worlds, [("surfaces", 1)])
    head = np.r_[groups is not None, bool(flg_static), np.ones(NGROUP) if groups is None else groups]
    lines = np.concatenate([starts, directions, excluded[..., None]], axis=-1).reshape(k, nray * RAY_WIDTH)
    answer = np.zeros((k, ANSWER_WIDTH * nray))
    question = np.ascontiguousarray(np.hstack([np.broadcast_to(head, (k, RAY_HEAD)), lines]))
    batch._worlds.ask(answer_rays, worlds, {"work.batch_question": question, "work.batch_answer": answer})
    found = answer.reshape(k, nray, ANSWER_WIDTH)
    return found[..., 0].copy(), found[..., 1].astype(np.int32), found[..., 2:].copy()


_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (0x9E3779B9, 0xBB67AE85)
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
_ROUNDS = 10


def philox(counter: tuple[np.ndarray, ...], key: tuple[int, int]) -> tuple[np.ndarray, ...]:
    """Return four 32-bit random numbers for each counter, computed by Philox4x32-10 with a key of two 32-bit numbers.

    `counter` and the result each consist of four arrays (uint64, values below 2^32) of equal shape. Source: Salmon,
    Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC 2011.
    """
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(_ROUNDS):
        p0, p1 = _MULTIPLIERS[0] * c0, _MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = (
            (p1 >> _HALF) ^ c1 ^ np.uint64(k0),
            p1 & _LOW,
            (p0 >> _HALF) ^ c3 ^ np.uint64(k1),
            p0 & _LOW,
        )
        k0, k1 = (k0 + _WEYL[0]) & 0xFFFFFFFF, (k1 + _WEYL[1]) & 0xFFFFFFFF
    return c0, c1, c2, c3


def uniform(worlds: np.ndarray, size: int, seed: int, draw: int) -> np.ndarray:
    """Return uniform random numbers in [0, 1) with 53 random bits, one row of `size` numbers for each world.

    A number depends only on the world's id, the column, `seed` (64 bits) and `draw` (32 bits). It does not depend on
    the size of the batch, the device or the other worlds of the call.
    """
    if size < 0 or not 0 <= seed < 1 << 64 or not 0 <= draw < 1 << 32:
        raise ValueError("size should not be negative, seed a 64-bit and draw a 32-bit number")
    pair = np.arange((size + 1) // 2, dtype=np.uint64)
    shape = (len(worlds), len(pair))
    ids = worlds.astype(np.uint64)[:, None]
    counter = (pair[None], np.uint64(draw), ids & _LOW, ids >> _HALF)
    full = tuple(np.broadcast_to(c, shape).astype(np.uint64) for c in counter)
    a, b, c, d = philox(full, (seed & 0xFFFFFFFF, seed >> 32))
    bits = np.stack([(a << _HALF) | b, (c << _HALF) | d], axis=-1).reshape(len(worlds), 2 * len(pair))[:, :size]
    return (bits >> np.uint64(11)) * 2.0**-53
