"""Signed-distance shapes: each is a distance function with named attributes and a bounding box.

The function is a kernel of a point and the attributes. For collisions it is compiled to a native entry that
evaluates distance and gradient for one side of a pair (`entry`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any

from cardan.collision.sdf.mesh_distance import mesh_entry
from cardan.collision.sdf.shapes import MAX_ATTRIBUTES
from cardan.jit import collider, exact, kernel
from cardan.maths.vector import get3, set3
from cardan.model.kernel_views import Data, Model

NEXT = 1.0 + 2.0**-52
"""Next number after 1 in double precision; in single precision, a few roundings after 1 (`single_constant`)."""
SHARE = 1e-16 * 2.0**52
"""Squared step of differences, as a share of the distance of `NEXT` from 1."""

Box = tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class Shape:
    """Signed-distance shape.

    Attributes:
        name: plugin name of the shape.
        distance: kernel (point, attributes) -> signed distance.
        attributes: default of each attribute, by name.
        aabb: attributes -> centre and half sides of a box around the shape.
        gradient: (point, attributes) -> gradient of the distance; if it is missing, forward differences are used.
        of_mesh: whether the shape is that of a given mesh, described by its triangles.
    """

    name: str
    distance: Callable[[Any, Any], float]
    attributes: Mapping[str, float]
    aabb: Callable[[tuple[float, ...]], Box]
    gradient: Callable[[Any, Any], Any] | None = None
    of_mesh: bool = False

    def values(self, config: Mapping[str, str]) -> tuple[float, ...]:
        """Return all attributes as numbers, from the configuration or the defaults.

        Raises:
            ValueError: a value is not a number, or the shape does not have the attribute.
        """
        unknown = [key for key in config if key not in self.attributes]
        if unknown:
            known = ", ".join(self.attributes) or "none"
            raise ValueError(f"{self.name} has no attribute {unknown[0]!r}; it has: {known}")
        given = [_number(key, config.get(key, ""), default) for key, default in self.attributes.items()]
        return (*given, *[0.0] * (MAX_ATTRIBUTES - len(given)))

    @cached_property
    def entry(self) -> Callable[..., int]:
        """Native entry: computes distance and gradient at ``d.work.sdf_point`` of one side of the pair."""
        if self.of_mesh:
            return mesh_entry
        return _entry(self.name, self.distance, self.gradient or _differences(self.distance))


def _number(key: str, text: str, default: float) -> float:
    try:
        return float(text.split(maxsplit=1)[0]) if text.strip() else float(default)
    except ValueError:
        raise ValueError(f"attribute {key} must be a number, found {text!r}") from None


@kernel
def difference_step() -> float:
    """Step of the forward differences for gradients, m: the square root of the rounding error of 1.

    It is 1e-8 in double precision (as in the reference's shapes), 5e-4 in single precision. A shorter step would give
    only rounding error, a longer step would reach around corners.
    """
    return sqrt(SHARE * (NEXT - 1.0))


def _differences(distance: Callable[[Any, Any], float]) -> Callable[[Any, Any], Any]:
    """Return a kernel for the gradient of a distance by forward differences."""

    def gradient(p: Any, a: Any) -> Any:
        x, y, z = p
        step = difference_step()
        here = distance(p, a)
        return (
            (distance((x + step, y, z), a) - here) / step,
            (distance((x, y + step, z), a) - here) / step,
            (distance((x, y, z + step), a) - here) / step,
        )

    return gradient


def _entry(name: str, distance: Callable[..., float], slope: Callable[..., Any]) -> Callable[..., int]:
    def evaluate(m: Model, d: Data, side: int, gradient: int) -> int:
        adr = MAX_ATTRIBUTES * d.work.sdf_instance[side]
        a = (
            m.aux.sdf_attr[adr],
            m.aux.sdf_attr[adr + 1],
            m.aux.sdf_attr[adr + 2],
            m.aux.sdf_attr[adr + 3],
            m.aux.sdf_attr[adr + 4],
            m.aux.sdf_attr[adr + 5],
            m.aux.sdf_attr[adr + 6],
            m.aux.sdf_attr[adr + 7],
        )
        point = get3(d.work.sdf_point, side)
        d.work.sdf_value[side] = distance(point, a)
        if gradient:
            set3(d.work.sdf_gradient, side, slope(point, a))
        return 0

    kernel(distance)
    kernel(slope)
    evaluate.__qualname__ = f"evaluate_{name.replace('.', '_')}"
    return collider(exact(evaluate))
