"""One file with the object code of many kernels, for several levels of processors, and the scalar forms of stages.

The file starts with `MAGIC`, the length of its index and the index, as JSON: the platform, where the code of each
kernel lies by level and name, where the scalar forms lie by name, the version of LLVM that wrote these, and the sources
that all was made from. The content follows, each piece at a multiple of `ALIGNMENT` bytes. Reading maps the file and
looks at nothing but the index and the pieces that are asked for.
"""

from __future__ import annotations

import hashlib
import json
import marshal
import mmap
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from cardan.files import write_file

MAGIC = b"cardan-kernels-2\n"
ALIGNMENT = 16
LENGTH_BYTES = 8
PLAIN = 2
"""Version of marshal's format in which equal values have equal bytes."""
Objects = Mapping[str, Mapping[str, bytes]]
"""Object files by level and name of the kernel."""


class ScalarForms(NamedTuple):
    """Scalar forms of stages, which exact derivatives are made from (`jit.transform.scalar`).

    Attributes:
        llvm: version of the LLVM that wrote them; older ones may not read them.
        texts: the forms, as the disk cache keeps them, by name of the stage.
    """

    llvm: tuple[int, ...] = ()
    texts: Mapping[str, bytes] = MappingProxyType({})


NO_FORMS = ScalarForms()
_FORMS = "scalar forms"


class ArchiveError(ValueError):
    """A file is no (intact) archive of kernels."""


def sources(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and checksum of every Python file below a folder, by its path from there."""
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
    """Write an archive; a reader never sees half a file.

    Args:
        path: the file.
        platform: name of the platform that the code is for.
        objects: the code.
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
    """An archive that was opened for reading.

    Args:
        path: the file.

    Raises:
        OSError: there is no such file.
        ArchiveError: the file is no archive.

    Attributes:
        platform: name of the platform that the code is for.
        levels: levels of processors that it has code for.
        llvm: version of the LLVM that wrote the scalar forms.
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
        """Names of the kernels that it has for a level."""
        return list(self._places[level])

    def code(self, level: str, name: str) -> bytes | None:
        """The object file of a kernel, or None if it isn't there."""
        return self._content(self._places[level].get(name))

    def scalar_form(self, name: str) -> bytes | None:
        """The scalar form of a stage, or None if it isn't there."""
        return self._content(self._forms.get(name))

    def _content(self, place: list[int] | None) -> bytes | None:
        if place is None:
            return None
        offset, size = place
        start = self._start + offset
        return self._memory[start : start + size]

    def is_made_from(self, folder: Path) -> bool:
        """Whether the sources below a folder are those that the code was made from: names, sizes, contents."""
        sizes = {name: status.st_size for name, status in _files(str(folder))}
        if sizes != {name: size for name, (size, _) in self._sources.items()}:
            return False
        return all(zlib.crc32((folder / name).read_bytes()) == check for name, (_, check) in self._sources.items())

    def state(self, folder: Path) -> str:
        """Hash that changes when the archive, or a source below a folder, is written to, moved, added or removed.

        Times of the last change of state are part of it, which programs that copy files can't set.
        """
        rows = [(name, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for name, s in _files(str(folder))]
        rows = [("", self._status.st_size, self._status.st_mtime_ns, self._status.st_ctime_ns), *sorted(rows)]
        return hashlib.sha256(marshal.dumps(rows, PLAIN)).hexdigest()


def _files(folder: str, inside: str = "") -> Iterator[tuple[str, os.stat_result]]:
    """Path and status of all Python files below a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            name = inside + entry.name
            if entry.name.endswith(".py"):
                yield name, entry.stat()
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from _files(entry.path, name + "/")
