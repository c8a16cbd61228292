"""Parity, level 1 (compile), of assets from files and of what the compiler leaves out: every numeric field, 1e-9."""

from __future__ import annotations

from pathlib import Path

import asset_files as made
import mujoco
import numpy as np
import pytest
from fields_compared import differences
from models import model_path

from cardan.api.loading import load_path, load_string

RANDOM = np.random.default_rng(0)
COLOURS = RANDOM.integers(0, 256, (4, 6, 3)).astype(np.uint8)
SQUARE = RANDOM.integers(0, 256, (4, 4, 3)).astype(np.uint8)
GRID = RANDOM.integers(0, 256, (6, 8, 3)).astype(np.uint8)
BONES = [("b", [1, 2, 3], [1, 2, 0, 0], [0, 1, 2], [1, 2, 3]), ("c", [0, 0, 0], [1, 0, 0, 0], [2], [4])]
TRIANGLE = [0, 0, 0, 1, 0, 0, 0, 1, 0]
FILES: dict[str, bytes] = {
    "rgb.png": made.png(COLOURS),
    "UPPER.PNG": made.png(COLOURS),
    "rgba.png": made.png(RANDOM.integers(0, 256, (4, 6, 4)).astype(np.uint8)),
    "grey.png": made.png(RANDOM.integers(0, 256, (4, 6)).astype(np.uint8)),
    "deep.png": made.png(RANDOM.integers(0, 65536, (4, 6)).astype(np.uint16)),
    "alpha.png": made.png(RANDOM.integers(0, 256, (4, 6, 2)).astype(np.uint8)),
    "bits.png": made.png(np.array([[0, 1, 1], [1, 0, 1]], bool)),
    "palette.png": made.palette_png(COLOURS),
    "square.png": made.png(SQUARE),
    "grid.png": made.png(GRID),
    "image.bin": made.texture(COLOURS),
    "square.bin": made.texture(SQUARE),
    "hills.bin": made.hfield(2, 3, [1, 2, 3, 4, 5, 7]),
    "plain": made.png(COLOURS),
    "good.skn": made.skin(TRIANGLE, [0, 0, 1, 0, 0, 1], [0, 1, 2], BONES),
    "bare.skn": made.skin(TRIANGLE, [], [0, 1, 2], BONES),
    **{f"side{k}.png": made.png(RANDOM.integers(0, 256, (3, 3, 3)).astype(np.uint8)) for k in range(6)},
}
SIX = " ".join(f'file{side}="side{k}.png"' for k, side in enumerate(("right", "left", "up", "down", "front", "back")))

FLAT_TEXTURES = [
    *(f'file="{name}"' for name in FILES if name.endswith((".png", ".PNG")) and "side" not in name),
    'file="rgb.png" hflip="true"',
    'file="rgb.png" vflip="true"',
    'file="rgb.png" hflip="true" vflip="true"',
    'file="image.bin"',
    'file="image.bin" vflip="true"',
    'file="plain" content_type="image/png"',
    'file="image.bin" content_type="image/vnd.mujoco.texture"',
    'file="folder/rgb.png" name="given"',
    'file="missing.png" builtin="flat" width="2" height="3"',
]
CUBE_TEXTURES = [
    'file="square.png"',
    'file="square.bin" hflip="true"',
    'file="square.png" gridlayout="R"',
    'file="grid.png" gridsize="3 4" gridlayout=".U..LFRB.D.."',
    'file="grid.png" gridsize="3 4" gridlayout=".U..LFRB.D.." hflip="true"',
    'file="grid.png" gridsize="3 4" gridlayout=".U..LFRB.D.." vflip="true"',
    'file="grid.png" gridsize="3 4" gridlayout="UU..L......." rgb1="0.1 0.5 0.9"',
    'file="grid.png" gridsize="3 4"',
    f'name="t" {SIX}',
    f'name="t" hflip="true" {SIX}',
    'name="t" fileup="side2.png" rgb1="0.3 0.7 0.2"',
]


def compare(xml: str, assets: dict[str, bytes] | None = None) -> None:
    """Compile a model with both engines and compare the models."""
    assert differences(mujoco.MjModel.from_xml_string(xml, assets), load_string(xml, assets)) == []


@pytest.mark.parametrize("attributes", FLAT_TEXTURES)
def test_flat_texture(attributes: str) -> None:
    compare(f'<mujoco><asset><texture type="2d" {attributes}/></asset></mujoco>', FILES)


