"""User functions in collision detection: filter of pairs, collision functions (spec: programming, callbacks).

The filter is a function of model, data and two geoms. If it returns a number other than 0, the geoms do not collide. A
collision function is a function of model, data, two geoms and the margin. A compiled one writes contacts with
`put_contact` and returns their number. A Python one returns the contacts: `MjContact` objects, of which distance,
position and frame are used, or tuples of distance, position and normal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cardan.collision.contact import MAXCONPAIR
from cardan.collision.contact import put_contact as put_row
from cardan.jit import kernel
from cardan.model import internals
from cardan.model.kernel_views import Data, Model
from cardan.model.mjdata import MjContact

Adapter = Callable[[Callable[..., Any]], Callable[..., Any]]


@kernel
def put_contact(d: Data, k: int, dist: float, pos: Any, normal: Any) -> None:
    """Write contact `k` of the pair of a compiled collision function; contacts from number 50 on are ignored.

    Args:
        d: data.
        k: number of the contact, from 0.
        dist: distance between the surfaces, negative if they penetrate, m.
        pos: point midway between the surfaces, world frame, m.
        normal: unit vector from the first to the second geom, world frame.
    """
    if 0 <= k < MAXCONPAIR:
        put_row(d, k, dist, pos, normal)


def _native_filter(function: Callable[..., Any]) -> Callable[..., Any]:
    kernel(function)

    def contactfilter(m: Model, d: Data, geom1: int, geom2: int) -> int:
        return 1 if function(m, d, geom1, geom2) else 0

    return contactfilter


def _python_filter(function: Callable[..., Any]) -> Callable[..., Any]:
    def contactfilter(m: Any, d: Any, geom1: int, geom2: int) -> int:
        verdict = function(m, d, geom1, geom2)
        if not isinstance(verdict, int | np.integer):
            raise TypeError("mjcb_contactfilter callback did not return an integer")
        return int(verdict != 0)

    return contactfilter


def _native_collider(function: Callable[..., Any]) -> Callable[..., Any]:
    kernel(function)

    def own_collider(m: Model, d: Data, geom1: int, geom2: int) -> int:
        count = function(m, d, geom1, geom2, d.work.near_margin)
        return min(max(count, 0), MAXCONPAIR)

    return own_collider


def _python_collider(function: Callable[..., Any]) -> Callable[..., Any]:
    def own_collider(m: Any, d: Any, geom1: int, geom2: int) -> int:
        margin = internals.number(d, "work.near_margin")
        contacts = list(function(m, d, geom1, geom2, margin) or ())
        if len(contacts) > MAXCONPAIR:
            raise ValueError(f"a collision function returned {len(contacts)} contacts; at most {MAXCONPAIR} can be")
        arrays = internals.memory(d).arrays
        for k, contact in enumerate(contacts):
            dist, pos, frame = _parts(contact)
            arrays["work.near_dist"][k] = dist
            arrays["work.near_pos"][k] = pos
            arrays["work.near_frame"][k] = frame
        return len(contacts)

    return own_collider


def _parts(contact: Any) -> tuple[float, np.ndarray, np.ndarray]:
    """Return distance, position and frame of a contact that a Python function returned.

    Raises:
        TypeError: it is not a contact.
        ValueError: it has wrong shapes, numbers that are not finite, or a normal of no length.
    """
    if isinstance(contact, MjContact):
        contact = contact.dist, contact.pos, contact.frame[:3], contact.frame[3:6]
    try:
        dist, pos, normal, *tangent = (np.asarray(part, float) for part in contact)
    except TypeError:
        raise TypeError("a collision function must return MjContact objects or tuples (dist, pos, normal)") from None
    shapes = dist.shape, pos.shape, normal.shape
    if shapes != ((), (3,), (3,)) or not all(np.isfinite(part).all() for part in (dist, pos, normal)):
        raise ValueError("a collision function must return a finite distance, position (3,) and normal (3,)")
    return float(dist), pos, _frame(normal, *tangent)


def _frame(normal: np.ndarray, tangent: np.ndarray | None = None) -> np.ndarray:
    """Return the frame (9,) of a contact: its normal, a tangent perpendicular to it, and the third axis."""
    length = np.linalg.norm(normal)
    if length == 0.0:
        raise ValueError("a collision function returned a normal of no length")
    x = normal / length
    y = np.zeros(3) if tangent is None else tangent - x * (x @ tangent)
    if np.linalg.norm(y) < 0.5:
        y = np.array((0.0, 1.0, 0.0) if -0.5 < x[1] < 0.5 else (0.0, 0.0, 1.0))
        y -= x * (x @ y)
    y /= np.linalg.norm(y)
    return np.concatenate([x, y, np.cross(x, y)])


# place: conversions of a compiled and of a Python function to a function of (m, d, geom1, geom2)
ADAPTERS: dict[str, tuple[Adapter, Adapter]] = {
    "contactfilter": (_native_filter, _python_filter),
    "collider": (_native_collider, _python_collider),
}
