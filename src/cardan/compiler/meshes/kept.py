"""Meshes as they were read, and their hulls, kept for the next model of this process that names the same file.

Programs compile the same model again and again: an environment for each worker, a new one after each change. What
is kept is known by the file's place, size and time of change. A file that changed just before it was read isn't kept:
it may change again within the resolution of that time. The meshes that were used last stay, up to `LARGEST` bytes.
Hulls of few points, wherever these come from, are known by the points: those of meshes that stand in the model's text
are not searched for again, and a mesh that a model has several times has one.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from cardan.compiler.meshes.hull import Hull, convex_hull
from cardan.formats.raw import RawMesh, checked
from cardan.threads import Locked

LARGEST = 1 << 28
"""Bytes of vertices, normals, texture coordinates and corners that are kept, hulls not counted."""
FEW = 1000
"""Points, up to which their hull is kept by itself."""
MOST_HULLS = 256
"""Hulls that are kept by their points."""
SETTLED = 2.0
"""Age of a file from which its time of change can be trusted, s."""

Key = tuple[str, str, int, int, int, int]


class ReadMesh:
    """A mesh as its file or its attributes have it, and the hull of its points. Nobody changes it.

    Attributes:
        raw: what was read, checked.
    """

    def __init__(self, raw: RawMesh) -> None:
        self.raw = checked(raw)
        for part in self._parts():
            part.flags.writeable = False

    def _parts(self) -> list[np.ndarray]:
        raw = self.raw
        parts = (raw.vertex, raw.face, raw.normal, raw.texcoord, raw.face_normal, raw.face_texcoord)
        return [part for part in parts if part is not None]

    @cached_property
    def hull(self) -> Hull:
        """The convex hull of all vertices. Raises MeshDataError if there is none."""
        vertex = self.raw.vertex
        return _hull_of(vertex.tobytes()) if len(vertex) <= FEW else convex_hull(vertex)

    @property
    def nbytes(self) -> int:
        """Bytes of what was read."""
        return sum(part.nbytes for part in self._parts())


@lru_cache(maxsize=MOST_HULLS)
def _hull_of(points: bytes) -> Hull:
    """The convex hull of points, whose float32 coordinates are given. Raises MeshDataError if there is none."""
    return convex_hull(np.frombuffer(points, np.float32).reshape(-1, 3))


_kept: OrderedDict[Key, ReadMesh] = OrderedDict()
_keeping = Locked()


def mesh_of_file(path: Path, format: str, read: Callable[[], RawMesh]) -> ReadMesh:
    """The mesh of a file of a format, from `read` if it was not kept.

    Raises:
        MeshDataError: its content is wrong.
        OSError: the file can't be read.
    """
    state = os.stat(path)
    key = (format, str(path), state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns)
    with _keeping.lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    mesh = ReadMesh(read())
    if abs(time.time() - state.st_mtime) > SETTLED:
        _keep(key, mesh)
    return mesh


def _keep(key: Key, mesh: ReadMesh) -> None:
    with _keeping.lock:
        _kept[key] = mesh
        total = sum(kept.nbytes for kept in _kept.values())
        while total > LARGEST:
            total -= _kept.popitem(last=False)[1].nbytes
