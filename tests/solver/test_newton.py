"""The Newton solver's result is the minimum of the primal cost, without a reference beside it."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from solver.problems import dense_jacobian, problems, solve_problem
from solver.row_models import ISLANDS, ROWS, pile

from cardan.enums.codes import CNSTR_CONTACT_ELLIPTIC

VARIANTS = [
    (cone, jacobian, condim)
    for cone in ("pyramidal", "elliptic")
    for jacobian in ("dense", "sparse")
    for condim in (1, 3, 4, 6)
]
WARMSTART = int(mujoco.mjtDisableBit.mjDSBL_WARMSTART)
STATES = (0, 3, 20, 60)


def tight(xml: str) -> mujoco.MjModel:
    ref = mujoco.MjModel.from_xml_string(xml)
    ref.opt.tolerance = 0.0
    return ref


def equation_of_motion(ref: mujoco.MjModel, d) -> np.ndarray:
    """M qacc - qfrc_smooth - J' efc_force, which is 0 at the minimum."""
    inertia = np.zeros((ref.nv, ref.nv))
    mujoco.mj_fullM(ref, inertia, np.array(d.qM))
    return inertia @ d.qacc - d.qfrc_smooth - dense_jacobian(ref, d).T @ d.efc_force


@pytest.mark.parametrize(("cone", "jacobian", "condim"), VARIANTS)
def test_optimality(cone, jacobian, condim):
    """At the solution the equations of motion hold, and all forces are admissible."""
    ref = tight(ROWS.format(cone=cone, jacobian=jacobian, condim=condim))
    for m, d, _ in problems(ref, STATES):
        solve_problem(m, d)
        scale = 1.0 + np.abs(d.qfrc_constraint).max() + np.abs(d.qfrc_smooth).max()
        np.testing.assert_allclose(equation_of_motion(ref, d) / scale, 0.0, atol=1e-11)
        np.testing.assert_allclose(d.qfrc_constraint, dense_jacobian(ref, d).T @ d.efc_force, atol=1e-11 * scale)
        check_admissible(d)


def check_admissible(d) -> None:
    """Friction loss within its bound, one-sided forces not negative, elliptic forces in their cones."""
    nf, bound = d.ne + d.nf, d.efc_frictionloss
    assert np.all(np.abs(d.efc_force[d.ne : nf]) <= bound[d.ne : nf])
    for r in range(nf, d.nefc):
        if d.efc_type[r] != CNSTR_CONTACT_ELLIPTIC:
            assert d.efc_force[r] >= 0.0
    for k in range(d.ncon):
        r, dim = d.contact.efc_address[k], d.contact.dim[k]
        if r >= 0 and d.efc_type[r] == CNSTR_CONTACT_ELLIPTIC:
            assert d.efc_force[r] >= 0.0
            sideways = np.linalg.norm(d.efc_force[r + 1 : r + dim] / d.contact.friction[k][: dim - 1])
            assert sideways <= d.efc_force[r] * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_start_does_not_matter(cone):
    """Warm start, cold start and a far-away warm start lead to the same solution."""
    ref = tight(ROWS.format(cone=cone, jacobian="auto", condim=3))
    for m, d, _ in problems(ref, STATES):
        warm = np.array(d.qacc_warmstart)
        solve_problem(m, d)
        solution = np.array(d.qacc)
        m.opt.disableflags = WARMSTART
        d.qacc_warmstart[:] = warm
        solve_problem(m, d)
        np.testing.assert_allclose(d.qacc, solution, rtol=1e-9, atol=1e-9)
        m.opt.disableflags = 0
        d.qacc_warmstart[:] = d.qacc_smooth + 10.0
        solve_problem(m, d)
        np.testing.assert_allclose(d.qacc, solution, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
def test_large_island(cone, jacobian):
    """An island of more dofs than dense matrices are used for (20 bodies of 7 dofs that touch)."""
    ref = tight(pile(20, cone, jacobian))
    for m, d, _ in problems(ref, (0, 5)):
        solve_problem(m, d)
        scale = 1.0 + np.abs(d.qfrc_constraint).max()
        np.testing.assert_allclose(equation_of_motion(ref, d) / scale, 0.0, atol=1e-11)


def test_islands_are_independent():
    """Pushing one island leaves the solution of the others bit by bit the same."""
    ref = tight(ISLANDS)
    for m, d, _ in problems(ref, (2,)):
        start = np.array(d.qacc_warmstart)
        solve_problem(m, d)
        before = np.array(d.qacc)
        last = slice(ref.nv - 6, ref.nv)
        d.qfrc_smooth[last] += 3.0
        inertia = np.zeros((ref.nv, ref.nv))
        mujoco.mj_fullM(ref, inertia, np.array(d.qM))
        d.qacc_smooth[last] = np.linalg.solve(inertia[last, last], d.qfrc_smooth[last])
        d.qacc_warmstart[:] = start
        solve_problem(m, d)
        assert np.array_equal(before[: ref.nv - 6], d.qacc[: ref.nv - 6])
        assert not np.array_equal(before[last], d.qacc[last])


def test_no_constraints():
    """Without rows the acceleration is the smooth one, and it is kept for the next warm start."""
    ref = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    for m, d, _ in problems(ref, (0, 2)):
        d.solver_niter[0] = 5
        solve_problem(m, d)
        assert np.array_equal(d.qacc, d.qacc_smooth)
        assert np.array_equal(d.qacc_warmstart, d.qacc_smooth)
        assert not d.qfrc_constraint.any()
        assert d.solver_niter[0] == 0


def test_no_iterations():
    """With no iterations allowed, the better of the two starts is the result."""
    ref = tight(ROWS.format(cone="pyramidal", jacobian="auto", condim=3))
    ref.opt.iterations = 0
    for m, d, _ in problems(ref, (0, 3)):
        solve_problem(m, d)
        assert d.solver_niter[0] == 0
        assert np.all(np.isfinite(d.qacc))


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_not_a_number_ends(cone):
    """Not-a-number inputs come through instead of keeping the solver busy."""
    ref = tight(ROWS.format(cone=cone, jacobian="auto", condim=3))
    for m, d, _ in problems(ref, (3,)):
        d.qacc_smooth[:] = np.nan
        d.qacc_warmstart[:] = np.nan
        solve_problem(m, d)
        assert np.isnan(d.qacc).any()


def test_statistics():
    """The recorded gradient of the last iteration is that of the solution; costs went down."""
    ref = mujoco.MjModel.from_xml_string(ROWS.format(cone="pyramidal", jacobian="auto", condim=3))
    for m, d, _ in problems(ref, (3, 20)):
        solve_problem(m, d)
        niter = d.solver_niter[0]
        assert niter > 0
        assert d.solver_nisland == 1
        assert d.solver.improvement[0] >= 0.0
        gradient = np.linalg.norm(equation_of_motion(ref, d)) / (ref.stat.meaninertia * ref.nv)
        assert abs(d.solver.gradient[niter - 1] - gradient) < 1e-10
        assert d.solver.nactive[niter - 1] == np.count_nonzero(d.efc_state)


def test_bitwise_reproducible():
    """The same problem gives the same bits."""
    ref = mujoco.MjModel.from_xml_string(ROWS.format(cone="elliptic", jacobian="auto", condim=4))
    for m, d, _ in problems(ref, (5,)):
        start = np.array(d.qacc_warmstart)
        solve_problem(m, d)
        first = np.array(d.qacc)
        d.qacc_warmstart[:] = start
        solve_problem(m, d)
        assert np.array_equal(first, d.qacc)
