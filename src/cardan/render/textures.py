"""Textures of a model as texels at all levels of detail."""

from __future__ import annotations

import numpy as np

from cardan.enums import mjtTexture
from cardan.model.mjmodel import MjModel
from cardan.render.fields import NLEVEL

SIDES = 6


def shortened(image: np.ndarray, axis: int) -> np.ndarray:
    """Halve an image along an axis, rounded down, by bilinear interpolation at the centres of the new pixels."""
    length = image.shape[axis]
    if length == 1:
        return image
    image = np.moveaxis(image, axis, 0)
    middle = (np.arange(length // 2) + 0.5) * (length / (length // 2)) - 0.5
    low = middle.astype(int)
    share = (middle - low).reshape(-1, *[1] * (image.ndim - 1))
    upper = np.minimum(low + 1, length - 1)
    return np.moveaxis(image[low] + share * (image[upper] - image[low]), 0, axis)


def halved(image: np.ndarray) -> np.ndarray:
    """Halve an image in both directions, (..., height, width, 3)."""
    return shortened(shortened(image, -3), -2)


def levels_of(image: np.ndarray) -> list[np.ndarray]:
    """Return an image, (..., height, width, 3), and smaller ones down to a single pixel."""
    levels = [image.astype(float)]
    while max(levels[-1].shape[-3:-1]) > 1 and len(levels) < NLEVEL:
        levels.append(halved(levels[-1]))
    return levels


def bordered(image: np.ndarray, repeats: bool) -> np.ndarray:
    """Add a border of one pixel on each side to an image, (..., height, width, 3).

    If the image repeats, the border contains the pixels of the opposite side; else it repeats the outermost pixels.
    """
    around = [(0, 0)] * (image.ndim - 3) + [(1, 1), (1, 1), (0, 0)]
    return np.pad(image, around, "wrap" if repeats else "edge")


def packed(image: np.ndarray) -> np.ndarray:
    """Convert colours to texels, (n, 4), in the order of the image."""
    channels = np.rint(image).astype(np.uint8).reshape(-1, 3)
    return np.concatenate([channels, np.zeros_like(channels[:, :1])], 1)


class Textures:
    """Textures of a model.

    Attributes:
        texel: all colours.
        columns: the other arrays of the assets, by name.
    """

    def __init__(self, model: MjModel) -> None:
        self.model = model
        n = model.ntex
        self.columns = {
            "tex_type": np.array(model.tex_type, np.int32),
            **{name: np.zeros(n, np.int32) for name in ("tex_width", "tex_height", "tex_nlevel")},
            "tex_leveladr": np.zeros((n, NLEVEL), np.int64),
        }
        parts, length = [np.zeros((1, 4), np.uint8)], 1
        for tex in range(n):
            levels = levels_of(self.image(tex))
            self.columns["tex_height"][tex], self.columns["tex_width"][tex] = levels[0].shape[-3:-1]
            self.columns["tex_nlevel"][tex] = len(levels)
            for k, level in enumerate(levels):
                self.columns["tex_leveladr"][tex, k] = length
                parts.append(packed(bordered(level, self.repeats(tex))))
                length += len(parts[-1])
        self.texel = np.concatenate(parts)

    def repeats(self, tex: int) -> bool:
        """Whether a texture repeats; sides of cubes don't."""
        return bool(self.model.tex_type[tex] == mjtTexture.mjTEXTURE_2D)

    def image(self, tex: int) -> np.ndarray:
        """Return the colours of a texture: (height, width, 3), or (6, width, width, 3) for cubes and sky boxes."""
        model = self.model
        height, width, adr = int(model.tex_height[tex]), int(model.tex_width[tex]), int(model.tex_adr[tex])
        image = np.array(model.tex_rgb[adr : adr + 3 * height * width]).reshape(height, width, 3)
        if self.repeats(tex):
            return image
        sides = image.reshape(-1, width, width, 3)
        return np.broadcast_to(sides, (SIDES, width, width, 3)) if len(sides) == 1 else sides

    def upload(self, tex: int) -> None:
        """Copy a texture again; its size must be unchanged."""
        for k, level in enumerate(levels_of(self.image(tex))):
            values = packed(bordered(level, self.repeats(tex)))
            adr = self.columns["tex_leveladr"][tex, k]
            self.texel[adr : adr + len(values)] = values
