"""Kernels that came with the package, compiled ahead of time: wheels have them in the file `FILE`.

It has the scalar forms of stages, too, which exact derivatives are made from: without Numba, by LLVM, on first use.
Only the package's own functions are looked for there, by name, and only while the sources are those that the file was
made from. Everything else (functions of users, a source checkout, a processor that no level fits) is compiled on first
use and kept in the disk cache. ``CARDAN_PACKAGED=0`` looks nothing up; another value is the path of another file.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from cardan.files import write_file
from cardan.jit.cache import store as disk
from cardan.jit.cache.archive import Archive, ArchiveError
from cardan.jit.driver.loader import Address, load_objects
from cardan.jit.target.platforms import host_platform, runs

PACKAGE = Path(__file__).resolve().parents[2]
FILE = PACKAGE / "jit" / "kernels.bin"


@cache
def _archive() -> Archive | None:
    """The archive of this installation, if it is for this platform and these sources."""
    named = os.environ.get("CARDAN_PACKAGED")
    if named == "0":
        return None
    try:
        archive = Archive(Path(named) if named else FILE)
    except FileNotFoundError:
        if named:
            raise
        return None
    except ArchiveError:
        if named:
            raise
        return None
    seen = disk.cache_folder() / f"sources-{hashlib.sha256(str(PACKAGE).encode()).hexdigest()[:32]}.seen"
    return archive if archive.platform == host_platform() and is_up_to_date(archive, PACKAGE, seen) else None


def is_up_to_date(archive: Archive, package: Path, seen: Path) -> bool:
    """Whether an archive was made from the sources of a package.

    To read them all takes longer than everything else on the way to a step. So a file tells for which state of the
    sources that has been done. Where it can't be written, they are read in each process.
    """
    state = archive.state(package)
    with suppress(OSError):
        if seen.read_text() == state:
            return True
    if not archive.is_made_from(package):
        return False
    with suppress(OSError):
        seen.parent.mkdir(parents=True, exist_ok=True)
        write_file(seen, state, durable=False)
    return True


@cache
def _level() -> tuple[Archive, str] | None:
    """The archive and the best of its levels that this processor has."""
    archive = _archive()
    if archive is None:
        return None
    level = next((level for level in archive.levels if runs(level)), None)
    return (archive, level) if level else None


def packaged_object(name: str) -> bytes | None:
    """The object file of a kernel that came compiled, or None."""
    found = _level()
    return found[0].code(found[1], name) if found else None


def packaged_scalar_form(name: str) -> bytes | None:
    """The scalar form of a stage that came with the package, if this LLVM reads it, or None."""
    archive = _archive()
    if archive is None:
        return None
    from llvmlite.binding import llvm_version_info

    return archive.scalar_form(name) if tuple(llvm_version_info) >= archive.llvm else None


_loaded: dict[str, Address] = {}


def load_packaged(wanted: Iterable[tuple[str, str]]) -> dict[str, Address]:
    """Addresses of those kernels that came compiled, by name.

    Args:
        wanted: names of kernels in the archive, and of their symbols.
    """
    found = _level()
    if found is None:
        return {}
    archive, level = found
    wanted = list(wanted)
    missing = [(name, symbol) for name, symbol in wanted if name not in _loaded]
    new = {name: (symbol, code) for name, symbol in missing if (code := archive.code(level, name))}
    if new:
        _loaded.update(zip(new, load_objects(list(new.values())), strict=True))
    return {name: _loaded[name] for name, _ in wanted if name in _loaded}


def is_of_package(function: Any) -> bool:
    """Whether a function, and each that it was made with, is one of the package."""
    if not isinstance(function, FunctionType) or not function.__module__.startswith("cardan."):
        return False
    parts = [getattr(cell.cell_contents, "py_func", cell.cell_contents) for cell in function.__closure__ or ()]
    return all(is_of_package(part) for part in parts if callable(part))
