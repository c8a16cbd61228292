"""Elastic models over 20 s beside the reference: do they keep their shape as well as there?

*drift* is the root mean square of the relative change of the distances between neighbouring bodies, since the start.
How far both engines are from each other in the end is compared with how far the reference is from itself when its start
is moved by 1e-10: what collides or folds amplifies rounding, and goes its own way in any two runs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import cardan
from benchmarks.scenes import ELASTIC, SOFT
from benchmarks.timing import save

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests"))

from reference import roomy_model  # noqa: E402

DURATION, MOVED, NEIGHBOURS = 20.0, 1e-10, 3


def neighbours(start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of bodies that are nearest to each other at the start; positions (nbody, 3)."""
    apart = np.linalg.norm(start[:, None] - start[None], axis=2)
    apart[apart < 1e-9] = np.inf
    nearest = np.argsort(apart, axis=1)[:, :NEIGHBOURS]
    return np.repeat(np.arange(len(start)), nearest.shape[1]), nearest.ravel()


def run(engine: Any, m: Any, moved: float) -> tuple[np.ndarray, float]:
    """Positions of the bodies after a run, and the largest speed."""
    d = engine.MjData(m)
    d.qvel[:] = moved * np.random.default_rng(0).standard_normal(m.nv)
    engine.mj_step(m, d, round(DURATION / m.opt.timestep))
    return np.array(d.xpos)[1:], float(np.abs(d.qvel).max(initial=0))


def drift(start: np.ndarray, end: np.ndarray) -> float:
    """Root mean square of the relative change of distances between neighbours."""
    first, second = neighbours(start)
    before, after = (np.linalg.norm(place[first] - place[second], axis=1) for place in (start, end))
    return float(np.sqrt(np.mean((after / before - 1.0) ** 2)))


def row_of(name: str) -> dict[str, float]:
    """A model's row of the table."""
    rm, m = roomy_model(SOFT[name]), cardan.MjModel.from_xml_path(str(SOFT[name]))
    rd = mujoco.MjData(rm)
    mujoco.mj_kinematics(rm, rd)
    start = np.array(rd.xpos)[1:]
    (there, fast), (here, speed) = run(mujoco, rm, 0.0), run(cardan, m, 0.0)
    again, _ = run(mujoco, rm, MOVED)
    return {
        "drift": drift(start, here),
        "drift_reference": drift(start, there),
        "apart": float(np.abs(here - there).max()),
        "apart_moved": float(np.abs(again - there).max()),
        "speed": speed,
        "speed_reference": fast,
    }


def main() -> None:
    """Print, save and document the table."""
    rows = {}
    for name in ELASTIC:
        rows[name] = row_of(name)
        print(name, *(f"{key} {value:.2g}" for key, value in rows[name].items()), flush=True)
    save("long_runs", rows)


if __name__ == "__main__":
    main()
