"""Writing models as MJCF: reading back gives the model, here and in the reference."""

from __future__ import annotations

import copy
import stat
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
import pytest
from fields_compared import MEMORY, differences
from known_differences import distinct_meshes, unexplained
from models import EXAMPLES, TESTS
from models_random import random_model
from models_wide import wide_model
from round_trip import beside, model_texts

import cardan
from cardan.errors import FatalError, MjcfError, UnsupportedFeature
from cardan.mjcf.reader import read_string
from cardan.mjcf.writer import format_real, write_tree

HUMANOID = EXAMPLES / "humanoid.xml"
SLIDER = (
    '<mujoco model="m"><worldbody><geom type="plane" size="1 1 1"/><body name="b" pos="0 0 1">'
    '<joint name="j" type="slide"/><geom name="g" size=".1" rgba=".1 .2 .3 .4"/></body></worldbody>'
    "<actuator><motor joint='j'/></actuator></mujoco>"
)


# whether a geom has the inertial frame to the last bit, which the reference's own arithmetic decides when it adds the
# pose of a mesh to that of its geom
LAST_BIT = ("geom_sameframe",)


def compiled(load, source):
    """The model, or None when it is refused."""
    try:
        return load(source)
    except ValueError:
        return None


def taken_as_there(load: str, source: str) -> cardan.MjModel | None:
    """The model, or None when the reference refuses it as well; a feature that is to come skips the test.

    A file that the reference takes and that is refused here fails the test.
    """
    try:
        return getattr(cardan.MjModel, load)(source)
    except UnsupportedFeature as error:
        pytest.skip(str(error))
    except ValueError:
        if compiled(getattr(mujoco.MjModel, load), source) is not None:
            raise
    return None


def test_files_come_back(model_file: Path, tmp_path: Path) -> None:
    path = distinct_meshes(model_file, tmp_path)
    m = taken_as_there("from_xml_path", str(path))
    if m is None:
        return
    saved = beside(tmp_path / "models", model_file) / "_saved.xml"
    cardan.mj_saveLastXML(saved, m)
    assert differences(m, cardan.MjModel.from_xml_path(saved), LAST_BIT) == []
    original = compiled(mujoco.MjModel.from_xml_path, str(path))
    if original is not None:
        again = mujoco.MjModel.from_xml_path(str(saved))
        assert unexplained(path, differences(original, again, (*MEMORY, *LAST_BIT))) == []


