"""Models with elasticity plugins, written by hand: chains of bodies, and particles with elements between them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import Delaunay

Shape = tuple[np.ndarray, np.ndarray]
"""Vertices and elements."""

SEGMENTS = (
    'type="capsule" size=".01" fromto="0 0 0 .1 0 0"',
    'type="box" size=".05 .01 .004" pos=".05 0 0"',
    'type="box" size=".05 .003 .008" pos=".05 0 0"',
    'type="cylinder" size=".008" fromto="0 0 0 .1 0 0"',
)


def settings(config: dict[str, Any]) -> str:
    """The settings of an instance."""
    return "".join(f'<config key="{key}" value="{value}"/>' for key, value in config.items())


def document(plugin: str, config: dict[str, Any], bodies: str, option: str) -> str:
    """A model whose bodies name the instance ``i``."""
    instance = f'<plugin plugin="{plugin}"><instance name="i">{settings(config)}</instance></plugin>'
    return f"<mujoco><option {option}/><extension>{instance}</extension><worldbody>{bodies}</worldbody></mujoco>"


def quaternion(vector: np.ndarray) -> str:
    """A rotation vector as the text of a quaternion."""
    angle = np.linalg.norm(vector)
    return " ".join(map(repr, [float(np.cos(angle / 2)), *(np.sin(angle / 2) / angle * vector).tolist()]))


def cable(seed: int, count: int, flat: bool, option: str = "") -> str:
    """A free chain of segments with random cross sections and a random curve."""
    rng = np.random.default_rng(seed)
    bodies = ""
    for i in range(count):
        joint = '<joint type="ball" damping="0.01"/>' if i else "<freejoint/>"
        place = f'pos="{".1 0 0" if i else "0 0 1"}" quat="{quaternion(0.2 * rng.normal(size=3))}"'
        geom = f'<geom {SEGMENTS[rng.integers(len(SEGMENTS))]} contype="0" conaffinity="0"/>'
        bodies += f'<body {place}>{joint}{geom}<plugin instance="i"/>'
    config = {"twist": "1e6", "bend": "3e6", "vmax": "0.1"} | ({"flat": "true"} if flat else {})
    return document("mujoco.elasticity.cable", config, bodies + "</body>" * count, option)


def particles(plugin: str, shape: Shape, config: dict[str, Any], option: str = "") -> str:
    """Particles on three sliders each, with elements between them."""
    points, elements = shape
    sliders = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    inner = f'{sliders}<geom size=".01" mass="1" contype="0" conaffinity="0"/><plugin instance="i"/>'
    bodies = "".join(f'<body pos="{x!r} {y!r} {z!r}">{inner}</body>' for x, y, z in points.tolist())
    face = " ".join(map(str, elements.ravel()))
    return document(f"mujoco.elasticity.{plugin}", {**config, "face": face}, bodies, option)


def sheet(seed: int, side: int = 4) -> Shape:
    """Vertices and triangles of a crumpled square."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side), [0.0], indexing="ij"), axis=-1).reshape(-1, 3)
    first = np.array([i * side + j for i in range(side - 1) for j in range(side - 1)])
    both = [np.stack([first, first + side, first + side + 1], 1), np.stack([first, first + side + 1, first + 1], 1)]
    return 0.1 * grid + 0.01 * rng.normal(size=grid.shape), np.concatenate(both)


def block(seed: int, side: int = 3) -> Shape:
    """Vertices and tetrahedra of an uneven cube."""
    rng = np.random.default_rng(seed)
    axis = np.arange(side)
    points = 0.1 * np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    points = points + 0.01 * rng.normal(size=points.shape)
    simplices = Delaunay(points).simplices
    volume = np.linalg.det(points[simplices[:, 1:]] - points[simplices[:, :1]])
    simplices[volume > 0.0] = simplices[volume > 0.0][:, [1, 0, 2, 3]]
    return points, simplices[abs(volume) > 2e-4]
