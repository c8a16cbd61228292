"""Textures by reference: the model holds the path and no pixels, as in 4.0.0; the renderer reads the file."""

from pathlib import Path

import numpy as np
import pytest
from later import later_run
from PIL import Image

import cardan
from cardan.compiler.textures import pixels_of
from cardan.errors import MjcfError

XML = """<mujoco><compiler texturedir="tex" {}/><asset><texture name="a" {} {}/>
<texture name="b" type="2d" builtin="flat" width="2" height="2"/><material name="m" texture="a"/></asset>
<worldbody><light pos="0 0 3"/><geom type="plane" size="1 1 1" material="m"/></worldbody></mujoco>"""
FILE = 'type="2d" file="a.png"'
FIELDS = ("tex_adr", "tex_width", "tex_height", "tex_nchannel", "tex_type", "tex_colorspace")
CODE = "m = mujoco.MjModel.from_xml_path(path); out = [np.array(getattr(m, n)) for n in fields], m.paths"


@pytest.fixture
def model(tmp_path: Path):
    """Return a function that writes a model beside an image, and returns the model's path."""
    (tmp_path / "tex").mkdir()
    Image.fromarray(np.full((2, 2, 3), (255, 0, 0), np.uint8)).save(tmp_path / "tex" / "a.png")

    def write(compiler: str, texture: str, attributes: str = "") -> str:
        path = tmp_path / "m.xml"
        path.write_text(XML.format(compiler, texture, attributes))
        return str(path)

    return write


SIX = " ".join(f'file{side}="a.png"' for side in ("right", "left", "up", "down", "front", "back"))


@pytest.mark.parametrize(
    ("compiler", "texture", "attributes"),
    [
        ("", FILE, ""),
        ('passthrough="textures"', FILE, ""),
        ('passthrough="textures"', FILE, 'embed="true"'),
        ("", FILE, 'embed="false"'),
        ('passthrough="textures"', FILE, 'colorspace="sRGB" nchannel="4"'),
        ('passthrough="textures"', FILE.replace("a.png", "missing.png"), ""),
        ('passthrough="textures"', FILE, 'hflip="true"'),
        ('passthrough="textures"', f'type="cube" {SIX}', ""),
        ('passthrough="textures"', 'type="cube" file="a.png"', ""),
    ],
)
def test_as_in_4_0(model, compiler: str, texture: str, attributes: str) -> None:
    path = model(compiler, texture, attributes)
    m = cardan.MjModel.from_xml_path(path, compat="4.0")
    fields, paths = later_run(CODE, path=path, fields=FIELDS)
    for name, wanted in zip(FIELDS, fields, strict=True):
        if name == "tex_height" and texture.startswith("type") and SIX in texture:
            continue
        np.testing.assert_array_equal(getattr(m, name), wanted, err_msg=name)
    if m.tex_adr[0] < 0:
        assert m.paths == paths


def test_saved(model, tmp_path: Path) -> None:
    path = model("", FILE, 'embed="false"')
    m = cardan.MjModel.from_xml_path(path)
    (tmp_path / "saved.xml").write_text(m.to_xml())
    again = cardan.MjModel.from_xml_path(str(tmp_path / "saved.xml"))
    assert (again.tex_adr.tolist(), again.paths) == (m.tex_adr.tolist(), m.paths)


@pytest.mark.parametrize("texture", [FILE, 'type="cube" file="a.png"'])
def test_drawn(model, texture: str) -> None:
    """A picture shows the texture as if the model held it."""
    pictures = []
    for compiler in ("", 'passthrough="textures"'):
        m = cardan.MjModel.from_xml_path(model(compiler, texture))
        d = cardan.MjData(m)
        cardan.mj_forward(m, d)
        with cardan.Renderer(m, 40, 40) as renderer:
            renderer.update_scene(d)
            pictures.append(renderer.render())
        assert pixels_of(m, 0).shape[2] == 3
    np.testing.assert_array_equal(*pictures)


def test_missing_file_is_a_warning(model) -> None:
    m = cardan.MjModel.from_xml_path(model('passthrough="textures"', FILE.replace("a.png", "missing.png")))
    with pytest.warns(UserWarning, match="a texture can't be read"), cardan.Renderer(m, 40, 40) as renderer:
        renderer.update_scene(cardan.MjData(m))


@pytest.mark.parametrize(
    ("texture", "words"),
    [
        (f'{FILE} hflip="true"', "it is flipped"),
        ('type="2d" builtin="flat" width="2" height="2"', "it is generated"),
        (f'type="cube" {SIX}', "it has six files"),
    ],
)
def test_errors(model, texture: str, words: str) -> None:
    with pytest.raises(MjcfError, match=f"embed: can't be outside of the model: {words}"):
        cardan.MjModel.from_xml_path(model("", texture, 'embed="false"'))


def test_files_in_memory() -> None:
    xml = XML.format("", FILE, 'embed="false"')
    with pytest.raises(MjcfError, match="it is in memory, not in a file"):
        cardan.MjModel.from_xml_string(xml, {"tex/a.png": b"x"})


EMBED = """
m = mujoco.mj_embedAssets(mujoco.MjModel.from_xml_path(path))
out = [np.array(getattr(m, n)) for n in fields], m.paths, np.array(m.tex_data)
"""


@pytest.mark.parametrize("texture", [FILE, 'type="cube" file="a.png"', FILE.replace("/>", ' nchannel="4"/>')])
def test_embedded_again(model, texture: str) -> None:
    """A copy of the model has the pixels of files that the model only names, as in 4.0.0."""
    path = model('passthrough="textures"', texture)
    m = cardan.MjModel.from_xml_path(path, compat="4.0")
    embedded = cardan.mj_embedAssets(m)
    fields, paths, pixels = later_run(EMBED, path=path, fields=FIELDS)
    for name, wanted in zip(FIELDS, fields, strict=True):
        np.testing.assert_array_equal(getattr(embedded, name), wanted, err_msg=name)
    np.testing.assert_array_equal(embedded.tex_rgb, pixels)
    assert (embedded.paths, m.tex_adr[0], m.ntexdata) == (paths, -1, 12)
    d = cardan.MjData(embedded)
    cardan.mj_step(embedded, d)
    assert embedded.geom(0).matid == m.geom(0).matid


def test_embedding_needs_the_files(model, tmp_path: Path) -> None:
    m = cardan.MjModel.from_xml_path(model('passthrough="textures"', FILE))
    (tmp_path / "tex/a.png").unlink()
    with pytest.raises(ValueError, match=r"mj_embedAssets: texture 0: .*a\.png"):
        cardan.mj_embedAssets(m)
