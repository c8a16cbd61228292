"""Textures from image files: one image, a grid of cube faces, or a file a face (spec: modeling, "texture")."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.compiler.files import media_type, read_asset
from cardan.compiler.images import check_image_size, png_colours

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element

Image = np.ndarray  # (height, width, 3) uint8

_PNG, _BINARY = "image/png", "image/vnd.mujoco.texture"
_TYPES = {".png": _PNG, "": _BINARY}
_HEADER = struct.Struct("<ii")  # width and height
_FACES = "RLUDFB"  # right, left, up, down, front, back: the order of the faces in the model
_FACE_FILES = ("fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")
_UNUSED = "."
_LARGEST_GRID = 12


def as_bytes(colour: Any) -> np.ndarray:
    """A colour between 0 and 1 as bytes."""
    return (np.asarray(colour) * 255.0).astype(np.uint8)


def uniform(colour: Any, *shape: int) -> Image:
    """Pixels of one colour, (*shape, 3) uint8; whole rows are copied, which is quicker than single pixels."""
    image = np.empty((*shape, 3), np.uint8)
    image[...] = np.tile(as_bytes(colour), (shape[-1], 1))
    return image


def texture_from_files(build: Build, element: Element, values: dict[str, Any]) -> Image:
    """The image of a texture that has no builtin pattern.

    A cube has one image, which is repeated on its sides, or its six faces one below the other.
    """
    flat = values["type"] == "2d"
    if not values["file"]:
        if flat:
            raise element.error("needs a file, or a builtin pattern", "file")
        return _separate_faces(build, element, values)
    image = _load(build, element, "file", values)
    if flat:
        return image
    _check_grid(element, image, values["gridsize"])
    return image if values["gridsize"] == (1, 1) else _grid_faces(element, image, values)


def _load(build: Build, element: Element, attribute: str, values: dict[str, Any]) -> Image:
    """The image of one file, flipped as the user wants it."""
    name = values[attribute]
    kind = media_type(element, name, _TYPES)
    content = read_asset(build, element, attribute)
    try:
        image = png_colours(content) if kind == _PNG else _read_binary(content)
    except ValueError as error:
        raise element.error(f"'{name}': {error}", attribute) from None
    image = image[:, ::-1] if values["hflip"] else image
    return image[::-1] if values["vflip"] else image


def _read_binary(content: bytes) -> Image:
    """An image in the binary format: width, height (int32), then three bytes a pixel, row by row."""
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


def _check_grid(element: Element, image: Image, gridsize: tuple[int, int]) -> None:
    """The image is a grid of at most twelve squares."""
    rows, columns = gridsize
    if rows < 1 or columns < 1 or rows * columns > _LARGEST_GRID:
        raise element.error(f"must be positive, at most {_LARGEST_GRID} cells, found {rows} x {columns}", "gridsize")
    height, width = image.shape[:2]
    if height % rows or width % columns or height // rows != width // columns:
        raise element.error(
            f"{width} x {height} pixels are no {rows} rows and {columns} columns of squares", "gridsize"
        )


def _grid_faces(element: Element, image: Image, values: dict[str, Any]) -> Image:
    """Faces cut from the cells of an image; those which the layout leaves out have the first colour."""
    layout, columns = values["gridlayout"], values["gridsize"][1]
    side = image.shape[1] // columns
    faces = _plain_faces(side, values)
    for cell, letter in enumerate(layout[: columns * values["gridsize"][0]]):
        if letter == _UNUSED:
            continue
        if letter not in _FACES:
            raise element.error(f"'{letter}' is none of {_UNUSED}{_FACES}", "gridlayout")
        row, column = divmod(cell, columns)
        faces[_FACES.index(letter)] = image[row * side : (row + 1) * side, column * side : (column + 1) * side]
    return faces.reshape(-1, side, 3)


def _separate_faces(build: Build, element: Element, values: dict[str, Any]) -> Image:
    """Faces from a file each; those without one have the first colour."""
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
            faces = _plain_faces(side, values)
        if faces.shape[1] != side:
            raise element.error(f"all faces must have one size, found {faces.shape[1]} and {side}", attribute)
        faces[face] = image
    assert faces is not None
    return faces.reshape(-1, faces.shape[1], 3)


def _plain_faces(side: int, values: dict[str, Any]) -> Image:
    """Six faces of the first colour: (face, row, column, channel)."""
    return uniform(values["rgb1"], 6, side, side)
