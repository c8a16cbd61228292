"""Archives of models, ``.mjz`` and ``.zip``."""

import io
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from later import later_run

import cardan
from cardan.errors import MjcfError

OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
PART = b'<mujoco><asset><mesh file="parts/m.obj"/></asset></mujoco>'
MODEL = b"""<mujoco model="%s"><include file="part.xml"/>
<worldbody><body><geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""


def archive(path: Path, *models: str) -> str:
    """An archive with models of these names, which are also the names in them, and their files."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name in models:
            folder = name.rpartition("/")[0]
            file.writestr(name, MODEL % name.encode())
            file.writestr(f"{folder}/part.xml" if folder else "part.xml", PART)
            file.writestr(f"{folder}/parts/m.obj" if folder else "parts/m.obj", OBJ)
    return str(path)


@pytest.mark.parametrize("suffix", [".mjz", ".zip"])
@pytest.mark.parametrize("model", ["model.xml", "robot.xml", "robot/robot.xml", "robot/model.xml"])
def test_places_of_the_model(model: str, suffix: str, tmp_path: Path) -> None:
    """It is in the archive, or in a folder with the archive's name."""
    path = archive(tmp_path / f"robot{suffix}", model)
    m = cardan.MjModel.from_xml_path(path, compat="4.0")
    assert (m.nmesh, m.names.split(b"\0")[0].decode()) == (1, model)
    there = later_run("m = mujoco.MjSpec.from_file(path).compile(); out = m.body_mass[1]", path=path)
    np.testing.assert_allclose(m.body_mass[1], there)
    assert cardan.MjSpec.from_file(path).compile().nmesh == 1


def test_order_of_the_places(tmp_path: Path) -> None:
    """``model.xml`` comes first."""
    path = tmp_path / "robot.mjz"
    with zipfile.ZipFile(path, "w") as file:
        for name in ("robot.xml", "model.xml"):
            file.writestr(name, f'<mujoco model="{name}"/>')
    assert cardan.MjModel.from_xml_path(str(path)).names.startswith(b"model.xml\0")


def test_saved_again(tmp_path: Path) -> None:
    """The text of a model refers to the files by their names in the archive."""
    m = cardan.MjModel.from_xml_path(archive(tmp_path / "a.mjz", "model.xml"))
    assert 'file="parts/m.obj"' in m.to_xml()
    assert cardan.MjModel.from_xml_string(m.to_xml(), {"parts/m.obj": OBJ}).nmesh == 1


def test_without_a_model(tmp_path: Path) -> None:
    """The error says where a model can be."""
    path = archive(tmp_path / "robot.mjz", "other.xml")
    with pytest.raises(MjcfError, match=r"no model; expected one of model\.xml, robot\.xml, robot/robot\.xml"):
        cardan.MjModel.from_xml_path(path)


def test_damaged(tmp_path: Path) -> None:
    """Refuse archives that are cut off, and files of another kind."""
    content = Path(archive(tmp_path / "a.mjz", "model.xml")).read_bytes()
    damaged = bytearray(content)
    damaged[60:80] = bytes(20)
    for wrong in (b"", b"<mujoco/>", content[:-40], bytes(damaged)):
        (tmp_path / "b.mjz").write_bytes(wrong)
        with pytest.raises(MjcfError, match=r"b\.mjz.*archive"):
            cardan.MjModel.from_xml_path(str(tmp_path / "b.mjz"))


def changed(content: bytes, old: bytes, new: bytes) -> bytes:
    """An archive in which the last occurrence of some bytes is replaced."""
    before, _, after = content.rpartition(old)
    return before + new + after


def test_damaged_directory(tmp_path: Path) -> None:
    """Names that are not text, and a directory that begins before the file, are errors of the archive."""
    path = tmp_path / "a.mjz"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("model.xml", MODEL % b"m")
        file.writestr("\u00e9.txt", b"text")
    content = path.read_bytes()
    size = content.rindex(b"PK\5\6") + 12  # of the directory
    for wrong in (changed(content, b"\xc3\xa9", b"\xc3\x28"), content[:size] + b"\0\0\0\x7f" + content[size + 4 :]):
        path.write_bytes(wrong)
        with pytest.raises(MjcfError, match=r"a\.mjz.*archive"):
            cardan.MjModel.from_xml_path(str(path))


def test_compression(tmp_path: Path) -> None:
    """Archives are deflated or stored, as in 4.0; files do not unpack to more than they declare."""
    path = tmp_path / "a.mjz"
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_BZIP2):
        with zipfile.ZipFile(path, "w", method) as file:
            file.writestr("model.xml", b"<mujoco/>")
        if method == zipfile.ZIP_STORED:
            assert cardan.MjModel.from_xml_path(str(path)).nbody == 1
    with pytest.raises(MjcfError, match=r"'model\.xml' is neither deflated nor stored"):
        cardan.MjModel.from_xml_path(str(path))


def test_declared_size(tmp_path: Path) -> None:
    """A file that is larger than the directory says is refused before all of it is unpacked."""
    path = tmp_path / "a.mjz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("model.xml", b"<mujoco/>")
        file.writestr("zeros", bytes(20_000_000))
    path.write_bytes(changed(path.read_bytes(), (20_000_000).to_bytes(4, "little"), (100).to_bytes(4, "little")))
    tracemalloc.start()
    with pytest.raises(MjcfError, match="cannot be unpacked"):
        cardan.MjModel.from_xml_path(str(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000


def test_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The size that an archive declares is bounded."""
    monkeypatch.setattr("cardan.mjcf.archives.MOST_BYTES", 100)
    with pytest.raises(MjcfError, match="at most 100 are unpacked"):
        cardan.MjModel.from_xml_path(archive(tmp_path / "a.mjz", "model.xml"))


def test_from_memory(tmp_path: Path) -> None:
    """An archive can be an asset itself."""
    content = Path(archive(tmp_path / "a.mjz", "model.xml")).read_bytes()
    assert zipfile.is_zipfile(io.BytesIO(content))
    assert cardan.MjModel.from_xml_path("a.mjz", {"a.mjz": content}).nmesh == 1


def test_equal_names_in_two_folders(tmp_path: Path) -> None:
    """Files of an archive are found by their paths, also below a mesh folder."""
    other = OBJ.replace(b"1 0 0", b"2 0 0")
    model = (
        '<mujoco><compiler meshdir="parts"/><asset><mesh name="a" file="a/m.obj"/><mesh name="b" file="b/m.obj"/>'
        '<mesh name="c" file="../c/m.obj"/></asset><worldbody><geom type="mesh" mesh="a"/><geom type="mesh" mesh="b"/>'
        '<geom type="mesh" mesh="c"/></worldbody></mujoco>'
    )
    path = tmp_path / "model.mjz"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("model.xml", model)
        for name, content in (("parts/a", OBJ), ("parts/b", other), ("c", other)):
            file.writestr(f"{name}/m.obj", content)
    there = later_run("out = mujoco.MjSpec.from_file(path).compile().geom_pos", path=str(path))
    for compat in ("3.1", "4.0"):
        m = cardan.MjModel.from_xml_path(str(path), compat=compat)
        assert m.geom_pos[0, 0] < m.geom_pos[1, 0] == m.geom_pos[2, 0]
    np.testing.assert_allclose(m.geom_pos, there, atol=1e-9)


def test_equal_names_of_assets_are_refused() -> None:
    with pytest.raises(MjcfError, match="differ only in folder or case"):
        cardan.MjModel.from_xml_string("<mujoco/>", {"a/m.obj": OBJ, "b/m.obj": OBJ})
