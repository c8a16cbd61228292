"""Archives of specifications (ZIP files with MJCF and the files that it names), and other files made from them.

Manual of MuJoCo 4.0: Python, "Serialization"; programming, "MJZ archives".
"""

from __future__ import annotations

import io
import os
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Protocol, runtime_checkable

from cardan.api.saving import mj_printModel, mj_saveModel
from cardan.errors import FatalError
from cardan.files import write_file
from cardan.mjcf.archives import SUFFIXES, unpacked
from cardan.mjcf.writer import write_tree
from cardan.model.mjmodel import MjModel
from cardan.model.vfs import MjVfs
from cardan.spec.element import Element
from cardan.spec.schema.rows import Type
from cardan.spec.tree import ModelTree, asset_folder, file_base


@runtime_checkable
class Writable(Protocol):
    """A binary file that is open for writing."""

    def write(self, content: bytes, /) -> Any:
        """Write bytes."""


@runtime_checkable
class Readable(Protocol):
    """A binary file that is open for reading."""

    def seek(self, place: int, /) -> Any:
        """Go to a place in the file."""

    def read(self) -> bytes:
        """Read the rest of the file."""
        ...


Source = str | os.PathLike[str] | Readable
"""A file to be read: a path, or an open file."""
Target = str | os.PathLike[str] | Writable
"""A file to be written: a path, or an open file."""

MODEL_NAME = "model.xml"
"""Name of the MJCF file in archives that `Archiving.encode` writes."""
_XML = ".xml"
_MEDIA_TYPES = {"text/xml": _XML, "application/xml": _XML, "application/zip": SUFFIXES[0]}
_BINARY = {".mjb": mj_saveModel, ".txt": mj_printModel}
"""Functions that write a compiled model, by the suffix of the file."""
_INCLUDED = re.compile(rb"""<\s*include\b[^>]*?\bfile\s*=\s*["']([^"']*)["']""")
_DATE = (1980, 1, 1, 0, 0, 0)  # the same for all files, so that archives with the same content are equal


class Archiving:
    """The part of `MjSpec` that reads and writes archives and other files."""

    @classmethod
    def from_zip(cls: Any, file: Source, *, compat: str | None = None) -> Any:
        """Read a specification from a ZIP file with an MJCF file (``.xml``) and the files that it names.

        If the archive has several MJCF files, the last one that no other one includes is the model. Paths of the other
        files count from its folder.

        Args:
            file: path of the file, or the open file.
            compat: version of MuJoCo whose behaviour the model has; None: the default of the process.

        Raises:
            ValueError: the file is not a ZIP file, or contains no MJCF file.
            MjcfError: the archive is damaged or too large, or the model breaks a rule.
        """
        name, content = _read(file)
        if not zipfile.is_zipfile(io.BytesIO(content)):
            raise ValueError(f"{file!r} is not a zip file")
        files = unpacked(content, name)
        main = _main_file(files)
        if main is None:
            raise ValueError(f"there is no XML file in the zip file {name!r}")
        text, folder = files.pop(main), PurePosixPath(main).parent
        return cls.from_string(text, assets={_inside(key, folder): data for key, data in files.items()}, compat=compat)

    def to_zip(self: Any, file: Target) -> None:
        """Write the model as MJCF, with `assets` and all other files that it names, to a ZIP file.

        The MJCF file has the name of the model. Files outside the folder of the model are moved into the folder of
        their kind. The folder of the ZIP file is made if it does not exist.

        Args:
            file: path of the file, or a file that is open for writing.

        Raises:
            MjcfError: the model can't be compiled, or a file is not found.
        """
        tree = self.canonical(self.compile())
        named = _Packing(self.tree, tree)
        assets = {key: data for key, data in self.assets.items() if _is_safe(key)}
        content = _packed(f"{file_base(self.modelname) or 'model'}{_XML}", tree, assets | named.outside(assets))
        if isinstance(file, Writable):
            file.write(content)
        else:
            Path(os.fspath(file)).parent.mkdir(parents=True, exist_ok=True)
            write_file(file, content)

    def encode(
        self: Any,
        filename: str | os.PathLike[str],
        model: MjModel | None = None,
        vfs: MjVfs | None = None,
        content_type: str | None = None,
    ) -> int:
        """Write the specification or a compiled model to a file; return the number of bytes.

        Args:
            filename: path. Its suffix selects the format, in upper or lower case: ``.xml``; ``.mjz`` or ``.zip`` (an
                archive of the MJCF file, ``model.xml``, and the files that it names); ``.mjb`` (binary); ``.txt``.
            model: compiled model. Its values are written. The formats ``.mjb`` and ``.txt`` need it.
            vfs: as in `compile`.
            content_type: media type, instead of the suffix: ``text/xml`` or ``application/zip``. Other types are
                ignored.

        Raises:
            FatalError: there is no such format, or the format needs a model.
            MjcfError: the model can't be compiled, or a file is not found.
        """
        suffix = _MEDIA_TYPES.get(content_type or "", Path(os.fspath(filename)).suffix.lower())
        if suffix in _BINARY:
            if model is None:
                raise FatalError(f"model is required for {suffix[1:].upper()} encoding")
            _BINARY[suffix](model, filename)
            return Path(os.fspath(filename)).stat().st_size
        if suffix != _XML and suffix not in SUFFIXES:
            raise FatalError(f"no encoder found for {os.fspath(filename)!r}: expected .xml, .mjz, .zip, .mjb or .txt")
        compiled = self.compile(vfs) if model is None else model
        with self.files_of(vfs):
            tree = self.canonical(compiled)
            if suffix == _XML:
                content = write_tree(tree).encode()
            else:
                files = _Packing(self.tree, tree).files
                content = _packed(MODEL_NAME, tree, {place: data for place, (data, _) in files.items()})
        write_file(filename, content)
        return len(content)


