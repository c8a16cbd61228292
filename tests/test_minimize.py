"""Least squares: problems of MuJoCo's notebook and of the literature, rules of the method, steps of the reference."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest

import cardan
from cardan import minimize, rollout
from cardan.minimize import IterLog, Verbosity, least_squares

try:
    from mujoco import minimize as reference
except ImportError:
    reference = None

Array = np.ndarray


class Problem(NamedTuple):
    """A residual with its Jacobian, an initial point, and the known minimum.

    Attributes:
        residual: vectorised residual.
        jacobian: Jacobian at a point.
        start: initial point.
        minimum: half of the sum of squares at the minimum.
        point: minimum; None where it is not unique.
        bounds: lower and upper bounds.
    """

    residual: Callable[[Array], Array]
    jacobian: Callable[[Array, Array], Array]
    start: Sequence[float]
    minimum: float
    point: Sequence[float] | None
    bounds: tuple[Sequence[float], Sequence[float]] | None = None

    def limits(self) -> list[Array] | None:
        return None if self.bounds is None else [np.array(bound, float) for bound in self.bounds]


def rosenbrock(x: Array) -> Array:
    return np.stack([1 - x[0], 10 * (x[1] - x[0] ** 2)])


def rosenbrock_jacobian(x: Array, r: Array) -> Array:
    return np.array([[-1, 0], [-20 * x[0, 0], 10]])


def beale(x: Array) -> Array:
    return np.stack([c - x[0] + x[0] * x[1] ** k for k, c in ((1, 1.5), (2, 2.25), (3, 2.625))])


def beale_jacobian(x: Array, r: Array) -> Array:
    a, b = x[:, 0]
    return np.array([[b**k - 1, k * a * b ** (k - 1)] for k in (1, 2, 3)])


N = 20


def rosenbrock_n(x: Array) -> Array:
    return np.concatenate([1 - x[:-1], 10 * (x[:-1] - x[1:] ** 2)])


def rosenbrock_n_jacobian(x: Array, r: Array) -> Array:
    unit = np.eye(N)
    return np.vstack([-unit[:-1], 10 * unit[:-1] - 20 * x[1:] * unit[1:]])


def powell(x: Array) -> Array:
    a, b, c, d = x
    return np.stack([a + 10 * b, 5**0.5 * (c - d), (b - 2 * c) ** 2, 10**0.5 * (a - d) ** 2])


def powell_jacobian(x: Array, r: Array) -> Array:
    a, b, c, d = x[:, 0]
    s, t = 2 * (b - 2 * c), 2 * 10**0.5 * (a - d)
    return np.array([[1, 10, 0, 0], [0, 0, 5**0.5, -(5**0.5)], [0, s, -2 * s, 0], [t, 0, 0, -t]])


def freudenstein(x: Array) -> Array:
    a, b = x
    return np.stack([-13 + a + ((5 - b) * b - 2) * b, -29 + a + ((b + 1) * b - 14) * b])


def freudenstein_jacobian(x: Array, r: Array) -> Array:
    b = x[1, 0]
    return np.array([[1, 10 * b - 3 * b**2 - 2], [1, 3 * b**2 + 2 * b - 14]])


def helical(x: Array) -> Array:
    a, b, c = x
    return np.stack([10 * (c - 10 * np.arctan2(b, a) / (2 * np.pi)), 10 * (np.hypot(a, b) - 1), c])


def helical_jacobian(x: Array, r: Array) -> Array:
    a, b, _ = x[:, 0]
    s, h = 50 / np.pi / (a * a + b * b), 10 / np.hypot(a, b)
    return np.array([[s * b, -s * a, 10], [h * a, h * b, 0], [0, 0, 1]])


def jennrich(x: Array) -> Array:
    i = np.arange(1, 11)[:, None]
    return 2 + 2 * i - (np.exp(i * x[0]) + np.exp(i * x[1]))


def jennrich_jacobian(x: Array, r: Array) -> Array:
    i = np.arange(1, 11)[:, None]
    return -i * np.exp(i * x.T)


PROBLEMS = {
    # the notebook of MuJoCo 3.1.6
    "rosenbrock": Problem(rosenbrock, rosenbrock_jacobian, (0, 0), 0.0, (1, 1)),
    "beale": Problem(beale, beale_jacobian, (-3, -3), 0.0, (3, 0.5)),
    "rosenbrock in a box": Problem(
        rosenbrock, rosenbrock_jacobian, (-0.2, 1.8), 0.005, (0.9, 0.81), ((-0.3, -1), (0.9, 1.9))
    ),
    "rosenbrock of 20": Problem(rosenbrock_n, rosenbrock_n_jacobian, (0.1,) * N, 0.0, (1,) * N),
    # Moré, Garbow and Hillstrom (1981), problems 1, 13, 2, 7 and 6; their values are sums of squares, without the half
    "rosenbrock, usual start": Problem(rosenbrock, rosenbrock_jacobian, (-1.2, 1), 0.0, (1, 1)),
    "powell": Problem(powell, powell_jacobian, (3, -1, 0, 1), 0.0, None),
    "freudenstein": Problem(freudenstein, freudenstein_jacobian, (0.5, -2), 48.98425 / 2, (11.412779, -0.896805)),
    "helical valley": Problem(helical, helical_jacobian, (-1, 0, 0), 0.0, (1, 0, 0)),
    "jennrich": Problem(jennrich, jennrich_jacobian, (0.3, 0.4), 124.362 / 2, (0.2578, 0.2578)),
}


@pytest.mark.parametrize("exact", [True, False], ids=["jacobian", "differences"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_finds_the_known_minimum(name: str, exact: bool) -> None:
    problem = PROBLEMS[name]
    said = io.StringIO()
    x, trace = least_squares(
        np.array(problem.start, float),
        problem.residual,
        problem.limits(),
        problem.jacobian if exact else None,
        output=said,
        check_derivatives=exact and name.startswith("rosenbrock in"),
    )
    value = 0.5 * np.sum(problem.residual(x.reshape(-1, 1)) ** 2)
    assert "norm(dx) < tol" in said.getvalue()
    np.testing.assert_allclose(value, problem.minimum, rtol=1e-5, atol=1e-10)
    np.testing.assert_allclose(trace[-1].objective, value, rtol=1e-12)
    if problem.point is not None:
        np.testing.assert_allclose(x, problem.point, rtol=1e-4, atol=1e-6)


def test_rosenbrock_in_twenty_dimensions_converges_quadratically() -> None:
    """The assertion of the notebook, with default settings."""
    x, trace = least_squares(np.zeros(N), rosenbrock_n, verbose=0)
    assert np.linalg.norm(x - 1) < 1e-8
    assert trace[-1].regularizer == 0.0


BOXES = {
    "rosenbrock": (rosenbrock, rosenbrock_jacobian, ((-0.3, -1.0), (0.9, 1.9)), 0.1, 4),
    "beale": (beale, beale_jacobian, ((-2.0, -1.3), (1.5, 3.0)), 0.4, 5),
}
"""The grids of starts within bounds of the notebook: residual, Jacobian, bounds, margin, points in each direction."""


@pytest.mark.parametrize("name", BOXES)
def test_ends_within_bounds_where_nothing_leads_down(name: str) -> None:
    residual, jacobian, box, margin, count = BOXES[name]
    lower, upper = (np.array(bound) for bound in box)
    for start in _grid(lower, upper, margin, count):
        x, trace = least_squares(start, residual, [lower, upper], verbose=0)
        gradient = (jacobian(x[:, None], x).T @ residual(x[:, None])).ravel()
        assert (lower <= x).all() and (x <= upper).all()
        assert np.linalg.norm(np.clip(x - gradient, lower, upper) - x) < 1e-4
        values = [log.objective for log in trace]
        assert values == sorted(values, reverse=True)


def _grid(lower: Array, upper: Array, margin: float, count: int) -> list[Array]:
    axes = [np.linspace(low + margin, high - margin, count) for low, high in zip(lower, upper, strict=True)]
    return [np.array(point) for point in zip(*(axis.ravel() for axis in np.meshgrid(*axes)), strict=True)]


ARM = """<mujoco><compiler angle="radian" autolimits="true"/>
<default><joint axis="0 0 1" range="-2.9 2.9" damping="1" armature=".1"/><geom type="capsule" size=".03"/></default>
<worldbody><body name="target" mocap="true" pos=".5 0 .5" quat="0 1 0 0"><site name="target" group="2"/></body>
<body pos="0 0 .33"><joint/><geom fromto="0 0 0 0 .1 0"/>
<body quat="1 -1 0 0"><joint range="-1.76 1.76"/><geom fromto="0 0 0 0 -.3 0"/>
<body pos="0 -.316 0" quat="1 1 0 0"><joint/><geom fromto="0 0 0 .08 0 0"/>
<body pos=".0825 0 0" quat="1 1 0 0"><joint range="-3.07 -.07"/><geom fromto="0 0 0 -.08 .3 0"/>
<body pos="-.0825 .384 0" quat="1 -1 0 0"><joint/><geom fromto="0 0 0 0 0 -.2"/>
<body quat="1 1 0 0"><joint range="-.0175 3.7525"/><geom fromto="0 0 0 .088 0 0"/>
<body pos=".088 0 0" quat="1 1 0 0"><joint/><geom fromto="0 0 0 0 0 .1"/><site name="effector" pos="0 0 .2"/>
</body></body></body></body></body></body></body></worldbody>
</mujoco>"""
"""An arm with the kinematics and the limits of the Panda."""

HOME = np.array((0, 0.3, 0, -1.57079, 0, 2.0, -0.7853))


class Reach:
    """The notebook's inverse kinematics: position and orientation of the effector, and distance from a posture."""

    def __init__(self, pos: Sequence[float], quat: Sequence[float], radius: float) -> None:
        self.m = cardan.MjModel.from_xml_string(ARM)
        self.d = cardan.MjData(self.m)
        self.radius = radius
        self.d.mocap_pos[0], self.d.mocap_quat[0] = pos, np.array(quat) / np.linalg.norm(quat)

    def residual(self, x: Array) -> Array:
        return np.column_stack([self._one(column) for column in x.T])

    def jacobian(self, x: Array, r: Array) -> Array:
        m, d = self.m, self.d
        self._one(x[:, 0])
        cardan.mj_comPos(m, d)
        pos, rot = np.empty((3, m.nv)), np.empty((3, m.nv))
        cardan.mj_jacSite(m, d, pos, rot, d.site("effector").id)
        quat, derivative = np.empty(4), np.empty((3, 3))
        cardan.mju_mat2Quat(quat, d.site("effector").xmat)
        cardan.mjd_subQuat(d.body("target").xquat, quat, None, derivative)
        turned = self.radius * derivative.T @ d.site("target").xmat.reshape(3, 3).T @ rot
        return np.vstack([pos, turned, 1e-3 * np.eye(m.nv)])

    def _one(self, q: Array) -> Array:
        m, d = self.m, self.d
        d.qpos = q
        cardan.mj_kinematics(m, d)
        quat, turn = np.empty(4), np.empty(3)
        cardan.mju_mat2Quat(quat, d.site("effector").xmat)
        cardan.mju_subQuat(turn, d.body("target").xquat, quat)
        return np.concatenate([d.site("effector").xpos - d.site("target").xpos, self.radius * turn, 1e-3 * (q - HOME)])


