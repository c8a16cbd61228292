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
"""The number after 1 in double precision; in single precision, one a few roundings after 1 (`single_constant`)."""
SHARE = 1e-16 * 2.0**52
"""What part of the distance of `NEXT` from 1 the square of the step of differences is."""

Box = tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class Shape:
    """A signed-distance shape.

    Attributes:
        name: its plugin name.
        distance: (point, attributes) -> signed distance; a kernel.
        attributes: default of each attribute, by name.
        aabb: attributes -> centre and half sides of a box around the shape.
        gradient: (point, attributes) -> gradient of the distance; without it, forward differences.
        of_mesh: whether it is the shape of a mesh that is given, known by its triangles.
    """

    name: str
    distance: Callable[[Any, Any], float]
    attributes: Mapping[str, float]
    aabb: Callable[[tuple[float, ...]], Box]
    gradient: Callable[[Any, Any], Any] | None = None
    of_mesh: bool = False

    def values(self, config: Mapping[str, str]) -> tuple[float, ...]:
        """All attributes as numbers: those of the configuration, and defaults.

        Raises:
            ValueError: one is no number, or the shape doesn't have it.
        """
        unknown = [key for key in config if key not in self.attributes]
        if unknown:
            known = ", ".join(self.attributes) or "none"
            raise ValueError(f"{self.name} has no attribute {unknown[0]!r}; it has: {known}")
        given = [_number(key, config.get(key, ""), default) for key, default in self.attributes.items()]
        return (*given, *[0.0] * (MAX_ATTRIBUTES - len(given)))

    @cached_property
    def entry(self) -> Callable[..., int]:
        """The native entry: distance and gradient at ``d.work.sdf_point`` of one side of the pair."""
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
    """Step of the forward differences by which gradients are found, m: the square root of the rounding of 1.

    That is 1e-8 in double precision (as the reference's shapes have it), 5e-4 in single: a shorter one would leave
    nothing but rounding of the difference, a longer one would go round corners.
    """
    return sqrt(SHARE * (NEXT - 1.0))


def _differences(distance: Callable[[Any, Any], float]) -> Callable[[Any, Any], Any]:
    """The gradient of a distance by forward differences."""

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
