"""What a Ray cluster of two workers on this machine costs: seconds to start it, milliseconds a block of worlds."""

from __future__ import annotations

import os
import statistics
import time

import numpy as np
import ray

import cardan
from benchmarks.scenes import SCENES
from benchmarks.timing import save
from cardan.batch.ray import Cluster

BLOCKS = 100
REPEATS = 5
WORKERS = 2


def milliseconds_a_block(cluster: Cluster, nworld: int, nstep: int) -> float:
    """Milliseconds from block to block of `nworld` worlds each, median of some calls."""
    m = cluster.model
    initial = np.concatenate([[0.0], m.qpos0, np.zeros(m.nv + m.na)])
    times = []
    for _ in range(REPEATS + 1):
        start = time.perf_counter()
        cluster.rollout(initial, nroll=BLOCKS * nworld, nstep=nstep, block=nworld)
        times.append((time.perf_counter() - start) / BLOCKS * 1e3)
    return statistics.median(times[1:])


def main() -> None:
    """Print and save the costs."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    start = time.perf_counter()
    ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False, object_store_memory=10**9)
    started = time.perf_counter() - start
    empty = cardan.MjModel.from_xml_string("<mujoco/>")
    humanoid = next(scene for scene in SCENES if scene.name == "humanoid").load(cardan)
    rows: dict[str, dict[str, float]] = {"start of a cluster on this machine": {"seconds": started}}
    for title, m, nworld, nstep in (
        ("a block: nothing to simulate", empty, 1, 1),
        ("a block: 100 worlds x 100 rows of the humanoid's state", humanoid, 100, 100),
    ):
        start = time.perf_counter()
        with Cluster(m, WORKERS, progress=False) as cluster:
            cluster.pids()
            rows.setdefault("start of two workers", {"seconds": time.perf_counter() - start})
            rows[title] = {"ms": milliseconds_a_block(cluster, nworld, nstep)}
    ray.shutdown()
    # the same block in one process: what is left is the cost of dealing it
    data = cardan.MjData(humanoid)
    initial = np.concatenate([[0.0], humanoid.qpos0, np.zeros(humanoid.nv + humanoid.na)])
    times = []
    for _ in range(REPEATS * 4):
        start = time.perf_counter()
        cardan.rollout.rollout(humanoid, data, initial, nroll=100, nstep=100)
        times.append((time.perf_counter() - start) * 1e3)
    rows["the last in one process, one thread"] = {"ms": statistics.median(times)}
    for title, row in rows.items():
        print(title, row)
    save("cluster", rows)


if __name__ == "__main__":
    main()
