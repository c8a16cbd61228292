"""Tendon paths and transmissions without a reference: shortest paths, mirrors, and moments by finite differences."""

from __future__ import annotations

from math import atan2, cos, pi, sin

import numpy as np
import pytest
from parity.spatial_models import PATHS, TRANSMISSIONS

import cardan
from cardan.dynamics.wrapping import NEARER_SIDE, NO_SIDE, TOUCH_TOLERANCE, wrap
from cardan.jit import jit_enabled

RADIUS = 0.5
NOWHERE = (0.0, 0.0, 0.0)


def path_length(p: np.ndarray, q: np.ndarray, result: tuple) -> float:
    """Length of a path from the result of `wrap`."""
    length, first, second = result
    if length < 0:
        return float(np.linalg.norm(p - q))
    return float(np.linalg.norm(p - first) + length + np.linalg.norm(q - second))


def outside(rng: np.random.Generator) -> np.ndarray:
    """A random point outside of the obstacle."""
    while True:
        point = rng.uniform(-1.5, 1.5, 3)
        if np.hypot(point[0], point[1]) > RADIUS:
            return point


def polygon_around(p: np.ndarray, q: np.ndarray) -> float:
    """Length of the shortest path in the plane around the circle: tangents and arc, found by angles alone."""
    sweep = abs((atan2(q[1], q[0]) - atan2(p[1], p[0]) + pi) % (2 * pi) - pi)
    dp, dq = np.linalg.norm(p), np.linalg.norm(q)
    angle = sweep - np.arccos(RADIUS / dp) - np.arccos(RADIUS / dq)
    if angle < 0:
        return float(np.linalg.norm(p - q))
    return float(np.sqrt(dp**2 - RADIUS**2) + np.sqrt(dq**2 - RADIUS**2) + RADIUS * angle)


@pytest.mark.parametrize("seed", range(50))
def test_shortest_path_around_a_sphere(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, q = outside(rng), outside(rng)
    result = wrap(tuple(p), tuple(q), NOWHERE, NO_SIDE, RADIUS, False)
    # the plane of both points, with p along x
    x = p / np.linalg.norm(p)
    y = q - x * (x @ q)
    y /= np.linalg.norm(y)
    flat_p, flat_q = np.array([np.linalg.norm(p), 0.0]), np.array([x @ q, y @ q])
    assert path_length(p, q, result) == pytest.approx(polygon_around(flat_p, flat_q), abs=1e-12)


@pytest.mark.parametrize("cylinder", (False, True))
@pytest.mark.parametrize("seed", range(30))
def test_paths_are_tangent_and_symmetric(seed: int, cylinder: bool) -> None:
    rng = np.random.default_rng(seed)
    p, q, side = outside(rng), outside(rng), outside(rng)
    result = wrap(tuple(p), tuple(q), tuple(side), NEARER_SIDE, RADIUS, cylinder)
    back = wrap(tuple(q), tuple(p), tuple(side), NEARER_SIDE, RADIUS, cylinder)
    assert path_length(p, q, result) == pytest.approx(path_length(q, p, back), abs=1e-12)
    if result[0] > 0:
        for end, touch in ((p, result[1]), (q, result[2])):
            normal = np.array(touch) * ((1, 1, 0) if cylinder else (1, 1, 1))
            assert np.linalg.norm(normal) == pytest.approx(RADIUS)
            assert (end - touch) @ normal == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_paths_through_are_mirrored(seed: int) -> None:
    """Where the path touches the circle from outside, both parts make the same angle with the normal.

    The search stops when the angles at the centre fit to this tolerance, as in the reference.
    """
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * pi)
    p = np.array([cos(angle), sin(angle), 0.0]) * rng.uniform(0.6, 2)
    q = np.array([cos(angle + 0.8), sin(angle + 0.8), 0.0]) * rng.uniform(0.7, 2)
    length, touch, _ = wrap(tuple(p), tuple(q), NOWHERE, NEARER_SIDE, RADIUS, False)
    if length < 0:
        return
    normal = np.array(touch) / RADIUS
    angles = [(end - touch) @ normal / np.linalg.norm(end - touch) for end in (p, q)]
    assert angles[0] == pytest.approx(angles[1], abs=TOUCH_TOLERANCE)


