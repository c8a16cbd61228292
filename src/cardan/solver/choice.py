"""Selection of the stages that solve for constraint forces, based on `opt.solver` (spec: computation, algorithms)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cardan.constraint.make import is_discrete
from cardan.constraint.project import projection_stages
from cardan.enums.options import mjtEnableBit, mjtSolver
from cardan.errors import FatalError
from cardan.model import internals
from cardan.solver.certified_newton import needs_sparse, solve_certified, solve_certified_small
from cardan.solver.conjugate import solve_conjugate, solve_conjugate_4_0
from cardan.solver.effective import enter_backbone, enter_metric, leave_backbone, leave_metric
from cardan.solver.free_bodies import turn_free_bodies
from cardan.solver.gauss_seidel import solve_gauss_seidel, solve_gauss_seidel_4_0, solve_noslip
from cardan.solver.jacobian import DENSE_MAX
from cardan.solver.newton import solve, solve_small
from cardan.solver.warm_start import save_warm_start

Stage = Callable[[Any, Any], int]


def _newton(m: Any) -> Stage:
    """Return the Newton solver of MuJoCo 3.1 or 4.0, without sparse matrices if the model is small."""
    if m.is_4_0:
        return solve_certified if needs_sparse(m) else solve_certified_small
    return solve if m.nv > DENSE_MAX else solve_small


SOLVERS: dict[int, Callable[[Any], Stage]] = {
    int(mjtSolver.mjSOL_PGS): lambda m: solve_gauss_seidel_4_0 if m.is_4_0 else solve_gauss_seidel,
    int(mjtSolver.mjSOL_CG): lambda m: solve_conjugate_4_0 if m.is_4_0 else solve_conjugate,
    int(mjtSolver.mjSOL_NEWTON): _newton,
}


def solver_stages(m: Any) -> list[Stage]:
    """Return the stages of the model's solver, followed by the no-slip solver if `opt.noslip_iterations` is positive.

    In MuJoCo 3.1, a stage after the main solver saves the solver's result as the next warm start (see `warm_start`).

    Raises:
        FatalError: `opt.solver` is not a value of mjtSolver; the message is as in the reference.
    """
    if m.opt.solver not in SOLVERS:
        raise FatalError(f"mj_fwdConstraint: unknown solver type {m.opt.solver}")
    saved = [] if m.is_4_0 else [save_warm_start]
    after = [solve_noslip] if m.opt.noslip_iterations > 0 else []
    if is_discrete(m):
        return [enter_metric, *_discrete_stages(m, after), leave_metric, turn_free_bodies, *saved]
    return [SOLVERS[m.opt.solver](m), *saved, *after]


def _discrete_stages(m: Any, noslip: list[Stage]) -> list[Stage]:
    """Return the stages that solve in the effective metric, by the solver of the model and `noslip`."""
    main = SOLVERS[m.opt.solver](m)
    if m.opt.solver == mjtSolver.mjSOL_PGS:
        return [*projection_stages(m), main, *noslip]
    if noslip:
        return [main, enter_backbone, *projection_stages(m), *noslip, leave_backbone]
    return [main]


def is_dual(m: Any) -> bool:
    """Return whether a solver of the model (main or no-slip) works on the dual problem and needs `efc_AR`."""
    return m.opt.solver == mjtSolver.mjSOL_PGS or m.opt.noslip_iterations > 0


def wants_islands(m: Any) -> bool:
    """Return whether the model's options request constraint islands (flag `island`)."""
    return bool(internals.number(m, "opt.enableflags") & mjtEnableBit.mjENBL_ISLAND)
