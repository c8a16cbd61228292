"""Nonlinear least squares with bounds, as in ``mujoco.minimize``: Levenberg's method with quadratic programs in a box.

At a point x, the norm of the residual has a quadratic model with gradient g and Gauss-Newton Hessian H. A step dx
minimises 1/2 dx' (H + mu I) dx + g' dx within the bounds.

The step is taken if it lowers the objective by at least a hundredth of -g' dx (Armijo's condition). Otherwise, mu grows
and a new step is computed. After a step, mu depends on the ratio of the actual reduction to the reduction that the
model without mu predicts: mu grows if the ratio is below 1/4, and shrinks if it is above 3/4. When mu shrinks several
times in a row, each divisor is the square of the previous divisor. So mu follows changes of the curvature slowly, but
vanishes within a few steps near the minimum, where convergence becomes quadratic.

With scales D of the variables, the same is done in the variables z = x / D.

MuJoCo 4.0 ends by other criteria than 3.1 and uses relative steps of finite differences. The setting `compat` of the
process (`cardan.set_compat`) selects the defaults.

Sources: K. Levenberg (1944), D. Marquardt (1963); Nocedal and Wright, Numerical Optimization, chapters 3, 4 and 10;
Tassa, Mansard and Todorov, Control-limited differential dynamic programming (2014), for the box.
"""

from __future__ import annotations

import abc
import enum
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TextIO

import numpy as np

from cardan.api.mju_boxqp import mju_boxQP
from cardan.compat import get_compat
from cardan.constants import mjMINVAL

__all__ = [
    "IterLog",
    "Norm",
    "Quadratic",
    "Status",
    "Verbosity",
    "check_jacobian",
    "check_norm",
    "jacobian_fd",
    "least_squares",
]

Residual = Callable[[np.ndarray], np.ndarray]
Jacobian = Callable[[np.ndarray, np.ndarray], np.ndarray]


DERIVATIVE_ERROR = 1e-4
"""Largest accepted error of a user's derivative, relative to the larger of 1 and the largest finite difference."""

SUFFICIENT = 0.01
"""Smallest reduction for accepting a step, relative to the linear model's reduction (Armijo's condition)."""

SMALLEST_COLUMN = float(np.finfo(float).eps ** 0.5)
"""Smallest norm of a Jacobian's column from which a scale is computed."""

POOR, GOOD = 0.25, 0.75
"""Ratios of actual to predicted reduction: below `POOR` the regulariser grows, above `GOOD` it shrinks."""


class Verbosity(enum.Enum):
    """Amount of output of `least_squares`: none, a summary, a line per iteration, or also points and residuals.

    FULLITER also keeps residuals, Jacobians and steps in the trace.
    """

    SILENT = 0
    FINAL = 1
    ITER = 2
    FULLITER = 3


class Status(enum.Enum):
    """Reason why `least_squares` ended."""

    FACTORIZATION_FAILED = enum.auto()
    NO_IMPROVEMENT = enum.auto()
    MAX_ITER = enum.auto()
    DX_TOL = enum.auto()
    G_TOL = enum.auto()


REASONS = {
    Status.FACTORIZATION_FAILED: "factorization failed",
    Status.NO_IMPROVEMENT: "insufficient reduction at the largest regularizer",
    Status.MAX_ITER: "maximum iterations",
    Status.DX_TOL: "norm(dx) < tol",
    Status.G_TOL: "norm(gradient) < tol",
}


@dataclass(frozen=True)
class IterLog:
    """Record of one iteration.

    Attributes:
        candidate: point at the beginning of the iteration, shape (nx, 1).
        objective: objective at the point.
        reduction: reduction of the objective by the iteration.
        regularizer: value of mu with which the step was computed.
        residual, jacobian: residual and Jacobian at the point, with `Verbosity.FULLITER`.
        grad: gradient of the objective at the point, shape (nx, 1), with `Verbosity.FULLITER`.
        step: change of the point, with `Verbosity.FULLITER`.
    """

    candidate: np.ndarray
    objective: float
    reduction: float
    regularizer: float
    residual: np.ndarray | None = None
    jacobian: np.ndarray | None = None
    grad: np.ndarray | None = None
    step: np.ndarray | None = None


