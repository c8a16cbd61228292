"""The iterative linear-quadratic regulator: controls that make a trajectory cheap, from Jacobians of each step.

Each iteration goes backwards over the trajectory with a quadratic model of the cost to go ::

    Qx = lx + A' Vx    Qu = lu + B' Vx    Qxx = lxx + A' Vxx A    Qux = B' Vxx A    Quu = luu + B' Vxx B + mu I
    k = -Quu^-1 Qu     K = -Quu^-1 Qux    Vx = Qx + K' Quu k + K' Qu + Qux' k    Vxx = Qxx + K' Quu K + K' Qux + Qux' K

and forwards with the controls ``u + s k + K dx``, for the largest step size s that makes the trajectory cheaper
(Tassa, Erez and Todorov, Synthesis and stabilization of complex behaviors through online trajectory optimization,
IROS 2012). States are ``qpos, qvel, act``; their differences dx are in the tangent space, 2 nv + na numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

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


Jacobians = Callable[[Any, Any, np.ndarray, np.ndarray], None]


def exact_jacobians(m: Any, d: Any, A: np.ndarray, B: np.ndarray) -> None:
    """A and B of a step, without differences."""
    cardan.mjd_transition(m, d, A, B, None, None)


class Dynamics:
    """Steps of a model and their Jacobians.

    Args:
        m: model.
        engine: the module that it comes from: cardan, or one with the same functions.
        jacobians: fills in A and B of a step from the state of a data.
    """

    def __init__(self, m: Any, engine: Any = cardan, jacobians: Jacobians = exact_jacobians) -> None:
        self.m, self.engine, self._jacobians = m, engine, jacobians
        self.d = engine.MjData(m)
        self.nx, self.nu = 2 * m.nv + m.na, m.nu
        self._spec = int(engine.mjtState.mjSTATE_PHYSICS)
        self._nstate = m.nq + m.nv + m.na

    def put(self, state: np.ndarray) -> None:
        """Set the state of the data."""
        self.engine.mj_setState(self.m, self.d, state, self._spec)

    def get(self) -> np.ndarray:
        """The state of the data."""
        state = np.zeros(self._nstate)
        self.engine.mj_getState(self.m, self.d, state, self._spec)
        return state

    def difference(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """From state `a` to state `b`, in the tangent space."""
        nq, nv = self.m.nq, self.m.nv
        result = np.empty(self.nx)
        turn = np.empty(nv)
        self.engine.mj_differentiatePos(self.m, turn, 1.0, a[:nq], b[:nq])
        result[:nv] = turn
        np.subtract(b[nq:], a[nq:], out=result[nv:])
        return result

    def follow(self, start: np.ndarray, policy: Callable[[int, np.ndarray], np.ndarray], nstep: int) -> Any:
        """States (nstep + 1, ...) and controls (nstep, nu) of a policy: a function of the step and the state."""
        states, controls = np.zeros((nstep + 1, self._nstate)), np.zeros((nstep, self.nu))
        self.engine.mj_resetData(self.m, self.d)
        self.put(start)
        states[0] = start
        for k in range(nstep):
            controls[k] = policy(k, states[k])
            self.d.ctrl[:] = controls[k]
            self.engine.mj_step(self.m, self.d)
            states[k + 1] = self.get()
        return states, controls

    def linearise(self, states: np.ndarray, controls: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A (n, nx, nx) and B (n, nx, nu) of each step of a trajectory."""
        A, B = np.zeros((len(controls), self.nx, self.nx)), np.zeros((len(controls), self.nx, self.nu))
        self.engine.mj_resetData(self.m, self.d)
        for k, control in enumerate(controls):
            self.put(states[k])
            self.d.ctrl[:] = control
            self._jacobians(self.m, self.d, A[k], B[k])
        return A, B


