"""Overlays of a script: figures, texts and images that pages show in the panel, beside the scene."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cardan.enums import mjtGridPos
from cardan.render.context import Canvas, Fonts
from cardan.render.figure import draw_figure
from cardan.visual import MjrRect, MjvFigure

FONT_SCALE = 100
"""Size of the text in figures, per cent."""


class Text(NamedTuple):
    """Two columns of text, and the position of the text (mjtGridPos)."""

    position: int
    left: str
    right: str


class Overlays:
    """The overlays of a session. `version` counts changes. The session's lock is held while members are used.

    Attributes:
        figures, images: pictures (height, width, 3) uint8, top row first.
        texts: texts in the order of their positions.
    """

    def __init__(self) -> None:
        self.figures: list[np.ndarray] = []
        self.images: list[np.ndarray] = []
        self.texts: list[Text] = []
        self.version = 0

    def put(self, kind: str, content: list[Any]) -> None:
        """Replace the overlays of a kind, "figures", "images" or "texts"."""
        setattr(self, kind, content)
        self.version += 1


def drawn_figures(given: Any) -> list[np.ndarray]:
    """Draw figures, given as one pair (rectangle, figure) or several, in the sizes of their rectangles.

    Raises:
        TypeError: a pair does not consist of an MjrRect and an MjvFigure.
        ValueError: a rectangle has no pixels.
    """
    pictures = []
    for rectangle, figure in _entries("set_figures", given, 2):
        _check("set_figures", "figure", figure, MjvFigure)
        width, height = _size("set_figures", rectangle)
        canvas = Canvas.of_size(width, height)
        draw_figure(canvas, MjrRect(0, 0, width, height), figure, Fonts(FONT_SCALE))
        pictures.append(np.ascontiguousarray(canvas.rgb[::-1]))
    return pictures


def copied_images(given: Any) -> list[np.ndarray]:
    """Copy images, given as one pair (rectangle, RGB image (height, width, 3)) or several.

    Raises:
        TypeError: a pair does not begin with an MjrRect.
        ValueError: a rectangle has no pixels, or an image has another shape.
    """
    pictures = []
    for rectangle, image in _entries("set_images", given, 2):
        _size("set_images", rectangle)
        picture = np.array(image, np.uint8)
        if picture.ndim != 3 or picture.shape[2] != 3 or not picture.size:
            raise ValueError(f"set_images: an image must have the shape (height, width, 3), not {picture.shape}")
        pictures.append(picture)
    return pictures


def checked_texts(given: Any) -> list[Text]:
    """Return texts, given as one tuple (font, position, left text, right text) or several, ordered by position.

    Each part may be None: the default font, the upper left corner, or no text.

    Raises:
        TypeError: a text is not a str.
        ValueError: there is no such position.
    """
    texts = []
    for _, position, *columns in _entries("set_texts", given, 4):
        for text in columns:
            if text is not None:
                _check("set_texts", "text", text, str)
        number = int(mjtGridPos.mjGRID_TOPLEFT if position is None else mjtGridPos(position))
        texts.append(Text(number, *(text or "" for text in columns)))
    return sorted(texts, key=lambda text: text.position)


def _entries(function: str, given: Any, count: int) -> list[Sequence[Any]]:
    """Return the entries of a call, given as one tuple or a list of tuples of `count` parts each."""
    entries = [given] if isinstance(given, tuple) and not any(isinstance(entry, tuple) for entry in given) else given
    if not isinstance(entries, list | tuple):
        raise TypeError(f"{function}: give a tuple of {count} parts or a list of such tuples, not {given!r}")
    for entry in entries:
        if not isinstance(entry, tuple | list) or len(entry) != count:
            raise TypeError(f"{function}: each entry must be a tuple of {count} parts, not {entry!r}")
    return list(entries)


def _check(function: str, what: str, value: Any, kind: type) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{function}: the {what} must be a {kind.__name__}, not {type(value).__name__}")


def _size(function: str, rectangle: Any) -> tuple[int, int]:
    """Return the width and the height of a rectangle in pixels."""
    _check(function, "rectangle", rectangle, MjrRect)
    if rectangle.width <= 0 or rectangle.height <= 0:
        raise ValueError(f"{function}: the rectangle has no pixels: {rectangle.width} x {rectangle.height}")
    return rectangle.width, rectangle.height
