"""`MjVfs`: file contents by name, which take precedence over files on disk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class MjVfs:
    """Virtual file system: contents of files by name, for reading and compiling models.

    ``vfs["box.obj"] = content`` adds a file, ``del vfs["box.obj"]`` removes it, ``"box.obj" in vfs`` tests for it.
    A ``with`` statement closes the file system at its end; a closed file system cannot be used.
    """

    def __init__(self) -> None:
        self._files: dict[str, bytes] | None = {}

    def close(self) -> None:
        """Discard all files. Every later use raises RuntimeError, except `close`."""
        self._files = None

    @property
    def files(self) -> dict[str, bytes]:
        """Contents by name. Raises RuntimeError if the file system is closed."""
        if self._files is None:
            raise RuntimeError("VFS is closed")
        return self._files

    def __enter__(self) -> MjVfs:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __setitem__(self, name: str, content: bytes) -> None:
        """Add a file. Raises ValueError if a file of this name exists, TypeError if the content is not bytes."""
        if not isinstance(name, str):
            raise TypeError(f"the name of a file should be a str, got {type(name).__name__}")
        if not isinstance(content, bytes | bytearray | memoryview):
            raise TypeError(f"vfs[{name!r}] should be bytes, got {type(content).__name__}")
        if name in self.files:
            raise ValueError(f"Repeated file name in VFS: {name}")
        self.files[name] = bytes(content)

    def __delitem__(self, name: str) -> None:
        """Remove a file. Raises KeyError if it does not exist."""
        del self.files[name]

    def __contains__(self, name: object) -> bool:
        return name in self.files


def contents(vfs: MjVfs | None, *others: Mapping[Any, Any] | None) -> dict[Any, Any] | None:
    """Return the file contents given by a virtual file system or by dictionaries; None if there are none.

    Args:
        vfs: the virtual file system, or None.
        others: dictionaries of contents by name, or None. Later ones take precedence.

    Raises:
        ValueError: both a file system and a dictionary are given.
        RuntimeError: the file system is closed.
        TypeError: ``vfs`` is not a `MjVfs`, or one of the others is not a dictionary.
    """
    if vfs is None:
        given = [other for other in others if other]
        if len(given) == 1 and isinstance(given[0], dict):
            return given[0]
        wrong = next((other for other in given if not isinstance(other, Mapping)), None)
        if wrong is not None:
            raise TypeError(f"assets should be a dictionary of contents by name, got {type(wrong).__name__}")
        return {name: text for other in given for name, text in other.items()} or None
    if not isinstance(vfs, MjVfs):
        raise TypeError(f"vfs should be a MjVfs, got {type(vfs).__name__}")
    if any(others):
        raise ValueError("Cannot specify both 'assets' and 'vfs'")
    return vfs.files


__all__ = ["MjVfs"]
