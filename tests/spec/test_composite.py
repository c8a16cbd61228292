"""Composite objects without a reference: names, places, what can't be expanded, and what comes out of the writer."""

from __future__ import annotations

import re

import numpy as np
import pytest
from composites_random import TYPES, random_composite
from fields_compared import differences

import cardan
from cardan.errors import MjcfError
from cardan.mjcf.reader import read_string
from cardan.mjcf.writer import write_tree

# MJCF has no place for how a fixed tendon would look
UNWRITTEN = ("tendon_width", "tendon_rgba", "tendon_matid")
BALL = '<geom size=".02"/>'
ROD = '<geom type="capsule" size=".01"/>'


def world(content: str, before: str = "") -> str:
    """A model."""
    return f"<mujoco>{before}<worldbody>{content}</worldbody></mujoco>"


def compiled(content: str, before: str = "") -> cardan.MjModel:
    """The model of a world's content."""
    return cardan.MjModel.from_xml_string(world(content, before))


def composite(kind: str, attributes: str, parts: str = BALL) -> str:
    """A composite's element."""
    return f'<composite type="{kind}" {attributes}>{parts}</composite>'


def body(name: str, content: str) -> str:
    """A body."""
    return f'<body name="{name}">{content}</body>'


# --- what is made ----------------------------------------------------------------------------------------------------


def test_names_have_the_prefix() -> None:
    m = compiled(composite("grid", 'count="2 2 1" spacing=".1" prefix="net_"', BALL + "<skin/>"))
    names = [m.body(i).name for i in range(1, m.nbody)]
    assert names == ["net_B0_0", "net_B0_1", "net_B1_0", "net_B1_1"]
    assert m.joint(0).name == "net_J0_0_0"
    assert m.tendon(0).name == "net_T0_0_0"
    assert m.skin(0).name == "net_Skin"


def test_elements_come_after_the_users() -> None:
    before = '<tendon><spatial name="own"><site site="S0_0"/><site site="S1_0"/></spatial></tendon>'
    m = compiled(composite("grid", 'count="2 1 1" spacing=".1"'), before)
    assert [m.tendon(i).name for i in range(m.ntendon)] == ["own", "T0_0_0"]


def test_bodies_stand_where_the_composite_stood() -> None:
    one = f'<body name="first">{BALL}</body>'
    m = compiled(one + composite("particle", 'count="1" spacing="1"') + one.replace("first", "last"))
    assert [m.body(i).name for i in range(m.nbody)] == ["world", "first", "B0_0_0", "last"]


@pytest.mark.filterwarnings("ignore:.*deprecated")
def test_default_classes_change_nothing() -> None:
    classes = """<default><geom rgba="1 0 0 1" mass="3" type="box" size=".1 .1 .1"/><joint damping="7" range="-1 1"/>
    <site type="box" size=".1 .1 .1"/><tendon width=".5" range="0 1"/><equality solref=".5 1"/></default>"""
    for seed in range(14):
        text = random_composite(np.random.default_rng(seed), list(TYPES)[seed % 7])
        inside = re.search("<composite.*</composite>", text, re.DOTALL)
        assert inside is not None
        look = '<asset><material name="cloth"/></asset>'
        name = "Soft_B0" if "Soft_" in inside[0] else "B0"
        name = name if 'type="loop"' in inside[0] else "core"
        body = f'<body name="{name}">{inside[0]}</body>'.replace('initial="free"', "")
        plain, classy = compiled(body, look), compiled(body, look + classes)
        assert differences(plain, classy, ()) == []


def test_a_frame_around_moves_the_object() -> None:
    content = composite("particle", 'count="2" spacing=".5"')
    m = compiled(f'<frame pos="1 0 0" euler="0 0 90">{content}</frame>')
    assert np.allclose(m.body("B0_0_0").pos, (1.25, -0.5, -0.25))
    assert np.allclose(m.body("B1_0_0").pos, (1.25, 0, -0.25))


