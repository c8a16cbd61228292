"""Table of the private fields of inverse kinematics: the fields of the data, and those of a problem.

Kernels of this package see the model, and a structure that begins with all fields of the data. Stages and colliders
that expect a data can therefore be called with it by address.
"""

from __future__ import annotations

from pathlib import Path

from cardan.jit.memory.fields import Field, Struct
from cardan.model.tables import DATA

ANY = "any"

FRAME, LINE, PLANE, LOOK, COM, POSTURE = range(6)
"""Kinds of tasks."""
PLACES, TURNS, COUNTS = 1, 2, 4
"""Flags of tasks: the task has residuals in metres; it has residuals in radians; `ok` depends on it."""
POSE_NUMBERS = 7
"""Numbers of a pose: position, and quaternion (w, x, y, z)."""

PROBLEM = [
    # dofs that move; a column of each Jacobian is a number of this list
    Field("ik.n", "i4", (), "number of active dofs"),
    Field("ik.dof", "i4", (ANY,), "active dofs"),
    Field("ik.column", "i4", (ANY,), "column of each dof of the model, or -1"),
    Field("ik.qadr", "i4", (ANY,), "address in qpos of the hinge or slide of each active dof; -1 for other joints"),
    Field("ik.low", "f8", (ANY,), "lower limit of the joint of each active dof"),
    Field("ik.high", "f8", (ANY,), "upper limit of the joint of each active dof"),
    Field("ik.speed", "f8", (ANY,), "largest velocity of each active dof; infinite if it has no limit"),
    Field("ik.joint", "i4", (ANY,), "joints with active dofs"),
    Field("ik.moves", "i4", (ANY,), "addresses in qpos of the coordinates of these joints"),
    # what forward kinematics computes
    Field("ik.body", "i4", (ANY,), "bodies, parents first"),
    Field("ik.geom", "i4", (ANY,), "geoms"),
    Field("ik.site", "i4", (ANY,), "sites"),
    Field("ik.needs_com", "i4", (), "whether centres of mass are needed"),
    # tasks
    Field("ik.task_kind", "i4", (ANY,), "kind of each task"),
    Field("ik.task_flags", "i4", (ANY,), "flags of each task"),
    Field("ik.task_frame", "i4", (ANY, 2), "type (mjtObj) and id of the frame"),
    Field("ik.task_root", "i4", (ANY, 2), "type (mjtObj) and id of the frame in which the target is expressed"),
    Field("ik.task_row", "i4", (ANY,), "first row of the Jacobian"),
    Field("ik.task_rows", "i4", (ANY,), "number of rows of the Jacobian"),
    Field("ik.task_adr", "i4", (ANY,), "first number in a row of `target`"),
    Field("ik.task_cost", "f8", (ANY, 6), "cost of each row"),
    Field("ik.task_gain", "f8", (ANY,), "gain"),
    Field("ik.task_damping", "f8", (ANY,), "damping in proportion to the squared error"),
    Field("ik.task_local", "f8", (ANY, 3), "point of the task in the frame, m"),
    Field("ik.task_axis", "f8", (ANY, 3), "axis of a task that looks at a point, in the frame"),
    Field("ik.posture_cost", "f8", (ANY, ANY), "cost of each active dof in each task of a posture"),
    Field("ik.equality", "i4", (ANY,), "equality constraints"),
    Field("ik.tendons", "i8", (), "address of the stage that computes tendons, or 0"),
    Field("ik.pair", "i4", (ANY, 2), "geoms that keep a distance"),
    Field("ik.closest", "i8", (), "address of the collider `closest_points`"),
    Field("ik.evaluate", "i8", (), "address of the kernel `evaluate`"),
    Field("ik.minimise", "i8", (), "address of the kernel `solve_program`"),
    # options
    Field("ik.damping", "f8", (), "damping of all dofs"),
    Field("ik.place_tolerance", "f8", (), "largest error, m"),
    Field("ik.turn_tolerance", "f8", (), "largest error, rad"),
    Field("ik.steps", "i4", (), "largest number of steps from one start"),
    Field("ik.starts", "i4", (), "largest number of starts from the table, beside those of the caller"),
    Field("ik.margin", "f8", (), "smallest distance of pairs, m"),
    Field("ik.reach", "f8", (), "distance of pairs, m, beyond which they are ignored"),
    Field("ik.pair_gain", "f8", (), "share of the distance to the margin by which a pair may approach in a step"),
    Field("ik.limit_gain", "f8", (), "share of the distance to a limit by which a joint may approach it in a step"),
    Field("ik.share", "f8", (), "damping of steps, per cost"),
    Field("ik.largest_step", "f8", (), "largest step of a dof, rad or m"),
    Field("ik.stall", "f8", (), "a start is given up if the cost falls by less than this factor in a few steps"),
    Field("ik.settles", "i4", (), "whether steps go on to the minimum of all costs"),
    Field("ik.dt", "f8", (), "time of a control step, s"),
    # arguments and results of a call
    Field("ik.target", "f8", (ANY, ANY), "targets of all tasks, a row each"),
    Field("ik.given", "f8", (ANY, ANY), "configurations of the caller: starts, or those at which to compute"),
    Field("ik.base", "i4", (), "address in qpos of the free joint that moves all frames of poses, or -1"),
    Field("ik.given_count", "i4", (), "number of starts for each target"),
    Field("ik.given_step", "i4", (), "rows of `given` between those of a target and the next"),
    Field("ik.table", "f8", (ANY, ANY), "configurations of the table of starts"),
    Field(
        "ik.table_pose",
        "f8",
        (ANY, ANY),
        "poses of the tasks' frames, seven rows each; columns are rows of `table`",
    ),
    Field("ik.found", "f8", (ANY, ANY), "configurations found, or velocities"),
    Field("ik.error", "f8", (ANY, 2), "largest errors, m and rad"),
    Field("ik.ok", "u1", (ANY,), "whether a result meets all demands"),
    Field("ik.effort", "i4", (ANY, 2), "numbers of starts and of steps"),
    # work of a thread: the current configuration
    Field("ik.row", "i4", (), "current row of `target`"),
    Field("ik.cost", "f8", (), "half the sum of squares of all weighted residuals"),
    Field("ik.place_error", "f8", (), "largest error of tasks that count, m"),
    Field("ik.turn_error", "f8", (), "largest error of tasks that count, rad"),
    Field("ik.broken", "f8", (), "largest violation of an equality constraint"),
    Field("ik.missing", "f8", (), "largest amount, m, by which a distance is below the margin"),
    Field("ik.breach", "f8", (), "sum of all violations of equality constraints and distances"),
    Field("ik.rel", "f8", (ANY, ANY), "Jacobian of a relative motion: translation, rotation"),
    Field("ik.J", "f8", (ANY, ANY), "weighted Jacobian"),
    Field("ik.r", "f8", (ANY,), "weighted residuals"),
    Field("ik.posture", "f8", (ANY, ANY), "weighted residuals of tasks of a posture"),
    Field("ik.H", "f8", (ANY, ANY), "J'J"),
    Field("ik.g", "f8", (ANY,), "gradient"),
    # work of a thread: a step
    Field("ik.saved", "f8", (ANY,), "configuration before the step"),
    Field("ik.move", "f8", (ANY,), "step of all dofs of the model"),
    Field("ik.rank", "f8", (ANY,), "merit of each configuration of the table; infinite after its use"),
    # derivatives of a solution
    Field("ik.direction", "i4", (ANY, 2), "directions of targets: task, and number within the task"),
    Field("ik.goal", "f8", (ANY,), "current row of `target`"),
    Field("ik.multiplier", "f8", (ANY,), "multipliers of the rows of equalities"),
    Field("ik.slope", "f8", (ANY, ANY), "derivatives of the gradient along the active dofs, then along the targets"),
    # work of a thread: the quadratic program
    Field("ik.x", "f8", (ANY,), "solution"),
    Field("ik.x_low", "f8", (ANY,), "lower bounds"),
    Field("ik.x_high", "f8", (ANY,), "upper bounds"),
    Field("ik.A", "f8", (ANY, ANY), "rows: those of equalities, then those of inequalities A x >= b"),
    Field("ik.b", "f8", (ANY,), "right sides of the rows"),
    Field("ik.nequal", "i4", (), "number of rows of equalities"),
    Field("ik.nrow", "i4", (), "number of rows"),
    Field("ik.L", "f8", (ANY, ANY), "Cholesky factor of the matrix, lower triangle"),
    Field("ik.V", "f8", (ANY, ANY), "L^-1 times the normal of each active constraint"),
    Field("ik.Q", "f8", (ANY, ANY), "orthonormal rows with the span of the rows of V"),
    Field("ik.R", "f8", (ANY, ANY), "V = R'Q, with R upper triangular"),
    Field("ik.u", "f8", (ANY,), "multipliers of active constraints"),
    Field("ik.active", "i4", (ANY,), "active constraints"),
    Field("ik.nactive", "i4", (), "number of active constraints"),
    Field("ik.state", "i4", (ANY,), "of each constraint: 0, 1 if active, 2 if it can't be met"),
    Field("ik.v", "f8", (ANY,), "L^-1 times the normal of the constraint that is being added"),
    Field("ik.w", "f8", (ANY,), "part of v orthogonal to the rows of Q"),
    Field("ik.y", "f8", (ANY,), "coefficients of v; rates of the multipliers"),
    Field("ik.z", "f8", (ANY,), "direction of the solution"),
]

IK = Struct("Ik", [*DATA.fields, *PROBLEM], readonly=False)
"""Data of a problem of inverse kinematics."""

STUB = Path(__file__).with_name("kernel_views.pyi")


def stub_text() -> str:
    """Return the text of ``kernel_views.pyi``."""
    from cardan.model.stubs import kernel_views_text

    group = Struct("Problem", [f._replace(name=f.name.removeprefix("ik.")) for f in PROBLEM], readonly=False)
    header = '"""Fields as kernels of inverse kinematics see them; written by `python -m cardan.ik.fields`."""'
    views = kernel_views_text(group, imports="from cardan.model.kernel_views import Data\n")
    return f"{header}\n\n{views}\nclass Ik(Data):\n    ik: Final[Problem]\n"


if __name__ == "__main__":
    from cardan.files import write_file

    write_file(STUB, stub_text())
