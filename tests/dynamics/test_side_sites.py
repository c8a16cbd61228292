"""Side sites of tendons in MuJoCo 4.0: the tendon winds around the obstacle as the path through the site does."""

import numpy as np
import pytest
from later import later_run

import cardan

XML = """<mujoco><worldbody><geom name="g" type="{kind}" size=".5 1" contype="0" conaffinity="0"/>
<body name="a" mocap="true"><site name="a"/></body><body name="b" mocap="true"><site name="b"/></body>
<body name="s" mocap="true"><site name="s"/></body>
<body><joint/><geom size=".1" pos="5 0 0"/></body></worldbody>
<tendon><spatial><site site="a"/><geom geom="g" {side}/><site site="b"/></spatial></tendon></mujoco>"""
THERE = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
out = []
for place in places:
    d.mocap_pos[:] = place
    mujoco.mj_fwdPosition(m, d)
    out.append((float(d.ten_length[0]), int(d.ten_wrapnum[0]), np.array(d.wrap_xpos).reshape(-1, 3)[:d.ten_wrapnum[0]]))
"""


def lengths(xml: str, places: np.ndarray, compat: str) -> list[float]:
    """Lengths of the tendon, for places of both ends and of the site."""
    m = cardan.MjModel.from_xml_string(xml, compat=compat)
    d = cardan.MjData(m)
    found = []
    for place in places:
        d.mocap_pos[:] = place
        cardan.mj_fwdPosition(m, d)
        found.append(float(d.ten_length[0]))
    return found


@pytest.mark.parametrize("kind", ["sphere", "cylinder"])
@pytest.mark.parametrize("side", ["", 'sidesite="s"'])
def test_random_paths(kind: str, side: str) -> None:
    """Lengths, numbers of points and points are those of 4.0.0."""
    xml = XML.format(kind=kind, side=side)
    places = np.random.default_rng(4).uniform(-1.2, 1.2, (300, 3, 3))
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    d = cardan.MjData(m)
    wrapped = 0
    for place, (length, number, points) in zip(places, later_run(THERE, xml=xml, places=places), strict=True):
        d.mocap_pos[:] = place
        cardan.mj_fwdPosition(m, d)
        assert d.ten_wrapnum[0] == number
        assert abs(d.ten_length[0] - length) < 1e-9
        np.testing.assert_allclose(d.wrap_xpos.reshape(-1, 3)[:number], points, rtol=0.0, atol=1e-7)
        wrapped += number == 4
    assert wrapped > 5


def test_continuity() -> None:
    """The length has no jump when the segment moves away from the obstacle, as it has in 3.1."""
    xml = XML.format(kind="cylinder", side='sidesite="s"')
    heights = np.linspace(0.3, -0.9, 400)
    places = np.array([[(-1.0, y, 0.0), (1.0, y, 0.0), (0.0, -0.7, 0.0)] for y in heights])
    jumps = {compat: np.abs(np.diff(lengths(xml, places, compat))).max() for compat in ("3.1", "4.0")}
    assert jumps["4.0"] < 0.01


def test_more_than_half_a_turn() -> None:
    """The tendon follows a path that winds around the obstacle by more than half a turn."""
    xml = XML.format(kind="cylinder", side='sidesite="s"')
    ends = [(-1.0, 0.8, 0.0), (1.0, 0.8, 0.0), (0.0, -0.7, 0.0)]
    (length,) = lengths(xml, np.array([ends]), "4.0")
    reach = np.hypot(1.0, 0.8)
    tangent = np.sqrt(reach**2 - 0.25)
    arc = 2.0 * np.pi - 2.0 * np.arctan2(1.0, 0.8) - 2.0 * np.arccos(0.5 / reach)
    assert abs(length - (2.0 * tangent + 0.5 * arc)) < 1e-9
