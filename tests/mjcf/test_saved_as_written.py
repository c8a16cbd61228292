"""``compiler savecompiled="false"``: models saved as they were written; 4.0.0 reads them and finds the same model."""

import numpy as np
import pytest
from later import later_run
from models import OWN, model_path

import cardan
from cardan.errors import MjcfError
from cardan.model import internals

XML = """<mujoco model="x"><compiler {} eulerseq="zyx" boundmass=".1"/><option timestep=".002"/>
<default><geom rgba="1 0 0 1"/><joint range="-30 30" damping=".1"/>
  <default class="c"><geom size=".2" euler="0 0 90"/><motor gear="3" ctrlrange="-1 1"/></default>
  <default class="line"><geom type="capsule" fromto="0 0 0 1 0 0" size=".1"/></default></default>
<worldbody>
  <frame name="f" pos="1 0 0" euler="0 0 90" childclass="c">
    <body name="b" pos="0 0 1.10000001"><joint name="j" range="-90 45" axis="0 1 0" stiffness="0"/>
      <geom type="capsule" fromto="0 0 0 1 0 0" size=".1"/><geom type="box" size=".1 .1 .1"/>
      <inertial mass="1" pos="0 0 0" fullinertia="1 2 2.5 .1 .1 .1"/>
      <site name="s" axisangle="0 1 0 30"/><camera xyaxes="1 0 0 0 1 0"/></body></frame>
  <replicate count="2" offset="1 0 0"><geom name="g" size="1"/></replicate>
  <body><joint name="k"/><geom class="line"/><body><joint type="slide" name="l"/><geom size=".1"/></body></body>
</worldbody>
<actuator><motor joint="j" class="c"/><position joint="k" kp="3" dampratio="1" inheritrange="1"/>
  <muscle joint="j" lengthrange="0 1"/></actuator>
<keyframe><key qpos="1 2 3"/></keyframe></mujoco>"""
WRITTEN = 'savecompiled="false"'
NOTATION = 'savecompiled="false" savecanonical="false"'


def assert_equal(m: cardan.MjModel, other: cardan.MjModel) -> None:
    """Compare all arrays of two models."""
    arrays = internals.memory(m).arrays
    for name, found in internals.memory(other).arrays.items():
        np.testing.assert_allclose(found, arrays[name], rtol=1e-12, atol=1e-14, err_msg=name)


@pytest.mark.parametrize("compat", ["3.1", "4.0"])
@pytest.mark.parametrize("settings", [WRITTEN, NOTATION, f'{NOTATION} saveinertial="true"'])
def test_read_back(settings: str, compat: str) -> None:
    spec = cardan.MjSpec.from_string(XML.format(settings), compat=compat)
    m, saved = spec.compile(), spec.to_xml()
    assert_equal(m, cardan.MjModel.from_xml_string(saved, compat=compat))
    assert "save" not in saved
    if compat == "3.1":
        return  # the same text means something else in 4.0
    there = later_run("m = mujoco.MjModel.from_xml_string(xml); out = m.geom_quat, m.jnt_range, m.qpos0", xml=saved)
    for found, wanted in zip((m.geom_quat, m.jnt_range, m.qpos0), there, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def test_what_is_kept() -> None:
    """Frames, classes, notation and numbers are those of the user; only macros are expanded."""
    saved = cardan.MjSpec.from_string(XML.format(NOTATION)).to_xml()
    for text in (
        '<frame name="f" childclass="c" pos="1 0 0" euler="0 0 90">',
        '<motor class="c" joint="j"/>',
        'fullinertia="1 2 2.5 0.1 0.1 0.1"',
        '<site name="s" axisangle="0 1 0 30"/>',
        'pos="0 0 1.10000001"',
        'fromto="0 0 0 1 0 0"',
        'eulerseq="zyx"',
        '<motor gear="3" ctrlrange="-1 1"/>',
    ):
        assert text in saved
    assert "<inertial" not in saved.partition('name="k"')[2]
    canonical = cardan.MjSpec.from_string(XML.format(WRITTEN)).to_xml()
    for text in ("euler", "axisangle", "xyaxes", "fromto", "fullinertia", "<motor", "<position", "<muscle"):
        assert text not in canonical
    inertial = cardan.MjSpec.from_string(XML.format(f'{NOTATION} saveinertial="true"')).to_xml()
    assert inertial.count("<inertial") == 3


@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_small_models(path, canonical: bool) -> None:
    spec = cardan.MjSpec.from_file(path)
    m = spec.compile()
    spec.tree.section("compiler").attributes.update(savecompiled=False, savecanonical=canonical)
    assert_equal(m, cardan.MjModel.from_xml_string(spec.to_xml()))


@pytest.mark.parametrize("settings", [WRITTEN, NOTATION])
def test_humanoid(settings: str, tmp_path) -> None:
    text = model_path("humanoid").read_text().replace("<compiler", f"<compiler {settings}")
    if settings not in text:
        text = text.replace("<worldbody>", f"<compiler {settings}/><worldbody>", 1)
    m = cardan.MjModel.from_xml_string(text)
    path = tmp_path / "saved.xml"
    cardan.mj_saveLastXML(str(path), m)
    assert_equal(m, cardan.MjModel.from_xml_path(str(path)))
    assert later_run("out = mujoco.MjModel.from_xml_path(path).nbody", path=str(path)) == m.nbody


def test_edited_classes() -> None:
    """Classes that a program changed are written in general form, with all actuators."""
    spec = cardan.MjSpec.from_string(XML.format(NOTATION), compat="4.0")
    spec.find_default("c").geom.size = [0.3, 0, 0]
    saved = spec.to_xml()
    assert "<motor" not in saved
    assert_equal(spec.compile(), cardan.MjModel.from_xml_string(saved, compat="4.0"))


def test_scaled_frames_keep_their_scale() -> None:
    xml = f'<mujoco><compiler {NOTATION}/><worldbody><frame scale="2"><geom size="1"/></frame></worldbody></mujoco>'
    saved = cardan.MjModel.from_xml_string(xml).to_xml()
    assert '<frame scale="2 2 2">' in saved
    assert 'size="1"' in saved


def test_changed_numbers() -> None:
    m = cardan.MjModel.from_xml_string(XML.format(WRITTEN))
    m.geom_size[0] = 0.33
    with pytest.raises(MjcfError, match="geom_size was changed after compilation"):
        m.to_xml()