def test_no_wrapping_from_inside() -> None:
    assert wrap((0.1, 0.0, 0.0), (2.0, 0.0, 0.0), NOWHERE, NO_SIDE, RADIUS, False)[0] < 0
    assert wrap((0.0, 0.0, 0.0), (2.0, 0.0, 0.0), NOWHERE, NO_SIDE, RADIUS, False)[0] < 0
    assert wrap((2.0, 0.0, 0.0), (-2.0, 0.1, 0.0), NOWHERE, NO_SIDE, 0.0, False)[0] < 0


def differences(m: cardan.MjModel, field: str) -> tuple[np.ndarray, np.ndarray]:
    """Central differences of a field of lengths by all dofs at a random configuration, and the data there."""
    rng = np.random.default_rng(1)
    d = cardan.MjData(m)
    cardan.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 0.3)
    start, h = d.qpos.copy(), 1e-6
    result = np.zeros((len(getattr(d, field)), m.nv))
    for dof in range(m.nv):
        for sign in (1, -1):
            d.qpos[:] = start
            cardan.mj_integratePos(m, d.qpos, np.eye(m.nv)[dof], sign * h)
            cardan.mj_fwdPosition(m, d)
            result[:, dof] += sign * getattr(d, field) / (2 * h)
    d.qpos[:] = start
    cardan.mj_fwdPosition(m, d)
    return result, d


def test_tendon_moments_by_differences() -> None:
    m = cardan.MjModel.from_xml_string(PATHS.format(jacobian="dense"))
    want, d = differences(m, "ten_length")
    np.testing.assert_allclose(d.ten_J, want, atol=1e-8)


def test_crank_moments_by_differences() -> None:
    m = cardan.MjModel.from_xml_string(TRANSMISSIONS)
    want, d = differences(m, "actuator_length")
    cranks = m.actuator_trntype == cardan.mjtTrn.mjTRN_SLIDERCRANK
    np.testing.assert_allclose(d.actuator_moment[cranks], want[cranks], atol=1e-6)


@pytest.mark.skipif(not jit_enabled, reason="compares storages of compiled stages")
def test_storages_agree() -> None:
    dense = cardan.MjModel.from_xml_string(PATHS.format(jacobian="dense"))
    sparse = cardan.MjModel.from_xml_string(PATHS.format(jacobian="sparse"))
    results = []
    for m in (dense, sparse):
        d = cardan.MjData(m)
        d.qvel[:] = np.linspace(-1, 1, m.nv)
        d.ctrl[:] = 0.3
        cardan.mj_step(m, d, 20)
        results.append(d.qpos.copy())
    np.testing.assert_allclose(results[0], results[1], atol=1e-10)


GRAZING_PATH = """
<mujoco><worldbody><body pos=".1 .2 .3"><joint type="ball"/><geom size=".01" mass="1"/>
  <geom name="obstacle" type="{}" size=".0025 .005" quat=".707 0 -.707 0" mass="0"/>
  <body quat=".707 0 -.707 0"><geom size=".001"/>
    <site name="first" pos=".015 .0025 0"/><site name="last" pos="-.002 .0025 0"/>
  </body>
</body></worldbody><tendon><spatial>
  <site site="first"/><geom geom="obstacle" {}/><site site="last"/>
</spatial></tendon></mujoco>
"""


@pytest.mark.parametrize("kind", ["sphere", "cylinder"])
@pytest.mark.parametrize("side", ["", 'sidesite="last"'], ids=["free", "side"])
def test_segments_that_touch_the_obstacle_stay_straight(kind: str, side: str) -> None:
    """Whether rounding makes such a segment pass the obstacle or pierce it, its length is the same."""
    m = cardan.MjModel.from_xml_string(GRAZING_PATH.format(kind, side))
    d = cardan.MjData(m)
    rng = np.random.default_rng(0)
    wrapped = 0
    number = 2000 if jit_enabled else 100
    for _ in range(number):
        d.qpos[:] = rng.standard_normal(4)
        cardan.mj_fwdPosition(m, d)
        assert d.ten_length[0] == pytest.approx(0.017, abs=1e-12)
        wrapped += d.ten_wrapnum[0] == 4
    assert 0 < wrapped < number
