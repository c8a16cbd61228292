"""Coefficients of fluid forces on ellipsoids (spec: computation, "Fluid forces", ellipsoid model).

The added masses of an ellipsoid are integrals from 0 to infinity (Lamb, Hydrodynamics, section 114). A change of the
variable maps them to a finite interval and makes the integrand smooth at both ends. Then Kronrod's rule with 15 points
is applied. Its nodes and weights have only eight digits, which makes the relative error 1e-7: with exactly these digits
the results equal the reference's to the last bit.
"""

from __future__ import annotations

from math import pi, sqrt

from cardan.maths.types import Vec3


def fluid_coefficients(semiaxes: Vec3, coefficients: tuple[float, ...]) -> tuple[float, ...]:
    """Return a row of ``geom_fluid``: flag, drag and lift coefficients, added mass and moment at unit density."""
    return (1.0, *coefficients, *_added_mass(semiaxes))


# nodes below 1/2 of Kronrod's rule with 15 points on [0, 1], and weights up to that of 1/2 (A. S. Kronrod, Nodes and
# weights of quadrature formulas, 1965)
_BELOW = (0.00427231, 0.02544604, 0.06756779, 0.12923441, 0.20695638, 0.29707742, 0.39610752)
_HALF = (0.01146766, 0.03154605, 0.05239501, 0.07032663, 0.08450236, 0.09517529, 0.10221647, 0.10474107)
_NODES = (*_BELOW, 0.5, *(1.0 - node for node in reversed(_BELOW)))
_WEIGHTS = (*_HALF, *reversed(_HALF[:-1]))


def _integral(own: float, other1: float, other2: float) -> float:
    """Compute abc int_0^inf dt / ((a^2 + t) sqrt((a^2 + t) (b^2 + t) (c^2 + t))), where a is the own semiaxis.

    With t = scale u^3 / (1 - u)^2 the variable u runs from 0 to 1.
    """
    scale = (own**3 * other1 * other2) ** 0.4
    total = 0.0
    for u, weight in zip(_NODES, _WEIGHTS, strict=True):
        t = scale * u**3 / (1.0 - u) ** 2
        slope = scale * u**2 * (3.0 - u) / (1.0 - u) ** 3
        root = sqrt((own**2 + t) * (other1**2 + t) * (other2**2 + t))
        total += weight * slope / ((own**2 + t) * root)
    return own * other1 * other2 * total


def _shares(semiaxes: Vec3) -> Vec3:
    """Return the integrals of the three axes, whose sum is 2."""
    a, b, c = semiaxes
    return _integral(a, b, c), _integral(b, c, a), _integral(c, a, b)


def _added_mass(semiaxes: Vec3) -> tuple[float, ...]:
    """Return the added mass along and the added moment about each axis, for a fluid of unit density."""
    volume = 4.0 / 3.0 * pi * semiaxes[0] * semiaxes[1] * semiaxes[2]
    shares = _shares(semiaxes)
    masses = tuple(volume * share / (2.0 - share) for share in shares)
    return (*masses, *(_added_moment(semiaxes, shares, k, volume) for k in range(3)))


def _added_moment(semiaxes: Vec3, shares: Vec3, axis: int, volume: float) -> float:
    """Return the added moment about one axis; zero for a body of revolution about it."""
    b, c = semiaxes[(axis + 1) % 3] ** 2, semiaxes[(axis + 2) % 3] ** 2
    if b == c:
        return 0.0
    beta, gamma = shares[(axis + 1) % 3], shares[(axis + 2) % 3]
    return volume / 5.0 * (b - c) ** 2 * (gamma - beta) / (2.0 * (b - c) + (b + c) * (beta - gamma))
