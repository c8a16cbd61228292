"""Native distance functions and attributes of a model's shapes, made ready for the colliders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from cardan.collision.sdf.mesh_distance import mesh_faces, mesh_grid
from cardan.collision.sdf.shape import Shape
from cardan.collision.sdf.shapes import MAX_ATTRIBUTES
from cardan.enums import mjtGeom
from cardan.jit import addresses
from cardan.plugins.registry import config_of, plugin_of

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel


def shape_of(m: MjModel, instance: int) -> Shape:
    """The registered shape of a plugin instance.

    Raises:
        ValueError: its plugin is not registered here, or is no shape.
    """
    plugin = plugin_of(m, instance)
    if plugin.shape is None:
        raise ValueError(f"plugin instance {instance} is one of {plugin.name!r}, which is no signed-distance shape")
    return plugin.shape


def attach_shapes(m: MjModel) -> None:
    """Load or compile the distance functions of all geoms of type sdf, and fill ``aux.sdf_*``.

    Raises:
        ValueError: a geom of type sdf has a plugin without a registered shape.
    """
    geoms = np.flatnonzero((m.geom_type == mjtGeom.mjGEOM_SDF) & (m.geom_plugin >= 0))
    if not geoms.size:
        return
    instances, first = np.unique(m.geom_plugin[geoms], return_index=True)
    meshes = dict(zip(instances.tolist(), m.geom_dataid[geoms[first]].tolist(), strict=True))
    shapes = {instance: shape_of(m, instance) for instance in meshes}
    for instance, shape in shapes.items():
        adr = MAX_ATTRIBUTES * instance
        if not shape.of_mesh:
            m._memory.arrays["aux.sdf_attr"][adr : adr + MAX_ATTRIBUTES] = shape.values(config_of(m, instance))
        (address,) = addresses([shape.entry])
        m._memory.arrays["aux.sdf_shape"][instance] = address
        m._native_code["sdf", instance] = address
    of_mesh = {instance: meshes[instance] for instance, shape in shapes.items() if shape.of_mesh}
    if of_mesh and not m._memory.arrays["aux.sdf_face"].size:
        _attach_faces(m, of_mesh)


def _attach_faces(m: MjModel, meshes: Mapping[int, int]) -> None:
    """Attach the triangles and the grids of meshes, by plugin instance: they stay with the model."""
    faces: list[np.ndarray] = []
    grids: list[np.ndarray] = []
    for instance, mesh in meshes.items():
        at = MAX_ATTRIBUTES * instance
        places = sum(map(len, faces)), sum(map(len, grids))
        m._memory.arrays["aux.sdf_attr"][at : at + 3] = mesh, *places
        faces.append(mesh_faces(m, mesh))
        grids.append(mesh_grid(m, mesh, faces[-1]))
    m._memory.attach("aux.sdf_face", np.concatenate(faces))
    m._memory.attach("aux.sdf_grid", np.concatenate(grids))
    m.__dict__.pop("_view", None)
