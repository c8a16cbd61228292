"""Small files of assets, made in memory: images, height fields, textures and skins in their binary formats."""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np
from PIL import Image


def png(pixels: Any) -> bytes:
    """A PNG image from pixels: (rows, columns) or (rows, columns, channels)."""
    buffer = io.BytesIO()
    Image.fromarray(np.asarray(pixels)).save(buffer, "PNG")
    return buffer.getvalue()


def palette_png(pixels: np.ndarray) -> bytes:
    """A PNG image whose pixels are numbers of colours in a palette."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).convert("P").save(buffer, "PNG")
    return buffer.getvalue()


def hfield(nrow: int, ncol: int, heights: Any) -> bytes:
    """A height field in the binary format."""
    return struct.pack("<ii", nrow, ncol) + np.asarray(heights, np.float32).tobytes()


def texture(image: np.ndarray) -> bytes:
    """A texture in the binary format."""
    return struct.pack("<ii", image.shape[1], image.shape[0]) + image.tobytes()


def skin(vert: Any, texcoord: Any, face: Any, bones: list[tuple[str, Any, Any, Any, Any]]) -> bytes:
    """A skin in the binary format; bones are (body, position, orientation, vertices, weights)."""
    parts = [np.asarray(vert, np.float32), np.asarray(texcoord, np.float32), np.asarray(face, np.int32)]
    content = struct.pack("<4i", parts[0].size // 3, parts[1].size // 2, parts[2].size // 3, len(bones))
    content += b"".join(part.tobytes() for part in parts)
    for body, pos, quat, vertid, weight in bones:
        content += body.encode().ljust(40, b"\0") + np.asarray([*pos, *quat], np.float32).tobytes()
        content += struct.pack("<i", len(vertid))
        content += np.asarray(vertid, np.int32).tobytes() + np.asarray(weight, np.float32).tobytes()
    return content
