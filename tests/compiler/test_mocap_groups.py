"""Weld groups of mocap bodies: contacts, rays and simple bodies, by the rules of both versions of MuJoCo."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from later import later_run

import cardan

SCENE = """<mujoco><option><flag filterparent="{filter}"/></option><worldbody><geom type="plane" size="3 3 .1"/>
<body mocap="true" pos="0 0 .05"><geom size=".1"/>{children}</body>{others}</worldbody></mujoco>"""
JOINTED = '<body pos=".1 0 0"><joint axis="0 1 0" type="slide"/><geom size=".1"/>{0}</body>'
GRANDCHILD = '<body pos=".05 0 0"><joint/><geom size=".1"/></body>'
STATIC = '<body pos="0 .12 0"><geom size=".1"/></body>'
MOCAP = '<body mocap="true" pos="0 .1 .05"><geom size=".1"/>' + JOINTED.format("") + "</body>"


def scene(children: str, others: str = "", filterparent: str = "enable") -> str:
    """A mocap body near a plane."""
    return SCENE.format(children=children, others=others, filter=filterparent)


CASES = {
    "moving and static children": scene(JOINTED.format(GRANDCHILD) + STATIC),
    "others": scene(JOINTED.format(GRANDCHILD), JOINTED.format("") + STATIC),
    "static": scene(STATIC, STATIC),
    "two": scene("", MOCAP),
    "without the filter": scene(JOINTED.format(GRANDCHILD) + STATIC, JOINTED.format("") + STATIC, "disable"),
}
FIELDS = "body_weldid", "body_rootid", "body_simple", "dof_simplenum"
SCRIPT = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
mujoco.mj_forward(m, d)
out = {name: getattr(m, name).copy() for name in fields}
out["contacts"] = np.array(d.contact.geom).copy()
out["rays"] = [ray(mujoco, m, d, x, y) for x in (0.0, 0.08, 1.0) for y in (0.0, 0.08, 0.16)]
"""


def ray(engine: Any, m: Any, d: Any, x: float, y: float) -> float:
    """Distance of the first moving geom below a point."""
    arguments = (m, d, np.array([x, y, 3.0]), np.array([0.0, 0.0, -1.0]), None, 0, -1, np.zeros(1, np.int32))
    try:
        return engine.mj_ray(*arguments)
    except TypeError:
        return engine.mj_ray(*arguments, None)  # 4.0.0 also returns the normal


RAY = """
def ray(engine, m, d, x, y):
    id = np.zeros(1, np.int32)
    return engine.mj_ray(m, d, np.array([x, y, 3.0]), np.array([0.0, 0.0, -1.0]), None, 0, -1, id, None)
"""


def found(engine: Any, text: str, **settings: str) -> dict[str, Any]:
    """Groups, contacts and rays, computed by a module with MuJoCo's interface."""
    m = engine.MjModel.from_xml_string(text, **settings)
    d = engine.MjData(m)
    engine.mj_forward(m, d)
    rays = [ray(engine, m, d, x, y) for x in (0.0, 0.08, 1.0) for y in (0.0, 0.08, 0.16)]
    return {name: getattr(m, name) for name in FIELDS} | {"contacts": np.array(d.contact.geom), "rays": rays}


@pytest.mark.parametrize("name", CASES)
def test_groups_as_in_4_0(name: str) -> None:
    """A mocap body is the root of a group: its children are not static, and the parent filter applies to them."""
    there = later_run(RAY + SCRIPT, xml=CASES[name], fields=FIELDS)
    for key, value in found(cardan, CASES[name], compat="4.0").items():
        np.testing.assert_allclose(np.ravel(value), np.ravel(there[key]), atol=1e-12, err_msg=key)


@pytest.mark.parametrize("name", CASES)
def test_groups_as_in_3_1(name: str) -> None:
    """A mocap body belongs to the world's group."""
    mujoco = pytest.importorskip("mujoco")
    there = found(mujoco, CASES[name])
    for key, value in found(cardan, CASES[name]).items():
        np.testing.assert_allclose(np.ravel(value), np.ravel(there[key]), atol=1e-12, err_msg=key)
