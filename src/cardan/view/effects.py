"""Sky, fog and shadows in the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cardan.enums import mjtRndFlag, mjtTexture
from cardan.model import MjModel
from cardan.view.shapes import ModelSurfaces

if TYPE_CHECKING:
    from viser import SceneApi

SHADOW, FOG, SKYBOX = (getattr(mjtRndFlag, f"mjRND_{name}").value for name in ("SHADOW", "FOG", "SKYBOX"))
SIDE = 0
"""The side of a sky's cube whose colours from top to bottom are the background."""
LIGHT = 0.4
"""Strength of the light from all around."""


class Effects:
    """What surrounds the scene.

    Args:
        scene: viser's scene.
        model: the model.
        surfaces: what is known of its textures.
    """

    def __init__(self, scene: SceneApi, model: MjModel, surfaces: ModelSurfaces) -> None:
        self._scene, self._surfaces = scene, surfaces
        extent, map_ = float(model.stat.extent), model.vis.map
        self._fog = (float(map_.fogstart) * extent, float(map_.fogend) * extent)
        self._fog_color = tuple(float(c) for c in np.array(model.vis.rgba.fog[:3]))
        skies = np.flatnonzero(np.array(model.tex_type) == mjtTexture.mjTEXTURE_SKYBOX.value)
        self._sky = int(skies[0]) if len(skies) else -1
        self._shown: tuple[bool, bool, bool] | None = None
        scene.configure_environment_map("studio", environment_intensity=LIGHT)

    def show(self, flags: np.ndarray) -> None:
        """Follow the rendering flags."""
        wanted = (bool(flags[SHADOW]), bool(flags[FOG]), bool(flags[SKYBOX]))
        if wanted == self._shown:
            return
        self._shown = wanted
        shadow, fog, sky = wanted
        self._scene.configure_default_lights(cast_shadow=shadow)
        self._scene.configure_fog(*self._fog, color=self._fog_color, enabled=fog)  # type: ignore[arg-type]
        self._scene.set_background_image(self.background() if sky and self._sky >= 0 else None)

    def background(self) -> np.ndarray:
        """The colours of the sky from top to bottom, (height, 16, 3) uint8."""
        rows = self._surfaces.texture(self._sky)[SIDE].astype(float).mean(1)
        # the picture shows the middle half of the side of a cube
        quarter = len(rows) // 4
        shown = rows[quarter : len(rows) - quarter] if quarter else rows
        return np.repeat(np.rint(shown).astype(np.uint8)[:, None], 16, axis=1)
