"""First-party plugins against the reference: compilation, forces, steps from each state of a trajectory."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import mujoco
import numpy as np
import pytest
from marks import takes_minutes_interpreted
from parity.elastic_models import block, cable, particles, settings, sheet

import cardan

PLUGIN_FIELDS = ("plugin", "plugin_attr", "plugin_attradr", "plugin_stateadr", "plugin_statenum", "body_plugin")
PLUGIN_FIELDS += ("actuator_plugin", "actuator_actadr", "actuator_actnum", "sensor_plugin", "sensor_dim")
INTEGRATORS = ("Euler", "RK4", "implicit", "implicitfast")


def both(xml: str) -> tuple[mujoco.MjModel, mujoco.MjData, cardan.MjModel, cardan.MjData]:
    """Models and data of both engines, compiled alike."""
    rm, m = mujoco.MjModel.from_xml_string(xml), cardan.MjModel.from_xml_string(xml)
    for field in PLUGIN_FIELDS:
        np.testing.assert_array_equal(getattr(m, field), getattr(rm, field), field)
    return rm, mujoco.MjData(rm), m, cardan.MjData(m)


def error(expected: np.ndarray, found: np.ndarray) -> float:
    """Largest difference, relative to the largest number or 1."""
    return float(np.abs(expected - found).max(initial=0.0) / (1.0 + np.abs(expected).max(initial=0.0)))


def compare_steps(xml: str, spread: float, steps: int = 12, control: float = 0.0) -> None:
    """Start both engines from each state of a trajectory of the reference that starts away from rest."""
    rm, rd, m, d = both(xml)
    rng = np.random.default_rng(7)
    mujoco.mj_integratePos(rm, rd.qpos, spread * rng.normal(size=rm.nv), 1.0)
    for _ in range(steps):
        rd.ctrl[:] = control * rng.normal(size=rm.nu)
        for field in ("qpos", "qvel", "act", "ctrl", "time"):
            setattr(d, field, getattr(rd, field))
        mujoco.mj_step(rm, rd)
        cardan.mj_step(m, d)
        for field in ("qfrc_passive", "actuator_force", "act_dot", "qacc", "qDeriv"):
            assert error(getattr(rd, field), getattr(d, field)) < 1e-9, field
        for field in ("qpos", "qvel", "act"):
            assert error(getattr(rd, field), getattr(d, field)) < 1e-9, field


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("count", [2, 7])
def test_cable(count: int, flat: bool) -> None:
    compare_steps(cable(count, count, flat), 0.3)


@pytest.mark.parametrize("integrator", INTEGRATORS[2:])
def test_cable_with_other_integrators(integrator: str) -> None:
    compare_steps(cable(3, 4, False, f'integrator="{integrator}"'), 0.3, steps=3)


ELASTIC: dict[str, tuple[str, Callable[..., Any], dict[str, Any]]] = {
    "shell": ("shell", sheet, {"young": 1e4, "poisson": 0.3, "thickness": 0.02}),
    "membrane": ("membrane", sheet, {"young": 1e4, "poisson": 0.3, "thickness": 0.01, "damping": 5e-4}),
    "solid": ("solid", block, {"young": 100, "poisson": 0.3, "damping": 5e-4}),
    "solid without damping": ("solid", block, {"young": 100}),
}


@pytest.mark.parametrize("case", ELASTIC)
def test_elements(case: str) -> None:
    plugin, shape, config = ELASTIC[case]
    compare_steps(particles(plugin, shape(3), config, 'timestep="0.001"'), 0.01)


@pytest.mark.parametrize("integrator", INTEGRATORS[1:])
def test_damped_elements_with_other_integrators(integrator: str) -> None:
    plugin, shape, config = ELASTIC["membrane"]
    compare_steps(particles(plugin, shape(3), config, f'timestep="0.001" integrator="{integrator}"'), 0.01, steps=4)


def test_three_triangles_at_one_edge() -> None:
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0.3, 0.8, 0.2], [0.4, -0.6, 0.1], [0.5, 0.1, 0.9]])
    elements = np.array([[0, 1, 2], [1, 0, 3], [0, 1, 4]])
    compare_steps(particles("shell", (points, elements), {"young": 100, "poisson": 0.3, "thickness": 0.1}), 0.1)


GAINS = (
    {"kp": 4},
    {"kd": 3},
    {"ki": 5},
    {"kp": 1, "ki": 5, "imax": 0.05},
    {"kp": 4, "slewmax": 2},
    {"kp": 4, "kd": 3, "ki": 2, "slewmax": 2, "imax": 0.01},
    {"kp": 4, "ki": -2},
    {"ki": 3, "imax": 0, "slewmax": 0},
)
DYNAMICS = (
    "",
    'ctrlrange="-.2 .2"',
    'dyntype="filter" dynprm="0.3"',
    'dyntype="integrator" actrange="-.01 .01"',
    'dyntype="integrator" actearly="true" actrange="-.01 .01" forcerange="-1 1"',
    'dyntype="filterexact" dynprm="0.3" actearly="true"',
)


@pytest.mark.parametrize("option", [f'integrator="{name}"' for name in INTEGRATORS])
def test_pid(option: str) -> None:
    joints = actuators = ""
    for k, (config, attributes) in enumerate(product(GAINS, DYNAMICS)):
        joints += f'<body pos="{k} 0 0"><joint name="j{k}" type="slide"/><geom size=".1" mass="2"/></body>'
        actuators += f'<plugin plugin="mujoco.pid" joint="j{k}" gear="1.5" {attributes}>{settings(config)}</plugin>'
    xml = f"""<mujoco><option timestep="0.01" {option}/><extension><plugin plugin="mujoco.pid"/></extension>
      <worldbody>{joints}</worldbody><actuator>{actuators}</actuator></mujoco>"""
    compare_steps(xml, 0.1, control=0.5)


def test_order_of_instances() -> None:
    names = ("elasticity.cable", "elasticity.solid", "pid", "sdf.nut", "elasticity.shell")
    declared = "".join(f'<plugin plugin="mujoco.{name}"/>' for name in names)
    nut = '<plugin plugin="mujoco.sdf.nut"><config key="radius" value="{}"/></plugin>'
    own = '<plugin plugin="mujoco.elasticity.{}"/>'
    both(f"""
    <mujoco><extension>{declared}</extension>
      <asset><mesh name="n" vertex="0 0 0 1 0 0 0 1 0 0 0 1">{nut.format(0.2)}</mesh></asset>
      <worldbody>
        <body><joint name="j"/><geom size=".1"/>{own.format("solid")}
          <geom type="sdf" mesh="n">{nut.format(0.27)}</geom>
          <body pos="1 0 0"><joint/><geom size=".1"/>{own.format("cable")}</body></body>
        <body><joint/><geom size=".1"/>{own.format("shell")}<geom type="sdf" mesh="n">{nut.format(0.29)}</geom></body>
      </worldbody>
      <actuator><plugin plugin="mujoco.pid" joint="j"/><plugin plugin="mujoco.pid" joint="j"/></actuator>
    </mujoco>""")


@takes_minutes_interpreted
def test_rest_is_kept_over_a_long_run() -> None:
    # 20 s of a bent cable that is damped: it comes to rest in its curve, as in the reference
    xml = cable(11, 6, False, 'timestep="0.002" gravity="0 0 0"')
    rm, rd, m, d = both(xml)
    rng = np.random.default_rng(1)
    rest = rd.qpos.copy()
    mujoco.mj_integratePos(rm, rd.qpos, 0.1 * rng.normal(size=rm.nv), 1.0)
    d.qpos = rd.qpos
    cardan.mj_step(m, d, nstep=10_000)
    mujoco.mj_step(rm, rd, nstep=10_000)
    assert np.abs(d.qfrc_passive).max() < 1e-6
    assert np.abs(d.qpos[7:] - rest[7:]).max() < 1e-3
    assert np.abs(d.qpos[7:] - rd.qpos[7:]).max() < 1e-6
