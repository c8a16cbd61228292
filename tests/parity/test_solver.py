"""The solvers against the reference: from one constraint problem (level 2: forward), and step by step (level 3)."""

from __future__ import annotations

import itertools

import mujoco
import numpy as np
import pytest
from engines_compared import scatter
from marks import takes_minutes_interpreted
from models import model_path
from reference import copy_state, model_from_reference
from solver.problems import problems, solve_problem
from solver.row_models import ROWS, pile

import cardan
from cardan.api import pipeline
from cardan.model import MjData

HUMANOID = "humanoid"
FILES = {
    HUMANOID: (0, 1, 5, 20, 100, 200, 300, 400, 500, 600),
    "crowd": (0, 1, 20, 100, 200),
    "clutter": (0, 10, 50, 100, 150),
}
CONES = {"pyramidal": mujoco.mjtCone.mjCONE_PYRAMIDAL, "elliptic": mujoco.mjtCone.mjCONE_ELLIPTIC}
JACOBIANS = {"dense": mujoco.mjtJacobian.mjJAC_DENSE, "sparse": mujoco.mjtJacobian.mjJAC_SPARSE}
VARIANTS = [(cone, jacobian, condim) for cone in CONES for jacobian in JACOBIANS for condim in (1, 3, 4, 6)]


def compare(ref: mujoco.MjModel, states: tuple[int, ...], tolerance: float) -> None:
    """Solve the problem of each state and compare with the reference; errors relative to the largest entry."""
    for m, d, rd in problems(ref, states):
        solve_problem(m, d)
        for name in ("qacc", "qfrc_constraint", "efc_force", "efc_b", "qacc_warmstart"):
            expected = getattr(rd, name)
            scale = max(1.0, np.abs(expected).max(initial=0.0))
            np.testing.assert_allclose(getattr(d, name) / scale, expected / scale, rtol=0, atol=tolerance, err_msg=name)
        assert abs(int(d.solver_niter[0]) - int(rd.solver_niter[0])) <= 3 + rd.solver_niter[0] // 2


@takes_minutes_interpreted
@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("name", FILES)
def test_files_converged(name, cone):
    """Models of real size at the tightest tolerance."""
    ref = mujoco.MjModel.from_xml_path(str(model_path(name)))
    ref.opt.tolerance = 1e-14
    ref.opt.cone = CONES[cone]
    compare(ref, FILES[name], 1e-9)


@takes_minutes_interpreted
@pytest.mark.parametrize("name", FILES)
def test_files_default_tolerance(name):
    """Models of real size as they are."""
    compare(mujoco.MjModel.from_xml_path(str(model_path(name))), FILES[name], 1e-9)


@pytest.mark.parametrize(("cone", "jacobian", "condim"), VARIANTS)
def test_row_types(cone, jacobian, condim):
    """Every kind of row."""
    ref = mujoco.MjModel.from_xml_string(ROWS.format(cone=cone, jacobian=jacobian, condim=condim))
    ref.opt.tolerance = 1e-14
    compare(ref, (0, 1, 5, 20, 60, 100), 1e-9)


@takes_minutes_interpreted
@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("jacobian", JACOBIANS)
def test_large_island(cone, jacobian):
    """One island too large for dense matrices."""
    ref = mujoco.MjModel.from_xml_string(pile(20, cone, jacobian))
    ref.opt.tolerance = 1e-14
    compare(ref, (0, 5, 20), 1e-9)


@pytest.mark.parametrize("jacobian", JACOBIANS)
def test_humanoid_storage(jacobian):
    """Dense and compressed rows of the same model."""
    ref = mujoco.MjModel.from_xml_path(str(model_path(HUMANOID)))
    ref.opt.jacobian = JACOBIANS[jacobian]
    compare(ref, FILES[HUMANOID], 1e-9)


@pytest.mark.parametrize("cone", CONES)
def test_cone_hessian(cone):
    """contact.H of the contacts that end in the zone CONE, and the rows' states."""
    ref = mujoco.MjModel.from_xml_string(ROWS.format(cone=cone, jacobian="dense", condim=3))
    ref.opt.tolerance = 1e-14
    state_cone = int(mujoco.mjtConstraintState.mjCNSTRSTATE_CONE)
    for m, d, rd in problems(ref, (1, 5, 20)):
        solve_problem(m, d)
        np.testing.assert_array_equal(d.efc_state, rd.efc_state)
        for k in range(rd.ncon):
            if rd.efc_state[rd.contact.efc_address[k]] == state_cone:
                n = rd.contact.dim[k] ** 2
                np.testing.assert_allclose(d.contact.H[k][:n], rd.contact.H[k][:n], rtol=1e-6, atol=1e-9)


# all solvers, one step from every state of a trajectory (level 3: step) ----------------------------------------------

