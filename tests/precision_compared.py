"""Single precision against double: how far fields and contacts are apart, and how far they may be.

Both compute from the same numbers: state and model are rounded to single precision before. Single precision can't tell
states apart that differ by its rounding. So what double precision gives for a state moved by that much, at random, says
how far a right answer can be from another one. Accelerations are as uncertain as the inertia matrix is
ill-conditioned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import NamedTuple

import numpy as np

import cardan
from cardan.batch import Batch
from cardan.jit.front.stage import SINGLE, Form
from cardan.model.mjdata import model_in

SMOOTH = (
    *("xpos", "xquat", "geom_xpos", "geom_xmat", "site_xpos", "subtree_com", "cinert", "cdof", "ten_length", "ten_J"),
    *("actuator_length", "actuator_moment", "qM", "qLD", "cvel", "qfrc_bias", "qfrc_passive", "qfrc_actuator"),
    *("qfrc_smooth", "qacc_smooth", "flexvert_xpos"),
)
"""Fields that don't depend on contacts."""
TOLERANCE = 1e-4
ROUNDING = 2.0**-24
"""Of a number in single precision, at most, relative to it."""
TRIES = 4
ROOM = 10.0
"""How much farther from a right answer an error may be than the random moves of the state lead."""
THROUGH_INERTIA = ("qLD", "qacc_smooth")
"""Fields whose errors are the condition number of the inertia matrix times those of its elements."""

Contacts = dict[tuple[int, ...], np.ndarray]


def apart(first: np.ndarray, second: np.ndarray) -> float:
    """Largest distance of numbers, relative to the largest of the second where that is more than 1."""
    if not second.size:
        return 0.0
    return float(np.abs(first - second).max() / max(1.0, np.abs(second).max()))


def contacts_of(d: cardan.MjData) -> Contacts:
    """Distance, position and normal of the contacts of each pair of geoms."""
    rows = np.column_stack([d.contact.dist, d.contact.pos, d.contact.frame[:, :3]])
    pairs = d.contact.geom
    return {tuple(pair): rows[(pairs == pair).all(axis=1)] for pair in np.unique(pairs, axis=0)} if d.ncon else {}


def contacts_apart(first: Contacts, second: Contacts) -> dict[tuple[int, ...], float]:
    """How far the contacts of those pairs are apart that have the same number of them, each to the nearest."""
    common = [pair for pair in second if pair in first and len(first[pair]) == len(second[pair])]
    return {
        pair: float(np.abs(first[pair][:, None] - second[pair][None]).max(axis=-1).min(axis=0).max()) for pair in common
    }


def rounded(m: cardan.MjModel) -> cardan.MjModel:
    """A copy of a model, in double precision, with the numbers that it has in single precision."""
    new = copy(m)
    single = model_in(Form(precision=SINGLE), m)._memory
    for memory, own in ((single.arrays, new._memory.arrays), (single.scalars, new._memory.scalars)):
        for name, values in memory.items():
            if values.dtype == np.float32:
                own[name][...] = values
    return new


class Seen(NamedTuple):
    """A state, as both precisions see it.

    Attributes:
        single: the forward dynamics in single precision.
        double: in double precision, from the same numbers.
        others: in double precision, from numbers that are moved by the rounding of single precision.
    """

    single: cardan.MjData
    double: cardan.MjData
    others: Sequence[cardan.MjData]


def _move(m: cardan.MjModel, batch: Batch, rng: np.random.Generator) -> None:
    """Move the states of all worlds at random by the rounding of single precision."""
    for qpos in batch.qpos:
        size = ROUNDING * max(1.0, float(np.abs(qpos).max(initial=0.0)))
        cardan.mj_integratePos(m, qpos, size * rng.uniform(-1, 1, m.nv), 1.0)
    batch.qvel[:] *= 1.0 + ROUNDING * rng.uniform(-1, 1, batch.qvel.shape)


def states(m: cardan.MjModel, seed: int = 0) -> Iterator[Seen]:
    """A few states along a motion; all that look at them see the same ones before (some plugins remember)."""
    exact = rounded(m)
    single, double = Batch(m, 1, 1, dtype="float32"), Batch(exact, 1, 1)
    others, motion = Batch(exact, TRIES, 1), Batch(exact, 1, 1)
    rng = np.random.default_rng(seed)
    for k in range(3):
        if k == 0 and m.nkey:
            motion.reset(keyframe=0)
        if k:
            motion.qvel[:] += 0.05 * rng.standard_normal((1, m.nv))
            motion.ctrl[:] = rng.uniform(-0.5, 0.5, (1, m.nu))
        single.state[:] = motion.state
        for batch in (motion, double, others):
            batch.state[:] = single.state
        _move(exact, others, rng)
        for batch in (single, double, others):
            batch.forward()
        yield Seen(single.data(0), double.get_data(0), [others.get_data(i) for i in range(TRIES)])
        motion.step(20)


def inertia_error(m: cardan.MjModel, d: cardan.MjData) -> float:
    """Relative error of accelerations when elements of the inertia matrix are rounded: its condition number / 2^24."""
    full = np.zeros((m.nv, m.nv))
    cardan.mj_fullM(m, full, d.qM)
    eigenvalues = np.linalg.eigvalsh(full)
    return ROUNDING * float(eigenvalues[-1] / max(eigenvalues[0], 1e-300))


class Error(NamedTuple):
    """How far a field, or the contacts of a pair, are apart in the two precisions.

    Attributes:
        where: state and field, or geoms.
        size: the distance.
        explained: the distance that rounding of the state, or of the inertia matrix, makes in double precision.
    """

    where: str
    size: float
    explained: float


def field_errors(m: cardan.MjModel, seen: Seen) -> Iterator[Error]:
    """The errors of all smooth fields in a state."""
    for name in SMOOTH:
        value = getattr(seen.double, name)
        size = apart(getattr(seen.single, name), value)
        explained = max(apart(getattr(other, name), value) for other in seen.others)
        if not size <= TOLERANCE and name in THROUGH_INERTIA:
            explained = max(explained, inertia_error(m, seen.double))
        yield Error(name, size, explained)


def contact_errors(seen: Seen) -> Iterator[Error]:
    """The errors of the contacts of all pairs that have as many of them in both precisions."""
    near = contacts_of(seen.double)
    ties = [contacts_apart(contacts_of(other), near) for other in seen.others]
    for pair, size in contacts_apart(contacts_of(seen.single), near).items():
        yield Error(str(tuple(map(int, pair))), size, max(tie.get(pair, np.inf) for tie in ties))


def too_far(m: cardan.MjModel) -> list[str]:
    """Smooth fields, and contacts that exist in both precisions, that are farther apart than they may be."""
    return [
        f"state {k}, {error.where}: {error.size:.1e}, explained {error.explained:.1e}"
        for k, seen in enumerate(states(m))
        for error in (*field_errors(m, seen), *contact_errors(seen))
        if not error.size <= max(TOLERANCE, ROOM * error.explained)
    ]
