"""Kernels compiled ahead of time: wheels contain them in the file `FILE`, an *archive*.

Only the package's own functions are looked up in the archive, by name, and only if the archive was made from the
current sources. All other code (functions of users, a source checkout, a processor without a level) is compiled on
first use and stored in the disk cache. ``CARDAN_PACKAGED=0`` disables the archive; another value is the path of another
archive.

An archive contains the object code of many kernels, for several processor levels (see `cardan.jit.target.processor`).
It also contains the scalar forms of stages, from which LLVM makes exact derivatives on first use, without Numba. The
file starts with `MAGIC`, the length of its index, and the index as JSON. The index contains the platform, the offsets
of kernels by level and name, and the offsets of scalar forms by name. It also has the version of LLVM that wrote the
scalar forms, and checksums of the sources. The content follows, each piece at a multiple of `ALIGNMENT` bytes. Readers
map the file, and access only the index and the requested pieces.
"""

from __future__ import annotations

import hashlib
import json
import marshal
import mmap
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import FunctionType, MappingProxyType
from typing import Any, NamedTuple

from cardan.files import write_file
from cardan.jit.cache import store as disk
from cardan.jit.driver.loader import Address, load_objects
from cardan.jit.target.processor import host_platform, runs

MAGIC = b"cardan-kernels-2\n"
ALIGNMENT = 16
LENGTH_BYTES = 8
PLAIN = 2
"""Version of marshal's format in which equal values give equal bytes."""
Objects = Mapping[str, Mapping[str, bytes]]
"""Object files by level and by name of the kernel."""


class ScalarForms(NamedTuple):
    """Scalar forms of stages, from which exact derivatives are made (`tangents.scalar`).

    Attributes:
        llvm: version of LLVM that wrote the scalar forms; older versions may not be able to read them.
        texts: the scalar forms, as in the disk cache, by name of the stage.
    """

    llvm: tuple[int, ...] = ()
    texts: Mapping[str, bytes] = MappingProxyType({})


NO_FORMS = ScalarForms()
_FORMS = "scalar forms"


class ArchiveError(ValueError):
    """Error: a file is not an intact archive of kernels."""


def sources(folder: Path) -> dict[str, tuple[int, int]]:
    """Return size and checksum of every Python file below a folder, by its path from there."""
    files = sorted(folder.rglob("*.py"))
    return {
        file.relative_to(folder).as_posix(): (len(content), zlib.crc32(content))
        for file, content in ((file, file.read_bytes()) for file in files)
    }


def write_archive(
    path: Path,
    platform: str,
    objects: Objects,
    made_from: Mapping[str, tuple[int, int]],
    forms: ScalarForms = NO_FORMS,
) -> None:
    """Write an archive to `path`. Readers never see a partly written file.

    Args:
        path: the file.
        platform: name of the platform that the code is for.
        objects: the object files.
        made_from: the sources, as `sources` lists them.
        forms: the scalar forms.
    """
    places: dict[str, dict[str, tuple[int, int]]] = {}
    parts: list[bytes] = []
    offset = 0
    for kind, codes in {**objects, _FORMS: forms.texts}.items():
        places[kind] = {}
        for name, code in codes.items():
            places[kind][name] = offset, len(code)
            padding = -len(code) % ALIGNMENT
            parts += [code, bytes(padding)]
            offset += len(code) + padding
    content = {"platform": platform, "places": places, "llvm": forms.llvm, "sources": dict(made_from)}
    index = json.dumps(content, separators=(",", ":")).encode()
    head = MAGIC + len(index).to_bytes(LENGTH_BYTES, "little") + index
    write_file(path, head + bytes(-len(head) % ALIGNMENT) + b"".join(parts))


