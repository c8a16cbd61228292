"""Solutions for targets: damped Gauss-Newton steps within limits, from one or many starts.

A step minimises ``1/2 |J dq + r|^2 + 1/2 lambda |dq|^2`` within the joint limits and the rows of equality constraints
and distances. The damping lambda is proportional to the cost, so that convergence is quadratic near a solution without
residual (T. Sugihara, Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method, IEEE Transactions
on Robotics 27, 2011). It grows if a step does not lower the merit: the cost plus a multiple of all violations, which
exceeds the largest multiplier (exact penalty; J. Nocedal, S. Wright, Numerical Optimization, section 17.2).

Distances are ignored until a start has reached its target. Only then, and only if a pair is too near, steps go on with
their rows.
"""

from __future__ import annotations

from cardan.dynamics.kinematics import get_quat
from cardan.ik.avoidance import breach_of_pairs
from cardan.ik.evaluation import ik_stage
from cardan.ik.fields import FRAME, PLACES, POSE_NUMBERS, TURNS
from cardan.ik.kernel_views import Ik
from cardan.ik.placing import advance, clamp_joints, place, relative_point, relative_quat
from cardan.ik.quadratic import factorise
from cardan.ik.residuals import find_hessian
from cardan.jit import call_collider, kernel
from cardan.maths.quaternion import mul_quat, neg_quat, normalize4, rot_vec_quat
from cardan.maths.types import Pose, Vec3
from cardan.maths.vector import add3, scale3, sub3
from cardan.model.kernel_views import Model

LEAST_DAMPING = 1e-10
LEAST_FACTOR = 1e-4
"""Smallest factor of the damping, after steps that lowered the merit."""
GOOD, POOR = 0.7, 0.25
"""Ratios of the actual to the expected fall of the merit above and below which the damping shrinks and grows."""
PERSISTENT = 1.0
"""Value of `stall` with which steps go on until they are small."""
ROUNDING = 1e-12
"""Expected fall, relative to the cost, below which the fall can't be measured, and every step is made."""
TRIES = 6
"""Number of dampings that are tried in one step."""
PATIENCE = 4
"""Number of steps in which the cost must fall by the factor `stall`."""
BREACH_COST = 1e3
"""Cost per unit of violation, when results that do not meet all demands are compared."""
UNBOUNDED = 1e300


@kernel
def evaluate_at(m: Model, d: Ik, avoids: bool) -> None:
    """Call `evaluate` by its address, which is compiled only once."""
    call_collider(d.ik.evaluate, m, d, 1 if avoids else 0, 0)


@kernel
def meets_demands(d: Ik) -> bool:
    """Return whether all errors and violations of the last `evaluate` are within the tolerances."""
    on_target = d.ik.place_error <= d.ik.place_tolerance and d.ik.turn_error <= d.ik.turn_tolerance
    return on_target and d.ik.broken <= d.ik.place_tolerance and d.ik.missing <= 0.0


@kernel
def set_bounds(d: Ik) -> None:
    """Set the bounds of the step: the joint limits, and the largest step."""
    for c in range(d.ik.n):
        d.ik.x_low[c] = -d.ik.largest_step
        d.ik.x_high[c] = d.ik.largest_step
        adr = d.ik.qadr[c]
        if adr >= 0:
            d.ik.x_low[c] = max(d.ik.x_low[c], d.ik.low[c] - d.qpos[adr])
            d.ik.x_high[c] = min(d.ik.x_high[c], d.ik.high[c] - d.qpos[adr])


@kernel
def keep(m: Model, d: Ik) -> None:
    """Save the configuration."""
    for i in range(m.nq):
        d.ik.saved[i] = d.qpos[i]


@kernel
def go_back(m: Model, d: Ik) -> None:
    """Return to the saved configuration."""
    for i in range(m.nq):
        d.qpos[i] = d.ik.saved[i]


@kernel
def largest_multiplier(d: Ik) -> float:
    """Largest multiplier of a row in the last quadratic program."""
    found = 0.0
    for k in range(d.ik.nactive):
        if d.ik.active[k] < d.ik.nrow:
            found = max(found, abs(d.ik.u[k]))
    return found