@pytest.mark.parametrize(
    ("pos", "quat", "radius"),
    [((0.5, 0, 0.5), (0, 1, 0, 0), 0.04), ((0.2, 0.8, 0.5), (1, 1, 0, 0), 0.04), ((0.2, 0.8, 0.5), (1, 1, 0, 0), 0.5)],
)
def test_inverse_kinematics(pos: Sequence[float], quat: Sequence[float], radius: float) -> None:
    problem = Reach(pos, quat, radius)
    bounds = [problem.m.jnt_range[:, 0], problem.m.jnt_range[:, 1]]
    by_differences, _ = least_squares(HOME, problem.residual, bounds, verbose=0)
    said = io.StringIO()
    exact, _ = least_squares(
        HOME, problem.residual, bounds, problem.jacobian, verbose=1, output=said, check_derivatives=True
    )
    assert "User-provided Jacobian matches" in said.getvalue()
    values = [np.linalg.norm(problem.residual(x[:, None])) for x in (by_differences, exact)]
    np.testing.assert_allclose(*values, rtol=1e-5)
    if np.linalg.norm(pos) < 0.8:  # within reach: the assertion of the notebook
        assert np.linalg.norm(by_differences - exact) < 1e-5
        assert np.linalg.norm(problem.residual(exact[:, None])[:6]) < 1e-3


