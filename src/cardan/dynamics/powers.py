"""Springs and dampers whose forces are polynomials (spec 4.0: computation, "Polynomial forces").

A spring has the force -(a x + b x^2 + c x^3), a damper the force -(a v + b v |v| + c v^3). The model stores b and c as
the two columns of a field such as `jnt_stiffnesspoly`, a in `jnt_stiffness`. The functions below return force divided
by displacement or velocity. Balls and free joints have one displacement for each three dofs, the length of the vector.
"""

from __future__ import annotations

from math import sqrt

from cardan.jit import kernel
from cardan.maths.types import ConstArray2, Vec3
from cardan.maths.vector import dot3
from cardan.model.kernel_views import Model


@kernel
def has_powers(poly: ConstArray2, i: int) -> bool:
    """Return whether the polynomial in row `i` has a quadratic or a cubic term."""
    return poly[i, 0] != 0.0 or poly[i, 1] != 0.0


@kernel
def secant(linear: float, poly: ConstArray2, i: int, x: float) -> float:
    """Return a + b x + c x^2, which is a spring's force divided by the displacement -x.

    Args:
        linear: coefficient a.
        poly: coefficients b and c, by row.
        i: row.
        x: displacement; the absolute velocity for dampers.
    """
    return linear + x * (poly[i, 0] + x * poly[i, 1]) if has_powers(poly, i) else linear


@kernel
def slope(linear: float, poly: ConstArray2, i: int, speed: float) -> float:
    """Return a + 2 b s + 3 c s^2, the rate at which a damper's force grows with the absolute velocity `speed`."""
    return linear + speed * (2.0 * poly[i, 0] + 3.0 * speed * poly[i, 1]) if has_powers(poly, i) else linear


@kernel
def energy_of_powers(poly: ConstArray2, i: int, x: float) -> float:
    """Return the energy b x^3 / 3 + c x^4 / 4 of a spring, beside that of its linear term."""
    return x * x * x * (poly[i, 0] / 3.0 + x * poly[i, 1] / 4.0) if has_powers(poly, i) else 0.0


@kernel
def length_of(displacement: Vec3) -> float:
    """Return the length of a displacement; its derivative at 0 counts as 0."""
    squared = dot3(displacement, displacement)
    return sqrt(squared) if squared > 0.0 else 0.0


@kernel
def has_spring(m: Model, joint: int) -> bool:
    """Return whether a joint has a spring."""
    return m.jnt_stiffness[joint] != 0.0 or has_powers(m.jnt_stiffnesspoly, joint)
