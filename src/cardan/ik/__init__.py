"""Inverse kinematics: configurations and velocities that bring frames, points and centres of mass to targets."""

from cardan.ik.controller import Controller
from cardan.ik.pairs import pairs_of
from cardan.ik.sensitivity import derivative
from cardan.ik.solving import Solution, solve, velocity
from cardan.ik.tasks import (
    ComTask,
    FrameTask,
    LookAtTask,
    PointOnLineTask,
    PointOnPlaneTask,
    PostureTask,
    RelativeFrameTask,
    Task,
)

__all__ = [
    "ComTask",
    "Controller",
    "FrameTask",
    "LookAtTask",
    "PointOnLineTask",
    "PointOnPlaneTask",
    "PostureTask",
    "RelativeFrameTask",
    "Solution",
    "Task",
    "derivative",
    "pairs_of",
    "solve",
    "velocity",
]
