"""The functions ``mjr_*`` of MuJoCo's interface (spec: API reference, OpenGL rendering), on buffers in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from math import prod
from typing import ParamSpec, TypeVar

import numpy as np

from cardan.enums import mjtDepthMap, mjtFont, mjtGridPos
from cardan.errors import FatalError
from cardan.model.mjmodel import MjModel
from cardan.render.context import Canvas, MjrContext, current_context, draw_labels, draw_scene
from cardan.render.figure import draw_figure
from cardan.visual import MjrRect, MjvFigure, MjvScene
from cardan.visual.fields import NAUX

__all__ = [
    "mjr_addAux",
    "mjr_blitAux",
    "mjr_blitBuffer",
    "mjr_changeFont",
    "mjr_drawPixels",
    "mjr_figure",
    "mjr_findRect",
    "mjr_finish",
    "mjr_getError",
    "mjr_label",
    "mjr_maxViewport",
    "mjr_overlay",
    "mjr_readPixels",
    "mjr_rectangle",
    "mjr_render",
    "mjr_resizeOffscreen",
    "mjr_restoreBuffer",
    "mjr_setAux",
    "mjr_setBuffer",
    "mjr_text",
    "mjr_uploadHField",
    "mjr_uploadMesh",
    "mjr_uploadTexture",
]

P = ParamSpec("P")
R = TypeVar("R")
CLASSES: dict[str, type] = {kind.__name__: kind for kind in (MjrRect, MjrContext, MjvScene, MjvFigure, MjModel, str)}
_MISSING = object()


def _number(value: object) -> int:
    return int(getattr(value, "value", value))  # type: ignore[call-overload]


def _is_big(font: object) -> bool:
    return _number(font) == mjtFont.mjFONT_BIG.value


def _typed(function: Callable[P, R]) -> Callable[P, R]:
    """Decorator that raises TypeError if an argument is not of its annotated class (one of `CLASSES`)."""
    parameters = enumerate(function.__annotations__.items())
    kinds = [(k, name, CLASSES[kind]) for k, (name, kind) in parameters if kind in CLASSES]

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for k, name, kind in kinds:
            value = args[k] if k < len(args) else kwargs.get(name, _MISSING)
            if value is not _MISSING and not isinstance(value, kind):
                found = type(value).__name__
                raise TypeError(f"{function.__name__}: {name} should be of type {kind.__name__}, not {found}")
        return function(*args, **kwargs)

    return checked


@_typed
def mjr_render(viewport: MjrRect, scn: MjvScene, con: MjrContext) -> None:
    """Draw a scene into a rectangle of the current buffer: colours, depths, and labels of geoms."""
    canvas = con.canvas()
    draw_scene(con.painter(), canvas, viewport, scn, int(con.offSamples))
    draw_labels(canvas, viewport, scn, con)


def _checked(name: str, array: np.ndarray | None, dtype: type, viewport: MjrRect, *inner: int) -> np.ndarray | None:
    """Check element type and size of an array of pixels; return the array in the shape (height, width, *inner)."""
    if array is None:
        return None
    shape = (viewport.height, viewport.width, *inner)
    size = prod(shape)
    if not isinstance(array, np.ndarray) or array.dtype != dtype:
        raise TypeError(f"{name} should be an array of {dtype.__name__}, got {getattr(array, 'dtype', type(array))}")
    if array.size != size or not array.flags.c_contiguous:
        raise ValueError(f"{name} should have {size} numbers in C order, got shape {array.shape}")
    return array.reshape(shape)


@_typed
def mjr_readPixels(rgb: np.ndarray | None, depth: np.ndarray | None, viewport: MjrRect, con: MjrContext) -> None:
    """Copy pixels of the current buffer, the lowest row first.

    Args:
        rgb: (height, width, 3) uint8, or flat, written; None: no colours.
        depth: (height, width) float32, or flat, written: 0 at the near and 1 at the far plane, or the reverse,
            depending on `con.readDepthMap`; None: no depths.
        viewport: the rectangle, pixels; elements outside of the buffer don't change.
        con: the context.

    Raises:
        TypeError: an array has another element type.
        ValueError: an array has another size.
    """
    colors, depths = _checked("rgb", rgb, np.uint8, viewport, 3), _checked("depth", depth, np.float32, viewport)
    canvas = con.canvas()
    here, inside = canvas.part(viewport.left, viewport.bottom, viewport.width, viewport.height)
    if colors is not None:
        colors[inside] = canvas.rgb[here]
    if depths is not None:
        nearest_is_one = con.readDepthMap == mjtDepthMap.mjDEPTH_ZEROFAR.value
        depths[inside] = 1.0 - canvas.depth[here] if nearest_is_one else canvas.depth[here]


@_typed
def mjr_drawPixels(rgb: np.ndarray | None, depth: np.ndarray | None, viewport: MjrRect, con: MjrContext) -> None:
    """Copy pixels into the current buffer, the lowest row first; the arrays are those of `mjr_readPixels`."""
    colors, depths = _checked("rgb", rgb, np.uint8, viewport, 3), _checked("depth", depth, np.float32, viewport)
    canvas = con.canvas()
    here, inside = canvas.part(viewport.left, viewport.bottom, viewport.width, viewport.height)
    if colors is not None:
        canvas.rgb[here] = colors[inside]
    if depths is not None:
        canvas.depth[here] = depths[inside]


@_typed
def mjr_setBuffer(framebuffer: int, con: MjrContext) -> None:
    """Set the current buffer (mjtFramebuffer), into which all functions draw."""
    con.canvas_table()
    con.set_buffer(_number(framebuffer))


@_typed
def mjr_restoreBuffer(con: MjrContext) -> None:
    """Make all functions draw into `con.currentBuffer` again, and no longer into an auxiliary buffer."""
    con.canvas_table()
    con.restore()


@_typed
def mjr_resizeOffscreen(width: int, height: int, con: MjrContext) -> None:
    """Change the size of the offscreen buffer; `width` and `height` are in pixels."""
    con.canvas_table()
    if (width, height) != (con.offWidth, con.offHeight):
        con.resize_offscreen(width, height)


@_typed
def mjr_addAux(index: int, width: int, height: int, samples: int, con: MjrContext) -> None:
    """Make auxiliary buffer `index` of `width` x `height` pixels. It replaces any previous buffer with this index."""
    if not 0 <= index < NAUX:
        raise FatalError("Invalid aux buffer index")
    if width <= 0 or height <= 0:
        raise FatalError("Invalid aux buffer size")
    con.auxWidth[index], con.auxHeight[index], con.auxSamples[index] = width, height, samples
    con.canvas_table()[index] = Canvas.of_size(width, height)


@_typed
def mjr_setAux(index: int, con: MjrContext) -> None:
    """Make all functions draw into an auxiliary buffer, until `mjr_restoreBuffer` is called."""
    con.__dict__["target"] = con.aux_canvas(index)


def _copy(source: Canvas, src: MjrRect, target: Canvas, dst: MjrRect, color: bool, depth: bool) -> None:
    """Copy a rectangle of a buffer to a rectangle of another buffer, scaled if the sizes differ."""
    rows = src.bottom + (np.arange(dst.height) * src.height) // max(dst.height, 1)
    columns = src.left + (np.arange(dst.width) * src.width) // max(dst.width, 1)
    if rows.size == 0 or columns.size == 0:
        return
    pick = np.ix_(np.clip(rows, 0, source.height - 1), np.clip(columns, 0, source.width - 1))
    here, inside = target.part(dst.left, dst.bottom, dst.width, dst.height)
    if color:
        target.rgb[here] = source.rgb[pick][inside]
    if depth:
        target.depth[here] = source.depth[pick][inside]


@_typed
def mjr_blitBuffer(src: MjrRect, dst: MjrRect, flg_color: int, flg_depth: int, con: MjrContext) -> None:
    """Copy a rectangle between window and offscreen buffer: from the current buffer to the other one."""
    _copy(con.canvas(), src, con.canvases[1 - con.currentBuffer], dst, bool(flg_color), bool(flg_depth))


@_typed
def mjr_blitAux(index: int, src: MjrRect, left: int, bottom: int, con: MjrContext) -> None:
    """Copy the colours of a rectangle of an auxiliary buffer to a position in the current buffer."""
    dst = MjrRect(left, bottom, src.width, src.height)
    _copy(con.aux_canvas(index), src, con.canvases[con.currentBuffer], dst, True, False)


@_typed
def mjr_maxViewport(con: MjrContext) -> MjrRect:
    """Return the rectangle of the whole current buffer."""
    canvas = con.canvases.get(con.currentBuffer)
    return MjrRect(0, 0, canvas.width, canvas.height) if canvas is not None else MjrRect(0, 0, 0, 0)


@_typed
def mjr_rectangle(viewport: MjrRect, r: float, g: float, b: float, a: float) -> None:
    """Draw a rectangle of one colour into the buffer of this thread's context (see `current_context`)."""
    current_context().canvas().fill(viewport.left, viewport.bottom, viewport.width, viewport.height, (r, g, b, a))


