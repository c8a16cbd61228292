"""One step from every state along trajectories, in every combination of integrator, solver, cone and Jacobian.

Not a timing, but the widest of the side-by-side checks: the suite runs a thinned set of it. The table is in
``docs/parity.md``: for each model, solver and cone the largest difference of the state after one step, relative to the
largest entry of the field, over all integrators and both kinds of Jacobians.
"""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path

import mujoco

from benchmarks.scenes import STEPPED
from benchmarks.timing import save

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests"))

from engines_compared import Comparison, compare_steps  # noqa: E402
from parity.test_model_files import CONES, INTEGRATORS, SOLVERS, is_comparable  # noqa: E402
from reference import model_from_reference  # noqa: E402

STEPS = 1000


def compared(path: Path, settings: list[tuple[int, int, int, int]]) -> Comparison:
    """Steps of one model with several settings, taken together."""
    total = Comparison()
    for integrator, solver, cone, jacobian in settings:
        rm = mujoco.MjModel.from_xml_path(str(path))
        rm.opt.integrator, rm.opt.solver, rm.opt.cone, rm.opt.jacobian = integrator, solver, cone, jacobian
        result = compare_steps(rm, model_from_reference(rm), STEPS)
        total.states, total.exact = total.states + result.states, total.exact + result.exact
        total.worst = max(total.worst, result.worst)
        total.lines += result.lines
    return total


def states_of(lines: list[str]) -> int:
    """Number of states that lines of difference belong to; each line starts with the number of the step."""
    return len({line.split()[1] for line in lines})


def main() -> None:
    """Print, save and document the table."""
    columns = list(product(SOLVERS, CONES))
    rows = {}
    for name, path in STEPPED.items():
        integrators = [key for key in INTEGRATORS if is_comparable(name, (key, "", "", ""))]
        cells: dict[str, float] = {}
        exact = states = beyond = 0
        for solver, cone in columns:
            settings = product([INTEGRATORS[key] for key in integrators], [SOLVERS[solver]], [CONES[cone]], (0, 1))
            result = compared(path, list(settings))
            cells[f"{solver}, {cone}"] = result.worst
            exact, states, beyond = exact + result.exact, states + result.states, beyond + states_of(result.lines)
            print(f"{name} {solver} {cone}: {result.worst:.1e}", *result.lines[:5], flush=True)
        rows[name] = cells | {"share": exact / states, "states": states, "beyond": beyond}
    save("parity", rows)


if __name__ == "__main__":
    main()