@kernel
def largest_move(d: Ik) -> float:
    """Largest component of the last step."""
    found = 0.0
    for c in range(d.ik.n):
        found = max(found, abs(d.ik.x[c]))
    return found


@kernel
def expected_fall(d: Ik) -> float:
    """Fall of the cost that the linearised residuals predict for the step `x`: -(g'x + 1/2 x'Hx)."""
    total = 0.0
    for i in range(d.ik.n):
        product = d.ik.g[i] + 0.5 * d.ik.H[i, i] * d.ik.x[i]
        for j in range(i):
            product += d.ik.H[i, j] * d.ik.x[j]
        total -= product * d.ik.x[i]
    return total


@kernel
def step_down(m: Model, d: Ik, avoids: bool, factor: float, penalty: float) -> tuple[float, float]:
    """Make one step that lowers the merit, if there is one; return the new factor of the damping, and the penalty.

    If no step lowers the merit, the factor is negative, and the configuration does not change.
    """
    find_hessian(d)
    keep(m, d)
    cost, breach = d.ik.cost, d.ik.breach
    for _ in range(TRIES):
        set_bounds(d)
        factorise(d, factor * d.ik.share * cost + LEAST_DAMPING)
        call_collider(d.ik.minimise, m, d, 0, 0)
        penalty = max(penalty, 2.0 * largest_multiplier(d))
        expected = expected_fall(d) + penalty * breach
        advance(m, d)
        evaluate_at(m, d, avoids)
        lowered = cost + penalty * breach - d.ik.cost - penalty * d.ik.breach
        if lowered > 0.0 or expected < ROUNDING * cost:
            quality = lowered / max(expected, 1e-300)
            if quality > GOOD:
                factor = max(LEAST_FACTOR, 0.25 * factor)
            elif quality < POOR:
                factor *= 4.0
            return factor, penalty
        go_back(m, d)
        evaluate_at(m, d, avoids)
        factor = max(8.0 * factor, 1e-6 / max(cost, 1e-12))
    return -1.0, penalty


@kernel
def descend(m: Model, d: Ik, avoids: bool, stall: float) -> int:
    """Improve ``d.qpos`` until it meets the demands, or makes no progress; return the number of steps.

    Progress means that the cost falls by the factor `stall` in `PATIENCE` steps, or, if `stall` is `PERSISTENT`, that
    steps are larger than the tolerance.
    """
    evaluate_at(m, d, avoids)
    factor, penalty = 1.0, 0.0
    reference, count = d.ik.cost + d.ik.breach, 0
    moved = 1.0
    for k in range(d.ik.steps):
        small = moved < d.ik.turn_tolerance
        if small if stall >= PERSISTENT and (d.ik.settles != 0 or not meets_demands(d)) else meets_demands(d):
            break
        factor, penalty = step_down(m, d, avoids, factor, penalty)
        count += 1
        if factor < 0.0:
            break
        moved = largest_move(d)
        if stall < PERSISTENT and k % PATIENCE == PATIENCE - 1:
            now = d.ik.cost + d.ik.breach
            if now > stall * reference:
                break
            reference = now
    return count


@kernel
def attempt(m: Model, d: Ik, stall: float) -> int:
    """Improve ``d.qpos``, with distances only if they are violated on the target; return the number of steps."""
    clamp_joints(d)
    count = descend(m, d, False, stall)
    if meets_demands(d) and len(d.ik.pair) > 0:
        d.ik.missing = breach_of_pairs(m, d)
        if d.ik.missing > 0.0:
            count += descend(m, d, True, stall)
    return count


@kernel
def goal_of(d: Ik, t: int) -> Pose:
    """Return the current target of task `t`, a pose."""
    a, row, adr = d.ik.target, d.ik.row, d.ik.task_adr[t]
    quat = (a[row, adr + 3], a[row, adr + 4], a[row, adr + 5], a[row, adr + 6])
    return (a[row, adr], a[row, adr + 1], a[row, adr + 2]), quat


