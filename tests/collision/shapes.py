"""Pairs of convex geoms for tests: models, poses, and an independent support function in NumPy."""

from __future__ import annotations

import numpy as np
from collision.harness import Pair, random_quat

_rng = np.random.default_rng(5)
_directions = _rng.normal(size=(40, 3))
VERTICES = (_directions / np.linalg.norm(_directions, axis=1)[:, None] * [0.3, 0.25, 0.2]).round(6)
SIZES = {
    "sphere": ".3",
    "capsule": ".2 .3",
    "ellipsoid": ".3 .2 .4",
    "cylinder": ".25 .3",
    "box": ".3 .2 .25",
    "mesh": "",
}
KINDS = tuple(SIZES)
ASSET = f'<asset><mesh name="m" vertex="{" ".join(map(str, VERTICES.ravel()))}"/></asset>'


def geom(kind: str, attributes: str = "") -> str:
    """XML of a geom of a kind."""
    shape = 'mesh="m"' if kind == "mesh" else f'size="{SIZES[kind]}"'
    if "size=" in attributes:
        shape = ""
    return f'<geom type="{kind}" {shape} {attributes}/>'


def two_geoms(kind1: str, kind2: str, attributes: str = "", option: str = "", attributes2: str | None = None) -> str:
    """A model of two free bodies with a geom each."""
    second = geom(kind2, attributes if attributes2 is None else attributes2)
    return (
        f"<mujoco>{option}{ASSET}<worldbody><body><freejoint/>{geom(kind1, attributes)}</body>"
        f"<body><freejoint/>{second}</body></worldbody></mujoco>"
    )


def place_randomly(pair: Pair, rng: np.random.Generator, spread: float = 0.22) -> None:
    """Random poses of both bodies."""
    for body in (1, 2):
        pair.set_pose(body, rng.normal(size=3) * spread, random_quat(rng))


def extents(pair: Pair, id: int, kind: str, directions: np.ndarray) -> np.ndarray:
    """How far a geom of the pair reaches in the given directions (n, 3): its support function's value."""
    xmat = pair.data.geom_xmat[id].reshape(3, 3)
    size = pair.model.geom_size[id]
    u = directions @ xmat
    radial = np.hypot(u[:, 0], u[:, 1])
    local = {
        "sphere": lambda: np.full(len(u), size[0]),
        "capsule": lambda: size[0] + size[1] * np.abs(u[:, 2]),
        "ellipsoid": lambda: np.linalg.norm(u * size, axis=1),
        "cylinder": lambda: size[0] * radial + size[1] * np.abs(u[:, 2]),
        "box": lambda: np.abs(u) @ size,
        "mesh": lambda: (u @ np.array(pair.model.mesh_vert).T).max(axis=1),
    }
    return directions @ pair.data.geom_xpos[id] + local[kind]()
