"""Exact derivatives of inverse dynamics against differences."""

from __future__ import annotations

import numpy as np
import pytest
from derive.test_transition import CHAIN, moving

import cardan
from cardan.enums import mjtEnableBit, mjtIntegrator, mjtSensor


def targets(m: cardan.MjModel) -> list[np.ndarray]:
    """The matrices that `mjd_inverse` fills."""
    return [np.zeros((m.nv, columns)) for columns in (m.nv,) * 3 + (m.nsensordata,) * 3 + (m.nM,)]


def chain() -> cardan.MjModel:
    """The chain, with a sensor that inverse dynamics does not compute taken out: differences of it mean nothing."""
    return cardan.MjModel.from_xml_string(CHAIN.replace('<actuatorfrc actuator="a"/>', ""))


@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize("integrator", [mjtIntegrator.mjINT_EULER, mjtIntegrator.mjINT_IMPLICIT])
def test_chain(integrator: mjtIntegrator, discrete: bool) -> None:
    m = chain()
    m.opt.integrator = integrator
    if discrete:
        m.opt.enableflags |= mjtEnableBit.mjENBL_INVDISCRETE
    d = moving(m)
    d.qacc[:] = np.random.default_rng(1).standard_normal(m.nv)
    exact, above, below = targets(m), targets(m), targets(m)
    cardan.mjd_inverse(m, d, 0, *exact)
    cardan.mjd_inverseFD(m, d, 1e-6, 0, *above)
    cardan.mjd_inverseFD(m, d, -1e-6, 0, *below)
    for found, up, down in zip(exact, above, below, strict=True):
        np.testing.assert_allclose(found, (up + down) / 2, atol=1e-6, rtol=1e-6)


def test_actuator_forces_come_before_the_sensors_that_show_them() -> None:
    """With `flg_actuation`, differences and exact derivatives of all sensors agree, whatever was computed before."""
    m = cardan.MjModel.from_xml_string(
        CHAIN.replace("<position joint", '<position name="p" joint').replace(
            'actuatorfrc actuator="a"', 'actuatorfrc actuator="p"'
        )
    )
    d = moving(m)
    d.qacc[:] = np.random.default_rng(1).standard_normal(m.nv)
    d.actuator_force[:] = 1e3  # of an earlier state
    exact, above, below = targets(m), targets(m), targets(m)
    cardan.mjd_inverse(m, d, 1, *exact)
    cardan.mjd_inverseFD(m, d, 1e-6, 1, *above)
    cardan.mjd_inverseFD(m, d, -1e-6, 1, *below)
    shown = m.sensor_adr[m.sensor_type == mjtSensor.mjSENS_ACTUATORFRC]
    assert exact[3][:, shown].any()
    for found, up, down in zip(exact, above, below, strict=True):
        np.testing.assert_allclose(found, (up + down) / 2, atol=1e-6, rtol=1e-6)


def test_by_acceleration_is_the_inertia_matrix() -> None:
    m = chain()
    d = moving(m)
    cardan.mj_forward(m, d)
    inertia, found = np.zeros((m.nv, m.nv)), np.zeros((m.nv, m.nv))
    cardan.mj_fullM(m, inertia, d.qM)
    before = d._memory.buffer.copy()
    cardan.mjd_inverse(m, d, 1, None, None, found, None, None, None, None)
    np.testing.assert_allclose(found, inertia, rtol=1e-12, atol=1e-12)
    assert np.array_equal(before, d._memory.buffer)


def test_bad_input() -> None:
    m = chain()
    d = cardan.MjData(m)
    with pytest.raises(TypeError, match="DfDv should be of shape"):
        cardan.mjd_inverse(m, d, 0, None, np.zeros((1, 1)), None, None, None, None, None)
    m.opt.integrator = mjtIntegrator.mjINT_RK4
    with pytest.raises(cardan.FatalError, match="RK4"):
        cardan.mjd_inverse(m, d, 0, *targets(m))