@kernel
def pose_of_start(d: Ik, t: int, k: int) -> Pose:
    """Return the pose of the frame of task `t` in row `k` of the table."""
    a, adr = d.ik.table_pose, POSE_NUMBERS * t
    return (a[adr, k], a[adr + 1, k], a[adr + 2, k]), (a[adr + 3, k], a[adr + 4, k], a[adr + 5, k], a[adr + 6, k])


@kernel
def alignment(d: Ik, k: int) -> Pose:
    """Motion of the floating base that brings the frames of row `k` of the table near their targets, as a pose.

    It is the mean of the motions that bring single frames to their targets. Without a floating base, it is the
    identity.
    """
    place, turn, count = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0), 0.0
    if d.ik.base < 0:
        return place, (1.0, 0.0, 0.0, 0.0)
    for t in range(len(d.ik.task_kind)):
        if d.ik.task_kind[t] == FRAME and d.ik.task_flags[t] & TURNS:
            quat = mul_quat(goal_of(d, t)[1], neg_quat(pose_of_start(d, t, k)[1]))
            side = quat[0] * turn[0] + quat[1] * turn[1] + quat[2] * turn[2] + quat[3] * turn[3]
            sign = -1.0 if side < 0.0 else 1.0
            turn = (
                turn[0] + sign * quat[0],
                turn[1] + sign * quat[1],
                turn[2] + sign * quat[2],
                turn[3] + sign * quat[3],
            )
    turn = normalize4(turn)
    for t in range(len(d.ik.task_kind)):
        if d.ik.task_kind[t] == FRAME and d.ik.task_flags[t] & PLACES:
            here = rot_vec_quat(pose_of_start(d, t, k)[0], turn)
            place = add3(place, sub3(goal_of(d, t)[0], here))
            count += 1.0
    return scale3(place, 1.0 / max(count, 1.0)), turn


@kernel
def pose_cost(here: Pose, goal: Pose, place: Vec3, turn: float) -> float:
    """Return the weighted square of the difference of two poses; `place` and `turn` are squares of costs."""
    x, y, z = here[0][0] - goal[0][0], here[0][1] - goal[0][1], here[0][2] - goal[0][2]
    a, b = here[1], goal[1]
    cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    return place[0] * x * x + place[1] * y * y + place[2] * z * z + 4.0 * turn * (1.0 - cosine * cosine)


@kernel
def squares_of_costs(d: Ik, t: int) -> tuple[Vec3, float]:
    """Return the squares of the costs of a task of a pose: of its position, and of its orientation."""
    square, last = (0.0, 0.0, 0.0), 0.0
    places = d.ik.task_flags[t] & PLACES
    if places:
        x, y, z = d.ik.task_cost[t, 0], d.ik.task_cost[t, 1], d.ik.task_cost[t, 2]
        square = (x * x, y * y, z * z)
    if d.ik.task_flags[t] & TURNS:
        last = d.ik.task_cost[t, 5 if places else 2]
    return square, last * last


@kernel
def rank_starts(d: Ik) -> None:
    """Estimate the cost of each configuration of the table: from the poses of its frames, without other tasks.

    Without a floating base, the inner loop runs over adjacent numbers, so that it is vectorised.
    """
    for k in range(len(d.ik.rank)):
        d.ik.rank[k] = 0.0
    if d.ik.base >= 0:
        for k in range(len(d.ik.rank)):
            place, turn = alignment(d, k)
            for t in range(len(d.ik.task_kind)):
                if d.ik.task_kind[t] == FRAME:
                    here, (square, last) = pose_of_start(d, t, k), squares_of_costs(d, t)
                    moved = (add3(place, rot_vec_quat(here[0], turn)), mul_quat(turn, here[1]))
                    d.ik.rank[k] += pose_cost(moved, goal_of(d, t), square, last)
        return
    for t in range(len(d.ik.task_kind)):
        if d.ik.task_kind[t] == FRAME:
            goal, (square, last) = goal_of(d, t), squares_of_costs(d, t)
            for k in range(len(d.ik.rank)):
                d.ik.rank[k] += pose_cost(pose_of_start(d, t, k), goal, square, last)


