"""Newton's method with few iterations, as models for reinforcement learning ask for: errors and time ÷ the reference's.

From states along the reference's trajectory, with its warm start, both engines solve with few iterations. The error is
the distance of `qacc` from the engine's own converged solution, relative to its size.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import cardan
from benchmarks.loadable import loadable_files
from benchmarks.timing import save

ITERATIONS = (1, 2, 3, 5)
LINE_SEARCH = (4, 6, 8, 10)
STATES = 8
STEPS_BETWEEN = 10
LARGEST = 120  # degrees of freedom
FLOOR = 1e-8  # an error below it counts as none
INPUTS = ("qpos", "qvel", "act", "ctrl", "mocap_pos", "mocap_quat", "qfrc_applied", "qacc_warmstart")


def set_solver(m: Any, iterations: int, line_search: int, tolerance: float, line_tolerance: float) -> None:
    """Settings of the solver of either engine."""
    m.opt.iterations, m.opt.ls_iterations = iterations, line_search
    m.opt.tolerance, m.opt.ls_tolerance = tolerance, line_tolerance


def states(m: Any, d: Any, iterations: int) -> Iterator[np.ndarray]:
    """Bring `d` into states with constraints along a trajectory with random inputs; yields the warm starts."""
    rng = np.random.default_rng(3)
    mujoco.mj_resetData(m, d)
    found = 0
    for k in range(20 * STATES):
        if k % STEPS_BETWEEN == 0:
            d.ctrl[:] = rng.uniform(-1, 1, m.nu) if m.nu else 0
            d.qfrc_applied[:] = 0 if m.nu else 0.3 * rng.standard_normal(m.nv)
        if k % STEPS_BETWEEN == STEPS_BETWEEN - 1 and d.nefc and found < STATES:
            found += 1
            warmstart = d.qacc_warmstart.copy()
            yield warmstart
            d.qacc_warmstart[:] = warmstart
        set_solver(m, iterations, max(LINE_SEARCH), 1e-8, 0.01)
        mujoco.mj_step(m, d)


def solve(engine: Any, m: Any, d: Any, warmstart: np.ndarray) -> tuple[np.ndarray, float]:
    """The acceleration that the solver finds, and its processor seconds."""
    d.qacc_warmstart[:] = warmstart
    start = time.thread_time()
    engine.mj_fwdConstraint(m, d)
    return np.array(d.qacc), time.thread_time() - start


def errors(engine: Any, m: Any, d: Any, warmstart: np.ndarray, iterations: int) -> tuple[np.ndarray, float]:
    """Relative errors in the present state, one for each limit of the line search, and the seconds of all."""
    engine.mj_forward(m, d)
    set_solver(m, 300, 50, 0.0, 1e-10)
    best, _ = solve(engine, m, d, warmstart)
    best, _ = solve(engine, m, d, best)
    found, seconds = [], 0.0
    for limit in LINE_SEARCH:
        set_solver(m, iterations, limit, 1e-8, 0.01)
        qacc, _ = solve(engine, m, d, warmstart)
        spent = min(solve(engine, m, d, warmstart)[1] for _ in range(3))
        found.append(float(np.linalg.norm(qacc - best)) / max(1.0, float(np.linalg.norm(best))))
        seconds += spent
    return np.array(found), seconds


def compare(path: Path, iterations: int) -> tuple[float, float, float, float] | None:
    """Mean errors and seconds of Cardan and of the reference on a model; None where it has no constraints."""
    theirs = mujoco.MjModel.from_xml_path(str(path))
    ours = cardan.MjModel.from_xml_path(str(path))
    their_data, our_data = mujoco.MjData(theirs), cardan.MjData(ours)
    rows = []
    for warmstart in states(theirs, their_data, iterations):
        for name in INPUTS:
            getattr(our_data, name)[:] = getattr(their_data, name)
        a, our_seconds = errors(cardan, ours, our_data, warmstart, iterations)
        b, their_seconds = errors(mujoco, theirs, their_data, warmstart, iterations)
        rows.append((a.mean(), b.mean(), our_seconds, their_seconds))
    return tuple(np.mean(rows, axis=0)) if rows else None


def is_chosen(m: Any) -> bool:
    """Whether Newton's method solves a model of moderate size whose smooth forces are the same in both engines.

    The reference's moments of slider-cranks grow with every call (docs/differences.md).
    """
    newton = m.opt.solver == mujoco.mjtSolver.mjSOL_NEWTON and not m.nflex
    return newton and 0 < m.nv <= LARGEST and mujoco.mjtTrn.mjTRN_SLIDERCRANK not in m.actuator_trntype


def chosen() -> Iterator[Path]:
    """The shared models that are compared."""
    for path in loadable_files():
        if is_chosen(mujoco.MjModel.from_xml_path(str(path))):
            yield path


def summary(rows: list[tuple[float, float, float, float]]) -> dict[str, float]:
    """What the table says about one number of iterations."""
    ratios = [math.log(max(a, FLOOR) / max(b, FLOOR)) for a, b, _, _ in rows]
    return {
        "error": math.exp(statistics.mean(ratios)),
        "worst": math.exp(max(ratios)),
        "larger": sum(ratio > math.log(1.005) for ratio in ratios),
        "models": len(rows),
        "time": statistics.median(a / b for _, _, a, b in rows),
    }


def main() -> None:
    """Print and save the table."""
    print(
        "Newton's method with few iterations ÷ the reference: errors (geometric mean over models), time of the solver"
    )
    paths, table = list(chosen()), {}
    for iterations in ITERATIONS:
        rows = []
        for path in paths:
            try:
                row = compare(path, iterations)
            except (ValueError, mujoco.FatalError) as error:
                print(f"  {path.name}: {error}")
                continue
            if row is not None:
                rows.append(row)
                if row[0] > max(1.005 * row[1], FLOOR):
                    print(f"  {iterations} iterations, {path.name}: {row[0]:.2e} against {row[1]:.2e}")
        table[f"{iterations} iterations"] = summary(rows)
        print(f"  {iterations}: {table[f'{iterations} iterations']}")
    save("unconverged", table)


if __name__ == "__main__":
    main()
