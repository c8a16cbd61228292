"""Geometric shapes: sizes, volumes, inertias, bounds (spec: modeling, "geom"; textbook formulas of solids).

Functions of shapes take three sizes (radius, half lengths) in metres. The coefficients of fluid forces are those of
the ellipsoid model (spec: computation, "Fluid forces").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi, sqrt
from typing import TYPE_CHECKING

from cardan.errors import with_article
from cardan.maths.types import Vec3

if TYPE_CHECKING:
    from cardan.spec.element import Element


@dataclass(frozen=True, slots=True)
class Shape:
    """Properties of one geom type.

    ``nsize`` is the number of its sizes. The functions compute from the sizes: ``half``, the half sides of the bounding
    box; ``radius``, the radius of the bounding sphere; ``volume``, the volume; ``inertia``, the principal moments for a
    given mass; ``semiaxes``, the semiaxes of the ellipsoid that replaces the geom in a fluid. All results equal
    MuJoCo's to the last bit, because the principal axes of symmetric bodies depend on rounding errors.
    """

    nsize: int
    half: Callable[[Vec3], Vec3]
    radius: Callable[[Vec3], float]
    volume: Callable[[Vec3], float]
    inertia: Callable[[Vec3, float], Vec3]
    semiaxes: Callable[[Vec3], Vec3]


def _sphere_inertia(s: Vec3, mass: float) -> Vec3:
    moment = 2.0 * mass * s[0] * s[0] / 5.0
    return (moment, moment, moment)


def _cylinder_inertia(s: Vec3, mass: float) -> Vec3:
    side = mass * (3.0 * s[0] * s[0] + 4.0 * s[1] * s[1]) / 12.0
    return (side, side, mass * s[0] * s[0] / 2.0)


def _capsule_inertia(s: Vec3, mass: float) -> Vec3:
    """Return the inertia of a capsule. The half spheres' centres of mass are 3/8 radius beyond the cylinder's ends."""
    radius, height = s[0], 2.0 * s[1]
    caps = mass * 4.0 * radius / (4.0 * radius + 3.0 * height)
    sphere = 2.0 * caps * radius * radius / 5.0
    barrel = _cylinder_inertia(s, mass - caps)
    side = barrel[0] + (sphere + caps * height * (3.0 * radius + 2.0 * height) / 8.0)
    return (side, side, barrel[2] + sphere)


# products instead of powers: on overflow they become infinite, which is reported as an error of the geom
def _box_radius(s: Vec3) -> float:
    return sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2])


def _solid_inertia(mass: float, share: float, s: Vec3) -> Vec3:
    """Return moments of inertia of a solid whose second moment of mass along each axis is mass * half^2 / `share`."""
    x, y, z = (half * half for half in s)
    return (mass * (y + z) / share, mass * (x + z) / share, mass * (x + y) / share)


def _same(s: Vec3) -> Vec3:
    return s


def _cube(s: Vec3) -> Vec3:
    return (s[0], s[0], s[0])


PLANE_HALF = (1e10, 1e10, 5e9)  # half sides of the bounding box of a plane, which ends at its surface

SHAPES: dict[str, Shape] = {
    "plane": Shape(3, lambda s: PLANE_HALF, lambda s: 0.0, lambda s: 0.0, lambda s, mass: (0.0, 0.0, 0.0), _same),
    "sphere": Shape(
        1, _cube, lambda s: s[0], lambda s: 4.0 * pi * s[0] * s[0] * s[0] / 3.0, _sphere_inertia, _cube
    ),
    "capsule": Shape(
        2, lambda s: (s[0], s[0], s[0] + s[1]), lambda s: s[0] + s[1],
        lambda s: pi * (2.0 * s[0] * s[0] * s[1] + 4.0 * s[0] * s[0] * s[0] / 3.0), _capsule_inertia,
        lambda s: (s[0], s[0], s[0] + s[1]),
    ),
    "ellipsoid": Shape(
        3, _same, max, lambda s: 4.0 * pi * s[0] * s[1] * s[2] / 3.0,
        lambda s, mass: _solid_inertia(mass, 5.0, s), _same,
    ),
    "cylinder": Shape(
        2, lambda s: (s[0], s[0], s[1]), lambda s: sqrt(s[0] * s[0] + s[1] * s[1]),
        lambda s: 2.0 * pi * s[0] * s[0] * s[1], _cylinder_inertia, lambda s: (s[0], s[0], s[1]),
    ),
    "box": Shape(
        3, _same, _box_radius, lambda s: 8.0 * s[0] * s[1] * s[2],
        lambda s, mass: _solid_inertia(mass, 3.0, s), _same,
    ),
}  # fmt: skip
SHAPES["hfield"] = SHAPES["box"]  # a height field has the mass of a box as thick as its base and half its top


# --- shells -----------------------------------------------------------------------------------------------------------

Shell = tuple[float, Vec3]
"""Area of a surface (m^2), and its principal moments of inertia for unit mass (m^2)."""

_THICKNESS = 1e-6  # of the shell of an ellipsoid, m, as in MuJoCo 4.0
_THOMSEN = 1.6075  # exponent of Thomsen's formula for the area of an ellipsoid


def _sphere_shell(s: Vec3) -> Shell:
    moment = 2.0 * s[0] * s[0] / 3.0
    return 4.0 * pi * s[0] * s[0], (moment, moment, moment)


def _box_shell(s: Vec3) -> Shell:
    """Return the shell of a box: three pairs of rectangles."""
    x, y, z = s
    sides = (y * z, x * z, x * y)
    area = sum(sides)
    # second moments of mass along each axis
    squares = [half * half * (side + (area - side) / 3.0) / area for half, side in zip(s, sides, strict=True)]
    return 8.0 * area, (squares[1] + squares[2], squares[0] + squares[2], squares[0] + squares[1])


def _cylinder_shell(s: Vec3) -> Shell:
    """Return the shell of a cylinder: a barrel and two discs."""
    radius, half = s[0], s[1]
    discs = radius / (radius + 2.0 * half)
    square, long = radius * radius, half * half
    side = (1.0 - discs) * (square / 2.0 + long / 3.0) + discs * (square / 4.0 + long)
    area = 2.0 * pi * radius * (radius + 2.0 * half)
    return area, (side, side, (1.0 - discs / 2.0) * square)


def _capsule_shell(s: Vec3) -> Shell:
    """Return the shell of a capsule. The half spheres' centres of mass are radius / 2 beyond the barrel's ends."""
    radius, half = s[0], s[1]
    caps = radius / (radius + half)
    square, long = radius * radius, half * half
    side = (1.0 - caps) * (square / 2.0 + long / 3.0) + caps * (2.0 * square / 3.0 + long + half * radius)
    area = 4.0 * pi * radius * (radius + half)
    return area, (side, side, (1.0 - caps / 3.0) * square)


def _ellipsoid_shell(s: Vec3) -> Shell:
    """Return the shell of an ellipsoid: a layer of equal thickness between two ellipsoids. The area is Thomsen's."""
    outer = (s[0] + _THICKNESS, s[1] + _THICKNESS, s[2] + _THICKNESS)
    inside, whole = s[0] * s[1] * s[2], outer[0] * outer[1] * outer[2]
    small, large = _solid_inertia(inside, 5.0, s), _solid_inertia(whole, 5.0, outer)
    x, y, z = ((b - a) / (whole - inside) for a, b in zip(small, large, strict=True))
    products = (s[0] * s[1], s[0] * s[2], s[1] * s[2])
    area = 4.0 * pi * (sum(product**_THOMSEN for product in products) / 3.0) ** (1.0 / _THOMSEN)
    return area, (x, y, z)


