"""Time of a step, called from Python on one thread, ÷ the reference engine's in the same process."""

from __future__ import annotations

import mujoco

import cardan
from benchmarks.scenes import SCENES, Scene, set_state, settled_state
from benchmarks.timing import paired_ratio, save, steps_seconds


def measure(scene: Scene) -> dict[str, float]:
    """Paired timing of one scene."""
    reference_model = mujoco.MjModel.from_xml_path(str(scene.path))
    our_model = cardan.MjModel.from_xml_path(str(scene.path))
    reference_data, our_data = mujoco.MjData(reference_model), cardan.MjData(our_model)
    state = settled_state(mujoco, reference_model, scene)

    def run(engine: object, model: object, data: object) -> float:
        set_state(data, state)
        return steps_seconds(engine, model, data, scene.steps)

    run(cardan, our_model, our_data)
    result = paired_ratio(
        lambda: run(cardan, our_model, our_data), lambda: run(mujoco, reference_model, reference_data)
    )
    result["us_per_step"] = 1e6 * result["ours"] / scene.steps
    result["us_per_step_reference"] = 1e6 * result["reference"] / scene.steps
    result["contacts"] = our_data.ncon
    result["contacts_reference"] = reference_data.ncon
    return result


def main() -> None:
    """Print and save the table."""
    print("time of a step / reference (mujoco", mujoco.__version__ + ", same process, one thread)")
    rows = {}
    for scene in SCENES:
        row = rows[scene.name] = measure(scene)
        low, high = row["ratio_low"], row["ratio_high"]
        print(
            f"  {scene.name:16s} {row['ratio']:.2f}  ({low:.2f}..{high:.2f}, {row['pairs']} pairs)"
            f"  {row['us_per_step']:.1f} us / {row['us_per_step_reference']:.1f} us"
            f"  contacts {row['contacts']} / {row['contacts_reference']}"
        )
    save("stepping", rows)


if __name__ == "__main__":
    main()