def test_copies_of_a_composite() -> None:
    inside = composite("grid", 'count="2 2 1" spacing=".1"', BALL + "<skin/>")
    m = compiled(f'<replicate count="3" offset="0 1 0">{inside}</replicate>')
    assert (m.nbody, m.ntendon, m.neq, m.nskin) == (13, 12, 12, 3)
    assert m.body("B0_01").pos[1] - m.body("B0_00").pos[1] == pytest.approx(1)


def test_the_shortest_cables() -> None:
    for count, bodies in ((2, 1), (3, 2), (4, 3)):
        m = compiled(composite("cable", f'count="{count} 1 1" curve="s" size="1"', ROD))
        assert (m.nbody, m.nexclude) == (bodies + 1, bodies - 1)


def test_a_cable_follows_its_curve() -> None:
    m = compiled(composite("cable", 'count="21 1 1" curve="cos(s) sin(s) s" size="1 .25 4" offset="0 0 1"', ROD))
    d = cardan.MjData(m)
    cardan.mj_kinematics(m, d)
    s = np.linspace(0, 1, 21)
    curve = np.c_[0.25 * np.cos(4 * np.pi * s), 0.25 * np.sin(4 * np.pi * s), 1 + s]
    assert np.allclose(d.xpos[1:], curve[:-1], atol=1e-6)
    assert np.allclose(d.site("S_last").xpos, curve[-1], atol=1e-6)
    along = np.diff(curve, axis=0)
    assert np.allclose(d.xmat[1:, ::3], along / np.linalg.norm(along, axis=1)[:, None], atol=1e-6)


