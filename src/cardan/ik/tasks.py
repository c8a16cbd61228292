"""Tasks of inverse kinematics, with the names and conventions of mink where both have a task.

A task is a frozen object, so that a list of tasks can be used as a key. Costs are in 1/m and 1/rad. Targets are arrays,
a row for each problem; each task says what a row contains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

FRAME_TYPES = ("body", "geom", "site")


@dataclass(frozen=True, eq=False, kw_only=True)
class Task:
    """Common settings of all tasks.

    Attributes:
        gain: share of the error that a control step of `velocity` removes, from 0 to 1.
        lm_damping: damping of `velocity`, times the squared weighted error; it keeps steps small far from the target.
        target: target for calls without targets, a row as the task describes it.
    """

    gain: float = 1.0
    lm_damping: float = 0.0
    target: Any = None


@dataclass(frozen=True, eq=False)
class FrameTask(Task):
    """A frame reaches a pose in the world.

    Rows of the target: position (m) and unit quaternion (w, x, y, z), 7 numbers; or a homogeneous matrix, (4, 4). If
    `orientation_cost` is 0, a position is enough.

    Attributes:
        frame_name: name or id of the frame.
        frame_type: type of the frame: body, geom or site.
        position_cost: cost of the position, a number or one for each axis of the world, 1/m; 0: the position is free.
        orientation_cost: cost of the orientation, 1/rad; 0: the orientation is free.
        offset: point of the frame, in its own axes, that reaches the position, m.
    """

    frame_name: str | int
    frame_type: str = "body"
    position_cost: float | tuple[float, float, float] = 1.0
    orientation_cost: float | tuple[float, float, float] = 1.0
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class RelativeFrameTask(Task):
    """A frame reaches a pose relative to another frame, the root.

    Rows of the target, costs and offset are as for `FrameTask`, with the root's frame in place of the world.

    Attributes:
        root_name: name or id of the root.
        root_type: type of the root: body, geom or site.
    """

    frame_name: str | int
    frame_type: str
    root_name: str | int
    root_type: str
    position_cost: float | tuple[float, float, float] = 1.0
    orientation_cost: float | tuple[float, float, float] = 1.0
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class PointOnLineTask(Task):
    """A point of a frame is on a line.

    Rows of the target: a point of the line (m) and its direction, 6 numbers, in the world or in a root's frame.
    Attributes are as for `RelativeFrameTask`; `root_name` is None for the world.
    """

    frame_name: str | int
    frame_type: str = "body"
    cost: float = 1.0
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    root_name: str | int | None = None
    root_type: str = "body"


@dataclass(frozen=True, eq=False)
class PointOnPlaneTask(PointOnLineTask):
    """A point of a frame is on a plane.

    Rows of the target: a point of the plane (m) and its normal, 6 numbers, in the world or in a root's frame.
    """


@dataclass(frozen=True, eq=False)
class LookAtTask(Task):
    """An axis of a frame points at a point.

    Rows of the target: the point (m), 3 numbers, in the world or in a root's frame. The error is the length of the
    difference between the axis and the unit vector to the point: 2 sin(angle / 2), which is close to the angle.

    Attributes:
        axis: axis of the frame, in its own axes.
        offset: point of the frame, in its own axes, from which the axis starts, m.
    """

    frame_name: str | int
    frame_type: str = "body"
    cost: float = 1.0
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    root_name: str | int | None = None
    root_type: str = "body"


@dataclass(frozen=True, eq=False)
class ComTask(Task):
    """The centre of mass of a body's subtree reaches a point in the world.

    Rows of the target: the point (m), 3 numbers.

    Attributes:
        cost: cost, a number or one for each axis of the world, 1/m.
        body: name or id of the root of the subtree; by default the world, i.e. everything with a mass.
    """

    cost: float | tuple[float, float, float] = 1.0
    body: str | int = 0


@dataclass(frozen=True, eq=False)
class PostureTask(Task):
    """The configuration is near another one: a secondary task, on which the result `ok` of `solve` does not depend.

    Rows of the target: a configuration, `nq` numbers. Free joints do not take part, unless they have costs of their
    own.

    Attributes:
        cost: cost, 1/rad or 1/m: a number, or one for each dof. The three rotations of a ball or free joint have one
            cost, that of the first.
    """

    cost: float | tuple[float, ...] = 1e-3
