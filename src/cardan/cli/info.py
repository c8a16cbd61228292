"""``cardan info`` and ``cardan testspeed``: contents, plan and speed of a model."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

import cardan
from cardan.cli.loading import load_model, model_name, start
from cardan.model import internals
from cardan.model.tables import SIZE_NAMES
from cardan.step.pipeline import STEP
from cardan.step.plan import function_name, plan_of
from cardan.step.programs import step_program
from cardan.step.run import StepProgram
from cardan.step.run import run as run_program

TIMED_STEPS = 100

SHOWN_OPTIONS = {
    "integrator": cardan.mjtIntegrator,
    "cone": cardan.mjtCone,
    "jacobian": cardan.mjtJacobian,
    "solver": cardan.mjtSolver,
}
PLAIN_OPTIONS = ("timestep", "iterations", "tolerance", "ls_iterations", "impratio")


def _short(member: Any) -> str:
    """Return a short name for a member of an enumeration: ``newton`` for ``mjSOL_NEWTON``."""
    return member.name.partition("_")[2].lower()


def body_tree(m: cardan.MjModel) -> Tree:
    """Make the tree of bodies, with joints and geoms."""
    branches: list[Tree] = []
    for b in range(m.nbody):
        body = m.body(b)
        label = f"[bold]{escape(body.name) or b}[/]  {body.mass[0]:.4g} kg"
        branch = Tree(label) if b == 0 else branches[int(body.parentid[0])].add(label)
        first = int(m.body_jntadr[b])
        for j in range(first, first + int(m.body_jntnum[b])):
            joint = m.jnt(j)
            text = f"[cyan]{_short(cardan.mjtJoint(int(joint.type[0])))}[/] {escape(joint.name) or j}"
            branch.add(text + (f" [{joint.range[0]:.3g}, {joint.range[1]:.3g}]" if joint.limited[0] else ""))
        first = int(m.body_geomadr[b])
        kinds = [_short(cardan.mjtGeom(int(m.geom_type[g]))) for g in range(first, first + int(m.body_geomnum[b]))]
        if kinds:
            branch.add("[dim]geoms: " + ", ".join(kinds) + "[/]")
        branches.append(branch)
    return branches[0]


def show_plan(model: Path) -> None:
    """Print the plan of a step: stages with their costs, then the functions that stages call through tables."""
    m = load_model(model)
    plan = plan_of(m, STEP)
    rows = controls(m, TIMED_STEPS, 0.1)
    cardan.mj_step(m, start(m, None))  # compiles missing kernels
    seconds = time_stages(m, start(m, None), rows)
    total = sum(seconds.values()) or 1.0
    stages = Table("stage", "defined in", title=f"plan of a step ({len(plan.stages)} stages)", title_justify="left")
    for title in ("us a step", "share"):
        stages.add_column(title, justify="right")
    for stage in plan.stages:
        name = function_name(stage)
        cost = seconds.pop(name, None)  # for a stage that runs several times, the first row shows the sum
        costs = ("", "") if cost is None else (f"{1e6 * cost:.2f}", f"{100 * cost / total:.0f} %")
        stages.add_row(name, getattr(stage, "__module__", "").removeprefix("cardan."), *costs)
    called = Table("table", "place", "function", title="functions that stages call", title_justify="left")
    for field, functions in plan.tables:
        for place, function in functions:
            called.add_row(field, str(place), function_name(function))
    console = Console()
    for table in (stages, called):
        if table.rows:
            console.print(table)


def show(model: Path) -> None:
    """Print the contents of a model."""
    m = load_model(model)
    console = Console()
    table = Table(title=escape(model_name(m)), show_header=False, title_justify="left")
    sizes = [(n, getattr(m, n)) for n in SIZE_NAMES if n not in ("nbuffer", "narena", "is_4_0")]
    table.add_row("sizes", ", ".join(f"{n} {v}" for n, v in sizes if v > 0))
    options = [f"{n} {getattr(m.opt, n):g}" for n in PLAIN_OPTIONS]
    options += [f"{n} {_short(kinds(getattr(m.opt, n)))}" for n, kinds in SHOWN_OPTIONS.items()]
    table.add_row("options", ", ".join(options))
    table.add_row("behaviour", f"of MuJoCo {m.compat}")
    table.add_row("gravity", " ".join(f"{g:g}" for g in m.opt.gravity))
    table.add_row("mass", f"{m.body_subtreemass[0]:.6g} kg; extent {m.stat.extent:.4g} m")
    kinds = (("actuator", "s", m.nactuator), ("sensor", "s", m.nsensor), ("tendon", "s", m.ntendon),
             ("flex", "es", m.nflex), ("key", "s", m.nkey))  # fmt: skip
    if m.nplugin:
        numbers = Counter(internals.plugins(m))
        table.add_row("plugins", ", ".join(f"{escape(name)} ({number})" for name, number in numbers.items()))
    for kind, ending, count in kinds:
        if count:
            table.add_row(kind + ending, ", ".join(escape(getattr(m, kind)(k).name) or str(k) for k in range(count)))
    pieces = piece_counts(m)
    if pieces:
        table.add_row("convex pieces", ", ".join(f"{escape(name)} {count}" for name, count in pieces.items()))
    console.print(table)
    console.print(body_tree(m))


def piece_counts(m: cardan.MjModel) -> dict[str, int]:
    """Return the number of convex pieces of each decomposed mesh, by the mesh's name."""
    last = np.flatnonzero(m.geom_piece >= np.append(m.geom_piece[1:], 0))
    found: dict[str, int] = {}
    for geom in last[m.geom_piece[last] > 0].tolist():
        count = int(m.geom_piece[geom])
        found[m.mesh(int(m.geom_dataid[geom - count])).name] = count
    return found


