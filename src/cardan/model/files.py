"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

PERMISSIONS = 0o644


def replace_file(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Write a file under another name, then move it into place: nobody ever sees half a file.

    Raises:
        OSError: the file can't be written; the message names the path.
    """
    if path.is_dir():
        raise IsADirectoryError(f"can't write {path}: it is a folder")
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise OSError(f"can't write {path}: {error.strerror or error}") from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            write(file)
        os.chmod(name, PERMISSIONS)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def replace_text(path: str | bytes | os.PathLike[str], text: str) -> None:
    """Write a text file, as `replace_file` does."""
    replace_file(Path(os.fsdecode(path)), lambda file: file.write(text.encode()))