def cost_of(dynamics: Dynamics, cost: Cost, states: np.ndarray, controls: np.ndarray) -> tuple[float, np.ndarray]:
    """The cost of a trajectory, and its deviations from the goal (n + 1, nx)."""
    deviations = np.array([dynamics.difference(cost.goal, state) for state in states])
    running = (deviations[:-1] ** 2 @ cost.running).sum() + (controls**2 @ cost.control).sum()
    return 0.5 * float(running + deviations[-1] ** 2 @ cost.final), deviations


def backward(
    cost: Cost, A: np.ndarray, B: np.ndarray, deviations: np.ndarray, controls: np.ndarray, mu: float
) -> tuple[np.ndarray, np.ndarray, float] | None:
    """Changes k (n, nu) and gains K (n, nu, nx) of the controls, and the gain in cost that the model expects.

    None where Quu is not positive definite: mu should be larger.
    """
    n, nu = controls.shape
    k, K, expected = np.zeros((n, nu)), np.zeros((n, nu, A.shape[1])), 0.0
    Vx, Vxx = cost.final * deviations[-1], np.diag(cost.final)
    lxx, luu = np.diag(cost.running), np.diag(cost.control + mu)
    for t in range(n - 1, -1, -1):
        VA, VB = Vxx @ A[t], Vxx @ B[t]
        Qx = cost.running * deviations[t] + A[t].T @ Vx
        Qu = cost.control * controls[t] + B[t].T @ Vx
        Qxx, Qux, Quu = lxx + A[t].T @ VA, B[t].T @ VA, luu + B[t].T @ VB
        try:
            L = np.linalg.cholesky(Quu)
        except np.linalg.LinAlgError:
            return None
        solved = np.linalg.solve(L.T, np.linalg.solve(L, np.column_stack([Qu, Qux])))
        k[t], K[t] = -solved[:, 0], -solved[:, 1:]
        Vx = Qx + K[t].T @ (Quu @ k[t] + Qu) + Qux.T @ k[t]
        Vxx = Qxx + K[t].T @ (Quu @ K[t] + Qux) + Qux.T @ K[t]
        Vxx = 0.5 * (Vxx + Vxx.T)
        expected += 0.5 * float(k[t] @ Quu @ k[t])
    return k, K, expected


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
    limits = np.array(dynamics.m.actuator_ctrlrange)
    low, high = np.where(np.array(dynamics.m.actuator_ctrllimited, bool)[:, None], limits, [-np.inf, np.inf]).T
    states, controls = dynamics.follow(start, lambda t, x: controls[t], len(controls))
    value, deviations = cost_of(dynamics, cost, states, controls)
    result = Result(states, controls, [value], [time.process_time() - begin])
    mu, fresh = 1e-3, True
    A, B = np.zeros(0), np.zeros(0)
    while len(result.costs) <= iterations and mu < MOST_MU and not result.converged:
        if fresh:
            A, B = dynamics.linearise(result.states, result.controls)
        change = backward(cost, A, B, deviations, result.controls, mu)
        better = None
        if change is not None:
            better = _search(dynamics, cost, result, value, change, (low, high))
        fresh = better is not None
        if better is None:
            mu = max(10.0 * mu, LEAST_MU)
            continue
        new, result.states, result.controls, deviations = better
        result.converged = value - new < tolerance * value
        value, mu = new, max(0.2 * mu, LEAST_MU)
        result.costs.append(value)
        result.seconds.append(time.process_time() - begin)
    return result


def _search(dynamics: Dynamics, cost: Cost, result: Result, value: float, change: Any, limits: Any) -> Any:
    """The trajectory of the largest step size that gains enough: cost, states, controls, deviations; or None."""
    k, K, expected = change
    states, controls = result.states, result.controls
    for size in STEP_SIZES:

        def policy(t: int, state: np.ndarray, size: float = size) -> np.ndarray:
            return np.clip(controls[t] + size * k[t] + K[t] @ dynamics.difference(states[t], state), *limits)

        found = dynamics.follow(states[0], policy, len(controls))
        new, deviations = cost_of(dynamics, cost, *found)
        if np.isfinite(new) and value - new > GAIN * size * expected:
            return new, *found, deviations
    return None
