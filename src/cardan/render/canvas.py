"""Buffers of colours and depths for drawing, like OpenGL's framebuffers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Canvas:
    """A buffer of colours and depths, the lowest row first.

    Attributes:
        rgb: (height, width, 3), colours.
        depth: (height, width), 0 at the near plane; 1 at the far plane or if the pixel is empty.
    """

    rgb: np.ndarray
    depth: np.ndarray = field(repr=False)

    @classmethod
    def of_size(cls, width: int, height: int) -> Canvas:
        """Make an empty canvas: black, with depths of 1."""
        return cls(np.zeros((height, width, 3), np.uint8), np.ones((height, width)))

    @property
    def width(self) -> int:
        """Width, pixels."""
        return self.rgb.shape[1]

    @property
    def height(self) -> int:
        """Height, pixels."""
        return self.rgb.shape[0]

    def part(self, left: int, bottom: int, width: int, height: int) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
        """Clip a rectangle to the canvas; return the indices of the visible part on the canvas and in the rectangle."""
        x0, x1 = max(left, 0), min(left + width, self.width)
        y0, y1 = max(bottom, 0), min(bottom + height, self.height)
        x1, y1 = max(x0, x1), max(y0, y1)
        inside = (slice(y0 - bottom, y1 - bottom), slice(x0 - left, x1 - left))
        return (slice(y0, y1), slice(x0, x1)), inside

    def fill(self, left: int, bottom: int, width: int, height: int, rgba: tuple[float, float, float, float]) -> None:
        """Blend a rectangle of one colour over the canvas."""
        here, _ = self.part(left, bottom, width, height)
        old = self.rgb[here].astype(float)
        alpha = min(max(rgba[3], 0.0), 1.0)
        new = 255.0 * np.clip(np.array(rgba[:3], float), 0.0, 1.0)
        self.rgb[here] = np.rint(old + alpha * (new - old)).astype(np.uint8)


def window_depth(distance: np.ndarray, near: float, far: float, perspective: bool) -> np.ndarray:
    """Convert distances along the camera's axis to depths from 0 to 1 (OpenGL 1.5, section 2.11)."""
    if perspective:
        return far * (1.0 - near / distance) / (far - near)
    return (distance - near) / (far - near)


def metric_depth(depth: np.ndarray, near: float, far: float, perspective: bool) -> np.ndarray:
    """Convert depths to distances along the camera's axis, m; the inverse of `window_depth`."""
    if perspective:
        return near / (1.0 - depth * (1.0 - near / far))
    return near + depth * (far - near)
