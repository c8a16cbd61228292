"""Least squares of MuJoCo 4.0: other criteria of the end, relative differences, scales; compared with 4.0.0."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from later import later_run

from cardan import get_compat, minimize, set_compat

ROSENBROCK = """
def residual(x):
    return np.stack([1 - x[0, :], 10 * (x[1, :] - x[0, :] ** 2)])

def jacobian(x, r):
    return np.array([[-1, 0], [-20 * x[0, 0], 10]])
"""
SMALL_COLUMN = """
def residual(x):
    return np.stack([x[0] ** 2 - 1, x[1] ** 2 * 1e-20 + 2.0])

def jacobian(x, r):
    return np.array([[2 * x[0, 0], 0], [0, 2e-20 * x[1, 0]]])
"""
RUN = """
import io
options = {**options, **({"jacobian": jacobian} if exact else {})}
x, trace = minimize.least_squares(np.array(start, float), residual, output=io.StringIO(), verbose=3, **options)
out = x, [{name: getattr(log, name) for name in names} for log in trace]
"""
NAMES = ("candidate", "objective", "reduction", "regularizer", "residual", "jacobian", "grad", "step")
BOX = [np.array([-2.0, -2.0]), np.array([0.5, 2.0])]
CASES: dict[str, tuple[str, list[float], dict[str, Any]]] = {
    "plain": (ROSENBROCK, [0.0, 0.0], {}),
    "far": (ROSENBROCK, [-7.0, 30.0], {}),
    "gradient": (ROSENBROCK, [0.0, 0.0], {"gtol": 0.5}),
    "step": (ROSENBROCK, [0.0, 0.0], {"xtol": 0.1, "gtol": 0.0}),
    "box": (ROSENBROCK, [0.0, 0.0], {"bounds": BOX}),
    "scales": (ROSENBROCK, [0.0, 0.0], {"x_scale": np.array([10.0, 0.1])}),
    "one scale": (ROSENBROCK, [0.0, 0.0], {"x_scale": 3.0}),
    "scales in a box": (ROSENBROCK, [0.0, 0.0], {"x_scale": np.array([10.0, 0.1]), "bounds": BOX}),
    "scales of the Jacobian": (ROSENBROCK, [0.0, 0.0], {"x_scale": "jac"}),
    "small column": (SMALL_COLUMN, [3.0, 4.0], {"x_scale": "jac", "max_iter": 5}),
}


@pytest.fixture(autouse=True)
def _later() -> Iterator[None]:
    before = get_compat()
    set_compat("4.0")
    yield
    set_compat(before)


@pytest.mark.parametrize("exact", [True, False], ids=["jacobian", "differences"])
@pytest.mark.parametrize("name", CASES)
def test_takes_the_steps_of_the_reference(name: str, exact: bool) -> None:
    text, start, options = CASES[name]
    given = {"start": start, "options": options, "exact": exact, "names": NAMES}
    expected_x, expected = later_run("from mujoco import minimize\n" + text + RUN, **given)
    space: dict[str, Any] = {"np": np, "minimize": minimize, **given}
    exec(text + RUN, space)
    x, trace = space["out"]
    assert len(trace) == len(expected)
    for log, other in zip(trace, expected, strict=True):
        np.testing.assert_allclose(log["regularizer"], other["regularizer"], rtol=1e-9)
        for key in NAMES[:3]:
            np.testing.assert_allclose(log[key], other[key], rtol=1e-4, atol=1e-6, err_msg=key)
        assert all((log[key] is None) == (other[key] is None) for key in NAMES)
    np.testing.assert_allclose(trace[0]["grad"], expected[0]["grad"], rtol=1e-6)
    np.testing.assert_allclose(x, expected_x, rtol=1e-6)


def _ends(said: io.StringIO) -> str:
    return said.getvalue().splitlines()[-2]


def test_the_gradient_ends_the_search() -> None:
    said = io.StringIO()
    minimize.least_squares(np.array([1.0]), lambda x: x - 1.0, output=said, verbose=1)
    assert _ends(said).startswith("Terminated after 0 iterations: norm(gradient) < tol.")


def test_differences_are_relative_to_the_point() -> None:
    asked: list[np.ndarray] = []

    def residual(x: np.ndarray) -> np.ndarray:
        asked.append(x)
        return x

    point = np.array([[100.0], [1e-3]])
    minimize.jacobian_fd(residual, point, point, 1e-6, 0)
    np.testing.assert_allclose(asked[0] - point, np.diag([1e-4, 1e-6]), rtol=1e-6, atol=0)
    set_compat("3.1")
    minimize.jacobian_fd(residual, point, point, 1e-6, 0)
    np.testing.assert_allclose(asked[1] - point, np.diag([1e-6, 1e-6]), rtol=1e-6, atol=0)


def test_the_process_selects_the_criteria() -> None:
    ends = []
    for version, options in (("3.1", {}), ("4.0", {}), ("4.0", {"tol": 1e-6, "gtol": 0.0}), ("3.1", {"gtol": 1e-8})):
        set_compat(version)
        said = io.StringIO()
        minimize.least_squares(np.array([3.0]), lambda x: x**2 - 1.0, output=said, verbose=1, **options)
        ends.append("gradient" in _ends(said))
    assert ends == [False, True, False, True]


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        ("bogus", "must be None, \"jac\", or positive numbers, not 'bogus'"),
        (np.array([1.0, -1.0]), "must be positive and finite"),
        (np.array([np.inf, 1.0]), "must be positive and finite"),
        (0.0, "must be positive and finite"),
        (np.array([1.0]), r"must have shape \(2,\)"),
    ],
)
def test_scales_that_are_errors(scale: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        minimize.least_squares(np.zeros(2), lambda x: x, x_scale=scale, verbose=0)