SOLVERS = {"PGS": 0, "CG": 1, "Newton": 2}
COMBINATIONS = list(itertools.product(CONES, JACOBIANS))


def step_pairs(ref: mujoco.MjModel, steps: int, noise: float = 0.3):
    """Step the reference and Cardan from each state of the reference's trajectory.

    Yields data of the reference with the state before the step, and both data after it.
    """
    m = model_from_reference(ref)
    start, rd, d = mujoco.MjData(ref), mujoco.MjData(ref), MjData(m)
    rng = np.random.default_rng(3)
    for _ in range(steps):
        rd.ctrl[:] = rng.uniform(-0.5, 0.5, ref.nu)
        rd.qfrc_applied[:] = noise * rng.normal(size=ref.nv)
        copy_state(rd, start)
        copy_state(rd, d)
        mujoco.mj_step(ref, rd)
        pipeline.mj_step(m, d)
        assert d.nefc == rd.nefc
        yield start, d, rd


def relative(d, rd, name: str) -> float:
    expected = getattr(rd, name)
    return np.abs(getattr(d, name) - expected).max(initial=0) / max(1.0, np.abs(expected).max(initial=0))


def velocity_difference(rd, d) -> float:
    return relative(d, rd, "qvel")


def is_no_farther_than_scatter(ref: mujoco.MjModel, start, d, rd) -> bool:
    """Whether the velocity after a step is as good as the reference's.

    Rounding errors part conjugate gradients that stop before they converge: to at most twice the distance by which
    the reference's own steps scatter.
    """
    apart = velocity_difference(rd, d)
    return apart < 1e-8 or apart <= 2 * scatter(ref, start, rd, 0.5 * apart, velocity_difference)


def rows_model(solver: str, cone: str, jacobian: str, condim: int) -> mujoco.MjModel:
    ref = mujoco.MjModel.from_xml_string(ROWS.format(cone=cone, jacobian=jacobian, condim=condim))
    ref.opt.solver = SOLVERS[solver]
    return ref


def check_projection(ref: mujoco.MjModel, d, rd) -> None:
    """efc_AR and its pattern."""
    count = rd.nefc**2
    if mujoco.mj_isSparse(ref):
        for name in ("efc_AR_rownnz", "efc_AR_rowadr"):
            np.testing.assert_array_equal(getattr(d, name), getattr(rd, name), err_msg=name)
        count = int(rd.efc_AR_rownnz.sum())
        np.testing.assert_array_equal(d.efc_AR_colind.ravel()[:count], rd.efc_AR_colind.ravel()[:count])
    expected = rd.efc_AR.ravel()[:count]
    np.testing.assert_allclose(d.efc_AR.ravel()[:count], expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@takes_minutes_interpreted
@pytest.mark.parametrize("condim", [1, 3, 4, 6])
@pytest.mark.parametrize(("cone", "jacobian"), COMBINATIONS)
@pytest.mark.parametrize("noslip", [0, 3])
def test_gauss_seidel_steps(cone, jacobian, condim, noslip):
    """PGS at its default settings: the same iterations, the same numbers."""
    ref = rows_model("PGS", cone, jacobian, condim)
    ref.opt.noslip_iterations = noslip
    for _, d, rd in step_pairs(ref, 60):
        check_projection(ref, d, rd)
        assert d.solver_niter[0] == rd.solver_niter[0]
        assert d.solver_nnz[0] == rd.solver_nnz[0]
        assert relative(d, rd, "efc_force") < 1e-10
        assert relative(d, rd, "qacc_warmstart") < 1e-10
        assert relative(d, rd, "qvel") < 1e-10
        for k in range(min(5, rd.solver_niter[0])):
            expected = rd.solver[k].improvement
            assert d.solver.improvement[k] == pytest.approx(expected, rel=1e-7, abs=1e-12)


@takes_minutes_interpreted
@pytest.mark.parametrize("solver", ["CG", "Newton"])
@pytest.mark.parametrize(("cone", "jacobian"), COMBINATIONS)
def test_noslip_steps(solver, cone, jacobian):
    """No-slip after a primal solver."""
    ref = rows_model(solver, cone, jacobian, 4)
    ref.opt.noslip_iterations = 3
    for start, d, rd in step_pairs(ref, 60):
        check_projection(ref, d, rd)
        assert is_no_farther_than_scatter(ref, start, d, rd)


@takes_minutes_interpreted
@pytest.mark.parametrize("condim", [1, 3, 4, 6])
@pytest.mark.parametrize(("cone", "jacobian"), COMBINATIONS)
def test_conjugate_gradient_steps(cone, jacobian, condim):
    """CG at its default settings: the same iterations, as far as rounding, which they amplify, doesn't part them."""
    errors, counts = [], []
    ref = rows_model("CG", cone, jacobian, condim)
    for start, d, rd in step_pairs(ref, 60):
        assert is_no_farther_than_scatter(ref, start, d, rd)
        errors.append(relative(d, rd, "qvel"))
        counts.append(int(d.solver_niter[0]) - int(rd.solver_niter[0]))
        assert d.solver_nnz[0] == rd.solver_nnz[0]
        for k in range(min(6, rd.solver_niter[0])):
            assert d.solver.improvement[k] == pytest.approx(rd.solver[k].improvement, rel=1e-4, abs=1e-7)
    assert np.median(errors) < 1e-10
    assert np.median(np.abs(counts)) == 0


@takes_minutes_interpreted
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", list(FILES)[:2])
@pytest.mark.parametrize("cone", CONES)
def test_file_steps(solver, name, cone):
    """Models of real size, every solver at its default settings."""
    ref = mujoco.MjModel.from_xml_path(str(model_path(name)))
    ref.opt.solver, ref.opt.cone = SOLVERS[solver], CONES[cone]
    bar = {"PGS": 1e-9, "Newton": 5e-7 if cone == "elliptic" else 1e-8}
    for start, d, rd in step_pairs(ref, 250 if name == HUMANOID else 60, 0.0):
        if solver == "CG":
            assert is_no_farther_than_scatter(ref, start, d, rd)
        else:
            assert relative(d, rd, "qvel") < bar[solver]
        if solver == "PGS":
            assert d.solver_niter[0] == rd.solver_niter[0]


ISLAND_ARRAYS = (
    *("nisland", "dof_island", "island_dofnum", "island_dofadr", "island_dofind", "dof_islandind"),
    *("efc_island", "island_efcnum", "island_efcadr", "island_efcind", "solver_nisland"),
)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("jacobian", JACOBIANS)
def test_islands(solver, jacobian):
    """The flag `island`: the arrays, and CG island by island."""
    ref = rows_model(solver, "elliptic", jacobian, 3)
    ref.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ISLAND)
    found = set()
    for start, d, rd in step_pairs(ref, 60, 0.0):
        for name in ISLAND_ARRAYS:
            np.testing.assert_array_equal(getattr(d, name), getattr(rd, name), err_msg=name)
        assert is_no_farther_than_scatter(ref, start, d, rd)
        found.add(int(rd.nisland))
        if solver == "CG":
            np.testing.assert_allclose(d.solver_niter, rd.solver_niter, atol=1)
    assert len(found) > 1


