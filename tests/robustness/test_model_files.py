"""All files of models: parity, level 1 (compile), of every field and name, and of the verdict on each file.

Equal are the numbers of all fields to 1e-9 (single precision: two units in the last place) and all names. By their
meaning are compared the hull graph (same vertices), the trees over faces (each face in one leaf, boxes that fit),
and length ranges (1e-4 of the range).
"""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest
from models_compared import model_differences

import cardan
from cardan.errors import MjcfError, UnsupportedFeature

LATER = ("composite objects", "plugins")

pytestmark = pytest.mark.filterwarnings("ignore")


def verdict(load, path: Path) -> object:
    """The model, or the error with which it is refused."""
    try:
        return load(str(path))
    except ValueError as error:
        return error


def distinct_meshes(path: Path, folder: Path) -> Path:
    """A copy of a URDF whose mesh files of one name in two folders, one mesh there (docs/differences.md), differ."""
    same = "gripper/base_link_collision.STL"
    meshes = path.parents[1] / "meshes"
    other = folder / same.replace("/", "_")
    other.symlink_to(meshes / same)
    text = path.read_text().replace(f"../meshes/{same}", str(other)).replace("../meshes", str(meshes))
    copy = folder / path.name
    copy.write_text(text)
    return copy


def test_compiles_as_in_the_reference(model_file: Path, tmp_path: Path) -> None:
    talos = model_file.name == "talos_reduced.mj.urdf"
    path = distinct_meshes(model_file, tmp_path) if talos else model_file
    found = verdict(cardan.MjModel.from_xml_path, path)
    if isinstance(found, UnsupportedFeature):
        assert any(feature in str(found) for feature in LATER), found
        assert found.line is not None
        pytest.skip(str(found))
    expected = verdict(mujoco.MjModel.from_xml_path, path)
    if isinstance(expected, ValueError):
        assert isinstance(found, MjcfError) and found.line is not None, expected
        return
    assert not isinstance(found, ValueError), found
    assert not list(model_differences(expected, found))
