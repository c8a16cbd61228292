"""The calls `solve` and `velocity`: arguments, threads and results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cardan.ik.control import find_velocities
from cardan.ik.descent import solve_targets, tabulate
from cardan.ik.fields import POSE_NUMBERS
from cardan.ik.pairs import pairs_of
from cardan.ik.problem import Problem
from cardan.ik.rows import element_id
from cardan.ik.starts import table_of_starts
from cardan.ik.tasks import Task
from cardan.jit.driver.program import call
from cardan.model import internals

if TYPE_CHECKING:
    from cardan.model import MjModel
    from cardan.threads import Job

KEPT = "inverse kinematics"
MOST_KEPT = 8
"""Number of problems that are kept with a model."""
TABLE = 512
"""Number of random configurations from which starts are chosen."""
CHUNK = 32
"""Largest number of targets that native code handles between two looks for signals."""
REACH = 0.05
"""Distance beyond the margin, m, within which `solve` keeps pairs apart."""
SHARE = 0.1
"""Damping of steps, per cost."""
LARGEST_STEP = 0.8
"""Largest step of a dof, rad or m."""
STALL = 0.8
"""A start is given up if the cost does not fall by this factor in a few steps."""


class Solution(NamedTuple):
    """Result of `solve`.

    Attributes:
        q: configurations, (n, nq).
        error: largest errors of the tasks, except those of postures, (n, 2): m and rad.
        ok: whether errors, limits, constraints and distances meet the demands, (n,) bool.
    """

    q: np.ndarray
    error: np.ndarray
    ok: np.ndarray


def new_problem(
    m: MjModel, tasks: Sequence[Task] | Task, avoid: Any, limits: bool, joints: Iterable[str | int] | None
) -> Problem:
    """Return a new problem; arguments as for `solve`."""
    tasks = (tasks,) if isinstance(tasks, Task) else tuple(tasks)
    ids = None if joints is None else [element_id(m, "joint", name, "joints") for name in joints]
    return Problem(m, tasks, pairs_of(m, avoid), limits, ids)


def problem_of(
    m: MjModel, tasks: Sequence[Task] | Task, avoid: Any, limits: bool, joints: Iterable[str | int] | None
) -> Problem:
    """Return the problem of a model and tasks, which is kept with the model for later calls."""
    tasks = (tasks,) if isinstance(tasks, Task) else tuple(tasks)
    moving = None if joints is None else tuple(joints)
    wanted = avoid if isinstance(avoid, str | tuple) else repr(avoid)
    key = (*map(id, tasks), wanted, limits, moving, m.eq_active0.tobytes())
    kept: dict[Any, Problem] = internals.kept(m).setdefault(KEPT, {})
    found = kept.get(key)
    if found is None:
        found = new_problem(m, tasks, avoid, limits, moving)
        while len(kept) >= MOST_KEPT:
            kept.pop(next(iter(kept)))
        kept[key] = found
    found.set_limits()
    return found


def targets_of(problem: Problem, targets: Any) -> tuple[np.ndarray, bool]:
    """Return the matrix of targets of a call, and whether the call has a single problem (see `TaskRows.target_rows`).

    Raises:
        ValueError: there are not as many targets as tasks, or a target does not fit its task.
    """
    count = len(problem.tasks)
    if targets is None:
        targets = [None] * count
    elif count == 1 and (isinstance(targets, np.ndarray) or len(targets) != 1):
        targets = [targets]
    if len(targets) != count:
        raise ValueError(f"expected a list with the target of each of the {count} tasks, got {len(targets)}")
    return problem.rows.target_rows(targets)


def starts_of(m: MjModel, seeds: Any, n: int) -> tuple[np.ndarray, int, int]:
    """Return the caller's starts as rows, the number of starts per target, and the rows from one target to the next.

    Raises:
        ValueError: the shape does not fit.
    """
    if seeds is None:
        return np.zeros((0, m.nq)), 0, 0
    array = np.ascontiguousarray(seeds, np.float64)
    if array.shape[-1:] != (m.nq,) or not np.isfinite(array).all():
        raise ValueError(f"seeds: expected finite configurations of {m.nq} numbers, got shape {array.shape}")
    if array.ndim == 1:
        return array[None], 1, 0
    if array.ndim == 2 and (len(array) == n or n == 1):
        return array, (1, len(array))[n == 1], 1
    if array.ndim == 3 and len(array) == n:
        return array.reshape(-1, m.nq), array.shape[1], array.shape[1]
    raise ValueError(f"seeds: expected ({m.nq},), ({n}, {m.nq}) or ({n}, k, {m.nq}), got {array.shape}")


def run(problem: Problem, function: Any, count: int, threads: int | None) -> None:
    """Call a kernel for all rows below `count`, in several threads."""
    model = internals.memory(problem.m)
    most = min(threads or problem.crew.count, problem.crew.count, count)
    chunk = max(1, min(CHUNK, count // (4 * most)))
    parts = -(-count // chunk)

    def share(job: Job, worker: int) -> None:
        for part in job.parts(parts):
            call(function, model, problem.workers[worker], part * chunk, min(count, (part + 1) * chunk))

    problem.crew.share(share, most)


def solve(
    m: MjModel,
    tasks: Sequence[Task] | Task,
    targets: Any = None,
    seeds: Any = None,
    *,
    limits: bool = True,
    avoid: Any = (),
    margin: float = 0.0,
    tolerance: tuple[float, float] = (1e-6, 1e-6),
    starts: int = 256,
    steps: int = 60,
    joints: Iterable[str | int] | None = None,
    threads: int | None = None,
) -> Solution:
    """Find configurations in which frames meet their targets, for many targets at once.

    For each target, damped Gauss-Newton steps go from one start after the other, until all errors are within the
    tolerance. First come the caller's starts, then random configurations, those near the target first. Results do not
    depend on the number of threads, and those of a target not on other targets.

    Args:
        m: model. Joints that move no frame of a task keep the values of the first start.
        tasks: a task, or a list of tasks.
        targets: for each task its targets (a list, in the order of the tasks): a row for each problem, or one row for
            all. For a single task, its targets alone are enough. None: the targets of the tasks.
        seeds: starts: a configuration (nq,), one for each target (n, nq), or several (n, k, nq).
        limits: whether joint limits hold.
        avoid: pairs of geoms that keep a distance: names or ids, or groups of them, as in
            ``[("hand", "table"), (["link1", "link2"], ["hand"])]``; ``"self"`` means all pairs of geoms that the model
            lets collide.
        margin: smallest distance of these pairs, m.
        tolerance: largest errors, m and rad.
        starts: number of random starts for each target.
        steps: largest number of steps from a start.
        joints: names or ids of the joints that may move; by default all that move frames of the tasks.
        threads: number of threads; by default, the number of processors.

    Returns:
        Configurations, errors and success. Without success, the result is the best configuration found. If neither
        targets nor seeds have a dimension for problems, the results have none either.

    Raises:
        ValueError: a task, target, start or pair does not fit the model.
        TypeError: an object in `tasks` is not a task.
    """
    problem = problem_of(m, tasks, avoid, limits, joints)
    rows, single = targets_of(problem, targets)
    if single and seeds is not None and np.ndim(seeds) == 2:
        rows, single = np.repeat(rows, len(seeds), 0), False
    n = len(rows)
    given, count, step = starts_of(m, seeds, n)
    problem.prepare(max(1, min(threads or problem.crew.count, problem.crew.count, n)))
    problem.set_options(
        place_tolerance=tolerance[0], turn_tolerance=tolerance[1], steps=steps, starts=starts, margin=margin,
        reach=margin + REACH, stall=STALL, share=SHARE, largest_step=LARGEST_STEP, pair_gain=1.0, given_count=count,
        given_step=step,
    )  # fmt: skip
    table, poses = ready_table(problem, given[0] if len(given) else m.qpos0, starts)
    solution = Solution(np.empty((n, m.nq)), np.empty((n, 2)), np.zeros(n, np.uint8))
    effort = np.empty((n, 2), np.int32)
    problem.attach(
        target=rows, given=given, found=solution.q, error=solution.error, ok=solution.ok, effort=effort, table=table,
        table_pose=poses,
    )  # fmt: skip
    run(problem, solve_targets, n, threads)
    problem.effort = effort
    ok = solution.ok.astype(bool)
    if single:
        return Solution(solution.q[0], solution.error[0], ok[0])
    return solution._replace(ok=ok)


def ready_table(problem: Problem, base: np.ndarray, starts: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the table of random starts of a problem and the poses of its frames; both are kept for later calls."""
    limits = problem.tables["low"].tobytes(), problem.tables["high"].tobytes()
    key = (base.tobytes(), *limits, starts)
    if problem.table_key != key:
        table = table_of_starts(problem, base, max(TABLE, starts) if starts else 0)
        poses = np.zeros((POSE_NUMBERS * len(problem.tasks), len(table)))
        for memory in problem.workers[:1]:
            memory.attach("ik.table", table)
            memory.attach("ik.table_pose", poses)
            call(tabulate, internals.memory(problem.m), memory, 0, len(table))
        problem.table, problem.table_key = (table, poses), key
    for memory in problem.workers:
        if len(memory.arrays["ik.rank"]) != len(problem.table[0]):
            memory.attach("ik.rank", np.zeros(len(problem.table[0])))
    return problem.table


