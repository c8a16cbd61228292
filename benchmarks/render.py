"""Pictures: processor time ÷ that of the reference drawn in software by OSMesa, pictures a second, threads.

OSMesa draws without threads of its own (``LP_NUM_THREADS=0``). The models are drawn from their first keyframe, or their
start, and as they are some steps later, in turn, by their free camera: things move from picture to picture. Rows of
still scenes have the first state alone, and a camera that turns.
"""

from __future__ import annotations

import itertools
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from ctypes.util import find_library
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scenes import BARKOUR, EXAMPLES, MODELS, QUADRUPED
from benchmarks.schedule import two_threads
from benchmarks.timing import paired_ratio, save

FILES = {
    "humanoid": EXAMPLES / "humanoid.xml",
    "22 humanoids": MODELS / "humanoid/22_humanoids.xml",
    "robot of meshes": BARKOUR,
    "height field": QUADRUPED,
    "skin": MODELS / "plugin/elasticity/poncho.xml",
}
SETTINGS = {
    "640 x 480, everything": (640, 480, True),
    "640 x 480, no shadows, no reflection": (640, 480, False),
    "64 x 64, no shadows, no reflection": (64, 64, False),
}
STILL = ("humanoid", "mesh of 1,000,000 triangles")
"""What is drawn as a still scene, too."""
STEPS = 10
"""Between the two states of a model."""
PAIRS = 5
SECONDS = 0.05
"""Processor time of one side of a pair, at least."""
GRID = 708
"""Rows and columns of the mesh of a million triangles."""
WORLDS = 64
BIG = """<mujoco>
  <visual><global offwidth="640" offheight="480"/></visual>
  <asset><mesh name="big" file="big.msh"/></asset>
  <worldbody>
    <light pos="0 0 3"/>
    <geom type="plane" size="0 0 .1" pos="0 0 -1.2"/>
    <body mocap="true"><geom type="mesh" mesh="big" contype="0" conaffinity="0" rgba=".7 .6 .4 1"/></body>
  </worldbody>
</mujoco>"""


