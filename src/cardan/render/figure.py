"""Figures: lines over a grid, with ticks, title and legend, from MjvFigure (spec: API reference, mjvFigure)."""

from __future__ import annotations

from typing import Any

import numpy as np

from cardan.render.context import Canvas, Fonts
from cardan.visual import MjrRect, MjvFigure
from cardan.visual.fields import MAXLINE

Box = tuple[int, int, int, int]
"""Left, bottom, width and height, pixels."""


def points_of(fig: MjvFigure, line: int) -> np.ndarray:
    """Points of a line, (n, 2)."""
    points = fig.linedata[line].reshape(-1, 2)
    return points[: max(int(fig.linepnt[line]), 0)]


def data_ranges(fig: MjvFigure) -> np.ndarray:
    """Return the ranges of x and y, (2, 2): the figure's own, or those of the data if the figure's are empty.

    If `flg_extend` is set, ranges are extended to all data. If `flg_symmetric` is set, the range of y is symmetric
    about 0.
    """
    drawn = [points for line in range(MAXLINE) if len(points := points_of(fig, line))]
    points = np.concatenate(drawn) if drawn else np.zeros((0, 2))
    points = points[np.isfinite(points).all(1)]
    ranges = np.array(fig.range, float)
    for axis in range(2):
        automatic = ranges[axis, 0] >= ranges[axis, 1]
        if len(points) and (automatic or fig.flg_extend):
            low, high = points[:, axis].min(), points[:, axis].max()
            ranges[axis] = (low, high) if automatic else (min(ranges[axis, 0], low), max(ranges[axis, 1], high))
        if not ranges[axis, 0] < ranges[axis, 1]:
            middle = ranges[axis, 0] if len(points) else 0.5
            ranges[axis] = (middle - 0.5, middle + 0.5)
    if fig.flg_symmetric:
        reach = np.abs(ranges[1]).max()
        ranges[1] = (-reach, reach)
    return ranges


def tick_text(form: str, value: float) -> str:
    """Return the label of a tick in the figure's format, or in a short form if the format is invalid."""
    try:
        return form % value
    except (TypeError, ValueError):
        return f"{value:.3g}"


