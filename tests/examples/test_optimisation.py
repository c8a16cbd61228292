"""The examples that optimise, at a short size: they get where they should."""

from __future__ import annotations

import dataclasses
import importlib
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import cardan

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def example(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """An example as a module; the modules beside it are found, too."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    if name in sys.modules:
        return sys.modules[name]
    return importlib.import_module(name)


def test_linear_quadratic_problem_takes_one_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    # a cart on a line is linear: the first iteration finds the optimum, where the gradient by the controls is 0
    ilqr = example("ilqr", monkeypatch)
    m = cardan.MjModel.from_xml_string(
        """<mujoco><option timestep=".05"/><worldbody><body><joint name="x" type="slide" axis="1 0 0"/>
        <geom size=".1" mass="1"/></body></worldbody><actuator><motor joint="x"/></actuator></mujoco>"""
    )
    cost = ilqr.Cost(np.zeros(2), np.array([1.0, 0.1]), np.array([10.0, 1.0]), np.array([0.01]))
    result = ilqr.solve(ilqr.Dynamics(m), cost, np.array([1.0, 0.0]), np.zeros((20, 1)), 5, 1e-9)
    assert result.converged
    assert result.costs[1] == pytest.approx(result.costs[-1], rel=2e-3)  # what is left is the regularisation
    d = cardan.MjData(m)
    d.qpos[0] = 1.0
    tape = cardan.record(m, d, 20, result.controls)
    x = np.hstack([tape.qpos, tape.qvel])
    by_states = x * np.vstack([np.tile(cost.running, (20, 1)), cost.final])
    gradient = tape.gradient(by_states).controls + cost.control * result.controls
    assert np.abs(gradient).max() < 1e-4


def test_acrobot(monkeypatch: pytest.MonkeyPatch) -> None:
    ilqr, acrobot = (example(name, monkeypatch) for name in ("ilqr", "ilqr_acrobot"))
    result = acrobot.swing_up(ilqr.Dynamics(cardan.MjModel.from_xml_string(acrobot.ACROBOT)), nstep=200, iterations=6)
    assert (np.diff(result.costs) < 0.0).all()
    assert result.costs[-1] < 0.7 * result.costs[0]


def test_quadruped(monkeypatch: pytest.MonkeyPatch) -> None:
    ilqr, quadruped = (example(name, monkeypatch) for name in ("ilqr", "ilqr_quadruped"))
    dynamics = ilqr.Dynamics(cardan.MjModel.from_xml_path(str(quadruped.MODEL)))
    result = quadruped.stand_up(dynamics, nstep=40, iterations=6)
    assert (np.diff(result.costs) < 0.0).all()
    assert result.states[-1, 2] > result.states[0, 2] + 0.15


@pytest.mark.parametrize("name", ["box", "arm"])
def test_identification(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    identify = example("identify", monkeypatch)
    task = identify.TASKS[name]
    near = dataclasses.replace(task, guess=tuple(np.array(task.guess) ** 0.3))
    found = identify.identify(near, seconds=1.0, noise=0.0)
    assert found.converged
