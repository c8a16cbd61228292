"""A mesh that is not convex: a channel with the section of a U, and convex pieces as the library would make them."""

from __future__ import annotations

import io

import numpy as np

SECTION = ((-0.3, 0.0), (0.3, 0.0), (0.3, 0.4), (0.2, 0.4), (0.2, 0.1), (-0.2, 0.1), (-0.2, 0.4), (-0.3, 0.4))
PARTS = ((0, 1, 4, 5), (1, 2, 3, 4), (0, 5, 6, 7))
"""Corners of convex parts of the section."""
HALF = 0.25
CAPS = ((0, 1, 4), (0, 4, 5), (1, 2, 3), (1, 3, 4), (0, 5, 6), (0, 6, 7))
VOLUME = 2 * HALF * (0.6 * 0.1 + 2 * 0.1 * 0.3)


def channel() -> tuple[np.ndarray, np.ndarray]:
    """Vertices (16, 3) and triangles (28, 3) of the channel, along y; its open side is up (z)."""
    vertex = np.array([(x, y, z) for y in (-HALF, HALF) for x, z in SECTION])
    n = len(SECTION)
    faces = [(a, b, c) for a, b, c in CAPS] + [(n + a, n + c, n + b) for a, b, c in CAPS]
    for k in range(n):
        a, b = k, (k + 1) % n
        faces += [(a, n + a, n + b), (a, n + b, b)]
    return vertex, np.array(faces)


def pieces(vertex: np.ndarray, parts: tuple[tuple[int, ...], ...] = PARTS) -> bytes:
    """Output of the library's process for convex parts of the channel, given their vertices."""
    n = len(SECTION)
    points = [vertex[[*part, *(n + k for k in part)]] for part in parts]
    made = io.BytesIO()
    np.savez(made, points=np.concatenate(points), count=np.full(len(parts), 8))
    return made.getvalue()


def mesh(attributes: str = "", name: str = "u") -> str:
    """MJCF of the channel as a mesh in the text."""
    vertex, face = channel()
    numbers = " ".join(f"{x:g}" for x in vertex.ravel()), " ".join(map(str, face.ravel().tolist()))
    return f'<mesh name="{name}" vertex="{numbers[0]}" face="{numbers[1]}" {attributes}/>'


def model(attributes: str = 'convex="decompose"', geom: str = "", more: str = "", inside: str = "") -> str:
    """MJCF of a free channel over the ground."""
    return f"""
<mujoco>
  {more}
  <asset>{mesh(attributes)}</asset>
  <worldbody>
    <geom name="ground" type="plane" size="2 2 .1"/>
    <body name="tub" pos="0 0 .01"><freejoint/><geom name="u" type="mesh" mesh="u" {geom}/></body>
    {inside}
  </worldbody>
</mujoco>
"""
