"""``cardan render``: a picture of a model, or a video of its simulation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

import cardan
from cardan.cli.loading import load_model, number_of_steps, read_controls, start
from cardan.files import check_writable
from cardan.view.capture import Recorder, is_moving

RATE = 30
"""Frames per second of a video."""


def camera_of(m: cardan.MjModel, text: str | None) -> int | str:
    """Return the name or number of the camera that `text` specifies. If `text` is None, return -1, the free camera.

    An unknown camera raises an error that lists all cameras.
    """
    if text is None:
        return -1
    names = [m.camera(k).name for k in range(m.ncam)]
    if text in names:
        return text
    if text.lstrip("-").isdigit() and -1 <= int(text) < m.ncam:
        return int(text)
    known = ", ".join(name or str(k) for k, name in enumerate(names)) or "none"
    raise ValueError(f"the model has no camera {text!r}; its cameras: {known}, and -1, the free one")


class Photographer:
    """Renderer of one kind of image: ``color``, ``depth`` or ``segmentation``.

    If the model's offscreen buffer is smaller than the image, the buffer is enlarged.
    """

    def __init__(self, m: cardan.MjModel, size: tuple[int, int], camera: str | None, kind: str) -> None:
        buffer = m.vis.global_
        buffer.offwidth, buffer.offheight = max(buffer.offwidth, size[0]), max(buffer.offheight, size[1])
        self.camera, self.kind = camera_of(m, camera), kind
        self.renderer = cardan.Renderer(m, size[1], size[0])
        if kind != "color":
            getattr(self.renderer, f"enable_{kind}_rendering")()

    def take(self, d: cardan.MjData) -> np.ndarray:
        """Render a state, and return the image (height, width, 3), uint8."""
        self.renderer.update_scene(d, self.camera)
        picture = self.renderer.render()
        if self.kind == "depth":  # near is bright
            nearness = 1.0 / np.maximum(picture, 1e-6)
            low, high = nearness.min(), nearness.max()
            gray = np.rint(255 * (nearness - low) / max(high - low, 1e-12)).astype(np.uint8)
            return np.repeat(gray[..., None], 3, axis=2)
        if self.kind == "segmentation":  # distinct colours; the background is black
            number = picture[..., 0].astype(np.int64) + 1009 * picture[..., 1]
            colors = np.stack([number * step % 206 + 50 for step in (67, 131, 197)], -1)
            colors[picture[..., 0] < 0] = 0
            return colors.astype(np.uint8)
        return picture


def is_due(step: int, timestep: float) -> bool:
    """Return whether a video frame is due at this step.

    A frame is due at the first step at or after the time of the frame.
    """
    return step == 0 or int(step * timestep * RATE + 1e-9) > int((step - 1) * timestep * RATE + 1e-9)


MOST_PIXELS = 16384
"""Largest width and height of an image, in pixels."""
SECONDS = 5.0
"""Default length of a video, in seconds of simulated time."""


def size_of(text: str) -> tuple[int, int]:
    """Parse width and height from text such as ``640x480``; raise an error if the form or a size is invalid."""
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
    """Simulate with a progress bar, and record images.

    If `moving`, record `RATE` frames per second of simulated time; otherwise record one image of the final state.
    """
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
    """Run the command. All inputs are checked before the work starts.

    Args:
        model: model file.
        out: file to write; its suffix decides between picture and video.
        camera: name or number of a camera; None: the free camera.
        size: width and height, pixels, such as ``640x480``.
        duration: simulated time, s; None: 0 for a picture, `SECONDS` for a video.
        keyframe: name or number of the keyframe to start from, or None.
        ctrl: file with controls, or None.
        depth: whether to draw depths in place of colours.
        segmentation: whether to draw each object in a uniform colour of its own.
    """
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
