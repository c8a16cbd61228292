"""The disk cache of compiled stages.

Each stage and fingerprint has one file in the user's cache folder (``CARDAN_CACHE_DIR`` overrides it). Files are
written under another name and moved into place, so that a reader never sees part of a file. If several processes start
at once, a lock file for each stage ensures that each stage is compiled only once.

Files that were not used for a long time, and files of processes that died, are removed (`prune`). This happens after a
compilation, once a day at most, and in ``cardan warmup``. The modification time of a file is the time of its last use,
to within a day (`read`). Meanwhile, other processes may use the folder. If a file is missing, they compile the stage
again; if a lock file is missing, two processes may compile the same stage.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from cardan.files import write_file

DAY, HOUR = 86400.0, 3600.0
DAYS, MEGABYTES = "CARDAN_CACHE_DAYS", "CARDAN_CACHE_MB"
"""Environment variables for the limits; ``inf`` means no limit."""
USUAL = {DAYS: 60.0, MEGABYTES: 500.0}
STAMP = ".pruned"
"""File whose modification time is the time of the last pruning."""

_OBJECT = re.compile(r".+-[0-9a-f]{32,64}\.(o|seen)")
_LOCK = re.compile(r".+-[0-9a-f]{32,64}\.lock")
_TEMPORARY = re.compile(r"\.cardan-[0-9a-f]{16}\.tmp|.+-[0-9a-f]{32,64}\.o\w{8}")  # second: of old versions


class Limits(NamedTuple):
    """Limits of the cache. It keeps the most recently used files: those of the last `days`, up to `megabytes`."""

    days: float
    megabytes: float


def limits() -> Limits:
    """Return the limits of the cache that apply in this process.

    Raises:
        ValueError: an environment variable is not a number.
    """
    return Limits(_number(DAYS), _number(MEGABYTES))


def _number(variable: str) -> float:
    text = os.environ.get(variable) or str(USUAL[variable])
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not number >= 0.0:
        raise ValueError(f"{variable} is a number, at least 0, or inf; not {text!r}")
    return number


def prune_if_due(folder: Path) -> None:
    """Prune a folder unless a process has done so in the last 24 hours."""
    stamp = folder / STAMP
    try:
        if abs(time.time() - stamp.stat().st_mtime) < DAY:
            return
    except OSError:
        pass  # the folder was never pruned
    prune(folder)


def prune(folder: Path) -> None:
    """Remove stages that exceed the limits, and old temporary and lock files. Files that can't be removed remain.

    Files of the last hour are always kept, because a process may be about to use a file that it or its helper has just
    compiled.
    """
    keep = limits()
    with suppress(OSError):
        (folder / STAMP).touch()
    now = time.time()
    objects: list[tuple[float, int, str]] = []
    for name, path, status in _files(folder):
        age = now - status.st_mtime
        if _OBJECT.fullmatch(name):
            objects.append((age, status.st_size, path))
        elif (_TEMPORARY.fullmatch(name) and age > HOUR) or (_LOCK.fullmatch(name) and age > DAY):
            _remove(path)
    room = keep.megabytes * 1e6
    for age, size, path in sorted(objects):
        room -= size
        if age > HOUR and (age > keep.days * DAY or room < 0):
            _remove(path)


def _files(folder: Path) -> list[tuple[str, str, os.stat_result]]:
    found = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):  # another process may have removed it
                if entry.is_file(follow_symlinks=False):
                    found.append((entry.name, entry.path, entry.stat(follow_symlinks=False)))
    return found


def _remove(path: str) -> None:
    with suppress(OSError):  # on Windows, the file may be open; on all systems, another process may have removed it
        os.unlink(path)


MAGIC = b"cardan-object-2\n"
DIGEST_SIZE = 32
WRITING = threading.Lock()
"""Lock held while a file is written."""


def cache_folder() -> Path:
    """Return the folder of the compiled stages. The first `write` makes it."""
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
    """Return whether the cache folder can be written to."""
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(cache_folder(), os.W_OK)


def read(name: str, key: str) -> tuple[str, bytes] | None:
    """Return symbol and object code of a stage, or None if the cache has no intact file for it."""
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
    """Return whether the cache has a file for a stage."""
    return _path(name, key).exists()


def write(name: str, key: str, symbol: str, code: bytes) -> None:
    """Store a compiled stage, then prune the folder if that is due. If the folder is not writable, do nothing."""
    path = _path(name, key)
    rest = symbol.encode() + b"\n" + code
    try:
        with WRITING:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, MAGIC + _digest(rest) + rest, durable=False)  # the digest detects a damaged file
    except OSError:
        return
    prune_if_due(path.parent)


@contextmanager
def compile_lock(name: str, key: str, wait: bool = True) -> Iterator[bool]:
    """Context manager: hold a lock while this process compiles a stage. Other processes wait, and then read the cache.

    If the folder is not writable, there is no lock.

    Args:
        name: name of the stage.
        key: fingerprint of the stage.
        wait: whether to wait for another process that holds the lock.

    Yields:
        Whether the stage may be compiled now: False only if another process is compiling it and `wait` is False.
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
        with suppress(OSError):  # on Windows, if others wait for the lock: they or `prune` remove the file
            path.unlink()
        lock.release()
