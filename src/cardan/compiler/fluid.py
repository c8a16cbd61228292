"""Coefficients of fluid forces on ellipsoids (spec: computation, "Fluid forces", ellipsoid model).

The added masses of an ellipsoid are closed integrals (Lamb, Hydrodynamics, section 114), here by Carlson's R_D.
"""

from __future__ import annotations

from math import pi

Vec3 = tuple[float, float, float]


def fluid_coefficients(semiaxes: Vec3, coefficients: tuple[float, ...]) -> tuple[float, ...]:
    """Row of ``geom_fluid``: flag, drag and lift coefficients, added mass and moment at unit density."""
    return (1.0, *coefficients, *_added_mass(semiaxes))


def _shares(semiaxes: Vec3) -> Vec3:
    """The integrals abc int_0^inf dt / ((s_i^2 + t) sqrt((a^2+t)(b^2+t)(c^2+t))), which add to 2."""
    from scipy.special import elliprd  # slow to import, and rarely needed

    a, b, c = (s * s for s in semiaxes)
    product = 2.0 / 3.0 * semiaxes[0] * semiaxes[1] * semiaxes[2]
    return (
        product * float(elliprd(b, c, a)),
        product * float(elliprd(a, c, b)),
        product * float(elliprd(a, b, c)),
    )


def _added_mass(semiaxes: Vec3) -> tuple[float, ...]:
    """Added mass along and added moment about each axis, for a fluid of unit density."""
    volume = 4.0 / 3.0 * pi * semiaxes[0] * semiaxes[1] * semiaxes[2]
    shares = _shares(semiaxes)
    masses = tuple(volume * share / (2.0 - share) for share in shares)
    return (*masses, *(_added_moment(semiaxes, shares, k, volume) for k in range(3)))


def _added_moment(semiaxes: Vec3, shares: Vec3, axis: int, volume: float) -> float:
    """Added moment about one axis; zero for a body of revolution about it."""
    b, c = semiaxes[(axis + 1) % 3] ** 2, semiaxes[(axis + 2) % 3] ** 2
    if b == c:
        return 0.0
    beta, gamma = shares[(axis + 1) % 3], shares[(axis + 2) % 3]
    return volume / 5.0 * (b - c) ** 2 * (gamma - beta) / (2.0 * (b - c) + (b + c) * (beta - gamma))
