"""Puts an archive of kernels into a copy of the pure wheel (PyPA, binary distribution format)."""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("pyproject.toml", "README.md", "LICENSE")
"""What is built from, beside the folder ``src``."""
PLACE = "cardan/jit/kernels.bin"


def copy_sources(folder: Path) -> None:
    """Copy what Cardan is built from into a folder that exists.

    Packages are built from copies, because setuptools keeps the files of earlier builds in the checkout and would
    package files that no longer exist.
    """
    for name in SOURCES:
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))


def build_sdist(folder: Path) -> Path:
    """Build the source distribution in a folder and return its path."""
    program = "import sys; from setuptools.build_meta import build_sdist; build_sdist(sys.argv[1])"
    with tempfile.TemporaryDirectory() as place:
        copy_sources(Path(place))
        made = Path(place) / "made"
        subprocess.run([sys.executable, "-c", program, str(made)], cwd=place, check=True, stdout=subprocess.DEVNULL)
        (sdist,) = made.glob("*.tar.gz")
        return Path(shutil.copy(sdist, folder))


def build_pure(folder: Path) -> Path:
    """Build the wheel without kernels in a folder and return its path."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    with tempfile.TemporaryDirectory() as place:
        copy_sources(Path(place))
        made = Path(place) / "made"
        subprocess.run([*command, "--wheel-dir", str(made), place], check=True)
        (wheel,) = made.glob("*-py3-none-any.whl")
        return Path(shutil.copy(wheel, folder))


def without_compiler(metadata: str) -> str:
    """Remove the requirement of Numba from a wheel's metadata; the extra ``numba`` stays.

    Args:
        metadata: content of the file METADATA: headers, an empty line, the README.

    Raises:
        ValueError: the metadata does not require Numba exactly once.
    """
    head, gap, body = metadata.partition("\n\n")
    lines = head.split("\n")
    kept = [line for line in lines if not (line.startswith("Requires-Dist: numba") and ";" not in line)]
    if len(lines) - len(kept) != 1:
        raise ValueError(f"METADATA must require numba once, found {len(lines) - len(kept)} requirements")
    return "\n".join(kept) + gap + body


def _record_line(name: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}"


def for_platform(pure: Path, tag: str, archive: bytes, folder: Path) -> Path:
    """Write the wheel of a platform: the pure one with an archive of kernels and another tag, without Numba.

    Args:
        pure: the wheel without kernels.
        tag: the platform's tag.
        archive: content of the archive.
        folder: where the wheel is written.
    """
    path = folder / pure.name.replace("-any.whl", f"-{tag}.whl")
    with zipfile.ZipFile(pure) as source:
        content = {info.filename: source.read(info) for info in source.infolist() if not info.is_dir()}
    info = next(name.rpartition("/")[0] for name in content if name.endswith(".dist-info/WHEEL"))
    text = content[f"{info}/WHEEL"].decode()
    text = text.replace("Root-Is-Purelib: true", "Root-Is-Purelib: false").replace("py3-none-any", f"py3-none-{tag}")
    content[f"{info}/WHEEL"] = text.encode()
    content[f"{info}/METADATA"] = without_compiler(content[f"{info}/METADATA"].decode()).encode()
    content[PLACE] = archive
    record = f"{info}/RECORD"
    del content[record]
    lines = [_record_line(name, part) for name, part in content.items()]
    content[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    partial = path.with_suffix(".part")
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as target:
        for name, part in content.items():
            target.writestr(name, part)
    partial.replace(path)
    return path
