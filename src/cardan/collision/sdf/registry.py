"""The registry of signed-distance shapes: each is a distance function with named attributes and a bounding box.

The function is a kernel of a point and the attributes. For collisions it is compiled to a native entry that
evaluates distance and gradient for one side of a pair (`entry`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cardan.collision.sdf.grid import grid_entry
from cardan.collision.sdf.shapes import MAX_ATTRIBUTES, bolt, bowl, gear, nut, torus, torus_gradient
from cardan.jit import collider, exact, kernel
from cardan.maths.vector import get3, set3

STEP = 1e-8
"""Step of the forward differences by which gradients are found, m (as the reference's shapes do)."""

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
        of_mesh: whether it is the shape of a mesh that is given, known by a grid of distances.
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
            return grid_entry
        return _entry(self.name, self.distance, self.gradient or _differences(self.distance))


def _number(key: str, text: str, default: float) -> float:
    try:
        return float(text.split(maxsplit=1)[0]) if text.strip() else float(default)
    except ValueError:
        raise ValueError(f"attribute {key} must be a number, found {text!r}") from None


def _differences(distance: Callable[[Any, Any], float]) -> Callable[[Any, Any], Any]:
    """The gradient of a distance by forward differences."""

    def gradient(p: Any, a: Any) -> Any:
        x, y, z = p
        here = distance(p, a)
        return (
            (distance((x + STEP, y, z), a) - here) / STEP,
            (distance((x, y + STEP, z), a) - here) / STEP,
            (distance((x, y, z + STEP), a) - here) / STEP,
        )

    return gradient


def _entry(name: str, distance: Callable[..., float], slope: Callable[..., Any]) -> Callable[..., int]:
    def evaluate(m: Any, d: Any, side: int, gradient: int) -> int:
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


def _no_box(a: tuple[float, ...]) -> Box:
    return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def _screw_box(a: tuple[float, ...]) -> Box:
    return (0.0, 0.0, 0.0, 0.6, 0.6, 1.0)


def _gear_box(a: tuple[float, ...]) -> Box:
    return (0.0, 0.0, 0.0, 0.625 * a[1], 0.625 * a[1], 0.55 * a[3])


def _torus_box(a: tuple[float, ...]) -> Box:
    return (0.0, 0.0, 0.0, a[0] + a[1], a[0] + a[1], a[1])


def _bowl_box(a: tuple[float, ...]) -> Box:
    half = a[1] + a[2]
    return (0.0, 0.0, 0.0, half, half, half)


GEAR = {"alpha": 0.0, "diameter": 2.8, "teeth": 25.0, "thickness": 0.2, "innerdiameter": -1.0}

SHAPES: dict[str, Shape] = {
    shape.name: shape
    for shape in (
        Shape("mujoco.sdf.bolt", bolt, {"radius": 0.26}, _screw_box),
        Shape("mujoco.sdf.bowl", bowl, {"height": 0.4, "radius": 1.0, "thickness": 0.02}, _bowl_box),
        Shape("mujoco.sdf.gear", gear, GEAR, _gear_box),
        Shape("mujoco.sdf.nut", nut, {"radius": 0.26}, _screw_box),
        Shape("mujoco.sdf.torus", torus, {"radius1": 0.35, "radius2": 0.15}, _torus_box, torus_gradient),
        Shape("mujoco.sdf.sdflib", torus, {"aabb": 0.0}, _no_box, of_mesh=True),
    )
}
"""Registered shapes by name; the number of a shape in ``m.plugin`` is its place here."""


def register_sdf(
    name: str,
    distance: Callable[[Any, Any], float],
    attributes: Mapping[str, float] | None = None,
    aabb: Box | Callable[[tuple[float, ...]], Box] = (0.0, 0.0, 0.0, 1.0, 1.0, 1.0),
    gradient: Callable[[Any, Any], Any] | None = None,
) -> None:
    """Register a signed-distance shape, which models then use as a plugin of this name.

    Args:
        name: plugin name, such as ``"my.sdf.star"``. An own shape of this name is replaced, for new models.
        distance: function (point, attributes) -> signed distance in m, negative inside; point is a tuple of three
            coordinates in the frame of the shape, attributes a tuple of 8 numbers, those of the shape first. It is
            compiled and so may use numbers, tuples, loops and `math` (a plain or a Numba function).
        attributes: names of the attributes and their defaults, at most 8.
        aabb: centre and half sides (6 numbers, m) of a box around the shape, or a function of the attributes that
            returns it.
        gradient: function of the same arguments that returns the gradient, a tuple of three numbers; without it,
            forward differences are taken.

    Raises:
        TypeError: `distance` can't be called.
        ValueError: too many attributes, the name of a stock shape, or a box without volume.
    """
    if not callable(distance):
        raise TypeError("register_sdf: distance must be a function of a point and the attributes")
    own = dict(attributes or {})
    if len(own) > MAX_ATTRIBUTES:
        raise ValueError(f"register_sdf: a shape has at most {MAX_ATTRIBUTES} attributes, found {len(own)}")
    if name in STOCK:
        raise ValueError(f"register_sdf: {name!r} is a stock shape")
    box = aabb if callable(aabb) else _fixed_box(aabb)
    plain = getattr(distance, "py_func", distance)
    slope = getattr(gradient, "py_func", gradient)
    SHAPES[name] = Shape(name, plain, own, box, slope)


def _fixed_box(aabb: Box) -> Callable[[tuple[float, ...]], Box]:
    x, y, z, *half = (float(number) for number in aabb)
    if len(half) != 3 or not min(half) > 0.0:
        raise ValueError("register_sdf: aabb must be a centre and three positive half sides")
    return lambda a: (x, y, z, half[0], half[1], half[2])


STOCK = frozenset(SHAPES)
