"""A fresh environment with only a wheel: nothing is compiled, and Numba isn't there to do it.

Without ``CARDAN_FULL_TESTS=1`` the wheel holds the kernels that two models need, from the cache of the tests. With it,
the wheel in ``dist`` is tried (``make test-wheel`` builds it): the first use after a plain ``pip install``, and all
models of the tests in all settings of the parity matrix.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from models import known_files
from packages.fresh import HUMANOID, check_first_use, has_no_kernels, install_from_index, make_environment, run
from wheels.kernels import compile_driver, differentiable, entries, scalar_forms
from wheels.pack import build_pure, for_platform

from cardan.jit import jit_enabled
from cardan.jit.cache import store as disk
from cardan.jit.cache.fingerprint import fingerprint
from cardan.jit.cache.packaged import PACKAGE, sources, write_archive
from cardan.jit.target.processor import PLATFORMS, Platform, host_platform, runs

ROOT = Path(__file__).resolve().parents[2]
WORKLOAD = Path(__file__).with_name("workload.py")
FULL = os.environ.get("CARDAN_FULL_TESTS") == "1"
PLATFORM = PLATFORMS.get(host_platform())

pytestmark = pytest.mark.skipif(not jit_enabled, reason="about native code")
TANGENTS = ("derive.directions", "derive.implicit", "derive.integration")
PAIRS = ("derive.contact.plane_sphere_again", "derive.contact.plane_capsule_again")
BALL = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .3"><freejoint/><geom size=".1"/></body>
<body pos="1 0 1"><joint name="j" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".05"/></body>
</worldbody><actuator><motor joint="j"/></actuator><sensor><jointpos joint="j"/><gyro site="s"/></sensor></mujoco>
""".replace('<geom type="capsule"', '<site name="s"/><geom type="capsule"')


def level_of(platform: Platform | None) -> str:
    """The best level of this machine's platform that it runs."""
    levels = [level for level in platform.levels if runs(level)] if platform else []
    if not levels:
        pytest.skip("no wheel has kernels for this processor")
    return levels[0]


def used_by(settings: str, folder: Path) -> list[str]:
    """Names of the kernels that the small model needs, and the humanoid; for exact derivatives the small one alone."""
    models = [str(folder / "ball.xml"), str(HUMANOID)][: 1 if settings == "exact" else 2]
    here = subprocess.run(
        [sys.executable, str(WORKLOAD), settings, *models], capture_output=True, text=True, check=False
    )
    number, *names = here.stdout.split()
    assert number == str(len(models)), here.stderr
    return names


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel with the kernels that two models need, as they were compiled for this processor."""
    level = level_of(PLATFORM)
    folder = tmp_path_factory.mktemp("wheel")
    (folder / "ball.xml").write_text(BALL)
    names = list({**dict.fromkeys(used_by("own", folder)), **dict.fromkeys(used_by("exact", folder))})
    stored = {name: disk.read(name, fingerprint(entries()[name])) for name in names}
    objects = {name: found[1] for name, found in stored.items() if found} | compile_driver((PLATFORM, level))
    assert objects.keys() >= set(names) and len(names) > 50
    archive = folder / "kernels.bin"
    forms = scalar_forms(name for name in differentiable() if name in {*names, *PAIRS} or name.startswith(TANGENTS))
    write_archive(archive, PLATFORM.name, {level: objects}, sources(PACKAGE), forms)
    return for_platform(build_pure(folder), PLATFORM.wheel, archive.read_bytes(), folder)


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    return make_environment(tmp_path_factory.mktemp("fresh") / "env", str(wheel))


def test_no_compiler_is_needed(python: Path, wheel: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    done = run(python, WORKLOAD, "own", str(wheel.parent / "ball.xml"), CARDAN_CACHE_DIR=str(cache))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == "1", done.stderr
    assert has_no_kernels(cache)


def test_the_first_use(python: Path, tmp_path: Path) -> None:
    """Import, the first step of the humanoid, and the command, where Numba is not installed."""
    assert run(python, "-c", "import numba").returncode != 0
    check_first_use(python, tmp_path, tmp_path / "cache", compiles=False)


def test_exact_derivatives_need_no_numba(python: Path, wheel: Path, tmp_path: Path) -> None:
    """Their programs are made of what the wheel brings, by LLVM; the second time they come from the disk cache."""
    cache = tmp_path / "cache"
    for _ in range(2):
        done = run(python, WORKLOAD, "exact", str(wheel.parent / "ball.xml"), CARDAN_CACHE_DIR=str(cache))
        assert done.returncode == 0, done.stderr
        assert done.stdout.split()[0] == "1", done.stderr
    assert list(cache.glob("dynamics.kinematics.kinematics.tangent-*.o"))


def test_what_must_be_compiled_names_the_compiler(python: Path, wheel: Path, tmp_path: Path) -> None:
    """Without its kernels, or on another processor than they are for, the package says what to do."""
    for environment in ({"CARDAN_PACKAGED": "0"}, {"CARDAN_CPU": "another"}):
        model = str(wheel.parent / "ball.xml")
        done = run(python, WORKLOAD, "own", model, CARDAN_CACHE_DIR=str(tmp_path), **environment)
        assert done.returncode != 0
        assert "KernelError" in done.stderr and "pip install 'cardan[numba]'" in done.stderr


def test_edited_sources_are_not_run_from_the_archive(wheel: Path, tmp_path: Path) -> None:
    python = make_environment(tmp_path / "env", str(wheel))
    (kernels,) = (tmp_path / "env").rglob("cardan/jit/kernels.bin")
    source = kernels.parents[1] / "dynamics" / "kinematics.py"
    source.write_text(source.read_text() + "# edited\n")
    done = run(python, WORKLOAD, "own", str(wheel.parent / "ball.xml"), CARDAN_CACHE_DIR=str(tmp_path / "cache"))
    assert done.returncode != 0 and "KernelError" in done.stderr


def built_wheel() -> str:
    """Path of the wheel of this platform in ``dist``."""
    wheels = sorted((ROOT / "dist").glob(f"*-py3-none-{PLATFORM.wheel if PLATFORM else ''}.whl"))
    assert wheels, "python -m wheels --platform here comes first"
    return str(wheels[-1])


@pytest.mark.skipif(not FULL, reason="make test-wheel builds all kernels and runs it")
def test_the_first_use_with_the_package_index(tmp_path: Path) -> None:
    python = install_from_index(tmp_path / "env", built_wheel())
    assert run(python, "-c", "import numba").returncode != 0
    check_first_use(python, tmp_path, tmp_path / "cache", compiles=False)


@pytest.mark.skipif(not FULL, reason="make test-wheel builds all kernels and runs it")
@pytest.mark.parametrize("share", range(8))
def test_all_models_in_all_settings(tmp_path: Path, share: int) -> None:
    python = make_environment(tmp_path / "env", built_wheel())
    paths = [str(path) for path in known_files() if path.exists()][share::8]
    cache = tmp_path / "cache"
    done = run(python, WORKLOAD, "all", *paths, CARDAN_CACHE_DIR=str(cache))
    assert done.returncode == 0, done.stderr
    assert has_no_kernels(cache)
