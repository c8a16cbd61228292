"""Throughput of `cardan.rollout` on several threads ÷ one thread, and ÷ the reference's rollout on one thread.

Worlds of unequal cost: every other humanoid lies on the ground, the others fall from a height, in a random order. For
more threads than this machine has processors, the schedule is played with the measured costs of the single worlds.
"""

from __future__ import annotations

import heapq
import time

import mujoco
import mujoco.rollout
import numpy as np

import cardan
import cardan.rollout
from benchmarks.memory import in_new_process
from benchmarks.scenes import SCENES, settled_state
from benchmarks.timing import Rows, paired_ratio, save
from cardan.batch.threads import deal

WORLDS, STEPS = 128, 200
MANY = 1024
"""Worlds of the schedules that are played; their costs are those measured, again and again."""
HEIGHT = 30.0  # m, from which nobody reaches the ground in time


def makespan(costs: np.ndarray, nthread: int, overhead: float) -> float:
    """Seconds until all worlds are done, when threads take block after block; each block costs an overhead, too."""
    free = [0.0] * nthread
    for begin, end in deal(len(costs), nthread):
        heapq.heappush(free, heapq.heappop(free) + overhead + costs[begin:end].sum())
    return max(free)


def played(costs: np.ndarray, overhead: float) -> Rows:
    """Speedups of schedules, of worlds in different orders."""
    rows: Rows = {}
    rng = np.random.default_rng(1)
    worlds = rng.choice(costs, MANY)
    orders = {"in any order": worlds, "slow ones first": -np.sort(-worlds), "slow ones last": np.sort(worlds)}
    for nthread in (2, 4, 16):
        for order, listed in orders.items():
            ratio = makespan(listed, 1, overhead) / makespan(listed, nthread, overhead)
            rows[f"{nthread} threads, {MANY} unequal worlds, {order}, played"] = {"ratio": ratio}
    return rows


def main() -> None:
    """Print and save the ratios."""
    scene = SCENES[0]
    reference_model = mujoco.MjModel.from_xml_path(str(scene.path))
    model = cardan.MjModel.from_xml_path(str(scene.path))
    state = settled_state(mujoco, reference_model, scene)
    alike = np.tile(np.concatenate([[0.0], state.qpos, state.qvel, state.act]), (WORLDS, 1))
    unequal = alike.copy()
    unequal[np.random.default_rng(2).permutation(WORLDS)[::2], 3] += HEIGHT
    control = np.random.default_rng(0).uniform(-0.3, 0.3, (WORLDS, STEPS, model.nu))

    def ours(initial: np.ndarray, threads: int, worlds: slice = slice(None)) -> float:
        datas = [cardan.MjData(model) for _ in range(threads)]
        clock = time.thread_time if threads == 1 else time.perf_counter
        start = clock()
        cardan.rollout.rollout(model, datas, initial[worlds], control[worlds])
        return clock() - start

    def ours_by_the_clock(initial: np.ndarray) -> float:
        datas = [cardan.MjData(model)]
        start = time.perf_counter()
        cardan.rollout.rollout(model, datas, initial, control)
        return time.perf_counter() - start

    def theirs() -> float:
        data = mujoco.MjData(reference_model)
        start = time.thread_time()
        mujoco.rollout.rollout(reference_model, data, alike, control)
        return time.thread_time() - start

    ours(alike, 2)
    rows: Rows = {
        "1 thread ÷ time of the reference": paired_ratio(lambda: ours(alike, 1), theirs),
        "2 threads, worlds alike": paired_ratio(lambda: ours_by_the_clock(alike), lambda: ours(alike, 2)),
        "2 threads, unequal worlds": paired_ratio(lambda: ours_by_the_clock(unequal), lambda: ours(unequal, 2)),
    }
    costs = np.array([min(ours(unequal, 1, slice(k, k + 1)) for _ in range(3)) for k in range(WORLDS)])
    overhead = max(0.0, costs.sum() - min(ours(unequal, 1) for _ in range(3))) / WORLDS
    rows |= played(costs - overhead, overhead)
    rows["memory of a worker"] = {"kB": in_new_process("cardan", scene, state) / 1e3}
    print(f"rollout throughput, humanoid, {WORLDS} worlds x {STEPS} steps; costs {1e3 * costs.min():.1f} to", end="")
    print(f" {1e3 * costs.max():.1f} ms a world, {1e6 * overhead:.0f} us a block")
    for name, row in rows.items():
        print(f"  {name:60s} {next(iter(row.values())):.2f}")
    save("rollout", rows)


if __name__ == "__main__":
    main()
