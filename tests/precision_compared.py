"""Single precision against double: how far fields and contacts are apart, and how far they may be.

Single precision can't tell states apart that differ by its rounding. So what double precision gives for a state moved
by that much, at random, says how far a right answer can be from another one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import cardan

SMOOTH = (
    *("xpos", "xquat", "geom_xpos", "geom_xmat", "site_xpos", "subtree_com", "cinert", "cdof", "ten_length", "ten_J"),
    *("actuator_length", "actuator_moment", "qM", "qLD", "cvel", "qfrc_bias", "qfrc_passive", "qfrc_actuator"),
    *("qfrc_smooth", "qacc_smooth", "flexvert_xpos"),
)
"""Fields that don't depend on contacts."""
TOLERANCE = 1e-4
ROUNDING = 2.0**-23
TRIES = 4
ROOM = 10.0
"""How much farther from a right answer an error may be than the random moves of the state lead."""

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


def moved(m: cardan.MjModel, d: cardan.MjData, rng: np.random.Generator) -> cardan.MjData:
    """The forward dynamics of a state moved by the rounding of single precision."""
    new = cardan.MjData(m)
    new.qpos[:], new.qvel[:], new.act[:], new.ctrl[:] = d.qpos, d.qvel, d.act, d.ctrl
    size = ROUNDING * max(1.0, float(np.abs(d.qpos).max(initial=0.0)))
    cardan.mj_integratePos(m, new.qpos, size * rng.standard_normal(m.nv), 1.0)
    new.qvel[:] *= 1.0 + ROUNDING * rng.standard_normal(m.nv)
    cardan.mj_forward(m, new)
    return new


def states(m: cardan.MjModel, seed: int = 0) -> Iterator[tuple[cardan.MjData, cardan.MjData]]:
    """A few states along a motion, as single and as double precision see them; both can hold them exactly."""
    single, double = cardan.Batch(m, 1, dtype="float32"), cardan.Batch(m, 1)
    rng = np.random.default_rng(seed)
    for k in range(3):
        if k == 0 and m.nkey:
            double.reset(keyframe=0)
        if k:
            double.qvel[:] += 0.05 * rng.standard_normal((1, m.nv))
            double.ctrl[:] = rng.uniform(-0.5, 0.5, (1, m.nu))
        single.state[:] = double.state
        double.state[:] = single.state
        single.forward()
        double.forward()
        yield single.data(0), double.get_data(0)
        double.step(20)


def too_far(m: cardan.MjModel) -> list[str]:
    """Smooth fields, and contacts that exist in both precisions, that are farther apart than they may be."""
    found = []
    rng = np.random.default_rng(1)
    for k, (single, double) in enumerate(states(m)):
        others = [moved(m, double, rng) for _ in range(TRIES)]
        for name in SMOOTH:
            value = getattr(double, name)
            error = apart(getattr(single, name), value)
            if not error <= max(TOLERANCE, ROOM * max(apart(getattr(other, name), value) for other in others)):
                found.append(f"state {k}, {name}: {error:.1e}")
        near = contacts_of(double)
        ties = [contacts_apart(contacts_of(other), near) for other in others]
        for pair, error in contacts_apart(contacts_of(single), near).items():
            if not error <= max(TOLERANCE, ROOM * max(tie.get(pair, np.inf) for tie in ties)):
                found.append(f"state {k}, contacts of geoms {pair}: {error:.1e}")
    return found
