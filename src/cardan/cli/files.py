"""Files that the commands write: checked before the work begins, and moved into place once complete."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

PERMISSIONS = 0o644


def check_writable(path: Path) -> None:
    """Make the folder of `path`, and check that a file can be written there.

    Raises:
        OSError: it can't; the message names the path.
    """
    if path.is_dir():
        raise IsADirectoryError(f"can't write {path}: it is a folder")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise OSError(f"can't write {path}: {error.strerror or error}") from None


def replace_file(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Write a file under another name, then move it into place: nobody ever sees half a file."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            write(file)
        os.chmod(name, PERMISSIONS)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
