"""Newton's method with few iterations, as models for reinforcement learning ask for, beside the reference's."""

from __future__ import annotations

import os
from pathlib import Path

import mujoco
import numpy as np
import pytest
from models import model_path
from reference import data_from_reference, model_from_reference
from solver.problems import problems, solve_problem

from cardan.jit import OK, Program, stage
from cardan.solver.islands import partition
from cardan.solver.newton import prepare_island, start_between
from cardan.solver.primal import CHEAPER, choose_start

ITERATIONS = (1, 2, 3, 5)
LINE_SEARCH = (4, 7, 10)
FLOOR = 1e-8  # relative error that counts as none
FULL = bool(os.environ.get("CARDAN_FULL_TESTS"))


def solved_by_newton(path: Path, largest: int = 120) -> bool:
    """Whether a model is for Newton's method, of moderate size, and can be taken over from the reference."""
    try:
        ref = mujoco.MjModel.from_xml_path(str(path))
    except ValueError:
        return False
    newton = ref.opt.solver == mujoco.mjtSolver.mjSOL_NEWTON
    return newton and 0 < ref.nv <= largest and not ref.nflex and not ref.nplugin


def set_solver(m, iterations: int, line_search: int, tolerance: float = 1e-8, line_tolerance: float = 0.01) -> None:
    m.opt.iterations, m.opt.ls_iterations = iterations, line_search
    m.opt.tolerance, m.opt.ls_tolerance = tolerance, line_tolerance


def reference_solution(ref: mujoco.MjModel, rd: mujoco.MjData, warmstart: np.ndarray) -> np.ndarray:
    rd.qacc_warmstart[:] = warmstart
    mujoco.mj_fwdConstraint(ref, rd)
    return rd.qacc.copy()


def mean_errors(path: Path, states: int) -> dict[int, tuple[float, float]]:
    """By number of iterations: mean errors of Cardan and of the reference, relative to the converged solution."""
    ref = mujoco.MjModel.from_xml_path(str(path))
    ref.opt.noslip_iterations = 0
    found = {}
    for iterations in ITERATIONS:
        set_solver(ref, iterations, 10)
        rows = []
        for m, d, rd in problems(ref, tuple(range(5, 5 + 10 * states, 10))):
            if not rd.nefc:
                continue
            warmstart = d.qacc_warmstart.copy()
            set_solver(ref, 300, 50, 0.0, 1e-10)
            best = reference_solution(ref, rd, reference_solution(ref, rd, warmstart))
            for limit in LINE_SEARCH:
                set_solver(ref, iterations, limit)
                set_solver(m, iterations, limit)
                d.qacc_warmstart[:] = warmstart
                solve_problem(m, d)
                theirs = reference_solution(ref, rd, warmstart)
                rows.append([np.linalg.norm(qacc - best) / max(1.0, np.linalg.norm(best)) for qacc in (d.qacc, theirs)])
            set_solver(ref, iterations, 10)
        if rows:
            found[iterations] = tuple(np.mean(rows, axis=0))
    return found


@pytest.mark.parametrize("name", ["humanoid", "gym_humanoid", "barkour", "car"])
def test_errors_are_no_larger_than_the_reference_s(name: str) -> None:
    found = mean_errors(model_path(name), 10)
    assert found
    for iterations, (ours, theirs) in found.items():
        assert ours <= max(theirs, FLOOR), iterations


@pytest.mark.skipif(not FULL, reason="all models: CARDAN_FULL_TESTS=1")
def test_errors_on_all_models(model_file: Path) -> None:
    if not solved_by_newton(model_file):
        pytest.skip("not for Newton's method, or too large")
    found = mean_errors(model_file, 20)
    for ours, theirs in [np.mean(list(found.values()), axis=0)] if found else []:
        assert ours <= max(theirs, FLOOR)


@stage
def cost_between(m, d):
    """Cost of the start on the way, in d.energy[0]."""
    count = partition(m, d, True)
    for island in range(count):
        prepare_island(m, d, island, None)
        d.energy[0] = start_between(m, d, island)
    return OK


@stage
def cost_of_the_cheaper(m, d):
    """Cost of the cheaper of the two points, in d.energy[0]."""
    count = partition(m, d, True)
    for island in range(count):
        prepare_island(m, d, island, None)
        d.energy[0] = choose_start(m, d, island, CHEAPER)
    return OK


def test_the_start_is_no_dearer_than_either_point() -> None:
    ref = mujoco.MjModel.from_xml_path(str(model_path("car")))
    better = 0
    for m, d, rd in problems(ref, tuple(range(5, 100, 10))):
        if rd.nefc:
            other = data_from_reference(model_from_reference(ref), rd)
            other.qacc_warmstart[:] = d.qacc_warmstart
            d.grow("nJ", 10000), other.grow("nJ", 10000), d.grow("nH", 10000), other.grow("nH", 10000)
            Program([cost_between]).run(m, d)
            Program([cost_of_the_cheaper]).run(m, other)
            assert d.energy[0] <= other.energy[0] * (1 + 1e-12)
            better += d.energy[0] < 0.9 * other.energy[0]
    assert better
