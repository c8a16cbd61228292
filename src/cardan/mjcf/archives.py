"""Archives of models: ZIP files (``.mjz``, ``.zip``) with an MJCF file and the files that it refers to.

Spec: programming, "MJZ Archives" of MuJoCo 4.0.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from cardan.errors import MjcfError

SUFFIXES = (".mjz", ".zip")
"""Endings of the names of archives."""
MOST_BYTES = 2**31
"""Maximum size of all unpacked files of an archive, in bytes."""
_CHUNK = 2**14
"""Largest number of bytes unpacked at once. Files that are larger than they declare are not unpacked whole."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Accepted compression methods, as in MuJoCo 4.0. Other methods unpack in one piece, whatever their declared size."""
_DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, RuntimeError, OSError, EOFError, ValueError)
"""Exceptions for damaged archives; ValueError for names that are not UTF-8, and for negative addresses."""


def is_archive(path: Path) -> bool:
    """Return whether the suffix of a path is that of an archive."""
    return path.suffix.lower() in SUFFIXES


def read_archive(content: bytes, path: Path) -> tuple[bytes, dict[str, bytes]]:
    """Return the text of the model in an archive, and the contents of all other non-empty files by name.

    The model is ``model.xml``, or the XML file named after the archive. Either file may be in a folder named after the
    archive.

    Args:
        content: the archive.
        path: the archive's path, which gives the name of the model and appears in messages.

    Raises:
        MjcfError: the archive is damaged or too large, or has no model.
    """
    files = unpacked(content, str(path))
    stem = path.stem
    names = ("model.xml", f"{stem}.xml", f"{stem}/{stem}.xml", f"{stem}/model.xml")
    name = next((name for name in names if name in files), None)
    if name is None:
        raise MjcfError(f"the archive contains no model; expected one of {', '.join(names)}", str(path))
    return files.pop(name), {other: text for other, text in files.items() if text}


def unpacked(content: bytes, source: str) -> dict[str, bytes]:
    """Return the contents of all files in an archive by name.

    Args:
        content: the archive.
        source: name of the archive, for messages.

    Raises:
        MjcfError: the archive is damaged or too large.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            size = sum(entry.file_size for entry in entries)
            if size > MOST_BYTES:
                raise MjcfError(f"the archive contains {size} bytes; at most {MOST_BYTES} are unpacked", source)
            return {_place(entry): _content(archive, entry) for entry in entries}
    except MjcfError:
        raise
    except _DAMAGED as error:
        raise MjcfError(f"the archive cannot be unpacked: {error}", source) from None


def _place(entry: zipfile.ZipInfo) -> str:
    """Return the path of a file in an archive."""
    return str(PurePosixPath(entry.filename.replace("\\", "/")))


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Return the unpacked content of a file in an archive.

    Raise NotImplementedError if its compression is not in `_METHODS`.
    """
    if entry.compress_type not in _METHODS:
        raise NotImplementedError(f"'{entry.filename}' is neither deflated nor stored")
    with archive.open(entry) as file:
        return b"".join(iter(lambda: file.read(_CHUNK), b""))
