"""Triangle meshes as read from the user's files: vertices, faces, normals and texture coordinates (float32)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Floats = np.ndarray  # (n, k) float32
Indices = np.ndarray  # (n, 3) int32

SMALLEST_CLOUD = 4  # smallest number of vertices that can enclose a volume
LARGEST_COUNT = 20_000_000  # largest number of vertices or faces of a mesh, far more than a simulation can use


class MeshDataError(ValueError):
    """Error in the content of a mesh. ``attribute`` is the name of the invalid MJCF attribute, or None."""

    def __init__(self, message: str, attribute: str | None = None) -> None:
        super().__init__(message)
        self.attribute = attribute


@dataclass
class RawMesh:
    """Mesh in the units of its file. Corners of faces refer to vertices, normals and texture coordinates by index."""

    vertex: Floats  # (n, 3)
    face: Indices  # vertices of the triangles, counter-clockwise; no rows for a point cloud
    normal: Floats  # (n, 3); no rows if the file has no normals; likewise `texcoord`
    texcoord: Floats  # (n, 2)
    # for each corner, the index of its normal or texture coordinates, -1 for none; None: those of the vertex
    face_normal: Indices | None = None
    face_texcoord: Indices | None = None
    # tables of corners whose order is reversed if the scale mirrors the mesh; as in MuJoCo, this depends on the file's
    # format
    mirrored: tuple[str, ...] = ("face", "face_normal", "face_texcoord")
    remarks: tuple[str, ...] = ()  # texts of warnings about the file


def checked(raw: RawMesh) -> RawMesh:
    """Return the mesh unchanged.

    Raise MeshDataError if it has too few vertices, positions that are not finite, invalid indices, or a wrong number of
    texture coordinates.
    """
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
    """Raise MeshDataError unless all indices of corners are from `least` to `count` - 1."""
    wrong = (corners < least) | (corners >= count)
    if wrong.any():
        face, corner = np.argwhere(wrong)[0]
        found = corners[face, corner]
        raise MeshDataError(f"face {face} refers to {noun} {found}, but there are {count} (0 to {count - 1})", "face")


def from_lists(values: dict[str, tuple[float, ...] | None]) -> RawMesh:
    """Make a mesh from the values of an MJCF element's attributes vertex, face, normal and texcoord.

    Raise MeshDataError if a list has an invalid length.
    """
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
