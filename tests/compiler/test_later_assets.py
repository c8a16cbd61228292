"""Textures and materials of MuJoCo 3.2 to 4.0, against 4.0.0."""

import io
import struct
import zlib

import numpy as np
import pytest
from later import later_run
from PIL import Image

import cardan
from cardan.errors import MjcfError

PATTERN = 'builtin="flat" type="2d" width="2" height="2"'
TEXTURES = f'<texture name="t" {PATTERN}/><texture name="u" {PATTERN}/>'
TEXTURE_FIELDS = ("tex_type", "tex_colorspace", "tex_height", "tex_width", "tex_nchannel", "tex_adr", "tex_data")
MATERIAL_FIELDS = ("mat_metallic", "mat_roughness")
READ = """
m = mujoco.MjModel.from_xml_string(xml, assets)
out = {name: np.array(getattr(m, name)) for name in names}
"""


def model(assets: str, defaults: str = "") -> str:
    """The text of a model with assets and defaults."""
    return f"<mujoco><default>{defaults}</default><asset>{assets}</asset></mujoco>"


def assert_as_in_4_0(xml: str, names: tuple[str, ...], files: dict[str, bytes] | None = None) -> cardan.MjModel:
    """Compare fields of the compiled model; also those of the model that was saved and read again by 4.0.0."""
    there = later_run(READ, xml=xml, assets=files or {}, names=names)
    m = cardan.MjModel.from_xml_string(xml, files, compat="4.0")
    spec = cardan.MjSpec.from_string(xml, assets=files, compat="4.0")
    spec.compile()
    again = later_run(READ, xml=spec.to_xml(), assets=files or {}, names=names)
    for name in names:
        own = m.mat_layertexid if name == "mat_texid" else getattr(m, name)
        np.testing.assert_array_equal(own, there[name], err_msg=name)
        np.testing.assert_array_equal(again[name], there[name], err_msg=f"{name}, saved")
    return m


@pytest.mark.parametrize("given", ["", 'colorspace="sRGB"', 'colorspace="linear"', 'embed="true"', 'embed="auto"'])
def test_textures(given: str) -> None:
    """Colour space and channels are fields."""
    m = assert_as_in_4_0(model(f'<texture name="t" {PATTERN} {given}/>'), TEXTURE_FIELDS)
    assert np.shares_memory(m.tex_data, m.tex_rgb)


@pytest.mark.parametrize(
    ("defaults", "texture"),
    [
        ('<texture builtin="flat" width="2" height="3"/>', '<texture name="t"/>'),
        ('<default class="x"><texture type="2d" builtin="flat"/></default>',
         '<texture name="t" class="x" width="2" height="3"/>'),
        ('<texture colorspace="sRGB"/>', f'<texture name="t" {PATTERN}/>'),
    ],
)  # fmt: skip
def test_default_textures(defaults: str, texture: str) -> None:
    """Textures have default classes."""
    assert_as_in_4_0(model(texture, defaults), TEXTURE_FIELDS)


def png(mode: str, rows: int = 3) -> bytes:
    """A PNG image of random pixels in a mode of Pillow."""
    rng = np.random.default_rng(1)
    if mode == "I;16":
        image = Image.fromarray(rng.integers(0, 65536, (rows, 4), dtype=np.uint16))
    else:
        image = Image.fromarray(rng.integers(0, 256, (rows, 4, 4), dtype=np.uint8), "RGBA").convert(mode)
    content = io.BytesIO()
    image.save(content, "PNG")
    return content.getvalue()


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("mode", ["L", "LA", "RGB", "RGBA", "P", "1", "I;16"])
def test_channels(mode: str, channels: int) -> None:
    """Images have one, three or four channels, whatever their file has."""
    xml = model(f'<texture name="t" type="2d" file="a.png" nchannel="{channels}" hflip="true"/>')
    m = assert_as_in_4_0(xml, TEXTURE_FIELDS, {"a.png": png(mode)})
    assert m.tex("t").data.shape == (3, 4, channels)
    assert np.shares_memory(m.tex("t").data, m.tex("t").rgb)


@pytest.mark.parametrize("marked", [(), (0,), (5,), (0, 1, 2, 3, 4, 5)])
def test_colour_space_of_files(marked: tuple[int, ...]) -> None:
    """It is that of the file; the first one of a cube decides."""
    content = png("RGB", 4)
    head = 33  # signature and header
    chunk = b"sRGB\0"
    srgb = content[:head] + struct.pack(">I", 1) + chunk + struct.pack(">I", zlib.crc32(chunk)) + content[head:]
    sides = ("right", "left", "up", "down", "front", "back")
    square = {f"{side}.png": srgb if k in marked else content for k, side in enumerate(sides)}
    files = " ".join(f'file{side}="{side}.png"' for side in sides)
    names = ("tex_colorspace",)
    assert_as_in_4_0(model(f'<texture name="t" type="cube" {files}/>'), names, square)
    assert_as_in_4_0(model('<texture name="t" type="2d" file="back.png"/>'), names, square)
    assert_as_in_4_0(model('<texture name="t" type="2d" file="back.png" colorspace="sRGB"/>'), names, square)


