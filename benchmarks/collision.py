"""Time of `mj_collision` along a motion of real robots with meshes ÷ the reference's; bar: 0.5.

The reference makes the steps; each of its states is given to both engines, which take turns in going first. A row is
the median over the steps.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

import mujoco

import cardan
from benchmarks.scenes import model_files
from benchmarks.timing import Rows, save

ROBOTS = {
    "yumi": "yumi/robot.xml",
    "leap_hand": "leap_hand/scene_right.xml",
    "mini_cheetah": "mini_cheetah/scene_slope.xml",
    "aloha": "bimanual_viperx_end_effector_insertion.xml",
    "talos": "talos_reduced.mj.urdf",
    "booster_t1": "booster_t1/scene.xml",
    "barkour": "google_barkour_vb/scene.xml",
    "robotiq": "robotiq_2f85_v4/scene.xml",
    "fetch": "fetch/pick_and_place.xml",
    "manipulate_egg": "hand/manipulate_egg.xml",
}
STEPS, MOST_SECONDS = 300, 20.0


def collision_seconds(engine: Any, model: Any, data: Any, qpos: Any) -> float:
    """Time of one detection in a configuration."""
    data.qpos[:] = qpos
    engine.mj_kinematics(model, data)
    engine.mj_comPos(model, data)
    start = time.perf_counter()
    engine.mj_collision(model, data)
    return time.perf_counter() - start


def measure(path: Path) -> dict[str, float]:
    """Median over the steps of a motion from rest."""
    model, reference = cardan.MjModel.from_xml_path(str(path)), mujoco.MjModel.from_xml_path(str(path))
    data, moving, still = cardan.MjData(model), mujoco.MjData(reference), mujoco.MjData(reference)
    collision_seconds(cardan, model, data, moving.qpos)
    rows, begin = [], time.perf_counter()
    while len(rows) < STEPS and time.perf_counter() - begin < MOST_SECONDS:
        mujoco.mj_step(reference, moving)
        pair = [(cardan, model, data), (mujoco, reference, still)]
        order = pair if len(rows) % 2 else pair[::-1]
        found = {engine: collision_seconds(engine, m, d, moving.qpos) for engine, m, d in order}
        rows.append((found[cardan], found[mujoco]))
    return {
        "ratio": statistics.median(ours / theirs for ours, theirs in rows),
        "us": 1e6 * statistics.median(ours for ours, _ in rows),
        "us_reference": 1e6 * statistics.median(theirs for _, theirs in rows),
        "contacts": data.ncon,
        "steps": len(rows),
    }


def main() -> None:
    """Print and save the table."""
    print("time of mj_collision / reference, medians over the steps of a motion")
    files, rows = model_files(), Rows()
    for name, ending in ROBOTS.items():
        row = rows[name] = measure(next(path for path in files if str(path).endswith(ending)))
        found = f"{row['us']:.1f} us / {row['us_reference']:.1f} us"
        print(f"  {name:16s} {row['ratio']:.2f}  {found}  contacts {row['contacts']}", flush=True)
    save("collision", rows)


if __name__ == "__main__":
    main()
