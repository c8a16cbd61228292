"""Plugins of composite objects: cables, and particles whose sheets and solids are elastic.

All bodies of an object share one instance. That of particles also learns the elements: the triangles of a sheet, the
tetrahedra of a solid. Sheets have the mass of their thickness instead of their geoms'.
"""

from __future__ import annotations

import warnings
from math import pi
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from cardan.errors import MjcfError
from cardan.maths.vector import cross
from cardan.spec.composite.builder import add_plain
from cardan.spec.composite.request import size_of_geom

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cardan.maths.types import Vec3
    from cardan.spec.composite.request import Composite
    from cardan.spec.element import Element

FACE = "face"
THICKNESS = "thickness"
# the six tetrahedra of a cell by its corners, the last coordinate changing first
_TETRAHEDRA = (0, 2, 4, 3, 0, 4, 1, 3, 4, 2, 6, 3, 4, 6, 7, 3, 4, 5, 1, 3, 4, 7, 5, 3)


def plugin_of(composite: Composite) -> Element | None:
    """The plugin's element, None when there is none; further ones are ignored with a warning."""
    first, *others = [*composite.macro.all("plugin"), None, None][:2]
    if others[0] is not None:
        where = MjcfError("ignored: a composite has one plugin", others[0].source, others[0].line, "plugin")
        warnings.warn(str(where), stacklevel=2)
    return first


def add_plugin(composite: Composite, plugin: Element, bodies: Sequence[Element], elements: Sequence[int] = ()) -> None:
    """Give the bodies the plugin's instance, a new one unless the user names one.

    ``elements``: numbers of the bodies at the corners of the elastic elements, one element after the other.
    """
    name = plugin["instance"] or _new_instance(composite, plugin, elements)
    if plugin["instance"] and elements:
        raise plugin.error("give the plugin and its settings here: a named instance has no elements", "instance")
    for body in bodies:
        add_plain(body, "plugin", plugin, {"instance": name})


def _new_instance(composite: Composite, plugin: Element, elements: Sequence[int]) -> str:
    """Name of a new instance with the composite's settings."""
    word = plugin["plugin"]
    extension = composite.macro.tree.section("extension")
    if not word:
        raise plugin.error("plugin or instance must be given", "plugin")
    if word not in {declared["plugin"] for declared in extension.all("plugin")}:
        raise plugin.error(f"'{word}' is not declared: add <plugin plugin=\"{word}\"/> to <extension>", "plugin")
    name = f"composite{composite.build.prefix}"
    instance = add_plain(add_plain(extension, "plugin", plugin, {"plugin": word}), "instance", plugin, {"name": name})
    composite.macro.tree.macro_instances.add(name)
    if elements:
        add_plain(instance, "config", plugin, {"key": FACE, "value": " ".join(map(str, elements))})
    for config in plugin.all("config"):
        if elements and config["key"] == FACE:
            raise config.error("the composite sets its faces itself", "key")
        add_plain(instance, "config", config, config.attributes)
    return name


def solid_elements(counts: tuple[int, int, int]) -> list[int]:
    """Corners of the tetrahedra of a solid grid of bodies, six a cell."""
    _, columns, layers = counts
    corners = [i * columns * layers + j * layers + k for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    cells = (
        (i * columns + j) * layers + k
        for i in range(counts[0] - 1)
        for j in range(columns - 1)
        for k in range(layers - 1)
    )
    return [cell + corners[corner] for cell in cells for corner in _TETRAHEDRA]


def sheet_densities(
    composite: Composite, plugin: Element, points: Sequence[Vec3], triangles: Sequence[tuple[int, int, int]]
) -> list[float]:
    """Density of each particle's geom, kg/m^3: it gives a sphere the mass of all triangles around the particle.

    Raises:
        MjcfError: the plugin's thickness is no number.
    """
    config = next((config for config in plugin.all("config") if config["key"] == THICKNESS), plugin)
    try:
        thickness = float((config.attributes.get("value") or "").split()[0])
    except (ValueError, IndexError):
        raise config.error(f"the plugin of a sheet needs a number as its '{THICKNESS}'") from None
    areas = _areas(np.array(points), np.array(triangles)).tolist()
    radius = size_of_geom(composite)[0]
    volume = 4.0 / 3.0 * pi * radius**3
    density = composite.geom.values.get("density", 1000.0)
    return [density * thickness * area / volume if volume > 0.0 else density for area in areas]


def _areas(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Sums of the areas of the triangles around each point, of sides in single precision, as vertices are."""
    origin = points[triangles[:, 0]]
    with np.errstate(all="ignore"):  # what is too large for a number is noticed as a mass
        first, second = ((points[triangles[:, k]] - origin).astype(np.float32).astype(np.float64).T for k in (1, 2))
        x, y, z = cross(cast("Any", first), cast("Any", second))  # components are arrays, one number a triangle
        areas = np.zeros(len(points))
        np.add.at(areas, triangles.ravel(), np.repeat(0.5 * np.sqrt(x * x + y * y + z * z), 3))
    return areas
