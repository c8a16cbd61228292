"""Process that decomposes one mesh with the library CoACD; started by `cardan.compiler.meshes.decompose`.

Standard input is a NumPy archive (npz) with ``vertex`` (n, 3), ``face`` (m, 3), ``threshold`` and ``maxpieces``.
Standard output is an archive with ``points`` (k, 3), the vertices of all pieces, and ``count``, the number of vertices
of each piece. The library runs in a separate process, because its native code cannot be interrupted.

Source: X. Wei, M. Liu, Z. Ling, H. Su, Approximate convex decomposition for 3D meshes with collision-aware concavity
and tree search (2022).
"""

from __future__ import annotations

import io
import os
import sys

import numpy as np


def main() -> None:
    """Read a mesh from standard input, and write its pieces to standard output."""
    output = os.dup(1)
    os.dup2(2, 1)  # the library prints to standard output
    import coacd

    coacd.set_log_level("error")
    given = np.load(io.BytesIO(sys.stdin.buffer.read()))
    pieces = coacd.run_coacd(
        coacd.Mesh(given["vertex"], given["face"]),
        threshold=float(given["threshold"]),
        max_convex_hull=int(given["maxpieces"]),
    )
    points = [np.asarray(vertex, float).reshape(-1, 3) for vertex, _ in pieces]
    made = io.BytesIO()
    np.savez(made, points=np.concatenate([np.empty((0, 3)), *points]), count=np.array([len(part) for part in points]))
    os.dup2(output, 1)
    sys.stdout.buffer.write(made.getvalue())


if __name__ == "__main__":
    main()
