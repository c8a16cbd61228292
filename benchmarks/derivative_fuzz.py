"""Whether derivatives of steps are finite wherever the step is: 100,000 states of shared and of random models.

States lie between rest, where many formulas are singular, and wild ones. Among them are those at edges: contacts at
depth 0, axes that are parallel, joints and tendons at their limits, controls and activations at the ends of their
ranges, activations that equal their controls.

`python -m benchmarks.derivative_fuzz 2000` takes fewer states, and saves nothing.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import cardan
from benchmarks.derivative_accuracy import PATHS, exact_jacobian
from benchmarks.models import muscle_arm
from benchmarks.timing import save
from cardan.enums import mjtJoint

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
from derive.pairs import PAIRS, scene
from models_random import Features, random_model
from models_wide import wide_model

STATES = 100_000
RANDOM_MODELS = 12
"""Random models of each kind; each compiles tangents of its own."""
THREADS = 2
SMALL = 10
"""Dofs beside which those of a model count: large models take fewer of the states, since each takes longer."""
ROUND = np.pi / 4.0


def to_limits(m: cardan.MjModel, d: cardan.MjData, rng: np.random.Generator) -> None:
    """Put about half of the limited joints and tendons, controls and activations at the ends of their ranges."""
    for joint in np.flatnonzero(m.jnt_limited):
        if m.jnt_type[joint] in (mjtJoint.mjJNT_HINGE, mjtJoint.mjJNT_SLIDE) and rng.random() < 0.5:
            d.qpos[m.jnt_qposadr[joint]] = m.jnt_range[joint, rng.integers(2)]
    for actuator in range(m.nu):
        if rng.random() < 0.5:
            d.ctrl[actuator] = m.actuator_ctrlrange[actuator, rng.integers(2)]
        address = m.actuator_actadr[actuator]
        if address >= 0 and rng.random() < 0.5:
            d.act[address] = rng.choice([d.ctrl[actuator], *m.actuator_actrange[actuator]])
    cardan.mj_fwdPosition(m, d)
    for tendon in np.flatnonzero(m.tendon_limited):
        width = np.ptp(m.tendon_range[tendon])
        low = d.ten_length[tendon] - rng.choice([0.0, width])
        m.tendon_range[tendon] = low, low + width


def to_parallels(m: cardan.MjModel, d: cardan.MjData) -> None:
    """Turn hinges to multiples of 45 degrees, and free bodies to the axes of the world."""
    for joint in range(m.njnt):
        address = m.jnt_qposadr[joint]
        if m.jnt_type[joint] == mjtJoint.mjJNT_HINGE:
            d.qpos[address] = ROUND * round(d.qpos[address] / ROUND)
        elif m.jnt_type[joint] == mjtJoint.mjJNT_BALL:
            d.qpos[address : address + 4] = 1.0, 0.0, 0.0, 0.0
        elif m.jnt_type[joint] == mjtJoint.mjJNT_FREE:
            d.qpos[address + 3 : address + 7] = 1.0, 0.0, 0.0, 0.0


def to_touch(m: cardan.MjModel, d: cardan.MjData, rng: np.random.Generator) -> None:
    """Move a free body that has a contact along its normal until the contact has the depth 0, to rounding."""
    cardan.mj_fwdPosition(m, d)
    if d.ncon == 0:
        return
    contact = int(rng.integers(d.ncon))
    for geom, sign in zip(d.contact.geom[contact], (1.0, -1.0), strict=True):
        joint = m.body_jntadr[m.body_rootid[m.geom_bodyid[geom]]] if geom >= 0 else -1
        if joint >= 0 and m.jnt_type[joint] == mjtJoint.mjJNT_FREE:
            address = m.jnt_qposadr[joint]
            d.qpos[address : address + 3] += sign * d.contact.dist[contact] * d.contact.frame[contact, :3]
            return


def randomise(m: cardan.MjModel, d: cardan.MjData, rng: np.random.Generator) -> None:
    """A state between the initial one at rest and a wild one, or one at an edge."""
    cardan.mj_resetData(m, d)
    if m.nkey and rng.random() < 0.2:
        cardan.mj_resetDataKeyframe(m, d, int(rng.integers(m.nkey)))
    cardan.mj_integratePos(m, d.qpos, rng.standard_normal(m.nv), float(rng.choice([0.0, 1e-9, 0.01, 0.3, 2.0])))
    d.qvel[:] = rng.choice([0.0, 1e-9, 0.1, 1.0, 10.0]) * rng.standard_normal(m.nv)
    d.act[:] = rng.choice([0.0, 1.0]) * rng.uniform(-0.2, 1.2, m.na)
    d.ctrl[:] = rng.choice([0.0, 0.5, 3.0]) * rng.standard_normal(m.nu)
    d.qfrc_applied[:] = rng.choice([0.0, 1.0]) * rng.standard_normal(m.nv)
    if m.nmocap:
        d.mocap_pos[:] += rng.choice([0.0, 0.1]) * rng.standard_normal((m.nmocap, 3))
    if rng.random() < 0.2:
        to_parallels(m, d)
    if rng.random() < 0.2:
        to_limits(m, d, rng)
    if rng.random() < 0.2:
        to_touch(m, d, rng)


def is_finite_step(m: cardan.MjModel, d: cardan.MjData, e: cardan.MjData) -> bool:
    """Whether a step from the state gives finite numbers, without a warning of bad ones."""
    for name in ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "mocap_pos", "mocap_quat"):
        getattr(e, name)[...] = getattr(d, name)
    e.time = 0.0
    e.qacc_warmstart[:] = d.qacc_warmstart
    before = e.warning.number.copy()
    cardan.mj_step(m, e)
    bad = (e.warning.number != before)[4:7].any()  # BADQPOS, BADQVEL, BADQACC
    return not bad and all(np.isfinite(x).all() for x in (e.qpos, e.qvel, e.act, e.sensordata))


@dataclass(frozen=True)
class Source:
    """A model whose states are tried.

    Attributes:
        row: the row of the table that it counts for.
        what: its name.
        load: what gives the model.
    """

    row: str
    what: str
    load: Callable[[], cardan.MjModel]


def sources() -> list[Source]:
    """All models."""
    xml, text = cardan.MjModel.from_xml_path, cardan.MjModel.from_xml_string
    found = [Source(name, name, lambda path=path: xml(str(path))) for name, path in PATHS.items()]
    found.append(Source("wrapping muscles", "wrapping muscles", lambda: text(muscle_arm(3))))
    for seed in range(RANDOM_MODELS):
        found.append(Source("random models", f"random {seed}", lambda seed=seed: text(random_model(seed, Features()))))
        found.append(Source("random models", f"wide {seed}", lambda seed=seed: text(wide_model(seed))))
    for first, second in PAIRS:
        found.append(Source("pairs of geoms", f"{first}-{second}", lambda pair=(first, second): scene(*pair)))
    return found


def try_states(source: Source, count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Jacobians of random states of one model; counts by outcome, and which derivatives are not finite."""
    m = source.load()
    rng = np.random.default_rng(seed)
    d, e = cardan.MjData(m), cardan.MjData(m)
    counts: Counter[str] = Counter(models=1)
    found: list[str] = []
    for k in range(count):
        randomise(m, d, rng)
        if not is_finite_step(m, d, e):
            counts["left out"] += 1
            continue
        counts["states"] += 1
        counts["in contact"] += e.ncon > 0
        if not np.isfinite(exact_jacobian(d)).all():
            counts["not finite"] += 1
            found.append(f"    {source.what}: state {k} has derivatives that are not finite")
    return counts, found


def shares(count: int, models: list[Source]) -> list[int]:
    """How many of `count` states each model takes."""
    weights = np.array([1.0 / (SMALL + source.load().nv) for source in models])
    return np.ceil(count * weights / weights.sum()).astype(int).tolist()


def main(states: int = STATES) -> None:
    """Print the counts, and save those of all states after each model."""
    models = sources()
    order = list(dict.fromkeys(source.row for source in models))
    rows = {name: Counter[str]() for name in order}
    with ThreadPoolExecutor(THREADS) as pool:
        jobs = {
            pool.submit(try_states, source, count, seed): source
            for seed, (source, count) in enumerate(zip(models, shares(states, models), strict=True))
        }
        for job in as_completed(jobs):
            counts, found = job.result()
            print(jobs[job].what, dict(counts), *found[:3], sep="\n", flush=True)
            rows[jobs[job].row] += counts
            if states == STATES:
                keep(rows)


def keep(rows: dict[str, Counter[str]]) -> None:
    """Save the rows that there are."""
    keys = ("models", "states", "in contact", "left out", "not finite")
    whole = {name: {key: float(counts[key]) for key in keys} for name, counts in rows.items() if counts["models"]}
    save("derivative_fuzz", whole)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else STATES)
