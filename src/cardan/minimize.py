"""Nonlinear least squares with bounds, as in ``mujoco.minimize``: Levenberg's method with quadratic programs in a box.

From a point x the residual is linear to first order, and the norm of it quadratic: gradient g, Hessian H. A step solves
min 1/2 dx' (H + mu I) dx + g' dx within the bounds. If it lowers the objective it is taken and mu shrinks, else mu
grows. Sources: K. Levenberg (1944), D. Marquardt (1963); Nocedal and Wright, Numerical Optimization, chapter 10;
Tassa, Mansard and Todorov, Control-limited differential dynamic programming (2014), for the box.
"""

from __future__ import annotations

import abc
import enum
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TextIO

import numpy as np

from cardan.api.mju_boxqp import mju_boxQP

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
"""Largest difference between a user's derivative and finite ones, relative to the largest entry, at least to 1."""


class Verbosity(enum.Enum):
    """How much `least_squares` says: nothing, the end, a line an iteration, or that with points and residuals."""

    SILENT = 0
    FINAL = 1
    ITER = 2
    FULLITER = 3


class Status(enum.Enum):
    """Why `least_squares` ended."""

    FACTORIZATION_FAILED = enum.auto()
    NO_IMPROVEMENT = enum.auto()
    MAX_ITER = enum.auto()
    DX_TOL = enum.auto()


REASONS = {
    Status.FACTORIZATION_FAILED: "factorization failed",
    Status.NO_IMPROVEMENT: "insufficient reduction at the largest regularizer",
    Status.MAX_ITER: "maximum iterations",
    Status.DX_TOL: "norm(dx) < tol",
}


@dataclass(frozen=True)
class IterLog:
    """One iteration.

    Attributes:
        candidate: the point at its beginning.
        objective: the objective there.
        reduction: by how much it was lowered.
        regularizer: the regulariser of the step.
        residual, jacobian: at the point.
        step: change of the point.
    """

    candidate: np.ndarray
    objective: float
    reduction: float
    regularizer: float
    residual: np.ndarray | None = None
    jacobian: np.ndarray | None = None
    step: np.ndarray | None = None


