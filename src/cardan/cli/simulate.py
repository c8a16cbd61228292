"""``cardan simulate``: run a model, record the trajectory, write and plot it."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import cardan
from cardan.cli.loading import load_model, model_name, number_of_steps, read_controls, start
from cardan.files import check_writable, write_file
from cardan.step.programs import step_program

Rows = dict[str, np.ndarray]

ARRAYS = ("qpos", "qvel", "act", "ctrl", "sensordata", "energy")
STEPS_BETWEEN_UPDATES = 64
VIDEO_SIZE = (640, 480)
MOST_BYTES = 8 << 30  # largest size of a trajectory in memory


def _empty_rows(d: cardan.MjData, n: int) -> Rows:
    """Allocate n rows of a trajectory; raise an error if they need more than `MOST_BYTES`."""
    row_bytes = sum(getattr(d, name).nbytes for name in ARRAYS) + 3 * np.float64().nbytes
    if n * row_bytes > MOST_BYTES:
        room = MOST_BYTES // row_bytes - 1
        raise ValueError(f"a trajectory of {n - 1:.4g} steps is too long (at most {room:,}): shorten the duration")
    rows = {name: np.zeros((n, *getattr(d, name).shape)) for name in ARRAYS}
    return rows | {"time": np.zeros(n), "ncon": np.zeros(n, np.int64), "solver_niter": np.zeros(n, np.int64)}


def simulate(
    m: cardan.MjModel,
    d: cardan.MjData,
    steps: int,
    controls: np.ndarray | None,
    film: Callable[[int, cardan.MjData], None] | None = None,
) -> tuple[Rows, float]:
    """Simulate with a progress bar. Return the trajectory, and the seconds spent in `mj_step`.

    The trajectory has a row for the start and for each step.

    ``film(step, data)`` is called at the start and after each step.
    """
    rows = _empty_rows(d, steps + 1)

    def keep(k: int) -> None:
        """Store the current state and the results of the last step in row k, and call `film`."""
        for name in ARRAYS:
            rows[name][k] = getattr(d, name)
        rows["time"][k], rows["ncon"][k], rows["solver_niter"][k] = d.time, d.ncon, d.solver_niter[0]
        if film is not None:
            film(k, d)

    step_program(m)  # compiles missing kernels before the time is measured
    cardan.mj_forward(m, d)
    keep(0)
    spent = 0.0
    columns = (TextColumn("simulating"), BarColumn(), TextColumn("{task.fields[at]:.2f} s"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("simulate", total=steps, at=d.time)
        for k in range(steps):
            if controls is not None:
                d.ctrl[:] = controls[min(k, len(controls) - 1)]
            begin = time.perf_counter()
            cardan.mj_step(m, d)
            spent += time.perf_counter() - begin
            keep(k + 1)
            if k % STEPS_BETWEEN_UPDATES == 0:
                progress.update(task, completed=k, at=d.time)
    return rows, spent


def summary(m: cardan.MjModel, d: cardan.MjData, rows: Rows, spent: float) -> Table:
    """Make a table that summarises a simulation."""
    steps = len(rows["time"]) - 1
    simulated = steps * m.opt.timestep
    title = f"{escape(model_name(m))}: {simulated:.3f} s in {steps} steps"
    table = Table(title=title, show_header=False, title_justify="left")
    if steps:
        table.add_row("speed", f"{steps / spent:,.0f} steps/s, {simulated / spent:.1f} x real time")
    table.add_row("size", f"nq {m.nq}, nv {m.nv}, nu {m.nu}, {m.nbody} bodies, {m.ngeom} geoms")
    table.add_row("contacts", f"mean {rows['ncon'].mean():.1f}, most {rows['ncon'].max()}")
    table.add_row("solver iterations", f"mean {rows['solver_niter'].mean():.1f}, most {rows['solver_niter'].max()}")
    total = rows["energy"].sum(axis=1)
    table.add_row("energy", f"{total[0]:.4g} J at the start, {total[-1]:.4g} J at the end")
    for kind in range(int(cardan.mjtWarning.mjNWARNING)):
        if d.warning.number[kind]:
            table.add_row("warning", f"{cardan.mjtWarning(kind).name}: {d.warning.number[kind]} times")
    return table


def _film_into(m: cardan.MjModel, video: Path) -> tuple[Callable[[int, cardan.MjData], None], Callable[[], None]]:
    """Return two functions: one records frames (the `film` of `simulate`), and one writes the video file."""
    from cardan.cli.render import RATE, Photographer, is_due
    from cardan.view.capture import MOVING, VIDEOS, Recorder, is_moving

    if not is_moving(video):
        raise ValueError(f"{video}: a video ends in {', '.join(MOVING + VIDEOS)}")
    photo = Photographer(m, VIDEO_SIZE, None, "color")
    recorder = Recorder(video, RATE)

    def film(step: int, d: cardan.MjData) -> None:
        if is_due(step, m.opt.timestep):
            recorder.add(photo.take(d))

    return film, recorder.save


def archive(rows: Rows) -> bytes:
    """Return the contents of an .npz file with a trajectory."""
    file = io.BytesIO()
    savez: Any = np.savez_compressed  # some versions of its type stubs don't accept arrays by name
    savez(file, **rows)
    return file.getvalue()


def run(
    model: Path,
    duration: float,
    keyframe: str | None,
    ctrl: Path | None,
    out: Path | None,
    plot: Path | None,
    video: Path | None = None,
) -> None:
    """Run the command. All inputs are checked before the simulation starts.

    Args:
        model: model file.
        duration: simulated time, s.
        keyframe: name or number of the keyframe to start from, or None.
        ctrl: file with controls, or None.
        out: file for the trajectory (.npz), or None.
        plot: file for a picture of the trajectory, or None.
        video: file for a video, or None.
    """
    m = load_model(model)
    controls = read_controls(ctrl, m.nu) if ctrl is not None else None
    for path in (out, plot, video):
        if path is not None:
            check_writable(path)
    if plot is not None:
        try:
            from cardan.cli.plot import check_picture
        except ModuleNotFoundError as error:
            if error.name != "matplotlib":
                raise
            raise ValueError("--plot needs the package matplotlib: pip install 'cardan[plot]'") from None
        check_picture(plot)
    m.opt.enableflags |= int(cardan.mjtEnableBit.mjENBL_ENERGY)
    d = start(m, keyframe)
    film, save_video = _film_into(m, video) if video is not None else (None, None)
    rows, spent = simulate(m, d, number_of_steps(duration, m.opt.timestep), controls, film)
    console = Console()
    console.print(summary(m, d, rows, spent))
    if out is not None:
        write_file(out, archive(rows))
        console.print(f"trajectory: {escape(str(out))}")
    if plot is not None:
        from cardan.cli.plot import plotted

        write_file(plot, plotted(m, rows, plot.suffix, model_name(m)))
        console.print(f"picture: {escape(str(plot))}")
    if save_video is not None:
        save_video()
        console.print(f"video: {escape(str(video))}")
