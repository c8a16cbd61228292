"""Tables of tasks: kinds, frames, rows and costs; targets as one matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.enums.codes import JNT_BALL, JNT_FREE, OBJ_GEOM, OBJ_SITE, OBJ_XBODY
from cardan.ik.fields import COM, COUNTS, FRAME, LINE, LOOK, PLACES, PLANE, POSE_NUMBERS, POSTURE, TURNS
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
from cardan.maths.pose import mat2quat

if TYPE_CHECKING:
    from cardan.ik.chains import Chains
    from cardan.model import MjModel

TYPES = {"body": OBJ_XBODY, "geom": OBJ_GEOM, "site": OBJ_SITE}
WORLD = (OBJ_XBODY, 0)
Object = tuple[int, int]


def element_id(m: MjModel, kind: str, name: str | int, where: str) -> int:
    """Return the id of a body, geom, site or joint, given its name or id.

    Raises:
        ValueError: the model does not have it, or `kind` is not a kind of element with an id here.
    """
    count = {"body": m.nbody, "geom": m.ngeom, "site": m.nsite, "joint": m.njnt}.get(kind)
    if count is None:
        raise ValueError(f"{where}: the type of a frame is 'body', 'geom' or 'site', not {kind!r}")
    if isinstance(name, str):
        try:
            return int(getattr(m, kind)(name).id)
        except KeyError as error:
            raise ValueError(f"{where}: {error.args[0]}") from None
    if not 0 <= int(name) < count:
        raise ValueError(f"{where}: {kind} ids are at least 0 and less than {count}, got {name}")
    return int(name)


def three(value: Any, where: str) -> np.ndarray:
    """Return three numbers: a number for all axes, or one for each.

    Raises:
        ValueError: there are more or fewer numbers, or a number is negative or not finite.
    """
    array = np.asarray(value, np.float64)
    if array.shape not in ((), (3,)) or not np.isfinite(array).all() or (array < 0).any():
        raise ValueError(f"{where}: a cost is a number that is not negative, or three of them, got {value!r}")
    return np.broadcast_to(array, 3)


def vector3(value: Any, where: str) -> np.ndarray:
    """Return three finite numbers.

    Raises:
        ValueError: there are more or fewer numbers, or a number is not finite.
    """
    array = np.asarray(value, np.float64)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise ValueError(f"{where}: expected three finite numbers, got {value!r}")
    return array


def unit_rows(rows: np.ndarray, where: str) -> np.ndarray:
    """Return vectors (n, k) divided by their lengths.

    Raises:
        ValueError: a vector is 0 or not finite.
    """
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    if not (np.isfinite(length) & (length > 1e-10)).all():
        raise ValueError(f"{where}: directions and quaternions of targets must be finite and not zero")
    return rows / length


class TaskRows:
    """Tasks of a model as tables.

    Attributes:
        count: number of rows of the Jacobian.
        postures: number of tasks of a posture.
        numbers: numbers in a row of the targets of all tasks.
        needs_com: whether centres of mass are needed.
        is_mixed: whether the tasks may contradict each other: steps then go on to the minimum of all costs.

    Args:
        m: model.
        tasks: the tasks.

    Raises:
        TypeError: an object is not a task.
        ValueError: a task has no cost, or names what the model does not have.
    """

    def __init__(self, m: MjModel, tasks: Sequence[Task]) -> None:
        self.m, self.tasks = m, tasks
        self.kind: list[int] = []
        self.flags: list[int] = []
        self.frame: list[Object] = []
        self.root: list[Object] = []
        self.row: list[int] = []
        self.rows: list[int] = []
        self.adr: list[int] = []
        self.cost: list[np.ndarray] = []
        self.local: list[np.ndarray] = []
        self.axis: list[np.ndarray] = []
        self.posture_cost: list[np.ndarray] = []
        self.count = self.postures = self.numbers = 0
        if not tasks:
            raise ValueError("inverse kinematics needs a task, such as cardan.ik.FrameTask('hand')")
        for task in tasks:
            self._add(task)
        self.needs_com = COM in self.kind
        self.is_mixed = POSTURE in self.kind
        if all(kind == POSTURE for kind in self.kind) and not any(costs.any() for costs in self.posture_cost):
            raise ValueError("all costs of the tasks are 0")

    def _add(self, task: Task) -> None:
        """Add the tables of a task."""
        name = type(task).__name__
        if not isinstance(task, Task):
            raise TypeError(f"tasks are objects such as cardan.ik.FrameTask, got {name}")
        if not 0.0 <= task.gain <= 1.0 or not task.lm_damping >= 0.0:
            raise ValueError(f"{name}: the gain is between 0 and 1, and lm_damping is not negative")
        root, local, axis, cost = WORLD, np.zeros(3), np.zeros(3), np.zeros(0)
        if isinstance(task, PostureTask):
            kind, flags, frame, size = POSTURE, 0, WORLD, self.m.nq
            self.posture_cost.append(posture_costs(self.m, task))
        elif isinstance(task, ComTask):
            kind, flags, size = COM, PLACES | COUNTS, 3
            frame, cost = (OBJ_XBODY, element_id(self.m, "body", task.body, name)), three(task.cost, name)
        elif isinstance(task, FrameTask | RelativeFrameTask):
            kind, size = FRAME, POSE_NUMBERS
            frame, local = self._object(task.frame_type, task.frame_name, name), vector3(task.offset, name)
            if isinstance(task, RelativeFrameTask):
                root = self._object(task.root_type, task.root_name, name)
            places, turns = three(task.position_cost, name), three(task.orientation_cost, name)
            flags = COUNTS | (PLACES if places.any() else 0) | (TURNS if turns.any() else 0)
            cost = np.concatenate([places] * bool(places.any()) + [turns] * bool(turns.any()) + [np.zeros(0)])
        elif isinstance(task, PointOnLineTask | LookAtTask):
            frame, local = self._object(task.frame_type, task.frame_name, name), vector3(task.offset, name)
            if task.root_name is not None:
                root = self._object(task.root_type, task.root_name, name)
            if isinstance(task, LookAtTask):
                kind, flags, size = LOOK, COUNTS | TURNS, 3
                axis = unit_rows(vector3(task.axis, name), name)
            else:
                kind, flags, size = LINE, COUNTS | PLACES, 6
            cost = three(float(task.cost), name)
            if isinstance(task, PointOnPlaneTask):
                kind, cost = PLANE, cost[:1]
        else:
            raise TypeError(f"tasks are objects such as cardan.ik.FrameTask, got {name}")
        if kind != POSTURE and not cost.any():
            raise ValueError(f"{name}: all costs are 0")
        self.row.append(self.postures if kind == POSTURE else self.count)
        self.kind.append(kind)
        self.flags.append(flags)
        self.frame.append(frame)
        self.root.append(root)
        self.rows.append(len(cost))
        self.adr.append(self.numbers)
        self.cost.append(np.pad(cost, (0, 6 - len(cost))))
        self.local.append(local)
        self.axis.append(axis)
        self.count += len(cost)
        self.postures += kind == POSTURE
        self.numbers += size

    def _object(self, kind: str, name: str | int, where: str) -> Object:
        return TYPES.get(kind, -1), element_id(self.m, kind, name, where)

    def _bodies_of(self, found: Object) -> int:
        kind, k = found
        return k if kind == OBJ_XBODY else int((self.m.geom_bodyid if kind == OBJ_GEOM else self.m.site_bodyid)[k])

    def bodies(self) -> list[int]:
        """Return the bodies of all frames and roots, except those of centres of mass and postures."""
        pairs = zip(self.kind, self.frame, self.root, strict=True)
        return [self._bodies_of(x) for kind, frame, root in pairs if kind < COM for x in (frame, root)]

    def bodies_of_poses(self) -> list[int]:
        """Return the bodies of the frames that reach poses in the world; no bodies if another root is used."""
        places = [k for k, kind in enumerate(self.kind) if kind == FRAME]
        if any(self._bodies_of(self.root[k]) != 0 or not self.flags[k] & TURNS for k in places):
            return []
        return [self._bodies_of(self.frame[k]) for k in places]

    def objects(self, kind: str) -> list[int]:
        """Return the ids of frames and roots of a type: geom or site."""
        return [k for found in (self.frame, self.root) for code, k in found if code == TYPES[kind]]

    def other_dofs(self, chains: Chains) -> np.ndarray:
        """Return a mask of the dofs that move because of centres of mass and postures, (nv,) bool."""
        mask = np.zeros(self.m.nv, bool)
        for kind, (_, body) in zip(self.kind, self.frame, strict=True):
            if kind == COM:
                mask |= chains.dofs_in(body)
        for costs in self.posture_cost:
            mask |= costs > 0
        return mask

    def tables(self, dof: np.ndarray) -> dict[str, np.ndarray]:
        """Return the arrays of tasks, by field; `dof` are the active dofs."""
        return {
            "task_kind": np.array(self.kind), "task_flags": np.array(self.flags), "task_frame": np.array(self.frame),
            "task_root": np.array(self.root), "task_row": np.array(self.row), "task_rows": np.array(self.rows),
            "task_adr": np.array(self.adr), "task_cost": np.array(self.cost), "task_local": np.array(self.local),
            "task_axis": np.array(self.axis), "task_gain": np.array([task.gain for task in self.tasks]),
            "task_damping": np.array([task.lm_damping for task in self.tasks]),
            "posture_cost": np.array(self.posture_cost).reshape(self.postures, self.m.nv)[:, dof],
        }  # fmt: skip

    def target_rows(self, targets: Sequence[Any]) -> tuple[np.ndarray, bool]:
        """Return the targets of all tasks side by side, (n, numbers), and whether all of them were single rows.

        Args:
            targets: for each task a row, a matrix with a row for each problem, or None for the task's own target.

        Raises:
            ValueError: a target is missing, has a wrong shape or contains numbers that are not finite.
        """
        parts = [self._targets_of(t, value) for t, value in enumerate(targets)]
        lengths = {len(part) for part, single in parts if not single}
        if len(lengths) > 1:
            raise ValueError(f"targets of tasks have different numbers of rows: {sorted(lengths)}")
        n = lengths.pop() if lengths else 1
        whole = np.empty((n, self.numbers))
        for adr, (part, _) in zip(self.adr, parts, strict=True):
            whole[:, adr : adr + part.shape[1]] = part
        return whole, all(single for _, single in parts)

    def _targets_of(self, t: int, value: Any) -> tuple[np.ndarray, bool]:
        """Return the targets of a task as a matrix, and whether there is a single row for all problems."""
        task = self.tasks[t]
        where = f"target of task {t} ({type(task).__name__})"
        value = task.target if value is None else value
        if value is None:
            raise ValueError(f"{where}: missing; pass it to the call, or set the task's target")
        array = np.asarray(value, np.float64)
        if not np.isfinite(array).all():
            raise ValueError(f"{where}: contains numbers that are not finite")
        return _READERS[self.kind[t]](array, self.flags[t], self.m.nq, where)


def posture_costs(m: MjModel, task: PostureTask) -> np.ndarray:
    """Return the cost of each dof in a task of a posture, (nv,).

    Raises:
        ValueError: there are more or fewer costs, or one is negative.
    """
    cost = np.asarray(task.cost, np.float64)
    if cost.shape not in ((), (m.nv,)) or not np.isfinite(cost).all() or (cost < 0).any():
        raise ValueError(f"PostureTask: the cost is a number, or {m.nv} numbers, none negative, got shape {cost.shape}")
    kind = m.jnt_type[m.dof_jntid]
    costs = np.array(np.broadcast_to(cost, m.nv))
    if cost.ndim == 0:
        costs[kind == JNT_FREE] = 0.0
    for joint in np.flatnonzero((m.jnt_type == JNT_FREE) | (m.jnt_type == JNT_BALL)):
        first = int(m.jnt_dofadr[joint]) + (3 if m.jnt_type[joint] == JNT_FREE else 0)
        costs[first : first + 3] = costs[first]
    return costs


Read = Callable[[np.ndarray, int, int, str], tuple[np.ndarray, bool]]


def _matrix(array: np.ndarray, count: int, where: str) -> tuple[np.ndarray, bool]:
    """Return rows of `count` numbers, and whether the array is a single row."""
    if array.shape[-1:] != (count,) or array.ndim > 2:
        raise ValueError(f"{where}: expected {count} numbers, or a matrix (n, {count}), got shape {array.shape}")
    return array.reshape(-1, count), array.ndim == 1


def poses(array: np.ndarray, flags: int, nq: int, where: str) -> tuple[np.ndarray, bool]:
    """Read poses: position and quaternion, homogeneous matrices, or positions if the orientation is free."""
    if array.shape[-2:] == (4, 4) and array.ndim in (2, 3):
        single = array.ndim == 2
        array = array.reshape(-1, 4, 4)
        rows = np.empty((len(array), POSE_NUMBERS))
        rows[:, :3] = array[:, :3, 3]
        for row, pose in zip(rows, array, strict=True):
            row[3:] = mat2quat(tuple(pose[:3, 0]), tuple(pose[:3, 1]), tuple(pose[:3, 2]))
        return rows, single
    if not flags & TURNS and array.shape[-1:] == (3,):
        rows, single = _matrix(array, 3, where)
        return np.hstack([rows, np.tile([1.0, 0.0, 0.0, 0.0], (len(rows), 1))]), single
    rows, single = _matrix(array, POSE_NUMBERS, where)
    return np.hstack([rows[:, :3], unit_rows(rows[:, 3:], where)]), single


def lines(array: np.ndarray, flags: int, nq: int, where: str) -> tuple[np.ndarray, bool]:
    """Read points and directions."""
    rows, single = _matrix(array, 6, where)
    return np.hstack([rows[:, :3], unit_rows(rows[:, 3:], where)]), single


def points(array: np.ndarray, flags: int, nq: int, where: str) -> tuple[np.ndarray, bool]:
    """Read points."""
    return _matrix(array, 3, where)


def configurations(array: np.ndarray, flags: int, nq: int, where: str) -> tuple[np.ndarray, bool]:
    """Read configurations."""
    return _matrix(array, nq, where)


_READERS: dict[int, Read] = {
    FRAME: poses, LINE: lines, PLANE: lines, LOOK: points, COM: points, POSTURE: configurations
}  # fmt: skip
