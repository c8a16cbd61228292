"""A program that uses models in many ways, run where there is no compiler: ``python workload.py SETTINGS FILE...``.

SETTINGS is ``all`` (every integrator, solver, cone and Jacobian), ``own`` (those of the model), or ``exact``: exact
derivatives with those of the model, and nothing else. It prints the names of the kernels that were loaded, and fails if
Numba was imported.
"""

from __future__ import annotations

import itertools
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import cardan
from cardan import rollout
from cardan.jit.binding.functions import Binding, KernelBinding
from cardan.jit.driver import program as driver

INTEGRATORS, SOLVERS, CONES, JACOBIANS = range(4), range(3), range(2), range(2)
RK4 = 1


def settings(which: str, m: Any) -> Iterator[tuple[int, int, int, int]]:
    """Integrator, solver, cone and Jacobian to be tried."""
    if which == "all":
        yield from itertools.product(INTEGRATORS, SOLVERS, CONES, JACOBIANS)
    else:
        yield int(m.opt.integrator), int(m.opt.solver), int(m.opt.cone), int(m.opt.jacobian)


def step_all(m: Any, d: Any) -> None:
    """Steps in one piece and in two, inverse dynamics, energies, sensors, and the comparison of both dynamics."""
    energy, fwdinv = int(cardan.mjtEnableBit.mjENBL_ENERGY), int(cardan.mjtEnableBit.mjENBL_FWDINV)
    before = int(m.opt.enableflags)
    m.opt.enableflags = before | energy | fwdinv
    cardan.mj_resetData(m, d)
    cardan.mj_step(m, d, 3)
    m.opt.enableflags = before
    cardan.mj_step1(m, d)
    cardan.mj_step2(m, d)
    cardan.mj_forward(m, d)
    cardan.mj_inverse(m, d)


def use_functions(m: Any, d: Any) -> None:
    """Rays, Jacobians, support functions."""
    origin, down, found = np.array([0.0, 0.0, 5.0]), np.array([0.0, 0.0, -1.0]), np.zeros(1, np.int32)
    cardan.mj_ray(m, d, origin, down, None, 1, -1, found)
    rays, distances = np.tile(down, 4), np.zeros(4)
    cardan.mj_multiRay(m, d, origin, rays, None, 1, -1, np.zeros(4, np.int32), distances, 4, 100.0)
    if m.nv:
        cardan.mj_jacBody(m, d, np.zeros((3, m.nv)), np.zeros((3, m.nv)), m.nbody - 1)
        cardan.mj_solveM(m, d, np.zeros((1, m.nv)), np.ones((1, m.nv)))
        cardan.mj_mulM(m, d, np.zeros(m.nv), np.ones(m.nv))
    cardan.mj_rnePostConstraint(m, d)
    cardan.mj_subtreeVel(m, d)
    cardan.mj_objectVelocity(m, d, cardan.mjtObj.mjOBJ_BODY, m.nbody - 1, np.zeros(6), 0)


def differentiate(m: Any, d: Any) -> None:
    """Derivatives of a step and of inverse dynamics, where there are such."""
    size = 2 * m.nv + m.na
    if not size or size > 200:
        return
    cardan.mjd_transitionFD(m, d, 1e-6, False, np.zeros((size, size)), np.zeros((size, m.nu)), None, None)
    if m.opt.integrator != RK4 and m.nv and not m.opt.noslip_iterations:
        cardan.mjd_inverseFD(m, d, 1e-6, False, np.zeros((m.nv, m.nv)), None, None, None, None, None, None)


def differentiate_exactly(m: Any, d: Any) -> None:
    """Derivatives of a step and of inverse dynamics, of sensors by a parameter, and of a trajectory."""
    cardan.mj_step(m, d, 3)
    size = 2 * m.nv + m.na
    state, control = np.zeros((size, size)), np.zeros((size, m.nu))
    cardan.mjd_transition(m, d, state, control, np.zeros((m.nsensordata, size)), np.zeros((m.nsensordata, m.nu)))
    cardan.mjd_inverse(m, d, 1, np.zeros((m.nv, m.nv)), None, None, None, None, None, None)
    cardan.derivatives(m, d, of=("qvel",), by=("body_mass",))
    tape = cardan.record(m, d, 3, np.zeros((3, m.nu)))
    tape.gradient(np.ones(size))
    if not state.any() or not np.isfinite(state).all():
        raise SystemExit("no derivatives")


def roll_out(m: Any, d: Any) -> None:
    """A rollout of two worlds."""
    spec = cardan.mjtState.mjSTATE_FULLPHYSICS
    state = np.zeros(cardan.mj_stateSize(m, spec))
    cardan.mj_getState(m, d, state, spec)
    rollout.rollout(m, d, np.tile(state, (2, 1)), np.zeros((2, 3, m.nu)))


def use(path: str, which: str) -> None:
    """Load a model and try everything on it."""
    m = cardan.MjModel.from_xml_path(path)
    d = cardan.MjData(m)
    if which == "exact":
        differentiate_exactly(m, d)
        return
    for integrator, solver, cone, jacobian in settings(which, m):
        m.opt.integrator, m.opt.solver, m.opt.cone, m.opt.jacobian = integrator, solver, cone, jacobian
        step_all(m, d)
    use_functions(m, d)
    differentiate(m, d)
    if not m.nplugin:
        roll_out(m, d)


def loaded_names() -> list[str]:
    """Names of all kernels whose native code is loaded: stages, colliders, functions of the interface."""
    calls = (binding for binding in (*Binding.all.values(), *Binding.hidden) if isinstance(binding, KernelBinding))
    return [*driver.loaded_names(), *(binding.entry.name for binding in calls if binding.loaded)]


def main(which: str, paths: list[str]) -> None:
    """Use all models; print how many there were, then the loaded kernels."""
    warnings.simplefilter("ignore")
    refused = []
    for path in paths:
        try:
            use(path, which)
        except cardan.FatalError as error:
            refused.append(f"{Path(path).name}: {error}")
        except ValueError as error:  # files that are no models, parts of others
            refused.append(f"{Path(path).name}: {error}")
    print(len(paths) - len(refused), *loaded_names(), sep="\n")
    print(*refused, sep="\n", file=sys.stderr)
    if "numba" in sys.modules:
        raise SystemExit("Numba was imported")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
