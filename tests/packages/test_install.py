"""Installations from sources: the package works at once, with what its metadata requires and nothing else.

Without ``CARDAN_FULL_TESTS=1`` the packages that Cardan requires are links to those of the running environment. With
it, pip installs them from the package index, and builds in isolated environments.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
from packages.fresh import PIP, call, check_first_use, install_from_index, installed, make_environment, required
from wheels.pack import build_pure, build_sdist, copy_sources, for_platform, without_compiler

from cardan.jit import jit_enabled
from cardan.jit.cache.store import cache_folder

FULL = os.environ.get("CARDAN_FULL_TESTS") == "1"
KINDS = ("pure wheel", "sdist", "repository", "editable")


@pytest.fixture(scope="module")
def pure(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel without kernels."""
    return build_pure(tmp_path_factory.mktemp("pure"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution."""
    return build_sdist(tmp_path_factory.mktemp("sdist"))


def make_repository(folder: Path) -> str:
    """Commit the sources to a new repository and return its address for pip."""
    if not shutil.which("git"):
        pytest.skip("the program git is not installed")
    folder.mkdir()
    copy_sources(folder)
    git = ["git", "-C", str(folder), "-c", "user.name=Cardan", "-c", "user.email=cardan@localhost"]
    for arguments in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "Sources"]):
        subprocess.run([*git, *arguments], check=True)
    return f"git+{folder.as_uri()}"


def source_of(kind: str, folder: Path, request: pytest.FixtureRequest) -> list[str]:
    """Arguments of ``pip install`` for a kind of installation."""
    if kind == "repository":
        return [make_repository(folder / "repository")]
    if kind == "editable":
        (folder / "checkout").mkdir()
        copy_sources(folder / "checkout")
        return ["--editable", str(folder / "checkout")]
    return [str(request.getfixturevalue("sdist" if kind == "sdist" else "pure"))]


@pytest.mark.skipif(not jit_enabled, reason="kernels are not compiled")
@pytest.mark.parametrize("kind", KINDS)
def test_the_first_use(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Import, the first step of the humanoid, and the command, after each kind of installation from sources."""
    python = make_environment(tmp_path / "env", *source_of(kind, tmp_path, request))
    assert {"numba", "rich", "typer"} <= {needed.name for needed in required(installed(python).requires or [])}
    check_first_use(python, tmp_path, cache_folder(), compiles=True)


@pytest.mark.skipif(not FULL, reason="downloads all packages: CARDAN_FULL_TESTS=1")
@pytest.mark.parametrize("kind", KINDS)
def test_the_first_use_with_the_package_index(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The same with plain ``pip install``, where kernels are compiled into an empty cache."""
    python = install_from_index(tmp_path / "env", *source_of(kind, tmp_path, request))
    check_first_use(python, tmp_path, tmp_path / "cache", compiles=True)


def metadata_of(wheel: Path) -> bytes:
    """The file METADATA of a wheel."""
    with zipfile.ZipFile(wheel) as file:
        (name,) = [name for name in file.namelist() if name.endswith(".dist-info/METADATA")]
        return file.read(name)


def requirements(metadata: bytes) -> set[str]:
    """Requirements with their markers."""
    return set(message_from_bytes(metadata).get_all("Requires-Dist") or [])


def test_only_wheels_with_kernels_do_without_numba(pure: Path, sdist: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as file:
        (name,) = [name for name in file.getnames() if name.count("/") == 1 and name.endswith("PKG-INFO")]
        described = file.extractfile(name)
        assert described
        source = requirements(described.read())
    with_kernels = metadata_of(for_platform(pure, "win_amd64", b"kernels", tmp_path))
    assert source == requirements(metadata_of(pure))
    (gone,) = source - requirements(with_kernels)
    assert gone.startswith("numba") and requirements(with_kernels) < source
    assert f'{gone}; extra == "numba"' in requirements(with_kernels)
    assert message_from_bytes(with_kernels).get_payload() == message_from_bytes(metadata_of(pure)).get_payload()


def test_the_sdist_makes_the_same_wheel(pure: Path, sdist: Path, tmp_path: Path) -> None:
    call([*PIP, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path), str(sdist)])
    (made,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(made) as one, zipfile.ZipFile(pure) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())
        different = [name for name in one.namelist() if one.read(name) != other.read(name)]
    assert not [name for name in different if not name.endswith("RECORD")]


@pytest.mark.parametrize("lines", ["", "Requires-Dist: numba; x", "Requires-Dist: numba>=1\nRequires-Dist: numba<2"])
def test_metadata_must_require_numba_once(lines: str) -> None:
    with pytest.raises(ValueError, match="must require numba once"):
        without_compiler(f"Name: cardan\n{lines}\n\nRequires-Dist: numba\n")