def draw_figure(canvas: Canvas, viewport: MjrRect, fig: MjvFigure, fonts: Fonts) -> None:
    """Draw figure `fig` into the rectangle `viewport` of a `canvas`.

    Store the ranges of its axes, in pixels and in units of the data, in the figure.
    """
    box = (viewport.left, viewport.bottom, viewport.width, viewport.height)
    if box[2] <= 0 or box[3] <= 0:
        return
    canvas.fill(*box, fig.figurergba)
    ranges = data_ranges(fig)
    pane = pane_of(box, fig, fonts, ranges)
    if pane[2] <= 1 or pane[3] <= 1:
        return
    canvas.fill(*pane, fig.panergba)
    fig.xaxispixel[:] = pane[0], pane[0] + pane[2]
    fig.yaxispixel[:] = pane[1], pane[1] + pane[3]
    fig.xaxisdata[:], fig.yaxisdata[:] = ranges
    _draw_grid(canvas, fig, pane, ranges, fonts)
    _draw_lines(canvas, fig, pane, ranges)
    line = fonts.height(False)
    parts = fig.title.split("  ") if fig.title else []
    title = parts[fig.subplot] if 0 <= fig.subplot < len(parts) else fig.title
    middle = pane[0] + pane[2] // 2
    if title:
        y = box[1] + box[3] - line - line // 4
        fonts.draw(canvas, title, middle - fonts.width(title, False) // 2, y, fig.textrgb)
    if fig.xlabel:
        fonts.draw(canvas, fig.xlabel, middle - fonts.width(fig.xlabel, False) // 2, box[1] + line // 4, fig.textrgb)
    if fig.flg_legend:
        _draw_legend(canvas, fig, pane, fonts)


def pane_of(box: Box, fig: MjvFigure, fonts: Fonts, ranges: np.ndarray) -> Box:
    """Return the rectangle of the axes: the part of `box` that is not needed for labels and title."""
    left, bottom, width, height = box
    line = fonts.height(False)
    margin = line // 2
    widest = fonts.width(fig.minwidth, False) if fig.minwidth else 0
    if fig.flg_ticklabel[1]:
        widest = max(widest, *(fonts.width(tick_text(fig.yformat, value), False) for value in ranges[1]))
    below = line * (bool(fig.flg_ticklabel[0]) + bool(fig.xlabel))
    above = line if fig.title else 0
    return (
        left + widest + 2 * margin,
        bottom + below + margin,
        width - widest - 3 * margin,
        height - below - above - 2 * margin,
    )


def _place(pane: Box, ranges: np.ndarray, points: np.ndarray) -> np.ndarray:
    share = (points - ranges[:, 0]) / (ranges[:, 1] - ranges[:, 0])
    return np.array(pane[:2]) + share * np.array(pane[2:])


def _draw_grid(canvas: Canvas, fig: MjvFigure, pane: Box, ranges: np.ndarray, fonts: Fonts) -> None:
    left, bottom, width, height = pane
    line = fonts.height(False)
    thick = max(1, round(fig.gridwidth))
    color = (*fig.gridrgb, 1.0)
    for axis in range(2):
        count = int(fig.gridsize[axis])
        for share in np.linspace(0, 1, count) if count > 1 else ():
            value = ranges[axis, 0] + share * (ranges[axis, 1] - ranges[axis, 0])
            if axis == 0:
                x = left + round(share * (width - thick))
                canvas.fill(x, bottom, thick, height, color)
                text = tick_text(fig.xformat, value)
                place = (x - fonts.width(text, False) // 2, bottom - line)
            else:
                y = bottom + round(share * (height - thick))
                canvas.fill(left, y, width, thick, color)
                text = tick_text(fig.yformat, value)
                place = (left - fonts.width(text, False) - line // 4, y - line // 2)
            if fig.flg_ticklabel[axis]:
                fonts.draw(canvas, text, *place, fig.textrgb)


def _draw_lines(canvas: Canvas, fig: MjvFigure, pane: Box, ranges: np.ndarray) -> None:
    """Draw the lines of a figure, and a vertical line at the selected position."""
    from PIL import Image, ImageDraw

    left, bottom, width, height = pane
    here, inside = canvas.part(*pane)
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[inside] = canvas.rgb[here]
    image = Image.fromarray(pixels)
    draw = ImageDraw.Draw(image)
    thick = max(1, round(fig.linewidth))
    for line in range(MAXLINE):
        points = points_of(fig, line)
        points = points[np.isfinite(points).all(1)]
        places = _place((0, 0, width, height), ranges, points.astype(float))
        color = tuple(round(255 * min(max(c, 0.0), 1.0)) for c in fig.linergb[line].tolist())
        pieces: Any = [places] if not fig.flg_barplot else [places[k : k + 2] for k in range(0, len(places) - 1, 2)]
        for piece in pieces:
            if len(piece) > 1:
                draw.line([(float(x), float(y)) for x, y in piece], fill=color, width=thick)
    canvas.rgb[here] = np.asarray(image)[inside]
    if fig.flg_selection:
        x = round(_place(pane, ranges, np.array([fig.selection, 0.0]))[0])
        if left <= x < left + width:
            canvas.fill(x, bottom, 1, height, (1.0, 1.0, 1.0, 1.0))


def _draw_legend(canvas: Canvas, fig: MjvFigure, pane: Box, fonts: Fonts) -> None:
    line = fonts.height(False)
    names = [(k, name.decode(errors="replace")) for k, name in enumerate(fig.linename) if name and fig.linepnt[k] > 0]
    if not names:
        return
    width = max(fonts.width(name, False) for _, name in names) + line
    top = pane[1] + pane[3] - line * int(fig.legendoffset)
    left = pane[0] + pane[2] - width
    canvas.fill(left, top - line * len(names), width, line * len(names), fig.legendrgba)
    for row, (k, name) in enumerate(names):
        y = top - line * (row + 1)
        chosen = k == fig.highlightid or (left <= fig.highlight[0] < left + width and y <= fig.highlight[1] < y + line)
        if chosen:
            canvas.fill(left, y, width, line, (1.0, 1.0, 1.0, 0.3))
        fonts.draw(canvas, name, left + line // 2, y, fig.linergb[k])
