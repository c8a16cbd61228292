"""MjrContext: a renderer's data of a model, and its buffers."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from typing import TypeVar

import numpy as np

from cardan.api.arguments import check_model
from cardan.enums import mjtFontScale, mjtFramebuffer
from cardan.errors import FatalError
from cardan.model.mjmodel import MjModel
from cardan.render.assets import Assets
from cardan.render.canvas import Canvas, Fonts
from cardan.render.frame import Frame
from cardan.visual import fields
from cardan.visual.record import VisualRecord

T = TypeVar("T")
WINDOW_SIZE = (640, 480)
"""Size of the buffer that replaces a window; `set_window_size` changes it."""
WINDOW, OFFSCREEN = mjtFramebuffer.mjFB_WINDOW.value, mjtFramebuffer.mjFB_OFFSCREEN.value
RGB_FORMAT = 0x1907
"""OpenGL's number of the format red, green, blue."""
FONT_SCALES = tuple(member.value for member in mjtFontScale.__members__.values())

_current = threading.local()  # its `context` is a weak reference, so that unused contexts are freed


def current_context() -> MjrContext:
    """Return the context that this thread made, or whose buffer it set, last; raise FatalError if there is none."""
    context = _last_context()
    if context is None:
        raise FatalError("there is no rendering context in this thread; make an MjrContext first")
    return context


def _last_context() -> MjrContext | None:
    """Return the context that this thread made, or whose buffer it set, last; None if it no longer exists."""
    reference: weakref.ref[MjrContext] | None = getattr(_current, "context", None)
    return reference() if reference is not None else None


class MjrContext(VisualRecord):
    """A renderer's data of a model: shapes, textures, fonts and buffers. All zero without arguments.

    It needs no OpenGL and no window; the window's buffer is in memory like the others. Any thread may use the context,
    but only one at a time.

    Args:
        model: the model.
        fontscale: size of text (`mjtFontScale`).

    Raises:
        FatalError: the font scale is invalid.
    """

    table = fields.CONTEXT

    def __init__(self, model: MjModel | None = None, fontscale: int | mjtFontScale | None = None) -> None:
        super().__init__()
        attributes = self.__dict__
        attributes.update({name: np.zeros(0, np.uint32) for name in fields.CONTEXT_ARRAYS})
        attributes.update(model=None, assets=None, frame=None, canvases={}, aux=None, target=None, fonts=None)
        if (model is None) != (fontscale is None):
            raise TypeError("MjrContext() takes no arguments, or a model and a font scale")
        if model is not None and fontscale is not None:
            check_model("MjrContext()", model)
            self._fill(model, fontscale)

    model: MjModel | None
    assets: Assets | None
    frame: Frame | None
    canvases: dict[int, Canvas]
    aux: dict[int, Canvas] | None
    target: Canvas | None
    fonts: Fonts  # None in an empty context

    def _fill(self, model: MjModel, fontscale: int | mjtFontScale) -> None:
        attributes = self.__dict__
        self.change_font(fontscale)
        assets = Assets(model)
        attributes.update(model=model, assets=assets, frame=Frame(assets), aux={})
        quality, extent = model.vis.quality, float(model.stat.extent)
        self.lineWidth = float(model.vis.global_.linewidth)
        self.shadowClip, self.shadowScale = assets.shadow_clip, assets.shadow_scale
        self.fogStart, self.fogEnd = float(model.vis.map.fogstart) * extent, float(model.vis.map.fogend) * extent
        self.fogRGBA = model.vis.rgba.fog
        self.shadowSize, self.offSamples = int(quality.shadowsize), int(quality.offsamples)
        self.ntexture, self.nskin = min(model.ntex, len(self.textureType)), model.nskin
        self.textureType[: self.ntexture] = model.tex_type[: self.ntexture]
        self.glInitialized = self.windowAvailable = 1
        self.readPixelFormat = RGB_FORMAT
        self.canvases[WINDOW] = Canvas.of_size(*WINDOW_SIZE)
        self.resize_offscreen(int(model.vis.global_.offwidth), int(model.vis.global_.offheight))
        self.set_buffer(WINDOW)

    def names(self) -> Iterator[str]:
        """Names of all members."""
        yield from super().names()
        yield from fields.CONTEXT_ARRAYS

    def resize_offscreen(self, width: int, height: int) -> None:
        """Replace the offscreen buffer by one of another size."""
        width, height = max(int(width), 1), max(int(height), 1)
        self.canvases[OFFSCREEN] = Canvas.of_size(width, height)
        self.offWidth, self.offHeight = width, height
        if self.currentBuffer == OFFSCREEN:
            self.__dict__["target"] = self.canvases[OFFSCREEN]

    def set_buffer(self, framebuffer: int) -> None:
        """Set the current buffer."""
        self.currentBuffer = framebuffer if framebuffer in self.canvases else OFFSCREEN
        self.restore()

    def restore(self) -> None:
        """Return to drawing into the current buffer."""
        self.__dict__["target"] = self.canvases.get(self.currentBuffer)
        _current.context = weakref.ref(self)

    def add_aux(self, index: int, width: int, height: int, samples: int) -> None:
        """Make an auxiliary buffer, or replace it; raise FatalError if the number or the size is invalid."""
        if not 0 <= index < fields.NAUX:
            raise FatalError("Invalid aux buffer index")
        if width <= 0 or height <= 0:
            raise FatalError("Invalid aux buffer size")
        self.auxWidth[index], self.auxHeight[index], self.auxSamples[index] = width, height, samples
        self.canvas_table()[index] = Canvas.of_size(width, height)

    def canvas_table(self) -> dict[int, Canvas]:
        """Return the auxiliary buffers by number."""
        return self._needed(self.aux)

    def aux_canvas(self, index: int) -> Canvas:
        """Return an auxiliary buffer; raise FatalError if it does not exist."""
        if not 0 <= index < fields.NAUX:
            raise FatalError("Invalid aux buffer index")
        if index not in self.canvas_table():
            raise FatalError(f"auxFBO {index} does not exist")
        return self.canvas_table()[index]

    def canvas(self) -> Canvas:
        """Return the buffer into which is drawn."""
        return self._needed(self.target)

    def painter(self) -> Frame:
        """Return the object that draws scenes."""
        return self._needed(self.frame)

    def _needed(self, part: T | None) -> T:
        """Return a part of the context; raise FatalError if it was made without a model, or freed."""
        if part is None:
            raise FatalError("this MjrContext is empty: it was made without a model, or freed")
        return part

    def change_font(self, fontscale: int | mjtFontScale) -> None:
        """Change the size of text; raise FatalError if the font scale is invalid."""
        scale = int(getattr(fontscale, "value", fontscale))
        if scale not in FONT_SCALES:
            raise FatalError("Invalid fontscale")
        fonts = Fonts(scale)
        self.__dict__["fonts"] = fonts
        self.fontScale = scale
        self.charWidth[:], self.charWidthBig[:] = fonts.widths(big=False), fonts.widths(big=True)
        self.charHeight, self.charHeightBig = fonts.height(big=False), fonts.height(big=True)
        self.rangeFont = 128

    def free(self) -> None:
        """Free the context's data; it can't draw any more."""
        self.__dict__.update(model=None, assets=None, frame=None, canvases={}, aux=None, target=None)
        if _last_context() is self:
            _current.context = None