@pytest.mark.parametrize("kind", ["cube", "skybox"])
@pytest.mark.parametrize("attributes", CUBE_TEXTURES)
def test_cube_texture(attributes: str, kind: str) -> None:
    compare(f'<mujoco><asset><texture type="{kind}" {attributes}/></asset></mujoco>', FILES)


def test_names_and_paths_of_files() -> None:
    compare(
        """<mujoco><compiler texturedir="t" meshdir="/m" strippath="true"/><asset>
        <texture type="2d" file="a/rgb.png"/><texture type="2d" file="b\\rgb.png"/><texture type="skybox" builtin="flat"
        width="1" height="1"/><texture type="2d" file="grey.png" name="q"/><hfield file="x/grey.png" size="1 1 1 1"/>
        <skin file="good.skn"/><material name="m" texture="rgb_1"/></asset>
        <deformable><skin file="bare.skn" name="s"/></deformable>
        <worldbody><body name="b"/><body name="c"/></worldbody></mujoco>""",
        FILES,
    )


HFIELDS = [
    'nrow="2" ncol="3" size="1 2 3 .5" elevation="1 2 3 4 5 7"',
    'nrow="2" ncol="3" size="1 2 3 4.5" elevation=".1 .3 .7 1.1 -1 0"',
    'nrow="2" ncol="3" size="1 2 3 .5"',
    'nrow="1" ncol="2" size="1 2 3 .5" elevation="5 5"',
    *(f'file="{name}" size="1 2 3 .5"' for name in FILES if name.endswith((".png", ".PNG"))),
    'file="hills.bin" size="1 2 3 .5"',
    'file="hills.bin" size="1 2 3 .5" nrow="7" ncol="1"',
    'file="plain" content_type="image/png" size="1 2 3 .5"',
]


@pytest.mark.parametrize("attributes", HFIELDS)
def test_height_field(attributes: str) -> None:
    compare(
        f"""<mujoco><asset><hfield name="h" {attributes}/></asset><worldbody>
        <geom type="hfield" hfield="h" pos="1 2 3" size="5 6 7"/><geom size=".3"/>
        <body><freejoint/><geom type="hfield" hfield="h" euler="10 20 30" fluidshape="ellipsoid"/>
        <geom size="1" pos="4 0 0"/></body>
        <body><freejoint/><geom type="hfield" hfield="h" mass="2"/></body></worldbody></mujoco>""",
        FILES,
    )


SKINS = [
    'file="good.skn" material="m" rgba="1 0 0 1" inflate=".1" group="3"',
    'file="bare.skn"',
]


@pytest.mark.parametrize("section", ["asset", "deformable"])
@pytest.mark.parametrize("attributes", SKINS)
def test_skin_file(attributes: str, section: str) -> None:
    compare(
        f"""<mujoco><asset><material name="m"/></asset><{section}><skin name="s" {attributes}/></{section}>
        <worldbody><body name="b"/><body name="c" pos="1 0 0"/></worldbody></mujoco>""",
        FILES,
    )


def test_written_skin() -> None:
    compare(
        """<mujoco><deformable><skin name="s" vertex="0 0 0 1 0 0 0 1 0" texcoord="0 0 1 0 0 1" face="0 1 2">
        <bone body="b" bindpos="1 2 3" bindquat="2 1 0 0" vertid="0 1 2" vertweight=".2 3 5"/>
        <bone body="world" bindpos="0 0 0" bindquat="0 0 0 0" vertid="1 2" vertweight="2 -.1"/></skin>
        <skin vertex="0 0 0 1 0 0 0 1 0" face="0 1 2">
        <bone body="b" bindpos="0 0 0" bindquat="1 0 0 0" vertid="0 1 2" vertweight="1 1 1"/></skin></deformable>
        <worldbody><body name="b"/></worldbody></mujoco>"""
    )


# --- fusestatic, discardvisual, and bounds on inertias ---------------------------------------------------------------

