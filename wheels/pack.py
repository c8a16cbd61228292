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


def build_pure(folder: Path) -> Path:
    """Build the wheel without kernels; returns its path.

    It is built from a copy: setuptools keeps what it copied before, and puts files that are gone into the wheel again.
    """
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    with tempfile.TemporaryDirectory() as place:
        for name in SOURCES:
            shutil.copy(ROOT / name, place)
        without = shutil.ignore_patterns("__pycache__", "*.egg-info")
        shutil.copytree(ROOT / "src", Path(place) / "src", ignore=without)
        made = Path(place) / "made"
        subprocess.run([*command, "--wheel-dir", str(made), place], check=True)
        (wheel,) = made.glob("*-py3-none-any.whl")
        return Path(shutil.copy(wheel, folder))


def _record_line(name: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}"


def for_platform(pure: Path, tag: str, archive: bytes, folder: Path) -> Path:
    """Write the wheel of a platform: the pure one with an archive of kernels and another tag.

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
