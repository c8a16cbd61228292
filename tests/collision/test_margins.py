"""Margins and gaps of pairs of geoms, by the rules of both versions of MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest
from derivatives_compared import assert_same_jacobians
from later import later_run, later_states

import cardan

SCENE = """<mujoco><option o_margin="{o_margin}"><flag override="{override}"/></option><worldbody>
<geom name="plane" type="plane" size="5 5 .1" margin="{margin1}" gap="{gap1}"/>
<body pos="0 0 .15"><freejoint/><geom name="ball" size=".1" margin="{margin2}" gap="{gap2}"/></body>
<body pos="2 0 .15"><freejoint/><geom type="box" size=".1 .1 .1" margin="{margin2}" gap="{gap2}"/></body>
<body pos="1 0 .15"><freejoint/>
<geom type="capsule" size=".1 .1" margin="{margin2}" gap="{gap2}" euler="90 0 0"/></body>
<body><geom size=".05" pos="4 0 1" margin=".03"/><geom size=".05" pos="4 0 1.2" margin=".03"/>
<geom size=".05" pos="4 0 1.4" margin=".03"/><geom size=".05" pos="4 0 1.6" margin=".03"/></body>
<body><freejoint/><geom size=".05" pos="4 .15 1" margin=".03"/><geom size=".05" pos="4 .15 1.2" margin=".03"/>
<geom size=".05" pos="4 .15 1.4" margin=".03"/><geom size=".05" pos="4 .15 1.6" margin=".03"/></body>
</worldbody><contact>{pair}</contact></mujoco>"""
FIELDS = "dist", "includemargin", "exclude", "dim"


def scene(
    margins: tuple[float, float],
    gaps: tuple[float, float] = (0.0, 0.0),
    pair: str = "",
    override: float | None = None,
) -> str:
    """Three bodies 5 cm above a plane, and two bodies of four balls 5 cm apart."""
    return SCENE.format(
        margin1=margins[0],
        margin2=margins[1],
        gap1=gaps[0],
        gap2=gaps[1],
        pair=pair,
        o_margin=override or 0,
        override="disable" if override is None else "enable",
    )


PAIR = '<pair geom1="plane" geom2="ball" margin="{0}" gap="{1}"/>'
CASES = {
    "sum of margins above": scene((0.03, 0.03)),
    "sum of margins below": scene((0.02, 0.02)),
    "in the gap": scene((0.03, 0.01), (0.02, 0.01)),
    "gap beyond the margin": scene((0.03, 0.03), (0.02, 0.01)),
    "negative margin": scene((0.08, -0.02)),
    "negative gap": scene((0.06, 0.0), (-0.02, 0.0)),
    "pair in the gap": scene((0.03, 0.03), pair=PAIR.format(0.04, 0.02)),
    "pair with a gap": scene((0.03, 0.03), pair=PAIR.format(0.06, 0.02)),
    "override in the gap": scene((0.03, 0.03), (0.01, 0.01), override=0.04),
    "override": scene((0.03, 0.03), (0.01, 0.01), PAIR.format(0.4, 0.02), override=0.06),
}


def contacts(text: str, compat: str) -> dict[str, np.ndarray]:
    """Fields of contacts and rows."""
    m = cardan.MjModel.from_xml_string(text, compat=compat)
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    found = {name: np.array(getattr(d.contact, name)) for name in FIELDS}
    return found | {name: np.array(getattr(d, name)) for name in ("efc_pos", "efc_margin", "efc_KBIP")}


@pytest.mark.parametrize("name", CASES)
def test_margins_as_in_4_0(name: str) -> None:
    """Contacts, the margins of their rows, and the impedance."""
    code = """m = mujoco.MjModel.from_xml_string(xml); d = mujoco.MjData(m); mujoco.mj_forward(m, d)
out = {name: np.array(getattr(d.contact, name)) for name in fields}"""
    there = later_run(code, xml=CASES[name], fields=FIELDS)
    there |= later_states(CASES[name], 0, fields=("efc_pos", "efc_margin", "efc_KBIP"))
    for field, found in contacts(CASES[name], "4.0").items():
        assert found.shape == there[field].shape, field
        np.testing.assert_allclose(found, there[field], rtol=1e-12, atol=1e-12, err_msg=field)


@pytest.mark.parametrize("name", CASES)
def test_margins_as_in_3_1(name: str) -> None:
    """Contacts, the margins of their rows, and the impedance."""
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_string(CASES[name])
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    for field, found in contacts(CASES[name], "3.1").items():
        there = np.array(getattr(d if field.startswith("efc") else d.contact, field))
        assert found.size == there.size, field
        np.testing.assert_allclose(found, there.reshape(found.shape), rtol=1e-12, atol=1e-12, err_msg=field)


def test_reach_of_bodies() -> None:
    """The margin of a body contains the gaps of its geoms in 4.0."""
    text = scene((0.1, 0.03), (0.02, 0.01))
    there = later_run("out = mujoco.MjModel.from_xml_string(xml).body_margin", xml=text)
    np.testing.assert_allclose(cardan.MjModel.from_xml_string(text, compat="4.0").body_margin, there, atol=1e-15)
    np.testing.assert_allclose(cardan.MjModel.from_xml_string(text).body_margin[:2], [0.1, 0.03], atol=1e-15)


def test_derivatives() -> None:
    """Exact derivatives of a step with contacts in the margin equal differences."""
    text = """<mujoco><worldbody><geom type="plane" size="5 5 .1" margin=".03" gap=".01"/>
    <body pos="0 0 .15"><freejoint/><geom size=".1" margin=".03" gap=".02"/></body></worldbody></mujoco>"""
    m = cardan.MjModel.from_xml_string(text, compat="4.0")
    d = cardan.MjData(m)
    d.qvel[:] = 0.1, 0.2, -0.3, 1.0, 2.0, 3.0
    assert_same_jacobians(m, d)