def test_ktx() -> None:
    """KTX files are kept as they are."""
    content = b"\xabKTX 11\xbb\r\n\x1a\n" + bytes(range(60))
    m = assert_as_in_4_0(model('<texture name="t" type="2d" file="a.ktx"/>'), TEXTURE_FIELDS, {"a.ktx": content})
    assert m.tex_data.tobytes() == content


@pytest.mark.parametrize(
    ("texture", "message"),
    [
        (f'<texture name="t" {PATTERN} nchannel="4"/>', "generated textures have 3 channels, found 4"),
        ('<texture name="t" type="2d" file="a.png" nchannel="2"/>', "images have 1, 3 or 4 channels, found 2"),
        ('<texture name="t" file="a.png" nchannel="1"/>', "textures of cubes have 3 channels, found 1"),
        ('<texture name="t" file="a.ktx"/>', "cubes cannot be read from KTX files"),
        ('<texture name="t" type="2d" file="a.ktx" vflip="true"/>', "cannot be flipped"),
        (f'<texture name="t" {PATTERN} colorspace="cmyk"/>', "'cmyk' is not one of its keywords"),
        ('<material name="m" texture="t"><layer texture="u" role="normal"/></material>', "exclude each other"),
        ('<material name="m"><layer texture="u" role="user"/></material>', "'user' is not one of its keywords"),
        ('<material name="m"><layer texture="u"/></material>', "role: required attribute missing"),
        ('<material name="m"><layer texture="x" role="orm"/></material>', "'x'"),
    ],
)
def test_wrong(texture: str, message: str) -> None:
    """Errors name the attribute and say what would be right."""
    xml = model(TEXTURES.replace('name="t"', 'name="v"') + texture)
    with pytest.raises(MjcfError, match=message):
        cardan.MjModel.from_xml_string(xml, {"a.png": png("RGB"), "a.ktx": b"\xabKTX"})


LAYER = '<layer texture="{}" role="{}"/>'
ROLES = ("rgb", "normal", "occlusion", "roughness", "metallic", "opacity", "emissive", "orm", "rgba")


@pytest.mark.parametrize(
    ("defaults", "material"),
    [
        ("", '<material name="m"/>'),
        ("", '<material name="m" texture="t" metallic=".3" roughness=".4"/>'),
        ("", f'<material name="m">{"".join(LAYER.format("t", role) for role in ROLES)}</material>'),
        ("", f'<material name="m">{LAYER.format("t", "rgb")}{LAYER.format("u", "rgb")}</material>'),
        (f'<material>{LAYER.format("t", "rgb")}</material>', '<material name="m" texture="u"/>'),
        ('<material texture="t"/>', f'<material name="m">{LAYER.format("u", "normal")}</material>'),
        (f'<material>{LAYER.format("t", "rgb")}</material><default class="k"><material>{LAYER.format("u", "normal")}'
         "</material></default>", '<material name="m" class="k"/>'),
    ],
)  # fmt: skip
def test_layers(defaults: str, material: str) -> None:
    """Layers of default classes and of the material add up; a texture is the layer of the colour."""
    m = assert_as_in_4_0(model(TEXTURES + material, defaults), ("mat_texid", *MATERIAL_FIELDS))
    np.testing.assert_array_equal(m.mat_texid, m.mat_layertexid)


def test_undefined_properties() -> None:
    """In 4.0, metallic and roughness are negative if a material does not give them."""
    xml = model('<material name="m"/>')
    for compat, value in (("3.1", 1.0), ("4.0", -1.0)):
        m = cardan.MjModel.from_xml_string(xml, compat=compat)
        assert (m.mat_metallic[0], m.mat_roughness[0]) == (value, value)


def test_layers_of_a_specification() -> None:
    """The list of textures by role reads and writes the layers."""
    spec = cardan.MjSpec.from_string(model(TEXTURES + '<material name="m"><layer texture="u" role="orm"/></material>'))
    material = spec.material("m")
    assert material.textures[9] == "u"
    material.textures[1] = "t"
    material.textures[9] = ""
    material.textures[5] = "u"
    assert spec.compile().mat_layertexid.tolist() == [[-1, 0, -1, -1, -1, 1, -1, -1, -1, -1]]
    assert LAYER.format("u", "normal") in spec.to_xml()


@pytest.mark.parametrize("compat", ["3.1", "4.0"])
def test_saved_textures_of_materials(compat: str) -> None:
    """Under 4.0, ``mat_texid`` has ten columns; saving does not depend on that."""
    xml = model(f'<texture name="t" {PATTERN}/><material name="m" texture="t"/>')
    assert 'texture="t"' in cardan.MjModel.from_xml_string(xml, compat=compat).to_xml()
