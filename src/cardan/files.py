"""Writing of files: user files and cache files are all written by this module.

A regular file is written completely or not at all: a temporary file in the same folder is written first and then
replaces the file.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from contextlib import suppress

FileName = str | bytes | os.PathLike[str]

MOST_LINKS = 40
"""Largest number of symbolic links that are followed, as in Linux."""
TEMPORARY = ".cardan-{}.tmp"
"""Pattern of the names of temporary files; it omits the target's name, which may have the maximal length already."""

_OPEN_FILES = re.compile(r"/proc/\d+(/task/\d+)?/fd|/dev/fd")
_FOLDER_REFUSES = {errno.EACCES, errno.EPERM, errno.EBUSY, errno.EROFS} if os.name == "posix" else set()
"""Error codes for a folder in which no file can be created or replaced. Existing files may still be writable."""
_NO_SYNC = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}


def write_file(path: FileName, content: bytes | str, durable: bool = True) -> None:
    """Write a file. Readers see the old content or the new one, never a part, even after a crash or an interruption.

    - Symbolic links are kept, and the file to which they lead is replaced. (Other hard links to the file keep the old
      content.)
    - An existing file keeps its permissions, and its owner if the system allows. A new file gets the permissions of the
      umask.
    - A target that is not a regular file (a device, a pipe, ``/dev/stdout``) is written to directly. So is a file in a
      folder that does not accept new files, for example a file that is mounted on its own.

    Args:
        path: path of the file.
        content: complete content; text is encoded as UTF-8.
        durable: whether the content must be on the disk when this function returns. If not, a crash of the system may
            leave a damaged file.

    Raises:
        OSError: the file can't be written; the message names the path. No temporary file remains.
    """
    name = os.fsdecode(path)
    data = content.encode() if isinstance(content, str) else content
    try:
        status, target = _place(name)
        if target is None:
            _write_through(name, data)
            return
        try:
            _replace(target, status, data, durable)
        except OSError as error:
            if status is None or error.errno not in _FOLDER_REFUSES:
                raise
            _write_through(target, data)
    except OSError as error:
        raise _with_path(error, name) from None


def check_writable(path: FileName) -> None:
    """Make the folder of a file, and check, before long work begins, that `write_file` can write the file.

    Raises:
        OSError: the file can't be written; the message names the path.
    """
    import tempfile

    name = os.fsdecode(path)
    try:
        status, target = _place(name)
        if target is None:
            return
        folder = os.path.dirname(target)
        os.makedirs(folder, exist_ok=True)
        try:
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            if status is None or error.errno not in _FOLDER_REFUSES:
                raise
    except FileExistsError as error:
        raise OSError(f"can't write {name}: {error.filename} is not a folder") from None
    except OSError as error:
        raise _with_path(error, name) from None


def _with_path(error: OSError, name: str) -> OSError:
    """Return a copy of an error, with the path added to the message."""
    named = type(error)(f"can't write {name}: {error.strerror or error}")
    named.errno = error.errno
    return named


def _place(name: str) -> tuple[os.stat_result | None, str | None]:
    """Return the `os.stat` result and the path of the file to replace.

    The path is None if the file is written to directly. The `os.stat` result is None if the file does not exist.
    """
    status, target = _status(name), _target(name)
    return status, target if status is None or stat.S_ISREG(status.st_mode) else None


def _status(name: str) -> os.stat_result | None:
    """Return the `os.stat` result of the file to which a path leads, or None if the file does not exist.

    For folders and read-only files, raise OSError.
    """
    try:
        status = os.stat(name)
    except (FileNotFoundError, NotADirectoryError):
        if not os.path.basename(name):
            raise IsADirectoryError(errno.EISDIR, "it is not the name of a file") from None
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    if not os.access(name, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return status


def _target(name: str) -> str | None:
    """Return the absolute path with links resolved; None for an open file of a process, such as ``/dev/stdout``.

    If there are more than `MOST_LINKS` links, raise OSError.
    """
    for _ in range(MOST_LINKS):
        folder = os.path.realpath(os.path.dirname(name) or os.curdir)
        if _OPEN_FILES.fullmatch(folder):
            return None
        place = os.path.join(folder, os.path.basename(name))
        if not os.path.islink(place):
            return place
        name = os.path.join(folder, os.readlink(place))
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _replace(target: str, status: os.stat_result | None, data: bytes, durable: bool) -> None:
    """Write a temporary file, then rename it to the target. It gets owner and permissions from ``status``, if given."""
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, TEMPORARY.format(os.urandom(8).hex()))
    mode = 0o666 if status is None else 0o600  # no other user can read the temporary copy of a secret file
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(data)
            file.flush()
            if status is not None:
                _take_over(file.fileno(), status)
            if durable:
                _sync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    if durable:
        _sync_folder(folder)


def _write_through(name: str, data: bytes) -> None:
    """Write to an existing file directly, without a temporary file."""
    with open(name, "wb", opener=lambda name, flags: os.open(name, flags & ~os.O_CREAT)) as file:
        file.write(data)


def _take_over(descriptor: int, status: os.stat_result) -> None:
    """Set an open file's owner and permissions to those in `status`, as far as the system allows."""
    if os.name != "posix":
        return
    mine = os.fstat(descriptor)
    for owner in (status.st_uid, -1):  # any member of a group may create files with that group
        if (mine.st_uid, mine.st_gid) != (status.st_uid, status.st_gid):
            with suppress(OSError):
                os.fchown(descriptor, owner, status.st_gid)
                break
    if (mine.st_mode ^ status.st_mode) & 0o777:
        with suppress(OSError):
            os.fchmod(descriptor, status.st_mode & 0o777)


def _sync(descriptor: int) -> None:
    """Flush the content of an open file to the disk, if the file system supports this."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise


def _sync_folder(folder: str) -> None:
    """Flush a folder's entries to the disk, if the system supports this; the file is complete in either case."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
