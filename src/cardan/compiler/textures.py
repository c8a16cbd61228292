"""Textures that the compiler makes: flat, checker and gradient images with marks (spec: modeling, "texture").

The formulas of the gradient were found by asking the reference.
"""

from __future__ import annotations

from functools import lru_cache
from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.compiler.files import asset_name
from cardan.compiler.images import check_image_size
from cardan.compiler.random_dots import MOST, random_numbers
from cardan.compiler.texture_files import as_bytes, texture_from_files, uniform
from cardan.spec.schema.keywords import TEXTURE

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element

Image = np.ndarray  # (height, width, 3) uint8
Colour = tuple[float, float, float]

_UP, _DOWN = 2, 3  # faces of a cube: right, left, up, down, front, back
_RANDOM_SEED = 123
_BLOCK = 16  # rows of an image that are coloured at a time


def add_textures(build: Build) -> None:
    """Columns ``tex_*`` of the textures that are kept, in the user's order."""
    drawn = 0  # random numbers that went into textures
    for element in build.tree.section("asset").all("texture"):
        if build.dropped(element):
            continue
        values = element.resolved()
        if values["builtin"] != "none":
            image = _made(element, values, drawn)
            drawn += image.size // 3 if values["mark"] == "random" else 0
        else:
            image = texture_from_files(build, element, values)
        build.enter("texture", element.name)
        build.put(
            tex_type=TEXTURE[values["type"]],
            tex_height=image.shape[0],
            tex_width=image.shape[1],
            tex_adr=build.add_block("tex_rgb", image.ravel()),
            tex_path=asset_name(build, element),
        )


def _made(element: Element, values: dict[str, Any], drawn: int) -> Image:
    """The image of a builtin texture; that of a cube has its six faces one below the other."""
    width, height = values["width"], values["height"]
    flat = values["type"] == "2d"
    try:
        check_image_size(width, height)
        height = height if flat else width
        check_image_size(width, height if flat else 6 * height)
    except ValueError as error:
        raise element.error(str(error), "width") from None
    colours = (values["rgb1"], values["rgb2"], values["markrgb"])
    drawn = drawn if values["mark"] == "random" else 0
    return _image(values["builtin"], values["mark"], flat, width, height, colours, values["random"], drawn)


@lru_cache(maxsize=16)
def _image(
    builtin: str,
    mark: str,
    flat: bool,
    width: int,
    height: int,
    colours: tuple[Colour, ...],
    chance: float,
    drawn: int,
) -> Image:
    """The image from its parameters; kept, since models are often compiled again."""
    faces = _FLAT_MAKERS[builtin](width, height, *colours[:2]) if flat else _CUBE_MAKERS[builtin](width, *colours[:2])
    if mark != "none":
        faces[_mark(mark, faces.shape[:3], chance, drawn)] = as_bytes(colours[2])
    image = np.ascontiguousarray(faces.reshape(-1, width, 3))
    image.flags.writeable = False
    return image


# --- images: arrays (face, row, column, channel) ----------------------------------------------------------------------


def _flat_2d(width: int, height: int, rgb1: Colour, rgb2: Colour) -> Image:
    return uniform(rgb1, 1, height, width)


def _checker(width: int, height: int, rgb1: Colour, rgb2: Colour) -> Image:
    """Four fields: the first colour at upper left and lower right."""
    image = uniform(rgb1, 1, height, width)
    image[:, : height // 2, width // 2 :] = as_bytes(rgb2)
    image[:, height // 2 :, : width // 2] = as_bytes(rgb2)
    return image


def _grid(n: int) -> np.ndarray:
    """Coordinates of n pixels from -1 to 1."""
    return 2.0 * np.arange(n) / max(n - 1, 1) - 1.0


def _blend(position: np.ndarray, rgb1: Colour, rgb2: Colour) -> Image:
    """Colours along a smooth step from the first (at -1) to the second (at 1).

    They are found a channel at a time, in a block of rows that stays in the cache.
    """
    image = np.empty((*position.shape, 3), np.uint8)
    for start in range(0, len(position), _BLOCK):
        part = position[start : start + _BLOCK]
        share = 0.5 + 0.5 * part / np.sqrt((1.0 + part * part) / 2.0)
        for channel, (low, high) in enumerate(zip(rgb1, rgb2, strict=True)):
            image[start : start + _BLOCK, :, channel] = as_bytes(low + share * (high - low))
    return image


def _gradient_2d(width: int, height: int, rgb1: Colour, rgb2: Colour) -> Image:
    """From the centre to the rim of a disc."""
    radius = np.sqrt(_grid(width) ** 2 + _grid(height)[:, None] ** 2)
    return _blend(np.minimum(2.0 * radius - 1.0, 1.0), rgb1, rgb2)[None]


def _flat_cube(width: int, rgb1: Colour, rgb2: Colour) -> Image:
    """The second colour below, the first one elsewhere."""
    image = uniform(rgb1, 6, width, width)
    image[_DOWN] = as_bytes(rgb2)
    return image


def _checker_cube(width: int, rgb1: Colour, rgb2: Colour) -> Image:
    """The same fields on the first four faces, and exchanged ones on the last two."""
    image = np.repeat(_checker(width, width, rgb1, rgb2), 6, axis=0)
    image[4:] = _checker(width, width, rgb2, rgb1)
    return image


def _gradient_cube(width: int, rgb1: Colour, rgb2: Colour) -> Image:
    """By elevation: the first colour above, the second one below."""
    x = _grid(width)
    side = np.arctan2(x[:, None], np.sqrt(1.0 + x * x)) / (0.5 * pi)
    pole = np.arctan2(1.0, np.sqrt(x * x + x[:, None] ** 2)) / (0.5 * pi)
    image = np.empty((6, width, width, 3), np.uint8)
    image[:_UP] = image[_DOWN + 1 :] = _blend(side, rgb1, rgb2)
    image[_UP] = _blend(-pole, rgb1, rgb2)
    image[_DOWN] = _blend(pole, rgb1, rgb2)
    return image


_FLAT_MAKERS = {"flat": _flat_2d, "checker": _checker, "gradient": _gradient_2d}
_CUBE_MAKERS = {"flat": _flat_cube, "checker": _checker_cube, "gradient": _gradient_cube}


# --- marks ------------------------------------------------------------------------------------------------------------


def _mark(mark: str, shape: tuple[int, ...], chance: float, drawn: int) -> np.ndarray:
    """Which pixels carry a mark: (face, row, column) bool; `drawn` random numbers went into other textures."""
    _, height, width = shape
    marked = np.zeros(shape, bool)
    if mark == "edge":
        marked[:, [0, -1], :] = True
        marked[:, :, [0, -1]] = True
    elif mark == "cross":
        marked[:, height // 2, :] = True
        marked[:, :, width // 2] = True
    else:
        numbers = random_numbers(drawn + int(np.prod(shape)), _RANDOM_SEED)[drawn:]
        marked[:] = (numbers < chance * MOST).reshape(shape)
    return marked