@kernel
def align_base(d: Ik, k: int) -> None:
    """Move the floating base of the configuration, which is row `k` of the table, as `alignment` says."""
    base = d.ik.base
    if base >= 0:
        place, turn = alignment(d, k)
        pos = add3(place, rot_vec_quat((d.qpos[base], d.qpos[base + 1], d.qpos[base + 2]), turn))
        quat = mul_quat(turn, get_quat(d.qpos, base + 3))
        for i in range(3):
            d.qpos[base + i] = pos[i]
        for i in range(4):
            d.qpos[base + 3 + i] = quat[i]


@kernel
def load_start(m: Model, d: Ik, number: int) -> bool:
    """Set ``d.qpos`` to start `number` of a target: first those of the caller, then those of the table by rank.

    Return whether there is such a start.
    """
    if number < d.ik.given_count:
        row = d.ik.row * d.ik.given_step + number
        for i in range(m.nq):
            d.qpos[i] = d.ik.given[row, i]
        return True
    if number == d.ik.given_count:
        rank_starts(d)
    best = UNBOUNDED
    chosen = -1
    for k in range(len(d.ik.table)):
        if d.ik.rank[k] < best:
            best = d.ik.rank[k]
            chosen = k
    if chosen < 0:
        return False
    d.ik.rank[chosen] = UNBOUNDED
    for i in range(m.nq):
        d.qpos[i] = d.ik.given[d.ik.row * d.ik.given_step, i] if d.ik.given_count > 0 else d.ik.table[chosen, i]
    for k in range(len(d.ik.moves)):
        d.qpos[d.ik.moves[k]] = d.ik.table[chosen, d.ik.moves[k]]
    align_base(d, chosen)
    return True


@kernel
def put_result(m: Model, d: Ik, met: bool) -> None:
    """Store the current configuration and its errors as the result of the current target."""
    row = d.ik.row
    for i in range(m.nq):
        d.ik.found[row, i] = d.qpos[i]
    d.ik.error[row, 0] = d.ik.place_error
    d.ik.error[row, 1] = d.ik.turn_error
    d.ik.ok[row] = 1 if met else 0


@kernel
def merit_of(d: Ik) -> float:
    """Merit by which results that do not meet all demands are compared."""
    return d.ik.cost + BREACH_COST * (d.ik.broken + max(d.ik.missing, 0.0))


@kernel
def improve(m: Model, d: Ik, best: float) -> int:
    """Go on from the best result of the current target to a minimum; return the number of steps."""
    for i in range(m.nq):
        d.qpos[i] = d.ik.found[d.ik.row, i]
    count = descend(m, d, len(d.ik.pair) > 0, PERSISTENT)
    met = meets_demands(d)
    if met or merit_of(d) < best:
        put_result(m, d, met)
    return count


@ik_stage
def solve_targets(m: Model, d: Ik, first: int, last: int) -> int:
    """Solve for the targets `first` to `last` (exclusive); for each, starts are tried until one meets all demands."""
    for row in range(first, last):
        d.ik.row = row
        best = UNBOUNDED
        met = False
        stall = PERSISTENT if d.ik.settles != 0 else d.ik.stall
        count, number = 0, 0
        while number < d.ik.given_count + d.ik.starts and load_start(m, d, number):
            number += 1
            count += attempt(m, d, stall)
            met = meets_demands(d)
            merit = merit_of(d)
            if met or merit < best:
                best = merit
                put_result(m, d, met)
            if met:
                break
        if not met and best < UNBOUNDED:
            count += improve(m, d, best)
        d.ik.effort[row, 0] = number
        d.ik.effort[row, 1] = count
    return 0


@ik_stage
def tabulate(m: Model, d: Ik, first: int, last: int) -> int:
    """Compute the poses of the tasks' frames in the configurations `first` to `last` (exclusive) of the table."""
    for row in range(first, last):
        for i in range(m.nq):
            d.qpos[i] = d.ik.table[row, i]
        place(m, d)
        for t in range(len(d.ik.task_kind)):
            if d.ik.task_kind[t] == FRAME:
                point, quat = relative_point(m, d, t), relative_quat(m, d, t)
                for i in range(3):
                    d.ik.table_pose[POSE_NUMBERS * t + i, row] = point[i]
                for i in range(4):
                    d.ik.table_pose[POSE_NUMBERS * t + 3 + i, row] = quat[i]
    return 0
