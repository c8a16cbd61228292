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
from later import LaterError, later_run
from models_compared import model_differences

import cardan
from cardan.errors import MjcfError, UnsupportedFeature

READ = "mujoco.MjModel.from_xml_path(path)"

pytestmark = pytest.mark.filterwarnings("ignore")


def verdict(load, path: Path) -> object:
    """The model, or the error with which it is refused."""
    try:
        return load(str(path))
    except ValueError as error:
        return error


def refusal(path: Path) -> str | None:
    """The message with which 4.0.0 refuses a file, or None."""
    try:
        later_run(READ, path=str(path))
    except LaterError as error:
        return error.reason
    return None


def test_compiles_as_in_the_reference(model_file: Path, tmp_path: Path) -> None:
    path = distinct_meshes(model_file, tmp_path)
    found = verdict(cardan.MjModel.from_xml_path, path)
    if isinstance(found, UnsupportedFeature):
        assert found.line is not None
        assert isinstance(verdict(mujoco.MjModel.from_xml_path, path), ValueError), found
        pytest.skip(str(found))
    expected = verdict(mujoco.MjModel.from_xml_path, path)
    if isinstance(expected, ValueError):
        if not isinstance(found, MjcfError) and refusal(path) is None:
            pytest.skip(f"4.0.0 reads this file: {expected}")
        assert isinstance(found, MjcfError) and found.line is not None, expected
        return
    assert not isinstance(found, ValueError), found
    assert not unexplained(path, model_differences(expected, found))
