"""Time of a step, called from Python on one thread, ÷ the reference engine's in the same process."""

from __future__ import annotations

import statistics
from typing import Any

import mujoco

import cardan
from benchmarks.scenes import MORE_SCENES, SCENES, Scene, State, set_state, settled_state
from benchmarks.timing import PAIRS, paired_ratio, save, steps_seconds


def measure(scene: Scene, options: dict[str, Any] | None = None, pairs: int = PAIRS) -> dict[str, float]:
    """Paired timing of one scene, with some of the model's options changed."""
    reference_model, our_model = scene.load(mujoco), scene.load(cardan)
    state = settled_state(cardan, our_model, scene)
    for name, value in (options or {}).items():
        setattr(reference_model.opt, name, value)
        setattr(our_model.opt, name, value)
    return compare(our_model, reference_model, state, scene.steps, pairs)


def compare(our_model: Any, reference_model: Any, state: State, steps: int, pairs: int = PAIRS) -> dict[str, float]:
    """Paired timing of steps of two models from the same state."""
    reference_data, our_data = mujoco.MjData(reference_model), cardan.MjData(our_model)

    def run(engine: Any, model: Any, data: Any) -> float:
        set_state(data, state)
        return steps_seconds(engine, model, data, steps)

    run(cardan, our_model, our_data)
    result = paired_ratio(
        lambda: run(cardan, our_model, our_data), lambda: run(mujoco, reference_model, reference_data), pairs
    )
    result["us_per_step"] = 1e6 * result["ours"] / steps
    result["us_per_step_reference"] = 1e6 * result["reference"] / steps
    result["contacts"] = our_data.ncon
    result["contacts_reference"] = reference_data.ncon
    return result


def show(name: str, row: dict[str, float]) -> None:
    """Print a row of the table."""
    print(
        f"  {name:28s} {row['ratio']:.2f}  ({row['ratio_low']:.2f}..{row['ratio_high']:.2f}, {row['pairs']} pairs)"
        f"  {row['us_per_step']:.1f} us / {row['us_per_step_reference']:.1f} us"
        f"  contacts {row['contacts']} / {row['contacts_reference']}",
        flush=True,
    )


def main() -> None:
    """Print and save the table."""
    print("time of a step / reference (mujoco", mujoco.__version__ + ", same process, one thread)")
    rows = {}
    for scene in SCENES + MORE_SCENES:
        rows[scene.name] = measure(scene)
        show(scene.name, rows[scene.name])
    print(f"  {'median':28s} {statistics.median(row['ratio'] for row in rows.values()):.2f}")
    save("stepping", rows)


if __name__ == "__main__":
    main()