def test_assets_beside_an_included_file_come_back(tmp_path: Path) -> None:
    part = tmp_path / "part"
    part.mkdir()
    (part / "tetrahedron.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    (part / "part.xml").write_text("<mujoco><asset><mesh name='m' file='tetrahedron.obj'/></asset></mujoco>")
    (tmp_path / "main.xml").write_text(
        "<mujoco><compiler meshdir='elsewhere'/><include file='part/part.xml'/>"
        "<worldbody><geom type='mesh' mesh='m'/></worldbody></mujoco>"
    )
    m = cardan.MjModel.from_xml_path(tmp_path / "main.xml")
    cardan.mj_saveLastXML(tmp_path / "saved.xml", m)
    assert differences(m, cardan.MjModel.from_xml_path(tmp_path / "saved.xml"), ()) == []


def test_texts_come_back() -> None:
    wrong, own, theirs = {}, 0, 0
    for place, text in model_texts():
        m = compiled(cardan.MjModel.from_xml_string, text)
        if m is None:
            continue
        try:
            xml = m.to_xml()
        except UnsupportedFeature:
            continue
        own += 1
        found = differences(m, cardan.MjModel.from_xml_string(xml), ())
        original = compiled(mujoco.MjModel.from_xml_string, text)
        if original is not None:
            theirs += 1
            # what the two make of the original differently is not about writing
            known = {name.partition(":")[0] for name in differences(original, m)}
            again = differences(original, mujoco.MjModel.from_xml_string(xml))
            found += [f"reference: {name}" for name in again if name.partition(":")[0] not in known]
        if found:
            wrong[place] = found
    assert not wrong
    assert own >= 40 and theirs >= 40


@pytest.mark.parametrize("make", [random_model, wide_model])
def test_random_models_come_back(make: Callable[[int], str]) -> None:
    for seed in range(30):
        text = make(seed)
        m = compiled(cardan.MjModel.from_xml_string, text)
        assert m is not None
        xml = m.to_xml()
        assert differences(m, cardan.MjModel.from_xml_string(xml), ()) == []
        original = compiled(mujoco.MjModel.from_xml_string, text)
        if original is not None:
            again = mujoco.MjModel.from_xml_string(xml)
            assert differences(original, again, (*MEMORY, *LAST_BIT)) == []


@pytest.mark.parametrize("name", ["trees", "frames", "defaults", "orientations", "views"])
def test_written_text_is_a_fixed_point(name: str) -> None:
    xml = cardan.MjModel.from_xml_path(TESTS / "models" / f"{name}.xml").to_xml()
    assert cardan.MjModel.from_xml_string(xml).to_xml() == xml


def test_default_classes_stay() -> None:
    xml = cardan.MjModel.from_xml_path(HUMANOID).to_xml()
    for part in ('<default class="joint_big">', ' class="joint_big_stiff"', ' childclass="body"'):
        assert part in xml, part
    assert "fromto" not in xml and "euler" not in xml and 'angle="radian"' in xml


def test_the_tree_as_it_was_written() -> None:
    tree = read_string(
        '<mujoco model="a&lt;b"><compiler angle="degree"/><option><flag energy="enable"/></option><worldbody>'
        '<frame euler="0 90 0"><geom size="1e-300 2 3" type="box" user="0.1 1e22"/></frame></worldbody></mujoco>'
    )
    text = write_tree(tree)
    assert text == (
        '<mujoco model="a&lt;b">\n  <compiler angle="degree"/>\n  <option>\n    <flag energy="enable"/>\n  </option>\n'
        '  <worldbody>\n    <frame euler="0 90 0">\n      <geom type="box" size="1e-300 2 3" user="0.1 1e+22"/>\n'
        "    </frame>\n  </worldbody>\n</mujoco>\n"
    )
    assert write_tree(read_string(text)) == text


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e-300, 123456789.123456789, -0.0, 5e-324, 2.0**70, float("inf")])
def test_numbers_keep_every_digit(value: float) -> None:
    assert float(format_real(value)) == value


@pytest.mark.parametrize(("name", "match"), [("a\x01b", "characters that XML does not have")])
def test_what_xml_cannot_hold(name: str, match: str) -> None:
    tree = read_string(SLIDER)
    tree.worldbody.children[0]["name"] = name
    with pytest.raises(MjcfError, match=match):
        write_tree(tree)


def test_names_and_texts_with_special_characters() -> None:
    xml = SLIDER.replace('name="b"', 'name="a &amp; &quot;b&quot; &lt;é&gt;&#10;&#9;x"')
    m = cardan.MjModel.from_xml_string(xml)
    assert cardan.MjModel.from_xml_string(m.to_xml()).names == m.names


