"""Parity, level 1 (compile): where the inertia of bodies comes from, and which bodies are simple."""

from __future__ import annotations

from itertools import product

import mujoco
import numpy as np
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


@pytest.mark.parametrize("kind", ["sphere", "capsule", "cylinder", "ellipsoid", "box"])
def test_frames_of_several_geoms_agree_to_the_last_bit(kind: str) -> None:
    rng = np.random.default_rng(4)
    for _ in range(30):
        geoms = ""
        for _ in range(rng.integers(1, 4)):
            size, pos, quat = (" ".join(map(repr, rng.uniform(0.1, 1, n).tolist())) for n in (3, 3, 4))
            geoms += f'<geom type="{kind}" size="{size}" pos="{pos}" quat="{quat}"/>'
        xml = f"<mujoco><worldbody><body><freejoint/>{geoms}</body></worldbody></mujoco>"
        expected, found = mujoco.MjModel.from_xml_string(xml), cardan.MjModel.from_xml_string(xml)
        assert np.array_equal(found.geom_quat, expected.geom_quat)
        for name in ("body_mass", "body_ipos", "body_inertia", "body_iquat", "geom_sameframe"):
            assert np.array_equal(getattr(found, name), getattr(expected, name)), name


@pytest.mark.parametrize("shape", ['type="mesh" mesh="m"', 'type="hfield" hfield="h"', 'type="box" mesh="m"'])
def test_assets_between_two_points(shape: str) -> None:
    compare(
        f"""<mujoco><asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
        <hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/></asset>
        <worldbody><geom {shape} fromto="0 0 0 1 1 1"/></worldbody></mujoco>"""
    )
