"""All files of models: parity, level 1 (compile), of every field and name, and of the verdict on each file.

Equal are the numbers of all fields to 1e-9 (single precision: two units in the last place) and all names. By their
meaning are compared the hull graph (same vertices), the trees over faces (each face in one leaf, boxes that fit),
and length ranges (1e-4 of the range).
"""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest
from known_differences import distinct_meshes, unexplained
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


def test_compiles_as_in_the_reference(model_file: Path, tmp_path: Path) -> None:
    path = distinct_meshes(model_file, tmp_path)
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
    assert not unexplained(path, model_differences(expected, found))
