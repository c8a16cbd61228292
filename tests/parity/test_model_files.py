"""Parity on models as they are used: levels 2 (forward, every field) and 3 (step), soft ones included.

The compiled model is the reference's, so that what differs is the computation. Where contacts are equal every field is
compared; contacts of analytic pairs must be equal, those of iterative searches may differ within their tolerance, and
then the fields up to the contacts are compared.
"""

from __future__ import annotations

from itertools import cycle, product
from pathlib import Path

import mujoco
import pytest
from engines_compared import compare_forward, compare_settings, compare_steps, converge, states_along
from known_differences import unexplained
from models import SOFT, STEPPED, model_path
from reference import model_from_reference, roomy_model

from cardan.jit import jit_enabled

STATES = 10
LARGE = 300  # degrees of freedom from which a trajectory is short
INTEGRATORS = {"Euler": 0, "RK4": 1, "implicit": 2, "implicitfast": 3}
SOLVERS = {"PGS": 0, "CG": 1, "Newton": 2}
CONES = {"pyramidal": 0, "elliptic": 1}
JACOBIANS = {"dense": 0, "sparse": 1}
MATRIX = tuple(product(INTEGRATORS, SOLVERS, CONES, JACOBIANS))

SOFT_STEPPED = ("hammock", "rope", "warp_rope", "cushion", "belt", "cable", "coil", "flag_flex", "jelly_flex")
SOFT_STEPPED += ("trampoline", "pid", "touch_grid", "nut", "rings")
# gradients by differences with a step of 1e-8 m: contacts carry a noise of that size, in both engines
NOISY = ("nutbolt", "nut")
# meshes whose distances are sampled when a model first runs
SLOW = ("cow",)

pytestmark = pytest.mark.skipif(not jit_enabled, reason="models of real size are too slow in the interpreter")


def reference_model(path: Path) -> mujoco.MjModel:
    """The reference's model, with room for all contacts; skips files that it refuses."""
    try:
        return roomy_model(path)
    except ValueError as error:
        pytest.skip(f"refused by the reference: {error}")


def test_forward(model_file: Path) -> None:
    rm = reference_model(model_file)
    states, steps = (STATES, 40) if rm.nv < LARGE and model_file.stem not in SLOW else (4, 5)
    result = compare_forward(rm, model_from_reference(rm), states, steps)
    assert not unexplained(model_file, result.lines)
    assert 2 * (result.exact + result.tied + (result.close if model_file.stem in NOISY else 0)) >= result.states


def test_converged_steps(model_file: Path) -> None:
    rm = reference_model(model_file)
    if not rm.nv:
        pytest.skip("nothing moves")
    converge(rm)
    steps, every = (30, 10) if rm.nv < LARGE and model_file.stem not in SLOW else (4, 4)
    if rm.nplugin:  # damping of elastic plugins depends on the step before
        steps, every = min(steps, 12), 1
    result = compare_steps(rm, model_from_reference(rm), steps, every)
    assert not unexplained(model_file, result.lines)


def is_comparable(name: str, settings: tuple[str, str, str, str]) -> bool:
    """Not slider-cranks with RK4: their moments add up over its stages in the reference (docs/differences.md)."""
    return (name, settings[0]) != ("slider_crank", "RK4")


def thinned() -> list[tuple[str, str, str, str, str]]:
    """Each combination of settings once, with one model after the other."""
    names = cycle(STEPPED)
    return [(next(name for name in names if is_comparable(name, settings)), *settings) for settings in MATRIX]


@pytest.mark.parametrize(("name", "integrator", "solver", "cone", "jacobian"), thinned())
def test_steps(name: str, integrator: str, solver: str, cone: str, jacobian: str) -> None:
    rm = mujoco.MjModel.from_xml_path(str(model_path(name)))
    rm.opt.integrator, rm.opt.solver = INTEGRATORS[integrator], SOLVERS[solver]
    rm.opt.cone, rm.opt.jacobian = CONES[cone], JACOBIANS[jacobian]
    result = compare_steps(rm, model_from_reference(rm), 300, every=3)
    assert not result.lines
    assert 2 * result.exact >= result.states


def soft_settings(index: int) -> tuple[tuple[int, int, int, int], ...]:
    """Four of the 48 settings for a soft model, other ones for the next: all integrators, all solvers."""
    chosen = [MATRIX[(13 * (4 * index + k)) % len(MATRIX)] for k in range(4)]
    return tuple((INTEGRATORS[i], SOLVERS[s], CONES[c], JACOBIANS[j]) for i, s, c, j in chosen)


@pytest.mark.parametrize("name", SOFT_STEPPED)
def test_soft_steps(name: str) -> None:
    rm = roomy_model(model_path(name))
    m, states = model_from_reference(rm), states_along(rm, 2, 0.4)
    for settings in soft_settings(SOFT.index(name)):
        result = compare_settings(rm, m, states, settings)
        assert not result.lines
        assert result.exact + result.close == result.states
