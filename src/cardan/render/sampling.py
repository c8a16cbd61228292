"""Colours of textures: bilinear between texels, linear between levels of detail (OpenGL 1.5, section 3.8)."""

from __future__ import annotations

from cardan.jit import kernel
from cardan.render.kernel_views import Assets, Frame
from cardan.render.single import HALF, ONE, TWO, ZERO, int32, single

Color = tuple[float, float, float, float]
"""Red, green, blue, and a number without meaning, so that a colour is as long as a register."""
Level = tuple[float, float, int, int, int, int, int, int]
"""Sizes of pixels, in texels, from which and up to which it is used; width, height and address of this level of
detail and of the next one."""
SHARE = single(1.0 / 255.0)
LOG_BEND = single(0.3437)
NO_SIZE = single(1e30)
"""Larger than any pixel, in texels."""
UNKNOWN = (ONE, ZERO, 1, 1, 1, 1, 0, 0)
"""The level of detail before the first pixel."""
TINY = single(1e-30)


@kernel
def texel(a: Assets, k: int) -> Color:
    """A colour, from 0 to 255."""
    return (single(a.texel[k, 0]), single(a.texel[k, 1]), single(a.texel[k, 2]), single(a.texel[k, 3]))


@kernel
def mixed(c: Color, d: Color, share: float) -> Color:
    """Between two colours."""
    return (
        c[0] + share * (d[0] - c[0]),
        c[1] + share * (d[1] - c[1]),
        c[2] + share * (d[2] - c[2]),
        c[3] + share * (d[3] - c[3]),
    )


@kernel
def blend_at(a: Assets, row0: int, row1: int, i0: int, i1: int, u: float, v: float) -> Color:
    """Colour between the texels of two rows, which start at `row0` and `row1`, and two columns."""
    low = mixed(texel(a, row0 + i0), texel(a, row0 + i1), u)
    high = mixed(texel(a, row1 + i0), texel(a, row1 + i1), u)
    return mixed(low, high, v)


@kernel
def part(x: float) -> float:
    """What follows the point of a number; of -0.25, 0.75."""
    rest = x - single(int32(x))
    return rest + ONE if rest < ZERO else rest


@kernel
def find_texels(f: Frame, width: int, height: int, adr: int, run: int, count: int) -> None:
    """The four texels about each pixel of a run at one level of a flat texture, and how far it is between them.

    Coordinates stand in `run_s` and `run_t`; they repeat with period 1.
    """
    wide, high, first = int32(width), int32(height), int32(adr)
    across, along = single(width), single(height)
    for k in range(run, run + count):
        x, y = part(f.run_s[k]) * across + HALF, part(f.run_t[k]) * along + HALF
        i, j = int32(x), int32(y)
        f.run_u[k], f.run_v[k] = x - single(i), y - single(j)
        left, right = (i if i > 0 else wide) - 1, i if i < wide else 0
        low, top = first + ((j if j > 0 else high) - 1) * wide, first + (j if j < high else 0) * wide
        f.run_corner[k] = int32(low + left)
        f.run_corner_right[k] = int32(low + right)
        f.run_corner_up[k] = int32(top + left)
        f.run_corner_far[k] = int32(top + right)


@kernel
def blend_texels(a: Assets, f: Frame, k: int) -> Color:
    """Colour between the four texels about a pixel."""
    low = mixed(texel(a, f.run_corner[k]), texel(a, f.run_corner_right[k]), f.run_u[k])
    high = mixed(texel(a, f.run_corner_up[k]), texel(a, f.run_corner_far[k]), f.run_u[k])
    return mixed(low, high, f.run_v[k])


@kernel
def sample_flat(a: Assets, f: Frame, level: Level, run: int, count: int) -> None:
    """Colours of a flat texture for a run of pixels of one level of detail, into `run_texture`."""
    low, high, width, height, next_width, next_height, adr, next_adr = level
    find_texels(f, width, height, adr, run, count)
    largest = ZERO
    for k in range(run, run + count):
        put_texture(f, k, blend_texels(a, f, k))
        largest = max(largest, f.run_size[k])
    if largest <= ONE or high >= NO_SIZE:
        return
    find_texels(f, next_width, next_height, next_adr, run, count)
    for k in range(run, run + count):
        share = share_of_next(f.run_size[k], low, high)
        before = (f.run_texture[k, 0], f.run_texture[k, 1], f.run_texture[k, 2], f.run_texture[k, 3])
        put_texture(f, k, mixed(before, blend_texels(a, f, k), share))


