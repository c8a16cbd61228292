"""A fresh environment with a wheel and what it declares that it needs, nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement


def requirements_of(wheel: Path) -> list[Requirement]:
    """What a wheel needs on this machine, without extras."""
    with zipfile.ZipFile(wheel) as file:
        (name,) = [name for name in file.namelist() if name.endswith(".dist-info/METADATA")]
        lines = message_from_bytes(file.read(name)).get_all("Requires-Dist") or []
    return _that_apply(lines)


def _that_apply(lines: list[str]) -> list[Requirement]:
    found = [Requirement(line) for line in lines]
    return [r for r in found if r.marker is None or r.marker.evaluate({"extra": ""})]


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
        waiting += _that_apply(found.requires or [])


def make_environment(folder: Path, wheel: Path) -> Path:
    """Install a wheel into a new environment, with links to the packages that it needs; returns its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    where = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = Path(subprocess.run(where, check=True, capture_output=True, text=True).stdout.strip())
    with zipfile.ZipFile(wheel) as file:
        file.extractall(site)
    for needed in _closure(requirements_of(wheel)):
        for top in {file.parts[0] for file in needed.files or [] if file.parts[0] != ".."}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(needed.locate_file(top))))
    return python


def run(python: Path, program: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program in an environment, away from the checkout; it may write no byte code."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CARDAN", "NUMBA"))}
    return subprocess.run(
        [str(python), str(program), *arguments],
        env=kept | {"PYTHONDONTWRITEBYTECODE": "1"} | environment,
        cwd=python.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
