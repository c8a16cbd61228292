"""Images in files: PNG, decoded by Pillow to eight bits a channel, and textures and height fields made from them.

A texture has one image, a grid of cube faces, or one file for each face (spec: modeling, "texture"). A height field is
a grid of elevations from an image, a binary file or the model's text (spec: modeling, "hfield"). Elevations are stored
between 0 and 1, row by row, starting at the smallest y. An image and the model's text start with the row at the largest
y.
"""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.compiler.files import asset_name, media_type, read_asset
from cardan.errors import MjcfError

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

    from cardan.compiler.build import Build
    from cardan.spec.element import Element

LARGEST_IMAGE = 2**25  # largest number of pixels of an image, so that a few bytes cannot fill the memory
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_HEADER = struct.Struct(">8sI4sII")  # signature, length and name of the first chunk, width, height
_CHUNK = struct.Struct(">I4s")  # length and name
_CHUNK_EXTRA = 12  # bytes of a chunk besides its content: length, name, check sum
_DEEP = ("I;16", "I;16B", "I;16L", "I")  # modes of images with 16 bits of grey
_BROKEN = (OSError, ValueError, SyntaxError, EOFError, KeyError, IndexError, TypeError, struct.error, zlib.error)


Box = tuple[int, int, int, int]
"""A part of an image: left, top, right, bottom. Right and bottom are exclusive."""


def png_colours(content: bytes, box: Box | None = None, channels: int = 3) -> np.ndarray:
    """Return the colours of a PNG image: (height, width, channels) uint8. Raises ValueError for a broken file.

    ``box`` is the part to read, inside the image; the default is the whole image. ``channels`` is 3 for colours, 4 for
    colours with opacity, or 1 for the first channel only.
    """
    image = _decoded(content)
    if box is not None:
        image = image.crop(box)
    if channels != 3:
        return _other_channels(image, channels)
    if image.mode in _DEEP:
        return np.repeat(_high_bytes(image)[..., None], 3, axis=2)
    return _bytes(image if image.mode == "RGB" else image.convert("RGB"))


def _other_channels(image: Picture, channels: int) -> np.ndarray:
    """Return 1 or 4 channels of an image: (height, width, channels) uint8."""
    if image.mode in _DEEP:
        grey = _high_bytes(image)[..., None]
        return grey if channels == 1 else np.concatenate([grey, grey, grey, np.full_like(grey, 255)], axis=2)
    return _bytes(image.convert("RGBA"))[..., :channels]


def png_grey(content: bytes) -> np.ndarray:
    """Return the first channel of a PNG image as (height, width) uint8. Raises ValueError for a broken file."""
    image = _decoded(content)
    if image.mode in _DEEP:
        return _high_bytes(image)
    return _bytes((image if image.mode == "RGB" else image.convert("RGB")).getchannel(0))


def _bytes(image: Picture) -> np.ndarray:
    """Return the pixels of an image: (height, width), or (height, width, channels), uint8, read-only."""
    bands = image.getbands()
    shape = (image.height, image.width, len(bands)) if len(bands) > 1 else (image.height, image.width)
    return np.frombuffer(image.tobytes(), np.uint8).reshape(shape)


def _high_bytes(image: Picture) -> np.ndarray:
    """Return the upper eight bits of sixteen-bit pixels."""
    return (np.asarray(image).astype(np.int64) >> 8).astype(np.uint8)


def check_image_size(width: int, height: int) -> None:
    """Raise ValueError for an image that is empty or has more than `LARGEST_IMAGE` pixels."""
    if width < 1 or height < 1:
        raise ValueError(f"the size must be positive, found {width} x {height}")
    if width * height > LARGEST_IMAGE:
        raise ValueError(f"{width} x {height} pixels; at most {LARGEST_IMAGE} are read")


def png_size(content: bytes) -> tuple[int, int]:
    """Return width and height from the header of a PNG image. Raises ValueError for a broken file."""
    if len(content) < _PNG_HEADER.size or not content.startswith(_SIGNATURE):
        raise ValueError("this is no PNG image")
    _, _, name, width, height = _PNG_HEADER.unpack_from(content)
    if name != b"IHDR":
        raise ValueError("broken PNG image: the header is missing")
    check_image_size(width, height)
    return width, height


