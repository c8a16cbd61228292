"""How loading, steps, rays and memory grow with the number of points of height fields and of faces of meshes."""

from __future__ import annotations

import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import run
from typing import Any

import mujoco
import numpy as np

import cardan
from benchmarks import models
from benchmarks.scenes import Scene, settled_state
from benchmarks.stepping import compare
from benchmarks.timing import Rows, paired_ratio

SIDES = (100, 300, 1000, 2000)
RINGS = (16, 50, 158, 500)  # faces are about four times their squares
RAYS = 200
COLUMNS = {"load": "load", "step": "us_per_step", "ray": "ray", "memory": "memory"}
_LOADED = """
import re, sys, {engine}
def kilobytes(what):
    return int(re.search(what + r":\\s+(\\d+) kB", open("/proc/self/status").read())[1])
def made(path):
    model = {engine}.MjModel.from_xml_path(path)
    data = {engine}.MjData(model)
    {engine}.mj_step(model, data)
    return model, data
made(sys.argv[2])  # so that all that is needed is imported
before = kilobytes("VmRSS")
kept = made(sys.argv[1])
print(1024 * (kilobytes("VmHWM") - before))
"""


def largest_memory(engine: str, path: Path, other: Path) -> float:
    """Bytes by which a process that has loaded another model grows, at most, to load one and make a step (on Linux)."""
    command = [sys.executable, "-c", _LOADED.format(engine=engine), str(path), str(other)]
    found = run(command, capture_output=True, check=True)
    return float(found.stdout)


def loading_seconds(engine: Any, path: Path) -> float:
    """Processor time of one load."""
    start = time.process_time()
    engine.MjModel.from_xml_path(str(path))
    return time.process_time() - start


def ray_seconds(engine: Any, model: Any, data: Any) -> float:
    """Processor time of rays from above, where they hit."""
    rng = np.random.default_rng(0)
    down, geom = np.array([0.0, 0.0, -1.0]), np.zeros((1, 1), np.int32)
    starts = np.concatenate([rng.uniform(-0.2, 0.2, (RAYS, 2)), np.full((RAYS, 1), 5.0)], axis=1)
    start = time.thread_time()
    for point in starts:
        engine.mj_ray(model, data, point, down, None, 1, -1, geom[0])
    return time.thread_time() - start


def measure(path: Path, size: int, settle: int, smallest: Path) -> dict[str, float]:
    """Loading, a step, rays and memory of a model ÷ the reference's."""
    loading = paired_ratio(lambda: loading_seconds(cardan, path), lambda: loading_seconds(mujoco, path), 3)
    model, reference = (engine.MjModel.from_xml_path(str(path)) for engine in (cardan, mujoco))
    scene = Scene(path.stem, path, settle, 200)
    state = settled_state(cardan, model, scene)
    row = compare(model, reference, state, scene.steps, 7)
    data, reference_data = cardan.MjData(model), mujoco.MjData(reference)
    cardan.mj_forward(model, data)
    mujoco.mj_forward(reference, reference_data)
    rays = paired_ratio(
        lambda: ray_seconds(cardan, model, data), lambda: ray_seconds(mujoco, reference, reference_data), 7
    )
    row |= {
        "size": size,
        "load": loading["ours"],
        "load_reference": loading["reference"],
        "load_ratio": loading["ratio"],
        "ray": rays["ours"] / RAYS,
        "ray_reference": rays["reference"] / RAYS,
        "ray_ratio": rays["ratio"],
        "memory": largest_memory("cardan", path, smallest),
        "memory_reference": largest_memory("mujoco", path, smallest),
    }
    return row


def height_fields(folder: Path) -> Iterator[tuple[str, int, Path]]:
    """A walking machine on terrains of more and more points."""
    for side in SIDES:
        ground = models.terrain(side, np.random.default_rng(3)).astype(np.float32)
        file = folder / f"{side}.bin"
        file.write_bytes(struct.pack("<2i", side, side) + ground.tobytes())
        path = folder / f"field{side}.xml"
        path.write_text(models.quadruped(file=file))
        yield f"height field, {side} x {side}", side * side, path


def meshes(folder: Path) -> Iterator[tuple[str, int, Path]]:
    """Two bumpy spheres of more and more faces, one on the other, which collide by their hulls."""
    for rings in RINGS:
        vertex, face = models.bumpy_sphere(rings)
        file = folder / f"sphere{rings}.msh"
        head = struct.pack("<4i", len(vertex), 0, 0, len(face))
        file.write_bytes(head + vertex.astype(np.float32).tobytes() + face.astype(np.int32).tobytes())
        path = folder / f"mesh{rings}.xml"
        path.write_text(
            f"""<mujoco><asset><mesh name="s" file="{file}"/></asset><worldbody><geom type="plane" size="2 2 1"/>
<body pos="0 0 .33"><freejoint/><geom type="mesh" mesh="s"/></body>
<body pos=".05 0 1"><freejoint/><geom type="mesh" mesh="s"/></body></worldbody></mujoco>"""
        )
        yield f"mesh of {len(face):,} faces", len(face), path


def measured(make: Callable[[Path], Iterator[tuple[str, int, Path]]], settle: int) -> Rows:
    """Rows of a family."""
    rows: Rows = {}
    with tempfile.TemporaryDirectory() as folder:
        smallest = None
        for name, size, path in make(Path(folder)):
            smallest = smallest or path
            row = rows[name] = measure(path, size, settle, smallest)
            print(
                f"  {name:28s} load {row['load_ratio']:.2f} ({row['load']:.2f} s)  step {row['ratio']:.2f}"
                f"  ray {row['ray_ratio']:.2f}  memory {row['memory'] / row['memory_reference']:.2f}",
                flush=True,
            )
    return rows


FAMILIES: dict[str, Callable[[], Rows]] = {
    "height_fields": lambda: measured(height_fields, 300),
    "meshes": lambda: measured(meshes, 50),
}
