"""The iterative linear-quadratic regulator: controls that make a trajectory cheap, from Jacobians of each step.

Each iteration goes backwards over the trajectory with a quadratic model of the cost to go, for the Jacobian F = [A B]
of each step and the matrices and vectors of state and control together ::

    q = l' + F' v    Q = l'' + F' V F    k = -(Quu + mu I)^-1 qu    K = -(Quu + mu I)^-1 Qux
    v = qx + Qux' k    V = Qxx + Qux' K

and forwards with the controls ``u + s k + K dx``, for the largest step size s that makes the trajectory cheaper
(Tassa, Erez and Todorov, Synthesis and stabilization of complex behaviors through online trajectory optimization,
IROS 2012). States are ``qpos, qvel, act``; their differences dx are in the tangent space, 2 nv + na numbers.

The way forwards is one call (`cardan.record` with a feedback), and so are the Jacobians of all steps. The way backwards
is compiled by Numba.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import njit
from tangent_space import differences

import cardan

STEP_SIZES = 0.6 ** np.arange(10)
LEAST_MU, MOST_MU = 1e-6, 1e8
GAIN = 1e-2
"""Share of the expected gain that a step has to bring."""


@dataclass(frozen=True)
class Cost:
    """A quadratic cost around a goal: sum of ``(w dx^2 + r u^2) / 2``, and at the end ``w_end dx^2 / 2``.

    Attributes:
        goal: state (nq + nv + na).
        running: weights of deviations from it, by tangent-space coordinates (2 nv + na).
        final: weights at the end.
        control: weights of the controls (nu).
    """

    goal: np.ndarray
    running: np.ndarray
    final: np.ndarray
    control: np.ndarray


@dataclass
class Result:
    """What an optimisation found.

    Attributes:
        states: (n + 1, nq + nv + na).
        controls: (n, nu).
        costs: of the first trajectory, and after each iteration.
        seconds: processor time after each of these.
        converged: whether the last iteration gained less than was asked for.
    """

    states: np.ndarray
    controls: np.ndarray
    costs: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    converged: bool = False


@dataclass(frozen=True)
class Policy:
    """Controls ``nominal + gains (x - states)``, clamped to their ranges.

    Attributes:
        states: reference states (n + 1, nq + nv + na).
        nominal: controls (n, nu).
        gains: (n, nu, 2 nv + na).
    """

    states: np.ndarray
    nominal: np.ndarray
    gains: np.ndarray


@dataclass(frozen=True)
class Trajectory:
    """States (n + 1, nq + nv + na) and controls (n, nu); the tape that its derivatives come from."""

    states: np.ndarray
    controls: np.ndarray
    tape: Any = None


class Dynamics:
    """Steps of a model and their Jacobians."""

    def __init__(self, m: Any) -> None:
        self.m, self.d = m, cardan.MjData(m)
        self.nx, self.nu = 2 * m.nv + m.na, m.nu

    def follow(self, start: np.ndarray, controls: np.ndarray, policy: Policy | None = None) -> Trajectory:
        """The trajectory from a state with given controls, or with those of a policy."""
        m, d = self.m, self.d
        cardan.mj_resetData(m, d)
        cardan.mj_setState(m, d, start, int(cardan.mjtState.mjSTATE_PHYSICS))
        feedback = None if policy is None else (policy.states[:-1], policy.gains)
        tape = cardan.record(m, d, len(controls), controls if policy is None else policy.nominal, feedback=feedback)
        return Trajectory(np.hstack([tape.qpos, tape.qvel, tape.act]), tape.controls, tape)

    def linearise(self, trajectory: Trajectory) -> np.ndarray:
        """F = [A B] of each step of a trajectory, (n, nx, nx + nu)."""
        found = trajectory.tape.jacobians()
        return np.concatenate([found.A, found.B], axis=2)


def cost_of(dynamics: Dynamics, cost: Cost, trajectory: Trajectory) -> tuple[float, np.ndarray]:
    """The cost of a trajectory, and its deviations from the goal (n + 1, nx)."""
    deviations = differences(dynamics.m, cost.goal, trajectory.states)
    running = weighed(cost.running, deviations[:-1]) + weighed(cost.control, trajectory.controls)
    return 0.5 * (running + weighed(cost.final, deviations[-1:])), deviations


@njit(cache=True)
def weighed(weights: np.ndarray, rows: np.ndarray) -> float:
    """Weighted sum of the squares of all rows."""
    total = 0.0
    for row in rows:
        for i in range(len(weights)):
            total += weights[i] * row[i] * row[i]
    return total


@njit(cache=True)
def cholesky(matrix: np.ndarray) -> bool:
    """Replace the lower triangle of a symmetric matrix by its Cholesky factor; False if it is not positive definite."""
    for i in range(len(matrix)):
        for j in range(i + 1):
            value = matrix[i, j]
            for k in range(j):
                value -= matrix[i, k] * matrix[j, k]
            if i == j:
                if not value > 0.0:
                    return False
                matrix[i, i] = np.sqrt(value)
            else:
                matrix[i, j] = value / matrix[j, j]
    return True


@njit(cache=True)
def substitute(L: np.ndarray, right: np.ndarray) -> None:
    """Replace the rows of `right` by the solution of L L' x = right."""
    n, width = right.shape
    for i in range(n):
        for k in range(i):
            factor = L[i, k]
            for b in range(width):
                right[i, b] -= factor * right[k, b]
        for b in range(width):
            right[i, b] /= L[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            factor = L[k, i]
            for b in range(width):
                right[i, b] -= factor * right[k, b]
        for b in range(width):
            right[i, b] /= L[i, i]


@njit(cache=True, fastmath=True)
def add_product(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> None:
    """Add A B to C, four rows of B at a time, so that a row of C is read and written once for them."""
    inner, n = B.shape
    for i in range(len(C)):
        row = C[i]
        for k in range(0, inner - 3, 4):
            p, q, r, s = A[i, k], A[i, k + 1], A[i, k + 2], A[i, k + 3]
            for b in range(n):
                row[b] += p * B[k, b] + q * B[k + 1, b] + r * B[k + 2, b] + s * B[k + 3, b]
        for k in range(inner - inner % 4, inner):
            for b in range(n):
                row[b] += A[i, k] * B[k, b]


@njit(cache=True)
def backward(
    weights: tuple[np.ndarray, np.ndarray, np.ndarray],
    F: np.ndarray,
    deviations: np.ndarray,
    controls: np.ndarray,
    mu: float,
    k: np.ndarray,
    K: np.ndarray,
) -> float:
    """Set changes k (n, nu) and gains K (n, nu, nx) of the controls; returns the gain in cost that the model expects.

    It is negative where Quu is not positive definite: mu should be larger. The weights are those of running states, of
    final ones and of controls.
    """
    running, final, effort = weights
    n, nx, both = F.shape
    nu = both - nx
    v, V, expected = final * deviations[n], np.diag(final), 0.0
    diagonal = np.concatenate((running, effort))
    for t in range(n - 1, -1, -1):
        q = np.concatenate((running * deviations[t], effort * controls[t]))
        for i in range(nx):
            for b in range(both):
                q[b] += F[t, i, b] * v[i]
        Q = np.diag(diagonal)
        VF = np.zeros((nx, both))
        add_product(V, F[t], VF)
        add_product(np.ascontiguousarray(F[t].T), VF, Q)
        L = Q[nx:, nx:].copy()
        for i in range(nu):
            L[i, i] += mu
        if not cholesky(L):
            return -1.0
        solved = np.empty((nu, 1 + nx))
        solved[:, 0], solved[:, 1:] = -q[nx:], -Q[nx:, :nx]
        substitute(L, solved)
        k[t], K[t] = solved[:, 0], solved[:, 1:]
        v, V = q[:nx].copy(), Q[:nx, :nx].copy()
        for i in range(nu):
            expected -= 0.5 * k[t, i] * q[nx + i]
            for a in range(nx):
                v[a] += Q[nx + i, a] * k[t, i]
        add_product(np.ascontiguousarray(Q[nx:, :nx].T), K[t], V)
        for a in range(nx):
            for b in range(a):
                V[a, b] = V[b, a] = 0.5 * (V[a, b] + V[b, a])
    return expected


def solve(
    dynamics: Dynamics,
    cost: Cost,
    start: np.ndarray,
    controls: np.ndarray,
    iterations: int = 100,
    tolerance: float = 1e-4,
) -> Result:
    """Optimise controls.

    Args:
        dynamics: the model.
        cost: of trajectories.
        start: first state.
        controls: controls to begin with, (n, nu).
        iterations: number of iterations, at most.
        tolerance: relative gain of an iteration from which it counts as converged.
    """
    begin = time.process_time()
    now = dynamics.follow(start, controls)
    value, deviations = cost_of(dynamics, cost, now)
    result = Result(now.states, now.controls, [value], [time.process_time() - begin])
    mu, fresh, largest = 1e-3, True, 0
    weights, F = (cost.running, cost.final, cost.control), np.zeros(0)
    k, K = np.zeros(controls.shape), np.zeros((*controls.shape, dynamics.nx))
    while len(result.costs) <= iterations and mu < MOST_MU and not result.converged:
        if fresh:
            F = dynamics.linearise(now)
        expected = backward(weights, F, deviations, now.controls, mu, k, K)
        better = None if expected < 0.0 else _search(dynamics, cost, now, value, k, K, expected, largest)
        fresh = better is not None
        if better is None:
            mu, largest = max(10.0 * mu, LEAST_MU), 0
            continue
        new, now, deviations, found = better
        largest = max(found - 2, 0)
        result.states, result.controls = now.states, now.controls
        result.converged = value - new < tolerance * value
        value, mu = new, max(0.2 * mu, LEAST_MU)
        result.costs.append(value)
        result.seconds.append(time.process_time() - begin)
    return result


def _search(
    dynamics: Dynamics,
    cost: Cost,
    now: Trajectory,
    value: float,
    k: np.ndarray,
    K: np.ndarray,
    expected: float,
    largest: int,
) -> tuple[float, Trajectory, np.ndarray, int] | None:
    """The trajectory of the largest step size that gains enough: cost, trajectory, deviations, its number; or None.

    Sizes from number `largest` on are tried: two more than the one that was found last.
    """
    for number, size in enumerate(STEP_SIZES[largest:], largest):
        found = dynamics.follow(now.states[0], now.controls, Policy(now.states, now.controls + size * k, K))
        new, deviations = cost_of(dynamics, cost, found)
        if np.isfinite(new) and value - new > GAIN * size * expected:
            return new, found, deviations, number
    return None
