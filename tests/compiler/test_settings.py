"""Options and visual settings of both versions."""

import copy
import warnings

import pytest
from later import later_run

import cardan
from cardan.enums.codes import ENBL_NATIVECCD
from cardan.errors import MjcfError, UnsupportedFeature
from cardan.spec.schema.keywords import DISABLE_FLAGS, ENABLE_FLAGS

MODEL = "<mujoco><option {}><flag {}/></option></mujoco>"
FLAGS_THERE = """
m = mujoco.MjModel.from_xml_string(xml)
out = {}
sets = (mujoco.mjtDisableBit, m.opt.disableflags, False), (mujoco.mjtEnableBit, m.opt.enableflags, True)
for kind, bits, means in sets:
    for name, bit in kind.__members__.items():
        if name[:3] != "mjN":
            out[name[7:].lower()] = bool(bits & bit.value) is means
"""


def flags(m: cardan.MjModel) -> dict[str, bool]:
    """The flags of a model by name."""
    off = {name: not m.opt.disableflags & bit for name, bit in DISABLE_FLAGS.items()}
    return off | {name: bool(m.opt.enableflags & bit) for name, bit in ENABLE_FLAGS.items()}


@pytest.mark.parametrize("given", ["", 'multiccd="disable" spring="disable"', 'island="disable" damper="disable"'])
def test_flags_of_4_0(given: str) -> None:
    """Islands, several contacts and exact convex collisions are on unless the model disables them."""
    xml = MODEL.format("", given)
    here = flags(cardan.MjModel.from_xml_string(xml, compat="4.0"))
    there = later_run(FLAGS_THERE, xml=xml)
    common = here.keys() & there.keys()
    assert {"multiccd", "island", "nativeccd", "spring", "damper", "autoreset"} <= common
    assert {name: here[name] for name in common} == {name: there[name] for name in common}


def test_flags_of_3_1() -> None:
    """They are off, and every model can enable them."""
    assert cardan.MjModel.from_xml_string("<mujoco/>", compat="3.1").opt.enableflags == 0
    m = cardan.MjModel.from_xml_string(MODEL.format("", 'nativeccd="enable"'), compat="3.1")
    assert m.opt.enableflags == ENBL_NATIVECCD


def test_bits_do_not_collide() -> None:
    """Every flag has a bit of its own."""
    for bits in (DISABLE_FLAGS, ENABLE_FLAGS):
        assert len(set(bits.values())) == len(bits)


@pytest.mark.parametrize(("compat", "iterations"), [("3.1", 50), ("4.0", 35)])
def test_names_of_convex_options(compat: str, iterations: int) -> None:
    """Both names of an option mean the same."""
    m = cardan.MjModel.from_xml_string("<mujoco/>", compat=compat)
    assert (m.opt.ccd_iterations, m.opt.mpr_iterations) == (iterations, iterations)
    for name in ("ccd", "mpr"):
        xml = MODEL.format(f'{name}_iterations="7" {name}_tolerance="1e-3"', "")
        m = cardan.MjModel.from_xml_string(xml, compat=compat)
        assert m.opt.ccd_iterations == m.opt.mpr_iterations == 7
        assert m.opt.ccd_tolerance == m.opt.mpr_tolerance == 1e-3
    m.opt.ccd_iterations = 8
    m.opt.ccd_tolerance = 1e-2
    assert (m.opt.mpr_iterations, m.opt.mpr_tolerance) == (8, 1e-2)
    assert copy.copy(m.opt).ccd_iterations == 8


def test_names_of_convex_options_in_a_specification() -> None:
    """Both names read and write one value."""
    spec = cardan.MjSpec()
    spec.option.ccd_iterations = 9
    assert spec.option.mpr_iterations == spec.option.ccd_iterations == spec.compile().opt.mpr_iterations == 9


def test_both_names_at_once() -> None:
    """They are an error in one element; the later of two elements wins."""
    with pytest.raises(MjcfError, match="ccd_iterations and mpr_iterations are the same attribute: give one"):
        cardan.MjModel.from_xml_string(MODEL.format('mpr_iterations="7" ccd_iterations="7"', ""))
    xml = '<mujoco><option mpr_iterations="7"/><option ccd_iterations="8"/></mujoco>'
    assert cardan.MjModel.from_xml_string(xml).opt.ccd_iterations == 8


@pytest.mark.parametrize("given", ["", 'passive="disable"', 'spring="disable" island="disable" nativeccd="disable"'])
def test_saved_for_4_0(given: str, tmp_path) -> None:
    """4.0.0 reads what a model of its behaviour saves, and finds the same options."""
    path = str(tmp_path / "saved.xml")
    options = 'ccd_iterations="7" ccd_tolerance="1e-3" apirate="50"'
    m = cardan.MjModel.from_xml_string(MODEL.format(options, given), compat="4.0")
    cardan.mj_saveLastXML(path, m)
    with open(path) as file:
        xml = file.read()
    here, there = flags(m), later_run(FLAGS_THERE, xml=xml)
    common = here.keys() & there.keys()
    assert {name: here[name] for name in common} == {name: there[name] for name in common}
    code = "m = mujoco.MjModel.from_xml_string(xml); out = m.opt.ccd_iterations, m.opt.ccd_tolerance"
    assert later_run(code, xml=xml) == (7, 1e-3)
    again = cardan.MjModel.from_xml_string(xml, compat="4.0")
    assert again.opt == m.opt or (again.opt.apirate, again.opt.disableflags) == (100.0, m.opt.disableflags)


