"""A process that solves inverse kinematics with mink, in an environment of its own.

It is run by the Python of an environment that has mink and daqp, and imports nothing of this project. Arguments: a file
with targets (``.npz``), and a file for the results.
"""

from __future__ import annotations

import json
import sys
import time

import mink
import mujoco
import numpy as np

SOLVER = "daqp"
DT = 0.01


class Robot:
    """Tasks and limits of a robot.

    Args:
        setup: path, frames (type and name), pairs of geoms, margin and tolerances.
    """

    def __init__(self, setup: dict) -> None:
        self.setup = setup
        self.model = mujoco.MjModel.from_xml_path(setup["path"])
        self.configuration = mink.Configuration(self.model)
        self.tasks = [
            mink.FrameTask(name, kind, position_cost=1.0, orientation_cost=1.0, lm_damping=setup["lm_damping"])
            for kind, name in setup["frames"]
        ]
        self.limits: list = [mink.ConfigurationLimit(self.model)]
        if setup["pairs"]:
            pairs = [([int(a)], [int(b)]) for a, b in setup["pairs"]]
            self.limits.append(
                mink.CollisionAvoidanceLimit(
                    self.model,
                    pairs,
                    minimum_distance_from_collisions=setup["margin"],
                    collision_detection_distance=0.05,
                )
            )

    def aim(self, targets: np.ndarray) -> None:
        """Set the targets of all tasks: positions and quaternions, one row."""
        for task, pose in zip(self.tasks, targets.reshape(-1, 7), strict=True):
            task.set_target(mink.SE3(wxyz_xyz=np.concatenate([pose[3:], pose[:3]])))

    def reached(self) -> bool:
        """Return whether all errors are within the tolerances."""
        place, turn = self.setup["tolerance"]
        errors = [task.compute_error(self.configuration) for task in self.tasks]
        return all(np.linalg.norm(e[:3]) <= place and np.linalg.norm(e[3:]) <= turn for e in errors)

    def step(self) -> None:
        """Make one step of the control loop."""
        velocity = mink.solve_ik(self.configuration, self.tasks, DT, SOLVER, damping=1e-8, limits=self.limits)
        self.configuration.integrate_inplace(velocity, DT)

    def solve(self, targets: np.ndarray, starts: np.ndarray, steps: int) -> tuple[np.ndarray, bool, int]:
        """Try one start after the other; return the configuration, success, and the number of steps."""
        self.aim(targets)
        count = 0
        for start in starts:
            self.configuration.update(start)
            for _ in range(steps):
                if self.reached():
                    return self.configuration.q.copy(), True, count
                try:
                    self.step()
                except Exception:  # no solution of the quadratic program
                    break
                count += 1
        return self.configuration.q.copy(), False, count


def main() -> None:
    """Read the setup and the targets, solve, and write the results."""
    data = np.load(sys.argv[1])
    setup = json.loads(str(data["setup"]))
    robot = Robot(setup)
    robot.solve(data["targets"][0], data["starts"][0], 3)
    found, ok, count = [], [], 0
    begin = time.process_time()
    for targets, starts in zip(data["targets"], data["starts"], strict=True):
        q, met, steps = robot.solve(targets, starts, setup["steps"])
        found.append(q)
        ok.append(met)
        count += steps
    seconds = time.process_time() - begin
    robot.aim(data["targets"][0])
    robot.configuration.update(data["starts"][0][0])
    robot.step()
    begin = time.process_time()
    for _ in range(200):
        robot.step()
    step = (time.process_time() - begin) / 200
    np.savez(sys.argv[2], q=np.array(found), ok=np.array(ok), seconds=seconds, steps=count, step=step)


if __name__ == "__main__":
    main()
