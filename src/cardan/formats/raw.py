"""A triangle mesh as the user wrote it: vertices, faces, normals and texture coordinates in single precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Floats = np.ndarray  # (n, k) float32
Indices = np.ndarray  # (n, 3) int32

SMALLEST_CLOUD = 4  # vertices that span a volume
LARGEST_COUNT = 20_000_000  # vertices or faces that a mesh may have, far above what a simulation can use


class MeshDataError(ValueError):
    """The content of a mesh is wrong; the message says how. ``attribute`` names the attribute at fault, if one is."""

    def __init__(self, message: str, attribute: str | None = None) -> None:
        super().__init__(message)
        self.attribute = attribute


def _no_rows(columns: int, kind: type) -> np.ndarray:
    return np.empty((0, columns), kind)


@dataclass
class RawMesh:
    """Vertices in the units of the file; corners of faces refer to vertices, normals and texture coordinates.

    Attributes:
        vertex, normal, texcoord: rows of 3, 3 and 2 float32; no rows where there are none.
        face: vertices of the triangles, counter-clockwise; no rows for a cloud of points.
        face_normal, face_texcoord: normals and texture coordinates of the corners, -1 for none; None when the vertices'
            own are meant.
        mirrored: which of the tables of corners turn round when the scale mirrors the mesh; as in the reference, this
            is a matter of the format.
        remarks: what is dubious in the file, as warnings say it.
    """

    vertex: Floats
    face: Indices
    normal: Floats
    texcoord: Floats
    face_normal: Indices | None = None
    face_texcoord: Indices | None = None
    mirrored: tuple[str, ...] = ("face", "face_normal", "face_texcoord")
    remarks: tuple[str, ...] = ()


def checked(raw: RawMesh) -> RawMesh:
    """The mesh, when its numbers are finite and its indices exist. Raises MeshDataError otherwise."""
    finite = np.isfinite(raw.vertex).all(axis=1)
    if not finite.all():
        raise MeshDataError(f"vertex {int(np.argmin(finite))} is not finite", "vertex")
    if len(raw.vertex) < SMALLEST_CLOUD:
        raise MeshDataError(f"at least {SMALLEST_CLOUD} vertices are needed, found {len(raw.vertex)}", "vertex")
    _check_indices(raw.face, len(raw.vertex), "vertex", 0)
    if raw.face_normal is not None:
        _check_indices(raw.face_normal, len(raw.normal), "normal", -1)
    if raw.face_texcoord is not None:
        _check_indices(raw.face_texcoord, len(raw.texcoord), "texture coordinate", -1)
    elif len(raw.texcoord) not in (0, len(raw.vertex)):
        wanted = f"expected as many pairs as vertices ({len(raw.vertex)}), found {len(raw.texcoord)}"
        raise MeshDataError(wanted, "texcoord")
    return raw


def _check_indices(corners: Indices, count: int, noun: str, least: int) -> None:
    """All corners refer to something that there is."""
    wrong = (corners < least) | (corners >= count)
    if wrong.any():
        face, corner = np.argwhere(wrong)[0]
        found = corners[face, corner]
        raise MeshDataError(f"face {face} refers to {noun} {found}, but there are {count} (0 to {count - 1})", "face")


def from_lists(values: dict[str, tuple[float, ...] | None]) -> RawMesh:
    """The mesh that the attributes vertex, face, normal and texcoord of an element describe."""
    rows = {}
    for name, columns, kind in (("vertex", 3, "f4"), ("face", 3, "i4"), ("normal", 3, "f4"), ("texcoord", 2, "f4")):
        given = values[name] or ()
        if name == "vertex" and len(given) < columns * SMALLEST_CLOUD:
            found = f"found {len(given) // columns}"
            raise MeshDataError(f"at least {SMALLEST_CLOUD} vertices are needed, {found}", name)
        if len(given) % columns:
            raise MeshDataError(f"the number of values must be a multiple of {columns}, found {len(given)}", name)
        with np.errstate(over="ignore"):
            rows[name] = np.array(given, kind).reshape(-1, columns)
    return RawMesh(**rows, mirrored=())


_KEY = (1.0, 1e-2, 1e-4)  # of x, y, z in the number by which corners are looked up


def merge_vertices(corners: Floats) -> tuple[Floats, Indices]:
    """Vertices and faces of separate triangles: equal corners become one vertex, in the order of their appearance.

    As in the reference, a corner is looked up by the single-precision number x + y / 100 + z / 10000, under which only
    the last vertex is remembered: a vertex comes back as a new one when another with the same number stood in between.

    Args:
        corners: (3 nface, 3) float32.
    """
    key = (corners.astype(np.float64) * _KEY).sum(axis=1).astype(np.float32)
    order = np.argsort(key, kind="stable")
    ordered, key = corners[order], key[order]
    starts = np.ones(len(order), bool)
    starts[1:] = (key[1:] != key[:-1]) | (ordered[1:] != ordered[:-1]).any(axis=1)
    # the first corner of each run of equal ones stands for all (the sort is stable)
    first = order[starts]
    rank = np.empty(len(first), np.int32)
    appearance = np.argsort(first)
    rank[appearance] = np.arange(len(first), dtype=np.int32)
    face = np.empty(len(order), np.int32)
    face[order] = rank[np.cumsum(starts) - 1]
    return corners[first[appearance]], face.reshape(-1, 3)


def only_triangles(vertex: Floats, face: Indices) -> RawMesh:
    """A mesh without normals and texture coordinates."""
    return RawMesh(vertex, face, _no_rows(3, np.float32), _no_rows(2, np.float32))
