"""One step from states of soft models, in every combination of integrator, solver, cone and Jacobian.

Models with flexes, composites and plugins are larger than those of `benchmarks.parity`, so that the states are few: the
reference goes on with the model's own settings, and from every state both engines take a step with each of the 48
settings. The table is in ``docs/parity.md``.
"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

from benchmarks.scenes import SOFT
from benchmarks.timing import save

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests"))

from engines_compared import compare_settings, states_along  # noqa: E402
from parity.test_model_files import CONES, INTEGRATORS, JACOBIANS, SOLVERS  # noqa: E402
from reference import model_from_reference, roomy_model  # noqa: E402

STATES, FEW, LARGE, DURATION = 5, 2, 1000, 1.0
"""States compared in each setting, of models with many degrees of freedom, and the time of the run, s."""


def states_of(lines: list[str]) -> int:
    """Number of states that lines of difference belong to; each line starts with the number of the state."""
    return len({line.split()[1] for line in lines})


def row_of(name: str) -> dict[str, float]:
    """A model's row of the table: worst difference by solver and cone, share of equal contacts, states beyond."""
    rm = roomy_model(SOFT[name])
    states = states_along(rm, STATES if rm.nv < LARGE else FEW, DURATION)
    m = model_from_reference(rm)
    cells: dict[str, float] = {}
    states_compared = agreeing = beyond = left_out = 0
    for solver, cone in product(SOLVERS, CONES):
        worst = 0.0
        for integrator, jacobian in product(INTEGRATORS, JACOBIANS):
            settings = INTEGRATORS[integrator], SOLVERS[solver], CONES[cone], JACOBIANS[jacobian]
            result = compare_settings(rm, m, states, settings)
            worst, beyond = max(worst, result.worst), beyond + states_of(result.lines)
            left_out += len(states) - result.states
            states_compared, agreeing = states_compared + result.states, agreeing + result.exact + result.close
            if result.lines:
                print(name, solver, cone, integrator, jacobian, *result.lines[:3], flush=True)
        cells[f"{solver}, {cone}"] = worst
    print(name, *(f"{worst:.1e}" for worst in cells.values()), flush=True)
    share = agreeing / max(1, states_compared)
    return cells | {"share": share, "states": states_compared, "beyond": beyond, "left out": left_out}


def main() -> None:
    """Print, save and document the table."""
    save("soft_parity", {name: row_of(name) for name in SOFT})


if __name__ == "__main__":
    main()
