"""Derivatives of solutions with respect to targets, by the implicit function theorem.

A solution q of targets s is a stationary point of the Lagrange function: g(q, s) + A(q)'y = 0, where g is the gradient
of the cost, A has the rows of equality constraints, and y their multipliers. Its derivative solves

    [K  A'] [dq]     [B]
    [A  0 ] [dy] = - [0] ds,    K = d(g + A'y)/dq,   B = dg/ds.

K and B are central differences of the exact gradient, so that terms of the second order are included. Joints at their
limits stay there. If the tasks leave dofs free, the derivative is the smallest one (J. Nocedal, S. Wright, Numerical
Optimization, section 12.8).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.dynamics.kinematics import integrate_joints
from cardan.ik.evaluation import ik_stage
from cardan.ik.fields import COM, FRAME, LINE, LOOK, PLANE, POSTURE
from cardan.ik.kernel_views import Ik
from cardan.ik.residuals import find_hessian
from cardan.ik.solving import new_problem, targets_of
from cardan.jit import call_collider, kernel
from cardan.jit.driver.program import call
from cardan.maths.quaternion import axis_angle2quat, mul_quat
from cardan.maths.vector import normalize3
from cardan.model import internals
from cardan.model.kernel_views import Model

if TYPE_CHECKING:
    from cardan.ik.problem import Problem
    from cardan.ik.tasks import Task
    from cardan.model import MjModel

STEP = 3e-6
"""Half of the interval of differences, rad or m."""
AT_LIMIT = 1e-9
"""Distance from a limit, rad or m, within which a joint counts as at its limit."""
RANK = 1e-7
"""Singular values below this fraction of the largest count as 0."""
COLUMNS = {FRAME: 6, LINE: 6, PLANE: 6, LOOK: 3, COM: 3}
"""Number of directions of a target, by the kind of task."""


@kernel
def gradient_here(m: Model, d: Ik) -> None:
    """Compute the gradient `g` of the Lagrange function at ``d.qpos``, with the multipliers `y`."""
    call_collider(d.ik.evaluate, m, d, 0, 0)
    find_hessian(d)
    for k in range(d.ik.nrow):
        for c in range(d.ik.n):
            d.ik.g[c] += d.ik.A[k, c] * d.ik.multiplier[k]


@kernel
def displace(m: Model, d: Ik, c: int, step: float) -> None:
    """Set ``d.qpos`` to the given configuration, moved by `step` along active dof `c`; limits do not count."""
    for i in range(m.nq):
        d.qpos[i] = d.ik.given[d.ik.row, i]
    for i in range(m.nv):
        d.ik.move[i] = 0.0
    dof = d.ik.dof[c]
    d.ik.move[dof] = step
    joint = m.dof_jntid[dof]
    integrate_joints(m, d.qpos, d.ik.move, 1.0, joint, joint + 1)


@kernel
def shift_target(d: Ik, t: int, k: int, step: float) -> None:
    """Move the current target of task `t` by `step` in its direction `k`, from the target in `goal`.

    The directions of a pose are three translations and three rotations in the axes of the root. Directions of lines and
    planes stay unit vectors.
    """
    for i in range(len(d.ik.goal)):
        d.ik.target[d.ik.row, i] = d.ik.goal[i]
    adr = d.ik.task_adr[t]
    if d.ik.task_kind[t] == FRAME and k >= 3:
        axis = (1.0 if k == 3 else 0.0, 1.0 if k == 4 else 0.0, 1.0 if k == 5 else 0.0)
        old = (d.ik.goal[adr + 3], d.ik.goal[adr + 4], d.ik.goal[adr + 5], d.ik.goal[adr + 6])
        quat = mul_quat(axis_angle2quat(axis, step), old)
        for i in range(4):
            d.ik.target[d.ik.row, adr + 3 + i] = quat[i]
        return
    d.ik.target[d.ik.row, adr + k] += step
    if d.ik.task_kind[t] in (LINE, PLANE):
        along = normalize3(
            (
                d.ik.target[d.ik.row, adr + 3],
                d.ik.target[d.ik.row, adr + 4],
                d.ik.target[d.ik.row, adr + 5],
            )
        )
        for i in range(3):
            d.ik.target[d.ik.row, adr + 3 + i] = along[i]


@ik_stage
def lagrange_gradient(m: Model, d: Ik, row: int, _unused: int) -> int:
    """Compute gradient and rows at the configuration `row`."""
    d.ik.row = row
    displace(m, d, 0, 0.0)
    gradient_here(m, d)
    return 0


@ik_stage
def lagrange_slopes(m: Model, d: Ik, row: int, _unused: int) -> int:
    """Compute the matrices K and B at the configuration `row`, in `slope`, side by side."""
    d.ik.row = row
    for i in range(len(d.ik.goal)):
        d.ik.goal[i] = d.ik.target[row, i]
    for c in range(d.ik.n):
        for side in range(2):
            displace(m, d, c, STEP if side == 0 else -STEP)
            gradient_here(m, d)
            for i in range(d.ik.n):
                before = 0.0 if side == 0 else d.ik.slope[i, c]
                d.ik.slope[i, c] = d.ik.g[i] / (2.0 * STEP) if side == 0 else before - d.ik.g[i] / (2.0 * STEP)
    displace(m, d, 0, 0.0)
    for column in range(len(d.ik.direction)):
        t, k = d.ik.direction[column, 0], d.ik.direction[column, 1]
        for side in range(2):
            shift_target(d, t, k, STEP if side == 0 else -STEP)
            gradient_here(m, d)
            for i in range(d.ik.n):
                c = d.ik.n + column
                before = 0.0 if side == 0 else d.ik.slope[i, c]
                d.ik.slope[i, c] = d.ik.g[i] / (2.0 * STEP) if side == 0 else before - d.ik.g[i] / (2.0 * STEP)
    for i in range(len(d.ik.goal)):
        d.ik.target[row, i] = d.ik.goal[i]
    return 0


def directions_of(problem: Problem) -> np.ndarray:
    """Return the task and the number of each direction of the targets, (count, 2).

    Raises:
        ValueError: the target of a posture contains quaternions.
    """
    found = []
    for t, kind in enumerate(problem.rows.kind):
        if kind == POSTURE and not problem.scalar.all():
            raise ValueError("derivatives with respect to postures need joints without quaternions")
        count = problem.m.nq if kind == POSTURE else COLUMNS[kind]
        found += [(t, k) for k in range(count)]
    return np.array(found, np.int32)


def derivative(
    m: MjModel,
    tasks: Sequence[Task] | Task,
    q: Any,
    targets: Any = None,
    *,
    limits: bool = True,
    joints: Iterable[str | int] | None = None,
) -> np.ndarray:
    """Return the derivatives of solutions with respect to their targets.

    Joints at their limits do not move, and equality constraints hold. If the solution is not unique, the result is the
    smallest motion that follows the targets. Distances are left out: no pair of `avoid` may be at its margin.

    Args:
        m: model.
        tasks: the tasks of the call of `solve`.
        q: solutions, (nq,) or (n, nq).
        targets: the targets of the call of `solve`.
        limits: whether joint limits hold.
        joints: the joints that may move, as for `solve`.

    Returns:
        Array (nv, k) or (n, nv, k): motions of the dofs, per unit of each of the k directions of the targets. For a
        pose, these are three translations and three rotations in the axes of the root; otherwise the numbers of a row.

    Raises:
        ValueError: an argument does not fit the model.
    """
    problem = new_problem(m, tasks, (), limits, joints)
    problem.set_limits()
    problem.prepare(1)
    rows, _ = targets_of(problem, targets)
    given = np.ascontiguousarray(q, np.float64)
    single, given = given.ndim == 1, given.reshape(-1, given.shape[-1])
    if given.shape[1] != m.nq:
        raise ValueError(f"q: expected configurations of {m.nq} numbers, got shape {np.shape(q)}")
    if len(rows) not in (1, len(given)):
        raise ValueError(f"{len(given)} configurations, but {len(rows)} rows of targets")
    rows = np.array(np.broadcast_to(rows, (len(given), rows.shape[1])))
    direction, n = directions_of(problem), len(problem.dof)
    memory = problem.workers[0]
    arrays = {
        "target": rows, "given": given, "direction": direction, "goal": np.zeros(rows.shape[1]),
        "slope": np.zeros((n, n + len(direction))), "multiplier": np.zeros(len(memory.arrays["ik.b"])),
    }  # fmt: skip
    problem.attach(**arrays)
    found = np.zeros((len(given), m.nv, len(direction)))
    for k in range(len(given)):
        found[k, problem.dof] = _derivative_at(problem, k, given[k], arrays)
    return found[0] if single else found


def _derivative_at(problem: Problem, k: int, q: np.ndarray, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """Return the derivatives of the active dofs at configuration number `k`, (n, directions)."""
    model, memory, n = internals.memory(problem.m), problem.workers[0], len(problem.dof)
    arrays["multiplier"][:] = 0.0
    call(lagrange_gradient, model, memory, k)
    place = np.where(problem.scalar, q[np.maximum(problem.tables["qadr"], 0)], 0.0)
    low, high = problem.tables["low"], problem.tables["high"]
    free = np.flatnonzero((place > low + AT_LIMIT) & (place < high - AT_LIMIT))
    rows = memory.arrays["ik.A"][: memory.scalars["ik.nrow"].item()][:, free].copy()
    gradient = memory.arrays["ik.g"][free]
    arrays["multiplier"][:] = np.linalg.lstsq(rows.T, -gradient, rcond=RANK)[0] if len(rows) else 0.0
    call(lagrange_slopes, model, memory, k)
    slope = arrays["slope"][free]
    zero = np.zeros((len(rows), len(rows)))
    matrix = np.block([[slope[:, free], rows.T], [rows, zero]])
    right = np.vstack([-slope[:, n:], np.zeros((len(rows), slope.shape[1] - n))])
    found = np.zeros((n, slope.shape[1] - n))
    found[free] = np.linalg.lstsq(matrix, right, rcond=RANK)[0][: len(free)]
    return found
