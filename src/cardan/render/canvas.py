"""Buffers of colours and depths for drawing, like OpenGL's framebuffers; text in them, with Pillow's default font."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np


@dataclass
class Canvas:
    """A buffer, the lowest row first: colours, (height, width, 3), and depths, (height, width).

    A depth is 0 at the near plane, and 1 at the far plane or if the pixel is empty.
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

    def fill(self, left: int, bottom: int, width: int, height: int, rgba: Sequence[float] | np.ndarray) -> None:
        """Blend a rectangle of one colour over the canvas."""
        here, _ = self.part(left, bottom, width, height)
        old = self.rgb[here].astype(float)
        alpha = min(max(rgba[3], 0.0), 1.0)
        new = 255.0 * np.clip(np.array(rgba[:3], float), 0.0, 1.0)
        self.rgb[here] = np.rint(old + alpha * (new - old)).astype(np.uint8)


def window_depth(distance: np.ndarray, near: float, far: float) -> np.ndarray:
    """Convert distances along the axis of a perspective camera to depths from 0 to 1 (OpenGL 1.5, section 2.11)."""
    return far * (1.0 - near / distance) / (far - near)


NORMAL_SIZE, BIG_SIZE = 11.0, 22.0
"""Sizes of the two fonts at a scale of 100 per cent, pixels."""
FIRST, LAST = 32, 127


@cache
def _font(size: int) -> Any:
    """Return Pillow's default font in a size, pixels."""
    from PIL import ImageFont

    return ImageFont.load_default(size)


@cache
def _line(text: str, size: int) -> np.ndarray:
    """Draw a line of text; return the opacity of its pixels from 0 to 1, the lowest row first."""
    from PIL import Image, ImageDraw

    font = _font(size)
    ascent, descent = font.getmetrics()
    width = max(1, int(np.ceil(font.getlength(text))))
    image = Image.new("L", (width, ascent + descent), 0)
    ImageDraw.Draw(image).text((0, 0), text, fill=255, font=font)
    return np.asarray(image, float)[::-1] / 255.0


class Fonts:
    """The fonts of a context; `scale` is their size, per cent."""

    def __init__(self, scale: int) -> None:
        self.sizes = {False: max(1, round(NORMAL_SIZE * scale / 100)), True: max(1, round(BIG_SIZE * scale / 100))}

    def height(self, big: bool) -> int:
        """Height of a line, pixels."""
        return sum(_font(self.sizes[big]).getmetrics())

    def widths(self, big: bool) -> np.ndarray:
        """Widths of the characters 0 to 126, pixels; 0 for unprintable characters."""
        font = _font(self.sizes[big])
        widths = [round(font.getlength(chr(code))) if FIRST <= code < LAST else 0 for code in range(LAST)]
        return np.array(widths, np.int32)

    def width(self, text: str, big: bool) -> int:
        """Width of the widest line of a text, pixels."""
        return max((_line(line, self.sizes[big]).shape[1] for line in text.split("\n")), default=0)

    def draw(
        self, canvas: Canvas, text: str, x: int, y: int, rgb: Sequence[float] | np.ndarray, big: bool = False
    ) -> None:
        """Write lines of text; (x, y) is the lower left corner of the first line, the others are below it."""
        for number, line in enumerate(text.split("\n")):
            if not line:
                continue
            opacity = _line(line, self.sizes[big])
            bottom = y - number * self.height(big)
            here, inside = canvas.part(x, bottom, opacity.shape[1], opacity.shape[0])
            share = opacity[inside][..., None]
            old = canvas.rgb[here].astype(float)
            new = 255.0 * np.clip(np.array(rgb, float), 0.0, 1.0)
            canvas.rgb[here] = np.rint(old + share * (new - old)).astype(np.uint8)
