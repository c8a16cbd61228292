"""What the trees over the geoms of bodies save: time of a detection with the mid phase ÷ without it."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import mujoco
import numpy as np

from benchmarks.timing import paired_ratio, save

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from collision.harness import Pair, run
from collision.test_midphase import NGEOM, place, two_clusters

DETECTIONS = 20


def seconds(pair: Pair, flags: int) -> float:
    """Processor time of some detections."""
    pair.model.opt.disableflags = flags
    pair.collide()
    start = time.thread_time()
    for _ in range(DETECTIONS):
        run(pair.program, pair.model, pair.data)
    return time.thread_time() - start


def main() -> None:
    """Print and save the ratio."""
    pair = two_clusters()
    place(pair, np.random.default_rng(5))
    without = int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)
    row = paired_ratio(lambda: seconds(pair, 0), lambda: seconds(pair, without))
    print(f"time of a detection between two bodies of {NGEOM} geoms, with trees / without: {row['ratio']:.2f}")
    save("midphase", {f"two bodies of {NGEOM} geoms": row})


if __name__ == "__main__":
    main()
