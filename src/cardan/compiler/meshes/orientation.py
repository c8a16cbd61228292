"""Check of the orientation of a mesh's faces."""

from __future__ import annotations

import numpy as np


def turned_edge(face: np.ndarray) -> tuple[int, int] | None:
    """Return two vertices that two faces connect in the same direction, so that one face is reversed; else None.

    Faces with a repeated vertex have no direction.
    """
    start = face[(face != np.roll(face, 1, axis=1)).all(axis=1)].astype(np.int64)
    edge = (start << 32 | start[:, [1, 2, 0]]).ravel()
    edge = np.sort(edge)
    twice = np.flatnonzero(edge[1:] == edge[:-1])
    if not len(twice):
        return None
    first = int(edge[twice[0]])
    return first >> 32, first & 0xFFFFFFFF
