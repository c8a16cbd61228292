"""Derivatives of the solver's result: against differences of the whole forward dynamics."""

from __future__ import annotations

import numpy as np
import pytest
from derive.differences import Outcome, moved, richardson
from solver.row_models import ISLANDS, ROWS, pile

import cardan
from cardan.derive.implicit import factor_solution, solution_imbalance, solve_imbalance
from cardan.enums.codes import CNSTRSTATE_CONE, CNSTRSTATE_LINEARPOS, CNSTRSTATE_QUADRATIC, CNSTRSTATE_SATISFIED
from cardan.jit import Program
from cardan.step.run import run

VARIANTS = [
    (cone, jacobian, condim)
    for cone in ("pyramidal", "elliptic")
    for jacobian in ("dense", "sparse")
    for condim in (1, 3, 4, 6)
]
STEPS = 20
CLOSE = 1e-8
"""Relative to the largest derivative; differences themselves are good to some 1e-10 of it."""


def settled(xml: str, steps: int, seed: int = 3) -> tuple[cardan.MjModel, cardan.MjData]:
    """A model whose solver goes to the end, after some steps from a random velocity."""
    m = cardan.MjModel.from_xml_string(xml)
    m.opt.tolerance, m.opt.iterations, m.opt.ls_tolerance = 0.0, 500, 1e-6
    d = cardan.MjData(m)
    rng = np.random.default_rng(seed)
    d.qvel[:] = 0.3 * rng.normal(size=m.nv)
    for _ in range(steps):
        cardan.mj_step(m, d)
    d.qvel += 0.05 * rng.normal(size=m.nv)
    cardan.mj_forward(m, d)
    return m, d


def solution_tangents(d: cardan.MjData, imbalance: np.ndarray) -> np.ndarray:
    """Tangents of qacc (a row a direction) from those of the imbalance at constant qacc."""
    m = d.model
    run(Program([factor_solution]), m, d)
    solve = Program([solve_imbalance])
    result = np.zeros_like(imbalance)
    qacc = d.qacc.copy()
    d._memory.arrays["work.solved"][:] = 0.0
    for row, change in zip(result, imbalance, strict=True):
        d._memory.arrays["work.imbalance"][:] = change
        run(solve, m, d)
        row[:] = d.qacc
    d.qacc[:] = d._memory.arrays["work.solved"][:] = qacc
    return result


def differences(d: cardan.MjData, directions: list[int]) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Derivatives of qacc, and of the imbalance at the present qacc, by differences.

    Returns:
        Both, a row a direction, and the directions in which no row or zone changes.
    """
    m = d.model
    acceleration, imbalance, smooth = [], [], []
    program = Program([solution_imbalance])

    def outcome_along(direction: int):
        def outcome(step: float) -> Outcome:
            e = moved(d, direction, step)
            cardan.mj_forward(m, e)
            piece = e.efc_type.tobytes() + e.efc_state.tobytes()
            qacc = e.qacc.copy()
            e._memory.arrays["work.solved"][:] = d.qacc
            run(program, m, e)
            return Outcome(np.concatenate([qacc, e._memory.arrays["work.imbalance"]]), piece)

        return outcome

    for direction in directions:
        values, is_smooth = richardson(outcome_along(direction))
        if is_smooth:
            smooth.append(direction)
            acceleration.append(values[: m.nv])
            imbalance.append(values[m.nv :])
    return np.array(acceleration), np.array(imbalance), smooth


def check(d: cardan.MjData, directions: list[int], share: float) -> None:
    """The derivatives of qacc agree in all smooth directions, and these are at least a share of all."""
    expected, imbalance, smooth = differences(d, directions)
    assert len(smooth) >= share * len(directions)
    found = solution_tangents(d, imbalance)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=CLOSE * np.abs(expected).max())


@pytest.mark.parametrize(("cone", "jacobian", "condim"), VARIANTS)
def test_all_kinds_of_rows(cone, jacobian, condim):
    """Equalities, friction loss, limits and contacts, in both storages."""
    m, d = settled(ROWS.format(cone=cone, jacobian=jacobian, condim=condim), STEPS)
    assert d.ne > 0
    assert d.nf > 0
    assert d.ncon > 0
    check(d, list(range(1, 2 * m.nv, 3)), 0.9)


def test_zones_occur():
    """Among the states of the test above are rows in each zone, and elliptic contacts where the cost is curved."""
    zones: set[int] = set()
    for condim in (3, 4, 6):
        _, d = settled(ROWS.format(cone="elliptic", jacobian="dense", condim=condim), STEPS)
        zones |= set(d.efc_state.tolist())
    assert zones >= {CNSTRSTATE_SATISFIED, CNSTRSTATE_QUADRATIC, CNSTRSTATE_LINEARPOS, CNSTRSTATE_CONE}


@pytest.mark.parametrize("solver", ["PGS", "CG"])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_other_solvers(solver, cone):
    """What the solver is does not matter, once it has found the solution: that of PGS and CG gives the same."""
    m, d = settled(ISLANDS.replace("pyramidal", cone), 40)
    expected, imbalance, _ = differences(d, list(range(0, 2 * m.nv, 5)))
    assert len(expected) > m.nv / 4
    m.opt.solver = getattr(cardan.mjtSolver, f"mjSOL_{solver}")
    m.opt.iterations = 20000
    cardan.mj_forward(m, d)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(solution_tangents(d, imbalance), expected, rtol=0.0, atol=1e-6 * scale)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_sparse_factor(cone):
    """An island so large that its Hessian is sparse."""
    m, d = settled(pile(20, cone, "sparse"), 15)
    assert m.nv > 128
    check(d, [0, 2, 9, 40, m.nv + 3, m.nv + 77], 0.5)


def test_no_rows():
    """Without constraints it is M^-1 times the forces' tangents."""
    m = cardan.MjModel.from_xml_string(ROWS.format(cone="elliptic", jacobian="dense", condim=3))
    m.opt.disableflags = cardan.mjtDisableBit.mjDSBL_CONSTRAINT
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    assert d.nefc == 0
    tangents = np.random.default_rng(0).normal(size=(5, m.nv))
    expected = np.zeros_like(tangents)
    cardan.mj_solveM(m, d, expected, -tangents)
    np.testing.assert_allclose(solution_tangents(d, tangents), expected, rtol=1e-10, atol=1e-12)
