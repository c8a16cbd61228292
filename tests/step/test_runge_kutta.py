"""The Runge-Kutta method with rotations, by the rules of both versions of MuJoCo."""

import numpy as np
import pytest
from later import later_states

import cardan

SPINNING = """<mujoco><option integrator="RK4" timestep="0.01"/><worldbody><body pos="0 0 1"><freejoint/>
<geom type="box" size=".1 .2 .3"/>
<body pos="0.3 0 0"><joint type="ball" pos="-.1 0 0"/><geom type="capsule" size=".05 .2"/>
<body pos=".2 .1 0"><joint axis="0 1 0"/><geom size=".1"/></body></body></body></worldbody></mujoco>"""
VELOCITY = [0.1, 0.2, 0.3, 5.0, 4.0, 3.0, -2.0, 6.0, 1.0, 2.0]


def stepped(compat: str, steps: int, velocity: list[float] = VELOCITY, timestep: float = 0.01) -> np.ndarray:
    """The configuration after some steps."""
    m = cardan.MjModel.from_xml_string(SPINNING, compat=compat)
    m.opt.timestep = timestep
    d = cardan.MjData(m)
    d.qvel[:] = velocity
    for _ in range(steps):
        cardan.mj_step(m, d)
    return d.qpos.copy()


def test_rotations_as_in_4_0() -> None:
    """Fast spins of free and ball joints."""
    there = later_states(SPINNING, 20, {"qvel": VELOCITY}, ("qpos",))["qpos"]
    np.testing.assert_allclose(stepped("4.0", 20), there, rtol=0.0, atol=1e-12)


def test_rotations_as_in_3_1() -> None:
    """Fast spins of free and ball joints."""
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_string(SPINNING)
    d = mujoco.MjData(m)
    d.qvel[:] = VELOCITY
    for _ in range(20):
        mujoco.mj_step(m, d)
    np.testing.assert_allclose(stepped("3.1", 20), d.qpos, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(("compat", "order"), [("3.1", 2), ("4.0", 4)])
def test_order(compat: str, order: int) -> None:
    """The error falls with the power of the step that the method promises: for rotations, 4 in 4.0 only."""
    exact = stepped("4.0", 256, timestep=0.1 / 256)
    coarse, fine = (np.abs(stepped(compat, n, timestep=0.1 / n) - exact).max() for n in (8, 16))
    assert coarse / fine > 2 ** (order - 0.5)
    if compat == "3.1":
        assert coarse / fine < 2 ** (order + 1.5)
