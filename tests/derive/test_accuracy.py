"""A share of the table of accuracy: models under all integrators, cones and solvers, against sure differences."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.derivative_accuracy import SETTINGS, exact_jacobian, judge, row_of, with_setting
from benchmarks.differences import Stepper, difference
from models import model_path

import cardan

# an arm that touches nothing is called as in the benchmark
MODELS = {"humanoid": "humanoid", "arm26": "muscle_arm", "newton_cradle": "cradle", "ant": "ant"}


@pytest.mark.parametrize("name", MODELS)
def test_a_state_of_each_setting(name: str) -> None:
    counts, beyond = row_of(name, len(SETTINGS), seed=0, columns=3, path=model_path(MODELS[name]))
    assert not beyond
    columns = sum(counts[kind] for kind in ("compared", "changing", "cornered", "unconverged", "unresolved"))
    assert columns == 3 * len(SETTINGS)
    assert counts["compared"] + counts["cornered"] > 0.75 * columns
    assert counts["contacts"] > 0 or name == "arm26"


def settled() -> cardan.MjData:
    """A box that slides on the floor."""
    m = cardan.MjModel.from_xml_string(
        """<mujoco><worldbody><geom type="plane" size="5 5 1"/><body pos="0 0 .0995"><freejoint/>
        <geom type="box" size=".2 .15 .1" mass="2"/></body></worldbody></mujoco>"""
    )
    d = cardan.MjData(with_setting(m, 5))
    d.qvel[:2] = 0.7, 0.2
    return d


def test_wrong_derivatives_are_noticed() -> None:
    """A column that is off by 3e-6 is beyond; one of differences across a change is not compared."""
    d = settled()
    exact = exact_jacobian(d)
    floors = {"state": 1e-9, "sensors": 1e-9}
    found = difference(Stepper(d), 6, floors)
    column = {"state": exact[:, 6], "sensors": np.zeros(0)}
    assert judge(column, found, floors)[0] == "compared"
    column["state"] = exact[:, 6] + 3e-6 * np.abs(exact[:, 6]).max() * np.eye(len(exact))[2]
    assert judge(column, found, floors)[0] == "beyond"
    d.qpos[2] = 0.1  # the bottom just touches: a difference in z crosses the surface
    assert judge(column, difference(Stepper(d), 2, floors), floors)[0] == "changing"


def test_corners_have_the_derivative_of_a_side() -> None:
    """A muscle whose activation equals its control: forward and backward differences disagree, and ours is one."""
    m = cardan.MjModel.from_xml_string(
        """<mujoco><default><geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/><joint axis="0 1 0"/></default>
        <worldbody><body><joint name="shoulder"/><geom/><body pos=".3 0 0"><joint name="elbow"/><geom/></body></body>
        </worldbody><actuator><muscle joint="shoulder" lengthrange="-1 1" force="20"/>
        <muscle joint="elbow" lengthrange="-1 1" force="20"/></actuator></mujoco>"""
    )
    d = cardan.MjData(with_setting(m, 2))
    d.ctrl[:] = d.act[:] = 0.3
    exact = exact_jacobian(d)
    floors = {"state": 1e-9, "sensors": 1e-9}
    found = difference(Stepper(d), 2 * m.nv, floors)
    assert found.corners == ("actuators",)
    assert found.fan["state"].is_cornered(1e-9)
    assert judge({"state": exact[:, 2 * m.nv], "sensors": np.zeros(0)}, found, floors)[0] == "cornered"
