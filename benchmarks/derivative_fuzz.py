"""Random states of random and shared models: whether derivatives of steps are finite wherever the step is."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np

import cardan
from benchmarks.derivative_accuracy import PATHS
from benchmarks.timing import save

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
from models_random import Features, random_model

STATES = 100_000
MODELS = 12
"""Random models, each of which compiles tangents of its own; the shared models take half of the states."""


def randomise(m: cardan.MjModel, d: cardan.MjData, rng: np.random.Generator) -> None:
    """A state between the initial one at rest, where many formulas are singular, and a wild one."""
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


def try_states(m: cardan.MjModel, count: int, rng: np.random.Generator, what: str) -> Counter[str]:
    """Jacobians of random states of one model; counts those that are finite, not finite, and of no finite step."""
    nx, ns = 2 * m.nv + m.na, m.nsensordata
    A, B, C, D = (np.zeros(shape) for shape in ((nx, nx), (nx, m.nu), (ns, nx), (ns, m.nu)))
    d, e = cardan.MjData(m), cardan.MjData(m)
    counts: Counter[str] = Counter(models=1)
    for k in range(count):
        randomise(m, d, rng)
        if not is_finite_step(m, d, e):
            counts["left out"] += 1
            continue
        cardan.mjd_transition(m, d, A, B, C if ns else None, D if ns else None)
        counts["states"] += 1
        counts["in contact"] += e.ncon > 0
        if not all(np.isfinite(x).all() for x in (A, B, C, D)):
            counts["not finite"] += 1
            if counts["not finite"] < 3:
                print(f"    {what}: state {k} has derivatives that are not finite", flush=True)
    return counts


def main(states: int = STATES) -> None:
    """Print and save the counts."""
    rng = np.random.default_rng(1)
    rows: dict[str, Counter[str]] = {}
    for name, path in PATHS.items():
        m = cardan.MjModel.from_xml_path(str(path))
        rows[name] = try_states(m, states // 2 // len(PATHS), rng, name)
        keep(rows)
    rows["random models"] = Counter()
    for seed in range(MODELS):
        m = cardan.MjModel.from_xml_string(random_model(seed, Features()))
        rows["random models"] += try_states(m, states // 2 // MODELS, rng, f"random model {seed}")
        keep(rows)


def keep(rows: dict[str, Counter[str]]) -> None:
    """Print the last row, and save all of them."""
    name = list(rows)[-1]
    print(name, dict(rows[name]), flush=True)
    keys = ("models", "states", "in contact", "left out", "not finite")
    save("derivative_fuzz", {name: {key: float(counts[key]) for key in keys} for name, counts in rows.items()})


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else STATES)
