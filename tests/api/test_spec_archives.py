"""Archives of specifications: the files in them, where these are, and that 4.0.0 reads them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from later import later_run

import cardan
from cardan import MjSpec

OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
MODEL = """
<mujoco model="four">
  <compiler meshdir="meshes"/>
  <asset>
    <mesh name="a" file="a.obj"/><mesh name="b" file="sub/b.obj"/>
    <mesh name="c" file="../c.obj"/><mesh name="d" file="../../a.obj"/>
  </asset>
  <worldbody>
    <geom type="mesh" mesh="a"/><geom type="mesh" mesh="b"/><geom type="mesh" mesh="c"/><geom type="mesh" mesh="d"/>
  </worldbody>
</mujoco>
"""
READ = """
import io
out = mujoco.from_zip(io.BytesIO(content)).compile().mesh_vert
"""


@pytest.fixture
def spec(tmp_path: Path) -> Any:
    """A model whose meshes are in several folders, one outside the folder of the model."""
    (tmp_path / "model/meshes/sub").mkdir(parents=True)
    for number, name in enumerate(("model/meshes/a.obj", "model/meshes/sub/b.obj", "model/c.obj", "a.obj")):
        (tmp_path / name).write_bytes(OBJ.replace(b"v 1", b"v %d" % (number + 1)))
    (tmp_path / "model/m.xml").write_text(MODEL)
    return MjSpec.from_file(tmp_path / "model/m.xml")


def zipped(files: Mapping[str, str | bytes]) -> io.BytesIO:
    """Return a ZIP file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer


@pytest.mark.parametrize("encoded", [False, True])
def test_files_on_disk(encoded: bool, spec: Any, tmp_path: Path) -> None:
    """Archives contain the files at places inside, and are read as before, also without the files on disk."""
    path = tmp_path / "new/a.zip"
    if encoded:
        path.parent.mkdir()
        spec.encode(path)
    else:
        cardan.to_zip(spec, path)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    main = "model.xml" if encoded else "four.xml"
    assert names == [main, "meshes/a.obj", "meshes/sub/b.obj", "c.obj", "1_a.obj"]
    wanted = spec.compile().mesh_vert
    for file in (tmp_path / "model").rglob("*.obj"):
        file.unlink()
    assert (cardan.from_zip(path).compile().mesh_vert == wanted).all()
    if encoded:
        assert (cardan.MjModel.from_xml_path(str(path)).mesh_vert == wanted).all()
    there = np.linalg.norm(later_run(READ, content=path.read_bytes()), axis=1)  # frames differ by rotations
    assert np.allclose(there, np.linalg.norm(wanted, axis=1), atol=1e-6)


def test_assets_that_nothing_names() -> None:
    """They are in the ZIP file, too, but not in an archive that is encoded."""
    spec = MjSpec.from_string("<mujoco/>", assets={"a.obj": OBJ})
    buffer = io.BytesIO()
    spec.to_zip(buffer)
    assert cardan.from_zip(buffer).assets == {"a.obj": OBJ}


def test_the_model_among_several_files() -> None:
    """The last file that no other one includes; other files count from its folder."""
    included = '<mujoco model="{}"><include file="part.xml"/></mujoco>'
    files = {
        "f/first.xml": "<mujoco/>",
        "f/whole.xml": included.format("whole"),
        "f/part.xml": "<mujoco><worldbody/></mujoco>",
    }
    spec = cardan.from_zip(zipped(files))
    assert (spec.modelname, sorted(spec.assets)) == ("whole", ["first.xml", "part.xml"])


def test_media_types(tmp_path: Path) -> None:
    """The media type counts before the suffix; types that mean nothing are ignored."""
    spec = MjSpec()
    assert spec.encode(tmp_path / "a.dat", content_type="text/xml") == len(spec.to_xml())
    spec.encode(tmp_path / "b.XML", content_type="application/zip")
    assert zipfile.is_zipfile(tmp_path / "b.XML")
    spec.encode(tmp_path / "c.XML", content_type="text/html")
    assert (tmp_path / "c.XML").read_text() == spec.to_xml()


def test_damaged_archives() -> None:
    """An archive whose content is damaged is an error that names it."""
    content = bytearray(zipped({"a.xml": "<mujoco/>"}).getvalue())
    content[40:44] = b"????"
    with pytest.raises(ValueError, match="cannot be unpacked"):
        cardan.from_zip(io.BytesIO(bytes(content)))
