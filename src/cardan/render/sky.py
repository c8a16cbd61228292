"""What is behind everything: the sky, and the haze at the horizon of planes without bounds."""

from __future__ import annotations

from math import sqrt
from typing import Any

from cardan.jit import kernel
from cardan.render.sampling import sample_cube

NONE = -1


@kernel
def ray_of(f: Any, view: int, px: float, py: float) -> Any:
    """Vector of a depth of 1 m through a place in the picture."""
    return (
        f.view_ray[view, 0] + f.view_ray[view, 1] * px + f.view_ray[view, 2] * py,
        f.view_ray[view, 3] + f.view_ray[view, 4] * px + f.view_ray[view, 5] * py,
        f.view_ray[view, 6] + f.view_ray[view, 7] * px + f.view_ray[view, 8] * py,
    )


@kernel
def place_of(f: Any, view: int, px: float, py: float, depth: float) -> Any:
    """The point at a depth behind a place in the picture, m."""
    x, y, z = ray_of(f, view, px, py)
    return (
        f.view_base[view, 0] + f.view_base[view, 1] * px + f.view_base[view, 2] * py + depth * x,
        f.view_base[view, 3] + f.view_base[view, 4] * px + f.view_base[view, 5] * py + depth * y,
        f.view_base[view, 6] + f.view_base[view, 7] * px + f.view_base[view, 8] * py + depth * z,
    )


@kernel
def haze_share(f: Any, view: int, px: float, py: float) -> float:
    """How much haze there is: it begins on the plane, is thickest where the sky meets it, and ends at the horizon.

    The haze is a band of two rings about the camera. With the distance at which the sky meets the plane as unit of
    length and the height of the camera as unit of height, its edges are at distances 1 - h², 1 and 1 + h, and 1 + h, 1
    and 0 below the camera, where h is the share that the user sets.
    """
    geom = f.haze_geom
    n = (f.geom_mat[geom, 2], f.geom_mat[geom, 5], f.geom_mat[geom, 8])
    height = 0.0
    for k in range(3):
        height += n[k] * (f.view_base[view, 3 * k] - f.geom_pos[geom, k])
    x, y, z = ray_of(f, view, px, py)
    drop = -(x * n[0] + y * n[1] + z * n[2])
    if drop <= 0.0 or height <= 0.0:
        return 0.0
    level = sqrt(max(x * x + y * y + z * z - drop * drop, 1e-20))
    slope = drop * f.sky_radius / (level * height)
    h = f.haze
    if slope <= 1.0:
        return slope * (1.0 + h) / (1.0 + slope * h)
    rest = 1.0 - (1.0 - h) * slope
    if rest <= 0.0:
        return 0.0
    return rest / (rest + (slope - 1.0) / (1.0 + h))


@kernel
def add_haze(f: Any, view: int, y: int, x0: int, count: int, run: int) -> None:
    """Blend haze over the colours of a run of pixels."""
    for i in range(count):
        share = haze_share(f, view, x0 + i + 0.5, y + 0.5)
        if share > 0.0:
            for c in range(3):
                k = 3 * (run + i) + c
                f.run_color[k] += share * (f.haze_color[c] - f.run_color[k])


@kernel
def sky_run(a: Any, f: Any, view: int, y: int, x0: int, count: int, run: int) -> None:
    """Colours of pixels behind which nothing is."""
    if f.sky == NONE:
        for i in range(count):
            for c in range(3):
                f.run_color[3 * (run + i) + c] = f.background[c]
        return
    step = sqrt(f.view_ray[view, 1] ** 2 + f.view_ray[view, 4] ** 2 + f.view_ray[view, 7] ** 2)
    for i in range(count):
        x, up, z = ray_of(f, view, x0 + i + 0.5, y + 0.5)
        # the second axis of the textures of skies points up
        color = sample_cube(a, f.sky, x, z, -up, step)
        for c in range(3):
            f.run_color[3 * (run + i) + c] = color[c]
    if f.haze > 0.0:
        add_haze(f, view, y, x0, count, run)
