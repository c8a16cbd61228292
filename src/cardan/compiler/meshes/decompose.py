"""Convex pieces of a mesh, from the library CoACD (the extra ``cardan[decompose]``) or from the cache.

Pieces are cached by content: the key depends on vertices, faces and parameters, but not on the file's path. Pieces are
stored and pruned like compiled kernels, in the user's cache folder (`cardan.jit.cache.store`). If all pieces of a model
are in the cache, the library is not needed. Pieces made by another version of the library than the installed one are
made again. If several processes need the same pieces, one process computes the pieces while the others wait.
"""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from cardan.jit.cache import store
from cardan.threads import Locked

LIBRARY, EXTRA = "coacd", "decompose"
FORMAT = "cardan pieces 1"
"""Version of the format of cached files, part of every cache key."""
NAME, SYMBOL = "pieces", "npz"
"""First word of the names of cached files, and of their first line, which also holds the version of the library."""
MOST_KEPT = 64
"""Largest number of decompositions that a process keeps in memory."""
INTERVAL = 0.2
"""Time (s) between two calls of the function ``waiting`` of `convex_pieces`."""
FLAT = 1e-5
"""Ratio of thickness to length below which a piece counts as flat. Flat pieces are left out."""

Pieces = tuple[np.ndarray, ...]

_kept: OrderedDict[str, Pieces] = OrderedDict()
_keeping = Locked()


class DecompositionError(ValueError):
    """A mesh cannot be decomposed."""


def convex_pieces(
    vertex: np.ndarray, face: np.ndarray, threshold: float, maxpieces: int, waiting: Callable[[], None]
) -> Pieces:
    """Return the vertices of convex pieces that together approximate a mesh: float32, (n, 3) each.

    Args:
        vertex: vertices of the mesh, in any unit (n, 3).
        face: vertex indices of the triangles, counter-clockwise from outside (m, 3).
        threshold: concavity that pieces may have, relative to the size of the mesh, 0.01 to 1.
        maxpieces: largest number of pieces, or -1.
        waiting: function called every `INTERVAL` seconds while the library works.

    Raises:
        DecompositionError: the library is missing, or it fails.
    """
    points, corners = np.ascontiguousarray(vertex, np.float32), np.ascontiguousarray(face, np.int32)
    key = _key(points, corners, threshold, maxpieces)
    with _keeping.lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    found = _cached(key)
    if found is None:
        with store.compile_lock(NAME, key):
            found = _cached(key)
            if found is None:
                content = _decompose(points, corners, threshold, maxpieces, waiting)
                found = _unpacked(content)
                store.write(NAME, key, f"{SYMBOL} {_installed()}", content)
    with _keeping.lock:
        _kept[key] = found
        while len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
    return found


def _key(vertex: np.ndarray, face: np.ndarray, threshold: float, maxpieces: int) -> str:
    """Return the cache key of a decomposition."""
    digest = hashlib.sha256(repr((FORMAT, len(vertex), len(face), threshold, maxpieces)).encode())
    digest.update(vertex.astype("<f4", copy=False).tobytes())
    digest.update(face.astype("<i4", copy=False).tobytes())
    return digest.hexdigest()


def _cached(key: str) -> Pieces | None:
    """Return the pieces from the cache folder, or None. An installed library must have the version that made them."""
    found = store.read(NAME, key)
    if found is None:
        return None
    symbol, _, made_by = found[0].partition(" ")
    return _unpacked(found[1]) if symbol == SYMBOL and _installed() in ("", made_by) else None


@cache
def _installed() -> str:
    """Return the version of the installed library, or "" if it is not installed."""
    try:
        return version(LIBRARY)
    except PackageNotFoundError:
        return ""


def _unpacked(content: bytes) -> Pieces:
    """Return the pieces in an archive that the process wrote, except pieces without volume."""
    with np.load(io.BytesIO(content)) as archive:
        points, count = archive["points"].astype(np.float32), archive["count"]
    parts = np.split(points, np.cumsum(count)[:-1])
    return tuple(part for part in parts if _has_volume(part))


def _has_volume(points: np.ndarray) -> bool:
    """Return whether points span a volume, that is, whether their thickness is more than `FLAT` times their length."""
    if len(points) < 4:
        return False
    extents = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return bool(extents[2] > FLAT * extents[0])


def _decompose(
    vertex: np.ndarray, face: np.ndarray, threshold: float, maxpieces: int, waiting: Callable[[], None]
) -> bytes:
    """Run the library in another process, and return the archive that the process writes.

    Raises:
        DecompositionError: the library is missing or fails.
    """
    if find_spec(LIBRARY) is None:
        reason = f"pieces are not in the cache, and are made by the package {LIBRARY}, which is not installed"
        raise DecompositionError(f"{reason}: pip install 'cardan[{EXTRA}]'")
    given = io.BytesIO()
    np.savez(given, vertex=vertex.astype(float), face=face, threshold=threshold, maxpieces=maxpieces)
    code, output, errors = _run(given.getvalue(), waiting)
    if code or not output:
        last = (errors.decode(errors="replace").strip().splitlines() or ["no message"])[-1]
        raise DecompositionError(f"{LIBRARY} fails (exit status {code}): {last}")
    return output


def _run(given: bytes, waiting: Callable[[], None]) -> tuple[int, bytes, bytes]:
    """Run ``coacd_process.py`` with standard input ``given``; return exit status, standard output and standard error.

    If an exception occurs, such as KeyboardInterrupt, the process is killed.
    """
    script = Path(__file__).with_name("coacd_process.py")
    path = os.pathsep.join(part for part in sys.path if part)
    process = subprocess.Popen(
        [sys.executable, "-P", str(script)],
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    unsent: bytes | None = given
    try:
        while True:
            try:
                output, errors = process.communicate(unsent, timeout=INTERVAL)
                return process.returncode, output, errors
            except subprocess.TimeoutExpired:
                unsent = None  # the rest is sent by the next call
                waiting()
    except BaseException:
        process.kill()
        process.wait()
        raise
