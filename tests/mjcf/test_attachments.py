"""The elements ``attach`` and ``model``, compared with MuJoCo 4.0.0."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from later import later_run

import cardan
from cardan.errors import MjcfError, UnsupportedFeature

CHILD = """<mujoco model="kid">
  <compiler angle="radian"/>
  <default><geom rgba="1 0 0 1"/><default class="wheel"><geom size=".3"/><joint damping="2"/></default></default>
  <asset><texture name="tx" type="2d" builtin="flat" width="4" height="4"/><material name="mt" texture="tx"/>
    <mesh name="tet" vertex="0 0 0 1 0 0 0 2 0 0 0 3"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <frame name="outer" pos="0 0 1"><frame name="inner" pos="1 0 0" euler="0 .3 0">
    <body name="a"><joint name="ja" class="wheel" range="-1 1"/><geom name="ga" class="wheel" material="mt"/>
      <body name="b" pos="0 0 .5"><joint name="jb" type="slide"/><inertial pos="0 0 0" mass="1" diaginertia="1 2 2"/>
        <geom name="gb" type="mesh" mesh="tet"/>
        <site name="s"/></body></body>
    </frame></frame>
    <body name="c"><freejoint name="fc"/><geom name="gc" size=".1"/></body>
  </worldbody>
  <tendon><fixed name="t"><joint joint="ja" coef="1"/><joint joint="jb" coef="1"/></fixed></tendon>
  <equality><connect name="e" body1="b" body2="c" anchor="0 0 0"/></equality>
  <contact><exclude body1="a" body2="c"/></contact>
  <actuator><motor name="m" joint="jb"/><position name="p" joint="ja" kp="3"/></actuator>
  <sensor><jointpos name="q" joint="ja"/><framepos name="fp" objtype="site" objname="s"/></sensor>
  <custom><numeric name="num" data="1 2"/><text name="tt" data="x"/></custom>
  <keyframe><key name="k1" qpos=".1 .2 1 2 3 1 0 0 0" ctrl=".5 .6"/></keyframe>
</mujoco>"""
KINDS = (
    *("body", "jnt", "geom", "site", "mesh", "mat", "tex", "tendon", "actuator", "sensor", "eq", "exclude", "key"),
    *("numeric", "text"),
)
FIELDS = (
    *("qpos0", "body_pos", "body_quat", "body_mass", "body_inertia", "jnt_type", "jnt_range", "jnt_limited"),
    *(
        "dof_damping",
        "geom_rgba",
        "geom_type",
        "geom_size",
        "geom_matid",
        "wrap_objid",
        "actuator_trnid",
        "sensor_objid",
    ),
    *("key_qpos", "key_ctrl", "eq_obj1id", "eq_obj2id"),
)
READ = """
m = mujoco.MjModel.from_xml_path(path)
out = {name: np.array(getattr(m, name)) for name in fields}
out["names"] = m.names
"""


def here(path: Path) -> dict[str, Any]:
    """The compared fields of a file, read here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = cardan.MjModel.from_xml_path(str(path), compat="4.0")
    return {name: np.array(getattr(m, name)) for name in FIELDS} | {"names": m.names}


def written(folder: Path, body: str, rest: str = "", child: str = CHILD) -> Path:
    """A file of a model with a world's content, beside the file of the attached model."""
    (folder / "child.xml").write_text(child)
    path = folder / "parent.xml"
    asset = "<asset><model file='child.xml'/></asset>"
    path.write_text(f"<mujoco model='around'>{asset}<worldbody>{body}</worldbody>{rest}</mujoco>")
    return path


SELF = '<body name="z"><joint name="jz"/><geom name="gz" size="1"/></body>'
CASES = {
    "body": '<attach model="kid" body="a" prefix="A_"/>',
    "frame": '<frame pos="0 0 2"><attach model="kid" frame="inner" prefix="B_"/></frame>',
    "whole": '<attach model="kid" prefix="C_"/>',
    "in a body": '<body name="u"><geom size=".1"/><attach model="kid" body="b" prefix="q"/><site name="s0"/></body>',
    "without prefix": '<attach model="kid" body="a" prefix=""/>',
    "replicated": '<replicate count="3" offset="1 0 0"><attach model="kid" body="a" prefix="r_"/></replicate>',
    "of the same model": SELF + '<attach body="z" prefix="n_"/>',
    "into itself": '<body name="x"><geom size="1"/><attach body="x" prefix="w"/><site name="later"/></body>',
    "both, replicated": SELF
    + """<replicate count="2" offset="0 0 1"><body name="y"><joint name="yj" damping="3"/><geom size=".2"/>
         <attach model="kid" body="a" prefix="r_"/><frame euler="0 30 0"><attach body="z" prefix="n"/></frame></body>
         </replicate>""",
}