ONE_ISLAND = """
<mujoco><option solver="{}" cone="{}"/><worldbody><geom type="plane" size="5 5 1"/>
<body pos="0 0 .15"><freejoint/><geom size=".1 .1" type="capsule"/>
<body pos=".3 0 0"><joint frictionloss=".5" range="-10 10" limited="true"/>
<geom size=".1 .1" type="capsule" condim="4"/>
<body pos=".3 0 0"><joint axis="0 1 0" frictionloss=".5" range="-1 10" limited="true"/><geom size=".12" condim="6"/>
</body></body></body></worldbody></mujoco>
"""
COUNTED = {
    ("Newton", "pyramidal"): ("nactive", "nchange", "nupdate"),
    ("Newton", "elliptic"): ("nactive", "nchange"),
    ("CG", "pyramidal"): ("nactive", "nchange", "nupdate"),
    ("CG", "elliptic"): ("nactive", "nchange", "nupdate"),
    ("PGS", "pyramidal"): ("nactive", "nchange", "nupdate"),
}


@pytest.mark.parametrize(("solver", "cone"), COUNTED)
@pytest.mark.parametrize("seed", range(6))
def test_statistics_of_each_iteration(solver, cone, seed):
    xml = ONE_ISLAND.format(solver, cone)
    rm, m = mujoco.MjModel.from_xml_string(xml), cardan.MjModel.from_xml_string(xml)
    rd, d = mujoco.MjData(rm), cardan.MjData(m)
    rng = np.random.default_rng(seed)
    velocity, start = rng.standard_normal(rm.nv), 20 * rng.standard_normal(rm.nv)
    for engine, model, data in ((mujoco, rm, rd), (cardan, m, d)):
        if solver == "Newton":  # with a warm start, the engines start at different points
            model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_WARMSTART)
        data.qvel[:] = velocity
        data.qacc_warmstart[:] = start
        engine.mj_forward(model, data)
    # the last iterations are a matter of rounding
    count = min(int(rd.solver_niter[0]), int(d.solver_niter[0]), 3)
    assert count > 0
    for k in range(count):
        for name in COUNTED[solver, cone]:
            assert getattr(d.solver[k], name) == getattr(rd.solver[k], name), (name, k)
        for name in ("improvement", "gradient"):
            assert getattr(d.solver[k], name) == pytest.approx(getattr(rd.solver[k], name), rel=1e-4, abs=1e-7)
