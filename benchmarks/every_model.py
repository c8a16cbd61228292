"""Time of a step of all shared rigid models ÷ the reference's in the same process, and ÷ its newest release.

Rows by ratio to the reference, the largest first. Bars: no ratio above 1, a median of 0.6.
"""

from __future__ import annotations

import statistics
import time
import warnings
from pathlib import Path
from typing import Any

import mujoco

import cardan
from benchmarks.loadable import loadable
from benchmarks.newest import Worker
from benchmarks.scenes import Scene, State, set_state, settled_state
from benchmarks.stepping import compare
from benchmarks.timing import paired_ratio, save, steps_seconds

SETTLE = 150
MOST_STEPS, RUN = 2000, 0.02
"""Steps of a timed run at most, and about how many seconds it takes."""
MOST_SETTLING = 5.0
"""Seconds that a model may take to settle; slower ones settle for less steps."""


def scene_of(name: str, path: Path, model: Any) -> Scene:
    """How long a model settles, and is timed."""
    data = mujoco.MjData(model)
    start = time.thread_time()
    for _ in range(5):
        mujoco.mj_step(model, data)
    step = (time.thread_time() - start) / 5
    return Scene(name, path, settle=min(SETTLE, int(MOST_SETTLING / step)), steps=int(min(MOST_STEPS, RUN / step)) + 1)


def measure(scene: Scene, reference_model: Any) -> dict[str, float]:
    """Paired timing of one model against both engines."""
    model = cardan.MjModel.from_xml_path(str(scene.path))
    state = settled_state(mujoco, reference_model, scene)
    data = cardan.MjData(model)

    def ours() -> float:
        set_state(data, state)
        return steps_seconds(cardan, model, data, scene.steps)

    row = compare(model, reference_model, state, scene.steps, 7)
    newest = against_newest(scene, state, ours)
    return row | ({"newest": newest} if newest else {})


def against_newest(scene: Scene, state: State, ours: Any) -> float | None:
    """Ratio to the newest engine; None if it doesn't load the model, or has other coordinates in it."""
    try:
        worker = Worker(scene.path, state)
    except ValueError:  # no answer
        return None
    try:
        worker.seconds(scene.steps)
        return paired_ratio(ours, lambda: worker.seconds(scene.steps), 7)["ratio"]
    except (ValueError, BrokenPipeError):
        return None
    finally:
        worker.close()


def main() -> None:
    """Print and save the table."""
    warnings.simplefilter("ignore")
    rows = {}
    for name, path in loadable().items():
        model = mujoco.MjModel.from_xml_path(str(path))
        if model.nv == 0 or model.nflex or model.nplugin:
            continue
        row = rows[name] = measure(scene_of(name, path, model), model)
        print(
            f"  {name:60s} {row['ratio']:5.2f}  ({row['ratio_low']:.2f}..{row['ratio_high']:.2f})"
            f"  {row['us_per_step']:8.1f} us  newest {row.get('newest', float('nan')):.2f}",
            flush=True,
        )
    rows = dict(sorted(rows.items(), key=lambda row: -row[1]["ratio"]))
    medians: dict[str, float] = {"ratio": statistics.median(row["ratio"] for row in rows.values())}
    medians["newest"] = statistics.median(row["newest"] for row in rows.values() if "newest" in row)
    print(f"  median {medians['ratio']:.2f}, against the newest {medians['newest']:.2f}")
    save("every_model", {"median": medians} | rows)


if __name__ == "__main__":
    main()
