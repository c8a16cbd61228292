"""Memory of an MjData ÷ the reference engine's (resident bytes of many instances after steps with contacts)."""

from __future__ import annotations

import gc

import mujoco
import psutil

import cardan
from benchmarks.scenes import SCENES, Scene, set_state, settled_state
from benchmarks.timing import save

INSTANCES = {"humanoid": 100, "22_humanoids": 10}


def resident() -> int:
    """Resident bytes of this process."""
    gc.collect()
    return psutil.Process().memory_info().rss


def bytes_per_instance(engine: object, scene: Scene, state: object) -> float:
    """Growth of the process for one data object that has made a step."""
    model = engine.MjModel.from_xml_path(str(scene.path))
    kept = [engine.MjData(model)]
    engine.mj_step(model, kept[0])
    before = resident()
    for _ in range(INSTANCES[scene.name]):
        data = engine.MjData(model)
        set_state(data, state)
        engine.mj_step(model, data)
        kept.append(data)
    return (resident() - before) / INSTANCES[scene.name]


def main() -> None:
    """Print and save the table."""
    print("memory of an MjData / reference (resident)")
    rows = {}
    for scene in SCENES:
        state = settled_state(mujoco, mujoco.MjModel.from_xml_path(str(scene.path)), scene)
        ours = bytes_per_instance(cardan, scene, state)
        theirs = bytes_per_instance(mujoco, scene, state)
        rows[scene.name] = {"ratio": ours / theirs, "ours": ours, "reference": theirs}
        print(f"  {scene.name:16s} {ours / theirs:.2f}  {ours / 1024:.0f} KiB / {theirs / 1024:.0f} KiB")
    save("memory", rows)


if __name__ == "__main__":
    main()
