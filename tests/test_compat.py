"""The setting that chooses the version whose behaviour a model has."""

import copy
import pickle
import subprocess
import sys
from collections.abc import Iterator

import pytest

import cardan
from cardan.compat import VARIABLE

EMPTY = "<mujoco/>"


@pytest.fixture(autouse=True)
def default(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No setting of the process; what a test sets ends with it."""
    monkeypatch.setenv(VARIABLE, "")
    yield
    cardan.set_compat(None)


def test_default() -> None:
    """The specification of the project."""
    assert cardan.get_compat() == "3.1"
    assert cardan.MjModel.from_xml_string(EMPTY).compat == "3.1"


def test_one_model(tmp_path) -> None:
    """Copies, pickles and binary files keep a model's version; other models do not have it."""
    path = tmp_path / "model.xml"
    path.write_text(EMPTY)
    m = cardan.MjModel.from_xml_path(str(path), compat="4.0")
    assert m.compat == "4.0"
    assert copy.copy(m).compat == "4.0"
    assert pickle.loads(pickle.dumps(m)).compat == "4.0"
    cardan.mj_saveModel(m, str(tmp_path / "model.mjb"), None)
    assert cardan.MjModel.from_binary_path(str(tmp_path / "model.mjb")).compat == "4.0"
    assert cardan.MjModel.from_xml_string(EMPTY).compat == "3.1"


def test_specification() -> None:
    """A specification hands its version to its copies and to compiled models; it can be set."""
    spec = cardan.MjSpec.from_string(EMPTY, compat="4.0")
    assert spec.compat == spec.copy().compat == spec.compile().compat == "4.0"
    spec.compat = "3.1"
    assert spec.compile().compat == "3.1"
    assert cardan.MjSpec(compat="4.0").compile().compat == "4.0"


def test_process() -> None:
    """The setting of the process holds for models that are compiled after it, unless they have their own."""
    before = cardan.MjModel.from_xml_string(EMPTY)
    cardan.set_compat("4.0")
    assert cardan.MjModel.from_xml_string(EMPTY).compat == cardan.MjSpec().compat == "4.0"
    assert cardan.MjModel.from_xml_string(EMPTY, compat="3.1").compat == before.compat == "3.1"
    cardan.set_compat(None)
    assert cardan.get_compat() == "3.1"


@pytest.mark.parametrize("wrong", ["4", "3.1.6", "", " 4.0"])
def test_unknown_version(wrong: str) -> None:
    """The error names the versions that exist."""
    with pytest.raises(ValueError, match=r"expected '3\.1' or '4\.0'"):
        cardan.set_compat(wrong)
    with pytest.raises(ValueError, match=r"expected '3\.1' or '4\.0'"):
        cardan.MjModel.from_xml_string(EMPTY, compat=wrong)
    with pytest.raises(TypeError, match=r"should be a string"):
        cardan.MjSpec(compat=4.0)


def test_unknown_version_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the variable."""
    monkeypatch.setenv(VARIABLE, "5")
    with pytest.raises(ValueError, match=f"{VARIABLE}: unknown version '5'"):
        cardan.MjModel.from_xml_string(EMPTY)


PROGRAM = "import mujoco; print(mujoco.MjModel.from_xml_string('<mujoco/>').compat)"


@pytest.mark.parametrize("option", [["--compat", "4.0"], ["--compat=4.0"]])
def test_programs(option: list[str]) -> None:
    """``python -m cardan.as_mujoco`` has an option."""
    command = [sys.executable, "-m", "cardan.as_mujoco", *option, "-c", PROGRAM]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "4.0"
    wrong = subprocess.run([*command[:3], "--compat", "4", "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert wrong.returncode != 0
    assert "expected '3.1' or '4.0'" in wrong.stderr
