"""Colours of textures, interpolated between texels and between levels of detail (OpenGL 1.5, section 3.8)."""

from __future__ import annotations

from cardan.jit import kernel
from cardan.render.kernel_views import Assets, Frame
from cardan.render.kernels import HALF, ONE, TWO, ZERO, int32, single

Color = tuple[float, float, float, float]
"""Red, green, blue, and an unused number, which is added so that a colour fills a register."""
Level = tuple[float, float, int, int, int, int, int, int]
"""A level of detail and the next one: smallest and largest pixel size, in texels, that lie between the two; width and
height of each level; address of each level."""
SHARE = single(1.0 / 255.0)
LOG_BEND = single(0.3437)
NO_SIZE = single(1e30)
"""Upper limit of pixel sizes, in texels, that no pixel reaches."""
FLAT_SIDE = -1
"""Value of `side` for textures that are not cubes."""
TINY = single(1e-30)


@kernel
def texel(a: Assets, k: int) -> Color:
    """Return the colour of texel `k`; channels are from 0 to 255."""
    return (single(a.texel[k, 0]), single(a.texel[k, 1]), single(a.texel[k, 2]), single(a.texel[k, 3]))


@kernel
def mixed(c: Color, d: Color, share: float) -> Color:
    """Interpolate between the colours `c` and `d`; `share` is the weight of `d`."""
    return (
        c[0] + share * (d[0] - c[0]),
        c[1] + share * (d[1] - c[1]),
        c[2] + share * (d[2] - c[2]),
        c[3] + share * (d[3] - c[3]),
    )


@kernel
def part(x: float) -> float:
    """Return the fractional part of a number, at least 0: 0.75 for -0.25."""
    rest = x - single(int32(x))
    return rest + ONE if rest < ZERO else rest


@kernel
def put_corner(f: Frame, k: int, x: float, y: float, row: int, adr: int) -> None:
    """Store the lower left of the four texels around (`x`, `y`), and the fractional parts of x and y, as entry `k`.

    `row` is the length of a row, and `adr` is the address of the level of detail. Levels have borders (see `bordered`),
    so that texels to the right and above always exist.
    """
    i, j = int32(x), int32(y)
    f.run_u[k], f.run_v[k] = x - single(i), y - single(j)
    f.run_corner[k] = int32(int32(int32(j * row) + i) + adr)


@kernel
def find_texels(f: Frame, side: int, width: int, height: int, adr: int, run: int, count: int, shift: int) -> None:
    """Find the four texels around each pixel of a run, in one level of detail of a texture.

    `side` is the side of a cube texture, or -1 for a flat texture. Coordinates are in `run_s` and `run_t`: for flat
    textures, they repeat with period 1; for cubes, they are from 0 to 1. Results are stored with an offset of `shift`
    entries.
    """
    row, across, along = int32(width + 2), single(width), single(height)
    if side == FLAT_SIDE:
        first = int32(adr)
        for k in range(run, run + count):
            x, y = part(f.run_s[k]) * across + HALF, part(f.run_t[k]) * along + HALF
            put_corner(f, k + shift, x, y, row, first)
    else:
        first = int32(adr + side * (width + 2) * (width + 2))
        for k in range(run, run + count):
            put_corner(f, k + shift, f.run_s[k] * across + HALF, f.run_t[k] * across + HALF, row, first)


@kernel
def blend_texels(a: Assets, f: Frame, k: int, row: int) -> Color:
    """Interpolate between the four texels around a pixel; `row` is the number of texels in a row."""
    low, u = f.run_corner[k], f.run_u[k]
    high = low + row
    return mixed(mixed(texel(a, low), texel(a, low + 1), u), mixed(texel(a, high), texel(a, high + 1), u), f.run_v[k])


@kernel
def multiply_by(f: Frame, k: int, color: Color) -> None:
    """Multiply the colour of pixel `k` by `color`, whose channels are from 0 to 255 (255 means 1).

    All values are read before any is stored, so that LLVM can vectorise.
    """
    r, g, b, o = f.run_color[k, 0], f.run_color[k, 1], f.run_color[k, 2], f.run_color[k, 3]
    r, g, b, o = r * SHARE * color[0], g * SHARE * color[1], b * SHARE * color[2], o * SHARE * color[3]
    f.run_color[k, 0] = r
    f.run_color[k, 1] = g
    f.run_color[k, 2] = b
    f.run_color[k, 3] = o


