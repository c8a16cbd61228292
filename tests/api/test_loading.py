"""Loading of models: what the process sees of it."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest

import cardan

BALL = '<body pos="{pos}"><freejoint/><geom size=".1" {more}/></body>'


def scene(pos: str, more: str = "") -> str:
    return f"<mujoco><worldbody>{BALL.format(pos=pos, more=more)}</worldbody></mujoco>"


def test_the_collector_is_left_as_it_was() -> None:
    cardan.MjModel.from_xml_string(scene("0 0 1"))
    assert gc.isenabled()
    with pytest.raises(ValueError, match="radius"):
        cardan.MjModel.from_xml_string(scene("0 0 1", 'radius="1"'))
    assert gc.isenabled()
    gc.disable()
    try:
        cardan.MjModel.from_xml_string(scene("0 0 1"))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_short_texts_that_were_read_before_mean_the_same() -> None:
    for pos in ("0 0 1", "0 0 2", "0 0 1"):
        m = cardan.MjModel.from_xml_string(scene(pos))
        assert m.body_pos[1].tolist() == [float(number) for number in pos.split()]
    for _ in range(2):
        with pytest.raises(ValueError, match="pos"):
            cardan.MjModel.from_xml_string(scene("0 0 x"))


def test_constants_of_bodies_that_are_moved_from_outside() -> None:
    """Mocap bodies stand where they are written at qpos0, and what rests on them follows."""
    m = cardan.MjModel.from_xml_string(
        '<mujoco><worldbody><body name="a" mocap="true" pos="1 2 3"><geom size=".1"/><light pos="0 0 1"/></body>'
        '<body name="b"><freejoint/><geom size=".1"/></body></worldbody>'
        '<equality><weld body1="a" body2="b"/></equality></mujoco>'
    )
    np.testing.assert_allclose(m.eq_data[0, 3:6], [-1, -2, -3])
    np.testing.assert_allclose(m.light_pos0[0], [0, 0, 1])


def test_an_included_file_that_is_no_xml_is_named(tmp_path: Path) -> None:
    (tmp_path / "part.xml").write_text("<mujoco><worldbody>")
    main = tmp_path / "main.xml"
    main.write_text('<mujoco><include file="part.xml"/></mujoco>')
    with pytest.raises(ValueError, match=r"part\.xml"):
        cardan.MjModel.from_xml_path(str(main))


def test_a_text_that_is_mended_is_read_once(tmp_path: Path) -> None:
    text = scene("0 0 1").replace("</mujoco>", "</mujoco><more>")
    with pytest.warns(UserWarning, match="it is read as far as it makes sense"):
        m = cardan.MjModel.from_xml_string(text)
    assert m.nbody == 2
