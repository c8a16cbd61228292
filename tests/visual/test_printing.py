"""Scenes as text."""

from pathlib import Path

import pytest

import cardan

XML = """<mujoco><worldbody><light pos="0 0 3"/><geom type="plane" size="1 1 1"/><geom name="ball" size=".125"/>
</worldbody></mujoco>"""


def scene() -> cardan.MjvScene:
    m = cardan.MjModel.from_xml_string(XML)
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    made = cardan.MjvScene(m, 10)
    cardan.mjv_updateScene(m, d, cardan.MjvOption(), None, cardan.MjvCamera(), 7, made)
    return made


def test_scene_as_text(tmp_path: Path) -> None:
    """The text has a section for each geom, light and camera, and the members of each."""
    made = scene()
    cardan.mj_printScene(made, tmp_path / "scene.txt")
    text = (tmp_path / "scene.txt").read_text()
    for line in (f"GEOMS {made.ngeom}", f"LIGHTS {made.nlight}", "CAMERAS 2", "  GEOM 1", "  CAMERA 1", "SCENE"):
        assert line in text.splitlines()
    assert f"  GEOM {made.ngeom}" not in text
    assert "    size               0.12      0.12      0.12" in text
    cardan.mj_printFormattedScene(made, tmp_path / "exact.txt", "%.17g")
    assert "    size              0.125 0.125 0.125" in (tmp_path / "exact.txt").read_text()


def test_bad_arguments(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a format of one float"):
        cardan.mj_printFormattedScene(scene(), tmp_path / "a", "%s")
    with pytest.raises(TypeError, match="s must be an MjvScene, not int"):
        cardan.mj_printScene(3, tmp_path / "a")


def test_status_of_a_full_scene() -> None:
    """The status is 1 after geoms were left out; only the program sets it back."""
    m = cardan.MjModel.from_xml_string(XML)
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    arguments = m, d, cardan.MjvOption(), None, cardan.MjvCamera(), 7
    small = cardan.MjvScene(m, 1)
    with pytest.warns(RuntimeWarning, match="geom buffer is full"):
        cardan.mjv_updateScene(*arguments, small)
    assert (small.status, scene().status) == (1, 0)