def test_frames_of_a_cable_do_not_twist() -> None:
    points = np.cumsum(np.random.default_rng(0).normal(size=(12, 3)), axis=0)
    text = " ".join(map(str, points.ravel()))
    m = compiled(composite("cable", f'vertex="{text}"', ROD))
    # a rotation from one tangent to the next without twist has no component along the tangent
    assert np.allclose(m.body_quat[2:, 1], 0, atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*deprecated")
def test_links_of_a_loop_close() -> None:
    m = compiled(body("B2", composite("loop", 'count="7 1 1" spacing=".2"')))
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    assert m.nbody == 8
    assert np.allclose(d.efc_pos[: d.ne], 0, atol=1e-12)


def test_solids_keep_their_shape() -> None:
    for kind in ("box", "cylinder", "ellipsoid"):
        m = compiled(body("core", composite(kind, 'count="3 4 5" spacing=".1"')))
        half = np.array([0.1, 0.15, 0.2])
        shell = m.body_pos[2:] / half
        radius = {
            "box": np.abs(shell).max(axis=1),
            "cylinder": np.maximum(np.hypot(shell[:, 0], shell[:, 1]), np.abs(shell[:, 2])),
            "ellipsoid": np.linalg.norm(shell, axis=1),
        }
        assert np.allclose(radius[kind], 1)


def test_finer_skins_keep_weights_that_add_up() -> None:
    for subgrid in (1, 2, 4):
        m = compiled(composite("grid", 'count="4 3 1" spacing=".1"', BALL + f'<skin subgrid="{subgrid}"/>'))
        total = np.zeros(m.nskinvert)
        np.add.at(total, m.skin_bonevertid, m.skin_bonevertweight)
        assert m.nskinvert == 2 * (3 * (subgrid + 1) + 1) * (2 * (subgrid + 1) + 1)
        assert np.allclose(total, 1)


# --- saving ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.filterwarnings("ignore:.*deprecated")
def test_saved_models_come_back(kind: str) -> None:
    for seed in range(3):
        m = cardan.MjModel.from_xml_string(random_composite(np.random.default_rng(seed), kind))
        xml = m.to_xml()
        assert "<composite" not in xml
        assert differences(m, cardan.MjModel.from_xml_string(xml), UNWRITTEN) == []


def test_long_cables_are_written() -> None:
    tree = read_string(world(composite("cable", 'count="1200 1 1" curve="s" size="100"', ROD)))
    text = write_tree(tree)
    assert text.count("<body ") == text.count("</body>") == 1199
    assert write_tree(read_string(text)) == text


# --- what is refused -------------------------------------------------------------------------------------------------


BROKEN: list[tuple[str, tuple[str, ...]]] = [
    (composite("rope", 'count="5 1 1" spacing=".1"'), ("<composite> type", "'rope' are deprecated", "'cable'")),
    (composite("cloth", 'count="5 5 1" spacing=".1"'), ("<composite> type", "'cloth' are deprecated", "'flexcomp'")),
    (composite("grid", 'count="0 1 1" spacing=".1"'), ("<composite> count", "positive")),
    (composite("grid", 'count="1 2 1" spacing=".1"'), ("<composite> count", "must come last")),
    (composite("grid", 'count="2 2 2" spacing=".1"'), ("<composite> count", "one or two dimensions")),
    (composite("grid", 'count="2 2 1" spacing=".01"'), ("<composite> spacing", "at least the size of the geoms, 0.02")),
    (composite("grid", 'count="3 1 1" spacing=".1"', BALL + "<skin/>"), ("<skin>", "two dimensions")),
    (
        composite("grid", 'count="3 1 1" spacing=".1"', BALL + '<tendon kind="shear"/>'),
        ("<tendon> kind", "shear needs"),
    ),
    (composite("grid", 'count="2 2 1" spacing=".1"', BALL + '<skin subgrid="1"/>'), ("<skin> subgrid", "at least 3 3")),
    (composite("grid", 'count="900 900 1" spacing=".1"'), ("<composite> count", "810000 bodies are more than")),
    (composite("cable", 'count="6000" curve="s"', ROD), ("<composite> count", "6000 bodies are more than 5000")),
    (composite("grid", 'count="9 9 1" spacing=".1"', BALL + '<skin subgrid="999"/>'), ("<skin> subgrid", "vertices")),
    (composite("grid", 'count="2 1 1" spacing=".1"', BALL + '<joint kind="main"/>' * 2), ("<joint> kind", "another")),
    (composite("grid", 'count="2 1 1" spacing=".1"', BALL + '<joint kind="shear"/>'), ("<joint> kind", "'shear'")),
    (composite("grid", 'count="2 1 1" spacing=".1"', '<geom type="box"/>'), ("<geom> type", "not 'box'")),
    (composite("box", 'count="3 3 1" spacing=".1"'), ("<composite> count", "all dimensions")),
    (composite("box", 'count="3 3 3" size="0 0 0"'), ("<composite> size", "must not be 0")),
    (composite("cable", 'count="4 4 1" curve="s"', ROD), ("<composite> count", "one dimension")),
    (composite("cable", 'count="4 1 1"', ROD), ("<composite> curve", "one to three functions")),
    (composite("cable", 'count="4 1 1" curve="tan(s)"', ROD), ("<composite> curve", "'tan(s)' is none of s, cos(s)")),
    (composite("cable", 'count="4 1 1" curve="s" spacing="1"', ROD), ("<composite> spacing", "has no spacing")),
    (composite("cable", 'count="4 1 1" curve="s"'), ("<geom> type", "not 'sphere'")),
    (composite("cable", 'vertex="0 0 0 1 0 0 1 0 0"', ROD), ("<composite> vertex", "same place")),
    (composite("cable", 'vertex="0 0 0 1 0 0" count="2"', ROD), ("<composite> vertex", "not both")),
    (composite("cable", 'vertex="0 0"', ROD), ("<composite> vertex", "three numbers a vertex")),
    (composite("particle", 'vertex="0 0 0 1 0 0" face="1 2"'), ("<composite> face", "three numbers a triangle")),
    (composite("particle", 'vertex="0 0 0 1 0 0" face="0 1 2"'), ("<composite> face", "from 1 to 2")),
    (composite("loop", 'count="4 1 1" spacing=".1"'), ("<composite>", "its name must be 'B'")),
    (body("B7", composite("loop", 'count="4 1 1" spacing=".1"')), ("<composite> count", "no link 7")),
    (
        body("b", composite("grid", 'count="1"')).replace("name", "childclass"),
        ("<body> childclass", "unknown default class 'b'"),
    ),
    (composite("grid", 'count="2" spacing=".1"', '<geom material="m"/>'), ("<geom name='G0_0'> material", "'m'")),
    (composite("grid", 'count="2" spacing=".1"', BALL + "<plugin plugin='p'/>"), ("<plugin>", "have no plugins")),
    (composite("cable", 'count="4" curve="s"', ROD + "<plugin/>"), ("<plugin> plugin", "must be given")),
    (composite("cable", 'count="4" curve="s"', ROD + "<plugin plugin='p'/>"), ("<plugin> plugin", "not declared")),
    (composite("cable", 'count="4" curve="s"', ROD + "<plugin instance='i'/>"), ("<plugin> instance", "'i'")),
    (composite("grid", 'count="2" spacing=".1"') * 2, ("<body name='B0_0'> name", "repeated name")),
]


@pytest.mark.parametrize(("content", "words"), BROKEN)
@pytest.mark.filterwarnings("ignore:.*deprecated")
def test_errors_say_what_and_where(content: str, words: tuple[str, ...]) -> None:
    with pytest.raises(MjcfError) as caught:
        compiled(content)
    message = str(caught.value)
    assert message.startswith("XML string, line 1: "), message
    for word in words:
        assert word in message, message


def test_a_loop_warns() -> None:
    with pytest.warns(UserWarning, match=r"XML string, line 1: <composite>.*'loop' are deprecated: use 'cable'"):
        compiled(body("B0", composite("loop", 'count="3 1 1" spacing=".1"')))


# --- plugins ---------------------------------------------------------------------------------------------------------


def elastic(thickness: str, count: str) -> str:
    """Elastic particles."""
    settings = f'<config key="young" value="10"/><config key="thickness" value="{thickness}"/>'
    inside = f'<geom size=".01"/><plugin plugin="mujoco.elasticity.shell">{settings}</plugin>'
    declared = '<extension><plugin plugin="mujoco.elasticity.shell"/></extension>'
    return world(composite("particle", f'count="{count}" spacing=".1" prefix="p"', inside), declared)


def test_bodies_share_a_plugin_instance() -> None:
    tree = read_string(elastic(".01", "3 3 1"))
    bodies = list(tree.worldbody.all("body"))
    plugins = [body.child("plugin") for body in bodies]
    assert [plugin and plugin["instance"] for plugin in plugins] == ["compositep"] * 9
    instance = tree.find("plugin", "compositep")
    assert instance is not None
    config = {part["key"]: part["value"] for part in instance.all("config")}
    assert config["face"].startswith("0 3 4 0 4 1") and config["young"] == "10"


def test_sheets_weigh_what_their_thickness_says() -> None:
    tree = read_string(elastic(".01", "3 3 1"))
    geoms = [element for element in tree.worldbody.descendants() if element.tag == "geom"]
    mass = sum(geom["density"] * 4 / 3 * np.pi * 0.01**3 for geom in geoms)
    # each triangle counts at its three corners, as in the reference
    assert mass == pytest.approx(3 * 1000 * 0.01 * 0.2 * 0.2, rel=1e-6)


def test_solids_are_cut_into_tetrahedra() -> None:
    tree = read_string(elastic(".01", "3 2 2"))
    instance = tree.find("plugin", "compositep")
    assert instance is not None
    corners = np.array(instance.children[0]["value"].split(), int).reshape(-1, 4)
    places = np.array([body["pos"] for body in tree.worldbody.all("body")])
    edges = places[corners[:, 1:]] - places[corners[:, :1]]
    volumes = np.linalg.det(edges) / 6
    assert abs(volumes) == pytest.approx(np.full(12, 0.1**3 / 6), rel=1e-5)
    assert np.ptp(np.sign(volumes)) == 0


def test_a_sheet_needs_a_thickness() -> None:
    with pytest.raises(MjcfError, match=r"<config>: the plugin of a sheet needs a number as its 'thickness'"):
        read_string(elastic("thin", "3 3 1"))


def test_an_inertia_without_inverse_is_refused() -> None:
    parts = ROD + '<joint kind="main" armature="-1"/>'
    with pytest.raises(MjcfError, match=r"so far from positive definite .* is an armature negative\?"):
        compiled(composite("cable", 'count="9 1 1" curve="s cos(s)" size="1 1 1"', parts))
