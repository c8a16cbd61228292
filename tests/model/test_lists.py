"""Loops over lists of records whose number changes under way."""

from __future__ import annotations

from types import ModuleType

import mujoco
import pytest

import cardan

BALLS = "".join(f'<body pos="{i} 0 .09"><freejoint/><geom size=".1"/></body>' for i in range(4))
XML = f'<mujoco><worldbody><geom type="plane" size="5 5 1"/>{BALLS}</worldbody></mujoco>'


@pytest.mark.parametrize("engine", [cardan, mujoco], ids=["cardan", "reference"])
@pytest.mark.parametrize(("before", "after"), [(0.09, 1.0), (1.0, 0.09)], ids=["fewer", "more"])
def test_contacts_change_in_a_loop(engine: ModuleType, before: float, after: float) -> None:
    m = engine.MjModel.from_xml_string(XML)
    d = engine.MjData(m)

    def put(height: float) -> None:
        d.qpos[[16, 23]] = height  # of the last two
        engine.mj_forward(m, d)

    put(before)
    seen = 0
    for contact in d.contact:
        seen += 1
        assert contact.dist < 0
        put(after)
    assert seen == d.ncon == (2 if after == 1.0 else 4)