SHELLS: dict[str, Callable[[Vec3], Shell]] = {
    "plane": lambda s: (0.0, (0.0, 0.0, 0.0)),
    "sphere": _sphere_shell,
    "box": _box_shell,
    "cylinder": _cylinder_shell,
    "capsule": _capsule_shell,
    "ellipsoid": _ellipsoid_shell,
}
"""Shells of primitive geoms, for ``shellinertia`` (MuJoCo since 3.2)."""


def check_size(element: Element, kind: str, size: Vec3) -> None:
    """Check that all sizes (m) of a shape of type ``kind``, or the third size of a plane, are positive.

    Raises MjcfError, at the ``element``, if a size is not positive.
    """
    needed = range(2, 3) if kind == "plane" else range(SHAPES[kind].nsize)
    for k in needed:
        if not size[k] > 0.0:
            raise element.error(f"size {k + 1} of {with_article(kind)} must be positive, found {size[k]:g}", "size")


def fluid_coefficients(semiaxes: Vec3, coefficients: tuple[float, ...]) -> tuple[float, ...]:
    """Return a row of ``geom_fluid``: flag, drag and lift coefficients, added masses and moments for unit density."""
    return (1.0, *coefficients, *_added_mass(semiaxes))


# nodes below 1/2 of Kronrod's rule with 15 points on [0, 1], and weights up to that of 1/2 (A. S. Kronrod, Nodes and
# weights of quadrature formulas, 1965)
_BELOW = (0.00427231, 0.02544604, 0.06756779, 0.12923441, 0.20695638, 0.29707742, 0.39610752)
_HALF = (0.01146766, 0.03154605, 0.05239501, 0.07032663, 0.08450236, 0.09517529, 0.10221647, 0.10474107)
_NODES = (*_BELOW, 0.5, *(1.0 - node for node in reversed(_BELOW)))
_WEIGHTS = (*_HALF, *reversed(_HALF[:-1]))


