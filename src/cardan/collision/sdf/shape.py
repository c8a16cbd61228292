"""Signed-distance shapes: each is a distance function with named attributes and a bounding box.

The function is a kernel of a point in the frame of the shape and of the shape's attributes. It returns a distance in m,
negative inside. The attributes are passed as a tuple of `MAX_ATTRIBUTES` floats, padded with zeros. For collisions, the
function is compiled to a native entry that evaluates distance and gradient for one side of a pair (`entry`).

The stock shapes are combined from parts by minimum and maximum. Away from the surface, their distance is therefore only
a lower bound (`bolt`, `nut`, `gear`).

Sources: I. Quilez, Distance functions (2008-), for torus, cut hollow sphere and extrusion; numbers of the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import atan2, cos, floor, pi, sqrt
from typing import Any

from cardan.collision.sdf.field import MAX_ATTRIBUTES
from cardan.collision.sdf.mesh_distance import mesh_entry
from cardan.jit import collider, exact, kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import MINVAL, get3, set3
from cardan.model.kernel_views import Data, Model

NEXT = 1.0 + 2.0**-52
"""Smallest number above 1 in double precision; in single precision, a few spacings above 1 (`single_constant`)."""
SHARE = 1e-16 * 2.0**52
"""Squared step of finite differences, divided by ``NEXT - 1``."""

Box = tuple[float, float, float, float, float, float]
SLOPE = sqrt(0.5)
"""Factor that converts radius minus height to distance. Threads and conical ends have a slope of 45 degrees."""
TURNS = 12.0
"""Turns of a thread per metre."""
HEAD = 0.5
"""Distance of a hexagon's sides from its axis, and height of the hexagon (m)."""


@dataclass(frozen=True)
class Shape:
    """A signed-distance shape, with the name of its plugin and the default of each attribute.

    `distance` and `gradient` are functions of the point and the attributes. Without `gradient`, forward differences are
    used. `aabb` computes centre and half sides of a box around the shape from the attributes. If `of_mesh` is set, the
    shape is a given mesh, described by its triangles.
    """

    name: str
    distance: Callable[[Any, Any], float]
    attributes: Mapping[str, float]
    aabb: Callable[[tuple[float, ...]], Box]
    gradient: Callable[[Any, Any], Any] | None = None
    of_mesh: bool = False

    def values(self, config: Mapping[str, str]) -> tuple[float, ...]:
        """Return the values of all attributes, from ``config`` or by default, padded with zeros to `MAX_ATTRIBUTES`.

        Raises:
            ValueError: an attribute is unknown, or its value is invalid.
        """
        unknown = [key for key in config if key not in self.attributes]
        if unknown:
            known = ", ".join(self.attributes) or "none"
            raise ValueError(f"{self.name} has no attribute {unknown[0]!r}; it has: {known}")
        given = [_number(key, config.get(key, ""), default) for key, default in self.attributes.items()]
        return (*given, *[0.0] * (MAX_ATTRIBUTES - len(given)))

    @cached_property
    def entry(self) -> Callable[..., int]:
        """Native function that computes distance and gradient at ``d.work.sdf_point`` for one side of the pair."""
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
    """Step (m) of the forward differences for gradients: the square root of the rounding error of 1.

    The step is 1e-8 in double precision (as in the reference's shapes), 5e-4 in single precision. A shorter step would
    give only rounding error, a longer step would reach around corners.
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


@kernel
def length2(x: float, y: float) -> float:
    """Euclidean length of the vector (x, y)."""
    return sqrt(x * x + y * y)


@kernel
def torus(p: Vec3, a: tuple[float, ...]) -> float:
    """Distance from a torus about the z axis: radius of its circle `a[0]`, radius of its tube `a[1]`."""
    return length2(length2(p[0], p[1]) - a[0], p[2]) - a[1]


@kernel
def torus_gradient(p: Vec3, a: tuple[float, ...]) -> Vec3:
    """Gradient of `torus`."""
    radius = length2(p[0], p[1])
    across = radius - a[0]
    tube = max(length2(across, p[2]), MINVAL)
    share = across / (tube * max(radius, MINVAL))
    return (p[0] * share, p[1] * share, p[2] / tube)


@kernel
def bowl(p: Vec3, a: tuple[float, ...]) -> float:
    """Distance from the part of a hollow sphere below the height `a[0]`: radius `a[1]`, half wall thickness `a[2]`."""
    rim = sqrt(a[1] * a[1] - a[0] * a[0])
    across = length2(p[0], p[1])
    if a[0] * across < rim * p[2]:
        return length2(across - rim, p[2] - a[0]) - a[2]
    return abs(length2(across, p[2]) - a[1]) - a[2]


@kernel
def thread(p: Vec3, radius: float) -> float:
    """Distance from an endless screw: a cylinder of radius `radius` with a thread of triangular section."""
    turn = TURNS * p[2] - atan2(p[1], p[0]) / (2.0 * pi)
    wave = abs(turn - floor(turn) - 0.5)
    return (length2(p[0], p[1]) - radius - wave / TURNS) * SLOPE


@kernel
def hexagon(p: Vec3, radius: float) -> float:
    """Distance from a hexagonal prism, z = -0.5 to 0, with upper corners cut by a cone; `radius` is the thread's."""
    across = length2(p[0], p[1])
    azimuth = atan2(p[1], p[0])
    side = azimuth - pi / 3.0 * floor(azimuth / (pi / 3.0) + 0.5)
    half = 0.5 * HEAD
    return max(across * cos(side) - HEAD, abs(p[2] + half) - half, (across + p[2] - 0.22 - radius) * SLOPE)