@pytest.mark.parametrize("case", CASES)
def test_attachments(case: str, tmp_path: Path) -> None:
    """Names, poses, inertias, relations, keyframes and default classes are those of 4.0.0."""
    rest = "<actuator><motor name='mz' joint='jz'/></actuator>" if SELF in CASES[case] else ""
    path = written(tmp_path, CASES[case], rest)
    there, ours = later_run(READ, path=str(path), fields=FIELDS), here(path)
    assert ours["names"].split(b"\0") == there["names"].split(b"\0")
    for name in FIELDS:
        np.testing.assert_allclose(ours[name], there[name], rtol=0.0, atol=1e-6, err_msg=name)


WRONG = {
    '<attach model="kid" body="zz" prefix="A_"/>': "there is no body named 'zz' in the attached model",
    '<attach model="kid" body="a"/>': "prefix: required attribute missing",
    '<attach model="zip" body="a" prefix="A"/>': "there is no <model> named 'zip'",
    '<attach model="kid" body="a" frame="inner" prefix="A"/>': "body and frame exclude each other",
    '<attach prefix="A"/>': "needs body or frame",
    '<attach body="world" prefix="A"/>': "the world body would contain itself",
    2 * '<attach model="kid" body="a" prefix="A"/>': "already; attach with another prefix",
    """<body name="A"><geom size="1"/><attach body="B" prefix="1"/></body>
    <body name="B"><geom size="1"/><attach body="A" prefix="2"/></body>""": "would contain itself",
}


@pytest.mark.parametrize("body", WRONG)
def test_wrong_attachments(body: str, tmp_path: Path) -> None:
    """Each error names the file, the line and what is wrong."""
    with pytest.raises(MjcfError, match=WRONG[body]) as caught:
        cardan.MjModel.from_xml_path(str(written(tmp_path, body)))
    assert caught.value.source == str(tmp_path / "parent.xml")
    assert caught.value.line is not None


def test_models_that_contain_themselves(tmp_path: Path) -> None:
    """A circle of files is an error, not a recursion without end."""
    child = "<mujoco model='kid'><asset><model file='parent.xml'/></asset></mujoco>"
    with pytest.raises(MjcfError, match="contains itself"):
        cardan.MjModel.from_xml_path(str(written(tmp_path, "", child=child)))


def test_attachments_of_attachments_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each level doubles the number of bodies; an error comes before they fill the memory."""
    double = "".join(
        f'<body name="b{i}"><attach body="b{i - 1}" prefix="l"/><attach body="b{i - 1}" prefix="r"/></body>'
        for i in range(1, 12)
    )
    text = f'<mujoco><worldbody><body name="b0"/>{double}</worldbody></mujoco>'
    monkeypatch.setattr("cardan.mjcf.attachments.MOST_ELEMENTS", 1000)
    with pytest.raises(MjcfError, match="copy more than 1000 elements"):
        cardan.MjModel.from_xml_string(text)


def test_models_that_name_the_next_one_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each level doubles the number of files that are read; it is bounded."""
    link = '<mujoco><asset><model name="c" file="{0}.xml"/><model name="d" file="{0}.xml"/></asset></mujoco>'
    files = {f"{i}.xml": link.format(i + 1).encode() for i in range(30)} | {"30.xml": b"<mujoco/>"}
    monkeypatch.setattr("cardan.mjcf.reader._MOST_FILES", 100)
    with pytest.raises(MjcfError, match="more than 100 models are attached"):
        cardan.MjModel.from_xml_string(link.format(0), files)


def test_long_chains_of_models() -> None:
    """Models that attach models are refused beyond a certain depth."""
    link = """<mujoco><asset><model name="c" file="{}.xml"/></asset>
    <worldbody><body name="b"><attach model="c" body="b" prefix="p"/></body></worldbody></mujoco>"""
    files = {f"{i}.xml": link.format(i + 1).encode() for i in range(200)}
    files["40.xml"] = b'<mujoco><worldbody><body name="b"/></worldbody></mujoco>'
    assert cardan.MjModel.from_xml_string(link.format(0), files).nbody == 43
    files["40.xml"] = link.format(41).encode()
    with pytest.raises(MjcfError, match="more than 50 levels deep"):
        cardan.MjModel.from_xml_string(link.format(0), files)


