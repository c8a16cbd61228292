"""Colours of a scene's geoms in the browser."""

from __future__ import annotations

import numpy as np

from cardan.enums import mjtRndFlag
from cardan.render.scene import colors_of_numbers
from cardan.view.instances import is_transparent
from cardan.view.nodes import Looks
from cardan.view.shapes import ModelSurfaces

WIREFRAME, SHADOW, SEGMENT, IDCOLOR = (
    getattr(mjtRndFlag, f"mjRND_{name}").value for name in ("WIREFRAME", "SHADOW", "SEGMENT", "IDCOLOR")
)


class Painter:
    """Computes the colours of geoms.

    Args:
        surfaces: the model's textures.
    """

    def __init__(self, surfaces: ModelSurfaces) -> None:
        self._surfaces = surfaces
        self._means: dict[int, np.ndarray] = {}

    def forget(self, tex: int) -> None:
        """Forget the mean colour of a texture that has changed."""
        self._means.pop(tex, None)

    def _mean(self, tex: int) -> np.ndarray:
        """Mean colour of a texture, 0 to 1."""
        if tex not in self._means:
            self._means[tex] = self._surfaces.texture(tex).reshape(-1, 3).mean(0) / 255.0
        return self._means[tex]

    def looks(self, geoms: np.ndarray, flags: np.ndarray) -> Looks:
        """Return the appearance of geoms.

        Args:
            geoms: (n,) array of the structure of `MjvGeom`.
            flags: rendering flags (mjtRndFlag).
        """
        rgba, wireframe = geoms["rgba"].astype(float), bool(flags[WIREFRAME])
        if flags[SEGMENT]:
            opaque = np.zeros(len(geoms), bool)
            colors = colors_of_numbers(geoms["segid"], bool(flags[IDCOLOR]))
            return Looks(colors, np.ones(len(geoms)), opaque, wireframe, shadows=False, plain=True)
        rgb = rgba[:, :3] * (1.0 + np.minimum(geoms["emission"], 1.0))[:, None]
        tex = geoms["texid"]
        for k in np.unique(tex[tex >= 0]):
            rgb[tex == k] *= self._mean(int(k))
        colors = np.rint(255 * np.clip(rgb, 0.0, 1.0)).astype(np.uint8)
        return Looks(colors, rgba[:, 3], is_transparent(geoms), wireframe, bool(flags[SHADOW]))
