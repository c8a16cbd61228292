"""Questions to all worlds: Jacobians of points, rays. State and bound fields of the state stay as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.batch.select import per_world
from cardan.batch.stages import ANSWER_WIDTH, RAY_HEAD, RAY_WIDTH, answer_jacobian, answer_rays
from cardan.collision.ray_scene import NGROUP
from cardan.constants import mjMINVAL

if TYPE_CHECKING:
    from cardan.batch.batch import Batch


def _broadcast(name: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    try:
        return np.broadcast_to(np.asarray(value, np.float64), shape)
    except ValueError:
        raise ValueError(f"{name} should be of shape {shape}, or such that it can be repeated to it") from None


def jacobians(batch: Batch, body: Any, point: Any, worlds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Jacobians of points (world frame) fixed to bodies, at the worlds' states.

    Args:
        batch: the batch.
        body: id of a body, or one for each world (k,).
        point: the point (3,), or one for each world (k, 3), m.
        worlds: ids (k,).

    Returns:
        Of positions and of rotations, (k, 3, nv) each.
    """
    k, nv = len(worlds), batch.model.nv
    bodies = per_world("body", body, (k,), 0, batch.model.nbody)
    points = _broadcast("point", point, (k, 3))
    batch._call("jac", worlds, [("jacobian", 1)])
    moving, turning = np.zeros((k, 3, nv)), np.zeros((k, 3, nv))
    question = np.ascontiguousarray(np.hstack([points, bodies[:, None]]))
    arrays = {"question": question, "jacp": moving, "jacr": turning}
    _ask(batch, answer_jacobian, worlds, arrays)
    return moving, turning


def rays(
    batch: Batch, pnt: Any, vec: Any, geomgroup: Any, flg_static: bool, bodyexclude: Any, worlds: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distances to the nearest geoms along rays, as `mj_ray`, at the worlds' states.

    Args:
        batch: the batch.
        pnt: starts of the rays: (3,), (nray, 3) for the same rays in all worlds, or (k, nray, 3); m.
        vec: directions, likewise.
        geomgroup: which of the 6 groups are seen; None: all.
        flg_static: whether geoms of bodies fixed to the world are seen.
        bodyexclude: a body whose geoms are not seen, or -1; for all rays, or (k, nray).
        worlds: ids (k,).

    Returns:
        Distances in units of `vec` and ids of geoms, (k, nray) each, -1 where a ray meets nothing; normals of the
        surfaces there (k, nray, 3), which point out of the geoms, 0 where a ray meets nothing.
    """
    k = len(worlds)
    nray = max(np.shape(a)[-2] if np.ndim(a) > 1 else 1 for a in (pnt, vec))
    starts, directions = (_broadcast(n, a, (k, nray, 3)) for n, a in (("pnt", pnt), ("vec", vec)))
    excluded = per_world("bodyexclude", bodyexclude, (k, nray), -1, batch.model.nbody)
    groups = None if geomgroup is None else np.asarray(geomgroup).reshape(-1)
    if groups is not None and groups.size != NGROUP:
        raise ValueError(f"geomgroup should have {NGROUP} values, got {groups.size}")
    if (np.linalg.norm(directions, axis=-1) < mjMINVAL).any():
        raise ValueError("ray: vector length is too small")
    batch._call("ray", worlds, [("surfaces", 1)])
    head = np.r_[groups is not None, bool(flg_static), np.ones(NGROUP) if groups is None else groups]
    lines = np.concatenate([starts, directions, excluded[..., None]], axis=-1).reshape(k, nray * RAY_WIDTH)
    answer = np.zeros((k, ANSWER_WIDTH * nray))
    question = np.ascontiguousarray(np.hstack([np.broadcast_to(head, (k, RAY_HEAD)), lines]))
    _ask(batch, answer_rays, worlds, {"question": question, "answer": answer})
    found = answer.reshape(k, nray, ANSWER_WIDTH)
    return found[..., 0].copy(), found[..., 1].astype(np.int32), found[..., 2:].copy()


def _ask(batch: Batch, stage: Any, worlds: np.ndarray, arrays: dict[str, np.ndarray]) -> None:
    """Run a stage on parts of arrays of the call: ``work.batch_<name>`` (k, ...)."""
    batch._ask(stage, worlds, {"work.batch_" + name: array for name, array in arrays.items()})
