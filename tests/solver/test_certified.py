"""Newton and CG with the starts and termination criteria of MuJoCo 4.0 (``compat="4.0"``), iteration by iteration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from later import later_run
from models import model_path

import cardan
from cardan.model import internals

LIMITS = (0, 1, 2, 3, 4, 5, 100)
PILES = """
<mujoco>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body pos="0 0 .095"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
    <body pos="0 0 .29"><freejoint/><geom type="box" size=".08 .1 .1" euler="0 0 20"/></body>
    <body pos="1 0 .145"><freejoint/><geom type="capsule" size=".05 .1"/></body>
    <body pos="2 0 .04"><freejoint/><geom size=".05" condim="4"/></body>
    <body pos="3 0 1"><joint axis="0 1 0" range="-10 10"/><geom type="capsule" size=".04" fromto="0 0 0 .5 0 .3"/>
      <body pos=".5 0 .3">
        <joint axis="0 1 0" frictionloss=".1"/><geom type="capsule" size=".04" fromto="0 0 0 .3 0 0"/>
      </body>
    </body>
  </worldbody>
  <compiler autolimits="true"/>
</mujoco>
"""
RUN = """
m = mujoco.MjModel.from_xml_string(text) if text else mujoco.MjModel.from_xml_path(path)
m.opt.solver, m.opt.cone = solver, cone
if not islands:
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND
out = []
for limit in limits:
    m.opt.iterations = limit
    d = mujoco.MjData(m)
    d.qpos[:], d.qvel[:], d.qacc_warmstart[:] = state
    mujoco.mj_forward(m, d)
    used = max(1, min(d.nisland, 20))
    first = [[float(x) for x in d.solver.improvement[:5]], [float(x) for x in d.solver.gradient[:5]]]
    out.append((np.array(d.qacc), d.solver_niter[:used].tolist(), first))
"""


def compared(text: str, path: Path | None, solver: int, cone: int, islands: bool, state: Any) -> None:
    """Results, numbers of iterations, improvements and gradients of the first island are those of 4.0.0."""
    where = {"text": text, "path": str(path or ""), "solver": solver, "cone": cone, "islands": islands}
    theirs = later_run(RUN, **where, limits=LIMITS, state=state)
    m = cardan.MjModel.from_xml_string(text, compat="4.0") if text else cardan.MjModel.from_xml_path(path, compat="4.0")
    m.opt.solver, m.opt.cone = solver, cone
    if not islands:
        m.opt.enableflags &= ~int(cardan.mjtEnableBit.mjENBL_ISLAND)
    for limit, (qacc, niter, (improvement, gradient)) in zip(LIMITS, theirs, strict=True):
        m.opt.iterations = limit
        d = cardan.MjData(m)
        d.qpos[:], d.qvel[:], d.qacc_warmstart[:] = state
        cardan.mj_forward(m, d)
        assert d.solver_niter[: len(niter)].tolist() == niter, limit
        scale = max(1.0, np.abs(qacc).max())
        np.testing.assert_allclose(d.qacc, qacc, atol=1e-7 * scale, err_msg=str(limit))
        for found, expected in ((d.solver.improvement, improvement), (d.solver.gradient, gradient)):
            count = min(niter[0], 5)
            largest = max(1.0, *expected)
            np.testing.assert_allclose(found[:count], expected[:count], rtol=1e-6, atol=1e-10 * largest)


SOLVERS = [int(cardan.mjtSolver.mjSOL_CG), int(cardan.mjtSolver.mjSOL_NEWTON)]


@pytest.mark.parametrize("islands", [True, False], ids=["islands", "whole"])
@pytest.mark.parametrize("cone", [0, 1], ids=["pyramidal", "elliptic"])
@pytest.mark.parametrize("solver", SOLVERS, ids=["CG", "Newton"])
def test_iterations_with_several_islands(solver, cone, islands):
    m = cardan.MjModel.from_xml_string(PILES, compat="4.0")
    d = cardan.MjData(m)
    rng = np.random.default_rng(1)
    compared(PILES, None, solver, cone, islands, (d.qpos, 0.3 * rng.normal(size=m.nv), np.zeros(m.nv)))


@pytest.mark.parametrize("cone", [0, 1], ids=["pyramidal", "elliptic"])
@pytest.mark.parametrize("solver", SOLVERS, ids=["CG", "Newton"])
def test_iterations_of_a_humanoid(solver, cone):
    path = model_path("humanoid")
    m = cardan.MjModel.from_xml_path(path, compat="4.0")
    d = cardan.MjData(m)
    for _ in range(150):
        cardan.mj_step(m, d)
    rng = np.random.default_rng(2)
    compared("", path, solver, cone, True, (d.qpos, d.qvel + 0.1 * rng.normal(size=m.nv), d.qacc_warmstart))


@pytest.mark.parametrize("cone", [0, 1], ids=["pyramidal", "elliptic"])
def test_iterations_of_an_island_with_mostly_empty_rows(cone):
    """An island of medium size, whose matrices are sparse."""
    rows = range(11)
    bodies = "".join(
        f'<body pos="{0.19 * k} 0 .095"><freejoint/><geom type="box" size=".1 .1 .1" euler="0 0 {3 * k}"/></body>'
        for k in rows
    )
    text = f'<mujoco><worldbody><geom type="plane" size="5 5 1"/>{bodies}</worldbody></mujoco>'
    m = cardan.MjModel.from_xml_string(text, compat="4.0")
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    assert d.nisland == 1
    assert not internals.number(d, "work.dense_island")
    rng = np.random.default_rng(3)
    newton = int(cardan.mjtSolver.mjSOL_NEWTON)
    compared(text, None, newton, cone, True, (d.qpos, 0.1 * rng.normal(size=m.nv), np.zeros(m.nv)))


@pytest.mark.parametrize("solver", SOLVERS, ids=["CG", "Newton"])
def test_no_iteration_at_rest(solver):
    """A scene that has come to rest is solved by its warm start."""
    m = cardan.MjModel.from_xml_string(PILES, compat="4.0")
    m.opt.solver = solver
    d = cardan.MjData(m)
    for _ in range(2000):
        cardan.mj_step(m, d)
    compared(PILES, None, solver, 0, True, (d.qpos, d.qvel, d.qacc_warmstart))
    cardan.mj_forward(m, d)
    assert (d.solver_niter == 0).any()


def test_a_tolerance_of_zero_does_not_accept_the_warm_start():
    m = cardan.MjModel.from_xml_string(PILES, compat="4.0")
    m.opt.tolerance = 0
    d = cardan.MjData(m)
    for _ in range(300):
        cardan.mj_step(m, d)
    assert d.solver_niter[0] > 0