def velocity(
    m: MjModel,
    q: Any,
    tasks: Sequence[Task] | Task,
    dt: float,
    targets: Any = None,
    *,
    limits: bool = True,
    velocity_limits: Any = None,
    avoid: Any = (),
    margin: float = 0.005,
    detection: float = 0.05,
    limit_gain: float = 0.95,
    pair_gain: float = 0.85,
    damping: float = 1e-12,
    joints: Iterable[str | int] | None = None,
    threads: int | None = None,
) -> np.ndarray:
    """Find velocities that move frames towards their targets: one step of a control loop.

    Args:
        m: model.
        q: configuration (nq,), or many (n, nq).
        tasks: a task, or a list of tasks; their gains and `lm_damping` hold.
        dt: time in which the velocity acts, s.
        targets: targets of the tasks, as for `solve`.
        limits: whether joint limits hold.
        velocity_limits: largest velocities, rad/s or m/s: a number, one for each dof (nv,), or a dictionary from names
            of joints to numbers.
        avoid: pairs of geoms that keep a distance, as for `solve`.
        margin: smallest distance of these pairs, m.
        detection: distance beyond the margin, m, from which a pair is considered.
        limit_gain: share of the distance to a joint limit that a step may use.
        pair_gain: share of the distance to the margin by which a pair may approach in a step.
        damping: damping of all dofs.
        joints: names or ids of the joints that may move; by default all that move frames of the tasks.
        threads: number of threads for many configurations.

    Returns:
        Velocities (nv,) or (n, nv). A constraint that can't be met together with the limits is left out of the step.

    Raises:
        ValueError: an argument does not fit the model.
    """
    problem = problem_of(m, tasks, avoid, limits, joints)
    rows, _ = targets_of(problem, targets)
    given = np.ascontiguousarray(q, np.float64)
    single = given.ndim == 1
    given = given.reshape(-1, given.shape[-1])
    if given.shape[1] != m.nq:
        raise ValueError(f"q: expected configurations of {m.nq} numbers, got shape {np.shape(q)}")
    n = len(given)
    if len(rows) != n:
        if len(rows) != 1:
            raise ValueError(f"{n} configurations, but {len(rows)} rows of targets")
        rows = np.repeat(rows, n, 0)
    problem.prepare(max(1, min(threads or problem.crew.count, problem.crew.count, n)))
    problem.set_speeds(velocity_limits)
    problem.set_options(
        damping=damping, margin=margin, reach=margin + detection, limit_gain=limit_gain, pair_gain=pair_gain, dt=dt
    )
    found, ok = np.empty((n, m.nv)), np.empty(n, np.uint8)
    problem.attach(target=rows, given=given, found=found, error=np.empty((n, 2)), ok=ok)
    if n == 1:
        call(find_velocities, internals.memory(m), problem.workers[0], 0, 1)
    else:
        run(problem, find_velocities, n, threads)
    return found[0] if single else found
