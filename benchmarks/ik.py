"""Inverse kinematics: success and time for random reachable poses of robots, against mink with daqp.

The folder ``CARDAN_ROBOTS`` contains the unpacked wheels of robosuite 1.5.2, robosuite-models 1.0.0 and
gymnasium-robotics 1.4.2. ``CARDAN_MINK`` is the Python of an environment with mink 1.3 and daqp; without it, only
Cardan runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import cardan
from benchmarks.timing import save
from cardan import ik

ROBOTS = Path(os.environ.get("CARDAN_ROBOTS", "../robots"))
MINK = os.environ.get("CARDAN_MINK", "")
COUNT = int(os.environ.get("CARDAN_IK_COUNT", "10000"))
SHARE = int(os.environ.get("CARDAN_IK_MINK_COUNT", "200"))
"""Number of targets for mink, the first of all."""
TOLERANCE = (1e-4, 1e-3)
MARGIN, SPARE = 0.001, 0.003
"""Smallest distance of solutions, m, and what targets exceed it by."""
HAND = "gymnasium_robotics/envs/assets/hand/manipulate_egg.xml"
FINGERS = ("ff", "mf", "rf", "lf", "th")


@dataclass(frozen=True)
class Robot:
    """A robot: its file, and the frames that reach poses."""

    path: str
    frames: tuple[tuple[str, str], ...]


CASES = {
    "Panda": Robot("robosuite/models/assets/robots/panda/robot.xml", (("body", "right_hand"),)),
    "iiwa": Robot("robosuite/models/assets/robots/iiwa/robot.xml", (("body", "right_hand"),)),
    "H1, hands and feet": Robot(
        "robosuite_models/assets/robots/h1/robot.xml",
        tuple(("body", n) for n in ("left_hand", "right_hand", "left_ankle_link", "right_ankle_link")),
    ),
    "Shadow hand, five fingertips": Robot(HAND, tuple(("body", f"robot0:{finger}distal") for finger in FINGERS)),
}


def nearest(m: cardan.MjModel, d: cardan.MjData, pairs: np.ndarray, limit: float) -> np.ndarray:
    """Distances of all pairs at the configuration of the data, at most `limit`."""
    cardan.mj_kinematics(m, d)
    return np.array([cardan.mj_geomDistance(m, d, int(a), int(b), limit, None) for a, b in pairs])


def random_configuration(m: cardan.MjModel, random: np.random.Generator) -> np.ndarray:
    """Return a configuration with joints uniform within their limits; free joints are near their place in `qpos0`."""
    q = m.qpos0.copy()
    for joint in range(m.njnt):
        adr = m.jnt_qposadr[joint]
        if m.jnt_type[joint] == cardan.mjtJoint.mjJNT_FREE:
            q[adr : adr + 3] += random.uniform(-0.3, 0.3, 3)
            q[adr + 3 : adr + 7] += random.uniform(-0.5, 0.5, 4)
            q[adr + 3 : adr + 7] /= np.linalg.norm(q[adr + 3 : adr + 7])
        else:
            q[adr] = random.uniform(*m.jnt_range[joint])
    return q


def collision_pairs(m: cardan.MjModel, frames: list[int], random: np.random.Generator) -> np.ndarray:
    """Return pairs of geoms that collide, of bodies on the chains of frames that aren't neighbours.

    Pairs that overlap in most configurations are left out: their shapes are rough.
    """
    moving: set[int] = set()
    for body in frames:
        while body > 0:
            moving.add(body)
            body = int(m.body_parentid[body])
    geoms = [g for g in range(m.ngeom) if m.geom_contype[g] | m.geom_conaffinity[g] and m.geom_bodyid[g] in moving]
    weld = m.body_weldid[m.geom_bodyid]
    parent = m.body_weldid[m.body_parentid[weld]]
    pairs = [
        (a, b)
        for k, a in enumerate(geoms)
        for b in geoms[k + 1 :]
        if weld[a] != weld[b] and weld[a] != parent[b] and weld[b] != parent[a]
    ]
    found, d = np.array(pairs), cardan.MjData(m)
    overlaps = np.zeros(len(found))
    for _ in range(200):
        d.qpos[:] = random_configuration(m, random)
        overlaps += nearest(m, d, found, 0.01) < MARGIN + SPARE
    return found[overlaps < 100]


class Case:
    """A robot with targets.

    Args:
        robot: the robot.
        count: number of targets.
    """

    def __init__(self, robot: Robot, count: int) -> None:
        self.robot, self.path = robot, str((ROBOTS / robot.path).resolve())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.m = cardan.MjModel.from_xml_path(self.path)
        self.tasks = [ik.FrameTask(name, kind) for kind, name in robot.frames]
        random = np.random.default_rng(1)
        ids = [self.m.body(name).id for _, name in robot.frames]
        self.pairs = collision_pairs(self.m, ids, random)
        self.avoid = tuple(map(tuple, self.pairs.tolist()))
        self.targets, d = np.empty((count, len(ids), 7)), cardan.MjData(self.m)
        made = tried = 0
        while made < count:
            d.qpos[:] = random_configuration(self.m, random)
            tried += 1
            if nearest(self.m, d, self.pairs, 0.01).min() >= MARGIN + SPARE:
                self.targets[made, :, :3], self.targets[made, :, 3:] = d.xpos[ids], d.xquat[ids]
                made += 1
        self.free = made / tried
        self.random = random

    def solve(self, avoid: tuple, threads: int, count: int | None = None) -> tuple[ik.Solution, float, float]:
        """Solve for the first `count` targets; return the solution, processor time and wall time per target, s."""
        targets = [self.targets[:count, t] for t in range(len(self.tasks))]
        n = len(targets[0])
        options = {"avoid": avoid, "margin": MARGIN, "tolerance": TOLERANCE, "threads": threads}
        ik.solve(self.m, self.tasks, [t[:4] for t in targets], **options)
        begin, wall = time.process_time(), time.perf_counter()
        found = ik.solve(self.m, self.tasks, targets, **options)
        return found, (time.process_time() - begin) / n, (time.perf_counter() - wall) / n

    def check(self, found: ik.Solution, avoid: bool) -> float:
        """Return the share of targets that are met, by forward kinematics, limits and distances of the engine."""
        m, d, met = self.m, cardan.MjData(self.m), 0
        ids = [m.body(name).id for _, name in self.robot.frames]
        scalar = m.jnt_type >= int(cardan.mjtJoint.mjJNT_SLIDE)
        adr = m.jnt_qposadr[scalar]
        low, high = m.jnt_range[scalar].T
        for q, targets in zip(found.q, self.targets, strict=False):
            d.qpos[:] = q
            cardan.mj_kinematics(m, d)
            place = np.linalg.norm(d.xpos[ids] - targets[:, :3], axis=1).max()
            cosine = np.abs(np.sum(d.xquat[ids] * targets[:, 3:], axis=1))
            turn = 2 * np.sqrt(np.maximum(0.0, 1 - cosine**2)).max()
            good = place <= TOLERANCE[0] and turn <= TOLERANCE[1] and (q[adr] >= low).all() and (q[adr] <= high).all()
            met += bool(good and (not avoid or nearest(m, d, self.pairs, 0.01).min() >= 0.0))
        return met / len(found.q)

    def step(self) -> float:
        """Return the processor time of a control step with limits, s."""
        targets = [self.targets[0, t] for t in range(len(self.tasks))]
        q = self.m.qpos0.copy()
        controller = ik.Controller(self.m, self.tasks, 0.01, targets)
        controller.velocity(q)
        begin = time.process_time()
        for _ in range(2000):
            controller.velocity(q)
        return (time.process_time() - begin) / 2000

    def mink(self, avoid: bool, count: int) -> dict[str, float]:
        """Return success and processor times of mink: per target, and per step."""
        starts = np.array([[self.m.qpos0, *(random_configuration(self.m, self.random) for _ in range(9))]] * count)
        best: dict[str, float] = {}
        for lm_damping in (1e-3, 1e-1, 1.0):
            setup = {
                "path": self.path, "frames": self.robot.frames, "pairs": self.pairs.tolist() if avoid else [],
                "margin": MARGIN, "tolerance": TOLERANCE, "steps": 50, "lm_damping": lm_damping,
            }  # fmt: skip
            with tempfile.TemporaryDirectory() as folder:
                given, results = f"{folder}/given.npz", f"{folder}/results.npz"
                np.savez(given, setup=json.dumps(setup), targets=self.targets[:count], starts=starts)
                subprocess.run([MINK, str(Path(__file__).with_name("ik_worker.py")), given, results], check=True)
                found = dict(np.load(results))
            row = {
                "ok": float(found["ok"].mean()), "seconds": float(found["seconds"]) / count,
                "per_success": float(found["seconds"]) / max(1, found["ok"].sum()), "step": float(found["step"]),
                "steps": float(found["steps"]) / count, "lm_damping": lm_damping,
            }  # fmt: skip
            if not best or row["per_success"] < best["per_success"]:
                best = row
        return best


def measure(name: str, robot: Robot) -> dict[str, Any]:
    """Return the row of a robot, and print it."""
    case = Case(robot, COUNT)
    row: dict[str, Any] = {"pairs": len(case.pairs), "dofs": case.m.nv, "collision_free": case.free}
    print(
        f"{name}: {case.m.nv} dofs, {len(case.pairs)} pairs, {100 * case.free:.1f} % of configurations are free",
        flush=True,
    )
    for avoid in (False, True):
        found, processor, _ = case.solve(case.avoid if avoid else (), 1)
        _, _, wall = case.solve(case.avoid if avoid else (), 2)
        success = case.check(found, avoid)
        part: dict[str, Any] = {
            "success": success,
            "ok": float(found.ok.mean()),
            "processor": processor,
            "wall_2_threads": wall,
        }
        print(f"  {'with' if avoid else 'without'} distances: {100 * success:.2f} %, {processor * 1e6:.1f} us,"
              f" {1 / wall:.0f} per second on 2 threads", flush=True)  # fmt: skip
        if MINK:
            count = SHARE if not avoid else max(10, SHARE // 10)
            part["mink"] = case.mink(avoid, count)
            part["ratio"] = part["mink"]["per_success"] / processor
            print(
                f"    mink: {part['mink']}\n    ratio of processor time per solved target: {part['ratio']:.0f}",
                flush=True,
            )
        row["distances" if avoid else "plain"] = part
    row["step"] = case.step()
    print(f"  control step: {row['step'] * 1e6:.1f} us", flush=True)
    return row


def main() -> None:
    """Print and save the table."""
    rows = {name: measure(name, robot) for name, robot in CASES.items() if (ROBOTS / robot.path).exists()}
    save("ik", rows)


if __name__ == "__main__":
    main()
