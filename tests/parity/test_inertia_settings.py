"""Parity, level 1 (compile): where the inertia of bodies comes from, and which bodies are simple."""

from __future__ import annotations

from itertools import product

import mujoco
import pytest
from models_compared import model_differences

import cardan
from cardan.errors import MjcfError

SETTINGS = (
    'inertiafromgeom="true"',
    'inertiafromgeom="true" inertiagrouprange="1 2"',
    'inertiafromgeom="auto" inertiagrouprange="1 2"',
    'inertiafromgeom="false"',
    'inertiafromgeom="true" fusestatic="true"',
    'fusestatic="true"',
    'discardvisual="true" inertiafromgeom="true"',
)
INERTIALS = (
    "",
    '<inertial pos="1 2 3" mass="2" diaginertia="1 2 2.5"/>',
    '<inertial pos="1 2 3" mass="2" fullinertia="1 1 1 .1 .2 .3"/>',
)
GEOMS = (
    "",
    '<geom size=".1" group="1" pos="0 1 0"/>',
    '<geom size=".1" contype="0" conaffinity="0" pos=".1 .2 .3"/>',
    '<geom size=".1" group="1" pos="0 1 0"/><geom type="box" size=".1 .2 .3" pos="0 0 1"/>',
)


def compare(xml: str) -> None:
    """Both engines refuse the model, or compile it to the same."""
    try:
        expected = mujoco.MjModel.from_xml_string(xml)
    except ValueError:
        with pytest.raises(MjcfError):
            cardan.MjModel.from_xml_string(xml)
        return
    assert list(model_differences(expected, cardan.MjModel.from_xml_string(xml))) == []


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("inertial", INERTIALS)
def test_sources_of_inertia(settings: str, inertial: str) -> None:
    for geoms, joint in product(GEOMS, ("", "<joint/>", "<freejoint/>")):
        body = f'<body pos=".1 .2 .3">{joint}{inertial}{geoms}</body>'
        below = f'<body pos=".1 .2 .3"><joint type="slide"/><geom size=".1"/>{body}</body>'
        for tree in (body, below):
            compare(f"<mujoco><compiler {settings}/><worldbody>{tree}</worldbody></mujoco>")


@pytest.mark.parametrize("depth", range(4))
@pytest.mark.parametrize("joint", ["<joint/>", '<joint type="slide"/>', "<joint/><joint axis='0 1 0' type='slide'/>"])
def test_simple_bodies_below_fixed_ones(depth: int, joint: str) -> None:
    body = f'<body>{joint}<geom size=".3"/></body>'
    for _ in range(depth):
        body = f"<body>{body}</body>"
    compare(f"<mujoco><worldbody>{body}</worldbody></mujoco>")


@pytest.mark.parametrize("target", ['joint="j"', 'jointinparent="j"', 'site="s"'])
def test_targets_whose_range_is_inherited(target: str) -> None:
    compare(
        f"""<mujoco><worldbody><body><joint name="j" range="-1 1"/><geom size="1"/><site name="s"/></body></worldbody>
        <actuator><position inheritrange="1" {target}/></actuator></mujoco>"""
    )
