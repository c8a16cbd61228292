"""Distance functions of a model's signed-distance shapes, and the arrays that these functions read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.collision.sdf.mesh_distance import mesh_faces
from cardan.collision.sdf.sampling import mesh_grid
from cardan.collision.sdf.shape import Shape
from cardan.collision.sdf.shapes import MAX_ATTRIBUTES
from cardan.enums import mjtGeom
from cardan.plugins.registry import config_of, plugin_of

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel


def shape_of(m: MjModel, instance: int) -> Shape:
    """Return the registered shape of a plugin instance.

    Raises:
        ValueError: the plugin is not registered here, or is not a shape.
    """
    plugin = plugin_of(m, instance)
    if plugin.shape is None:
        raise ValueError(f"plugin instance {instance} is one of {plugin.name!r}, which is not a signed-distance shape")
    return plugin.shape


def _meshes(m: MjModel) -> dict[int, int]:
    """Return the mesh of each plugin instance that is a shape: that of the first geom with the instance."""
    geoms = np.flatnonzero((m.geom_type == mjtGeom.mjGEOM_SDF) & (m.geom_plugin >= 0))
    instances, first = np.unique(m.geom_plugin[geoms], return_index=True)
    return dict(zip(instances.tolist(), m.geom_dataid[geoms[first]].tolist(), strict=True))


def shape_functions(m: MjModel) -> dict[int, Callable[..., Any]]:
    """Return the distance functions of a model's shapes, by their index in the table ``aux.sdf_shape``.

    Raises:
        ValueError: a geom of type sdf has a plugin without a registered shape.
    """
    return {instance: shape_of(m, instance).entry for instance in _meshes(m)} if m.nplugin else {}


def attach_shape_data(m: MjModel) -> None:
    """Attach the arrays that the distance functions of a model read: attributes, triangles and grids of meshes.

    Raises:
        ValueError: a geom of type sdf has a plugin without a registered shape.
    """
    meshes = _meshes(m) if m.nplugin else {}
    shapes = {instance: shape_of(m, instance) for instance in meshes}
    for instance, shape in shapes.items():
        adr = MAX_ATTRIBUTES * instance
        if not shape.of_mesh:
            m._memory.arrays["aux.sdf_attr"][adr : adr + MAX_ATTRIBUTES] = shape.values(config_of(m, instance))
    of_mesh = {instance: meshes[instance] for instance, shape in shapes.items() if shape.of_mesh}
    if of_mesh and not m._memory.arrays["aux.sdf_face"].size:
        _attach_faces(m, of_mesh)


def _attach_faces(m: MjModel, meshes: Mapping[int, int]) -> None:
    """Attach the triangles and the grids of meshes, by plugin instance; they belong to the model."""
    faces = [mesh_faces(m, mesh) for mesh in meshes.values()]
    _attach(m, "aux.sdf_face", faces)
    of_mesh = list(zip(meshes.values(), _starts(faces), faces, strict=True))
    grids = [mesh_grid(m, mesh, start, table) for mesh, start, table in of_mesh]
    _attach(m, "aux.sdf_grid", grids)
    for instance, (mesh, start, _), grid in zip(meshes, of_mesh, _starts(grids), strict=True):
        at = MAX_ATTRIBUTES * instance
        m._memory.arrays["aux.sdf_attr"][at : at + 3] = mesh, start, grid


def _attach(m: MjModel, name: str, parts: list[np.ndarray]) -> None:
    m._memory.attach(name, np.concatenate(parts))
    m.__dict__.pop("_view", None)


def _starts(parts: list[np.ndarray]) -> list[int]:
    """Return the start of each part if the parts are concatenated."""
    return np.cumsum([0, *map(len, parts)])[:-1].tolist()
