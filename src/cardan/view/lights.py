"""Lights of the model in the browser: nodes with position, direction, colour and shadows.

The browser adds up light linearly and converts the sum to sRGB; OpenGL 1.5 does not convert it. The inverse of this
conversion is applied to the strength of each light, so that a surface under a single light looks as in OpenGL. In
theory, surfaces in the browser scatter 1 / pi of the light; in measurements, about half of that. The headlight is at
the camera that was moved last in any page.
"""

from __future__ import annotations

from math import pi, radians
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.model import MjModel
from cardan.render.frame import RENDERING_FLAGS as FLAGS
from cardan.view.instances import GEOM, ModelSurfaces
from cardan.view.nodes import ROOT, linear

if TYPE_CHECKING:
    from viser import SceneApi

SCATTERED = 2.0 * pi
"""Intensity in the browser of a light with strength 1."""
WIDEST = 89.0
"""Largest half angle of a cone in the browser, degrees; wider lights are point lights."""
SHARPEST = 10.0
"""Smallest exponent of a spot light for which the light fades from the centre of its cone."""
FAR_AWAY = 6.0
"""Distance of directional lights from the model's centre, relative to the extent of the model."""
CONE = 1.3
"""Radius of the region that directional lights illuminate, relative to the extent of the model."""
SMALL = 1e-9


def fading(attenuation: np.ndarray, distance: float) -> tuple[float, float]:
    """Return the decay exponent of a light and the light's strength at 1 m.

    OpenGL's quadratic `attenuation` is approximated by the term that is largest at `distance` (m).
    """
    terms = np.maximum(attenuation, 0.0) * distance ** np.arange(3)
    power = int(terms.argmax())
    return float(power), 1.0 / max(float(attenuation[power]), SMALL)


class Lights:
    """The lights of a scene around a model with the given centre (3,) and extent, m."""

    def __init__(self, scene: SceneApi, centre: np.ndarray, extent: float) -> None:
        self._scene, self._centre, self._extent = scene, centre, max(extent, SMALL)
        self._handles: list[Any] = []
        self._look = b""

    @property
    def count(self) -> int:
        """Number of lights."""
        return len(self._handles)

    def show(self, lights: np.ndarray, shadows: bool) -> None:
        """Show the given lights (`MjvLight`) and remove all others; `shadows`: whether they cast shadows."""
        lights = lights[np.argsort(lights["headlight"], kind="stable")]
        fixed = [name for name in lights.dtype.names or () if name not in ("pos", "dir")]
        look = b"".join(lights[name].tobytes() for name in fixed) + bytes((shadows,))
        if look != self._look:
            self.clear()
            self._look = look
            self._handles = [self._make(k, light, shadows) for k, light in enumerate(lights)]
        for light, handle in zip(lights, self._handles, strict=True):
            direction = light["dir"].astype(float)
            direction /= max(float(np.linalg.norm(direction)), SMALL)
            pos = light["pos"].astype(float)
            if light["directional"] and not light["headlight"]:
                pos = self._centre - FAR_AWAY * self._extent * direction
            put(handle, "position", pos)
            if hasattr(handle, "direction"):
                put(handle, "direction", direction)

    def _make(self, k: int, light: np.void, shadows: bool) -> Any:
        # the browser adds ambient light linearly: compensate that for a surface that faces the headlight
        ambient = light["ambient"].astype(float) if light["headlight"] else np.zeros(3)
        strength = float((linear(ambient + light["diffuse"].astype(float)) - linear(ambient)).max())
        shown = np.rint(255 * light["diffuse"] / max(float(light["diffuse"].max()), SMALL)).astype(int)
        name, tint = f"{ROOT}/light_{k}", (int(shown[0]), int(shown[1]), int(shown[2]))
        cast = bool(light["castshadow"]) and shadows
        if light["headlight"]:
            return self._scene.add_light_point(
                name, color=tint, intensity=SCATTERED * strength, decay=0.0, cast_shadow=False
            )
        if light["directional"]:
            angle = float(np.arctan(CONE / FAR_AWAY))
            return self._scene.add_light_spot(
                name, color=tint, intensity=SCATTERED * strength, decay=0.0, angle=angle, cast_shadow=cast
            )
        power, share = fading(light["attenuation"].astype(float), self._extent)
        intensity = SCATTERED * strength * share
        if light["cutoff"] > WIDEST:
            return self._scene.add_light_point(name, color=tint, intensity=intensity, decay=power, cast_shadow=cast)
        return self._scene.add_light_spot(
            name, color=tint, intensity=intensity, decay=power, angle=radians(float(light["cutoff"])),
            penumbra=min(1.0, float(light["exponent"]) / SHARPEST), cast_shadow=cast,
        )  # fmt: skip

    def clear(self) -> None:
        """Remove all lights."""
        for handle in self._handles:
            handle.remove()
        self._handles, self._look = [], b""


