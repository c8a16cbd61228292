"""Texts may be given as bytes, as in the reference; fields are visible on the classes."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

import cardan

XML = b'<mujoco><worldbody><body name="b"><joint/><geom name="g" size=".1"/></body></worldbody></mujoco>'


@pytest.mark.parametrize("engine", [cardan, mujoco], ids=["cardan", "reference"])
def test_bytes(engine, tmp_path: Path) -> None:
    folder = bytes(tmp_path)
    m = engine.MjModel.from_xml_string(XML)
    assert engine.mju_str2Type(b"joint") == engine.mjtObj.mjOBJ_JOINT
    assert engine.mj_name2id(m, engine.mjtObj.mjOBJ_GEOM, b"g") == 0
    assert m.body(b"b").id == 1
    engine.mj_saveLastXML(folder + b"/m.xml", m)
    assert engine.MjModel.from_xml_path(folder + b"/m.xml").nbody == 2
    engine.mj_saveModel(m, folder + b"/m.mjb", None)
    assert engine.MjModel.from_binary_path(folder + b"/m.mjb").nbody == 2
    engine.mj_printModel(m, folder + b"/m.txt")
    engine.mj_printFormattedData(m, engine.MjData(m), folder + b"/d.txt", b"%g")
    assert (tmp_path / "m.txt").stat().st_size and (tmp_path / "d.txt").stat().st_size


def test_fields_are_visible_on_the_classes() -> None:
    for name in ("MjModel", "MjData"):
        expected = {member for member in dir(getattr(mujoco, name)) if not member.startswith("_")}
        assert expected <= set(dir(getattr(cardan, name)))
    assert "position" in (cardan.MjModel.body_pos.__doc__ or "")
    m = cardan.MjModel.from_xml_string(XML.decode())
    with pytest.raises(AttributeError):
        _ = m.nothing
