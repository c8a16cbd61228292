"""Fluid forces on small ellipsoids, by the rules of both versions of MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest
from derivatives_compared import assert_same_jacobians
from later import later_run

import cardan

LEAF = """<mujoco><option density="1.2" viscosity="1e-5" integrator="implicit" gravity="0 0 0"/>
<worldbody><body><freejoint/>
<geom type="box" size=".0125 .005 .0005" fluidshape="ellipsoid"/></body></worldbody></mujoco>"""
DIRECTIONS = [1.0, 0.5, 0.2], [0.1, 0.0, 1.0], [1.0, 1.0, 1e-3]
VELOCITIES = [np.array(direction) * speed for speed in (1.0, 0.1, 1e-2, 1e-6) for direction in DIRECTIONS]
SCRIPT = """
m = mujoco.MjModel.from_xml_string(xml)
out = []
for velocity in velocities:
    d = mujoco.MjData(m)
    d.qvel[:3], d.qvel[3:] = velocity, 0.3
    mujoco.mj_step(m, d)
    out.append((d.qfrc_fluid.copy(), d.qDeriv.copy()))
"""


def leaf(compat: str, velocity: np.ndarray) -> cardan.MjData:
    """Data after a step that began with a velocity."""
    m = cardan.MjModel.from_xml_string(LEAF, compat=compat)
    d = cardan.MjData(m)
    d.qvel[:3], d.qvel[3:] = velocity, 0.3
    cardan.mj_step(m, d)
    return d


def assert_close(found: np.ndarray, expected: np.ndarray) -> None:
    """Assert that arrays agree relative to the largest number."""
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())


def test_forces_as_in_4_0() -> None:
    """Forces and their derivatives at all speeds."""
    there = later_run(SCRIPT, xml=LEAF, velocities=VELOCITIES)
    for velocity, (force, derivative) in zip(VELOCITIES, there, strict=True):
        d = leaf("4.0", velocity)
        assert_close(d.qfrc_fluid, force)
        assert_close(d.qDeriv, derivative)


def test_forces_as_in_3_1() -> None:
    """Forces and their derivatives at all speeds."""
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_string(LEAF)
    for velocity in VELOCITIES[:9]:  # the reference bounds derivatives at 1e-6 m/s in still another way
        there = mujoco.MjData(m)
        there.qvel[:3], there.qvel[3:] = velocity, 0.3
        mujoco.mj_step(m, there)
        d = leaf("3.1", velocity)
        assert_close(d.qfrc_fluid, there.qfrc_fluid)
        assert_close(d.qDeriv, there.qDeriv)


def test_forces_scale() -> None:
    """Without viscosity and rotation, forces are quadratic in speed in 4.0, but not in 3.1."""
    text = LEAF.replace('viscosity="1e-5"', "")
    forces: dict[str, list[np.ndarray]] = {"3.1": [], "4.0": []}
    for compat, found in forces.items():
        m = cardan.MjModel.from_xml_string(text, compat=compat)
        for speed in (1.0, 1e-3):
            d = cardan.MjData(m)
            d.qvel[:3] = 0.1 * speed, 0.0, speed
            cardan.mj_forward(m, d)
            found.append(d.qfrc_fluid[:3] / speed**2)
    assert_close(forces["4.0"][1], forces["4.0"][0])
    assert np.abs(forces["3.1"][1] - forces["3.1"][0]).max() > 1e-3 * np.abs(forces["3.1"][0]).max()


def test_derivatives() -> None:
    """Exact derivatives of the step equal differences."""
    m = cardan.MjModel.from_xml_string(LEAF.replace('density="1.2"', 'density="1200"'), compat="4.0")
    d = cardan.MjData(m)
    d.qvel[:] = 0.1, 0.05, 0.02, 1.0, 2.0, 3.0
    assert_same_jacobians(m, d)
