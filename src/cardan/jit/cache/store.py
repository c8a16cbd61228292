"""The disk cache of compiled stages.

One file a stage and fingerprint, in the user's cache folder (``CARDAN_CACHE_DIR`` overrides it). Files are written
under another name and moved into place, so that a reader never sees half a file; a lock file a stage makes several
processes that start at once compile each stage only once. `cardan.jit.cache.pruning` removes what isn't used any more.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cardan.files import write_file
from cardan.jit.cache.pruning import DAY, prune_if_due

MAGIC = b"cardan-object-2\n"
DIGEST_SIZE = 32
WRITING = threading.Lock()
"""Held while a file is written."""


def cache_folder() -> Path:
    """Folder of the compiled stages; made on first use."""
    override = os.environ.get("CARDAN_CACHE_DIR")
    if override:
        return Path(override)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "cardan"
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or str(Path.home() / ".cache")
    return Path(base) / "cardan"


def _path(name: str, key: str) -> Path:
    return cache_folder() / f"{name}-{key}.o"


def _digest(content: bytes) -> bytes:
    import hashlib

    return hashlib.sha256(content).digest()


def is_writable() -> bool:
    """Whether files can be stored."""
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(cache_folder(), os.W_OK)


def read(name: str, key: str) -> tuple[str, bytes] | None:
    """Symbol and object code of a stage, or None if the cache has no such (intact) file."""
    path = _path(name, key)
    try:
        with open(path, "rb") as file:
            content = file.read()
            used = os.fstat(file.fileno()).st_mtime
    except OSError:
        return None
    if time.time() - used > DAY:
        with suppress(OSError):
            os.utime(path)
    start = len(MAGIC) + DIGEST_SIZE
    magic, digest, rest = content[: len(MAGIC)], content[len(MAGIC) : start], content[start:]
    if magic != MAGIC or digest != _digest(rest):
        return None
    symbol, _, code = rest.partition(b"\n")
    return symbol.decode(), code


def holds(name: str, key: str) -> bool:
    """Whether there is a file of a stage."""
    return _path(name, key).exists()


def write(name: str, key: str, symbol: str, code: bytes) -> None:
    """Store a compiled stage; a folder that can't be written to costs the speed of the next start, not the run."""
    path = _path(name, key)
    rest = symbol.encode() + b"\n" + code
    try:
        with WRITING:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, MAGIC + _digest(rest) + rest, durable=False)  # the digest tells what a crash spoilt
    except OSError:
        return
    prune_if_due(path.parent)


@contextmanager
def compile_lock(name: str, key: str, wait: bool = True) -> Iterator[bool]:
    """Held while one process compiles a stage; others wait, then find it in the cache.

    Args:
        name: the stage.
        key: its fingerprint.
        wait: wait for another process that holds it.

    Yields:
        Whether the stage may be compiled now: false only if `wait` is, and another process is at it.
    """
    from filelock import FileLock, Timeout

    path = _path(name, key).with_suffix(".lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path)
        lock.acquire(timeout=-1 if wait else 0)
    except Timeout:
        yield False
        return
    except OSError:
        yield True
        return
    try:
        yield True
    finally:
        with suppress(OSError):  # on Windows, if others wait for it: then one of those removes it, or `prune`
            path.unlink()
        lock.release()
