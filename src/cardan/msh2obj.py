"""Conversion of meshes from the binary format MSH to OBJ files, as in ``mujoco.msh2obj``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Self

import numpy as np

from cardan.files import write_file

__all__ = ["Msh", "main", "msh_to_obj"]


@dataclass(frozen=True)
class Msh:
    """Contents of an MSH file (spec: modelling, MSH file format).

    Attributes:
        vertex_positions: (nvert, 3), m.
        vertex_normals: (nnormal, 3).
        vertex_texcoords: (ntexcoord, 2).
        face_vertex_indices: (nface, 3), from 0.
    """

    vertex_positions: np.ndarray
    vertex_normals: np.ndarray
    vertex_texcoords: np.ndarray
    face_vertex_indices: np.ndarray

    @classmethod
    def create(cls, file: Path) -> Self:
        """Read a file.

        Raises:
            ValueError: the size of the file contradicts the counts at its beginning.
        """
        content = Path(file).read_bytes()
        if len(content) < 16:
            raise ValueError(f"{file}: too short for an MSH file")
        nvert, nnormal, ntexcoord, nface = (int(n) for n in np.frombuffer(content, "<i4", 4))
        counts = (3 * nvert, 3 * nnormal, 2 * ntexcoord, 3 * nface)
        if min(counts) < 0 or len(content) != 16 + 4 * sum(counts):
            raise ValueError(f"{file}: the size of the file contradicts its numbers of vertices and faces")
        ends = 16 + 4 * np.cumsum((0, *counts))
        vertex, normal, texcoord, face = (content[start:end] for start, end in pairwise(ends))
        return cls(
            np.frombuffer(vertex, "<f4").reshape(-1, 3),
            np.frombuffer(normal, "<f4").reshape(-1, 3),
            np.frombuffer(texcoord, "<f4").reshape(-1, 2),
            np.frombuffer(face, "<i4").reshape(-1, 3),
        )


def msh_to_obj(msh_file: Path) -> str:
    """Convert the mesh of an MSH file to the text of an OBJ file.

    Texture coordinates are flipped vertically, because OBJ counts them from below.

    Raises:
        ValueError: the file is not an MSH file.
    """
    msh = Msh.create(msh_file)
    lines = [f"v {x:.8g} {y:.8g} {z:.8g}" for x, y, z in msh.vertex_positions]
    lines += [f"vn {x:.8g} {y:.8g} {z:.8g}" for x, y, z in msh.vertex_normals]
    lines += [f"vt {u:.8g} {1 - v:.8g}" for u, v in msh.vertex_texcoords]
    form = _corner(len(msh.vertex_normals) > 0, len(msh.vertex_texcoords) > 0)
    lines += ["f " + " ".join(form.format(corner + 1) for corner in face) for face in msh.face_vertex_indices]
    return "\n".join(lines) + "\n"


def _corner(has_normals: bool, has_texcoords: bool) -> str:
    """Return the format of a face corner, in which position, texture coordinate and normal have the same number."""
    if has_texcoords:
        return "{0}/{0}/{0}" if has_normals else "{0}/{0}"
    return "{0}//{0}" if has_normals else "{0}"


def main(argv: list[str] | None = None) -> None:
    """Run the command ``python -m cardan.msh2obj FILE.msh [FILE.obj]``."""
    arguments = sys.argv[1:] if argv is None else argv
    if len(arguments) not in (1, 2):
        sys.exit("usage: python -m cardan.msh2obj FILE.msh [FILE.obj]")
    source = Path(arguments[0])
    target = Path(arguments[1]) if len(arguments) == 2 else source.with_suffix(".obj")
    write_file(target, msh_to_obj(source))


if __name__ == "__main__":
    main()
