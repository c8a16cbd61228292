"""Level 2 and 3: fluid forces and the analytic velocity derivatives of the implicit integrators."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from dynamics.states import random_state
from marks import takes_minutes_interpreted
from models import model_path
from parity.fluid_models import BOX, ELLIPSOID, MEDIA, fluid_model
from reference import copy_state, model_from_reference

from cardan.api import pipeline
from cardan.model import MjData


def close(got, want, tolerance=1e-12, name=""):
    want = np.asarray(want)
    scale = max(1.0, float(np.abs(want).max(initial=0)))
    np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * scale, err_msg=name)


def forward_pair(rm: mujoco.MjModel, seed: int):
    """Both engines after forward dynamics at a random state."""
    rd = random_state(rm, seed)
    m = model_from_reference(rm)
    d = MjData(m)
    copy_state(rd, d)
    mujoco.mj_forward(rm, rd)
    pipeline.mj_forward(m, d)
    return rd, m, d


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("integrator", ("implicit", "implicitfast"))
@pytest.mark.parametrize("medium", MEDIA)
@pytest.mark.parametrize("shape", (BOX, ELLIPSOID))
def test_forces_and_derivatives(shape: str, medium: str, integrator: str, seed: int) -> None:
    rm = mujoco.MjModel.from_xml_string(fluid_model(shape, medium, integrator))
    rd, m, d = forward_pair(rm, seed)
    for name in ("qfrc_fluid", "qfrc_passive", "qacc"):
        close(getattr(d, name), getattr(rd, name), name=name)
    mujoco.mj_implicit(rm, rd)
    pipeline.mj_implicit(m, d)
    for name in ("qDeriv", "qLU" if integrator == "implicit" else "qH", "qvel", "qpos", "act"):
        close(getattr(d, name), getattr(rd, name), name=name)


@pytest.mark.parametrize("flag", ("mjDSBL_PASSIVE", "mjDSBL_GRAVITY", "mjDSBL_ACTUATION"))
def test_disable_flags(flag: str) -> None:
    rm = mujoco.MjModel.from_xml_string(fluid_model())
    rm.opt.disableflags |= getattr(mujoco.mjtDisableBit, flag)
    rd, m, d = forward_pair(rm, 0)
    for name in ("qfrc_fluid", "qfrc_passive", "qacc"):
        close(getattr(d, name), getattr(rd, name), name=name)
    mujoco.mj_implicit(rm, rd)
    pipeline.mj_implicit(m, d)
    for name in ("qDeriv", "qLU", "qvel"):
        close(getattr(d, name), getattr(rd, name), name=name)


def test_medium_set_at_run_time() -> None:
    rm = mujoco.MjModel.from_xml_string(fluid_model())
    rd, m, d = forward_pair(rm, 0)
    for engine, a, b in ((mujoco, rm, rd), (pipeline, m, d)):
        a.opt.density = a.opt.viscosity = 0
        engine.mj_forward(a, b)
    assert not d.qfrc_fluid.any()
    close(d.qacc, rd.qacc)


def test_body_at_rest_in_still_medium() -> None:
    rm = mujoco.MjModel.from_xml_string(fluid_model(ELLIPSOID, "density"))
    m = model_from_reference(rm)
    d = MjData(m)
    pipeline.mj_forward(m, d)
    assert not d.qfrc_fluid.any()
    pipeline.mj_implicit(m, d)
    assert np.isfinite(d.qDeriv).all()


@takes_minutes_interpreted
@pytest.mark.parametrize("integrator", ("Euler", "RK4", "implicit", "implicitfast"))
@pytest.mark.parametrize("shape", (BOX, ELLIPSOID))
def test_steps_along_a_trajectory(shape: str, integrator: str) -> None:
    rm = mujoco.MjModel.from_xml_string(fluid_model(shape, "density", integrator))
    one_step_parity(rm, 300)


@takes_minutes_interpreted
@pytest.mark.parametrize("integrator", range(4))
def test_fish(integrator: int) -> None:
    rm = mujoco.MjModel.from_xml_path(str(model_path("fish")))
    rm.opt.integrator = integrator
    rm.opt.timestep = 0.001  # RK4 diverges in water with the model's own
    rm.geom_contype[:] = rm.geom_conaffinity[:] = 0
    one_step_parity(rm, 1000)


def one_step_parity(rm: mujoco.MjModel, steps: int, tolerance: float = 1e-8) -> None:
    """One step from every state of a trajectory of the reference, with random controls."""
    rd = mujoco.MjData(rm)
    m = model_from_reference(rm)
    d = MjData(m)
    rng = np.random.default_rng(0)
    rd.qvel[:] = rng.normal(size=rm.nv)
    for _ in range(steps):
        rd.ctrl[:] = 0.3 * rng.normal(size=rm.nu)
        copy_state(rd, d)
        mujoco.mj_step(rm, rd)
        pipeline.mj_step(m, d)
        for name in ("time", "qpos", "qvel", "act"):
            close(getattr(d, name), getattr(rd, name), tolerance, name)
