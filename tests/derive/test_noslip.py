"""Exact derivatives of steps with the no-slip solver: its sweeps are differentiated as they were made."""

from __future__ import annotations

import copy
import os

import numpy as np
import pytest
from derive.test_constrained import check, in_contact, solve_to_the_end, some
from solver.row_models import ROWS

import cardan
from cardan.derive.jacobian import step_jacobian
from cardan.enums import mjtIntegrator, mjtSolver


def slipless(cone: str, jacobian: str, sweeps: int) -> cardan.MjModel:
    """A model with all kinds of rows, whose no-slip solver makes some sweeps."""
    m = cardan.MjModel.from_xml_string(ROWS.format(cone=cone, jacobian=jacobian, condim=3))
    solve_to_the_end(m)
    m.opt.noslip_iterations, m.opt.noslip_tolerance = sweeps, 0.0
    return m


@pytest.mark.parametrize(("cone", "jacobian"), [("pyramidal", "dense"), ("elliptic", "sparse")])
def test_few_sweeps(cone: str, jacobian: str) -> None:
    """Sweeps that have not converged: contacts that slide, friction loss, an inactive contact at rest."""
    m = slipless(cone, jacobian, 2)
    d = in_contact(m, 20)
    d.qvel[:2] = 0.5, 0.2
    cardan.mj_forward(m, d)
    assert d.nf > 0
    assert d.ncon > 1
    check(d, some(m, 20))


@pytest.mark.skipif(os.environ.get("CARDAN_FULL_TESTS") != "1", reason="compiles for long: CARDAN_FULL_TESTS=1")
def test_every_pass_of_runge_kutta() -> None:
    m = slipless("pyramidal", "dense", 3)
    m.opt.integrator = mjtIntegrator.mjINT_RK4
    check(in_contact(m, 20), some(m, 12))


def test_the_sweeps_count() -> None:
    """The derivatives are not those of the main solver's forces."""
    m = slipless("elliptic", "sparse", 2)
    d = in_contact(m, 20)
    with_sweeps = cardan.derivatives(m, d, ("qacc", "efc_force"), ("qvel",), after="forward")
    m.opt.noslip_iterations = 0
    without = cardan.derivatives(m, d, ("qacc", "efc_force"), ("qvel",), after="forward")
    assert np.abs(with_sweeps["qacc", "qvel"] - without["qacc", "qvel"]).max() > 1e-3


def test_steps_of_few_iterations_keep_their_values() -> None:
    """Sweeps begin with the forces of PGS, not with those of its acceleration, which differ after few iterations."""
    m = slipless("pyramidal", "dense", 3)
    m.opt.solver, m.opt.iterations = mjtSolver.mjSOL_PGS, 2
    d = in_contact(m, 20)
    with step_jacobian(m, sensors=False) as jacobian:
        for _ in range(2):  # values beforehand, then together with tangents
            jacobian.compute(d, True, True)
            found = jacobian.course.next_qpos.copy()
            e = copy.copy(d)
            cardan.mj_step(m, e)
            np.testing.assert_allclose(found, e.qpos, rtol=0.0, atol=1e-14)