PENDULUM = """<mujoco><option timestep="0.05" integrator="implicitfast"/>
<worldbody><body name="target" mocap="true" pos=".2 0 -.3"/>
<body><joint name="upper" axis="0 1 0" damping=".1"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 -.3"/>
<body pos="0 0 -.3"><joint name="lower" axis="0 1 0" damping=".1"/>
<geom type="capsule" size=".02" fromto="0 0 0 0 0 -.3"/><site name="tip" pos="0 0 -.3"/></body></body></worldbody>
<actuator><position name="upper" joint="upper" kp="20"/><position name="lower" joint="lower" kp="10"/></actuator>
<sensor><framepos objtype="site" objname="tip" reftype="body" refname="target"/>
<actuatorfrc actuator="upper"/><actuatorfrc actuator="lower"/></sensor></mujoco>"""


class SmoothL2(minimize.Norm):
    """The notebook's norm: smoothed distances of positions, squares of torques; a column holds sensors of all steps."""

    sensors, smoothing = 5, 0.1

    def value(self, r: Array) -> float:
        rows = r.reshape((self.sensors, -1), order="F")
        lengths = np.sqrt(np.sum(rows[:3] ** 2, axis=0) + self.smoothing**2)
        return float(np.sum(lengths - self.smoothing) + 0.5 * np.sum(rows[3:] ** 2))

    def grad_hess(self, r: Array, proj: Array) -> tuple[Array, Array]:
        rows = r.reshape((self.sensors, -1), order="F")
        lengths = np.sqrt(np.sum(rows[:3] ** 2, axis=0) + self.smoothing**2)
        unit = rows[:3] / lengths
        gradient = np.vstack([unit, rows[3:]]).reshape((-1, 1), order="F")
        projected = proj.copy()
        for i, length in enumerate(lengths):
            block = slice(self.sensors * i, self.sensors * i + 3)
            projected[block] = (np.eye(3) - np.outer(unit[:, i], unit[:, i])) @ proj[block] / length
        return proj.T @ gradient, proj.T @ projected


