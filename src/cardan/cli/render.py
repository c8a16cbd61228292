"""``cardan render``: a picture of a model, or a video of its simulation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

import cardan
from cardan.cli.loading import load_model, start
from cardan.cli.photos import RATE, Photographer, is_due
from cardan.cli.simulate import number_of_steps, read_controls
from cardan.files import check_writable
from cardan.view.capture import Recorder, is_moving

MOST_PIXELS = 16384
"""Largest width and height of a picture, pixels."""
SECONDS = 5.0
"""Default length of a video, s of simulated time."""


def size_of(text: str) -> tuple[int, int]:
    """Parse width and height from ``640x480``.

    Raises:
        ValueError: the text has another form, or a number is too large.
    """
    width, _, height = text.lower().partition("x")
    if not (width.isdigit() and height.isdigit()) or not (0 < int(width) <= MOST_PIXELS >= int(height) > 0):
        raise ValueError(f"the size must be like 640x480, at most {MOST_PIXELS} either way, not {text!r}")
    return int(width), int(height)


def draw(
    m: cardan.MjModel,
    d: cardan.MjData,
    steps: int,
    controls: np.ndarray | None,
    photo: Photographer,
    rec: Recorder,
    moving: bool,
) -> None:
    """Simulate with a progress bar; take `RATE` pictures per second, or one at the end."""
    columns = (TextColumn("rendering"), BarColumn(), TextColumn("{task.fields[at]:.2f} s"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("render", total=steps, at=d.time)
        for k in range(steps + 1):
            if is_due(k, m.opt.timestep):
                if moving:
                    rec.add(photo.take(d))
                progress.update(task, completed=k, at=d.time)
            if k < steps:
                if controls is not None:
                    d.ctrl[:] = controls[min(k, len(controls) - 1)]
                cardan.mj_step(m, d)
    if not moving:
        cardan.mj_forward(m, d)
        rec.add(photo.take(d))


def run(
    model: Path,
    out: Path,
    camera: str | None,
    size: str,
    duration: float | None,
    keyframe: str | None,
    ctrl: Path | None,
    depth: bool,
    segmentation: bool,
) -> None:
    """Run the command. All inputs are checked before the work starts."""
    if depth and segmentation:
        raise ValueError("--depth and --segmentation exclude each other")
    moving = is_moving(out)
    pixels = size_of(size)
    m = load_model(model)
    controls = read_controls(ctrl, m.nu) if ctrl is not None else None
    check_writable(out)
    d = start(m, keyframe)
    kind = "depth" if depth else "segmentation" if segmentation else "color"
    photo = Photographer(m, pixels, camera, kind)
    recorder = Recorder(out, RATE)
    cardan.mj_forward(m, d)
    seconds = duration if duration is not None else SECONDS if moving else 0.0
    draw(m, d, number_of_steps(seconds, m.opt.timestep), controls, photo, recorder, moving)
    recorder.save()
    Console().print(f"{'video' if moving else 'picture'}: {escape(str(out))}")