def is_srgb(content: bytes) -> bool:
    """Return whether a PNG image declares its colour space to be sRGB."""
    at = len(_SIGNATURE)
    while at + _CHUNK.size <= len(content):
        length, name = _CHUNK.unpack_from(content, at)
        if name in (b"sRGB", b"IDAT"):
            return name == b"sRGB"
        at += length + _CHUNK_EXTRA
    return False


def _decoded(content: bytes) -> Picture:
    """Check the size of a PNG image and decode the image. Raises ValueError for a broken file."""
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


Image = np.ndarray  # (height, width, channels) uint8

_PNG, _KTX = "image/png", "image/ktx"
_CHANNELS = (1, 3, 4)
_TYPES = {".png": _PNG, ".ktx": _KTX, "": "image/vnd.mujoco.texture"}
_HEADER = struct.Struct("<ii")  # width and height; of height fields, rows and columns
_FACES = "RLUDFB"  # right, left, up, down, front, back: the order of the faces in the model
_FACE_FILES = ("fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")
_UNUSED = "."
_LARGEST_GRID = 12


def as_bytes(colour: Any) -> np.ndarray:
    """Convert a colour with channels from 0 to 1 to uint8."""
    return (np.asarray(colour) * 255.0).astype(np.uint8)


def uniform(colour: Any, *shape: int) -> Image:
    """Return an image of one colour: (*shape, 3) uint8."""
    image = np.empty((*shape, 3), np.uint8)
    image[...] = np.tile(as_bytes(colour), (shape[-1], 1))
    return image


def texture_from_files(build: Build, element: Element, values: dict[str, Any]) -> Image:
    """Return the image of a texture that is read from files: (height, width, channels) uint8.

    The six faces of a cube texture are stacked vertically. If all faces share one image, the image is returned once.
    The bytes of a KTX file are returned undecoded (see `_undecoded`). ``values`` are the attributes of the texture's
    ``element``.
    """
    flat, channels = values["type"] == "2d", values["nchannel"]
    if channels not in (_CHANNELS if flat else (3,)):
        reason = "images have 1, 3 or 4 channels" if flat else "textures of cubes have 3 channels"
        raise element.error(f"{reason}, found {channels}", "nchannel")
    if not values["file"]:
        if flat:
            raise element.error("needs a file, or a builtin pattern", "file")
        return _separate_faces(build, element, values)
    if not flat and values["gridsize"] != (1, 1):
        return _grid_faces(build, element, values)
    if media_type(element, values["file"], _TYPES) == _KTX:
        return _undecoded(build, element, values)
    image = _load(build, element, "file", values)
    if not flat:
        _check_grid(element, image.shape[1], image.shape[0], values["gridsize"])
    return image


def _load(
    build: Build,
    element: Element,
    attribute: str,
    values: dict[str, Any],
    part: Callable[[int, int], Box] | None = None,
) -> Image:
    """Return the image in a file, flipped as the user specifies: (height, width, channels) uint8.

    If the colour space in ``values`` is ``auto``, it is replaced by the file's colour space. If ``part`` is given, only
    the box ``part(width, height)`` of the flipped image is read.
    """
    name = values[attribute]
    kind = media_type(element, name, _TYPES)
    content = read_asset(build, element, attribute)
    if values["colorspace"] == "auto":
        values["colorspace"] = "sRGB" if kind == _PNG and is_srgb(content) else "linear"
    box = None
    try:
        if kind != _PNG:
            if values["nchannel"] != 3:
                raise ValueError(f"a binary texture has 3 channels, but nchannel is {values['nchannel']}")
            image = _read_binary(content)
            if part is not None:
                left, top, right, bottom = _unflipped(part(image.shape[1], image.shape[0]), image.shape, values)
                image = image[top:bottom, left:right]
        else:
            width, height = png_size(content)
            if part is not None:
                box = _unflipped(part(width, height), (height, width), values)
            image = png_colours(content, box, values["nchannel"])
    except MjcfError:  # raised by `part`
        raise
    except ValueError as error:
        raise element.error(f"'{name}': {error}", attribute) from None
    image = image[:, ::-1] if values["hflip"] else image
    return image[::-1] if values["vflip"] else image