def test_control_by_rollouts_with_a_norm_of_the_user() -> None:
    """Controls at the start and the end of a motion, found by rollouts of all points of a Jacobian at once."""
    m = cardan.MjModel.from_xml_string(PENDULUM)
    d = cardan.MjData(m)
    state = np.zeros(cardan.mj_stateSize(m, cardan.mjtState.mjSTATE_FULLPHYSICS))
    cardan.mj_getState(m, d, state, cardan.mjtState.mjSTATE_FULLPHYSICS)

    def residual(x: Array) -> Array:
        control = np.moveaxis(np.linspace(x[:2].T, x[2:].T, 12), 0, 1).copy()
        sensors = rollout.rollout(m, d, state, control)[1]
        sensors[:, :, 3:] *= 0.003
        return sensors.reshape(len(sensors), -1).T

    start, said = np.zeros((4, 1)), io.StringIO()
    bounds = [np.full((4, 1), -1.5), np.full((4, 1), 1.5)]
    options: dict[str, Any] = {"norm": SmoothL2(), "output": said}
    least_squares(start, residual, bounds, max_iter=1, check_derivatives=True, **options)
    assert "norm gradient matches" in said.getvalue()
    assert "norm Hessian matches" in said.getvalue()
    x, trace = least_squares(start, residual, bounds, max_iter=20, **options)
    assert x.shape == (4, 1)
    assert trace[-1].objective < 0.7 * trace[0].objective
    assert np.linalg.norm(residual(x)[-5:-2]) < np.linalg.norm(residual(start)[-5:-2])


def _regularizers(ratios: Sequence[float]) -> tuple[list[float], list[float]]:
    """Answer each trial so that actual over predicted reduction is as given.

    Returns:
        Regularisers of all trials, and of those that the method takes.
    """
    slope, state, trials = 0.1, {"x": 0.0, "r": 1e4}, []

    def jacobian(x: Array, r: Array) -> Array:
        state["x"], state["r"] = float(x[0, 0]), float(np.ravel(r)[0])
        return np.array([[slope]])

    def residual(x: Array) -> Array:
        dx, gradient = float(x[0, 0]) - state["x"], slope * state["r"]
        if dx == 0.0:
            return np.array([[state["r"]]])
        ratio = ratios[len(trials)] if len(trials) < len(ratios) else np.nan
        trials.append(abs(-gradient / dx - slope**2))
        predicted = -(gradient * dx + 0.5 * (slope * dx) ** 2)
        return np.array([[np.sqrt(state["r"] ** 2 - 2 * ratio * predicted)]])

    trace = least_squares(np.zeros(1), residual, jacobian=jacobian, verbose=0)[1]
    return trials[: len(ratios) + 1], [log.regularizer for log in trace[:-1]]


