"""Fresh environments with Cardan and the packages that its metadata requires, nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
HUMANOID = ROOT / "examples" / "humanoid.xml"
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "--no-input"]
FIRST_STEP = """
import sys
import cardan
m = cardan.MjModel.from_xml_path(sys.argv[1])
d = cardan.MjData(m)
cardan.mj_step(m, d)
print(d.time, m.opt.timestep, "numba" in sys.modules)
"""


def call(command: list[str], **environment: str) -> None:
    """Run a command.

    Raises:
        AssertionError: the command failed; the message is its output.
    """
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"


def make_environment(folder: Path, *source: str) -> Path:
    """Create an environment with Cardan, without the network, and return the path of its interpreter.

    The required packages are links to those of the running environment.

    Args:
        folder: folder of the new environment.
        source: arguments of ``pip install``: the path of a wheel, or ``--editable`` and the path of a checkout.
    """
    python = make_empty(folder)
    site = site_packages(python)
    tools = folder / "build-tools"
    tools.mkdir()
    link_packages(["setuptools"], tools)
    alone = ["--no-deps", "--no-index", "--no-build-isolation"]
    call([*PIP, "--python", str(python), "install", *alone, *source], PYTHONPATH=str(tools))
    link_packages(installed(python).requires or [], site)
    return python


def install_from_index(folder: Path, *source: str) -> Path:
    """Create an environment with Cardan by plain ``pip install`` and return the path of its interpreter.

    The test is skipped if the package index can't be reached.
    """
    python = make_empty(folder)
    install = [*PIP, "--python", str(python), "install"]
    if subprocess.run([*install, "--dry-run", "filelock"], capture_output=True, check=False).returncode:
        pytest.skip("the package index can't be reached")
    call([*install, *source])
    return python


def make_empty(folder: Path) -> Path:
    """Create an environment without packages and return the path of its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def site_packages(python: Path) -> Path:
    """Folder of the packages of an environment."""
    where = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    return Path(subprocess.run(where, check=True, capture_output=True, text=True).stdout.strip())


def installed(python: Path) -> Distribution:
    """Metadata of Cardan in an environment."""
    (found,) = distributions(name="cardan", path=[str(site_packages(python))])
    return found


def required(lines: Iterable[str]) -> list[Requirement]:
    """Requirements that apply to this machine when no extra is asked for."""
    found = [Requirement(line) for line in lines]
    return [r for r in found if r.marker is None or r.marker.evaluate({"extra": ""})]


def link_packages(lines: Iterable[str], site: Path) -> None:
    """Link the required packages, and those that they require, from the running environment into a folder."""
    for needed in _closure(required(lines)):
        for top in {file.parts[0] for file in needed.files or [] if file.parts[0] != ".."}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(needed.locate_file(top))))


def _closure(requirements: list[Requirement]) -> Iterator[Distribution]:
    seen: set[str] = set()
    waiting = list(requirements)
    while waiting:
        requirement = waiting.pop()
        if requirement.name.lower() in seen:
            continue
        seen.add(requirement.name.lower())
        found = distribution(requirement.name)
        assert requirement.specifier.contains(found.version, prereleases=True), (requirement, found.version)
        yield found
        waiting += required(found.requires or [])


def run(python: Path, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the interpreter of an environment in its own folder, away from the checkout; it may write no byte code."""
    return _run([str(python), *map(str, arguments)], python.parent, environment)


def run_command(python: Path, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command ``cardan`` of an environment."""
    return _run([str(python.with_name("cardan")), *map(str, arguments)], python.parent, environment)


def _run(command: list[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CARDAN", "NUMBA"))}
    return subprocess.run(
        command, env=kept | {"PYTHONDONTWRITEBYTECODE": "1"} | environment,
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


def has_no_kernels(cache: Path) -> bool:
    """Whether a kernel cache is empty, except for the mark that the package's sources were compared."""
    return all(path.suffix == ".seen" for path in cache.glob("*"))


def check_first_use(python: Path, folder: Path, cache: Path, *, compiles: bool) -> None:
    """Do what a new user does first: import, step, and call the command.

    Args:
        python: interpreter of the environment.
        folder: folder for the files that are written.
        cache: folder of the kernel cache.
        compiles: whether kernels may be compiled; if not, Numba may not be imported.
    """
    stepped = run(python, "-c", FIRST_STEP, HUMANOID, CARDAN_CACHE_DIR=str(cache))
    assert stepped.returncode == 0, stepped.stderr
    time, timestep, numba = stepped.stdout.split()
    assert time == timestep and (compiles or numba == "False")
    trajectory = folder / "trajectory.npz"
    commands = {
        ("--help",): "simulate",
        ("info", HUMANOID): "torso",
        ("simulate", HUMANOID, "--duration", "0.05", "--out", trajectory): "trajectory.npz",
    }
    for arguments, expected in commands.items():
        done = run_command(python, *arguments, CARDAN_CACHE_DIR=str(cache), COLUMNS="500")
        assert done.returncode == 0 and expected in done.stdout, (arguments, done.stdout, done.stderr)
    assert trajectory.stat().st_size > 1000
    assert compiles or has_no_kernels(cache)
