"""MjrContext, which holds a renderer's buffers and the data of a model; functions that draw scenes into buffers."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

import numpy as np

from cardan.api.arguments import check_model
from cardan.enums import mjtFontScale, mjtFramebuffer, mjtStereo
from cardan.errors import FatalError
from cardan.model.mjmodel import MjModel
from cardan.render.assets import Assets
from cardan.render.camera import average_camera, view_of
from cardan.render.frame import DEPTHS, Frame, flag_of
from cardan.render.vertices import COLORS
from cardan.visual import MjrRect, MjvGLCamera, MjvScene, fields
from cardan.visual.record import VisualRecord
from cardan.visual.structs import NAMED_COLOURS


@dataclass
class Canvas:
    """Buffer of colours, (height, width, 3), and depths, (height, width), with the lowest row first.

    Depths are 0 at the near plane and 1 at the far plane; empty pixels have depth 1.
    """

    rgb: np.ndarray
    depth: np.ndarray = field(repr=False)

    @classmethod
    def of_size(cls, width: int, height: int) -> Canvas:
        """Make an empty canvas: black, with depths of 1."""
        return cls(np.zeros((height, width, 3), np.uint8), np.ones((height, width)))

    @property
    def width(self) -> int:
        """Width in pixels."""
        return self.rgb.shape[1]

    @property
    def height(self) -> int:
        """Height in pixels."""
        return self.rgb.shape[0]

    def part(self, left: int, bottom: int, width: int, height: int) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
        """Clip a rectangle to the canvas; return the indices of the visible part in the canvas and in the rectangle."""
        x0, x1 = max(left, 0), min(left + width, self.width)
        y0, y1 = max(bottom, 0), min(bottom + height, self.height)
        x1, y1 = max(x0, x1), max(y0, y1)
        inside = (slice(y0 - bottom, y1 - bottom), slice(x0 - left, x1 - left))
        return (slice(y0, y1), slice(x0, x1)), inside

    def fill(self, left: int, bottom: int, width: int, height: int, rgba: Sequence[float] | np.ndarray) -> None:
        """Blend a rectangle of one colour, with opacity `rgba[3]`, over the canvas."""
        here, _ = self.part(left, bottom, width, height)
        old = self.rgb[here].astype(float)
        alpha = min(max(rgba[3], 0.0), 1.0)
        new = 255.0 * np.clip(np.array(rgba[:3], float), 0.0, 1.0)
        self.rgb[here] = np.rint(old + alpha * (new - old)).astype(np.uint8)


NORMAL_SIZE, BIG_SIZE = 11.0, 22.0
"""Sizes of the normal and the big font at a scale of 100 per cent, pixels."""
FIRST, LAST = 32, 127


@cache
def _font(size: int) -> Any:
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
    """The normal and the big font of a context; `scale` is their size in per cent."""

    def __init__(self, scale: int) -> None:
        self.sizes = {False: max(1, round(NORMAL_SIZE * scale / 100)), True: max(1, round(BIG_SIZE * scale / 100))}

    def height(self, big: bool) -> int:
        """Height of a line in pixels."""
        return sum(_font(self.sizes[big]).getmetrics())

    def widths(self, big: bool) -> np.ndarray:
        """Widths in pixels of the characters 0 to 126; 0 for unprintable characters."""
        font = _font(self.sizes[big])
        widths = [round(font.getlength(chr(code))) if FIRST <= code < LAST else 0 for code in range(LAST)]
        return np.array(widths, np.int32)

    def width(self, text: str, big: bool) -> int:
        """Width of the widest line of a text in pixels."""
        return max((_line(line, self.sizes[big]).shape[1] for line in text.split("\n")), default=0)

    def draw(
        self, canvas: Canvas, text: str, x: int, y: int, rgb: Sequence[float] | np.ndarray, big: bool = False
    ) -> None:
        """Write lines of text; (x, y) is the lower left corner of the first line. Other lines are below the first."""
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


T = TypeVar("T")
WINDOW, OFFSCREEN = mjtFramebuffer.mjFB_WINDOW.value, mjtFramebuffer.mjFB_OFFSCREEN.value

_current = threading.local()  # its `context` is a weak reference, so that unused contexts are freed


def current_context() -> MjrContext:
    """Return the context that this thread last made or last set a buffer of; raise FatalError if there is none."""
    reference: weakref.ref[MjrContext] | None = getattr(_current, "context", None)
    context = reference() if reference is not None else None
    if context is None:
        raise FatalError("there is no rendering context in this thread; make an MjrContext first")
    return context


class MjrContext(VisualRecord):
    """Data that a renderer holds for a model: shapes, textures, fonts and buffers.

    Without arguments, all members are zero. No OpenGL and no window are needed; the window's buffer is in memory like
    the others. Any thread may use the context, but only one at a time.

    Args:
        model: the model.
        fontscale: size of text (`mjtFontScale`).

    Raises:
        FatalError: the font scale is invalid.
    """

    table = fields.CONTEXT
    model: MjModel | None
    assets: Assets | None
    frame: Frame | None
    canvases: dict[int, Canvas]
    aux: dict[int, Canvas] | None
    target: Canvas | None
    fonts: Fonts  # None in an empty context

    def __init__(self, model: MjModel | None = None, fontscale: int | mjtFontScale | None = None) -> None:
        super().__init__()
        attributes = self.__dict__
        attributes.update({name: np.zeros(0, np.uint32) for name in fields.CONTEXT_ARRAYS})
        attributes.update(model=None, assets=None, frame=None, canvases={}, aux=None, target=None, fonts=None)
        if (model is None) != (fontscale is None):
            raise TypeError("MjrContext() takes no arguments, or a model and a font scale")
        if model is None or fontscale is None:
            return
        check_model("MjrContext()", model)
        self.change_font(fontscale)
        assets = Assets(model)
        attributes.update(model=model, assets=assets, frame=Frame(assets), aux={})
        quality = model.vis.quality
        self.lineWidth = float(model.vis.global_.linewidth)
        self.shadowClip, self.shadowScale = assets.shadow_clip, assets.shadow_scale
        self.fogStart, self.fogEnd = assets.fog_start, assets.fog_end
        self.fogRGBA = model.vis.rgba.fog
        self.shadowSize, self.offSamples = int(quality.shadowsize), int(quality.offsamples)
        self.ntexture, self.nskin = min(model.ntex, len(self.textureType)), model.nskin
        self.textureType[: self.ntexture] = model.tex_type[: self.ntexture]
        self.glInitialized = self.windowAvailable = 1
        self.readPixelFormat = 0x1907  # OpenGL's number of the format red, green, blue
        self.canvases[WINDOW] = Canvas.of_size(640, 480)  # replaces a window
        self.resize_offscreen(int(model.vis.global_.offwidth), int(model.vis.global_.offheight))
        self.set_buffer(WINDOW)

    def names(self) -> Iterator[str]:
        """Yield the names of all members."""
        yield from super().names()
        yield from fields.CONTEXT_ARRAYS

    def resize_offscreen(self, width: int, height: int) -> None:
        """Replace the offscreen buffer with one of another size."""
        width, height = max(int(width), 1), max(int(height), 1)
        self.canvases[OFFSCREEN] = Canvas.of_size(width, height)
        self.offWidth, self.offHeight = width, height
        if self.currentBuffer == OFFSCREEN:
            self.__dict__["target"] = self.canvases[OFFSCREEN]

    def set_buffer(self, framebuffer: int) -> None:
        """Set the current buffer (mjtFramebuffer), and draw into it from now on.

        If `framebuffer` is unknown, use the offscreen buffer.
        """
        self.currentBuffer = framebuffer if framebuffer in self.canvases else OFFSCREEN
        self.restore()

    def restore(self) -> None:
        """Draw into the current buffer again, instead of an auxiliary buffer.

        Make this context the current context of the thread.
        """
        self.__dict__["target"] = self.canvases.get(self.currentBuffer)
        _current.context = weakref.ref(self)

    def canvas_table(self) -> dict[int, Canvas]:
        """Return the auxiliary buffers by number; raise FatalError if the context is empty."""
        return self._needed(self.aux)

    def aux_canvas(self, index: int) -> Canvas:
        """Return an auxiliary buffer; raise FatalError if it does not exist."""
        if not 0 <= index < fields.NAUX:
            raise FatalError("Invalid aux buffer index")
        if index not in self.canvas_table():
            raise FatalError(f"auxFBO {index} does not exist")
        return self.canvas_table()[index]

    def canvas(self) -> Canvas:
        """Return the buffer into which functions draw at present."""
        return self._needed(self.target)

    def painter(self) -> Frame:
        """Return the `Frame` that draws scenes."""
        return self._needed(self.frame)

    def _needed(self, part: T | None) -> T:
        """Return a part of the context; raise FatalError if the context was made without a model, or freed."""
        if part is None:
            raise FatalError("this MjrContext is empty: it was made without a model, or freed")
        return part

    def change_font(self, fontscale: int | mjtFontScale) -> None:
        """Change the size of text; raise FatalError if the font scale is invalid."""
        scale = int(getattr(fontscale, "value", fontscale))
        if scale not in [member.value for member in mjtFontScale.__members__.values()]:
            raise FatalError("Invalid fontscale")
        fonts = Fonts(scale)
        self.__dict__["fonts"] = fonts
        self.fontScale = scale
        self.charWidth[:], self.charWidthBig[:] = fonts.widths(big=False), fonts.widths(big=True)
        self.charHeight, self.charHeightBig = fonts.height(big=False), fonts.height(big=True)
        self.rangeFont = 128

    def free(self) -> None:
        """Free the context's data; the context can't draw any more."""
        self.__dict__.update(model=None, assets=None, frame=None, canvases={}, aux=None, target=None)
        reference = getattr(_current, "context", None)
        if reference is not None and reference() is self:
            _current.context = None


def samples_of(offsamples: int) -> int:
    """Return the number of samples per pixel to draw, 1 or 4, if a model requests `offsamples`."""
    return 4 if offsamples > 1 else 1


def segment_colors(scene: MjvScene, segment: np.ndarray, by_number: bool) -> np.ndarray:
    """Return the colours of a segmentation image of a `scene`. For `by_number`, see `colors_of_numbers`.

    `segment` contains the number of the geom of each pixel (-1: none), in any shape.
    """
    segid = np.append(scene.geom_values["segid"][: scene.ngeom], -1)
    return colors_of_numbers(segid, by_number)[segment]


def colors_of_numbers(segid: np.ndarray, by_number: bool) -> np.ndarray:
    """Return the colours (n, 3), uint8, of segments with the numbers `segid`, (n,); the colour of -1 is black.

    With `by_number`, the bytes of the number plus 1 are the colour; the lowest byte is red. Otherwise, segments get
    easily distinguished colours.
    """
    segid = segid.astype(np.int64)
    if by_number:
        number = segid + 1
        colors = np.stack([number & 255, number >> 8 & 255, number >> 16 & 255], 1)
    else:
        palette = np.array(NAMED_COLOURS)
        shade = 0.4 + 0.6 * ((segid // len(palette)) % 5) / 4
        colors = np.rint(255 * palette[segid % len(palette)] * shade[:, None])
        colors[segid < 0] = 0
    return colors.astype(np.uint8)


def draw_view(
    frame: Frame, canvas: Canvas, place: tuple[int, int, int, int], scene: MjvScene, camera: MjvGLCamera, nsample: int
) -> None:
    """Draw the view of a camera into a rectangle (left, bottom, width, height) of a buffer: colours and depths."""
    left, bottom, width, height = place
    if width <= 0 or height <= 0:
        return
    here, inside = canvas.part(left, bottom, width, height)
    segments = flag_of(scene, "SEGMENT")
    if not segments:
        frame.draw(scene, width, height, nsample, COLORS, camera)
        canvas.rgb[here] = frame.colors()[inside]
    frame.draw(scene, width, height, nsample, DEPTHS, camera)
    if segments:
        canvas.rgb[here] = segment_colors(scene, frame.segments(), flag_of(scene, "IDCOLOR"))[inside]
    near, far = camera.frustum_near, camera.frustum_far
    if not 0.0 < near < far:
        canvas.depth[here] = 1.0
        return
    # from 0 to 1 (OpenGL 1.5, section 2.11)
    depths = frame.depths()[inside].astype(float)
    share = (depths - near) if camera.orthographic else far * (1.0 - near / depths)
    canvas.depth[here] = share / (far - near)


def draw_scene(frame: Frame, canvas: Canvas, viewport: MjrRect, scene: MjvScene, offsamples: int) -> None:
    """Draw a `scene` into the rectangle `viewport` of a `canvas`: for one eye, or side by side for both eyes.

    `frame` draws the views, and `offsamples` is the requested number of samples per pixel.
    """
    left, bottom, width, height = viewport.left, viewport.bottom, viewport.width, viewport.height
    border = scene.framewidth
    if border > 0:
        canvas.fill(left, bottom, width, height, (*scene.framergb, 1.0))
        left, bottom, width, height = left + border, bottom + border, width - 2 * border, height - 2 * border
    nsample = samples_of(offsamples)
    if scene.stereo == mjtStereo.mjSTEREO_SIDEBYSIDE.value:
        half = width // 2
        for k, camera in enumerate(scene.camera):
            draw_view(frame, canvas, (left + k * half, bottom, half, height), scene, camera, nsample)
    else:
        draw_view(frame, canvas, (left, bottom, width, height), scene, average_camera(scene), nsample)


def draw_labels(canvas: Canvas, viewport: MjrRect, scene: MjvScene, context: MjrContext) -> None:
    """Write the labels of the geoms of a `scene` into the `viewport`, at the positions of the geoms.

    `canvas` is the buffer, and `context` has the fonts.
    """
    geoms = scene.geom_values[: scene.ngeom]
    labelled = np.flatnonzero(geoms["label"] != b"")
    if not len(labelled):
        return
    view = view_of(average_camera(scene), viewport.width, viewport.height)
    points = np.concatenate([geoms["pos"][labelled], np.ones((len(labelled), 1))], 1)
    x, y, w, depth = view.rows @ points.T
    for k, geom in enumerate(labelled):
        if depth[k] > view.near:
            text = geoms["label"][geom].decode(errors="replace")
            px, py = round(x[k] / w[k]) + viewport.left, round(y[k] / w[k]) + viewport.bottom
            context.fonts.draw(canvas, text, px, py, (1.0, 1.0, 1.0))
