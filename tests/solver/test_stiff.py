"""Contacts of a body that turns about its centre of mass: forces of 1e16 N beside others of 10 N, Newton's method."""

from __future__ import annotations

import numpy as np
import pytest

import cardan
from cardan.solver.primal import STIFF

TOLERANCE = 1e-8


def turntable(rng: np.random.Generator, cone: str) -> str:
    """MJCF of a turntable that stands in a box and carries an arm, which lies among balls at random places."""
    near, far = rng.uniform(-0.12, 0.12, (2, 6, 3)) + np.array([[[0.35, 0.0, 0.0]], [[0.75, 0.0, 0.0]]])
    balls = "".join(f'<geom size=".05" pos="{x} {y} {z}"/>' for x, y, z in [*near, *far])
    arm = '<geom type="capsule" fromto="0 0 0 .3 0 0" size=".08"/>'
    return f"""
        <mujoco>
          <option gravity="1 2 -9.81" cone="{cone}"/>
          <worldbody>
            <geom type="box" size=".1 .1 .1" pos="0 0 -.15"/>{balls}
            <body>
              <joint axis="0 0 1" damping="1"/><geom name="table" type="box" size=".1 .1 .1"/>
              <body pos=".2 0 0"><joint axis="0 1 0"/>{arm}
                <body pos=".35 0 0"><joint axis="0 1 1"/>{arm}</body>
              </body>
            </body>
          </worldbody>
        </mujoco>"""


def solved(m: cardan.MjModel, qvel: np.ndarray) -> cardan.MjData:
    """Forward dynamics at qpos0."""
    d = cardan.MjData(m)
    d.qvel[1:] = qvel
    cardan.mj_forward(m, d)
    return d


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_other_rows_are_solved_beside_stiff_ones(cone):
    """The arm moves as if the turntable, which friction holds, were held by a huge inertia and touched nothing."""
    rng = np.random.default_rng(0)
    for _ in range(12):
        m = cardan.MjModel.from_xml_string(turntable(rng, cone))
        qvel = rng.normal(size=2)
        found = solved(m, qvel)
        assert found.efc_D.max() >= STIFF
        m.dof_armature[0] = 1e12
        table = m.geom("table").id
        m.geom_contype[table] = m.geom_conaffinity[table] = 0
        expected = solved(m, qvel)
        assert expected.efc_D.max() < STIFF
        scale = np.abs(expected.qacc).max()
        np.testing.assert_allclose(found.qacc, expected.qacc, rtol=0, atol=TOLERANCE * scale)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_forces_have_the_digits_of_the_acceleration(cone):
    """J' efc_force would be wrong by up to 1.4 times the largest force here."""
    rng = np.random.default_rng(1)
    for _ in range(12):
        m = cardan.MjModel.from_xml_string(turntable(rng, cone))
        d = solved(m, rng.normal(size=2))
        inertia = np.zeros((m.nv, m.nv))
        cardan.mj_fullM(m, inertia, d.qM)
        expected = inertia @ (d.qacc - d.qacc_smooth)
        np.testing.assert_allclose(d.qfrc_constraint, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_a_step_ends_at_rest_where_friction_holds_everything():
    """A turntable under gravity in a box: the rounding of forces of 1e16 N gives it no velocity."""
    m = cardan.MjModel.from_xml_string("""
        <mujoco>
          <worldbody>
            <geom type="box" size=".1 .1 .1" pos=".01 .02 -.15" euler="10 20 30"/>
            <body euler="5 6 7">
              <joint axis="0 0 1" damping="1e-3"/><geom type="box" size=".1 .1 .1" mass="1e-2"/>
            </body>
          </worldbody>
        </mujoco>""")
    d = cardan.MjData(m)
    cardan.mj_step(m, d, 100)
    assert d.ncon > 0
    assert abs(d.qvel[0]) < 1e-12
