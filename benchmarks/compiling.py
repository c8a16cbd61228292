"""Time to read and compile a model (kernels warm) ÷ the reference engine's."""

from __future__ import annotations

import time
from pathlib import Path

import mujoco

import cardan
from benchmarks.scenes import SCENES
from benchmarks.timing import paired_ratio, save


def seconds(engine: object, path: Path) -> float:
    """Seconds for one compilation."""
    start = time.perf_counter()
    engine.MjModel.from_xml_path(str(path))
    return time.perf_counter() - start


def main() -> None:
    """Print and save the table."""
    print("time to compile a model / reference")
    rows = {}
    for scene in SCENES:
        path = scene.path
        seconds(cardan, path)
        row = rows[scene.name] = paired_ratio(lambda p=path: seconds(cardan, p), lambda p=path: seconds(mujoco, p))
        print(f"  {scene.name:16s} {row['ratio']:.1f}  {1e3 * row['ours']:.1f} ms / {1e3 * row['reference']:.1f} ms")
    save("compiling", rows)


if __name__ == "__main__":
    main()
