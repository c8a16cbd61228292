"""Length ranges of actuators on damped joints, by the rules of both versions of MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest
from later import later_run

import cardan

DAMPED = """
<mujoco><compiler><lengthrange inttotal=".45" interval="{interval}" tolrange="1" timestep="{timestep}"/></compiler>
<worldbody><body><joint name="a" range="-60 60" damping="2"/><geom type="capsule" fromto="0 0 0 .3 0 .1" size=".02"/>
<body pos=".3 0 .1"><joint name="b" axis="0 1 0" range="-60 60" damping=".5"/><geom size=".05" pos=".1 0 0"/></body>
</body></worldbody><actuator><muscle joint="a"/><muscle joint="b"/></actuator></mujoco>
"""


INTERVALS = 0.02, 0.055, 0.2


@pytest.mark.parametrize("timestep", [0.01, 0.002])
@pytest.mark.parametrize("interval", INTERVALS)
def test_unsettled_ranges(timestep: float, interval: float) -> None:
    """In MuJoCo 4.0, the search has no damping at all; in 3.1, integrators damp velocities."""
    text = DAMPED.format(timestep=timestep, interval=interval)
    there = later_run("out = np.array(mujoco.MjModel.from_xml_string(xml).actuator_lengthrange)", xml=text)
    here = cardan.MjModel.from_xml_string(text, compat="4.0").actuator_lengthrange
    np.testing.assert_allclose(here, there, rtol=0.0, atol=1e-12)
    assert np.abs(cardan.MjModel.from_xml_string(text).actuator_lengthrange - here).max() > 1e-6


@pytest.mark.parametrize("interval", INTERVALS)
def test_unsettled_ranges_of_3_1(interval: float) -> None:
    """Lengths are measured before a step, if the time after it is in the interval."""
    mujoco = pytest.importorskip("mujoco")
    text = DAMPED.format(timestep=0.01, interval=interval)
    here = cardan.MjModel.from_xml_string(text).actuator_lengthrange
    there = mujoco.MjModel.from_xml_string(text).actuator_lengthrange
    np.testing.assert_allclose(here, there, rtol=0.0, atol=1e-12)