def test_the_regularizer_follows_the_ratio_of_reductions() -> None:
    """It grows after steps that are refused or poor, stays, and shrinks faster and faster after good ones."""
    ratios = [-1.0] * 30 + [0.9, 0.9, 0.5, 0.9, 0.2, 0.9, 0.9, 0.26, 0.74, 0.9]
    trials, taken = _regularizers(ratios)
    exponents = [-6 + 0.1 * i for i in range(29)]
    exponents += [-3.1, -3.2, -3.4, -3.4, -3.8, -3.7, -3.8, -4.0, -4.0, -4.0, -4.4][1:]
    assert trials[0] < 1e-12
    np.testing.assert_allclose(np.log10(trials[1:30]), exponents[:29], atol=1e-6)
    np.testing.assert_allclose(np.log10(taken), [-3.1, *exponents[29:38]], atol=1e-9)
    np.testing.assert_allclose(np.log10(trials[-1]), -4.4, atol=1e-6)


@pytest.mark.parametrize(("ratio", "taken"), [(0.0199, False), (0.0201, True), (np.nan, False)])
def test_a_step_is_taken_if_it_lowers_the_objective_by_a_hundredth_of_the_slope(ratio: float, taken: bool) -> None:
    """Without a regulariser, the model predicts half of the slope."""
    assert len(_regularizers([ratio])[1]) == int(taken)


def test_steps_without_a_number_are_refused() -> None:
    """The minimum lies where the residual ends, so that most trials are beyond."""

    def residual(x: Array) -> Array:
        with np.errstate(invalid="ignore"):
            return np.stack([np.sqrt(x[0]) + 1, x[1]])

    x, trace = least_squares(np.full(2, 0.3), residual, verbose=0)
    assert np.isfinite(x).all()
    assert 0 <= x[0] < 1e-3
    assert np.isfinite([log.objective for log in trace]).all()


def test_a_short_step_that_is_refused_ends_the_search() -> None:
    """At the minimum, differences leave a step that is all rounding: no larger regulariser is tried."""
    said, bounds = io.StringIO(), [np.array((-1.0, -1.0)), np.array((0.9, 1.9))]
    count = []
    least_squares(
        np.full(2, 0.5), lambda x: (count.append(x.shape[1]), rosenbrock(x))[1], bounds, output=said, verbose=1
    )
    assert "norm(dx) < tol" in said.getvalue()
    assert sum(count) < 20


class Slope(minimize.Norm):
    """The residual itself, without a minimum: each step lowers it by twice what the model predicts."""

    def value(self, r: Array) -> float:
        return float(r[0, 0])

    def grad_hess(self, r: Array, proj: Array) -> tuple[Array, Array]:
        return proj.T, proj.T @ proj


def test_goes_on_without_a_regularizer_for_thousands_of_iterations() -> None:
    x, trace = least_squares(np.zeros(1), lambda x: x, norm=Slope(), max_iter=3000, verbose=0)
    np.testing.assert_allclose(x, -3000.0, rtol=1e-6)
    assert len(trace) == 3001


@pytest.mark.parametrize("width", [2.0, 1e-7, 2.0**-52], ids=["wide", "narrow", "two numbers"])
def test_differences_stay_within_bounds(width: float) -> None:
    lower, upper = np.array([[1.0], [-5.0]]), np.array([[1.0 + width], [5.0]])

    def residual(x: Array) -> Array:
        assert (x >= lower).all()
        assert (x <= upper).all()
        return x.copy()

    for x in (lower, 0.5 * (lower + upper), upper):
        jacobian, count = minimize.jacobian_fd(residual, x, residual(x), 1e-6, 5, [lower, upper])
        np.testing.assert_allclose(jacobian, np.eye(2), rtol=1e-6, atol=1e-9)
        assert count == 7


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_derivatives_that_are_not_finite_are_errors(value: float) -> None:
    unit = np.eye(2)

    def bad(x: Array) -> Array:
        return np.where(unit[:, [1]] > 0, value, x)

    with np.errstate(all="ignore"):
        with pytest.raises(ValueError, match="User-provided Jacobian must contain finite"):
            minimize.check_jacobian(lambda x: x, np.ones((2, 1)), np.ones((2, 1)), value * unit, 1e-6, 0)
        with pytest.raises(ValueError, match="Finite-difference Jacobian must contain finite"):
            minimize.check_jacobian(bad, np.ones((2, 1)), np.ones((2, 1)), unit, 1e-6, 0)

    class Bad(minimize.Quadratic):
        def grad_hess(self, r: Array, proj: Array) -> tuple[Array, Array]:
            return proj.T @ r, np.full((proj.shape[1],) * 2, value)

    with pytest.raises(ValueError, match="norm Hessian must contain finite"):
        minimize.check_norm(np.ones((2, 1)), Bad(), 1e-6)


