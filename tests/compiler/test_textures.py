"""Textures: broken and absurd files are refused, with the place and the reason."""

from __future__ import annotations

import struct
import zlib

import asset_files as made
import mujoco
import numpy as np
import pytest

from cardan.api.loading import load_string
from cardan.errors import MjcfError

IMAGE = made.png(np.arange(72, dtype=np.uint8).reshape(4, 6, 3))


def chunk(name: bytes, content: bytes) -> bytes:
    """A chunk of a PNG file."""
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def bomb(width: int, height: int) -> bytes:
    """A small PNG file that claims a huge image."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(bytes(10**6))) + chunk(b"IEND", b"")


BROKEN = [
    ('type="2d"', b"hello, this is text instead of an image", "no PNG"),
    ('type="2d"', IMAGE[:-30], "broken PNG"),
    ('type="2d"', IMAGE[:20], "no PNG"),
    ('type="2d"', IMAGE[:50] + b"\xff" + IMAGE[51:], "broken PNG"),
    ('type="2d"', bomb(2**31 - 1, 2**31 - 1), "pixels"),
    ('type="2d"', bomb(60000, 60000), "pixels"),
    ('type="2d"', bomb(3000, 3000), "broken PNG"),
    ('type="cube"', IMAGE, "squares"),
    ('type="cube" gridsize="1 2" gridlayout="RX"', IMAGE, "squares"),
    ('type="2d" content_type="image/jpeg"', IMAGE, "not supported"),
    ('type="2d" content_type="image/vnd.mujoco.texture"', IMAGE, "pixels"),
]


@pytest.mark.parametrize(("attributes", "content", "word"), BROKEN)
def test_broken_image(attributes: str, content: bytes, word: str) -> None:
    with pytest.raises(MjcfError, match=word):
        load_string(f'<mujoco><asset><texture file="t.png" {attributes}/></asset></mujoco>', {"t.png": content})


@pytest.mark.parametrize("layout", [".U..LFRB.D..", ".....F......", ".....RDF....", "............"])
@pytest.mark.parametrize("flips", ["", 'hflip="true"', 'vflip="true"', 'hflip="true" vflip="true"'])
def test_cells_of_a_grid_equal_the_reference(layout: str, flips: str) -> None:
    """Only the part of the image with the cells that the layout uses is looked at, also in flipped images."""
    image = made.png(np.arange(15 * 20 * 3, dtype=np.int64).reshape(15, 20, 3).astype(np.uint8))
    attributes = f'type="cube" gridsize="3 4" gridlayout="{layout}" rgb1=".2 .3 .4" {flips}'
    xml = f'<mujoco><asset><texture name="t" file="t.png" {attributes}/></asset></mujoco>'
    expected = mujoco.MjModel.from_xml_string(xml, {"t.png": image})
    assert np.array_equal(load_string(xml, {"t.png": image}).tex_rgb, expected.tex_rgb)


def test_huge_builtin_texture() -> None:
    with pytest.raises(MjcfError, match="pixels"):
        load_string('<mujoco><asset><texture name="t" builtin="flat" width="100000" height="1"/></asset></mujoco>')
