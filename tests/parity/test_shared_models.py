"""Parity on models nobody wrote for Cardan: levels 2 (forward, every field) and 3 (step).

The compiled model is the reference's, so that what differs is the computation. Where contacts are equal every field is
compared; contacts of analytic pairs must be equal, those of iterative searches may differ within their tolerance, and
then the fields up to the contacts are compared. `benchmarks/parity.py` runs the full matrix.
"""

from __future__ import annotations

from itertools import cycle, product
from pathlib import Path

import mujoco
import pytest
from engines_compared import compare_forward, compare_steps
from models import STEPPED, shared_model_files
from reference import model_from_reference

from cardan.jit import jit_enabled

STATES = 10
LARGE = 300  # degrees of freedom from which a trajectory is short
INTEGRATORS = {"Euler": 0, "RK4": 1, "implicit": 2, "implicitfast": 3}
SOLVERS = {"PGS": 0, "CG": 1, "Newton": 2}
CONES = {"pyramidal": 0, "elliptic": 1}
JACOBIANS = {"dense": 0, "sparse": 1}
MATRIX = tuple(product(INTEGRATORS, SOLVERS, CONES, JACOBIANS))

pytestmark = [
    pytest.mark.skipif(not shared_model_files(), reason="the shared models are not beside the checkout"),
    pytest.mark.skipif(not jit_enabled, reason="models of real size are too slow in the interpreter"),
]


def rigid_model(path: Path) -> mujoco.MjModel:
    """The reference's model; skips files that it refuses, and models that need flexes or plugins."""
    try:
        rm = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        pytest.skip(f"refused by the reference: {error}")
    if rm.nflex or rm.nplugin:
        pytest.skip("flexes and plugins")
    return rm


@pytest.mark.parametrize("path", shared_model_files(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_forward(path: Path) -> None:
    rm = rigid_model(path)
    result = compare_forward(rm, model_from_reference(rm), STATES, 40 if rm.nv < LARGE else 5)
    assert not result.lines
    assert 2 * (result.exact + result.tied) >= result.states


def is_comparable(name: str, settings: tuple[str, str, str, str]) -> bool:
    """Not slider-cranks with RK4: their moments add up over its stages in the reference (docs/differences.md)."""
    return (name, settings[0]) != ("slider_crank", "RK4")


def thinned() -> list[tuple[str, str, str, str, str]]:
    """Each combination of settings once, with one model after the other."""
    names = cycle(STEPPED)
    return [(next(name for name in names if is_comparable(name, settings)), *settings) for settings in MATRIX]


@pytest.mark.parametrize(("name", "integrator", "solver", "cone", "jacobian"), thinned())
def test_steps(name: str, integrator: str, solver: str, cone: str, jacobian: str) -> None:
    rm = mujoco.MjModel.from_xml_path(str(STEPPED[name]))
    rm.opt.integrator, rm.opt.solver = INTEGRATORS[integrator], SOLVERS[solver]
    rm.opt.cone, rm.opt.jacobian = CONES[cone], JACOBIANS[jacobian]
    result = compare_steps(rm, model_from_reference(rm), 300, every=3)
    assert not result.lines
    assert 2 * result.exact >= result.states
