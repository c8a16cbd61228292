"""Signed-distance shapes as plugins, both built-in and user-defined (spec: programming, engine plugins, sdf).

Attributes are lengths in m and angles in rad; the distance functions are in `cardan.collision.sdf.shape`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.collision.sdf.field import MAX_ATTRIBUTES
from cardan.collision.sdf.mesh_distance import mesh_faces
from cardan.collision.sdf.sampling import mesh_grid
from cardan.collision.sdf.shape import Box, Shape, bolt, bowl, gear, nut, torus, torus_gradient
from cardan.enums import mjtGeom
from cardan.model import internals
from cardan.plugins.registry import config_of, plugin_of, register_shape, shape_plugin

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

BOWL = {"height": 0.4, "radius": 1.0, "thickness": 0.02}
GEAR = {"alpha": 0.0, "diameter": 2.8, "teeth": 25.0, "thickness": 0.2, "innerdiameter": -1.0}
TORUS = {"radius1": 0.35, "radius2": 0.15}


def _centred(x: float, y: float, z: float) -> Box:
    return (0.0, 0.0, 0.0, x, y, z)


SHAPE_PLUGINS = tuple(
    shape_plugin(shape)
    for shape in (
        Shape("mujoco.sdf.bolt", bolt, {"radius": 0.26}, lambda a: _centred(0.6, 0.6, 1.0)),
        Shape("mujoco.sdf.bowl", bowl, BOWL, lambda a: _centred(a[1] + a[2], a[1] + a[2], a[1] + a[2])),
        Shape("mujoco.sdf.gear", gear, GEAR, lambda a: _centred(0.625 * a[1], 0.625 * a[1], 0.55 * a[3])),
        Shape("mujoco.sdf.nut", nut, {"radius": 0.26}, lambda a: _centred(0.6, 0.6, 1.0)),
        Shape("mujoco.sdf.torus", torus, TORUS, lambda a: _centred(a[0] + a[1], a[0] + a[1], a[1]), torus_gradient),
        Shape("mujoco.sdf.sdflib", torus, {"aabb": 0.0}, lambda a: _centred(0.0, 0.0, 0.0), of_mesh=True),
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
        name: plugin name, such as ``"my.sdf.star"``. In models made later, it replaces a user shape of this name.
        distance: function (point, attributes) -> signed distance in m, negative inside. `point` is a tuple of three
            coordinates in the frame of the shape, `attributes` a tuple of 8 numbers, the shape's attributes first. The
            function is compiled (a plain or a Numba function): it may use numbers, tuples, loops and `math`.
        attributes: names of the attributes and their defaults, at most 8.
        aabb: centre and half sides (6 numbers, m) of a box around the shape, or a function of the attributes that
            returns these numbers.
        gradient: function (point, attributes) -> gradient of the distance, a tuple of three numbers. Without it, the
            gradient is computed by forward differences.

    Raises:
        TypeError: `distance` is not callable.
        ValueError: too many attributes, the name of a built-in plugin, or a box without volume.
    """
    if not callable(distance):
        raise TypeError("register_sdf: distance must be a function of a point and the attributes")
    own = dict(attributes or {})
    if len(own) > MAX_ATTRIBUTES:
        raise ValueError(f"register_sdf: a shape has at most {MAX_ATTRIBUTES} attributes, found {len(own)}")
    box = aabb
    if not callable(box):
        x, y, z, *half = (float(number) for number in box)
        if len(half) != 3 or not min(half) > 0.0:
            raise ValueError("register_sdf: aabb must be a centre and three positive half sides")
        fixed = (x, y, z, half[0], half[1], half[2])
        box = lambda a: fixed  # noqa: E731
    plain, slope = getattr(distance, "py_func", distance), getattr(gradient, "py_func", gradient)
    register_shape("register_sdf", Shape(name, plain, own, box, slope))


def shape_of(m: MjModel, instance: int) -> Shape:
    """Return the registered shape of a plugin instance. Raises ValueError if its plugin is not a shape."""
    plugin = plugin_of(m, instance)
    if plugin.shape is None:
        raise ValueError(f"plugin instance {instance} is one of {plugin.name!r}, which is not a signed-distance shape")
    return plugin.shape


def _meshes(m: MjModel) -> dict[int, int]:
    """Return, for each plugin instance that is the shape of a geom, the mesh id of the first such geom."""
    geoms = np.flatnonzero((m.geom_type == mjtGeom.mjGEOM_SDF) & (m.geom_plugin >= 0))
    instances, first = np.unique(m.geom_plugin[geoms], return_index=True)
    return dict(zip(instances.tolist(), m.geom_dataid[geoms[first]].tolist(), strict=True))


def shape_functions(m: MjModel) -> dict[int, Callable[..., Any]]:
    """Return the distance functions of a model's shapes by plugin instance. Errors are as in `shape_of`."""
    return {instance: shape_of(m, instance).entry for instance in _meshes(m)} if m.nplugin else {}


def attach_shape_data(m: MjModel) -> None:
    """Attach the arrays that distance functions read: attributes, triangles, grids. Errors are as in `shape_of`."""
    meshes = _meshes(m) if m.nplugin else {}
    shapes = {instance: shape_of(m, instance) for instance in meshes}
    for instance, shape in shapes.items():
        adr = MAX_ATTRIBUTES * instance
        if not shape.of_mesh:
            internals.array(m, "aux.sdf_attr")[adr : adr + MAX_ATTRIBUTES] = shape.values(config_of(m, instance))
    meshes = {instance: meshes[instance] for instance, shape in shapes.items() if shape.of_mesh}
    if not meshes or internals.array(m, "aux.sdf_face").size:
        return
    # triangles and grids of meshes belong to the model
    faces = [mesh_faces(m, mesh) for mesh in meshes.values()]
    internals.attach(m, "aux.sdf_face", np.concatenate(faces))
    of_mesh = list(zip(meshes.values(), _starts(faces), faces, strict=True))
    grids = [mesh_grid(m, mesh, start, table) for mesh, start, table in of_mesh]
    internals.attach(m, "aux.sdf_grid", np.concatenate(grids))
    for instance, (mesh, start, _), grid in zip(meshes, of_mesh, _starts(grids), strict=True):
        at = MAX_ATTRIBUTES * instance
        internals.array(m, "aux.sdf_attr")[at : at + 3] = mesh, start, grid


def _starts(parts: list[np.ndarray]) -> list[int]:
    return np.cumsum([0, *map(len, parts)])[:-1].tolist()
