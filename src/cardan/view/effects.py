"""Lights, sky, fog, haze and shadows in the browser."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.enums import mjtRndFlag, mjtTexture
from cardan.model import MjModel
from cardan.view.instances import GEOM
from cardan.view.lights import Lights
from cardan.view.nodes import ROOT, linear
from cardan.view.shapes import ModelSurfaces

if TYPE_CHECKING:
    from viser import SceneApi

SHADOW, FOG, HAZE, SKYBOX, SEGMENT = (
    getattr(mjtRndFlag, f"mjRND_{name}").value for name in ("SHADOW", "FOG", "HAZE", "SKYBOX", "SEGMENT")
)
SIDE = 0
"""Side of a sky's cube texture whose colours, from top to bottom, are the background."""
LIGHT = 0.4
"""Strength of the ambient light if the model has no lights."""
EVEN = pi
"""Intensity of ambient light at which surfaces have their nominal colours: they scatter 1 / pi of the light."""


def has_horizon(geoms: np.ndarray) -> bool:
    """Whether an infinite plane is among the geoms."""
    return bool(((geoms["type"] == GEOM["PLANE"]) & (geoms["size"][:, :2].min(1, initial=np.inf) <= 0.0)).any())


def surrounding(lights: np.ndarray) -> float:
    """Strength of the ambient light."""
    return float(linear(lights["ambient"].sum(0)).mean())


class Effects:
    """Lights, sky, fog and haze of a scene.

    Args:
        scene: viser's scene.
        model: the model.
        surfaces: the model's textures.
    """

    def __init__(self, scene: SceneApi, model: MjModel, surfaces: ModelSurfaces) -> None:
        self._scene, self._surfaces = scene, surfaces
        extent, map_ = float(model.stat.extent), model.vis.map
        self.lights = Lights(scene, np.array(model.stat.center), extent)
        far = float(map_.zfar) * extent
        # this fraction of the distance to the horizon is covered
        self._haze = ((1.0 - float(map_.haze)) * far, far)
        self._haze_color = tuple(float(c) for c in np.array(model.vis.rgba.haze[:3]))
        self._fog = (float(map_.fogstart) * extent, float(map_.fogend) * extent)
        self._fog_color = tuple(float(c) for c in np.array(model.vis.rgba.fog[:3]))
        skies = np.flatnonzero(np.array(model.tex_type) == mjtTexture.mjTEXTURE_SKYBOX.value)
        self._sky = int(skies[0]) if len(skies) else -1
        self._even: Any = None
        self._shown: tuple[object, ...] | None = None

    def show(self, flags: np.ndarray, lights: np.ndarray, horizon: bool) -> None:
        """Update the effects from the rendering flags and the lights.

        Args:
            flags: rendering flags (mjtRndFlag).
            lights: (n,) array of the structure of `MjvLight`.
            horizon: whether the scene has an infinite plane.
        """
        self._show_segments(bool(flags[SEGMENT]))
        if flags[SEGMENT]:
            return
        shadow, sky = bool(flags[SHADOW]), bool(flags[SKYBOX]) and self._sky >= 0
        self.lights.show(lights, shadow)
        haze = bool(flags[HAZE]) and sky and horizon and self._haze[0] < self._haze[1]
        wanted = (shadow, bool(flags[FOG]), sky, haze, self.lights.count > 0, surrounding(lights))
        if wanted == self._shown:
            return
        self._shown = wanted
        self._scene.configure_default_lights(self.lights.count == 0, cast_shadow=shadow)
        strength = surrounding(lights) if self.lights.count else LIGHT
        self._scene.configure_environment_map("studio", environment_intensity=strength)
        fog, color = (self._fog, self._fog_color) if flags[FOG] else (self._haze, self._haze_color)
        self._scene.configure_fog(*fog, color=color, enabled=bool(flags[FOG]) or haze)  # type: ignore[arg-type]
        self._scene.set_background_image(self.background() if sky else None)

    def _show_segments(self, on: bool) -> None:
        """Switch to segmentation, with even colours on black and only ambient light, or back."""
        if on and self._even is None:
            self.lights.clear()
            self._shown = None
            self._scene.configure_default_lights(False)
            self._scene.configure_environment_map("studio", environment_intensity=0.0)
            self._scene.configure_fog(1.0, 2.0, enabled=False)
            self._scene.set_background_image(np.zeros((2, 2, 3), np.uint8))
            self._even = self._scene.add_light_ambient(f"{ROOT}/light", intensity=EVEN)
        elif not on and self._even is not None:
            self._even.remove()
            self._even = None

    def clear(self) -> None:
        """Remove the lights."""
        self._show_segments(False)
        self.lights.clear()

    def background(self) -> np.ndarray:
        """Return the colours of the sky from top to bottom, (height, 16, 3) uint8."""
        rows = self._surfaces.texture(self._sky)[SIDE].astype(float).mean(1)
        # the picture shows the middle half of a side of the cube
        quarter = len(rows) // 4
        shown = rows[quarter : len(rows) - quarter] if quarter else rows
        return np.repeat(np.rint(shown).astype(np.uint8)[:, None], 16, axis=1)