MAX_PROFILED_STEPS = 500
COUNTS = ("contacts", "constraints", "solver iterations")


def controls(m: cardan.MjModel, steps: int, noise: float) -> np.ndarray:
    """Return smooth random controls around zero, (steps, nu). All runs get the same numbers."""
    raw = np.random.default_rng(0).standard_normal((steps, m.nu))
    rows = np.empty_like(raw)
    smooth = np.zeros(m.nu)
    for k in range(steps):
        smooth = 0.95 * smooth + 0.3 * raw[k]
        rows[k] = smooth
    return noise * rows


def time_stages(m: cardan.MjModel, d: cardan.MjData, rows: np.ndarray) -> dict[str, float]:
    """Return the time in seconds of each stage of a step, by its name: the median over steps with the controls `rows`.

    Stages are called one by one. The overhead of a call from Python is measured with a program without stages and
    subtracted. If a stage runs several times in a step (RK4), its times are added.
    """
    whole = step_program(m)
    programs = [StepProgram(whole.plan._replace(stages=(stage,))) for stage in whole.stages]
    programs.append(StepProgram(whole.plan._replace(stages=())))
    spent = np.empty((len(rows), len(programs)))
    for k, row in enumerate(rows):
        d.ctrl[:] = row
        for j, program in enumerate(programs):
            begin = time.perf_counter()
            run_program(program, m, d)
            spent[k, j] = time.perf_counter() - begin
    medians = np.median(spent, axis=0)
    seconds: dict[str, float] = {}
    for stage, median in zip(whole.stages, np.maximum(medians[:-1] - medians[-1], 0.0), strict=True):
        name = function_name(stage)
        seconds[name] = seconds.get(name, 0.0) + float(median)
    return seconds


def stage_table(seconds: dict[str, float], steps: int) -> Table:
    """Make a table of the time of each stage, in the order of the pipeline."""
    table = Table("stage", title=f"stages (median of {steps} steps, called one by one)", title_justify="left")
    table.add_column("us a step", justify="right")
    table.add_column("share", justify="right")
    total = sum(seconds.values())
    for name, value in seconds.items():
        table.add_row(name, f"{1e6 * value:.2f}", f"{100 * value / (total or 1.0):.0f} %")
    table.add_row("[bold]all[/]", f"[bold]{1e6 * total:.2f}[/]", "")
    return table


def measure(model: Path, steps: int, noise: float, keyframe: str | None) -> None:
    """Print the speed of a model, and the time of each stage.

    `model` is the file, `steps` the number of steps, `noise` the standard deviation of the controls, and `keyframe` the
    name or number of the keyframe to start from, or None.
    """
    m = load_model(model)
    rows = controls(m, steps, noise)
    cardan.mj_step(m, start(m, keyframe))  # compiles missing kernels
    d, spent, counts = start(m, keyframe), 0.0, np.zeros((steps, len(COUNTS)))
    for row, count in zip(rows, counts, strict=True):
        d.ctrl[:] = row
        begin = time.perf_counter()
        cardan.mj_step(m, d)
        spent += time.perf_counter() - begin
        count[:] = d.ncon, d.nefc, d.solver_niter[0]
    console = Console()
    table = Table(title=f"{escape(model_name(m))}: {steps} steps", show_header=False, title_justify="left")
    table.add_row("steps per second", f"{steps / spent:,.0f}")
    table.add_row("real-time factor", f"{steps * m.opt.timestep / spent:,.1f}")
    table.add_row("time a step", f"{1e6 * spent / steps:.1f} us")
    for name, column in zip(COUNTS, counts.T, strict=True):
        table.add_row(f"{name} a step", f"{column.mean():.2f} (most {column.max():.0f})")
    console.print(table)
    profiled = rows[:MAX_PROFILED_STEPS]
    console.print(stage_table(time_stages(m, start(m, keyframe), profiled), len(profiled)))
