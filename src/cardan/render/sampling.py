"""Colours of textures: bilinear between texels, linear between levels of detail (OpenGL 1.5, section 3.8)."""

from __future__ import annotations

from math import floor
from typing import Any

from cardan.jit import kernel

BYTE = 255
SHARE = 1.0 / 255.0
LOG_BEND = 0.3437


@kernel
def wrapped(i: int, n: int) -> int:
    """The texel that stands for number `i`, from -1 to `n`, of a row of `n` that repeats."""
    if i < 0:
        return i + n
    return i - n if i >= n else i


@kernel
def held(i: int, n: int) -> int:
    """The texel that stands for number `i` of a row of `n`: beyond an end, the last one."""
    return min(max(i, 0), n - 1)


@kernel
def blend(c00: int, c10: int, c01: int, c11: int, u: float, v: float) -> Any:
    """Red, green and blue, from 0 to 1, between four texels."""
    w00, w10, w01, w11 = (1.0 - u) * (1.0 - v) * SHARE, u * (1.0 - v) * SHARE, (1.0 - u) * v * SHARE, u * v * SHARE
    return (
        w00 * (c00 & BYTE) + w10 * (c10 & BYTE) + w01 * (c01 & BYTE) + w11 * (c11 & BYTE),
        w00 * (c00 >> 8 & BYTE) + w10 * (c10 >> 8 & BYTE) + w01 * (c01 >> 8 & BYTE) + w11 * (c11 >> 8 & BYTE),
        w00 * (c00 >> 16 & BYTE) + w10 * (c10 >> 16 & BYTE) + w01 * (c01 >> 16 & BYTE) + w11 * (c11 >> 16 & BYTE),
    )


@kernel
def blend_at(a: Any, row0: int, row1: int, i0: int, i1: int, u: float, v: float) -> Any:
    """Colour between the texels of two rows, which start at `row0` and `row1`, and two columns."""
    return blend(a.texel[row0 + i0], a.texel[row0 + i1], a.texel[row1 + i0], a.texel[row1 + i1], u, v)


@kernel
def sample_level(a: Any, tex: int, level: int, s: float, t: float) -> Any:
    """Colour of a flat texture at one level of detail; `s` and `t` repeat with period 1."""
    width = max(a.tex_width[tex] >> level, 1)
    height = max(a.tex_height[tex] >> level, 1)
    x = (s - floor(s)) * width - 0.5
    y = (t - floor(t)) * height - 0.5
    i, j = floor(x), floor(y)
    i0, i1 = wrapped(i, width), wrapped(i + 1, width)
    j0, j1 = wrapped(j, height), wrapped(j + 1, height)
    adr = a.tex_leveladr[tex, level]
    return blend_at(a, adr + j0 * width, adr + j1 * width, i0, i1, x - i, y - j)


@kernel
def sample_side(a: Any, tex: int, side: int, level: int, s: float, t: float) -> Any:
    """Colour of a side of a cube texture at one level of detail."""
    width = max(a.tex_width[tex] >> level, 1)
    x = s * width - 0.5
    y = t * width - 0.5
    i, j = floor(x), floor(y)
    i0, i1, j0, j1 = held(i, width), held(i + 1, width), held(j, width), held(j + 1, width)
    adr = a.tex_leveladr[tex, level] + side * width * width
    return blend_at(a, adr + j0 * width, adr + j1 * width, i0, i1, x - i, y - j)


@kernel
def mixed(c: Any, d: Any, share: float) -> Any:
    """Between two colours."""
    return (c[0] + share * (d[0] - c[0]), c[1] + share * (d[1] - c[1]), c[2] + share * (d[2] - c[2]))


@kernel
def level_of(a: Any, tex: int, footprint: float) -> float:
    """Level of detail at which a pixel is as large as a texel; `footprint` is the size of a pixel in texels."""
    most = a.tex_nlevel[tex] - 1
    level = 0
    while footprint > 2.0 and level < most:
        footprint *= 0.5
        level += 1
    if footprint <= 1.0 or level >= most:
        return float(level)
    # the logarithm to base 2 between 1 and 2, to 0.01
    rest = min(footprint, 2.0) - 1.0
    return level + rest * (1.0 + LOG_BEND * (1.0 - rest))


@kernel
def sample_flat(a: Any, tex: int, s: float, t: float, footprint: float) -> Any:
    """Colour of a flat texture for a pixel of some size, in texels."""
    detail = level_of(a, tex, footprint)
    level = int(detail)
    color = sample_level(a, tex, level, s, t)
    share = detail - level
    if share > 0.0:
        color = mixed(color, sample_level(a, tex, level + 1, s, t), share)
    return color


@kernel
def cube_side(x: float, y: float, z: float) -> Any:
    """Side of a cube that a direction meets, coordinates on it from -1 to 1 (table 3.19), and its distance."""
    ax, ay, az = abs(x), abs(y), abs(z)
    if ax >= ay and ax >= az:
        scale = 1.0 / max(ax, 1e-30)
        return (0, -z * scale, -y * scale, scale) if x > 0.0 else (1, z * scale, -y * scale, scale)
    if ay >= az:
        scale = 1.0 / ay
        return (2, x * scale, z * scale, scale) if y > 0.0 else (3, x * scale, -z * scale, scale)
    scale = 1.0 / az
    return (4, x * scale, -y * scale, scale) if z > 0.0 else (5, -x * scale, -y * scale, scale)


@kernel
def sample_cube(a: Any, tex: int, x: float, y: float, z: float, footprint: float) -> Any:
    """Colour of a cube texture in a direction; `footprint` is the size of a pixel in units of the direction."""
    side, u, v, scale = cube_side(x, y, z)
    detail = level_of(a, tex, 0.5 * footprint * scale * a.tex_width[tex])
    level = int(detail)
    s, t = 0.5 + 0.5 * u, 0.5 + 0.5 * v
    color = sample_side(a, tex, side, level, s, t)
    share = detail - level
    if share > 0.0:
        color = mixed(color, sample_side(a, tex, side, level + 1, s, t), share)
    return color
