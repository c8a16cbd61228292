"""Exact Jacobians for mujoco.sysid, with a small stand-in for that module: its own needs packages beside MuJoCo."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import cardan
from cardan import minimize
from cardan.rollout import rollout
from cardan.sysid import ExactJacobian

XML = """
<mujoco><option integrator="implicitfast" timestep="0.005"><flag contact="disable"/></option>
  <worldbody><body name="a"><joint name="j" type="{joint}" damping=".1"/><geom size=".1" pos="0 0 -.3" mass="1"/>
    <body name="b" pos="0 0 -.4"><joint name="k" axis="0 1 0" range="-10 25" limited="true" armature=".02"/>
      <geom size=".05" pos=".1 0 -.3" mass=".5"/></body></body></worldbody>
  <actuator><motor name="m" joint="k" gear=".5"/></actuator>
  <sensor><jointpos joint="k"/><jointvel joint="k"/><framepos objtype="body" objname="b"/></sensor>
</mujoco>
"""
NSTEP = 60
FULL = cardan.mjtState.mjSTATE_FULLPHYSICS


@dataclasses.dataclass(frozen=True)
class Series:
    data: np.ndarray


@dataclasses.dataclass(frozen=True)
class Trajectory:
    control: Series
    sensordata: Series
    state: Series

    def replace(self, **changes: Any) -> Trajectory:
        return dataclasses.replace(self, **changes)


def sysid_rollout(models: Any, datas: Any, control_signal: Any, initial_states: Any) -> list[Trajectory]:
    control, start = np.stack(control_signal), np.stack(initial_states)
    states, sensors = rollout(list(models), datas[0], start, control)
    return [Trajectory(*map(Series, parts)) for parts in zip(control, sensors, states, strict=True)]


def build_residual_fn(
    build: Callable[[np.ndarray], cardan.MjModel], vary_start: bool = False, custom_rollout: Any = None
) -> Callable[..., Any]:
    """The residual is all states and sensor values; ``build`` makes the model of some parameters."""

    def residual(x: np.ndarray, params: Any) -> tuple[list[np.ndarray], None, None]:
        columns = x.reshape(len(x), -1).T
        models = [build(column) for column in columns]
        d = cardan.MjData(models[0])
        start = np.zeros(cardan.mj_stateSize(models[0], FULL))
        cardan.mj_getState(models[0], d, start, FULL)
        starts = [start + (vary_start and k) for k in range(len(models))]
        control = [np.sin(0.3 * np.arange(NSTEP)).reshape(-1, 1)] * len(models)
        given = {"models": models, "datas": [d], "control_signal": control, "initial_states": starts}
        found = sysid_rollout(**given) if custom_rollout is None else custom_rollout(**given, param_dicts=[{}])
        return [np.stack([np.hstack([t.state.data, t.sensordata.data]).ravel() for t in found], -1)], None, None

    return residual


SYSID: Any = SimpleNamespace(build_residual_fn=build_residual_fn, sysid_rollout=sysid_rollout)


def builder(joint: str, text: str = XML) -> Callable[[np.ndarray], cardan.MjModel]:
    """Parameters: the mass of a geom, which changes inertias and constants, an armature, and gravity."""

    def build(x: np.ndarray) -> cardan.MjModel:
        spec = cardan.MjSpec.from_string(text.format(joint=joint))
        spec.geoms[1].mass, spec.joint("k").armature = x[0], x[1]
        spec.option.gravity = [0, 0, x[2]]
        return spec.compile()

    return build


@pytest.mark.parametrize("joint", ["hinge", "ball", "free"])
def test_agrees_with_differences(joint: str) -> None:
    exact = ExactJacobian(SYSID, None, build=builder(joint))
    x = np.array([[0.5], [0.02], [-9.81]])
    r = exact.residual(x, None)[0][0]
    expected, _ = minimize.jacobian_fd(lambda points: exact.residual(points, None)[0][0], x, r, 1e-7, 0)
    got = exact(x, r)
    assert got.shape == expected.shape and np.abs(expected[:, 0]).max() > 0.01
    for k in range(3):
        np.testing.assert_allclose(got[:, k], expected[:, k], atol=3e-5 * np.abs(expected[:, k]).max())


def test_finds_parameters() -> None:
    build = builder("hinge", XML.replace('limited="true"', 'limited="false"'))
    exact = ExactJacobian(SYSID, None, build=lambda x: build(np.array([*x, -9.81])))
    target = exact.residual(np.array([0.7, 0.05]), None)[0][0]
    x, _ = minimize.least_squares(
        np.array([0.5, 0.02]),
        lambda points: exact.residual(points, None)[0][0] - target,
        jacobian=exact,
        verbose=0,
    )
    np.testing.assert_allclose(x, [0.7, 0.05], rtol=1e-5)


def test_errors() -> None:
    def of_groups(x: np.ndarray) -> cardan.MjModel:
        m = builder("hinge")(np.array([0.5, 0.02, -9.81]))
        m.geom_group[0] = int(x[0] > 1.0)
        return m

    def of_sizes(x: np.ndarray) -> cardan.MjModel:
        return builder("ball" if x[0] > 1.0 else "hinge")(np.array([0.5, 0.02, -9.81]))

    for build, message in ((of_groups, "geom_group must not depend"), (of_sizes, "sizes of the model must not")):
        with pytest.raises(ValueError, match=message):
            ExactJacobian(SYSID, None, build=build)(np.array([1.0]))
    with pytest.raises(ValueError, match="initial states must not depend"):
        ExactJacobian(SYSID, None, build=builder("hinge"), vary_start=True)(np.array([0.5, 0.02, -9.81]))
    with pytest.raises(ValueError, match="custom_rollout can't be given"):
        ExactJacobian(SYSID, None, build=builder("hinge"), custom_rollout=print)


def test_parameters_without_effect_have_zero_columns() -> None:
    build = builder("hinge")
    exact = ExactJacobian(SYSID, None, build=lambda x: build(np.array([0.5, 0.02, -9.81])))
    assert not exact(np.array([1.0, 2.0])).any()
