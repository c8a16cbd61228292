"""Spinning free bodies under the integrator implicitfast, by the rules of both versions of MuJoCo."""

import numpy as np
import pytest
from derivatives_compared import assert_same_jacobians
from later import later_states

import cardan
from cardan.enums import mjtEnableBit, mjtIntegrator

SPINNING = """<mujoco><option timestep="0.01" integrator="implicitfast" {fluid}/><worldbody>
<body pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .3" pos=".05 0 0" {shape}/>
<body pos=".1 .2 .3" euler="20 30 40"><geom type="capsule" size=".05 .1"/><site name="s"/></body></body>
<body pos="1 0 1"><freejoint/><geom type="box" size=".1 .2 .3" pos=".05 0 0" {shape}/><site name="t"/>
<body pos=".1 0 0"><joint axis="0 1 0" damping=".1"/><geom size=".1" pos=".2 0 0"/></body></body>
<body pos="3 0 1"><freejoint/><geom size=".1" {shape}/></body></worldbody>
<tendon><spatial damping="3"><site site="s"/><site site="t"/></spatial></tendon>
<actuator><general site="s" refsite="t" gear="1 2 3 4 5 6" biastype="affine" biasprm="0 0 -.3"/></actuator></mujoco>"""
VELOCITY = [0.1, 0.2, 0.3, 5.0, 4.0, 3.0, 1.0, 2.0, 3.0, -4.0, 5.0, 6.0, 2.0, 1.0, 0.0, -1.0, 9.0, 8.0, 7.0]
FLUIDS = {
    "vacuum": SPINNING.format(fluid="", shape=""),
    "box": SPINNING.format(fluid='density="300" viscosity=".1"', shape=""),
    "ellipsoid": SPINNING.format(fluid='density="300" viscosity=".1"', shape='fluidshape="ellipsoid"'),
}


def moving(fluid: str, compat: str) -> tuple[cardan.MjModel, cardan.MjData]:
    """A model, and its data with all bodies in motion."""
    m = cardan.MjModel.from_xml_string(FLUIDS[fluid], compat=compat)
    d = cardan.MjData(m)
    d.qvel[:] = VELOCITY
    return m, d


def stepped(fluid: str, compat: str, steps: int) -> np.ndarray:
    """Velocities after some steps."""
    m, d = moving(fluid, compat)
    for _ in range(steps):
        cardan.mj_step(m, d)
    return d.qvel.copy()


@pytest.mark.parametrize("fluid", FLUIDS)
def test_spin_as_in_4_0(fluid: str) -> None:
    """Bodies with and without a joint below them."""
    there = later_states(FLUIDS[fluid], 20, {"qvel": VELOCITY}, ("qvel",))["qvel"]
    np.testing.assert_allclose(stepped(fluid, "4.0", 20), there, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("fluid", FLUIDS)
def test_spin_as_in_3_1(fluid: str) -> None:
    """Bodies with and without a joint below them."""
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_string(FLUIDS[fluid])
    d = mujoco.MjData(m)
    d.qvel[:] = VELOCITY
    for _ in range(20):
        mujoco.mj_step(m, d)
    np.testing.assert_allclose(stepped(fluid, "3.1", 20), d.qvel, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("fluid", FLUIDS)
def test_equals_implicit(fluid: str) -> None:
    """In 4.0, the integrators implicitfast and implicit agree on standalone free bodies, but not on others."""
    m, d = moving(fluid, "4.0")
    cardan.mj_step(m, d)
    fast = d.qvel.copy()
    m, d = moving(fluid, "4.0")
    m.opt.integrator = mjtIntegrator.mjINT_IMPLICIT
    cardan.mj_step(m, d)
    np.testing.assert_allclose(fast[:6], d.qvel[:6], rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(fast[13:], d.qvel[13:], rtol=0.0, atol=1e-13)
    assert np.abs(fast[6:13] - d.qvel[6:13]).max() > 1e-3


def test_energy_does_not_grow() -> None:
    """A body that tumbles in vacuum loses energy in 4.0."""
    text = """<mujoco><option timestep="0.01" integrator="implicitfast" gravity="0 0 0"><flag energy="enable"/></option>
    <worldbody><body><freejoint/><geom type="box" size=".1 .2 .3"/></body></worldbody></mujoco>"""
    energies: dict[str, list[float]] = {"3.1": [], "4.0": []}
    for compat, energy in energies.items():
        m = cardan.MjModel.from_xml_string(text, compat=compat)
        d = cardan.MjData(m)
        d.qvel[3:] = 9.0, 0.5, 5.0
        for _ in range(200):
            cardan.mj_step(m, d)
            energy.append(d.energy[1])
    assert np.diff(energies["4.0"]).max() <= 1e-12
    assert np.diff(energies["3.1"]).max() > 1e-3


def test_inverse_of_discrete_time() -> None:
    """Inverse dynamics in discrete time restores the applied forces from the change of velocity."""
    m, d = moving("ellipsoid", "4.0")
    m.opt.enableflags |= mjtEnableBit.mjENBL_INVDISCRETE
    d.qfrc_applied[:] = np.linspace(-1.0, 1.0, m.nv)
    cardan.mj_forward(m, d)
    qpos, applied, actuated = d.qpos.copy(), d.qfrc_applied.copy(), d.qfrc_actuator.copy()
    cardan.mj_step(m, d)
    d.qacc[:] = (d.qvel - VELOCITY) / m.opt.timestep
    d.qpos[:], d.qvel[:] = qpos, VELOCITY
    cardan.mj_inverse(m, d)
    np.testing.assert_allclose(d.qfrc_inverse, applied + actuated, rtol=0.0, atol=1e-9)


def test_derivatives() -> None:
    """Exact derivatives of the step equal differences."""
    assert_same_jacobians(*moving("ellipsoid", "4.0"))
