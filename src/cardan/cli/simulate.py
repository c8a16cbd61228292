"""``cardan simulate``: run a model, record what happens, write and plot it."""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import cardan
from cardan.cli.loading import load_model, model_name, start


@dataclass
class Recording:
    """Rows of a trajectory: one a step, and one for the start."""

    time: list[float] = field(default_factory=list)
    qpos: list[np.ndarray] = field(default_factory=list)
    qvel: list[np.ndarray] = field(default_factory=list)
    act: list[np.ndarray] = field(default_factory=list)
    ctrl: list[np.ndarray] = field(default_factory=list)
    sensordata: list[np.ndarray] = field(default_factory=list)
    energy: list[np.ndarray] = field(default_factory=list)
    ncon: list[int] = field(default_factory=list)
    solver_niter: list[int] = field(default_factory=list)

    def add(self, d: cardan.MjData) -> None:
        """Append the present state."""
        for name in ("qpos", "qvel", "act", "ctrl", "sensordata", "energy"):
            getattr(self, name).append(getattr(d, name).copy())
        self.time.append(d.time)
        self.ncon.append(d.ncon)
        self.solver_niter.append(int(d.solver_niter[0]))

    def arrays(self) -> dict[str, np.ndarray]:
        """All rows as arrays, by name."""
        return {name: np.array(rows) for name, rows in vars(self).items()}


def read_controls(path: Path, nu: int) -> np.ndarray:
    """Controls of shape (steps, nu) from a .npy file.

    Raises:
        ValueError: the file isn't an array of numbers of a fitting shape.
    """
    try:
        controls = np.atleast_2d(np.asarray(np.load(path, allow_pickle=False), np.float64))
    except ValueError as error:
        raise ValueError(f"{path}: not a .npy file of numbers ({error})") from None
    if controls.ndim != 2 or controls.shape[1] != nu or not len(controls):
        raise ValueError(f"{path}: expected an array of shape (nu,) or (steps, nu) with nu = {nu}, got {controls.shape}")
    return controls


def replace_file(path: Path, write: Any) -> None:
    """Write a file under another name, then move it into place: readers never see half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=path.suffix)
    os.close(descriptor)
    try:
        write(name)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def record(m: cardan.MjModel, d: cardan.MjData, steps: int, controls: np.ndarray | None) -> tuple[Recording, float]:
    """Simulate with a progress bar; returns the recording and the seconds spent in steps."""
    recording = Recording()
    cardan.mj_forward(m, d)
    recording.add(d)
    spent = 0.0
    columns = (TextColumn("simulating"), BarColumn(), TextColumn("{task.fields[at]:.2f} s"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("simulate", total=steps, at=0.0)
        for k in range(steps):
            if controls is not None:
                d.ctrl[:] = controls[min(k, len(controls) - 1)]
            begin = time.perf_counter()
            cardan.mj_step(m, d)
            spent += time.perf_counter() - begin
            recording.add(d)
            if k % 64 == 0:
                progress.update(task, completed=k, at=d.time)
    return recording, spent


def summary(m: cardan.MjModel, d: cardan.MjData, rows: dict[str, np.ndarray], spent: float) -> Table:
    """What happened, as a table."""
    steps = len(rows["time"]) - 1
    simulated = steps * m.opt.timestep
    table = Table(title=f"{model_name(m)}: {simulated:.3f} s in {steps} steps", show_header=False, title_justify="left")
    rate = steps / spent if spent else 0.0
    table.add_row("speed", f"{rate:,.0f} steps/s, {simulated / spent if spent else 0.0:.1f} x real time")
    table.add_row("size", f"nq {m.nq}, nv {m.nv}, nu {m.nu}, {m.nbody} bodies, {m.ngeom} geoms")
    table.add_row("contacts", f"mean {rows['ncon'].mean():.1f}, most {rows['ncon'].max()}")
    table.add_row("solver iterations", f"mean {rows['solver_niter'].mean():.1f}, most {rows['solver_niter'].max()}")
    total = rows["energy"].sum(axis=1)
    table.add_row("energy", f"{total[0]:.4g} J at the start, {total[-1]:.4g} J at the end")
    for kind in cardan.mjtWarning.__members__.values():
        if int(kind) < len(d.warning.number) and d.warning.number[int(kind)]:
            table.add_row("warning", f"{kind.name}: {d.warning.number[int(kind)]} times")
    return table


def run(model: Path, duration: float, keyframe: str | None, ctrl: Path | None, out: Path | None, plot: Path | None) -> None:
    """The command."""
    m = load_model(model)
    controls = read_controls(ctrl, m.nu) if ctrl is not None else None
    m.opt.enableflags |= int(cardan.mjtEnableBit.mjENBL_ENERGY)
    d = start(m, keyframe)
    recording, spent = record(m, d, round(duration / m.opt.timestep), controls)
    rows = recording.arrays()
    console = Console()
    console.print(summary(m, d, rows, spent))
    if out is not None:
        replace_file(out, lambda name: np.savez_compressed(name, **rows))
        console.print(f"trajectory: {out}")
    if plot is not None:
        from cardan.cli.plot import save_plot

        replace_file(plot, lambda name: save_plot(m, rows, name, model_name(m)))
        console.print(f"picture: {plot}")
