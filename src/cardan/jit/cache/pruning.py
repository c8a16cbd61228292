"""Keeps the disk cache small: files that were not used for long, and those of processes that died, are removed.

The time of a file is that of its last use, to a day (`cardan.jit.cache.store.read`). It happens after something was
compiled, once a day at most, and in ``cardan warmup``. Other processes may use the folder meanwhile: they read files
whole, so that a file that is gone costs them a compilation, and a lock file that is gone the same compilation twice.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

DAY, HOUR = 86400.0, 3600.0
DAYS, MEGABYTES = "CARDAN_CACHE_DAYS", "CARDAN_CACHE_MB"
"""Variables of the environment; ``inf`` is no limit."""
USUAL = {DAYS: 60.0, MEGABYTES: 500.0}
STAMP = ".pruned"
"""A file whose time is that of the last pruning."""

_OBJECT = re.compile(r".+-[0-9a-f]{32,64}\.(o|seen)")
_LOCK = re.compile(r".+-[0-9a-f]{32,64}\.lock")
_TEMPORARY = re.compile(r"\.cardan-[0-9a-f]{16}\.tmp|.+-[0-9a-f]{32,64}\.o\w{8}")  # the second: of earlier versions


class Limits(NamedTuple):
    """What stays: files that were used in the last `days`, and of them the latest that fit into `megabytes`."""

    days: float
    megabytes: float


def limits() -> Limits:
    """The limits of this process.

    Raises:
        ValueError: a variable of the environment is not a number.
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
    """Prune a folder unless some process has done so today."""
    stamp = folder / STAMP
    try:
        if abs(time.time() - stamp.stat().st_mtime) < DAY:
            return
    except OSError:
        pass  # it never happened
    prune(folder)


def prune(folder: Path) -> None:
    """Remove what is too old, or too much; what can't be removed stays.

    Files of the last hour stay in any case: a process may be about to use what it, or its helper, has just compiled.
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
    with suppress(OSError):  # on Windows, one that is open; everywhere, one that another process has removed
        os.unlink(path)
