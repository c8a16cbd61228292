"""Images in files: PNG, decoded by Pillow to eight bits a channel."""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from PIL.Image import Image

LARGEST_IMAGE = 2**25  # largest number of pixels of an image, so that a few bytes cannot fill the memory
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER = struct.Struct(">8sI4sII")  # signature, length and name of the first chunk, width, height
_DEEP = ("I;16", "I;16B", "I;16L", "I")  # modes of images with 16 bits of grey
_BROKEN = (OSError, ValueError, SyntaxError, EOFError, KeyError, IndexError, TypeError, struct.error, zlib.error)


Box = tuple[int, int, int, int]
"""A part of an image: left, top, right, bottom. Right and bottom are exclusive."""


def png_colours(content: bytes, box: Box | None = None) -> np.ndarray:
    """Return the colours of a PNG image: (height, width, 3) uint8, opacity is dropped. Raises ValueError if broken.

    ``box`` is the part to read, inside the image; the default is the whole image.
    """
    image = _decoded(content)
    if box is not None:
        image = image.crop(box)
    if image.mode in _DEEP:
        return np.repeat(_high_bytes(image)[..., None], 3, axis=2)
    return _bytes(image if image.mode == "RGB" else image.convert("RGB"))


def png_grey(content: bytes) -> np.ndarray:
    """Return the first channel of a PNG image: (height, width) uint8. Raises ValueError for a broken file."""
    image = _decoded(content)
    if image.mode in _DEEP:
        return _high_bytes(image)
    return _bytes((image if image.mode == "RGB" else image.convert("RGB")).getchannel(0))


def _bytes(image: Image) -> np.ndarray:
    """Return the pixels: (height, width), or (height, width, channels), uint8, read-only."""
    bands = image.getbands()
    shape = (image.height, image.width, len(bands)) if len(bands) > 1 else (image.height, image.width)
    return np.frombuffer(image.tobytes(), np.uint8).reshape(shape)


def _high_bytes(image: Image) -> np.ndarray:
    """Return the upper eight of sixteen bits."""
    return (np.asarray(image).astype(np.int64) >> 8).astype(np.uint8)


def check_image_size(width: int, height: int) -> None:
    """Raise ValueError for an image that is empty, or larger than any model needs."""
    if width < 1 or height < 1:
        raise ValueError(f"the size must be positive, found {width} x {height}")
    if width * height > LARGEST_IMAGE:
        raise ValueError(f"{width} x {height} pixels; at most {LARGEST_IMAGE} are read")


def png_size(content: bytes) -> tuple[int, int]:
    """Return width and height from the header of a PNG image. Raises ValueError for a broken file."""
    if len(content) < _HEADER.size or not content.startswith(_SIGNATURE):
        raise ValueError("this is no PNG image")
    _, _, name, width, height = _HEADER.unpack_from(content)
    if name != b"IHDR":
        raise ValueError("broken PNG image: the header is missing")
    check_image_size(width, height)
    return width, height


def _decoded(content: bytes) -> Image:
    """Return the decoded image, after checking its size."""
    from PIL.PngImagePlugin import PngImageFile  # `Image.open` would also import the readers of other formats

    png_size(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = PngImageFile(io.BytesIO(content))
            image.load()
    except _BROKEN as error:
        raise ValueError(f"broken PNG image: {error}") from None
    return image