class Archive:
    """Archive of compiled kernels, open for reading.

    Args:
        path: the file.

    Raises:
        OSError: the file does not exist.
        ArchiveError: the file is not an archive.

    Attributes:
        platform: name of the platform that the code is for.
        levels: processor levels for which the archive contains code.
        llvm: LLVM version that wrote the scalar forms (see the module's docstring).
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with open(path, "rb") as file:
            self._status = os.fstat(file.fileno())
            try:
                self._memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError:
                raise ArchiveError(f"{path} is empty") from None
        start = len(MAGIC) + LENGTH_BYTES
        if self._memory[: len(MAGIC)] != MAGIC:
            raise ArchiveError(f"{path} is no archive of kernels: it doesn't start with {MAGIC!r}")
        length = int.from_bytes(self._memory[len(MAGIC) : start], "little")
        try:
            index = json.loads(self._memory[start : start + length])
            self.platform: str = index["platform"]
            self._places: dict[str, dict[str, list[int]]] = index["places"]
            self._forms = self._places.pop(_FORMS)
            self.llvm = tuple(index["llvm"])
            self._sources: dict[str, list[int]] = index["sources"]
        except (ValueError, KeyError, TypeError):
            raise ArchiveError(f"the index of {path} is damaged") from None
        self._start = start + length + -(start + length) % ALIGNMENT
        self.levels = tuple(self._places)

    def names(self, level: str) -> list[str]:
        """Return the names of the archive's kernels for a processor level."""
        return list(self._places[level])

    def code(self, level: str, name: str) -> bytes | None:
        """Return the object file of a kernel for a processor level, or None if the archive does not contain it."""
        return self._content(self._places[level].get(name))

    def scalar_form(self, name: str) -> bytes | None:
        """Return the scalar form of a stage, or None if the archive does not contain it."""
        return self._content(self._forms.get(name))

    def _content(self, place: list[int] | None) -> bytes | None:
        if place is None:
            return None
        offset, size = place
        start = self._start + offset
        return self._memory[start : start + size]

    def is_made_from(self, folder: Path) -> bool:
        """Return whether the archive was made from the sources below a folder, by their names and contents."""
        sizes = {name: status.st_size for name, status in _files(str(folder))}
        if sizes != {name: size for name, (size, _) in self._sources.items()}:
            return False
        return all(zlib.crc32((folder / name).read_bytes()) == check for name, (_, check) in self._sources.items())

    def state(self, folder: Path) -> str:
        """Return a hash that changes when the archive, or a source below a folder, is written, moved, added or removed.

        It covers the times of the last status change (ctime), which programs that copy files cannot set.
        """
        rows = [(name, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for name, s in _files(str(folder))]
        rows = [("", self._status.st_size, self._status.st_mtime_ns, self._status.st_ctime_ns), *sorted(rows)]
        return hashlib.sha256(marshal.dumps(rows, PLAIN)).hexdigest()


def _files(folder: str, inside: str = "") -> Iterator[tuple[str, os.stat_result]]:
    """Iterate over path and status of all Python files below a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            name = inside + entry.name
            if entry.name.endswith(".py"):
                yield name, entry.stat()
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from _files(entry.path, name + "/")


PACKAGE = Path(__file__).resolve().parents[2]
FILE = PACKAGE / "jit" / "kernels.bin"


@cache
def _archive() -> Archive | None:
    """Return the archive of this installation, or None if it is disabled, or for another platform or other sources.

    If the archive is missing or damaged, return None, unless ``CARDAN_PACKAGED`` names it; then raise an error.
    """
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
    """Return whether an archive was made from the sources of a package.

    Comparing all sources takes longer than all other work before the first step. The file `seen` therefore records the
    state of the sources at the last successful comparison. If it can't be written, each process compares the sources.
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
    """Return the archive and the best of its levels that this processor supports, or None if there is none."""
    archive = _archive()
    if archive is None:
        return None
    level = next((level for level in archive.levels if runs(level)), None)
    return (archive, level) if level else None


def packaged_object(name: str) -> bytes | None:
    """Return the object file of a kernel from the package's archive, or None if the archive can't provide it."""
    found = _level()
    return found[0].code(found[1], name) if found else None


def packaged_scalar_form(name: str) -> bytes | None:
    """Return the scalar form of a stage from the package's archive.

    Return None if it is missing, or if a newer version of LLVM wrote it.
    """
    archive = _archive()
    if archive is None:
        return None
    from llvmlite.binding import llvm_version_info

    return archive.scalar_form(name) if tuple(llvm_version_info) >= archive.llvm else None


_loaded: dict[str, Address] = {}


def load_packaged(wanted: Iterable[tuple[str, str]]) -> dict[str, Address]:
    """Load the `wanted` kernels that the package's archive contains; return their addresses by name.

    Args:
        wanted: pairs of a kernel's name in the archive and its symbol.
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
    """Return whether a function, and all functions in its closure, belong to the package."""
    if not isinstance(function, FunctionType) or not function.__module__.startswith("cardan."):
        return False
    parts = [getattr(cell.cell_contents, "py_func", cell.cell_contents) for cell in function.__closure__ or ()]
    return all(is_of_package(part) for part in parts if callable(part))
