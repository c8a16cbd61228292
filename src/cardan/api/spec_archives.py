"""Archives of specifications, and files in several formats: XML, binary, text, ZIP."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any

from cardan.errors import FatalError
from cardan.files import write_file
from cardan.mjcf.archives import SUFFIXES
from cardan.mjcf.reader import read_string
from cardan.model.binary import dump_model
from cardan.model.printing import DEFAULT_FORMAT, model_text
from cardan.spec.schema.rows import Type
from cardan.spec.tree import asset_folder

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel
    from cardan.model.vfs import MjVfs
    from cardan.spec.tree import ModelTree

File = str | os.PathLike[str] | IO[bytes]
_EPOCH = (1980, 1, 1, 0, 0, 0)  # date of all files of an archive, so that equal models give equal archives
_KINDS = {"text/xml": "xml", "application/xml": "xml", "application/zip": "mjz"}


class Archiving:
    """The part of `MjSpec` that reads and writes archives and other files."""

    tree: ModelTree

    @classmethod
    def from_zip(cls: Any, file: File, *, compat: str | None = None) -> Any:
        """Read a specification from a ZIP file with one MJCF file and the files that it names.

        Args:
            file: path of the file, or the open file.
            compat: version of MuJoCo whose behaviour the model has; None: the default of the process.

        Raises:
            ValueError: the file is not a ZIP file, or contains no MJCF file.
        """
        if not zipfile.is_zipfile(file):
            raise ValueError(f"File {file} is not a zip file.")
        with zipfile.ZipFile(file) as archive:
            files = {
                str(PurePosixPath(one.filename)): archive.read(one) for one in archive.infolist() if not one.is_dir()
            }
        names = sorted((name for name in files if name.lower().endswith(".xml")), key=lambda name: name.count("/"))
        if not names:
            raise ValueError(f"{file} contains no XML file")
        folder = PurePosixPath(names[0]).parent
        assets = {_relative(name, folder): content for name, content in files.items() if name != names[0] and content}
        return cls(read_string(files[names[0]], assets, compat))

    def to_zip(self: Any, file: File) -> None:
        """Write the model as MJCF, with all files that it names, to a ZIP file: a path, or a file open for writing."""
        content = self._archive(f"{self.modelname}.xml", self.to_xml())
        if isinstance(file, str | os.PathLike):
            write_file(file, content)
        else:
            file.write(content)

    def encode(
        self: Any,
        filename: str | os.PathLike[str],
        model: MjModel | None = None,
        vfs: MjVfs | None = None,
        content_type: str | None = None,
    ) -> int:
        """Write the specification or a compiled model to a file; return the number of bytes.

        Args:
            filename: path. Its suffix selects the format: ``.xml``; ``.mjz`` or ``.zip`` (an archive of the MJCF file
                and the files that it names); ``.mjb`` (binary); ``.txt``.
            model: compiled model. Its values are written. The formats ``.mjb`` and ``.txt`` need it.
            vfs: as in `compile`.
            content_type: media type, instead of the suffix: ``text/xml`` or ``application/zip``.

        Raises:
            FatalError: there is no such format, or the format needs a model.
        """
        suffix = "." + _KINDS.get(content_type or "", Path(filename).suffix.lower().removeprefix("."))
        if suffix in (".mjb", ".txt"):
            if model is None:
                raise FatalError(f"model is required for {suffix[1:].upper()} encoding")
            content = dump_model(model) if suffix == ".mjb" else model_text(model, DEFAULT_FORMAT).encode()
        elif suffix in (".xml", *SUFFIXES):
            with self.files_of(vfs):
                compiled = model if model is not None else self.compile()
                text = self.canonical_text(compiled)
                content = text.encode() if suffix == ".xml" else self._archive("model.xml", text)
        else:
            raise FatalError(f"no encoder found for '{suffix}'; expected .xml, .mjz, .zip, .mjb or .txt")
        write_file(filename, content)
        return len(content)

    def _archive(self: Any, name: str, text: str) -> bytes:
        """Return a ZIP file with the MJCF text under a name, and all files that the text names."""
        files: dict[str, bytes] = {name: text.encode()}
        for key, content in self.tree.assets.items():
            files[key] = content.encode() if isinstance(content, str) else content
        settings = self.tree.section("compiler").resolved()
        for element in self.tree.root.descendants():
            for row in element.row.attributes.values():
                file = element.attributes.get(row.name) if row.type is Type.FILE else None
                if file and self.tree.asset_key(file) is None:
                    place = (self.tree.folder or Path()) / asset_folder(settings, element.row.kind or "")
                    inside = self.tree.include_folders.get(element.source or "")
                    files[file.lstrip("/")] = self.tree.read_file(file, place, inside)[0]
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for place, content in files.items():
                archive.writestr(zipfile.ZipInfo(place, _EPOCH), content, zipfile.ZIP_DEFLATED)
        return buffer.getvalue()


def _relative(name: str, folder: PurePosixPath) -> str:
    """Return a path relative to a folder, if the path is inside it."""
    path = PurePosixPath(name)
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else name
