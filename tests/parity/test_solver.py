"""The Newton solver against the reference's, from the same constraint problem (level 2: forward)."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from models import SHARED_MODELS
from solver.problems import problems, solve_problem
from solver.row_models import ROWS, pile

HUMANOID = "mujoco/humanoid/humanoid.xml"
FILES = {
    HUMANOID: (0, 1, 5, 20, 100, 200, 300, 400, 500, 600),
    "mujoco/humanoid/22_humanoids.xml": (0, 1, 20, 100, 200),
    "mujoco/humanoid100/humanoid100.xml": (0, 10, 50, 100, 150),
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


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("path", FILES)
def test_files_converged(path, cone):
    """Models of real size at the tightest tolerance."""
    ref = mujoco.MjModel.from_xml_path(str(SHARED_MODELS / path))
    ref.opt.tolerance = 1e-14
    ref.opt.cone = CONES[cone]
    compare(ref, FILES[path], 1e-9)


@pytest.mark.parametrize("path", FILES)
def test_files_default_tolerance(path):
    """Models of real size as they are."""
    compare(mujoco.MjModel.from_xml_path(str(SHARED_MODELS / path)), FILES[path], 1e-9)


@pytest.mark.parametrize(("cone", "jacobian", "condim"), VARIANTS)
def test_row_types(cone, jacobian, condim):
    """Every kind of row."""
    ref = mujoco.MjModel.from_xml_string(ROWS.format(cone=cone, jacobian=jacobian, condim=condim))
    ref.opt.tolerance = 1e-14
    compare(ref, (0, 1, 5, 20, 60, 100), 1e-9)


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
    ref = mujoco.MjModel.from_xml_path(str(SHARED_MODELS / HUMANOID))
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