@kernel
def multiply_level(a: Assets, f: Frame, level: Level, side: int, run: int, count: int) -> int:
    """Multiply the colours of a run's first pixels by the texture colour at one level of detail; return their number.

    The run consists of `count` pixels from index `run`. The loop stops at the first pixel that needs another level. It
    tests pixel sizes one at a time, so that LLVM vectorises over colour channels. If it vectorised over pixels, texels
    would be loaded byte by byte.
    """
    low, high, width, height, next_width, next_height, adr, next_adr = level
    find_texels(f, side, width, height, adr, run, count, 0)
    k, end, row, next_row = run, run + count, width + 2, next_width + 2
    if high <= ONE or high >= NO_SIZE:
        while k < end and low <= f.run_size[k] < high:
            multiply_by(f, k, blend_texels(a, f, k, row))
            k += 1
        return k - run
    shift = f.next_level
    find_texels(f, side, next_width, next_height, next_adr, run, count, shift)
    for i in range(run, end):
        f.run_share[i] = share_of_next(f.run_size[i], low)
    while k < end and low <= f.run_size[k] < high:
        color = mixed(blend_texels(a, f, k, row), blend_texels(a, f, k + shift, next_row), f.run_share[k])
        multiply_by(f, k, color)
        k += 1
    return k - run


@kernel
def level_for(a: Assets, tex: int, size: float) -> Level:
    """Return the level of detail in which a pixel of `size` texels covers 1 to 2 texels, and the next level."""
    most = a.tex_nlevel[tex] - 1
    level, low, high = 0, ONE, TWO
    if size < ONE:  # it needs only the first level
        low, high, most = ZERO, ONE, 0
    while size >= high and level < most:
        low = high
        high *= TWO
        level += 1
    upto = high if level < most or size < ONE else NO_SIZE
    following = min(level + 1, most)
    return (
        *(low, upto),
        *(max(a.tex_width[tex] >> level, 1), max(a.tex_height[tex] >> level, 1)),
        *(max(a.tex_width[tex] >> following, 1), max(a.tex_height[tex] >> following, 1)),
        *(a.tex_leveladr[tex, level], a.tex_leveladr[tex, following]),
    )


@kernel
def share_of_next(size: float, low: float) -> float:
    """Return the weight of the next level of detail: the base-2 logarithm of ``size / low``, accurate to 0.01."""
    rest = size * (ONE / low) - ONE
    return rest * (ONE + LOG_BEND * (ONE - rest))


@kernel
def multiply_texture(a: Assets, f: Frame, tex: int, side: int, run: int, count: int) -> None:
    """Multiply the colours of a run of pixels by a texture: a side of a cube (`side`), or a flat texture (-1).

    Coordinates are in `run_s` and `run_t`; sizes of pixels, in texels, are in `run_size`.
    """
    k, end = run, run + count
    while k < end:
        k += max(multiply_level(a, f, level_for(a, tex, f.run_size[k]), side, k, end - k), 1)


@kernel
def cube_side(x: float, y: float, z: float) -> int:
    """Return the side of a cube to which a direction points (OpenGL 1.5, table 3.19)."""
    ax, ay, az = abs(x), abs(y), abs(z)
    if ax >= ay and ax >= az:
        return 0 if x > ZERO else 1
    if ay >= az:
        return 2 if y > ZERO else 3
    return 4 if z > ZERO else 5


@kernel
def side_axes(side: int) -> tuple[float, float, float, float, float, float, float, float, float]:
    """Return three vectors for a cube's side.

    A direction's dot products with them are two coordinates on the side, and the divisor of both coordinates.
    """
    if side < 2:
        sign = ONE if side == 0 else -ONE
        return (ZERO, ZERO, -sign, ZERO, -ONE, ZERO, sign, ZERO, ZERO)
    if side < 4:
        sign = ONE if side == 2 else -ONE
        return (ONE, ZERO, ZERO, ZERO, ZERO, sign, ZERO, sign, ZERO)
    sign = ONE if side == 4 else -ONE
    return (sign, ZERO, ZERO, ZERO, -ONE, ZERO, ZERO, ZERO, sign)


@kernel
def multiply_cube(a: Assets, f: Frame, tex: int, run: int, count: int) -> None:
    """Multiply the colours of `count` pixels by cube texture `tex`.

    The pixels' entries in all arrays begin at `run`. Directions are in `run_s`, `run_t` and `run_r`; sizes of pixels,
    in units of the direction, are in `run_size`.
    """
    texels = HALF * single(a.tex_width[tex])
    k, end = run, run + count
    for i in range(run, end):
        f.run_side[i] = int32(cube_side(f.run_s[i], f.run_t[i], f.run_r[i]))
    while k < end:
        first, side = k, f.run_side[k]
        while k < end and f.run_side[k] == side:
            k += 1
        ux, uy, uz, vx, vy, vz, mx, my, mz = side_axes(side)
        for i in range(first, k):  # directions become coordinates on the side, from 0 to 1, and sizes texels
            x, y, z = f.run_s[i], f.run_t[i], f.run_r[i]
            scale = ONE / max(mx * x + my * y + mz * z, TINY)
            s = HALF + HALF * ((ux * x + uy * y + uz * z) * scale)
            t = HALF + HALF * ((vx * x + vy * y + vz * z) * scale)
            f.run_s[i] = min(max(s, ZERO), ONE)
            f.run_t[i] = min(max(t, ZERO), ONE)
            f.run_size[i] *= scale * texels
        multiply_texture(a, f, tex, side, first, k - first)
