"""All files of models that MuJoCo 4.0.0 or 3.1.6 reads are read, and what is saved of them is read by both versions."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from later import LaterError, later_run

import cardan
from cardan.errors import UnsupportedFeature

SIZES = ("nq", "nv", "nbody", "ngeom", "nsensordata", "neq", "nkey")
READ = """
import os
os.chdir(folder)
m = mujoco.MjModel.from_xml_path(path) if text is None else mujoco.MjModel.from_xml_string(text)
out = {name: int(getattr(m, name)) for name in sizes}, np.array(m.body_mass), np.array(m.body_inertia)
"""
LATER_ONLY = ("unrecognized attribute", "unrecognized element", "invalid keyword")
LONGEST = "has too much data"
"""Message of 3.1.6 for keyframes of more than a thousand numbers."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Warnings about dubious text are not the subject."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@cache
def refusal(path: Path) -> str | None:
    """The message with which 4.0.0 refuses a file, or None."""
    try:
        later_run(READ, folder=str(path.parent), path=str(path), text=None, sizes=SIZES)
    except LaterError as error:
        return error.reason
    return None


def loaded(path: Path, compat: str) -> cardan.MjModel:
    """The model of a file that 4.0.0 reads; the test fails as expected if its physics is missing."""
    if refusal(path) is not None:
        pytest.skip("4.0.0 refuses this file")
    try:
        return cardan.MjModel.from_xml_path(str(path), compat=compat)
    except UnsupportedFeature as error:
        pytest.xfail(f"missing: {error}")


@pytest.mark.parametrize("compat", ["3.1", "4.0"])
def test_files_of_4_0(model_file: Path, compat: str) -> None:
    """Every file that 4.0.0 reads is read, with each setting."""
    loaded(model_file, compat)


def test_saved_for_4_0(model_file: Path, tmp_path: Path) -> None:
    """4.0.0 reads what is saved of a model with its behaviour: the same sizes, masses and inertias."""
    m = loaded(model_file, "4.0")
    saved = tmp_path / "saved.xml"
    cardan.mj_saveLastXML(str(saved), m)
    place = {"folder": str(model_file.parent), "path": None}
    sizes, mass, inertia = later_run(READ, text=saved.read_text(), sizes=SIZES, **place)
    assert sizes == {name: getattr(m, name) for name in SIZES}
    np.testing.assert_allclose(mass, m.body_mass, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(inertia, m.body_inertia, rtol=1e-5, atol=1e-9)


def test_saved_for_3_1(model_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """3.1.6 reads what is saved of a model that uses nothing later."""
    mujoco = pytest.importorskip("mujoco")
    m = loaded(model_file, "3.1")
    saved = tmp_path / "saved.xml"
    cardan.mj_saveLastXML(str(saved), m)
    monkeypatch.chdir(model_file.parent)
    try:
        there = mujoco.MjModel.from_xml_string(saved.read_text())
    except ValueError as error:
        if any(words in str(error) for words in (*LATER_ONLY, LONGEST)):
            pytest.skip(f"3.1.6 does not have this: {error}")
        raise
    assert {name: getattr(there, name) for name in SIZES} == {name: getattr(m, name) for name in SIZES}
    np.testing.assert_allclose(there.body_mass, m.body_mass, rtol=1e-5, atol=1e-9)
