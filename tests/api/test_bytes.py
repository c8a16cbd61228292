"""Texts may be given as bytes, as in the reference; fields are visible on the classes."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
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


@pytest.mark.parametrize("engine", [cardan, mujoco], ids=["cardan", "reference"])
def test_texts_of_other_kinds(engine) -> None:
    m = engine.MjModel.from_xml_string(XML)
    for kind in (bytes, bytearray, np.bytes_, lambda name: np.str_(name.decode())):
        assert m.body(kind(b"b")).id == 1
        assert engine.mj_name2id(m, engine.mjtObj.mjOBJ_BODY, kind(b"b")) == 1
        assert engine.mju_str2Type(kind(b"geom")) == engine.mjtObj.mjOBJ_GEOM
    for wrong in (3, 1.5, ["b"]):
        with pytest.raises(TypeError):
            engine.mju_str2Type(wrong)
        with pytest.raises(TypeError):
            engine.mj_name2id(m, engine.mjtObj.mjOBJ_BODY, wrong)


@pytest.mark.parametrize("engine", [cardan, mujoco], ids=["cardan", "reference"])
def test_assets_are_bytes_under_names_of_both_kinds(engine) -> None:
    xml = '<mujoco><asset><hfield name="h" file="h.bin" size="1 1 1 1"/></asset></mujoco>'
    content = np.array([2, 2], "i4").tobytes() + np.arange(4, dtype="f4").tobytes()
    for name in ("h.bin", b"h.bin"):
        assert engine.MjModel.from_xml_string(xml, {name: content}).hfield_data[3] == 1
    for wrong in ("text", 1, None):
        with pytest.raises(TypeError):
            engine.MjModel.from_xml_string(xml, {"h.bin": content, "other": wrong})


@pytest.mark.parametrize("engine", [cardan, mujoco], ids=["cardan", "reference"])
def test_results_are_written_into_subclasses_of_arrays(engine) -> None:
    class Named(np.ndarray):
        """An array of a class of its own, as dm_control's are."""

    m = engine.MjModel.from_xml_string(XML)
    d = engine.MjData(m)
    engine.mj_forward(m, d)
    for shape in (Named, np.matrix, np.memmap):
        jacp, spatial, state = (np.zeros(n).view(shape) for n in ((3, m.nv), (1, 3), (1, 2)))
        engine.mj_jac(m, d, jacp, None, np.array([1.0, 0.0, 0.0]), 1)
        assert type(jacp) is shape
        assert jacp[1, 0] == 1.0
        if shape is Named:
            engine.mju_cross(spatial[0], np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
            engine.mj_getState(m, d, state[0], engine.mjtState.mjSTATE_PHYSICS)
            assert spatial[0, 2] == 1.0
    d.qpos[:] = 1.0
    assert engine.mju_norm(d.qpos.view(Named)) == 1.0


def test_fields_are_visible_on_the_classes() -> None:
    for name in ("MjModel", "MjData"):
        expected = {member for member in dir(getattr(mujoco, name)) if not member.startswith("_")}
        assert expected <= set(dir(getattr(cardan, name)))
    assert "position" in (cardan.MjModel.body_pos.__doc__ or "")
    m = cardan.MjModel.from_xml_string(XML.decode())
    with pytest.raises(AttributeError):
        _ = m.nothing