def test_the_trace_keeps_residuals_only_if_asked() -> None:
    told: list[int] = []

    def tell(trace: list[IterLog]) -> None:
        told.append(len(trace))

    _, short = least_squares(np.zeros(2), rosenbrock, max_iter=3, verbose=0, iter_callback=tell)
    assert told == [1, 2, 3, 4]
    assert all(log.residual is None and log.jacobian is None and log.step is None for log in short)
    _, full = least_squares(np.zeros(2), rosenbrock, max_iter=3, verbose=Verbosity.FULLITER, output=io.StringIO())
    for log, after in pairwise(full):
        assert log.residual is not None and log.jacobian is not None and log.step is not None
        np.testing.assert_array_equal(log.residual, rosenbrock(log.candidate))
        np.testing.assert_allclose(log.candidate + log.step, after.candidate, rtol=1e-15)
        np.testing.assert_allclose(log.objective - log.reduction, after.objective, rtol=1e-12)


# --- the reference


def _run(engine: Any, problem: Problem, exact: bool) -> tuple[int, Array, list[Any]]:
    """Number of points at which the residual was computed, the result, and the trace."""
    points: list[int] = []

    def residual(x: Array) -> Array:
        points.append(x.shape[1])
        return problem.residual(x)

    start, jacobian = np.array(problem.start, float), problem.jacobian if exact else None
    x, trace = engine.least_squares(start, residual, problem.limits(), jacobian, verbose=0)
    return sum(points), x, trace


@pytest.mark.skipif(reference is None, reason="the reference is not installed")
@pytest.mark.parametrize("exact", [True, False], ids=["jacobian", "differences"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_takes_the_steps_of_the_reference(name: str, exact: bool) -> None:
    """The same iterates with the same regularisers; the last step is taken here, and given up there."""
    problem = PROBLEMS[name]
    count, x, trace = _run(minimize, problem, exact)
    ref_count, ref_x, ref_trace = _run(reference, problem, exact)
    assert count <= ref_count
    if problem.bounds is None:
        assert count == ref_count
        assert len(trace) == len(ref_trace)
    for log, ref in zip(trace[:-1], ref_trace[:-1], strict=False):
        np.testing.assert_allclose(log.regularizer, ref.regularizer, rtol=1e-12)
        np.testing.assert_allclose(log.candidate, ref.candidate, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(log.objective, ref.objective, rtol=1e-4, atol=1e-10)
    np.testing.assert_allclose(x, ref_x, atol=2e-6)
    assert trace[-1].objective <= 0.5 * np.sum(problem.residual(ref_x[:, None]) ** 2) * (1 + 1e-10)


@pytest.mark.skipif(reference is None, reason="the reference is not installed")
@pytest.mark.parametrize("name", BOXES)
def test_takes_the_steps_of_the_reference_within_bounds(name: str) -> None:
    residual, jacobian, box, margin, count = BOXES[name]
    for start in _grid(np.array(box[0]), np.array(box[1]), margin, count):
        problem = Problem(residual, jacobian, start.tolist(), 0.0, None, box)
        evaluations, _, trace = _run(minimize, problem, True)
        ref_evaluations, _, ref_trace = _run(reference, problem, True)
        assert evaluations <= ref_evaluations
        for log, ref in zip(trace[:-1], ref_trace[:-1], strict=False):
            np.testing.assert_allclose(log.candidate, ref.candidate, atol=2e-6)
            np.testing.assert_allclose(log.regularizer, ref.regularizer, rtol=1e-12)
        np.testing.assert_allclose(trace[-1].candidate, ref_trace[-1].candidate, atol=1e-5)