def _integral(own: float, other1: float, other2: float) -> float:
    """Compute abc int_0^inf dt / ((a^2 + t) sqrt((a^2 + t) (b^2 + t) (c^2 + t))), where a, b, c are the arguments.

    Added masses of an ellipsoid follow from these integrals (Lamb, Hydrodynamics, section 114). After the substitution
    t = scale u^3 / (1-u)^2, the variable u runs from 0 to 1, and the integrand is smooth at both ends. Kronrod's nodes
    and weights have only eight digits here, as in MuJoCo. The relative error is therefore 1e-7, but results equal
    MuJoCo's to the last bit.
    """
    scale = (own**3 * other1 * other2) ** 0.4
    total = 0.0
    for u, weight in zip(_NODES, _WEIGHTS, strict=True):
        t = scale * u**3 / (1.0 - u) ** 2
        slope = scale * u**2 * (3.0 - u) / (1.0 - u) ** 3
        root = sqrt((own**2 + t) * (other1**2 + t) * (other2**2 + t))
        total += weight * slope / ((own**2 + t) * root)
    return own * other1 * other2 * total


def _added_mass(semiaxes: Vec3) -> tuple[float, ...]:
    """Return the added masses along the three axes and the added moments about them, for a fluid of unit density."""
    volume = 4.0 / 3.0 * pi * semiaxes[0] * semiaxes[1] * semiaxes[2]
    a, b, c = semiaxes
    shares = _integral(a, b, c), _integral(b, c, a), _integral(c, a, b)  # their sum is 2
    masses = tuple(volume * share / (2.0 - share) for share in shares)
    return (*masses, *(_added_moment(semiaxes, shares, k, volume) for k in range(3)))


def _added_moment(semiaxes: Vec3, shares: Vec3, axis: int, volume: float) -> float:
    """Return the added moment about one axis; 0 if the ellipsoid is rotationally symmetric about this axis."""
    b, c = semiaxes[(axis + 1) % 3] ** 2, semiaxes[(axis + 2) % 3] ** 2
    if b == c:
        return 0.0
    beta, gamma = shares[(axis + 1) % 3], shares[(axis + 2) % 3]
    return volume / 5.0 * (b - c) ** 2 * (gamma - beta) / (2.0 * (b - c) + (b + c) * (beta - gamma))
