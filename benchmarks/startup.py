"""Seconds from process start to the first step of the humanoid: empty kernel cache, and warm cache."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from benchmarks.scenes import SCENES
from benchmarks.timing import save

PROGRAM = """
import sys
import cardan as mujoco
m = mujoco.MjModel.from_xml_path(sys.argv[1])
d = mujoco.MjData(m)
mujoco.mj_step(m, d)
"""


def seconds(cache: str) -> float:
    """Seconds for one fresh process with the given cache folder."""
    start = time.perf_counter()
    environment = {**os.environ, "CARDAN_CACHE_DIR": cache}
    subprocess.run([sys.executable, "-c", PROGRAM, SCENES[0].path], check=True, env=environment)
    return time.perf_counter() - start


def main() -> None:
    """Print and save both numbers."""
    with tempfile.TemporaryDirectory() as cache:
        cold = seconds(cache)
        warm = sorted(seconds(cache) for _ in range(7))[3]
    print(f"first step of humanoid, from process start: empty cache {cold:.1f} s, warm cache {warm:.2f} s")
    save("startup", {"humanoid": {"cold": cold, "warm": warm}})


if __name__ == "__main__":
    main()
