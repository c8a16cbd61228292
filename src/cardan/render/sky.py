"""The background: the sky, and the haze at the horizon of infinite planes."""

from __future__ import annotations

from math import sqrt

from cardan.jit import kernel
from cardan.render.kernel_views import Assets, Frame
from cardan.render.kernels import ONE, ZERO, single
from cardan.render.sampling import multiply_cube
from cardan.render.tiles import TILE_WIDTH

NONE = -1
FLAT = single(1e-20)
NEAR_ENOUGH = 0.999
"""Safety factor: there is no haze nearer than this fraction of the distance at which haze begins."""
HazeLine = tuple[float, float, float, float, float, float]
"""Haze in a row of pixels: distance at which the sky meets the plane, relative to the camera's height; descent of the
ray of the first pixel for a depth of 1 m; step of the descent per pixel; three coefficients of the squared length of
rays, a quadratic polynomial of the pixel number."""


@kernel
def ray_of(f: Frame, view: int, px: float, py: float) -> tuple[float, float, float]:
    """Return the vector of the ray through the point (`px`, `py`), pixels, of view `view`, for a depth of 1 m."""
    return (
        f.view_ray[view, 0] + f.view_ray[view, 1] * px + f.view_ray[view, 2] * py,
        f.view_ray[view, 3] + f.view_ray[view, 4] * px + f.view_ray[view, 5] * py,
        f.view_ray[view, 6] + f.view_ray[view, 7] * px + f.view_ray[view, 8] * py,
    )


@kernel
def haze_line(f: Frame, view: int, y: int, left: int) -> HazeLine:
    """Compute the coefficients of haze (`HazeLine`) in row `y` of view `view`; pixels are counted from `left`."""
    geom = f.haze_geom
    height, drop, fall, square, double, step = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    first = ray_of(f, view, left + 0.5, y + 0.5)
    for k in range(3):
        n, right = float(f.geom_mat[geom, 3 * k + 2]), f.view_ray[view, 3 * k + 1]
        height += n * (f.view_base[view, 3 * k] - f.geom_pos[geom, k])
        drop -= n * first[k]
        fall -= n * right
        square += first[k] * first[k]
        double += 2.0 * first[k] * right
        step += right * right
    radius = f.sky_radius / height if height > 0.0 else 0.0
    return (radius, drop, fall, square, double, step)


@kernel
def is_hazy(f: Frame, line: HazeLine) -> bool:
    """Return whether a tile's row may contain haze.

    The row has no haze if both ends are above the horizon, or both nearer than the haze. The ends suffice, because the
    descent towards the plane is linear along the row, and the distance along the plane is convex.
    """
    radius, drop, fall, a, b, c = line
    reach = (1.0 - f.haze) * radius * NEAR_ENOUGH
    above, near = True, True
    for end in range(2):
        x = end * (TILE_WIDTH - 1.0)
        down = drop + fall * x
        level = a + b * x + c * x * x - down * down
        above = above and down < 0.0
        near = near and down > 0.0 and reach > 0.0 and reach * reach * down * down > level
    return not (above or near)


@kernel
def add_haze(f: Frame, view: int, y: int, left: int, run: int, count: int) -> None:
    """Blend haze over the colours of a batch; `view`, `y`, `left`, `run` and `count` are those of `sky_run`.

    Haze is a band of two rings around the camera: it begins on the plane, is thickest where the sky meets the plane,
    and ends at the horizon. The unit of length is the distance at which the sky meets the plane, the unit of height is
    the camera's height, and h is `f.haze`. The edges of the rings are three circles: their radii are 1 - h², 1 and 1 +
    h, and their depths below the camera are 1 + h, 1 and 0.
    """
    line = haze_line(f, view, y, left)
    radius, start, slope = single(line[0]), single(line[1]), single(line[2])
    a, b, curve = single(line[3]), single(line[4]), single(line[5])
    h = single(f.haze)
    for i in range(count):
        x = single(f.run_place[run + i])
        down = start + slope * x
        level = a + b * x + curve * x * x - down * down
        far = max(down, ZERO) * radius / single(sqrt(max(level, FLAT)))
        rest = max(ONE - (ONE - h) * far, ZERO)
        on_plane = rest / (rest + max(far - ONE, ZERO) / (ONE + h) + FLAT)
        f.run_haze[run + i] = far * (ONE + h) / (ONE + far * h) if far <= ONE else on_plane
    for k in range(run, run + count):
        share = f.run_haze[k]
        for c in range(4):
            f.run_color[k, c] += share * (f.haze_color[c] - f.run_color[k, c])


@kernel
def sky_run(a: Assets, f: Frame, view: int, y: int, left: int, run: int, count: int) -> None:
    """Compute the colours of a batch of `count` empty pixels, whose entries begin at `run`.

    The pixels are in row `y` of view `view`; their places in the row are counted from pixel `left`.
    """
    for k in range(run, run + count):
        for c in range(4):
            f.run_color[k, c] = f.background[c] if f.sky == NONE else ONE
    if f.sky == NONE:
        return
    step = single(sqrt(f.view_ray[view, 1] ** 2 + f.view_ray[view, 4] ** 2 + f.view_ray[view, 7] ** 2))
    first = ray_of(f, view, left + 0.5, y + 0.5)
    # the second axis of sky textures points up
    s, t, r = single(first[0]), single(first[2]), single(-first[1])
    ds, dt, dr = single(f.view_ray[view, 1]), single(f.view_ray[view, 7]), single(-f.view_ray[view, 4])
    for i in range(count):
        x = single(f.run_place[run + i])
        f.run_s[run + i], f.run_t[run + i], f.run_r[run + i] = s + ds * x, t + dt * x, r + dr * x
        f.run_size[run + i] = step
    multiply_cube(a, f, f.sky, run, count)
    if f.haze > 0.0 and is_hazy(f, haze_line(f, view, y, left)):
        add_haze(f, view, y, left, run, count)