@kernel
def bolt(p: Vec3, a: tuple[float, ...]) -> float:
    """Distance from a bolt: a hexagonal head on a screw of radius `a[0]`, which ends in a cone at z = -1."""
    end = (length2(p[0], p[1]) - p[2] - 1.0 - a[0]) * SLOPE
    return min(hexagon(p, a[0]), max(thread(p, a[0]), abs(p[2] + 0.5) - 0.5, end))


@kernel
def nut(p: Vec3, a: tuple[float, ...]) -> float:
    """Distance from a nut: a hexagonal prism with a threaded hole of radius `a[0]`, which widens at the upper end."""
    depth = length2(p[0], p[1]) - p[2] - a[0]
    hole = min(max(thread(p, a[0]), (depth - 0.5) * SLOPE), (depth - 0.05) * SLOPE)
    return max(hexagon(p, a[0]), -hole)


@kernel
def smooth_min(a: float, b: float, width: float) -> float:
    """Smaller of two numbers; if they differ by less than `width`, a parabola blends them smoothly."""
    share = min(max(0.5 + 0.5 * (b - a) / width, 0.0), 1.0)
    return b + (a - b) * share - width * share * (1.0 - share)


@kernel
def involute(radius: float, angle: float, base: float) -> float:
    """Distance, along the normal, from the involute of a circle of radius `base`; the involute starts at angle 0."""
    if radius <= base:
        return -angle
    tangent = sqrt(radius * radius - base * base)
    return max(-angle, tangent - base * (atan2(tangent, base) + angle))


@kernel
def tooth(radius: float, angle: float, base: float, thickness: float, tip: float, width: float) -> float:
    """Distance in the plane from a tooth between two involutes, which is cut off at the radius `tip`.

    The involutes are the angle `thickness` (rad) apart. The edges of the tip are rounded by `width`.
    """
    flanks = max(involute(radius, angle, base), involute(radius, thickness - angle, base))
    end = radius - tip
    smaller = smooth_min(flanks, end, width)
    return max(flanks, end, min(flanks + end - smaller, -smaller))


@kernel
def extruded(across: float, along: float) -> float:
    """Distance from an extruded shape, given the distances in the plane (`across`) and along the axis."""
    return min(max(across, along), 0.0) + length2(max(across, 0.0), max(along, 0.0))


@kernel
def gear(p: Vec3, a: tuple[float, ...]) -> float:
    """Distance from a gear with involute teeth about the z axis.

    Attributes: angle `a[0]` (rad), pitch diameter `a[1]`, number of teeth `a[2]`, thickness `a[3]`, diameter of the
    hole `a[4]` (if negative, it follows from the pitch diameter).
    """
    radius = length2(p[0], p[1])
    along = abs(p[2]) - 0.5 * a[3]
    module = a[1] / max(a[2], MINVAL)
    tip = 0.5 * a[1] + module
    if radius - tip > 0.2:
        return extruded(radius - tip, along)

    # the tooth in whose sector the point is; its first flank starts at angle 0
    pressure = (3.096e-5 * a[2] - 6.557e-3) * a[2] + 0.551
    base = 0.5 * a[1] * cos(pressure)
    pitch = 2.0 * pi / max(a[2], MINVAL)
    thickness = 2.0 * (sqrt(1.0 / cos(pressure) ** 2 - 1.0) - pressure) + 0.5 * pitch
    gap = pitch - thickness
    angle = atan2(p[1], p[0]) + a[0] + 0.5 * gap
    angle += -pitch * floor(angle / pitch) - 0.5 * gap

    # teeth on a disk with a hole
    root = tip - 2.2 * module
    hole = root - 0.14 * a[1] if a[4] < 0.0 else 0.5 * a[4]
    disk = smooth_min(tooth(radius, angle, base, thickness, tip, 0.0035 * a[1]), radius - root, base - root)
    return extruded(max(disk, hole - radius), along)
