"""``cardan info``: the contents of a model."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

import cardan
from cardan.cli.loading import load_model, model_name, start
from cardan.cli.testspeed import controls, time_stages
from cardan.model import internals
from cardan.model.tables import SIZE_NAMES
from cardan.step.pipeline import STEP
from cardan.step.plan import function_name, plan_of

TIMED_STEPS = 100

SHOWN_OPTIONS = {
    "integrator": cardan.mjtIntegrator,
    "cone": cardan.mjtCone,
    "jacobian": cardan.mjtJacobian,
    "solver": cardan.mjtSolver,
}
PLAIN_OPTIONS = ("timestep", "iterations", "tolerance", "ls_iterations", "impratio")


def _short(member: Any) -> str:
    """Convert the name of a member of an enumeration: ``mjSOL_NEWTON`` -> ``newton``."""
    return member.name.partition("_")[2].lower()


def _joint_text(m: cardan.MjModel, j: int) -> str:
    joint = m.jnt(j)
    text = f"[cyan]{_short(cardan.mjtJoint(int(joint.type[0])))}[/] {escape(joint.name) or j}"
    if joint.limited[0]:
        text += f" [{joint.range[0]:.3g}, {joint.range[1]:.3g}]"
    return text


def body_tree(m: cardan.MjModel) -> Tree:
    """Make the tree of bodies, with joints and geoms."""
    branches: list[Tree] = []
    for b in range(m.nbody):
        body = m.body(b)
        label = f"[bold]{escape(body.name) or b}[/]  {body.mass[0]:.4g} kg"
        branch = Tree(label) if b == 0 else branches[int(body.parentid[0])].add(label)
        first = int(m.body_jntadr[b])
        for j in range(first, first + int(m.body_jntnum[b])):
            branch.add(_joint_text(m, j))
        first = int(m.body_geomadr[b])
        kinds = [_short(cardan.mjtGeom(int(m.geom_type[g]))) for g in range(first, first + int(m.body_geomnum[b]))]
        if kinds:
            branch.add("[dim]geoms: " + ", ".join(kinds) + "[/]")
        branches.append(branch)
    return branches[0]


def plan_tables(m: cardan.MjModel) -> list[Table]:
    """Make tables of a step's plan: stages with their costs, then the functions that stages call through tables."""
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
    return [stages, called] if called.rows else [stages]


def run(model: Path, plan: bool = False) -> None:
    """Run the command; with `plan`, print the plan of a step."""
    m = load_model(model)
    console = Console()
    if plan:
        for part in plan_tables(m):
            console.print(part)
        return
    table = Table(title=escape(model_name(m)), show_header=False, title_justify="left")
    sizes = [(n, getattr(m, n)) for n in SIZE_NAMES if n not in ("nbuffer", "narena")]
    table.add_row("sizes", ", ".join(f"{n} {v}" for n, v in sizes if v > 0))
    options = [f"{n} {getattr(m.opt, n):g}" for n in PLAIN_OPTIONS]
    options += [f"{n} {_short(kinds(getattr(m.opt, n)))}" for n, kinds in SHOWN_OPTIONS.items()]
    table.add_row("options", ", ".join(options))
    table.add_row("gravity", " ".join(f"{g:g}" for g in m.opt.gravity))
    table.add_row("mass", f"{m.body_subtreemass[0]:.6g} kg; extent {m.stat.extent:.4g} m")
    kinds = (("actuator", "s", m.nu), ("sensor", "s", m.nsensor), ("tendon", "s", m.ntendon), ("flex", "es", m.nflex),
             ("key", "s", m.nkey))  # fmt: skip
    if m.nplugin:
        numbers = Counter(internals.plugins(m))
        table.add_row("plugins", ", ".join(f"{escape(name)} ({number})" for name, number in numbers.items()))
    for kind, ending, count in kinds:
        if count:
            table.add_row(kind + ending, ", ".join(escape(getattr(m, kind)(k).name) or str(k) for k in range(count)))
    console.print(table)
    console.print(body_tree(m))