def big_mesh() -> bytes:
    """A bumpy sphere of a million triangles, as a file of the MSH format."""
    longitude = np.linspace(0, 2 * np.pi, GRID, endpoint=False)
    latitude = np.linspace(-1.5, 1.5, GRID)
    u, v = np.meshgrid(longitude, latitude)
    radius = 1 + 0.02 * np.sin(40 * u) * np.sin(40 * v)
    vert = np.stack([radius * np.cos(v) * np.cos(u), radius * np.cos(v) * np.sin(u), radius * np.sin(v)], -1)
    number = np.arange(GRID * GRID).reshape(GRID, GRID)
    a, b = number[:-1], np.roll(number, -1, 1)[:-1]
    c, d = np.roll(number, -1, 1)[1:], number[1:]
    face = np.stack([np.stack([a, b, c], -1), np.stack([a, c, d], -1)], 2).reshape(-1, 3)
    rim = [[number[k, 0], *pair] for k, turn in ((0, -1), (-1, 1)) for pair in _fan(number[k][::turn])]
    face = np.concatenate([face, np.array(rim)])
    header = np.array([vert.size // 3, 0, 0, len(face)], np.int32)
    return header.tobytes() + vert.astype(np.float32).tobytes() + face.astype(np.int32).tobytes()


def _fan(rim: np.ndarray) -> Iterator[tuple[int, int]]:
    """Edges of the triangles that close a rim."""
    return ((int(rim[k]), int(rim[k + 1])) for k in range(len(rim) - 1))


class Side:
    """One engine with one model."""

    def __init__(self, package: Any, model: Any) -> None:
        self.package, self.model = package, model
        buffer = model.vis.global_
        buffer.offwidth, buffer.offheight = max(buffer.offwidth, 640), max(buffer.offheight, 480)
        self.states = [self._state(steps) for steps in (0, STEPS)]
        self.cameras = [package.MjvCamera() for _ in self.states]
        for number, camera in enumerate(self.cameras):
            package.mjv_defaultFreeCamera(model, camera)
            camera.azimuth += number

    def _state(self, steps: int) -> Any:
        """A state some steps after the first one; what has no dynamics has been moved."""
        data = self.package.MjData(self.model)
        if self.model.nkey:
            self.package.mj_resetDataKeyframe(self.model, data, 0)
        for _ in range(steps):
            self.package.mj_step(self.model, data)
        data.mocap_pos[:, 0] += 1e-3 * steps
        self.package.mj_forward(self.model, data)
        return data

    def renderer(self, width: int, height: int, effects: bool, **threads: int) -> Any:
        """A renderer, with shadows and reflection or without."""
        renderer = self.package.Renderer(self.model, height, width, **threads)
        renderer.update_scene(self.states[0])
        for name in ("SHADOW", "REFLECTION"):
            renderer.scene.flags[int(getattr(self.package.mjtRndFlag, f"mjRND_{name}"))] = effects
        renderer.render()
        return renderer

    def drawing(self, renderer: Any, still: bool = False) -> Callable[[], None]:
        """What fills in the scene and draws it: both states in turn, or the first one from both cameras in turn."""
        scenes = [(self.states[0], camera) for camera in self.cameras] if still else [(s, -1) for s in self.states]
        turns = itertools.cycle(scenes)

        def draw() -> None:
            renderer.update_scene(*next(turns))
            renderer.render()

        return draw


def seconds_of(draw: Callable[[], None], clock: Callable[[], float]) -> Callable[[], float]:
    """A function that draws some pictures and returns the time of one, s."""
    start = clock()
    draw()
    count = max(1, round(SECONDS / max(clock() - start, 1e-6)))

    def run() -> float:
        start = clock()
        for _ in range(count):
            draw()
        return (clock() - start) / count

    return run


def compare(ours: Side, theirs: Side, setting: tuple[int, int, bool], still: bool = False) -> dict[str, float]:
    """Ratios of time for one model and one setting; `still`: only the camera moves."""
    with theirs.renderer(*setting) as their_renderer, ours.renderer(*setting, threads=1) as one:
        row = paired_ratio(
            seconds_of(ours.drawing(one, still), time.thread_time),
            seconds_of(theirs.drawing(their_renderer, still), time.thread_time),
            PAIRS,
        )
    row["frames"] = 1 / row["ours"]
    with ours.renderer(*setting, threads=1) as one, ours.renderer(*setting, threads=2) as two:
        if is_quiet():
            threads = paired_ratio(
                seconds_of(ours.drawing(one, still), time.perf_counter),
                seconds_of(ours.drawing(two, still), time.perf_counter),
                PAIRS,
            )
            row |= {"threads": threads["ratio"], "frames_two": 1 / threads["reference"]}
        row["schedule"] = two_threads(two._frame, ours.drawing(two, still), ours.drawing(one, still))
    return row


def is_quiet() -> bool:
    """Whether a second thread finds a processor: elsewhere the clock says nothing about two threads."""
    return os.getloadavg()[0] < (os.cpu_count() or 1) + 0.5


def load(package: Any, name: str, big: bytes) -> Any:
    """A model of this benchmark."""
    if name in FILES:
        return package.MjModel.from_xml_path(str(FILES[name]))
    return package.MjModel.from_xml_string(BIG, {"big.msh": big})


def batches(package: Any, name: str) -> Iterator[tuple[str, dict[str, float]]]:
    """Pictures a second of `render_batch`, by processor time, and what two threads give, by the clock."""
    model = package.MjModel.from_xml_path(str(FILES[name]))
    worlds = [package.MjData(model) for _ in range(WORLDS)]
    for number, data in enumerate(worlds):  # no two worlds are alike, so that each has shadow maps of its own
        data.qpos[2] += 1e-3 * number
        package.mj_forward(model, data)
    for effects in (True, False):
        runs, alone = [], []
        for threads in (1, 2):
            renderer = package.Renderer(model, 64, 64, threads=threads)
            for flag in ("SHADOW", "REFLECTION"):
                renderer.scene.flags[int(getattr(package.mjtRndFlag, f"mjRND_{flag}"))] = effects
            renderer.render_batch(worlds)
            for found, timer in ((runs, time.perf_counter), (alone, time.thread_time)):
                found.append(seconds_of(lambda renderer=renderer: renderer.render_batch(worlds), timer))
        one = WORLDS / statistics.median(alone[0]() for _ in range(PAIRS))
        title = f"{name}, 64 worlds of 64 x 64, {'everything' if effects else 'no shadows, no reflection'}"
        clock = {"threads": paired_ratio(runs[0], runs[1], PAIRS)["ratio"]} if is_quiet() else {}
        yield title, {"one": one, **clock}


def measure() -> None:
    """Print and save all figures, in a process that draws the reference by OSMesa."""
    import mujoco

    import cardan

    big = big_mesh()
    rows = {}
    for name in (*FILES, "mesh of 1,000,000 triangles"):
        if name in FILES and not Path(FILES[name]).exists():
            continue
        ours, theirs = Side(cardan, load(cardan, name, big)), Side(mujoco, load(mujoco, name, big))
        cases = [(title, setting, False) for title, setting in SETTINGS.items()]
        if name in STILL:
            title = next(iter(SETTINGS))
            cases.append((f"{title}, only the camera moves", SETTINGS[title], True))
        for title, setting, still in cases:
            row = rows[f"{name}, {title}"] = compare(ours, theirs, setting, still)
            figures = f"{row['ratio']:.3f}  {1e3 * row['ours']:7.2f} ms  {row['frames']:7.1f}/s"
            figures += f"  x {row.get('threads', float('nan')):.2f}, {row['schedule']:.2f}"
            print(f"  {name + ', ' + title:64} {figures}", flush=True)
    save("render", rows)
    many = dict(batches(cardan, "humanoid"))
    for title, row in many.items():
        print(f"  {title}: {row['one']:.0f}/s, x {row.get('threads', float('nan')):.2f} with two threads")
    save("render_batch", many)
    median = statistics.median(row["ratio"] for row in rows.values())
    print(f"  median of the ratios: {median:.3f}")


def main() -> None:
    """Run `measure` in a process of its own: the reference asks once what draws its pictures."""
    if find_library("OSMesa") is None:
        print("pictures: OSMesa is not installed (Debian: libosmesa6)")
        return
    print(
        "pictures: processor time ÷ the reference's by OSMesa; ms and pictures a second on one thread; two threads,"
        " by the clock and by the schedule of processor times"
    )
    environment = os.environ | {"MUJOCO_GL": "osmesa", "LP_NUM_THREADS": "0"}
    subprocess.run([sys.executable, "-m", "benchmarks.render"], env=environment, check=True)


if __name__ == "__main__":
    measure()