STATIC_TREE = """<body name="p" pos="1 0 0" gravcomp="1"><joint/><geom name="gp" size=".1" pos="0 0 .1"/>
<frame pos="1 2 3" euler="0 20 0"><body name="s" pos="0 1 0" euler="0 0 90" user="1 2">
  <geom name="gs" type="box" size=".1 .2 .3" euler="10 20 30" group="1"/><site name="ss" pos="1 0 0"/>
  <frame pos="1 0 0"><body name="q" pos="1 0 0" euler="1 2 3"><joint name="jq" axis="0 1 0"/><geom size=".1"/></body>
  </frame><body name="e" pos="0 0 1"><site/></body></body></frame>
<body name="z" pos="0 2 0"><inertial mass="3" pos="1 0 0" diaginertia="1 1 1.9" quat="2 1 0 0"/>
  <geom name="gz" type="capsule" size=".1 .3"/><body name="zz" pos="0 0 3"><geom size=".2" contype="0"/></body></body>
<geom name="last" type="capsule" size=".1 .3" pos=".3 0 0" contype="0" conaffinity="0"/></body>
<body name="w" pos="3 0 0"><geom name="gw" size=".1"/><body name="f"><freejoint/><geom size=".2"/></body></body>
<body name="m" mocap="true"><geom size=".1" contype="0" conaffinity="0"/></body>
<geom name="ground" type="plane" size="1 1 1"/>"""
COMPILER = [
    "",
    'boundmass="50"',
    'boundinertia="0.5"',
    'boundmass="50" boundinertia="9"',
    'settotalmass="50"',
    'settotalmass="5" boundmass="3"',
    'inertiafromgeom="true"',
    'inertiafromgeom="true" boundmass="60"',
    'inertiagrouprange="0 0" boundmass="1" boundinertia=".1"',
    'inertiagrouprange="1 5" boundmass="1" boundinertia=".1"',
    'balanceinertia="true"',
    'balanceinertia="true" boundinertia="1" settotalmass="7"',
]


@pytest.mark.parametrize("reduction", ["", 'fusestatic="true"', 'discardvisual="true"',
                                       'fusestatic="true" discardvisual="true"'])  # fmt: skip
@pytest.mark.parametrize("settings", COMPILER)
def test_compiler_settings(settings: str, reduction: str) -> None:
    tree = STATIC_TREE
    if "balanceinertia" in settings:
        tree = tree.replace('diaginertia="1 1 1.9"', 'diaginertia="1 1 30"')
    if 'fusestatic="true"' not in reduction:
        tree = tree.replace("<freejoint/>", '<joint type="ball"/>')
    compare(f"<mujoco><compiler {settings} {reduction}/><worldbody>{tree}</worldbody></mujoco>")


KEPT_BODIES = [
    "<sensor><clock/></sensor>",
    '<actuator><motor joint="jq"/></actuator>',
    '<equality><weld body1="s" body2="q"/></equality>',
    '<contact><exclude body1="s" body2="q"/></contact>',
    '<contact><pair geom1="gs" geom2="gz"/></contact>',
    '<tendon><fixed><joint joint="jq" coef="1"/></fixed></tendon>',
    '<custom><tuple name="t"><element objtype="body" objname="s"/></tuple></custom>',
    '<worldbody><camera name="c"/></worldbody>',
    '<worldbody><light name="l"/></worldbody>',
    '<custom><numeric name="n" data="1"/></custom><keyframe><key time="1"/></keyframe>',
]


@pytest.mark.parametrize("rest", KEPT_BODIES)
def test_fusing_with_other_elements(rest: str) -> None:
    tree = STATIC_TREE.replace("<freejoint/>", '<joint type="ball"/>')
    compare(f'<mujoco><compiler fusestatic="true"/><worldbody>{tree}</worldbody>{rest}</mujoco>')


VISUAL_TREE = """<geom name="ground" type="plane" size="1 1 1" material="m"/>
<geom name="wv" contype="0" conaffinity="0" size="1" material="m"/><site name="s"/><site name="u" pos="1 0 0"/>
<geom type="hfield" hfield="h" contype="0" conaffinity="0"/>
<body name="b"><joint name="j"/><geom name="c" size=".1" rgba="1 0 0 1" pos="0 0 1"/>
<geom name="v" contype="0" conaffinity="0" size=".2" material="m" fluidshape="ellipsoid"/>
<geom name="half" contype="0" size=".2"/></body>
<body name="only"><joint/><geom name="o" size="1" contype="0" conaffinity="0"/></body>"""
REFERRING = [
    "",
    '<contact><pair geom1="wv" geom2="v"/></contact>',
    '<sensor><framepos objtype="geom" objname="v"/></sensor>',
    '<custom><tuple name="t"><element objtype="geom" objname="v"/></tuple></custom>',
    '<tendon><fixed><joint joint="j" coef="1"/></fixed></tendon>',
]


