"""Lights of a scene in the form that kernels need, and their views for shadows."""

from __future__ import annotations

from math import cos, pi, radians, sqrt, tan
from typing import Any

import numpy as np

from cardan.jit import exact, kernel
from cardan.render.calls import picture_stage
from cardan.render.camera import View, axes_of, length_of, make_view
from cardan.render.kernel_views import Assets, Frame
from cardan.visual import MjvScene
from cardan.visual.cameras import AMBIENT, ATTENUATION, BYTES, CUTOFF, DIFFUSE, DIR, EXPONENT, LIGHT_POS, SPECULAR

WIDEST = 160.0
"""Angle from which on a light casts no shadows, degrees."""
DEGREE = pi / 180.0
NO_CONE = 180.0
"""Angle from which on a light has no cone, degrees."""
NO_LENGTH = 1e-12
DIRECTIONAL_SHIFT, A_BYTE = 8, 255
"""Position, in the word of flags, of the byte that says whether rays are parallel."""


@kernel
def take_three(f: Frame, target: Any, light: int, word: int) -> None:
    """Copy three numbers of a light."""
    for k in range(3):
        target[light, k] = f.scene_light_f[light, word + k]


@kernel
def wide(f: Frame, light: int, word: int) -> float:
    """Return a number of a light in double precision; in compiled code, ``float`` alone doesn't convert it."""
    return 1.0 * float(f.scene_light_f[light, word])


@picture_stage
@exact
def take_lights(a: Assets, f: Frame, i: int, j: int) -> int:
    """Copy the lights of a scene, as if they had no shadows; return 0."""
    for light in range(f.nlight):
        take_three(f, f.light_pos, light, LIGHT_POS)
        take_three(f, f.light_attenuation, light, ATTENUATION)
        take_three(f, f.light_ambient, light, AMBIENT)
        take_three(f, f.light_diffuse, light, DIFFUSE)
        take_three(f, f.light_specular, light, SPECULAR)
        x, y, z = wide(f, light, DIR), wide(f, light, DIR + 1), wide(f, light, DIR + 2)
        length = max(sqrt(x * x + y * y + z * z), NO_LENGTH)
        f.light_dir[light, 0] = x / length
        f.light_dir[light, 1] = y / length
        f.light_dir[light, 2] = z / length
        angle = wide(f, light, CUTOFF)
        f.light_cutoff[light] = cos(angle * DEGREE) if angle < NO_CONE else -1.0
        f.light_exponent[light] = f.scene_light_f[light, EXPONENT]
        f.light_directional[light] = f.scene_light_i[light, BYTES] >> DIRECTIONAL_SHIFT & A_BYTE
        f.light_layer[light] = 0
    return 0


def shadow_view(
    scene: MjvScene, light: int, clip: float, scale: float, near: float, far: float, size: int
) -> View | None:
    """Make the view of a light with shadows; None if it casts none, or its cone is too wide.

    Args:
        scene: the scene.
        light: number of the light.
        clip: half the width of the view of directional lights, m.
        scale: fraction of the cone that the views of other lights show.
        near: distance of the near plane, m.
        far: distance of the far plane, m.
        size: width and height of the shadow map, pixels.
    """
    values = scene.light_values[light]
    if not values["castshadow"] or values["headlight"]:
        return None
    position, direction = values["pos"].astype(float), values["dir"].astype(float)
    if length_of(direction) < 1e-9:
        return None
    axes = axes_of(direction, np.array([0.0, 0.0, 1.0]) if abs(direction[2]) < 0.99 else np.array([0.0, 1.0, 0.0]))
    if values["directional"]:
        # the map shows both directions along the light from its position
        window = (-clip, clip, -clip, clip)
        return make_view(axes, position, window, (size, size), False, near, far, shadow=True)
    angle = 2.0 * float(values["cutoff"]) * scale
    if not 0.0 < angle < WIDEST:
        return None
    half = tan(radians(0.5 * angle))
    return make_view(axes, position, (-half, half, -half, half), (size, size), True, near, far, shadow=True)


def light_lines(light: View, view: View) -> np.ndarray:
    """Transform the origins and vectors of a view's rays by a light's matrix.

    Args:
        light: the view of the light.
        view: the view.

    Returns:
        (24,): for each row of the light's matrix its products with `view.base` and with `view.ray`.
    """
    turn = light.rows[:, :3]
    base = turn @ view.base
    base[:, 0] += light.rows[:, 3]
    return np.concatenate([base, turn @ view.ray], 1).ravel()