@kernel
def put_texture(f: Frame, at: int, color: Color) -> None:
    """Store a colour of a texture."""
    f.run_texture[at, 0] = color[0]
    f.run_texture[at, 1] = color[1]
    f.run_texture[at, 2] = color[2]
    f.run_texture[at, 3] = color[3]


@kernel
def sample_side(a: Assets, side: int, width: int, adr: int, s: float, t: float) -> Color:
    """Colour of a side of a cube texture at one level of detail; the texels at its rim go on beyond it."""
    x = s * single(width) + HALF
    y = t * single(width) + HALF
    i, j = int32(x), int32(y)
    i0, i1, j0, j1 = max(i - 1, 0), min(i, width - 1), max(j - 1, 0), min(j, width - 1)
    adr += side * width * width
    return blend_at(a, adr + j0 * width, adr + j1 * width, i0, i1, x - single(i), y - single(j))


@kernel
def level_for(a: Assets, tex: int, size: float) -> Level:
    """The level of detail at which a pixel of a size, in texels, is as large as one or two texels, and the next."""
    most = a.tex_nlevel[tex] - 1
    level, low, high = 0, ZERO, TWO
    while size >= high and level < most:
        low = high
        high *= TWO
        level += 1
    upto = high if level < most else NO_SIZE
    following = min(level + 1, most)
    return (
        *(low, upto),
        *(max(a.tex_width[tex] >> level, 1), max(a.tex_height[tex] >> level, 1)),
        *(max(a.tex_width[tex] >> following, 1), max(a.tex_height[tex] >> following, 1)),
        *(a.tex_leveladr[tex, level], a.tex_leveladr[tex, following]),
    )


@kernel
def share_of_next(size: float, low: float, high: float) -> float:
    """Share of the next level of detail: the logarithm to base 2 of a pixel's size, to 0.01."""
    rest = max(size * (ONE / max(low, ONE)) - ONE, ZERO) if high < NO_SIZE else ZERO
    return rest * (ONE + LOG_BEND * (ONE - rest))


@kernel
def multiply(f: Frame, run: int, count: int) -> None:
    """Multiply colours of a run of pixels by those of their texture, from 0 to 255."""
    for k in range(run, run + count):
        for c in range(4):
            f.run_color[k, c] *= f.run_texture[k, c] * SHARE


@kernel
def multiply_flat(a: Assets, f: Frame, tex: int, run: int, count: int) -> None:
    """Multiply colours of a run of pixels by those of a flat texture.

    Coordinates stand in `run_s` and `run_t`, sizes of pixels, in texels, in `run_size`.
    """
    k, end = run, run + count
    while k < end:
        first = k
        level = level_for(a, tex, f.run_size[k])
        k += 1
        while k < end and level[0] <= f.run_size[k] < level[1]:
            k += 1
        sample_flat(a, f, level, first, k - first)
    multiply(f, run, count)


@kernel
def cube_side(x: float, y: float, z: float) -> tuple[int, float, float, float]:
    """Side of a cube that a direction meets, coordinates on it from -1 to 1 (table 3.19), and its distance."""
    ax, ay, az = abs(x), abs(y), abs(z)
    if ax >= ay and ax >= az:
        scale = ONE / max(ax, TINY)
        return (0, -z * scale, -y * scale, scale) if x > ZERO else (1, z * scale, -y * scale, scale)
    if ay >= az:
        scale = ONE / ay
        return (2, x * scale, z * scale, scale) if y > ZERO else (3, x * scale, -z * scale, scale)
    scale = ONE / az
    return (4, x * scale, -y * scale, scale) if z > ZERO else (5, -x * scale, -y * scale, scale)


@kernel
def multiply_cube(a: Assets, f: Frame, tex: int, run: int, count: int) -> None:
    """Multiply colours of a run of pixels by those of a cube texture.

    Directions stand in `run_s`, `run_t` and `run_r`, sizes of pixels, in units of the direction, in `run_size`.
    """
    low, high, width, _, next_width, _, adr, next_adr = UNKNOWN
    texels = HALF * single(a.tex_width[tex])
    for k in range(run, run + count):
        side, u, v, scale = cube_side(f.run_s[k], f.run_t[k], f.run_r[k])
        size = f.run_size[k] * scale * texels
        if not low <= size < high:
            low, high, width, _, next_width, _, adr, next_adr = level_for(a, tex, size)
        s, t = HALF + HALF * u, HALF + HALF * v
        share = share_of_next(size, low, high)
        color = sample_side(a, side, width, adr, s, t)
        if share > ZERO:
            color = mixed(color, sample_side(a, side, next_width, next_adr, s, t), share)
        put_texture(f, k, color)
    multiply(f, run, count)