def test_saved_for_3_1(tmp_path) -> None:
    """3.1.6 reads what a model of its behaviour saves if it uses nothing later."""
    mujoco = pytest.importorskip("mujoco")
    path = str(tmp_path / "saved.xml")
    m = cardan.MjModel.from_xml_string(MODEL.format('ccd_iterations="7"', 'passive="disable" island="enable"'))
    cardan.mj_saveLastXML(path, m)
    there = mujoco.MjModel.from_xml_path(path)
    assert (there.opt.mpr_iterations, there.opt.disableflags, there.opt.enableflags) == (7, 32, 32)


@pytest.mark.parametrize(
    ("option", "flag", "feature"),
    [
        ("", 'diagexact="enable"', "diagexact"),
        ("", 'ipc="enable"', "barrier contacts"),
        ("", 'speculative="enable"', "speculative contacts"),
    ],
)
def test_missing_features(option: str, flag: str, feature: str) -> None:
    """They are read, and their defaults can be given; compiling a model that uses them is an error."""
    spec = cardan.MjSpec.from_string(MODEL.format(option, flag))
    with pytest.raises(UnsupportedFeature, match=feature):
        spec.compile()
    xml = MODEL.format("", 'sleep="disable" diagexact="disable" ipc="disable"')
    assert cardan.MjModel.from_xml_string(xml).opt.enableflags == 0


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ('<text name="a" data="x"/>', "x"),
        ('<text name="a"><![CDATA[ x <b>\n y ]]></text>', " x <b>\n y "),
        ('<text name="a">  <!-- comment --><![CDATA[x]]>  </text>', "x"),
    ],
)
def test_texts(content: str, text: str) -> None:
    """A custom text can be a CDATA section, and comes back when the model is saved."""
    xml = f"<mujoco><custom>{content}</custom></mujoco>"
    there = later_run("m = mujoco.MjModel.from_xml_string(xml); out = bytes(m.text_data)", xml=xml)
    m = cardan.MjModel.from_xml_string(xml)
    assert m.text_data == there == text.encode() + b"\0"
    assert cardan.MjModel.from_xml_string(cardan.MjSpec.from_string(xml).to_xml()).text_data == m.text_data


@pytest.mark.parametrize(
    "content",
    [
        '<text name="a"/>',
        '<text name="a">plain</text>',
        '<text name="a"><![CDATA[]]></text>',
        '<text name="a" data="x"><![CDATA[y]]></text>',
        '<text name="a"><![CDATA[x]]><![CDATA[y]]></text>',
    ],
)
def test_wrong_texts(content: str) -> None:
    """A custom text has one text, which is not empty."""
    with pytest.raises(MjcfError, match=r"<text.* data: "):
        cardan.MjModel.from_xml_string(f"<mujoco><custom>{content}</custom></mujoco>")


@pytest.mark.parametrize("setting", ['compiler settotalmass="3"', 'statistic meaninertia="2"'])
def test_deprecated_settings(setting: str) -> None:
    """Models of 4.0 warn about them."""
    xml = f'<mujoco><{setting}/><worldbody><body><joint/><geom size="1"/></body></worldbody></mujoco>'
    with pytest.warns(UserWarning, match="deprecated in MuJoCo 4.0"):
        m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = cardan.MjModel.from_xml_string(xml, compat="3.1")
    assert (m.stat.meaninertia, m.body_mass[1]) == (before.stat.meaninertia, before.body_mass[1])


URDF = """<robot name="r"><link name="a"><visual><geometry><mesh filename="parts/a.obj"/></geometry></visual></link>
<mujoco><compiler discardvisual="false"/></mujoco></robot>"""
OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def test_folders_in_urdf(tmp_path) -> None:
    """In 3.1, URDF files name meshes without folders; in 4.0, with them."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "robot.urdf").write_text(URDF)
    path = str(tmp_path / "robot.urdf")
    (tmp_path / "parts" / "a.obj").write_bytes(OBJ)
    assert cardan.MjModel.from_xml_path(path, compat="4.0").nmesh == 1
    assert later_run("out = mujoco.MjModel.from_xml_path(path).nmesh", path=path) == 1
    with pytest.raises(MjcfError, match=r"a\.obj"):
        cardan.MjModel.from_xml_path(path, compat="3.1")
    (tmp_path / "a.obj").write_bytes(OBJ)
    assert cardan.MjModel.from_xml_path(path, compat="3.1").nmesh == 1


@pytest.mark.parametrize("setting", ['exactmeshinertia="true"', 'convexhull="false"'])
def test_settings_of_meshes_saved_for_4_0(setting: str) -> None:
    """4.0 has no settings of the compiler for meshes: what they mean is saved with the meshes, if it has a meaning."""
    xml = f"""<mujoco><compiler {setting}/><asset><mesh name="m" file="a.obj"/></asset><worldbody><body>
    <geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""
    saved = cardan.MjModel.from_xml_string(xml, {"a.obj": OBJ}, compat="4.0").to_xml()
    assert ('inertia="exact"' in saved) is ("exact" in setting)
    code = "m = mujoco.MjModel.from_xml_string(xml, assets); out = m.body_mass[1]"
    assert later_run(code, xml=saved, assets={"a.obj": OBJ}) == pytest.approx(1000.0 / 6.0)