@pytest.mark.parametrize("rest", REFERRING)
def test_discarding_visual_elements(rest: str) -> None:
    compare(
        f"""<mujoco><compiler discardvisual="true"/><asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/>
        <texture name="sky" type="skybox" builtin="flat" width="1" height="1"/>
        <texture name="t" type="2d" builtin="flat" width="1" height="1"/><material name="m" texture="t"/></asset>
        <worldbody>{VISUAL_TREE}</worldbody>{rest}</mujoco>"""
    )


# --- files on the disk, and real models ------------------------------------------------------------------------------

FOLDERS = [
    ("", "", {"main/a.png": 1, "main/inc/a.png": 2}),
    ("", "", {"main/inc/a.png": 2}),
    ('texturedir="tex"', "", {"main/tex/a.png": 1, "main/inc/a.png": 2, "main/a.png": 3}),
    ("", 'texturedir="tex"', {"main/tex/a.png": 1, "main/inc/tex/a.png": 2}),
    ("", 'texturedir="tex"', {"main/inc/tex/a.png": 1, "main/inc/a.png": 2, "main/a.png": 3}),
    ('assetdir="zz" texturedir="tex"', "", {"main/tex/a.png": 1}),
    ('assetdir="tex" strippath="true"', "", {"main/tex/a.png": 1}),
    ('texturedir="zz"', 'assetdir="tex"', {"main/tex/a.png": 1, "main/zz/a.png": 2, "main/a.png": 3}),
    ('assetdir="tex"', 'texturedir=""', {"main/tex/a.png": 1, "main/a.png": 2}),
    ('assetdir="zz"', 'assetdir=""', {"main/zz/a.png": 1, "main/a.png": 2}),
]


@pytest.mark.parametrize(("outer", "inner", "files"), FOLDERS)
def test_files_of_included_documents(tmp_path: Path, outer: str, inner: str, files: dict[str, int]) -> None:
    texts = {
        "main/m.xml": f'<mujoco><compiler {outer}/><include file="inc/i.xml"/></mujoco>',
        "main/inc/i.xml": f'<mujoco><compiler {inner}/><asset><texture type="2d" file="a.png"/></asset></mujoco>',
    }
    images = {name: made.png(np.full((2, 2, 3), 10 * shade, np.uint8)) for name, shade in files.items()}
    for name, content in {**{n: t.encode() for n, t in texts.items()}, **images}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    main = str(tmp_path / "main/m.xml")
    assert differences(mujoco.MjModel.from_xml_path(main), load_path(main)) == []


@pytest.mark.parametrize("include", ["i.xml", "inc/i.xml", "./i.xml", "inc/../i.xml"])
@pytest.mark.parametrize("name", ["{}.png", "./{}.png", "e/{}.png", "/x/{}.png"])
def test_paths_of_documents_in_assets(include: str, name: str) -> None:
    # the reference keeps what it has read by its name
    name = name.format(include.replace("/", "_") + name.replace("/", "_")[:3])
    assets = {
        "i.xml": f'<mujoco><asset><texture type="2d" name="t" file="{name}"/></asset></mujoco>'.encode(),
        name.rsplit("/", 1)[-1]: made.png(np.full((2, 2, 3), 10, np.uint8)),
    }
    main = f'<mujoco><include file="{include}"/></mujoco>'
    assert mujoco.MjModel.from_xml_string(main, assets).paths == load_string(main, assets).paths
    assets["main.xml"] = main.encode()
    assert mujoco.MjModel.from_xml_path("main.xml", assets).paths == load_path("main.xml", assets).paths


@pytest.mark.parametrize("name", ["showroom", "puzzle", "cards", "rodent"])
def test_real_models(name: str) -> None:
    path = str(model_path(name))
    assert differences(mujoco.MjModel.from_xml_path(path), load_path(path)) == []


def test_replicate_turns_by_multiples_of_the_angles() -> None:
    compare(
        """<mujoco><worldbody><replicate count="5" euler="10 20 30" offset="1 0 .5">
        <geom size=".1" pos="1 2 3"/></replicate></worldbody></mujoco>"""
    )
