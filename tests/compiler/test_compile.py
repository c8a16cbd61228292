"""What the compiler does where no reference can be asked, or where the reference departs from the specification."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import cardan
from cardan.api.loading import load_string, mj_setConst
from cardan.model.mjdata import MjData


def test_inertial_frame_takes_every_orientation_format() -> None:
    """The specification lists all five formats; the reference reads only quat there."""
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 2 2.5" euler="90 0 0"/>'
    turned = load_string(f"<mujoco><worldbody><body>{inertial}</body></worldbody></mujoco>")
    assert np.allclose(turned.body_iquat[1], [np.sqrt(0.5), np.sqrt(0.5), 0, 0])


def test_frames_turn_light_directions() -> None:
    """A frame transforms everything inside; the reference leaves the direction of lights as it is."""
    light = '<mujoco><worldbody><frame euler="90 0 0"><light dir="0 0 -1"/></frame></worldbody></mujoco>'
    assert np.allclose(load_string(light).light_dir[0], [0, 1, 0], atol=1e-12)


def test_singular_inertia_compiles() -> None:
    """Two hinges on one axis: infinite inverse weight is bounded, not an error."""
    twice = '<mujoco><worldbody><body><joint/><joint/><geom size=".1"/></body></worldbody></mujoco>'
    weights = load_string(twice).dof_invweight0
    assert np.all(np.isfinite(weights))
    assert weights.max() > 1e12


def test_set_const_follows_a_change() -> None:
    m = load_string('<mujoco><worldbody><body><joint/><geom size=".1" pos="1 0 0"/></body></worldbody></mujoco>')
    before = m.dof_M0[0]
    m.body_mass[1] *= 2
    m.body_inertia[1] *= 2
    mj_setConst(m, MjData(m))
    assert m.dof_M0[0] == pytest.approx(2 * before)
    assert m.body_subtreemass[0] == pytest.approx(m.body_mass[1])
    assert m.dof_invweight0[0] == pytest.approx(0.5 / before)


SLIDERS = """<mujoco><worldbody><body><joint type="slide"/><joint type="slide" axis="0 1 0"/><geom size=".1"/></body>
 <body pos="1 0 0"><joint type="slide" axis="0 0 1"/><geom size=".1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("mass", [2.0, 1e-16, -1.0, 0.0])
def test_constants_of_bodies_without_mass(mass: float) -> None:
    weights = {}
    for engine in (mujoco, cardan):
        m = engine.MjModel.from_xml_string(SLIDERS)
        m.body_mass[1] = mass
        if mass == 0.0:
            with pytest.raises(engine.FatalError, match="moving body 1 has"):
                engine.mj_setConst(m, engine.MjData(m))
            continue
        engine.mj_setConst(m, engine.MjData(m))
        weights[engine] = [*m.dof_invweight0, *m.body_invweight0.ravel()]
    if weights:
        np.testing.assert_allclose(weights[cardan], weights[mujoco], rtol=1e-12)


@pytest.mark.parametrize("zero", ['kv="0"', 'dampratio="0"'])
@pytest.mark.parametrize("tag", ["position", "intvelocity"])
def test_a_damping_of_0_wins_over_the_class(tag: str, zero: str) -> None:
    """In the reference the class's damping stays (docs/differences.md)."""
    actrange = 'actrange="0 1"' if tag == "intvelocity" else ""
    m = cardan.MjModel.from_xml_string(f"""
        <mujoco><default><{tag} kp="500" kv="10"/><default class="gripper"><{tag} kp="200" {zero}/></default></default>
        <worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody>
        <actuator><{tag} joint="j" class="gripper" {actrange}/></actuator></mujoco>""")
    assert [repr(float(number)) for number in m.actuator_biasprm[0, :3]] == ["0.0", "-200.0", "0.0"]