CHANGES = {
    "body_mass": lambda m: m.body_mass.__setitem__(1, 7.5),
    "body_pos": lambda m: m.body_pos.__setitem__(1, [1, 2, 1 / 3]),
    "geom_size": lambda m: m.geom_size.__setitem__(1, [0.7, 0, 0]),
    "geom_rgba": lambda m: m.geom_rgba.__setitem__(1, [0.9, 0.8, 0.7, 0.6]),
    "geom_friction": lambda m: m.geom_friction.__setitem__(1, [0.9, 0.8, 0.7]),
    "jnt_stiffness": lambda m: m.jnt_stiffness.__setitem__(0, 3.3),
    "dof_damping": lambda m: m.dof_damping.__setitem__(0, 1e-7),
    "qpos0": lambda m: m.qpos0.__setitem__(0, 0.25),
    "actuator_gear": lambda m: m.actuator_gear.__setitem__(0, [3, 0, 0, 0, 0, 0]),
    "actuator_gainprm": lambda m: m.actuator_gainprm.__setitem__((0, 0), 4.5),
    "opt.gravity": lambda m: m.opt.gravity.__setitem__(2, 3.25),
    "opt.timestep": lambda m: setattr(m.opt, "timestep", 1 / 300),
    "vis.map.znear": lambda m: setattr(m.vis.map, "znear", 0.125),
    "stat.extent": lambda m: setattr(m.stat, "extent", 77.0),
}


@pytest.mark.parametrize("field", CHANGES)
def test_changes_at_run_time_are_saved(field: str, tmp_path: Path) -> None:
    own, theirs = cardan.MjModel.from_xml_string(SLIDER), mujoco.MjModel.from_xml_string(SLIDER)
    for m in (own, theirs):
        CHANGES[field](m)
    cardan.mj_saveLastXML(tmp_path / "own.xml", own)
    mujoco.mj_saveLastXML(str(tmp_path / "theirs.xml"), theirs)
    # a mass that follows from geoms is not copied back by the reference
    for saved in ("own.xml", "theirs.xml") if field != "body_mass" else ("own.xml",):
        m = cardan.MjModel.from_xml_path(tmp_path / saved)
        value, wanted = m, own
        for part in field.split("."):
            value, wanted = getattr(value, part), getattr(wanted, part)
        np.testing.assert_allclose(value, wanted, rtol=1e-15 if saved == "own.xml" else 1e-5)


# --- files and trouble -----------------------------------------------------------------------------------------------


def test_the_last_model_is_saved(tmp_path: Path) -> None:
    first = cardan.MjModel.from_xml_string(SLIDER)
    last = cardan.MjModel.from_xml_string(SLIDER.replace('model="m"', 'model="n"').replace('"g"', '"h"'))
    cardan.MjOption()
    cardan.mj_saveLastXML(tmp_path / "saved.xml", copy.copy(last))
    text = (tmp_path / "saved.xml").read_text()
    assert 'model="n"' in text and 'name="h"' in text and stat.S_IMODE((tmp_path / "saved.xml").stat().st_mode) == 0o644
    assert 'model="m"' in first.to_xml()
    cardan.MjModel.from_xml_string("<mujoco/>")
    with pytest.raises(FatalError, match="other sizes"):
        cardan.mj_saveLastXML(tmp_path / "saved.xml", first)
    assert (tmp_path / "saved.xml").read_text() == text


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    m = cardan.MjModel.from_xml_string(SLIDER)
    saved = tmp_path / "saved.xml"
    cardan.mj_saveLastXML(saved, m)
    text = saved.read_text()
    m.body_mass[1] = np.nan
    with pytest.raises(MjcfError, match=r"<inertial> mass: NaN"):
        cardan.mj_saveLastXML(saved, m)
    with pytest.raises(FatalError, match="can't write"):
        cardan.mj_saveLastXML(tmp_path / "no" / "saved.xml", cardan.MjModel.from_xml_string(SLIDER))
    with pytest.raises(FatalError, match="is a folder"):
        cardan.mj_saveLastXML(tmp_path, cardan.MjModel.from_xml_string(SLIDER))
    assert saved.read_text() == text and list(tmp_path.iterdir()) == [saved]


def test_a_model_without_source() -> None:
    import pickle

    m = pickle.loads(pickle.dumps(cardan.MjModel.from_xml_string(SLIDER)))
    with pytest.raises(ValueError, match="not compiled from XML"):
        m.to_xml()
    with pytest.raises(TypeError, match="must be an MjModel"):
        cardan.mj_saveLastXML("no", 3)
