"""``cardan testspeed``: the speed of a model, and the time of each stage."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import cardan
from cardan.cli.loading import load_model, model_name, start
from cardan.jit import Program
from cardan.step.plan import function_name
from cardan.step.programs import step_program
from cardan.step.run import StepProgram
from cardan.step.run import run as run_program

MAX_PROFILED_STEPS = 500
COUNTS = ("contacts", "constraints", "solver iterations")


def controls(m: cardan.MjModel, steps: int, noise: float) -> np.ndarray:
    """Smooth random controls around zero, the same in every run (steps, nu)."""
    raw = np.random.default_rng(0).standard_normal((steps, m.nu))
    rows = np.empty_like(raw)
    smooth = np.zeros(m.nu)
    for k in range(steps):
        smooth = 0.95 * smooth + 0.3 * raw[k]
        rows[k] = smooth
    return noise * rows


def time_steps(m: cardan.MjModel, d: cardan.MjData, rows: np.ndarray) -> tuple[float, np.ndarray]:
    """Return seconds spent in steps with these controls, and the counts of each step (steps, 3), see `COUNTS`."""
    counts = np.zeros((len(rows), len(COUNTS)))
    spent = 0.0
    for row, count in zip(rows, counts, strict=True):
        d.ctrl[:] = row
        begin = time.perf_counter()
        cardan.mj_step(m, d)
        spent += time.perf_counter() - begin
        count[:] = d.ncon, d.nefc, d.solver_niter[0]
    return spent, counts


def time_stages(m: cardan.MjModel, d: cardan.MjData, rows: np.ndarray) -> dict[str, float]:
    """Return the seconds that each stage takes in a step with these controls: medians over the steps.

    Stages are called one by one. The overhead of a call from Python is measured with a program without stages and
    subtracted. For a stage that runs several times in a step (RK4), the runs are added.
    """
    whole = step_program(m)
    programs: list[Program] = [StepProgram([stage], forward=whole.forward) for stage in whole.stages]
    programs.append(StepProgram([]))
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


def step_table(m: cardan.MjModel, spent: float, counts: np.ndarray) -> Table:
    """Make a table of the speed and of the counts of the steps."""
    steps = len(counts)
    table = Table(title=f"{escape(model_name(m))}: {steps} steps", show_header=False, title_justify="left")
    table.add_row("steps per second", f"{steps / spent:,.0f}")
    table.add_row("real-time factor", f"{steps * m.opt.timestep / spent:,.1f}")
    table.add_row("time a step", f"{1e6 * spent / steps:.1f} us")
    for name, column in zip(COUNTS, counts.T, strict=True):
        table.add_row(f"{name} a step", f"{column.mean():.2f} (most {column.max():.0f})")
    return table


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


def run(model: Path, steps: int, noise: float, keyframe: str | None) -> None:
    """Run the command."""
    m = load_model(model)
    rows = controls(m, steps, noise)
    cardan.mj_step(m, start(m, keyframe))  # compiles missing kernels
    spent, counts = time_steps(m, start(m, keyframe), rows)
    console = Console()
    console.print(step_table(m, spent, counts))
    profiled = rows[:MAX_PROFILED_STEPS]
    console.print(stage_table(time_stages(m, start(m, keyframe), profiled), len(profiled)))
