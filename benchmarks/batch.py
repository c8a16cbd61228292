"""Worlds a second: `cardan.Batch` ÷ `cardan.rollout`, and ÷ the reference's rollout, on two threads each.

Times are processor seconds of all threads together: those of the clock say more about what else a machine does.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import mujoco
import mujoco.rollout
import numpy as np

import cardan
import cardan.rollout
from benchmarks.scenes import MORE_SCENES, SCENES, Scene, settled_state
from benchmarks.timing import paired_ratio, save
from cardan.batch import Batch

WORLDS = 64
STEPS = 50
PAIRS = 5
WORLDS_OF = tuple(scene for scene in (*SCENES, *MORE_SCENES) if scene.name != "pile of 1000")
THREADS = 2


def compare(scene: Scene) -> dict[str, float]:
    """Ratios of time for one scene."""
    theirs, ours = scene.load(mujoco), scene.load(cardan)
    state = settled_state(mujoco, theirs, scene)
    initial = np.tile(np.concatenate([[0.0], state.qpos, state.qvel, state.act]), (WORLDS, 1))
    spec = int(cardan.mjtState.mjSTATE_FULLPHYSICS)
    batch = Batch(ours, WORLDS, THREADS)
    datas = [cardan.MjData(ours) for _ in range(THREADS)]
    pool = ThreadPoolExecutor(THREADS)  # this release's rollout has no threads of its own
    their_datas = [mujoco.MjData(theirs) for _ in range(THREADS)]

    def by_batch() -> float:
        batch.set_state(initial, spec)
        start = time.process_time()
        batch.step(STEPS)
        return time.process_time() - start

    def by_rollout() -> float:
        start = time.process_time()
        cardan.rollout.rollout(ours, datas, initial, nstep=STEPS)
        return time.process_time() - start

    def by_reference() -> float:
        start = time.process_time()
        parts = np.array_split(initial, THREADS)
        list(pool.map(lambda d, part: mujoco.rollout.rollout(theirs, d, part, nstep=STEPS), their_datas, parts))
        return time.process_time() - start

    by_batch(), by_rollout(), by_reference()
    row = paired_ratio(by_batch, by_reference, PAIRS)
    return {
        **row,
        "rollout": paired_ratio(by_batch, by_rollout, PAIRS)["ratio"],
        "steps": round(THREADS * WORLDS * STEPS / row["ours"]),
    }


def main() -> None:
    """Print and save the ratios."""
    print(f"batches of {WORLDS} worlds x {STEPS} steps, {THREADS} threads: time ÷ rollout, ÷ the reference's rollout")
    rows = {}
    for scene in WORLDS_OF:
        row = rows[scene.name] = compare(scene)
        ratios = f"{row['rollout']:.2f}  {row['ratio']:.2f}"
        print(f"  {scene.name:24} {ratios}  {row['steps']:>10,} steps/s")
    save("batch", rows)


if __name__ == "__main__":
    main()
