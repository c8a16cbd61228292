"""The plugin mujoco.sensor.touch_grid against the reference: random grids, contacts and sites."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

import cardan
from cardan.errors import MjcfError

RADIUS, SMALL = 0.5, 0.05


def document(rng: np.random.Generator) -> str:
    """A ball with a touch grid in its middle, and small balls that press on it."""
    directions = rng.normal(size=(rng.integers(1, 8), 3))
    directions[:, 2] = -abs(directions[:, 2])
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    kind = f'condim="{rng.choice([1, 3, 4, 6])}" friction="1 .1 .1"'
    small = "".join(
        f'<body pos="{x} {y} {z}"><freejoint/><geom size="{SMALL}" mass="0.1" {kind}/></body>'
        for x, y, z in (directions * (RADIUS + SMALL - 0.002)).tolist()
    )
    place = rng.choice(["", 'quat=".9 .1 -.2 .3" pos=".1 0 .1"'])
    pad = f'<body><freejoint/><geom size="{RADIUS}" mass="10" {kind}/><site name="s" {place}/></body>'
    config = {
        "size": f"{rng.integers(1, 12)} {rng.integers(1, 12)}",
        "fov": f"{rng.uniform(10, 180)} {rng.uniform(10, 90)}",
        "gamma": rng.uniform() if rng.random() < 0.7 else 0,
        "nchannel": rng.integers(1, 7),
    }
    settings = "".join(f'<config key="{key}" value="{value}"/>' for key, value in config.items())
    option = rng.choice(['cone="elliptic"', "", 'jacobian="sparse"'])
    return sensor_model(f'objtype="site" objname="s" cutoff="{rng.choice([0, 0.5])}"', settings,
                        small + pad if rng.random() < 0.5 else pad + small, option)  # fmt: skip


def sensor_model(about: str, settings: str, world: str, option: str = "") -> str:
    """A model with one touch grid, between two clocks."""
    return f"""
    <mujoco><option gravity="0 0 -1" tolerance="1e-14" iterations="200" {option}/>
      <extension><plugin plugin="mujoco.sensor.touch_grid"/></extension>
      <worldbody>{world}</worldbody>
      <sensor><clock/><plugin plugin="mujoco.sensor.touch_grid" {about}>{settings}</plugin><clock/></sensor>
    </mujoco>"""


@pytest.mark.parametrize("seed", range(20))
def test_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    xml = document(rng)
    rm, m = mujoco.MjModel.from_xml_string(xml), cardan.MjModel.from_xml_string(xml)
    for field in (
        "sensor_type",
        "sensor_dim",
        "sensor_adr",
        "sensor_needstage",
        "sensor_plugin",
        "plugin_attr",
        "plugin",
    ):
        np.testing.assert_array_equal(getattr(m, field), getattr(rm, field), field)
    rd, d = mujoco.MjData(rm), cardan.MjData(m)
    rd.qvel[:] = 0.05 * rng.normal(size=m.nv)
    for _ in range(3):
        d.qpos, d.qvel, d.time = rd.qpos, rd.qvel, rd.time
        mujoco.mj_step(rm, rd)
        cardan.mj_step(m, d)
        assert np.abs(rd.sensordata - d.sensordata).max() < 1e-7 * (1.0 + np.abs(rd.sensordata).max())


GOOD: dict[str, Any] = {"size": "7 7", "fov": "45 45"}
WRONG: dict[str, tuple[dict[str, str], str]] = {
    "no size": ({"size": ""}, "size must be two numbers, found ''"),
    "one size": ({"size": "7"}, "size must be two numbers, found '7'"),
    "no cells": ({"size": "0 4"}, "size must be two positive numbers"),
    "no fov": ({"fov": ""}, "fov must be two numbers"),
    "wide": ({"fov": "181 45"}, "up to 180 and up to 90"),
    "high": ({"fov": "180 91"}, "up to 180 and up to 90"),
    "flat": ({"fov": "0 45"}, "up to 180 and up to 90"),
    "gamma": ({"gamma": "1.1"}, "gamma must be from 0 to 1, found 1.1"),
    "text": ({"gamma": "x"}, "attribute gamma must be a number, found 'x'"),
    "channels": ({"nchannel": "7"}, "nchannel must be from 1 to 6, found 7"),
    "negative": ({"nchannel": "-1"}, "nchannel must be from 1 to 6, found -1"),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_configuration(case: str) -> None:
    change, message = WRONG[case]
    settings = "".join(f'<config key="{key}" value="{value}"/>' for key, value in (GOOD | change).items())
    with pytest.raises(MjcfError, match=message) as caught:
        cardan.MjModel.from_xml_string(sensor_model('objtype="site" objname="s"', settings, '<site name="s"/>'))
    assert caught.value.line == 5


@pytest.mark.parametrize("about", ["", 'objtype="body" objname="b"'])
def test_only_sites_have_grids(about: str) -> None:
    settings = "".join(f'<config key="{key}" value="{value}"/>' for key, value in GOOD.items())
    with pytest.raises(MjcfError, match="must be about a site") as caught:
        cardan.MjModel.from_xml_string(sensor_model(about, settings, '<body name="b"/>'))
    assert caught.value.line == 5


def test_all_sensors_of_an_instance_have_values() -> None:
    world = """<body><geom size=".5"/><site name="s"/></body>
      <body pos="0 0 -.54"><freejoint/><geom size=".05"/></body>"""
    settings = "".join(f'<config key="{key}" value="{value}"/>' for key, value in GOOD.items())
    xml = sensor_model('objtype="site" objname="s"', "", world)
    declared = f'<plugin plugin="mujoco.sensor.touch_grid"><instance name="i">{settings}</instance></plugin>'
    xml = xml.replace('<plugin plugin="mujoco.sensor.touch_grid"/>', declared)
    one = '<plugin plugin="mujoco.sensor.touch_grid" objtype="site" objname="s"></plugin>'
    m = cardan.MjModel.from_xml_string(xml.replace(one, 2 * '<plugin instance="i" objtype="site" objname="s"/>'))
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    assert d.sensordata[1:50].sum() > 1.0
    assert d.sensordata[1:50].tolist() == d.sensordata[50:99].tolist()