def put(handle: Any, name: str, value: np.ndarray) -> None:
    """Set the attribute `name` (3,) of the node `handle` to `value`, unless they are equal within 1e-6."""
    if not np.abs(np.subtract(getattr(handle, name), value)).max() <= 1e-6:
        setattr(handle, name, tuple(float(x) for x in value))


SHADOW, FOG, HAZE, SKYBOX, SEGMENT = (FLAGS[name] for name in ("SHADOW", "FOG", "HAZE", "SKYBOX", "SEGMENT"))
SIDE = 0
"""Side of the sky's cube texture that provides the colours of the background, from top to bottom."""
LIGHT = 0.4
"""Strength of the ambient light if the model has no lights."""


def has_horizon(geoms: np.ndarray) -> bool:
    """Return whether one of the geoms is an infinite plane."""
    return bool(((geoms["type"] == GEOM["PLANE"]) & (geoms["size"][:, :2].min(1, initial=np.inf) <= 0.0)).any())


def surrounding(lights: np.ndarray) -> float:
    """Return the total strength of the ambient light of a scene's lights (`MjvLight`)."""
    return float(linear(lights["ambient"].sum(0)).mean())


class Effects:
    """Lights, sky, fog and haze of a scene."""

    def __init__(self, scene: SceneApi, model: MjModel, surfaces: ModelSurfaces) -> None:
        self._scene, self._surfaces = scene, surfaces
        self.lights = Lights(scene, np.array(model.stat.center), float(model.stat.extent))
        assets = surfaces.assets
        # haze covers the far end of the visible distance: the fraction `haze` of it
        self._haze = ((1.0 - assets.haze) * assets.far, assets.far)
        self._haze_color = tuple(float(c) for c in assets.haze_color)
        self._fog = (assets.fog_start, assets.fog_end)
        self._fog_color = tuple(float(c) for c in assets.fog_color)
        self._sky = assets.sky
        self._even: Any = None
        self._shown: tuple[object, ...] | None = None

    def show(self, flags: np.ndarray, lights: np.ndarray, horizon: bool) -> None:
        """Update the effects from rendering flags, lights (`MjvLight`), and whether there is an infinite plane."""
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
        """Switch segmentation on or off: geoms in uniform colours on black, with ambient light only."""
        if on and self._even is None:
            self.lights.clear()
            self._shown = None
            self._scene.configure_default_lights(False)
            self._scene.configure_environment_map("studio", environment_intensity=0.0)
            self._scene.configure_fog(1.0, 2.0, enabled=False)
            self._scene.set_background_image(np.zeros((2, 2, 3), np.uint8))
            # surfaces have their nominal colours: they scatter 1 / pi of the light
            self._even = self._scene.add_light_ambient(f"{ROOT}/light", intensity=pi)
        elif not on and self._even is not None:
            self._even.remove()
            self._even = None

    def clear(self) -> None:
        """End segmentation, and remove the lights."""
        self._show_segments(False)
        self.lights.clear()

    def background(self) -> np.ndarray:
        """Return the colours of the sky from top to bottom, (height, 16, 3) uint8."""
        rows = self._surfaces.texture(self._sky)[SIDE].astype(float).mean(1)
        # the picture shows the middle half of a side of the cube
        quarter = len(rows) // 4
        shown = rows[quarter : len(rows) - quarter] if quarter else rows
        return np.repeat(np.rint(shown).astype(np.uint8)[:, None], 16, axis=1)