@_typed
def mjr_text(font: int, txt: str, con: MjrContext, x: float, y: float, r: float, g: float, b: float) -> None:
    """Write text at (x, y), fractions of the width and height of the current buffer, in the colour (r, g, b)."""
    canvas = con.canvas()
    con.fonts.draw(canvas, txt, round(x * canvas.width), round(y * canvas.height), (r, g, b), _is_big(font))


@_typed
def mjr_label(
    viewport: MjrRect,
    font: int,
    txt: str,
    r: float,
    g: float,
    b: float,
    a: float,
    rt: float,
    gt: float,
    bt: float,
    con: MjrContext,
) -> None:
    """Draw a rectangle with colour and opacity (r, g, b, a), and text in its centre with the colour (rt, gt, bt)."""
    canvas = con.canvas()
    canvas.fill(viewport.left, viewport.bottom, viewport.width, viewport.height, (r, g, b, a))
    big = _is_big(font)
    x = viewport.left + (viewport.width - con.fonts.width(txt, big)) // 2
    y = viewport.bottom + (viewport.height - con.fonts.height(big)) // 2
    con.fonts.draw(canvas, txt, x, y, (rt, gt, bt), big)


@_typed
def mjr_overlay(font: int, gridpos: int, viewport: MjrRect, overlay: str, overlay2: str, con: MjrContext) -> None:
    """Write two columns of text on a dark background, in a corner or at an edge of a rectangle (mjtGridPos)."""
    canvas = con.canvas()
    big, fonts = _is_big(font), con.fonts
    columns = [text for text in (overlay, overlay2) if text]
    if not columns:
        return
    margin = fonts.height(big) // 2
    widths = [fonts.width(text, big) for text in columns]
    width = sum(widths) + margin * (len(columns) + 1)
    height = max(text.count("\n") + 1 for text in columns) * fonts.height(big) + margin
    place = mjtGridPos(_number(gridpos)).name
    left, bottom = viewport.left, viewport.bottom
    if "RIGHT" in place:
        left += viewport.width - width
    elif place in ("mjGRID_TOP", "mjGRID_BOTTOM"):
        left += (viewport.width - width) // 2
    if "TOP" in place:
        bottom += viewport.height - height
    elif place in ("mjGRID_LEFT", "mjGRID_RIGHT"):
        bottom += (viewport.height - height) // 2
    canvas.fill(left, bottom, width, height, (0.0, 0.0, 0.0, 0.4))
    x = left + margin
    for text, column in zip(columns, widths, strict=True):
        fonts.draw(canvas, text, x, bottom + height - margin // 2 - fonts.height(big), (1.0, 1.0, 1.0), big)
        x += column + margin


@_typed
def mjr_figure(viewport: MjrRect, fig: MjvFigure, con: MjrContext) -> None:
    """Draw a figure of lines into a rectangle of the current buffer."""
    draw_figure(con.canvas(), viewport, fig, con.fonts)


@_typed
def mjr_changeFont(fontscale: int, con: MjrContext) -> None:
    """Change the size of text (mjtFontScale)."""
    con.change_font(_number(fontscale))


@_typed
def mjr_findRect(x: int, y: int, nrect: int, rect: MjrRect | Sequence[MjrRect]) -> int:
    """Return the number of the first rectangle that contains a pixel, or -1."""
    rectangles = [rect] if isinstance(rect, MjrRect) else list(rect)
    for number, r in enumerate(rectangles[:nrect]):
        if r.left <= x < r.left + r.width and r.bottom <= y < r.bottom + r.height:
            return number
    return -1


def _upload(m: MjModel, con: MjrContext, kind: str, what: str, index: int) -> None:
    """Update a ``mesh``, ``hfield`` or ``texture`` (`kind`) from the model; raise FatalError for an invalid index."""
    if not 0 <= index < getattr(m, "ntex" if kind == "texture" else f"n{kind}"):
        raise FatalError(f"Invalid {what} index {index}")
    getattr(con.painter().assets, f"upload_{kind}")(m, index)


@_typed
def mjr_uploadTexture(m: MjModel, con: MjrContext, texid: int) -> None:
    """Update a texture of the context from the model; raise FatalError if the texture does not exist."""
    _upload(m, con, "texture", "texture", texid)


@_typed
def mjr_uploadMesh(m: MjModel, con: MjrContext, meshid: int) -> None:
    """Update a mesh of the context from the model; raise FatalError if the mesh does not exist."""
    _upload(m, con, "mesh", "mesh", meshid)


@_typed
def mjr_uploadHField(m: MjModel, con: MjrContext, hfieldid: int) -> None:
    """Update a height field of the context from the model; raise FatalError if the height field does not exist."""
    _upload(m, con, "hfield", "height field", hfieldid)


def mjr_finish() -> None:
    """Do nothing: drawing is always complete when a function returns."""


def mjr_getError() -> int:
    """Return the last error of OpenGL: always 0, because OpenGL is not used."""
    return 0
