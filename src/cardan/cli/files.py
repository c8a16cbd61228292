"""Files that the commands write: checked before the work begins, and moved into place once complete."""

from __future__ import annotations

import tempfile
from pathlib import Path

from cardan.model.files import replace_file

__all__ = ["check_writable", "replace_file"]


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
    except FileExistsError as error:
        raise OSError(f"can't write {path}: {error.filename} is no folder") from None
    except OSError as error:
        raise OSError(f"can't write {path}: {error.strerror or error}") from None
