"""Throughput of `cardan.rollout` on two threads ÷ one thread, and ÷ the reference's rollout on one thread."""

from __future__ import annotations

import time

import mujoco
import mujoco.rollout
import numpy as np

import cardan
import cardan.rollout
from benchmarks.scenes import SCENES, settled_state
from benchmarks.timing import paired_ratio, save

WORLDS = 128
STEPS = 200


def main() -> None:
    """Print and save the ratios."""
    scene = SCENES[0]
    reference_model = mujoco.MjModel.from_xml_path(str(scene.path))
    model = cardan.MjModel.from_xml_path(str(scene.path))
    state = settled_state(mujoco, reference_model, scene)
    initial = np.concatenate([[0.0], state.qpos, state.qvel, state.act])
    initial = np.tile(initial, (WORLDS, 1))
    control = np.random.default_rng(0).uniform(-0.3, 0.3, (WORLDS, STEPS, model.nu))

    def ours(threads: int) -> float:
        datas = [cardan.MjData(model) for _ in range(threads)]
        start = time.perf_counter()
        cardan.rollout.rollout(model, datas, initial, control)
        return time.perf_counter() - start

    def theirs() -> float:
        data = mujoco.MjData(reference_model)
        start = time.perf_counter()
        mujoco.rollout.rollout(reference_model, data, initial, control)
        return time.perf_counter() - start

    ours(2)
    two = paired_ratio(lambda: ours(1), lambda: ours(2))
    reference = paired_ratio(lambda: ours(1), theirs)
    print(f"rollout throughput, humanoid, {WORLDS} worlds x {STEPS} steps")
    print(f"  2 threads / 1 thread         {two['ratio']:.2f}  ({two['ratio_low']:.2f}..{two['ratio_high']:.2f})")
    print(f"  time on 1 thread / reference {reference['ratio']:.2f}")
    save("rollout", {"speedup of 2 threads": two, "1 thread vs reference": reference})


if __name__ == "__main__":
    main()
