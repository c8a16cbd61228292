"""Data of the profiler: times of stages, the solver's work and its convergence, sizes."""

from __future__ import annotations

import time

import numpy as np

from cardan.api.callbacks import get_callback, set_callback
from cardan.enums import mjtTimer
from cardan.model import MjData, MjModel

STAGES = {
    "step": "STEP",
    "kinematics": "POS_KINEMATICS",
    "inertia": "POS_INERTIA",
    "collision": "POS_COLLISION",
    "make constraints": "POS_MAKE",
    "project": "POS_PROJECT",
    "velocity": "VELOCITY",
    "actuation": "ACTUATION",
    "solver": "CONSTRAINT",
    "advance": "ADVANCE",
}
"""Displayed timers, by their titles."""
TIMERS = [getattr(mjtTimer, f"mjTIMER_{name}").value for name in STAGES.values()]
SOLVER = ("iterations", "evaluations", "rows", "active rows", "contacts")
CONVERGENCE = ("improvement", "gradient", "line slope")
SMALLEST = 1e-15


def _clock() -> float:
    """Return the time in microseconds."""
    return 1e6 * time.perf_counter()


class Profile:
    """Durations between two readings of a data. The clock is installed for one model, and only while it is needed."""

    def __init__(self) -> None:
        self._model: MjModel | None = None
        self._last: tuple[np.ndarray, np.ndarray] | None = None

    def watch(self, m: MjModel, on: bool) -> None:
        """Install the clock, unless the user has installed one, or remove it."""
        if on and get_callback(m, "time") is None:
            set_callback(m, "time", _clock)
            self._model, self._last = m, None
        elif not on:
            self.stop()

    def stop(self) -> None:
        """Remove the clock."""
        if self._model is not None:
            set_callback(self._model, "time", None)
            self._model = None

    def durations(self, d: MjData) -> np.ndarray:
        """Time of each stage of `STAGES` per step since the last call, microseconds; 0 if it did not run."""
        total = np.array([float(d.timer[k].duration) for k in TIMERS])
        count = np.array([int(d.timer[k].number) for k in TIMERS])
        before, self._last = self._last, (total, count)
        if before is None or (count < before[1]).any():
            return np.zeros(len(TIMERS))
        steps = max(int(count[0] - before[1][0]), 1)
        return (total - before[0]) / steps


def solver_work(d: MjData) -> np.ndarray:
    """The numbers named in `SOLVER`, for the last step."""
    count = int(d.solver_niter[0])
    last = d.solver[min(count, len(d.solver)) - 1] if count else None
    evaluations = sum(int(d.solver[k].neval) for k in range(min(count, len(d.solver))))
    return np.array([count, evaluations, d.nefc, int(last.nactive) if last is not None else 0, d.ncon], float)


def convergence(d: MjData) -> tuple[np.ndarray, ...]:
    """Numbers of the last step's iterations, and for each the quantities named in `CONVERGENCE`, as log10."""
    count = min(int(d.solver_niter[0]), len(d.solver))
    rows = [(d.solver[k].improvement, d.solver[k].gradient, d.solver[k].lineslope) for k in range(count)]
    values = np.log10(np.maximum(np.array(rows or [(0.0, 0.0, 0.0)]), SMALLEST))
    if len(values) == 1:
        values = np.repeat(values, 2, axis=0)
    return (np.arange(len(values), dtype=float), *(np.ascontiguousarray(values[:, k]) for k in range(3)))
