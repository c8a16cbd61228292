"""Pictures of states, for the commands that draw."""

from __future__ import annotations

import numpy as np

import cardan

RATE = 30
"""Pictures per second of a video."""


def camera_of(m: cardan.MjModel, text: str | None) -> int | str:
    """Return a camera by its name or number; the free camera if `text` is None.

    Raises:
        ValueError: the model has no such camera; the message lists its cameras.
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
    """Takes pictures of states.

    Args:
        m: the model; its offscreen buffer is enlarged to the size.
        size: width and height, pixels.
        camera: name or number of a camera.
        kind: ``color``, ``depth`` or ``segmentation``.
    """

    def __init__(self, m: cardan.MjModel, size: tuple[int, int], camera: str | None, kind: str) -> None:
        buffer = m.vis.global_
        buffer.offwidth, buffer.offheight = max(buffer.offwidth, size[0]), max(buffer.offheight, size[1])
        self.camera, self.kind = camera_of(m, camera), kind
        self.renderer = cardan.Renderer(m, size[1], size[0])
        if kind != "color":
            getattr(self.renderer, f"enable_{kind}_rendering")()

    def take(self, d: cardan.MjData) -> np.ndarray:
        """Draw a picture of a state, (height, width, 3) uint8."""
        self.renderer.update_scene(d, self.camera)
        picture = self.renderer.render()
        if self.kind == "depth":
            return _gray(picture)
        return _distinct(picture) if self.kind == "segmentation" else picture


def _gray(depth: np.ndarray) -> np.ndarray:
    """Convert depths to grey values; near is bright."""
    nearness = 1.0 / np.maximum(depth, 1e-6)
    low, high = nearness.min(), nearness.max()
    gray = np.rint(255 * (nearness - low) / max(high - low, 1e-12)).astype(np.uint8)
    return np.repeat(gray[..., None], 3, axis=2)


def _distinct(segments: np.ndarray) -> np.ndarray:
    """Convert segments to distinct colours; the background is black."""
    number = segments[..., 0].astype(np.int64) + 1009 * segments[..., 1]
    colors = np.stack([number * step % 206 + 50 for step in (67, 131, 197)], -1)
    colors[segments[..., 0] < 0] = 0
    return colors.astype(np.uint8)


def is_due(step: int, timestep: float) -> bool:
    """Whether a picture belongs to a step: to the first step at or after each instant of the video."""
    return step == 0 or int(step * timestep * RATE + 1e-9) > int((step - 1) * timestep * RATE + 1e-9)