class Norm(abc.ABC):
    """A measure of residuals."""

    @abc.abstractmethod
    def value(self, r: np.ndarray) -> float:
        """The norm of a residual of shape (nr, 1)."""

    @abc.abstractmethod
    def grad_hess(self, r: np.ndarray, proj: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and Hessian of the norm, projected: proj' g of shape (nx, 1), and proj' H proj of shape (nx, nx)."""


class Quadratic(Norm):
    """Half of the sum of squares."""

    def value(self, r: np.ndarray) -> float:
        """Half of the sum of squares of a residual."""
        return 0.5 * float(r.ravel() @ r.ravel())

    def grad_hess(self, r: np.ndarray, proj: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Proj' r and proj' proj."""
        return proj.T @ r, proj.T @ proj


def jacobian_fd(
    residual: Residual, x: np.ndarray, r: np.ndarray, eps: float, n_res: int, bounds: Sequence[np.ndarray] | None = None
) -> tuple[np.ndarray, int]:
    """Jacobian of a residual by forward differences; backward ones for variables beyond the middle of their bounds.

    Args:
        residual: function of points, a column each, whose residuals are columns.
        x: the point, (nx, 1).
        r: the residual there, (nr, 1).
        eps: size of the differences; a variable moves by it times its range, or by it alone without bounds.
        n_res: number of residuals computed so far.
        bounds: lower and upper bounds, (nx, 1) each.

    Returns:
        The Jacobian, (nr, nx), and the number of residuals computed so far.
    """
    step = np.full(x.size, float(eps))
    if bounds is not None:
        lower, upper = (np.asarray(bound, float).ravel() for bound in bounds)
        finite = np.isfinite(upper - lower) & (upper > lower)
        step[finite] *= (upper - lower)[finite]
        step[x.ravel() > 0.5 * (lower + upper)] *= -1.0
    moved = x.reshape(-1, 1) + np.diag(step)
    difference = np.asarray(residual(moved), float).reshape(r.size, x.size) - r.reshape(-1, 1)
    return difference / step, n_res + x.size


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
    """Compare a Jacobian with differences, and say how far they are apart; arguments as in `jacobian_fd`.

    Returns:
        The number of residuals computed so far.
    """
    by_differences, n_res = jacobian_fd(residual, x, r, eps, n_res, bounds)
    _report(f"User-provided {name}", jac, by_differences, output)
    return n_res


def check_norm(r: np.ndarray, norm: Norm, eps: float, output: TextIO | None = None) -> None:
    """Compare gradient and Hessian of a norm with differences, and say how far they are apart.

    Raises:
        ValueError: they don't match, or the Hessian is not symmetric or not positive semidefinite.
    """
    r = r.reshape(-1, 1)
    unit = np.eye(r.size)
    gradient, hessian = norm.grad_hess(r, unit)
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
    """Say how far a derivative is from differences.

    Raises:
        ValueError: it has another shape, or is farther off than the differences can be.
    """
    if given.shape != by_differences.shape:
        raise ValueError(f"{what} does not match finite differences: shape {given.shape}, not {by_differences.shape}")
    error = float(np.max(np.abs(given - by_differences), initial=0.0))
    scale = max(1.0, float(np.max(np.abs(by_differences), initial=0.0)))
    text = f"finite differences: largest difference {error:.2g}"
    if not error <= DERIVATIVE_ERROR * scale:
        raise ValueError(f"{what} does not match {text}")
    print(f"{what} matches {text}", file=output)


@dataclass
class _Run:
    """State of one minimisation; x and r are columns, bounds are columns or None."""

    residual: Residual
    norm: Norm
    bounds: tuple[np.ndarray, np.ndarray] | None
    x: np.ndarray
    mu: float
    factor: float
    mu_range: tuple[float, float]
    r: np.ndarray = field(default_factory=lambda: np.zeros((0, 1)))
    value: float = 0.0
    n_res: int = 0
    seconds: float = 0.0
    trace: list[IterLog] = field(default_factory=list)

    def residual_at(self, x: np.ndarray) -> np.ndarray:
        """The residual at a point, a column."""
        start = time.perf_counter()
        r = np.asarray(self.residual(x), float).reshape(-1, 1)
        self.seconds += time.perf_counter() - start
        self.n_res += 1
        return r

    def grow(self) -> None:
        """A larger regulariser."""
        self.mu = max(self.mu_range[0], self.mu * self.factor) if self.mu else self.mu_range[0]

    def shrink(self) -> None:
        """A smaller regulariser; below its least it is 0."""
        self.mu = self.mu / self.factor if self.mu / self.factor >= self.mu_range[0] else 0.0

    def step(self, gradient: np.ndarray, hessian: np.ndarray) -> np.ndarray | None:
        """The minimum of the regularised quadratic within the bounds, a column; None if it can't be found."""
        matrix = hessian + self.mu * np.eye(len(hessian))
        if self.bounds is None:
            try:
                factor = np.linalg.cholesky(matrix)
            except np.linalg.LinAlgError:
                return None
            return -np.linalg.solve(factor.T, np.linalg.solve(factor, gradient))
        n = len(hessian)
        solution, work, index = np.zeros(n), np.zeros((n, n + 7)), np.zeros(n, np.int32)
        lower, upper = (bound.ravel() - self.x.ravel() for bound in self.bounds)
        if mju_boxQP(solution, work, index, matrix, gradient.ravel(), lower, upper) < 0:
            return None
        return solution.reshape(-1, 1)


def least_squares(
    x0: np.ndarray,
    residual: Residual,
    bounds: Sequence[np.ndarray] | None = None,
    jacobian: Jacobian | None = None,
    norm: Norm = Quadratic(),  # noqa: B008 (it has no state)
    eps: float = 1e-6,
    mu_min: float = 1e-6,
    mu_max: float = 1e8,
    mu_factor: float = 10.0**0.1,
    tol: float = 1e-6,
    max_iter: int = 100,
    verbose: Verbosity | int = Verbosity.ITER,
    output: TextIO | None = None,
    iter_callback: Callable[[list[IterLog]], None] | None = None,
    check_derivatives: bool = False,
) -> tuple[np.ndarray, list[IterLog]]:
    """Minimise the norm of a residual within bounds.

    Args:
        x0: where to start, nx numbers.
        residual: function of points, a column each, whose residuals are columns.
        bounds: lower and upper bounds of the point, nx numbers each.
        jacobian: function of a point and its residual; by differences of the residual if there is none.
        norm: measure of the residual.
        eps: size of the differences.
        mu_min: smallest regulariser but 0.
        mu_max: largest regulariser.
        mu_factor: factor by which it grows or shrinks.
        tol: the end, when a step is shorter.
        max_iter: most iterations.
        verbose: how much to say.
        output: where to say it; standard output if nothing is given.
        iter_callback: function of the trace, called after each iteration.
        check_derivatives: compare Jacobian and norm with differences at the start.

    Returns:
        The best point, of the shape of `x0`, and what happened in each iteration.

    Raises:
        ValueError: bounds of another size or in the wrong order, a start that is not finite, no iterations allowed.
    """
    verbosity = Verbosity(verbose)
    said: TextIO = output or sys.stdout
    start = np.array(x0, float)
    column = start.reshape(-1, 1)
    limits = _checked_bounds(column, bounds)
    if limits is not None:
        column = np.clip(column, *limits)
    run = _Run(residual, norm, limits, column, 0.0, mu_factor, (mu_min, mu_max))
    began = time.perf_counter()
    run.r = run.residual_at(run.x)
    run.value = float(norm.value(run.r))
    status = Status.MAX_ITER
    for iteration in range(max_iter):
        matrix = _jacobian_at(run, jacobian, eps)
        if check_derivatives and iteration == 0:
            if jacobian is not None:
                run.n_res = check_jacobian(residual, run.x, run.r, matrix, eps, run.n_res, limits, output)
            check_norm(run.r, norm, eps, output)
        ended = _iterate(run, matrix, mu_max, tol)
        _say_iteration(run, iteration, verbosity, said)
        if iter_callback is not None:
            iter_callback(run.trace)
        if ended is not None:
            status = ended
            break
    _finish(run, status, verbosity, said, time.perf_counter() - began)
    return run.x.reshape(start.shape), run.trace


def _checked_bounds(x: np.ndarray, bounds: Sequence[np.ndarray] | None) -> tuple[np.ndarray, np.ndarray] | None:
    """The bounds as columns.

    Raises:
        ValueError: they don't fit.
    """
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


def _jacobian_at(run: _Run, jacobian: Jacobian | None, eps: float) -> np.ndarray:
    """The Jacobian at the present point, (nr, nx)."""
    if jacobian is not None:
        return np.asarray(jacobian(run.x, run.r), float)
    start = time.perf_counter()
    matrix, run.n_res = jacobian_fd(run.residual, run.x, run.r, eps, run.n_res, run.bounds)
    run.seconds += time.perf_counter() - start
    return matrix


def _iterate(run: _Run, matrix: np.ndarray, mu_max: float, tol: float) -> Status | None:
    """Find a step that lowers the objective and take it; returns why there is none, or that it is short."""
    gradient, hessian = run.norm.grad_hess(run.r, matrix)
    gradient = np.asarray(gradient, float).reshape(-1, 1)
    while True:
        dx = run.step(gradient, hessian)
        if dx is not None:
            x = run.x + dx if run.bounds is None else np.clip(run.x + dx, *run.bounds)
            if np.linalg.norm(x - run.x) < tol:
                run.trace.append(IterLog(run.x.copy(), run.value, 0.0, run.mu, run.r, matrix, x - run.x))
                return Status.DX_TOL
            r = run.residual_at(x)
            value = float(run.norm.value(r))
            if value < run.value:
                run.trace.append(IterLog(run.x.copy(), run.value, run.value - value, run.mu, run.r, matrix, x - run.x))
                run.x, run.r, run.value = x, r, value
                run.shrink()
                return None
        if run.mu >= mu_max:
            run.trace.append(IterLog(run.x.copy(), run.value, 0.0, run.mu, run.r, matrix))
            return Status.NO_IMPROVEMENT if dx is not None else Status.FACTORIZATION_FAILED
        run.grow()


def _say_iteration(run: _Run, iteration: int, verbosity: Verbosity, output: TextIO) -> None:
    """One line about the last iteration."""
    if verbosity.value < Verbosity.ITER.value:
        return
    log = run.trace[-1]
    length = 0.0 if log.step is None else float(np.linalg.norm(log.step))
    print(
        f"iter: {iteration:<3d}  y: {log.objective:<9.4g}  log10mu: {np.log10(log.regularizer or np.nan):>4.1f}  "
        f"dx: {length:<7.2g}  reduction: {log.reduction:<7.2g}",
        file=output,
    )
    if verbosity is Verbosity.FULLITER:
        print(
            f"  x: {log.candidate.ravel()}\n  r: {None if log.residual is None else log.residual.ravel()}", file=output
        )


def _finish(run: _Run, status: Status, verbosity: Verbosity, output: TextIO, seconds: float) -> None:
    """The last entry of the trace, and a line about the end."""
    run.trace.append(IterLog(run.x.copy(), run.value, 0.0, run.mu, run.r))
    if verbosity is not Verbosity.SILENT:
        first = run.trace[0].objective
        if run.value == 0.0:
            print("exact minimum found", file=output)
        print(f"Terminated after {len(run.trace) - 1} iterations: {REASONS[status]}.", end=" ", file=output)
        print(f"y: {first:<.4g} -> {run.value:.4g}, residual evals: {run.n_res}", file=output)
        print(f"total time {1e3 * seconds:.1f} ms, of which residuals {1e3 * run.seconds:.1f} ms", file=output)