def _undecoded(build: Build, element: Element, values: dict[str, Any]) -> Image:
    """Return the undecoded bytes of a KTX file, (1, bytes, 1) uint8, for renderers that can read this format.

    Raises:
        MjcfError: the texture is a cube, or the image is flipped.
    """
    if values["type"] != "2d":
        raise element.error("cubes cannot be read from KTX files: expected an image of the type PNG", "file")
    if values["hflip"] or values["vflip"]:
        raise element.error("KTX files are not decoded, so that they cannot be flipped", "file")
    if values["colorspace"] == "auto":
        values["colorspace"] = "linear"
    return np.frombuffer(read_asset(build, element, "file"), np.uint8).reshape(1, -1, 1)


def _unflipped(box: Box, shape: tuple[int, ...], values: dict[str, Any]) -> Box:
    """Convert a box in the flipped image to a box in the original image, whose shape is (height, width)."""
    left, top, right, bottom = box
    if values["hflip"]:
        left, right = shape[1] - right, shape[1] - left
    if values["vflip"]:
        top, bottom = shape[0] - bottom, shape[0] - top
    return left, top, right, bottom


def _read_binary(content: bytes) -> Image:
    """Read an image in the binary format: width, height (int32), then three bytes a pixel, row by row."""
    if len(content) < _HEADER.size:
        raise ValueError("the file is too short for a texture's header (what has no extension png is read as binary)")
    width, height = _HEADER.unpack_from(content)
    check_image_size(width, height)
    wanted = _HEADER.size + 3 * width * height
    if len(content) != wanted:
        raise ValueError(
            f"a binary texture (what has no extension png) of {width} x {height} pixels takes {wanted} bytes, "
            f"but the file has {len(content)}"
        )
    return np.frombuffer(content, np.uint8, offset=_HEADER.size).reshape(height, width, 3)


def _check_grid(element: Element, width: int, height: int, gridsize: tuple[int, int]) -> None:
    """Check that the image can be divided into a grid of at most twelve square cells."""
    rows, columns = gridsize
    if rows < 1 or columns < 1 or rows * columns > _LARGEST_GRID:
        raise element.error(f"must be positive, at most {_LARGEST_GRID} cells, found {rows} x {columns}", "gridsize")
    if height % rows or width % columns or height // rows != width // columns:
        raise element.error(
            f"{width} x {height} pixels are no {rows} rows and {columns} columns of squares", "gridsize"
        )


def _grid_faces(build: Build, element: Element, values: dict[str, Any]) -> Image:
    """Return the six faces of a cube, cut from the cells of one image. Faces without a cell have the colour ``rgb1``.

    Only the part of the image that contains these cells is converted to an array.
    """
    layout, (rows, columns) = values["gridlayout"], values["gridsize"]
    cells = [(divmod(cell, columns), word) for cell, word in enumerate(layout[: columns * rows]) if word != _UNUSED]
    side = 0

    def part(width: int, height: int) -> Box:
        nonlocal side
        _check_grid(element, width, height, values["gridsize"])
        for _, letter in cells:
            if letter not in _FACES:
                raise element.error(f"'{letter}' is none of {_UNUSED}{_FACES}", "gridlayout")
        side = width // columns
        lines, files = [place[0] for place, _ in cells] or [0], [place[1] for place, _ in cells] or [0]
        return min(files) * side, min(lines) * side, (max(files) + 1) * side, (max(lines) + 1) * side

    image = _load(build, element, "file", values, part)
    faces = uniform(values["rgb1"], 6, side, side)
    top, left = (min((place[axis] for place, _ in cells), default=0) for axis in range(2))
    for (row, column), letter in cells:
        y, x = (row - top) * side, (column - left) * side
        faces[_FACES.index(letter)] = image[y : y + side, x : x + side]
    return faces.reshape(-1, side, 3)


