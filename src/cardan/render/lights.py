"""Lights of a scene, as kernels need them, and their views for shadows."""

from __future__ import annotations

from math import cos, radians, tan

import numpy as np

from cardan.render.camera import View, axes_of, make_view
from cardan.visual import MjvScene

WIDEST = 160.0
"""Angle from which on a light casts no shadows, degrees."""
LIGHT_VECTORS = ("pos", "dir", "attenuation", "ambient", "diffuse", "specular")


def light_columns(scene: MjvScene) -> dict[str, np.ndarray]:
    """Arrays of the frame, by name, for the lights of a scene."""
    lights = scene.light_values[: scene.nlight]
    columns = {name: lights[name].astype(float) for name in LIGHT_VECTORS}
    columns["dir"] /= np.maximum(np.linalg.norm(columns["dir"], axis=1, keepdims=True), 1e-12)
    columns["exponent"] = lights["exponent"]
    columns["directional"] = lights["directional"]
    columns["cutoff"] = np.array([cos(radians(angle)) if angle < 180.0 else -1.0 for angle in lights["cutoff"]])
    return columns


def shadow_view(
    scene: MjvScene, light: int, clip: float, scale: float, near: float, far: float, size: int
) -> View | None:
    """The view of a light with shadows, or None: it casts none, or its cone is too wide.

    Args:
        scene: the scene.
        light: number of the light.
        clip: half the width of what directional lights see, m.
        scale: share of the cone that other lights see.
        near: distance of the near plane, m.
        far: distance of the far plane, m.
        size: width and height of the shadow map, pixels.
    """
    values = scene.light_values[light]
    if not values["castshadow"] or values["headlight"]:
        return None
    position, direction = values["pos"].astype(float), values["dir"].astype(float)
    if np.linalg.norm(direction) < 1e-9:
        return None
    axes = axes_of(direction, np.array([0.0, 0.0, 1.0]) if abs(direction[2]) < 0.99 else np.array([0.0, 1.0, 0.0]))
    if values["directional"]:
        # the map looks along the light from its place, and back
        window = (-clip, clip, -clip, clip)
        view = make_view(axes, position, window, (size, size), False, near, far)
    else:
        angle = 2.0 * float(values["cutoff"]) * scale
        if not 0.0 < angle < WIDEST:
            return None
        half = tan(radians(0.5 * angle))
        view = make_view(axes, position, (-half, half, -half, half), (size, size), True, near, far)
    return View(**{**view.__dict__, "shadow": True})


def light_lines(light: View, view: View) -> np.ndarray:
    """Where the rays of a view begin, and the rays, as a light sees them.

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
