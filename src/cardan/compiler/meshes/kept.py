"""Process-wide cache of meshes and their convex hulls, for later models that use the same mesh file.

Programs often compile the same model repeatedly, for example once per worker or once after each change. The cache key
is the file's path, size and modification time. A file that was modified just before it was read is not cached: it might
change again without a new modification time, whose resolution is limited. The most recently used meshes are kept, up to
`LARGEST` bytes. The hulls of small meshes are keyed by the points, wherever these come from. Hulls of meshes defined in
the XML are therefore not recomputed, and equal meshes in one model share a hull.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property, lru_cache
from math import inf
from pathlib import Path

import numpy as np

from cardan.compiler.meshes.hull import Hull, convex_hull
from cardan.formats.raw import RawMesh, checked
from cardan.threads import Locked

LARGEST = 1 << 28
"""Largest total size of the meshes in the cache, without their hulls (bytes)."""
FEW = 1000
"""Largest number of points of a mesh whose hull is cached by these points."""
MOST_HULLS = 256
"""Largest number of hulls that are cached by their points."""
SETTLED = 2.0
"""Smallest age (s) of a file that is cached. A newer file may change again without a new time of modification."""

Key = tuple[str, str, int, int, int, int]


class ReadMesh:
    """A mesh as read from its file or attributes, immutable and checked, with its convex hull."""

    def __init__(self, raw: RawMesh) -> None:
        self.raw = checked(raw)
        self._hulls: dict[int, Hull] = {}
        for part in self._parts():
            part.flags.writeable = False

    def _parts(self) -> list[np.ndarray]:
        raw = self.raw
        parts = (raw.vertex, raw.face, raw.normal, raw.texcoord, raw.face_normal, raw.face_texcoord)
        return [part for part in parts if part is not None]

    def hull(self, most: int = -1) -> Hull:
        """Return the convex hull of all vertices, or one with at most ``most`` vertices if this is not -1.

        Raises:
            MeshDataError: there is no hull.
        """
        if most not in self._hulls:
            vertex = self.raw.vertex
            few = len(vertex) <= FEW
            self._hulls[most] = _hull_of(vertex.tobytes(), most) if few else convex_hull(vertex, most)
        return self._hulls[most]

    @cached_property
    def bulge(self) -> float:
        """Ratio of the convex hull's volume to the volume inside the triangles (infinite if the latter is 0).

        Scaling, even by different factors along the axes, does not change this ratio. It is meaningful only for closed
        meshes.
        """
        vertex = self.raw.vertex.astype(float)
        volume = abs(signed_volume(vertex[self.raw.face]))
        return signed_volume(vertex[self.hull().face]) / volume if volume else inf

    @cached_property
    def closed(self) -> bool:
        """Whether the triangles form closed surfaces."""
        return is_closed(self.raw.vertex, self.raw.face)

    @property
    def nbytes(self) -> int:
        """Size of the mesh in bytes."""
        return sum(part.nbytes for part in self._parts())


def is_closed(vertex: np.ndarray, face: np.ndarray) -> bool:
    """Return whether triangles form closed surfaces, in which each edge occurs equally often in both directions.

    Vertices at the same position count as one.
    """
    rows = np.ascontiguousarray(vertex + 0.0)  # without negative zeros
    _, place = np.unique(rows.view(f"V{3 * rows.itemsize}").ravel(), return_inverse=True)
    corner = place.reshape(-1)[face].astype(np.int64)
    start, end = corner.ravel(), np.roll(corner, -1, axis=1).ravel()
    apart = start != end
    low, high = np.minimum(start, end)[apart], np.maximum(start, end)[apart]
    edges, number = np.unique(low << 32 | high, return_inverse=True)
    ways = np.bincount(number.reshape(-1), np.where(start < end, 1, -1)[apart], len(edges))
    return len(edges) > 0 and not ways.any()


def signed_volume(corner: np.ndarray) -> float:
    """Return the volume enclosed by triangles with corners (n, 3, 3); negative if the triangles face inwards."""
    centred = corner - corner[:, 0].mean(axis=0) if len(corner) else corner
    return float(np.einsum("ij,ij->", centred[:, 0], np.cross(centred[:, 1], centred[:, 2]))) / 6.0


@lru_cache(maxsize=MOST_HULLS)
def _hull_of(points: bytes, most: int) -> Hull:
    """Return the convex hull of points, given as the bytes of their float32 coordinates. Raises MeshDataError."""
    return convex_hull(np.frombuffer(points, np.float32).reshape(-1, 3), most)


_kept: OrderedDict[Key, ReadMesh] = OrderedDict()
_keeping = Locked()


def mesh_of_file(path: Path, format: str, read: Callable[[], RawMesh]) -> ReadMesh:
    """Return the mesh of a file in the given format; ``read`` is called only if the mesh is not in the cache.

    Raises:
        MeshDataError: the file's content is wrong.
        OSError: the file cannot be read.
    """
    state = os.stat(path)
    key = (format, str(path), state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns)
    with _keeping.lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    mesh = ReadMesh(read())
    if abs(time.time() - state.st_mtime) > SETTLED:
        with _keeping.lock:
            _kept[key] = mesh
            total = sum(kept.nbytes for kept in _kept.values())
            while total > LARGEST:
                total -= _kept.popitem(last=False)[1].nbytes
    return mesh
