"""``cardan testspeed``: how fast a model runs, and where the time goes."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import cardan
from cardan.cli.loading import load_model, model_name, start
from cardan.jit.driver import Program
from cardan.step.pipeline import step_program
from cardan.step.run import run as run_program

MAX_PROFILED_STEPS = 500


def controls(m: cardan.MjModel, steps: int, noise: float) -> np.ndarray:
    """Smooth random controls around the middle of the control range, the same every time (steps, nu)."""
    raw = np.random.default_rng(0).standard_normal((steps, m.nu))
    smooth = 0.0
    rows = np.empty_like(raw)
    for k in range(steps):
        smooth = 0.95 * smooth + 0.3 * raw[k]
        rows[k] = smooth
    return noise * rows


def stage_times(m: cardan.MjModel, d: cardan.MjData, rows: np.ndarray) -> dict[str, float]:
    """Seconds spent in each stage over the given controls, stages called one by one."""
    stages = step_program(m).stages
    programs = [(getattr(s, "__name__", "callback"), Program([s])) for s in stages]
    empty = Program([])
    times = {name: 0.0 for name, _ in programs}
    clock = time.perf_counter
    for row in rows:
        d.ctrl[:] = row
        for name, program in programs:
            begin = clock()
            run_program(empty, m, d)
            middle = clock()
            run_program(program, m, d)
            times[name] += (clock() - middle) - (middle - begin)
    return {name: max(seconds, 0.0) for name, seconds in times.items()}


def run(model: Path, steps: int, noise: float, keyframe: str | None) -> None:
    """The command."""
    m = load_model(model)
    d = start(m, keyframe)
    rows = controls(m, steps, noise)
    cardan.mj_step(m, d)
    d = start(m, keyframe)
    counts = np.zeros((steps, 3))
    spent = 0.0
    for k in range(steps):
        d.ctrl[:] = rows[k]
        begin = time.perf_counter()
        cardan.mj_step(m, d)
        spent += time.perf_counter() - begin
        counts[k] = d.ncon, d.nefc, d.solver_niter[0]
    table = Table(title=f"{model_name(m)}: {steps} steps", show_header=False, title_justify="left")
    table.add_row("steps per second", f"{steps / spent:,.0f}")
    table.add_row("real-time factor", f"{steps * m.opt.timestep / spent:,.1f}")
    table.add_row("time a step", f"{1e6 * spent / steps:.1f} us")
    for name, column in zip(("contacts", "constraints", "solver iterations"), counts.T, strict=True):
        table.add_row(f"{name} a step", f"{column.mean():.2f} (most {column.max():.0f})")
    console = Console()
    console.print(table)
    profiled = rows[:MAX_PROFILED_STEPS]
    console.print(stage_table(stage_times(m, start(m, keyframe), profiled), len(profiled)))


def stage_table(times: dict[str, float], steps: int) -> Table:
    """Time a stage, the largest first."""
    table = Table("stage", "us a step", "share", title=f"stages (first {steps} steps, called one by one)", title_justify="left")
    total = sum(times.values()) or 1.0
    for name, seconds in sorted(times.items(), key=lambda item: -item[1]):
        table.add_row(name, f"{1e6 * seconds / steps:.2f}", f"{100 * seconds / total:.0f} %")
    return table
