"""Signed-distance shapes as plugins, of the package and of users (spec: programming, engine plugins, sdf).

Attributes are lengths in m and angles in rad; the distance functions are in `cardan.collision.sdf.shapes`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cardan.collision.sdf.shape import Box, Shape
from cardan.collision.sdf.shapes import MAX_ATTRIBUTES, bolt, bowl, gear, nut, torus, torus_gradient
from cardan.plugins.registry import register_shape, shape_plugin

GEAR = {"alpha": 0.0, "diameter": 2.8, "teeth": 25.0, "thickness": 0.2, "innerdiameter": -1.0}


def _no_box(a: tuple[float, ...]) -> Box:
    return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def _screw_box(a: tuple[float, ...]) -> Box:
    return (0.0, 0.0, 0.0, 0.6, 0.6, 1.0)


def _gear_box(a: tuple[float, ...]) -> Box:
    return (0.0, 0.0, 0.0, 0.625 * a[1], 0.625 * a[1], 0.55 * a[3])


def _torus_box(a: tuple[float, ...]) -> Box:
    return (0.0, 0.0, 0.0, a[0] + a[1], a[0] + a[1], a[1])


def _bowl_box(a: tuple[float, ...]) -> Box:
    half = a[1] + a[2]
    return (0.0, 0.0, 0.0, half, half, half)


SHAPE_PLUGINS = tuple(
    shape_plugin(shape)
    for shape in (
        Shape("mujoco.sdf.bolt", bolt, {"radius": 0.26}, _screw_box),
        Shape("mujoco.sdf.bowl", bowl, {"height": 0.4, "radius": 1.0, "thickness": 0.02}, _bowl_box),
        Shape("mujoco.sdf.gear", gear, GEAR, _gear_box),
        Shape("mujoco.sdf.nut", nut, {"radius": 0.26}, _screw_box),
        Shape("mujoco.sdf.torus", torus, {"radius1": 0.35, "radius2": 0.15}, _torus_box, torus_gradient),
        Shape("mujoco.sdf.sdflib", torus, {"aabb": 0.0}, _no_box, of_mesh=True),
    )
)


def register_sdf(
    name: str,
    distance: Callable[[Any, Any], float],
    attributes: Mapping[str, float] | None = None,
    aabb: Box | Callable[[tuple[float, ...]], Box] = (0.0, 0.0, 0.0, 1.0, 1.0, 1.0),
    gradient: Callable[[Any, Any], Any] | None = None,
) -> None:
    """Register a signed-distance shape, which models then use as a plugin of this name.

    Args:
        name: plugin name, such as ``"my.sdf.star"``. It replaces a user shape of this name, for new models.
        distance: function (point, attributes) -> signed distance in m, negative inside; point is a tuple of three
            coordinates in the frame of the shape, attributes a tuple of 8 numbers, those of the shape first. It is
            compiled and so may use numbers, tuples, loops and `math` (a plain or a Numba function).
        attributes: names of the attributes and their defaults, at most 8.
        aabb: centre and half sides (6 numbers, m) of a box around the shape, or a function of the attributes that
            returns it.
        gradient: function of the same arguments that returns the gradient, a tuple of three numbers; without it,
            forward differences are taken.

    Raises:
        TypeError: `distance` is not callable.
        ValueError: too many attributes, the name of a plugin of the package, or a box without volume.
    """
    if not callable(distance):
        raise TypeError("register_sdf: distance must be a function of a point and the attributes")
    own = dict(attributes or {})
    if len(own) > MAX_ATTRIBUTES:
        raise ValueError(f"register_sdf: a shape has at most {MAX_ATTRIBUTES} attributes, found {len(own)}")
    box = aabb if callable(aabb) else _fixed_box(aabb)
    plain = getattr(distance, "py_func", distance)
    slope = getattr(gradient, "py_func", gradient)
    register_shape("register_sdf", Shape(name, plain, own, box, slope))


def _fixed_box(aabb: Box) -> Callable[[tuple[float, ...]], Box]:
    x, y, z, *half = (float(number) for number in aabb)
    if len(half) != 3 or not min(half) > 0.0:
        raise ValueError("register_sdf: aabb must be a centre and three positive half sides")
    return lambda a: (x, y, z, half[0], half[1], half[2])
