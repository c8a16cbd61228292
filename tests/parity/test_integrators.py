"""Level 3 (step) and invariants of the integrators: trajectories, activations, energy, forward and inverse dynamics."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from marks import takes_minutes_interpreted
from models import EXAMPLES
from parity.fluid_models import BOX, ELLIPSOID, fluid_model
from reference import copy_state, model_from_reference

import cardan
from cardan.api import pipeline
from cardan.model import MjData

HUMANOID = EXAMPLES / "humanoid.xml"
INTEGRATORS = ("Euler", "RK4", "implicit", "implicitfast")

# a chain without losses: pendulums on hinges, a spring, no contacts
PENDULUM = """
<mujoco><option timestep=".0005" integrator="{integrator}"><flag energy="enable"/></option>
  <default><geom contype="0" conaffinity="0"/><joint type="hinge" axis="0 1 0"/></default>
  <worldbody>
    <body pos="0 0 2"><joint name="a"/><geom type="capsule" fromto="0 0 0 0 .1 -.5" size=".03"/>
      <body pos="0 .1 -.5"><joint name="b"/><joint axis="1 0 0" stiffness="2"/>
        <geom type="capsule" fromto="0 0 0 .2 0 -.3" size=".03"/>
        <body pos=".2 0 -.3"><joint name="c" axis="0 1 1"/><geom size=".06" pos=".1 .1 -.1"/></body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
MUSCLES = """
<mujoco><option integrator="{integrator}" timestep=".004"/>
  <worldbody><body><joint name="a" axis="0 1 0" damping=".1"/><geom size=".05" pos=".3 0 0"/>
    <body pos=".3 0 0"><joint name="b" axis="0 1 0" damping=".1"/><geom size=".05" pos=".2 0 0"/></body></body>
  </worldbody>
  <tendon><fixed name="t"><joint joint="a" coef=".1"/><joint joint="b" coef="-.05"/></fixed></tendon>
  <actuator><muscle tendon="t" lengthrange="-.3 .3" force="60"/>
    <muscle joint="a" lengthrange="-1 1" force="3"/></actuator>
</mujoco>
"""


def close(got, want, tolerance: float, name: str = "") -> None:
    scale = max(1.0, float(np.abs(want).max(initial=0)))
    np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * scale, err_msg=name)


def one_step_parity(rm: mujoco.MjModel, steps: int, seed: int = 0, tolerance: float = 1e-8) -> None:
    rd = mujoco.MjData(rm)
    m = model_from_reference(rm)
    d = MjData(m)
    rng = np.random.default_rng(seed)
    rd.qvel[:] = 0.3 * rng.normal(size=rm.nv)
    for _ in range(steps):
        rd.ctrl[:] = 0.5 * rng.normal(size=rm.nu)
        copy_state(rd, d)
        mujoco.mj_step(rm, rd)
        pipeline.mj_step(m, d)
        for name in ("time", "qpos", "qvel", "act"):
            close(getattr(d, name), getattr(rd, name), tolerance, name)


@takes_minutes_interpreted
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_humanoid(integrator: str) -> None:
    rm = mujoco.MjModel.from_xml_path(str(HUMANOID))
    rm.opt.integrator = getattr(mujoco.mjtIntegrator, "mjINT_" + integrator.upper())
    rm.opt.tolerance = 1e-12
    one_step_parity(rm, 1000)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_muscles(integrator: str) -> None:
    one_step_parity(mujoco.MjModel.from_xml_string(MUSCLES.format(integrator=integrator)), 300)


@pytest.mark.parametrize("flag", ("mjDSBL_EULERDAMP", "mjDSBL_PASSIVE", "mjDSBL_ACTUATION", "mjDSBL_CLAMPCTRL"))
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_flags(integrator: str, flag: str) -> None:
    rm = mujoco.MjModel.from_xml_string(fluid_model(BOX, "density", integrator))
    rm.opt.disableflags |= getattr(mujoco.mjtDisableBit, flag)
    one_step_parity(rm, 30)


def energy_drift(engine, model, data) -> float:
    """Largest change of the total energy over 10 s."""
    data.qpos[:] = [1.5, 0.5, 0.3, 0.2]
    energies = []
    for _ in range(500):
        engine.mj_step(model, data, 40)
        energies.append(data.energy[0] + data.energy[1])
    return float(np.ptp(energies))


@takes_minutes_interpreted
def test_energy_of_a_pendulum_under_runge_kutta() -> None:
    rm = mujoco.MjModel.from_xml_string(PENDULUM.format(integrator="RK4"))
    m = model_from_reference(rm)
    drift = energy_drift(cardan, m, MjData(m))
    assert drift < 1e-3
    # rounding alone makes the two differ in the sixth digit
    assert drift <= 1.00001 * energy_drift(mujoco, rm, mujoco.MjData(rm))


@takes_minutes_interpreted
def test_implicit_integrator_is_first_order_consistent() -> None:
    """Implicit steps converge to the same motion as Runge-Kutta steps when the time step shrinks."""
    ends = {}
    for integrator, step in (("RK4", 1e-3), ("implicit", 1e-3), ("implicit", 5e-4)):
        m = model_from_reference(mujoco.MjModel.from_xml_string(PENDULUM.format(integrator=integrator)))
        m.opt.timestep = step
        d = MjData(m)
        d.qpos[:] = [1.5, 0.5, 0.3, 0.2]
        cardan.mj_step(m, d, round(0.5 / step))
        ends[integrator, step] = np.array(d.qpos)
    exact = ends["RK4", 1e-3]
    coarse, fine = (np.abs(ends["implicit", h] - exact).max() for h in (1e-3, 5e-4))
    assert fine < 0.6 * coarse < 0.01


@pytest.mark.parametrize("invdiscrete", (False, True))
@pytest.mark.parametrize("integrator", ("Euler", "implicit", "implicitfast"))
@pytest.mark.parametrize("shape", (BOX, ELLIPSOID))
def test_inverse_undoes_forward(shape: str, integrator: str, invdiscrete: bool) -> None:
    """The applied force comes back from the acceleration, in continuous time and from the change of velocity."""
    rm = mujoco.MjModel.from_xml_string(fluid_model(shape, "density", integrator))
    if invdiscrete:
        rm.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_INVDISCRETE
    m = model_from_reference(rm)
    d = MjData(m)
    rng = np.random.default_rng(0)
    for _ in range(20):
        cardan.mj_resetData(m, d)
        cardan.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 0.3)
        for array in (d.qvel, d.act, d.ctrl, d.qfrc_applied, d.xfrc_applied):
            array[...] = rng.normal(size=array.shape)
        cardan.mj_forward(m, d)
        applied = d.qfrc_smooth + d.qfrc_bias - d.qfrc_passive
        qpos, qvel, act, acc = (np.array(x) for x in (d.qpos, d.qvel, d.act, d.qacc))
        if invdiscrete:
            cardan.mj_step(m, d)
            acc = (d.qvel - qvel) / m.opt.timestep
            d.qpos[:], d.qvel[:], d.act[:] = qpos, qvel, act
        d.qacc[:] = acc
        cardan.mj_inverse(m, d)
        close(d.qfrc_inverse, applied, 1e-8)
        np.testing.assert_array_equal(d.qacc, acc)
