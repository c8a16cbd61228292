"""Time to read and compile generated models (kernels warm) ÷ the reference engine's; `loading` has those of files."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import mujoco

import cardan
from benchmarks import models
from benchmarks.scenes import CLOTHS, Scene
from benchmarks.timing import paired_ratio, save

COMPILED = (
    Scene("robot of 50 meshes", models.mesh_robot, settle=0, steps=0),
    Scene("chain, 1000 dofs", partial(models.chain, 1000), settle=0, steps=0),
    Scene("pile of 300", partial(models.pile, 300), settle=0, steps=0),
    *CLOTHS[:2],
)


def seconds(engine: Any, scene: Scene) -> float:
    """Seconds for one compilation."""
    start = time.thread_time()
    scene.load(engine)
    return time.thread_time() - start


def main() -> None:
    """Print and save the table."""
    print("time to compile a model / reference")
    rows = {}
    for scene in COMPILED:
        seconds(cardan, scene)
        row = rows[scene.name] = paired_ratio(lambda s=scene: seconds(cardan, s), lambda s=scene: seconds(mujoco, s), 7)
        print(f"  {scene.name:20s} {row['ratio']:.1f}  {1e3 * row['ours']:.1f} ms / {1e3 * row['reference']:.1f} ms")
    save("compiling", rows)


if __name__ == "__main__":
    main()