# --- reading ---------------------------------------------------------------------------------------------------------


def _read(file: Source) -> tuple[str, bytes]:
    """Return the name of a file, for messages, and its whole content."""
    if isinstance(file, Readable):
        file.seek(0)
        return str(getattr(file, "name", "archive")), file.read()
    return os.fspath(file), Path(os.fspath(file)).read_bytes()


def _main_file(files: dict[str, bytes]) -> str | None:
    """Return the name of the last MJCF file that no other one includes; None if there is no MJCF file."""
    models = [name for name in files if name.lower().endswith(_XML)]
    included = {
        file_base(found.decode(errors="replace")) for name in models for found in _INCLUDED.findall(files[name])
    }
    free = [name for name in models if file_base(name) not in included]
    return next(reversed(free or models), None)


def _inside(name: str, folder: PurePosixPath) -> str:
    """Return a path relative to a folder if it is inside the folder, otherwise the path."""
    path = PurePosixPath(name)
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else name


# --- writing ---------------------------------------------------------------------------------------------------------


class _Packing:
    """The files that a model names, with their places in an archive.

    Files outside the model's folder get new names in the folder of their kind, also in the tree that is written.

    Attributes:
        files: by place: content, and the key in the assets of the specification or the path.
    """

    def __init__(self, source: ModelTree, written: ModelTree) -> None:
        self.files: dict[str, tuple[bytes, str | Path]] = {}
        self.source = source
        self.settings = written.section("compiler").resolved()
        for element, attribute in _file_attributes(written):
            self._add(element, attribute)

    def _add(self, element: Element, attribute: str) -> None:
        """Add the file that an attribute names."""
        name = element.attributes[attribute]
        if self.settings["strippath"]:
            name = file_base(name)
        kind = element.row.kind or ""
        folders = (self.source.folder or Path(), *self.source.include_folders.values())
        beside = asset_folder(self.source.section("compiler").resolved(), kind)
        try:
            content, origin = self.source.read_file(name, *(folder / beside for folder in folders))
        except (OSError, ValueError) as error:
            raise element.error(str(error), attribute) from None
        folder = PurePosixPath(asset_folder(self.settings, kind).replace("\\", "/"))
        place = _normal(folder / name.replace("\\", "/"))
        if not _is_safe(place) or self._is_other(place, content):
            place, number = _normal(folder / file_base(name)), 0
            while not _is_safe(place) or self._is_other(place, content):
                number += 1
                place = f"{number}_{file_base(name)}"
            element.attributes[attribute] = os.path.relpath(place, folder).replace("\\", "/")
        self.files[place] = content, origin

    def _is_other(self, place: str, content: bytes) -> bool:
        """Return whether a place is taken by a file with another content."""
        return place in self.files and self.files[place][0] != content

    def outside(self, assets: dict[str, bytes]) -> dict[str, bytes]:
        """Return the files that are not among some assets of the specification, by place."""
        return {place: data for place, (data, origin) in self.files.items() if origin not in assets}


def _file_attributes(tree: ModelTree) -> Iterator[tuple[Element, str]]:
    """Yield each element of a tree that names a file, with the name of the attribute."""
    for element in tree.root.descendants():
        for name, row in element.row.attributes.items():
            if row.type is Type.FILE and row.kind is None and element.attributes.get(name):
                yield element, name


def _normal(path: PurePosixPath) -> str:
    """Return a path without parts like ``a/..``."""
    return os.path.normpath(str(path)).replace("\\", "/")


def _is_safe(place: str) -> bool:
    """Return whether a path stays inside the folder to which an archive is unpacked."""
    path = PurePosixPath(place.replace("\\", "/"))
    return not path.is_absolute() and ".." not in path.parts and ":" not in path.parts[0]


def _packed(name: str, tree: ModelTree, files: dict[str, bytes | str]) -> bytes:
    """Return a ZIP file with a model, under a name, and other files by place."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for place, content in {name: write_tree(tree), **files}.items():
            archive.writestr(zipfile.ZipInfo(place, _DATE), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()
