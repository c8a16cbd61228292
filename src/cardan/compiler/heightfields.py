"""Height fields: a grid of elevations from an image, a binary file or the model's text (spec: modeling, "hfield").

Elevations are stored between 0 and 1, row by row, starting at the smallest y. An image and the model's text start with
the row at the largest y.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.compiler.files import asset_name, media_type, read_asset
from cardan.compiler.images import png_grey

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.spec.element import Element


LARGEST_GRID = 2**25  # largest number of elevations of a height field
_PNG, _BINARY = "image/png", "image/vnd.mujoco.hfield"
_TYPES = {".png": _PNG, "": _BINARY}
_HEADER = struct.Struct("<ii")  # rows and columns


def add_heightfields(build: Build) -> None:
    """Add columns ``hfield_*`` in the user's order."""
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
    """Return the given elevations (rows, columns), row 0 at the smallest y; zeros if none are given."""
    nrow, ncol, given = values["nrow"], values["ncol"], values["elevation"]
    if given is not None and nrow > 0 and ncol > 0 and len(given) != nrow * ncol:
        raise element.error(f"{len(given)} numbers, but nrow * ncol is {nrow * ncol}", "elevation")
    name = element.attributes.get("file")
    if name:
        is_image = media_type(element, name, _TYPES) == _PNG
        content = read_asset(build, element)
        try:
            return png_grey(content)[::-1].astype(np.float32) if is_image else _read_binary(content)
        except ValueError as error:
            raise element.error(f"'{name}': {error}", "file") from None
    if nrow < 1 or ncol < 1:
        raise element.error(f"needs a file, or positive nrow and ncol; found {nrow} and {ncol}", "nrow")
    if nrow * ncol > LARGEST_GRID:
        raise element.error(f"{nrow} x {ncol} elevations are more than {LARGEST_GRID}", "nrow")
    if given is None:
        return np.zeros((nrow, ncol), np.float32)
    with np.errstate(over="ignore"):
        return np.array(given).astype(np.float32).reshape(nrow, ncol)[::-1]


def _read_binary(content: bytes) -> np.ndarray:
    """Read elevations from the binary format: rows, columns (int32), then float32 numbers row by row."""
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
    """Scale elevations to the range 0 to 1, in single precision; the result is zeros if all are equal."""
    if not np.isfinite(heights).all():
        attribute = "file" if element.attributes.get("file") else "elevation"
        element.warn("every elevation must be a finite number (in single precision): others count as 0", attribute)
        heights = np.where(np.isfinite(heights), heights, np.float32(0.0))
    low, high = heights.min(), heights.max()
    heights = heights - low
    return heights / (high - low) if high > low else heights
