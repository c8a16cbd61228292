"""Solver parameters of a constraint: impedance, stiffness, damping, regulariser (spec: modeling, solver parameters)."""

from __future__ import annotations

from cardan.constants import mjMAXIMP, mjMINIMP
from cardan.enums.codes import DSBL_REFSAFE
from cardan.jit import kernel
from cardan.maths.types import Vec2, Vec5
from cardan.maths.vector import MINVAL
from cardan.model.kernel_views import Model

DEFAULT_TIMECONST = 0.02
DEFAULT_DAMPRATIO = 1.0
MIN_IMPEDANCE = float(mjMINIMP)
MAX_IMPEDANCE = float(mjMAXIMP)


@kernel
def clip_impedance(value: float) -> float:
    """Limit `value` to [mjMINIMP, mjMAXIMP]."""
    return min(max(value, MIN_IMPEDANCE), MAX_IMPEDANCE)


@kernel
def impedance(solimp: Vec5, violation: float) -> Vec2:
    """Compute the impedance d(r) at the violation r, and its derivative by r.

    Args:
        solimp: (d0, dwidth, width, midpoint, power); clipped here to the ranges that the spec allows.
        violation: r (m or rad); the function is even in r.
    """
    dmin = clip_impedance(solimp[0])
    dmax = clip_impedance(solimp[1])
    width = max(solimp[2], 0.0)
    if dmin == dmax or width <= MINVAL:
        return 0.5 * (dmin + dmax), 0.0
    x = abs(violation) / width
    if x >= 1.0:
        return dmax, 0.0
    if x == 0.0:
        return dmin, 0.0
    y, slope = sigmoid(x, clip_impedance(solimp[3]), max(solimp[4], 1.0))
    sign = 1.0 if violation > 0.0 else -1.0
    return dmin + y * (dmax - dmin), sign * slope * (dmax - dmin) / width


@kernel
def sigmoid(x: float, midpoint: float, power: float) -> Vec2:
    """Value and slope at x of a spline from (0, 0) to (1, 1): two polynomials that join smoothly at `midpoint`."""
    if power == 1.0:
        return x, 1.0
    if x <= midpoint:
        rise = raised(x / midpoint, power - 1.0)
        return rise * x, power * rise
    rise = raised((1.0 - x) / (1.0 - midpoint), power - 1.0)
    return 1.0 - rise * (1.0 - x), power * rise


@kernel
def raised(x: float, exponent: float) -> float:
    """Return x to the power of `exponent`, with a short cut for the default exponent 1."""
    return x if exponent == 1.0 else x**exponent


@kernel
def stiffness_damping(m: Model, solref: Vec2, solimp: Vec5) -> Vec2:
    """Compute stiffness k (without the factor d(r)) and damping b of the reference acceleration ``-b v - k d(r) r``.

    `solref` is (timeconst, dampratio), both positive, or (-stiffness, -damping), both not positive. If it is neither,
    the default (0.02, 1) is used, as in the reference. Unless the flag refsafe is disabled, timeconst is at least 2
    timesteps.
    """
    dmax = clip_impedance(solimp[1])
    if solref[0] <= 0.0 and solref[1] <= 0.0:
        return -solref[0] / max(dmax * dmax, MINVAL), -solref[1] / max(dmax, MINVAL)
    timeconst = solref[0]
    dampratio = solref[1]
    if timeconst <= 0.0 or dampratio <= 0.0:
        timeconst = DEFAULT_TIMECONST
        dampratio = DEFAULT_DAMPRATIO
    if m.opt.disableflags & DSBL_REFSAFE == 0:
        timeconst = max(timeconst, 2.0 * m.opt.timestep)
    decay = dmax * timeconst
    return 1.0 / max(decay * decay * dampratio * dampratio, MINVAL), 2.0 / max(decay, MINVAL)


@kernel
def regularizer(imp: float, diag: float) -> float:
    """Regulariser R: (1 - d) / d times the approximate diagonal of J M^-1 J', at least mjMINVAL."""
    return max((1.0 - imp) * diag / imp, MINVAL)
