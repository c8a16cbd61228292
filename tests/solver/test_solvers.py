"""CG, PGS and no-slip without a reference beside them: they agree at full convergence, and forces are admissible."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from reference import copy_state, model_from_reference
from solver.problems import dense_jacobian
from solver.row_models import ROWS

from cardan.api import pipeline
from cardan.model.mjdata import MjData
from cardan.solver.gauss_seidel import minimize_in_ellipsoid

SOLVERS = {"PGS": 0, "CG": 1, "Newton": 2}
FIXED_PAIR = """
<mujoco><option jacobian="dense"/><worldbody>
  <geom name="a" pos="3 3 0" size=".3"/><geom type="plane" size="5 5 .1"/>
  <body pos="0 0 .09"><freejoint/><geom size=".1"/></body><body pos=".15 0 .09"><freejoint/><geom size=".1"/></body>
  <body pos="3 3 .2"><geom name="b" size=".1"/></body>
</worldbody><contact>{pair}</contact></mujoco>
"""
PAIR = '<pair geom1="a" geom2="b"/>'


def states(ref: mujoco.MjModel, steps: tuple[int, ...]):
    """Reference data at some steps of a run."""
    rd = mujoco.MjData(ref)
    rng = np.random.default_rng(5)
    for k in range(max(steps) + 1):
        rd.qfrc_applied[:] = 0.3 * rng.normal(size=ref.nv)
        if k in steps:
            yield rd
        mujoco.mj_step(ref, rd)


def forward(ref: mujoco.MjModel, rd: mujoco.MjData, solver: str, **options: float) -> MjData:
    """Cardan's forward dynamics in the state of `rd` with a solver."""
    m = model_from_reference(ref)
    m.opt.solver = SOLVERS[solver]
    for name, value in options.items():
        setattr(m.opt, name, value)
    d = MjData(m)
    copy_state(rd, d)
    pipeline.mj_forward(m, d)
    return d


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("condim", [1, 3, 4, 6])
def test_solvers_agree(cone, jacobian, condim):
    """At full convergence all solvers have the same solution."""
    ref = mujoco.MjModel.from_xml_string(ROWS.format(cone=cone, jacobian=jacobian, condim=condim))
    for rd in states(ref, (0, 5, 20, 60)):
        newton = forward(ref, rd, "Newton", tolerance=1e-15)
        scale = 1.0 + np.abs(newton.qacc).max()
        for solver in ("CG", "PGS"):
            other = forward(ref, rd, solver, tolerance=0.0, iterations=20000)
            np.testing.assert_allclose(other.qacc / scale, newton.qacc / scale, rtol=0, atol=1e-7, err_msg=solver)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_noslip_keeps_normal_forces(solver, cone):
    """No-slip leaves equality and normal forces alone, stays in the cone, and explains the acceleration."""
    ref = mujoco.MjModel.from_xml_string(ROWS.format(cone=cone, jacobian="dense", condim=3))
    for rd in states(ref, (3, 20, 60)):
        before = forward(ref, rd, solver)
        d = forward(ref, rd, solver, noslip_iterations=10)
        np.testing.assert_array_equal(d.efc_force[: d.ne], before.efc_force[: d.ne])
        for k in range(d.ncon):
            row = d.contact.efc_address[k]
            if cone == "elliptic":
                assert d.efc_force[row] == before.efc_force[row]
                sideways = np.linalg.norm(d.efc_force[row + 1 : row + 3] / d.contact.friction[k][:2])
                assert sideways <= d.efc_force[row] * (1 + 1e-12)
            else:
                edges = slice(row, row + 4)
                assert d.efc_force[edges].sum() == pytest.approx(before.efc_force[edges].sum())
                assert d.efc_force[edges].min() >= -1e-12
        np.testing.assert_allclose(d.qfrc_constraint, dense_jacobian(ref, d).T @ d.efc_force, atol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
def test_fixed_bodies_do_not_disturb(solver):
    """Rows that touch nothing movable have their force, and change nothing else."""
    with_pair = mujoco.MjModel.from_xml_string(FIXED_PAIR.format(pair=PAIR))
    without = mujoco.MjModel.from_xml_string(FIXED_PAIR.format(pair=""))
    for rd in states(without, (0, 3, 10)):
        exact = {"tolerance": 0.0, "iterations": 2000}
        d, other = forward(with_pair, rd, solver, **exact), forward(without, rd, solver, **exact)
        assert d.nefc > other.nefc
        np.testing.assert_allclose(d.qacc, other.qacc, rtol=1e-6, atol=1e-6)
        assert d.efc_force.max() > 1e15


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
def test_nothing_can_move(solver, jacobian):
    """Without degrees of freedom a contact makes no rows, as in the reference."""
    xml = f"""<mujoco><option solver="{solver}" jacobian="{jacobian}"/><worldbody><geom name="a" size=".3"/><body>
      <geom name="b" size=".3"/></body></worldbody><contact>{PAIR}</contact></mujoco>"""
    ref = mujoco.MjModel.from_xml_string(xml)
    rd = mujoco.MjData(ref)
    d = forward(ref, rd, solver)
    mujoco.mj_forward(ref, rd)
    for data in (d, rd):
        assert (data.ncon, data.nefc, data.nnzJ, data.solver_niter[0]) == (1, 0, 0, 0)
        assert (data.contact.exclude[0], data.contact.efc_address[0]) == (0, -1)


@pytest.mark.parametrize("solver", SOLVERS)
def test_bad_warm_start(solver):
    """Not-a-number in qacc_warmstart counts as no warm start."""
    ref = mujoco.MjModel.from_xml_string(ROWS.format(cone="elliptic", jacobian="dense", condim=3))
    for rd in states(ref, (0, 20)):
        rd.qacc_warmstart[:] = np.nan
        d = forward(ref, rd, solver)
        assert np.isfinite(d.qacc).all()
        assert np.isfinite(d.efc_force).all()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("noslip", [0, 1])
def test_no_iterations(solver, noslip):
    """With no iterations the start is the result; the no-slip solver still runs."""
    ref = mujoco.MjModel.from_xml_string(ROWS.format(cone="elliptic", jacobian="dense", condim=3))
    for rd in states(ref, (0, 20)):
        d = forward(ref, rd, solver, iterations=0, noslip_iterations=noslip)
        assert d.solver_niter[0] == noslip
        assert np.isfinite(d.qacc).all()


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_ellipsoid(n):
    """The minimum in an ellipsoid satisfies the optimality conditions, inside and on the boundary."""
    rng = np.random.default_rng(n)
    for radius in (0.1, 100.0):
        root = rng.normal(size=(n, n))
        a, b, scale = root @ root.T + np.eye(n), rng.normal(size=5), rng.uniform(0.1, 1, 5)
        x = np.zeros(5)
        minimize_in_ellipsoid(np.append(a.ravel(), np.zeros(25 - n * n)), b, scale, radius, n, x)
        size = np.linalg.norm(x[:n] / scale[:n])
        assert size <= radius * (1 + 1e-9)
        gradient = (a @ x[:n] + b[:n]) * scale[:n]
        if size < radius * (1 - 1e-6):
            np.testing.assert_allclose(gradient, 0, atol=1e-9)
        else:
            # against the outward normal
            normal = x[:n] / scale[:n] / radius
            np.testing.assert_allclose(gradient, (gradient @ normal) * normal, atol=1e-6)
            assert gradient @ normal < 0
