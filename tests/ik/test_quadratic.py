"""The quadratic program: its solutions satisfy the conditions of Karush, Kuhn and Tucker."""

import ik_mechanisms as mechanisms
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cardan import ik
from cardan.ik.problem import Problem
from cardan.ik.quadratic import factorise, solve_program
from cardan.jit.driver.program import call, native_over
from cardan.model import internals

ROWS = 6


@native_over("Model", "Ik")
def solve_whole(m, d, _i, _j):
    """Factorise H without damping, and solve the program."""
    factorise(d, 0.0)
    return solve_program(m, d, 0, 0)


def solved(h, g, low, high, a, b, equal):
    """Solve a program with 13 variables; return x, multipliers of rows, lower and upper bounds, and the result."""
    m = mechanisms.model(mechanisms.TREE)
    task = ik.PostureTask((1.0,) * m.nv)
    problem = Problem(m, [task], np.tile([[0, 1]], (ROWS, 1)), True, None)
    problem.prepare(1)
    memory, n = problem.workers[0], len(g)
    values = {"H": h, "g": g, "x_low": low, "x_high": high, "A": a, "b": b}
    for name, value in values.items():
        memory.arrays["ik." + name][: len(value)] = value
    memory.set_scalars({"ik.nequal": equal, "ik.nrow": len(b)})
    ignored = call(solve_whole, internals.memory(m), memory)
    count = memory.scalars["ik.nactive"].item()
    multipliers = np.zeros(len(b) + 2 * n)
    multipliers[memory.arrays["ik.active"][:count]] = memory.arrays["ik.u"][:count]
    x = memory.arrays["ik.x"].copy()
    return x, multipliers[: len(b)], multipliers[len(b) : len(b) + n], multipliers[len(b) + n :], ignored


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, ROWS), st.integers(0, 3), st.booleans())
def test_solutions_are_optimal(seed, rows, equal, ill):
    random = np.random.default_rng(seed)
    n, equal = 13, min(equal, rows)
    root = random.normal(size=(n, n)) * (10.0 ** random.uniform(-2, 1, n) if ill else 1.0)
    h, g = root.T @ root + 1e-3 * np.eye(n), random.normal(size=n) * 3
    low, high = -random.uniform(0, 1, n), random.uniform(0, 1, n)
    a = random.normal(size=(rows, n))
    inside = random.uniform(0.2, 0.8, n) * (high - low) + low  # a point that meets everything
    b = a @ inside - np.where(np.arange(rows) < equal, 0.0, random.uniform(0, 0.5, rows))
    x, of_rows, of_low, of_high, ignored = solved(h, g, low, high, a, b, equal)
    assert ignored == 0
    slack = a @ x - b
    assert np.all(np.abs(slack[:equal]) < 1e-8) and np.all(slack[equal:] > -1e-8)
    assert np.all(x > low - 1e-8) and np.all(x < high + 1e-8)
    assert min([0.0, *of_rows[equal:], *of_low, *of_high]) > -1e-9
    residual = h @ x + g - of_low + of_high
    if rows:
        # the sign of an equality's multiplier is not defined
        free = a[:equal].T
        rest = residual - a[equal:].T @ of_rows[equal:]
        rest -= free @ np.linalg.lstsq(free, rest, rcond=None)[0] if equal else 0.0
        residual = rest
    np.testing.assert_allclose(residual, 0.0, atol=1e-6 * max(1.0, np.abs(g).max(), np.abs(h).max()))
    complementary = np.concatenate([of_rows[equal:] * slack[equal:], of_low * (x - low), of_high * (high - x)])
    np.testing.assert_allclose(complementary, 0.0, atol=1e-7)


def test_constraints_that_exclude_each_other_are_ignored():
    n = 13
    a = np.zeros((2, n))
    a[0, 0], a[1, 0] = 1.0, -1.0
    x, *_, ignored = solved(np.eye(n), np.zeros(n), -np.ones(n), np.ones(n), a, np.array([0.5, -0.2]), 0)
    assert ignored == 1
    assert np.isclose(x[0], 0.5) or np.isclose(x[0], 0.0) or np.isclose(x[0], 0.2)
    np.testing.assert_allclose(x[1:], 0.0)


def test_bounds_that_exclude_a_row_hold():
    n = 13
    a = np.zeros((1, n))
    a[0, :2] = 1.0
    x, *_, ignored = solved(np.eye(n), -np.ones(n), -np.ones(n), np.full(n, 0.5), a, np.array([2.0]), 0)
    assert ignored == 1
    np.testing.assert_allclose(x, 0.5)
