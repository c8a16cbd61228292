"""Models of packages: fetched by pin and hash, whole or not at all, and word of what could not be had."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import model_packages
import pytest
from models import PATHS, there

WHEEL = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
FILES = {
    "toys/models/ball.xml": "<mujoco/>",
    "toys/models/parts/ball.obj": "v 0 0 0",
    "toys/models/code.py": "raise SystemExit",
    "toys/other/box.xml": "<mujoco/>",
    "toys-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: toys\nVersion: 1.0\n",
    "toys-1.0.dist-info/WHEEL": WHEEL,
    "toys-1.0.dist-info/RECORD": "",
}


@pytest.fixture
def toys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package to fetch from a folder instead of the registry; returns where models are unpacked."""
    wheel = tmp_path / "wheels" / "toys-1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in FILES.items():
            archive.writestr(name, text)
    pin(monkeypatch, hashlib.sha256(wheel.read_bytes()).hexdigest())
    for name, value in {"NO_INDEX": "1", "FIND_LINKS": str(wheel.parent), "CONFIG_FILE": "/dev/null"}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.setattr(model_packages, "PARTS", {"toys": ("toys/models/",)})
    monkeypatch.setattr(model_packages, "FOLDER", tmp_path / "models")
    yield tmp_path / "models"
    model_packages.folder_of.cache_clear()


def pin(monkeypatch: pytest.MonkeyPatch, digest: str) -> None:
    monkeypatch.setattr(model_packages, "pins", lambda: {"toys": f"toys==1.0 --hash=sha256:{digest}"})
    model_packages.folder_of.cache_clear()


def test_only_models_are_unpacked(toys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model_packages.main()
    (folder,) = toys.iterdir()
    assert folder == model_packages.folder_of("toys") and folder.name.startswith("toys==1.0-")
    found = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
    assert found == ["toys/models/ball.xml", "toys/models/parts/ball.obj"]
    assert "fetching models of toys==1.0" in capsys.readouterr().out
    model_packages.main()
    assert capsys.readouterr().out == ""


def test_another_hash_is_refused(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pin(monkeypatch, "0" * 64)
    model_packages.main()
    assert [entry.name for entry in toys.iterdir()] == ["toys.failed"]
    assert "toys==1.0 (" in model_packages.why_missing("toys") and "make models" in model_packages.why_missing("toys")


def test_what_is_interrupted_looks_like_nothing(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(wheel: Path, parts: tuple[str, ...], folder: Path) -> None:
        (folder / "ball.xml").write_text("<muj")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(model_packages, "unpack", full)
        model_packages.main()
    assert [entry.name for entry in toys.iterdir()] == ["toys.failed"]
    assert "No space left on device" in model_packages.why_missing("toys")
    (toys / "fetching-killed").mkdir()  # as a process that is killed leaves it
    model_packages.main()
    assert [entry.name for entry in toys.iterdir()] == [model_packages.folder_of("toys").name]


def test_models_of_older_versions_are_removed(toys: Path) -> None:
    old = toys / "toys==0.9-01234567"
    old.mkdir(parents=True)
    model_packages.main()
    assert not old.exists() and model_packages.folder_of("toys").is_dir()


def test_a_missing_model_skips_the_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "exists", lambda path: False)
    with pytest.raises(pytest.skip.Exception, match=r"no models of gymnasium==.*: `make models` fetches them"):
        there(PATHS["ant"])


def test_named_models_are_there() -> None:
    """Those of the project always, those of packages if they were fetched: a wrong name is no reason to skip."""
    for name, path in PATHS.items():
        folder = next((part for part in path.parents if part.parent == model_packages.FOLDER), None)
        assert path.exists() or (folder is not None and not folder.exists()), name
