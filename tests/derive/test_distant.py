"""Contacts at a distance in derivatives: against differences of what is differentiated, what may not change, use."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

import cardan
from cardan.derive.jacobian import step_jacobian
from cardan.derive.linearisation import linearisation
from cardan.enums import mjtCone, mjtIntegrator

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "smooth_push.py"

SCENE = """<mujoco><option timestep=".005" tolerance="0" iterations="100"/><worldbody>
<geom type="plane" size="1 1 .1"/><body pos="0 0 .3"><freejoint/><geom size=".1" mass="1"/></body>
<body pos=".3 0 .3"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
</worldbody></mujoco>"""
REACH = 0.5


def scene(cone: mjtCone) -> tuple[cardan.MjModel, cardan.MjData]:
    """Two bodies that touch nothing."""
    m = cardan.MjModel.from_xml_string(SCENE)
    m.opt.cone = cone
    d = cardan.MjData(m)
    d.qvel[:] = 0.3 * np.random.default_rng(1).standard_normal(m.nv)
    return m, d


def jacobian(m: cardan.MjModel, d: cardan.MjData, reach: float) -> np.ndarray:
    """The Jacobian of a step, with contacts up to a distance."""
    with step_jacobian(m, False, reach) as found:
        return found.compute(d, True, True).copy()


@pytest.mark.parametrize("cone", list(mjtCone.__members__.values()), ids=lambda cone: cone.name[7:])
def test_accelerations_against_differences(cone: mjtCone) -> None:
    m, d = scene(cone)
    with linearisation(m, "forward", REACH) as course:

        def accelerations(direction: int, size: float) -> np.ndarray:
            w = cardan.MjData(m)
            w.qpos[:], w.qvel[:] = d.qpos, d.qvel
            along = np.eye(m.nv)[direction % m.nv]
            if direction < m.nv:
                cardan.mj_integratePos(m, w.qpos, along, size)
            else:
                w.qvel += size * along
            course.start(w)
            return course.d.qacc.copy()

        found = cardan.derivatives(m, d, "qacc", ("qpos", "qvel"), "forward", "smooth", REACH)
        exact = np.hstack([found["qacc", "qpos"], found["qacc", "qvel"]])
        rows = [(accelerations(k, 1e-6) - accelerations(k, -1e-6)) / 2e-6 for k in range(2 * m.nv)]
        assert course.d.ncon == 6
        np.testing.assert_allclose(exact, np.array(rows).T, atol=2e-6 * np.abs(exact).max())


@pytest.mark.parametrize("integrator", ["EULER", "RK4", "IMPLICIT", "IMPLICITFAST"])
def test_distance_counts_before_touch_and_nothing_changes_in_contact(integrator: str) -> None:
    m = cardan.MjModel.from_xml_string(
        """<mujoco><option timestep=".005"/><worldbody><geom type="plane" size="1 1 .1"/>
        <body pos="0 0 .3"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""
    )
    m.opt.integrator = mjtIntegrator.__members__[f"mjINT_{integrator}"]
    d = cardan.MjData(m)
    d.qvel[2] = -1.0
    far = [jacobian(m, d, reach) for reach in (0.0, REACH)]
    assert far[0][8, 2] == 0.0
    assert far[1][8, 2] < -0.01  # the nearer, the more upwards
    d.qpos[2] = 0.0995
    near = [jacobian(m, d, reach) for reach in (0.0, REACH)]
    np.testing.assert_array_equal(near[0], near[1])


def test_others_nearby_change_little_in_contact() -> None:
    # a box rests; a ball stands beside it: the box's derivatives by itself change by what a contact's hundredth does
    m = cardan.MjModel.from_xml_string(
        """<mujoco><option timestep=".005"/><worldbody><geom type="plane" size="1 1 .1"/>
        <body pos="0 0 .0999"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
        <body pos=".25 0 .0999"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""
    )
    d = cardan.MjData(m)
    exact, smooth = (jacobian(m, d, reach)[12:18] for reach in (0.0, 0.1))
    assert 0.0 < np.abs(smooth - exact).max() < 0.05 * np.abs(exact).max()


def test_the_data_stay_as_they_are() -> None:
    m, d = scene(mjtCone.mjCONE_ELLIPTIC)
    e = cardan.MjData(m)
    e.qvel[:] = d.qvel
    A = np.zeros((2 * m.nv, 2 * m.nv))
    for _ in range(3):
        cardan.mjd_transition(m, d, A, None, None, None, contacts="smooth")
        cardan.mj_step(m, d)
        cardan.mj_step(m, e)
    np.testing.assert_array_equal(d.qpos, e.qpos)
    plain, smooth = (cardan.record(m, x, 5, None, kind) for x, kind in ((d, "exact"), (e, "smooth")))
    np.testing.assert_array_equal(plain.qpos, smooth.qpos)


def test_explicit_and_excluded_pairs() -> None:
    m = cardan.MjModel.from_xml_string(
        """<mujoco><option gravity="0 0 0"/><worldbody>
        <body name="a"><joint type="slide" axis="1 0 0"/><geom name="a" size=".1"/></body>
        <body name="b" pos=".4 0 0"><joint type="slide" axis="1 0 0"/><geom name="b" size=".1"/></body>
        <body name="c" pos=".8 0 0"><joint type="slide" axis="1 0 0"/><geom name="c" size=".1" contype="0"
        conaffinity="0"/></body></worldbody>
        <contact><exclude body1="a" body2="b"/><pair geom1="b" geom2="c"/></contact></mujoco>"""
    )
    found = cardan.derivatives(m, cardan.MjData(m), "qvel", "qpos", contacts="smooth", reach=0.5)["qvel", "qpos"]
    assert found[0, 1] == 0.0  # excluded
    assert found[2, 1] > 1e-5  # nearer: pushed away


def test_gradients_find_a_ball_that_is_not_touched() -> None:
    learn = runpy.run_path(str(EXAMPLE))["learn"]
    misses, controls, first = learn("exact", rounds=2)
    assert first == 0.0
    assert not controls.any()
    misses, controls, first = learn("smooth", rounds=40)
    assert first > 1e-4
    assert misses[0] == 0.5
    assert misses[-1] < 0.1


def test_bad_input() -> None:
    m, d = scene(mjtCone.mjCONE_ELLIPTIC)
    A = np.zeros((2 * m.nv, 2 * m.nv))
    with pytest.raises(ValueError, match='"exact" or "smooth", not \'soft\''):
        cardan.mjd_transition(m, d, A, None, None, None, contacts="soft")
    with pytest.raises(ValueError, match="reach is for"):
        cardan.derivatives(m, d, reach=0.1)
    with pytest.raises(ValueError, match="positive distance"):
        cardan.record(m, d, 1, None, "smooth", -1.0)
