"""Memory of an MjData ÷ the reference engine's (resident bytes of many instances after steps with contacts)."""

from __future__ import annotations

import gc
import importlib
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import mujoco
import psutil

from benchmarks.scenes import SCENES, Scene, set_state, settled_state
from benchmarks.timing import save

INSTANCES = {"humanoid": 100, "22_humanoids": 10}


def resident() -> int:
    """Resident bytes of this process."""
    gc.collect()
    return psutil.Process().memory_info().rss


def bytes_per_instance(name: str, scene: Scene, state: object) -> float:
    """Growth of the process for one data object that has made a step."""
    engine = importlib.import_module(name)
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


def in_new_process(name: str, scene: Scene, state: object) -> float:
    """`bytes_per_instance` in a process of its own: memory freed by earlier work would be used again unseen."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(bytes_per_instance, name, scene, state).result()


def main() -> None:
    """Print and save the table."""
    print("memory of an MjData / reference (resident)")
    rows = {}
    for scene in SCENES:
        state = settled_state(mujoco, mujoco.MjModel.from_xml_path(str(scene.path)), scene)
        ours, theirs = (in_new_process(name, scene, state) for name in ("cardan", "mujoco"))
        rows[scene.name] = {"ratio": ours / theirs, "ours": ours, "reference": theirs}
        print(f"  {scene.name:16s} {ours / theirs:.2f}  {ours / 1024:.0f} KiB / {theirs / 1024:.0f} KiB")
    save("memory", rows)


if __name__ == "__main__":
    main()