def _separate_faces(build: Build, element: Element, values: dict[str, Any]) -> Image:
    """Return the six faces of a cube, read from one file each. Faces without a file have the colour ``rgb1``."""
    given = [(face, name) for face, name in enumerate(_FACE_FILES) if values[name]]
    if not given:
        raise element.error("needs a file, files of its faces, or a builtin pattern", "file")
    faces = None
    for face, attribute in given:
        image = _load(build, element, attribute, values)
        height, side = image.shape[:2]
        if height != side:
            raise element.error(f"the image of a face must be square, found {side} x {height}", attribute)
        if faces is None:
            faces = uniform(values["rgb1"], 6, side, side)
        if faces.shape[1] != side:
            raise element.error(f"all faces must have one size, found {faces.shape[1]} and {side}", attribute)
        faces[face] = image
    assert faces is not None
    return faces.reshape(-1, faces.shape[1], 3)


# --- height fields ---------------------------------------------------------------------------------------------------

_MOST_HEIGHTS = 2**25  # largest number of elevations of a height field
_HEIGHT_TYPES = {".png": _PNG, "": "image/vnd.mujoco.hfield"}


def add_heightfields(build: Build) -> None:
    """Fill the columns ``hfield_*`` for all height fields, in the user's order."""
    for element in build.tree.section("asset").all("hfield"):
        values = element.resolved()
        size = values["size"]
        if min(size) <= 0.0:
            raise element.error(f"sizes must be positive, found {min(size):g}", "size")
        heights = _normalized(element, _elevations(build, element, values))
        build.enter("hfield", element.name)
        build.put(
            hfield_size=size,
            hfield_nrow=heights.shape[0],
            hfield_ncol=heights.shape[1],
            hfield_adr=build.add_block("hfield_data", heights.ravel()),
            hfield_path=asset_name(build, element),
        )


def _elevations(build: Build, element: Element, values: dict[str, Any]) -> np.ndarray:
    """Return the given elevations, not normalised: (rows, columns), row 0 at the smallest y. The default is zero."""
    nrow, ncol, given = values["nrow"], values["ncol"], values["elevation"]
    if given is not None and nrow > 0 and ncol > 0 and len(given) != nrow * ncol:
        raise element.error(f"{len(given)} numbers, but nrow * ncol is {nrow * ncol}", "elevation")
    name = element.attributes.get("file")
    if name:
        is_image = media_type(element, name, _HEIGHT_TYPES) == _PNG
        content = read_asset(build, element)
        try:
            return png_grey(content)[::-1].astype(np.float32) if is_image else _read_heights(content)
        except ValueError as error:
            raise element.error(f"'{name}': {error}", "file") from None
    if nrow < 1 or ncol < 1:
        raise element.error(f"needs a file, or positive nrow and ncol; found {nrow} and {ncol}", "nrow")
    if nrow * ncol > _MOST_HEIGHTS:
        raise element.error(f"{nrow} x {ncol} elevations are more than {_MOST_HEIGHTS}", "nrow")
    if given is None:
        return np.zeros((nrow, ncol), np.float32)
    with np.errstate(over="ignore"):
        return np.array(given).astype(np.float32).reshape(nrow, ncol)[::-1]


def _read_heights(content: bytes) -> np.ndarray:
    """Read elevations from the binary format: rows, columns (int32), then float32 values, row by row."""
    if len(content) < _HEADER.size:
        raise ValueError("the file is too short for a height field's header")
    nrow, ncol = _HEADER.unpack_from(content)
    if nrow < 1 or ncol < 1:
        raise ValueError(f"rows and columns must be positive, found {nrow} and {ncol}")
    wanted = _HEADER.size + 4 * nrow * ncol
    if len(content) != wanted:
        raise ValueError(f"{nrow} x {ncol} elevations take {wanted} bytes, but the file has {len(content)}")
    return np.frombuffer(content, "<f4", offset=_HEADER.size).reshape(nrow, ncol)


def _normalized(element: Element, heights: np.ndarray) -> np.ndarray:
    """Scale elevations to the range 0 to 1, in single precision. If all are equal, the result is zero.

    Values that are not finite count as 0, with a warning.
    """
    if not np.isfinite(heights).all():
        attribute = "file" if element.attributes.get("file") else "elevation"
        element.warn("every elevation must be a finite number (in single precision): others count as 0", attribute)
        heights = np.where(np.isfinite(heights), heights, np.float32(0.0))
    low, high = heights.min(), heights.max()
    heights = heights - low
    return heights / (high - low) if high > low else heights