class Norm(abc.ABC):
    """Measure of residuals, which `least_squares` minimises."""

    @abc.abstractmethod
    def value(self, r: np.ndarray) -> float:
        """Return the norm of a residual of shape (nr, 1)."""

    @abc.abstractmethod
    def grad_hess(self, r: np.ndarray, proj: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradient g and Hessian H, projected: proj' g of shape (nx, 1), proj' H proj of shape (nx, nx)."""


class Quadratic(Norm):
    """Norm that is half of the sum of squares."""

    def value(self, r: np.ndarray) -> float:
        """Return half of the sum of squares of a residual."""
        return 0.5 * float(r.ravel() @ r.ravel())

    def grad_hess(self, r: np.ndarray, proj: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return proj' r and proj' proj."""
        return proj.T @ r, proj.T @ proj


def jacobian_fd(
    residual: Residual, x: np.ndarray, r: np.ndarray, eps: float, n_res: int, bounds: Sequence[np.ndarray] | None = None
) -> tuple[np.ndarray, int]:
    """Compute the Jacobian of a residual by finite differences that stay within the bounds.

    Each bounded variable is moved towards the bound that is farther away. With the setting ``compat="4.0"`` of the
    process, the step of a variable x is eps max(1, abs(x)).

    Args:
        residual: function of a matrix with a point in each column; returns the residuals, one in each column.
        x: point, shape (nx, 1).
        r: residual at the point, shape (nr, 1).
        eps: step of the differences; the step is shorter if a bound is nearer.
        n_res: number of residuals computed so far.
        bounds: lower and upper bounds, shape (nx, 1) each.

    Returns:
        The Jacobian, shape (nr, nx), and the number of residuals computed so far.
    """
    point = x.reshape(-1, 1)
    step = float(eps) * (np.maximum(1.0, np.abs(point)) if get_compat() == "4.0" else 1.0)
    target = point + step
    if bounds is not None:
        lower, upper = (np.asarray(bound, float).reshape(-1, 1) for bound in bounds)
        forward = upper - point >= point - lower
        target = np.where(forward, np.minimum(target, upper), np.maximum(point - step, lower))
    moved = np.where(np.eye(x.size, dtype=bool), target, point)
    difference = np.asarray(residual(moved), float).reshape(r.size, x.size) - r.reshape(-1, 1)
    return difference / (target - point).ravel(), n_res + x.size


def check_jacobian(
    residual: Residual,
    x: np.ndarray,
    r: np.ndarray,
    jac: np.ndarray,
    eps: float,
    n_res: int,
    bounds: Sequence[np.ndarray] | None = None,
    output: TextIO | None = None,
    name: str | None = "Jacobian",
) -> int:
    """Compare a Jacobian with finite differences, and print the largest difference; arguments as in `jacobian_fd`.

    Returns:
        The number of residuals computed so far.

    Raises:
        ValueError: the Jacobian does not match, or a value is not finite.
    """
    by_differences, n_res = jacobian_fd(residual, x, r, eps, n_res, bounds)
    _report(f"User-provided {name}", jac, by_differences, output)
    return n_res


def check_norm(r: np.ndarray, norm: Norm, eps: float, output: TextIO | None = None) -> None:
    """Compare a norm's gradient and Hessian at `r` with finite differences, and print the largest differences.

    Raises:
        ValueError: a derivative does not match, a value is not finite, or the Hessian is not symmetric or not positive
            semidefinite.
    """
    r = r.reshape(-1, 1)
    unit = np.eye(r.size)
    gradient, hessian = norm.grad_hess(r, unit)
    _check_finite("User-provided norm Hessian", hessian)
    if not np.allclose(hessian, np.transpose(hessian)):
        raise ValueError("User-provided norm Hessian is not symmetric")
    if np.linalg.eigvalsh(hessian)[0] < -eps * np.max(np.abs(hessian)):
        raise ValueError("User-provided norm Hessian is not positive definite")
    value = norm.value(r)
    by_values = np.array([[(norm.value(r + eps * unit[:, [i]]) - value) / eps] for i in range(r.size)])
    by_gradients = np.hstack(
        [(norm.grad_hess(r + eps * unit[:, [i]], unit)[0] - gradient) / eps for i in range(r.size)]
    )
    _report("User-provided norm gradient", gradient, by_values, output)
    _report("User-provided norm Hessian", hessian, by_gradients, output)


def _report(what: str, given: np.ndarray, by_differences: np.ndarray, output: TextIO | None) -> None:
    """Compare a derivative with finite differences: print the largest difference, or raise ValueError."""
    if given.shape != by_differences.shape:
        raise ValueError(f"{what} does not match finite differences: shape {given.shape}, not {by_differences.shape}")
    _check_finite(what, given)
    _check_finite(what.replace("User-provided", "Finite-difference"), by_differences)
    error = float(np.max(np.abs(given - by_differences), initial=0.0))
    scale = max(1.0, float(np.max(np.abs(by_differences), initial=0.0)))
    text = f"finite differences: largest difference {error:.2g}"
    if error > DERIVATIVE_ERROR * scale:
        raise ValueError(f"{what} does not match {text}")
    print(f"{what} matches {text}", file=output)


def _check_finite(what: str, values: np.ndarray) -> None:
    """Raise ValueError if a value is infinite or NaN."""
    if not np.isfinite(values).all():
        raise ValueError(f"{what} must contain finite values only")


class _Tolerances(NamedTuple):
    """Tolerances of one minimisation.

    Attributes:
        step: length of a step at which it ends; None: `relative` decides.
        relative: it ends at steps shorter than relative (relative + norm(x)).
        gradient: norm of the scaled gradient at which it ends; negative: it does not end by the gradient.
    """

    step: float | None
    relative: float
    gradient: float


def _tolerances(tol: float | None, xtol: float | None, gtol: float | None, later: bool) -> _Tolerances:
    """Return the tolerances that the arguments of `least_squares` mean; `later` selects the defaults of MuJoCo 4.0."""
    if tol is None and xtol is None and not later:
        tol = 1e-6
    gradient = (1e-8 if later else -1.0) if gtol is None else float(gtol)
    return _Tolerances(tol, 1e-8 if xtol is None else float(xtol), gradient)


@dataclass
class _Run:
    """State of one minimisation. The point `x`, the residual `r` and both bounds, if given, are column vectors.

    `last` contains the Jacobian and the gradient at `x`, or None if they are not known.
    """

    residual: Residual
    norm: Norm
    bounds: tuple[np.ndarray, np.ndarray] | None
    x: np.ndarray
    factor: float
    mu_range: tuple[float, float]
    tolerances: _Tolerances
    x_scale: np.ndarray | str | None
    verbosity: Verbosity
    output: TextIO
    mu: float = 0.0
    shrinkage: int = 1
    r: np.ndarray = field(default_factory=lambda: np.zeros((0, 1)))
    last: tuple[np.ndarray, np.ndarray] | None = None
    value: float = 0.0
    n_res: int = 0
    n_jac: int = 0
    seconds: float = 0.0
    trace: list[IterLog] = field(default_factory=list)

    def residual_at(self, x: np.ndarray) -> np.ndarray:
        """Compute the residual (nr, 1) at a point (nx, 1), and count the call."""
        start = time.perf_counter()
        r = np.asarray(self.residual(x), float).reshape(-1, 1)
        self.seconds += time.perf_counter() - start
        self.n_res += 1
        return r

    def grow(self) -> None:
        """Multiply mu by the factor, to at least its minimum; the next `shrink` then divides mu by the factor once."""
        self.mu = max(self.mu_range[0], self.mu * self.factor)
        self.shrinkage = 1

    def shrink(self) -> None:
        """Divide mu by the factor to a power that doubles each time. If mu falls below its minimum, set mu to 0."""
        self.mu *= (1.0 / self.factor) ** self.shrinkage
        self.mu = self.mu if self.mu >= self.mu_range[0] else 0.0
        self.shrinkage = 2 * self.shrinkage if self.mu else 1

    def scales(self, matrix: np.ndarray) -> np.ndarray | None:
        """Return the scales D of the variables, shape (nx, 1), for a Jacobian; None if they are 1."""
        if isinstance(self.x_scale, str):
            return 1.0 / np.maximum(np.linalg.norm(matrix, axis=0), SMALLEST_COLUMN).reshape(-1, 1)
        return self.x_scale

    def is_flat(self, gradient: np.ndarray, scales: np.ndarray | None) -> bool:
        """Return whether the scaled gradient is within its tolerance, in directions that stay within the bounds."""
        if self.bounds is not None:
            lower, upper = self.bounds
            held = ((self.x <= lower) & (gradient > 0)) | ((self.x >= upper) & (gradient < 0))
            gradient = np.where(held, 0.0, gradient)
        return bool(np.linalg.norm(gradient if scales is None else scales * gradient) <= self.tolerances.gradient)

    def is_short(self, dx: np.ndarray) -> bool:
        """Return whether a step from `x` is so short that the minimisation ends."""
        step, relative, _ = self.tolerances
        return bool(np.linalg.norm(dx) < (relative * (relative + np.linalg.norm(self.x)) if step is None else step))

    def scaled_step(self, gradient: np.ndarray, hessian: np.ndarray, scales: np.ndarray | None) -> np.ndarray | None:
        """Return the result of `step`, computed in the scaled variables."""
        if scales is None:
            return self.step(gradient, hessian, 1.0)
        dz = self.step(scales * gradient, scales * hessian * scales.T, scales)
        return None if dz is None else scales * dz

    def step(self, gradient: np.ndarray, hessian: np.ndarray, scales: np.ndarray | float) -> np.ndarray | None:
        """Return the minimiser of the regularised model within the bounds; None if H + mu I isn't positive definite.

        Gradient, Hessian and result are those of the scaled variables.
        """
        matrix = hessian + self.mu * np.eye(len(hessian))
        if self.bounds is None:
            try:
                factor = np.linalg.cholesky(matrix)
            except np.linalg.LinAlgError:
                return None
            if not factor.diagonal().min() ** 2 >= mjMINVAL:
                return None
            return -np.linalg.solve(factor.T, np.linalg.solve(factor, gradient))
        n = len(hessian)
        solution, work, index = np.zeros(n), np.zeros((n, n + 7)), np.zeros(n, np.int32)
        lower, upper = (((bound - self.x) / scales).ravel() for bound in self.bounds)
        if mju_boxQP(solution, work, index, matrix, gradient.ravel(), lower, upper) < 0:
            return None
        return solution.reshape(-1, 1)


def least_squares(
    x0: np.ndarray,
    residual: Residual,
    bounds: Sequence[np.ndarray] | None = None,
    jacobian: Jacobian | None = None,
    norm: Norm = Quadratic(),  # noqa: B008 (it has no state)
    eps: float | None = None,
    mu_min: float = 1e-6,
    mu_max: float = 1e8,
    mu_factor: float = 10.0**0.1,
    tol: float | None = None,
    max_iter: int = 100,
    verbose: Verbosity | int = Verbosity.ITER,
    output: TextIO | None = None,
    iter_callback: Callable[[list[IterLog]], None] | None = None,
    check_derivatives: bool = False,
    xtol: float | None = None,
    gtol: float | None = None,
    x_scale: float | np.ndarray | str | None = None,
) -> tuple[np.ndarray, list[IterLog]]:
    """Minimise the norm of a residual within bounds.

    Args:
        x0: initial point, nx numbers.
        residual: function of a matrix with a point in each column; returns the residuals, one in each column.
        bounds: lower and upper bounds of the point, nx numbers each.
        jacobian: function of a point and its residual; None: finite differences of the residual.
        norm: measure of the residual.
        eps: step of the finite differences (see `jacobian_fd`); None: 1e-6, or with ``compat="4.0"`` 1.49e-8.
        mu_min: smallest positive regulariser; smaller values become 0.
        mu_max: regulariser at which the minimisation ends if no step has lowered the objective enough.
        mu_factor: factor by which the regulariser grows and first shrinks.
        tol: length of a step at which the minimisation ends, in place of `xtol`.
        max_iter: maximum number of iterations.
        verbose: amount of output.
        output: file for the output; standard output if None.
        iter_callback: function that is called with the trace after each iteration that took a step, and at the end.
        check_derivatives: compare Jacobian and norm with finite differences at the start.
        xtol: the minimisation ends if a step from x is shorter than xtol (xtol + norm(x)). If both `xtol` and `tol` are
            None, `xtol` is 1e-8 with ``compat="4.0"``, otherwise `tol` is 1e-6.
        gtol: norm of the scaled gradient at which the minimisation ends. Directions that leave the bounds do not count.
            None: 1e-8 with ``compat="4.0"``, otherwise -1, which disables the criterion.
        x_scale: scales D of the variables, nx positive numbers or one: mu acts on x / D. With "jac", a scale is 1 over
            the norm of the variable's column of the Jacobian.

    Returns:
        The best point, in the shape of `x0`, and the trace: a record for each iteration that took a step, and a last
        record for the returned point.

    Raises:
        ValueError: the bounds or scales have a wrong size or order, or the bounds, scales or the initial point are not
            finite. Or a derivative that was checked does not match.
    """
    said: TextIO = output or sys.stdout
    start = np.array(x0, float)
    column = start.reshape(-1, 1)
    limits = _checked_bounds(column, bounds)
    if limits is not None:
        column = np.clip(column, *limits)
    later = get_compat() == "4.0"
    tolerances = _tolerances(tol, xtol, gtol, later)
    scales, verbosity = _checked_scales(column.size, x_scale), Verbosity(verbose)
    run = _Run(residual, norm, limits, column, mu_factor, (mu_min, mu_max), tolerances, scales, verbosity, said)
    if eps is None:
        eps = float(np.finfo(float).eps ** 0.5) if later else 1e-6
    began = time.perf_counter()
    status = _minimise(run, jacobian, eps, max_iter, iter_callback, output, check_derivatives)
    _record_end(run, jacobian, eps, later)
    if iter_callback is not None:
        iter_callback(run.trace)
    _say_end(run, status, time.perf_counter() - began)
    return run.x.reshape(start.shape), run.trace


def _minimise(
    run: _Run,
    jacobian: Jacobian | None,
    eps: float,
    max_iter: int,
    iter_callback: Callable[[list[IterLog]], None] | None,
    output: TextIO | None,
    check_derivatives: bool,
) -> Status:
    """Iterate until `_iterate` gives a reason to end or `max_iter` is reached; return the reason for the end."""
    run.r = run.residual_at(run.x)
    run.value = float(run.norm.value(run.r))
    for iteration in range(max_iter):
        matrix = _jacobian_at(run, jacobian, eps)
        if check_derivatives and iteration == 0:
            if jacobian is not None:
                run.n_res = check_jacobian(run.residual, run.x, run.r, matrix, eps, run.n_res, run.bounds, output)
            check_norm(run.r, run.norm, eps, output)
        gradient, hessian = run.norm.grad_hess(run.r, matrix)
        gradient = np.asarray(gradient, float).reshape(-1, 1)
        run.last = matrix, gradient
        if run.is_flat(gradient, run.scales(matrix)):
            return Status.G_TOL
        taken = len(run.trace)
        ended = _iterate(run, matrix, gradient, hessian)
        if iter_callback is not None and len(run.trace) > taken:
            iter_callback(run.trace)
        if ended is not None:
            return ended
    return Status.MAX_ITER


def _jacobian_at(run: _Run, jacobian: Jacobian | None, eps: float) -> np.ndarray:
    """Compute the Jacobian at the current point by the user's function, or by finite differences."""
    if jacobian is not None:
        run.n_jac += 1
        return np.asarray(jacobian(run.x, run.r), float)
    start = time.perf_counter()
    matrix, run.n_res = jacobian_fd(run.residual, run.x, run.r, eps, run.n_res, run.bounds)
    run.seconds += time.perf_counter() - start
    return matrix


def _checked_scales(count: int, x_scale: float | np.ndarray | str | None) -> np.ndarray | str | None:
    """Return the scales of `count` variables as a column, "jac" or None; raise ValueError if they are invalid."""
    if x_scale is None or (isinstance(x_scale, str) and x_scale == "jac"):
        return x_scale
    if isinstance(x_scale, str):
        raise ValueError(f'x_scale must be None, "jac", or positive numbers, not {x_scale!r}')
    scales = np.asarray(x_scale, float)
    if scales.shape not in ((), (count,)):
        raise ValueError(f"x_scale must have shape ({count},), like x0, or be a number; got shape {scales.shape}")
    if not np.all(np.isfinite(scales) & (scales > 0)):
        raise ValueError("x_scale must be positive and finite")
    return None if np.all(scales == 1.0) else np.full((count, 1), scales.reshape(-1, 1) if scales.ndim else scales)


def _checked_bounds(x: np.ndarray, bounds: Sequence[np.ndarray] | None) -> tuple[np.ndarray, np.ndarray] | None:
    """Convert the bounds to columns; raise ValueError if they are invalid."""
    if not np.isfinite(x).all():
        raise ValueError("x0 must be finite")
    if bounds is None:
        return None
    if len(bounds) != 2:
        raise ValueError(f"bounds must be a pair: lower, upper; got {len(bounds)}")
    lower, upper = (np.asarray(bound, float).reshape(-1, 1) for bound in bounds)
    if lower.shape != x.shape or upper.shape != x.shape:
        raise ValueError(f"bounds must have {x.size} numbers each, like x0; got {lower.size} and {upper.size}")
    if not np.all(np.isfinite(lower) & np.isfinite(upper)):
        raise ValueError("bounds must be finite")
    if np.any(lower >= upper):
        raise ValueError("lower bounds must be below the upper bounds")
    return lower, upper


def _iterate(run: _Run, matrix: np.ndarray, gradient: np.ndarray, hessian: np.ndarray) -> Status | None:
    """Take a step that lowers the objective enough, and adapt the regulariser; return the reason to end, or None.

    A step shorter than the tolerance is a reason to end. It is still taken if it lowers the objective enough.
    """
    scales = run.scales(matrix)
    while True:
        dx = run.scaled_step(gradient, hessian, scales)
        if dx is not None:
            x = run.x + dx if run.bounds is None else np.clip(run.x + dx, *run.bounds)
            dx = x - run.x
            r = run.residual_at(x)
            value = float(run.norm.value(r))
            slope = float(np.vdot(gradient, dx))
            if run.value - value >= -SUFFICIENT * slope:
                break
            if run.is_short(dx):
                return Status.DX_TOL
        if run.mu >= run.mu_range[1]:
            return Status.NO_IMPROVEMENT if dx is not None else Status.FACTORIZATION_FAILED
        run.grow()
    predicted = -(slope + 0.5 * float(np.vdot(dx, hessian @ dx)))
    reduction = run.value - value
    ratio = reduction / predicted if predicted else 0.0
    _record(run, reduction, ratio, (run.r, matrix, gradient, dx))
    ends = run.is_short(dx)
    run.x, run.r, run.value, run.last = x, r, value, None
    if ends:
        return Status.DX_TOL
    if ratio > GOOD:
        run.shrink()
    elif ratio < POOR:
        run.grow()
    return None


def _record(run: _Run, reduction: float, ratio: float, full: tuple[np.ndarray, ...]) -> None:
    """Append an iteration to the trace. If the verbosity is at least `Verbosity.ITER`, print the iteration.

    `full` contains residual, Jacobian, gradient and step.
    """
    kept = full if run.verbosity is Verbosity.FULLITER else ()
    run.trace.append(IterLog(run.x.copy(), run.value, reduction, run.mu, *kept))
    dx = full[-1]
    if run.verbosity.value < Verbosity.ITER.value:
        return
    mu = np.log10(run.mu) if run.mu else -np.inf
    print(
        f"iter: {len(run.trace) - 1:<3d}  y: {run.value:<9.4g}  log10mu: {mu:>4.1f}  ratio: {ratio:<7.2g}  "
        f"dx: {np.linalg.norm(dx):<7.2g}  reduction: {reduction:<7.2g}",
        file=run.output,
    )
    if run.verbosity is Verbosity.FULLITER:
        print(f"  x: {run.x.ravel()}\n  r: {run.r.ravel()}", file=run.output)


def _record_end(run: _Run, jacobian: Jacobian | None, eps: float, later: bool) -> None:
    """Append the record of the returned point to the trace, with derivatives for `Verbosity.FULLITER` of 4.0."""
    if run.verbosity is Verbosity.FULLITER and run.last is None and later:
        matrix = _jacobian_at(run, jacobian, eps)
        run.last = matrix, np.asarray(run.norm.grad_hess(run.r, matrix)[0], float).reshape(-1, 1)
    full = (run.r, *run.last) if run.verbosity is Verbosity.FULLITER and run.last is not None else ()
    run.trace.append(IterLog(run.x.copy(), run.value, 0.0, run.mu, *full))


def _say_end(run: _Run, status: Status, seconds: float) -> None:
    """Print the reason for the end, the final objective, the numbers of iterations and evaluations, and the time.

    If the verbosity is `Verbosity.SILENT`, print nothing.
    """
    if run.verbosity is Verbosity.SILENT:
        return
    if run.value == 0.0:
        print("exact minimum found", file=run.output)
    steps = len(run.trace) - 1
    print(f"Terminated after {steps} iterations: {REASONS[status]}.", end=" ", file=run.output)
    jacobians = f", Jacobian evals: {run.n_jac}" if run.n_jac else ""
    print(
        f"y: {run.trace[0].objective:<.4g} -> {run.value:.4g}, Residual evals: {run.n_res}{jacobians}", file=run.output
    )
    print(f"total time {1e3 * seconds:.1f} ms, of which residuals {1e3 * run.seconds:.1f} ms", file=run.output)