def test_missing_file(tmp_path: Path) -> None:
    """A model that is declared must exist, even if nothing attaches it."""
    path = tmp_path / "parent.xml"
    path.write_text("<mujoco><asset><model name='a' file='nowhere.xml'/></asset></mujoco>")
    with pytest.raises(MjcfError, match=r"nowhere\.xml' not found"):
        cardan.MjModel.from_xml_path(str(path))


def test_from_assets() -> None:
    """Attached models are found among the assets of a text."""
    text = """<mujoco><asset><model name="k" file="kid.xml"/></asset>
    <worldbody><attach model="k" body="a" prefix="A"/></worldbody></mujoco>"""
    m = cardan.MjModel.from_xml_string(text, {"kid.xml": CHILD.encode()})
    assert m.body(2).name == "Ab"


LIMITED = """<mujoco model="kid"><option timestep="0.004"/><worldbody><body name="a"><joint range="0 1" name="j"/>
<geom size="1"/></body></worldbody></mujoco>"""


def test_units_and_limits(tmp_path: Path) -> None:
    """Units of angles and inferred limits are those of the attached model."""
    path = written(
        tmp_path, '<attach model="kid" body="a" prefix="A"/>', '<compiler angle="radian" autolimits="false"/>', LIMITED
    )
    m = cardan.MjModel.from_xml_path(str(path))
    assert m.jnt_limited[0] == 1
    np.testing.assert_allclose(m.jnt_range[0], [0.0, np.radians(1.0)])


@pytest.mark.parametrize(("policy", "timestep"), [("", 0.01), ("conflict='merge'", 0.004)])
def test_conflicts(policy: str, timestep: float, tmp_path: Path) -> None:
    """The model around keeps its settings with a warning, or both are merged."""
    rest = f"<compiler {policy}/><option timestep='0.01' iterations='7'/>"
    path = written(tmp_path, "", rest, LIMITED)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        m = cardan.MjModel.from_xml_path(str(path))
    assert m.opt.timestep == timestep
    assert m.opt.iterations == 7
    assert [str(w.message) for w in caught if "timestep is 0.004 in the attached model" in str(w.message)] or policy


@pytest.mark.parametrize("option", ["gravity='0 0 1'", "integrator='RK4'", "o_margin='1'"])
def test_what_cannot_be_merged(option: str, tmp_path: Path) -> None:
    """Settings without an order must agree if they are merged; with the policy ``error`` all must."""
    child = LIMITED.replace("timestep='0.004'", "").replace("<option", f"<option {option}")
    other = {"gravity": "gravity='0 0 2'", "integrator": "integrator='implicit'", "o_margin": "o_margin='2'"}
    for policy in ("merge", "error"):
        rest = f"<compiler conflict='{policy}'/><option {other[option.split('=', maxsplit=1)[0]]}/>"
        with pytest.raises(MjcfError, match=option.split("=", maxsplit=1)[0]):
            cardan.MjModel.from_xml_path(str(written(tmp_path, "", rest, child)))


@pytest.mark.parametrize("compat", ["3.1", "4.0"])
def test_names_of_sky_boxes(compat: str) -> None:
    """Sky boxes need neither name nor file; 3.1 numbers several of them."""
    box = "<texture type='skybox' builtin='flat' width='4' height='24'/>"
    text = f"<mujoco><asset>{box}{box}</asset></mujoco>"
    m = cardan.MjModel.from_xml_string(text, compat=compat)
    if compat == "4.0":
        names = later_run(
            "m = mujoco.MjModel.from_xml_string(text); out = [m.tex(i).name for i in range(2)]", text=text
        )
    else:
        names = ["_0", "_1"]
    assert [m.tex(i).name for i in range(2)] == names


def test_missing_features_of_attached_models(tmp_path: Path) -> None:
    """A feature that the attached model needs and that is missing is an error, as in the model itself."""
    child = """<mujoco model="kid"><worldbody><body name="a"><joint springyield="1"/><geom size="1"/></body>
    </worldbody></mujoco>"""
    path = written(tmp_path, '<attach model="kid" body="a" prefix="A"/>', child=child)
    with pytest.raises(UnsupportedFeature, match="plastic"):
        cardan.MjModel.from_xml_path(str(path))
