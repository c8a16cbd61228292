"""Options and visual settings of both versions."""

import copy

import pytest
from later import later_run

import cardan
from cardan.constants import mjENBL_NATIVECCD
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
    assert m.opt.enableflags == mjENBL_NATIVECCD


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
        ("", 'sleep="enable"', "sleeping trees"),
        ("", 'diagexact="enable"', "diagexact"),
        ("", 'ipc="enable"', "barrier contacts"),
        ("", 'speculative="enable"', "speculative contacts"),
        ('integrator="discrete"', "", "integrator discrete"),
        ('sleep_tolerance="1e-2"', "", "sleeping trees"),
    ],
)
def test_missing_features(option: str, flag: str, feature: str) -> None:
    """They are read, and their defaults can be given; compiling a model that uses them is an error."""
    spec = cardan.MjSpec.from_string(MODEL.format(option, flag))
    with pytest.raises(UnsupportedFeature, match=feature):
        spec.compile()
    xml = MODEL.format('sleep_tolerance="1e-3"', 'sleep="disable" diagexact="disable" ipc="disable"')
    assert cardan.MjModel.from_xml_string(xml).opt.enableflags == 0
