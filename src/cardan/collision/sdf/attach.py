"""Native distance functions and attributes of a model's plugin instances, made ready for the colliders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from cardan.collision.sdf.grid import mesh_grid
from cardan.collision.sdf.registry import SHAPES, Shape
from cardan.collision.sdf.shapes import MAX_ATTRIBUTES
from cardan.enums import mjtGeom
from cardan.jit import addresses

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel


def shape_of(m: MjModel, instance: int) -> Shape:
    """The registered shape of a plugin instance.

    Raises:
        ValueError: the model was compiled with shapes that are not registered here.
    """
    number = int(m.plugin[instance])
    if not 0 <= number < len(SHAPES):
        raise ValueError(f"plugin instance {instance} has a shape that is not registered (see register_sdf)")
    return list(SHAPES.values())[number]


def attach_shapes(m: MjModel) -> None:
    """Load or compile the distance functions of all geoms of type sdf, and fill ``aux.sdf_*``.

    Raises:
        ValueError: a geom of type sdf has no registered shape.
    """
    geoms = np.flatnonzero(m.geom_type == mjtGeom.mjGEOM_SDF)
    instances, first = np.unique(m.geom_plugin[geoms], return_index=True)
    meshes = dict(zip(instances.tolist(), m.geom_dataid[geoms[first]].tolist(), strict=True))
    if min(meshes) < 0:
        raise ValueError("a geom of type sdf has no plugin instance")
    shapes = {instance: shape_of(m, instance) for instance in meshes}
    for instance, shape in shapes.items():
        adr = MAX_ATTRIBUTES * instance
        if not shape.of_mesh:
            m._memory.arrays["aux.sdf_attr"][adr : adr + MAX_ATTRIBUTES] = shape.values(_config(m, instance, shape))
        (address,) = addresses([shape.entry])
        m._memory.arrays["aux.sdf_shape"][instance] = address
        m._native_code["sdf", instance] = address
    of_mesh = {instance: meshes[instance] for instance, shape in shapes.items() if shape.of_mesh}
    if of_mesh and not m._memory.arrays["aux.sdf_grid"].size:
        _attach_grids(m, of_mesh)


def _config(m: MjModel, instance: int, shape: Shape) -> dict[str, str]:
    """The configuration of an instance, as text."""
    start = int(m.plugin_attradr[instance])
    texts = m.plugin_attr.tobytes()[start:].split(b"\0")[: len(shape.attributes)]
    return {key: text.decode() for key, text in zip(shape.attributes, texts, strict=True)}


def _attach_grids(m: MjModel, meshes: Mapping[int, int]) -> None:
    """Make the distance grids of meshes, by plugin instance: they stay with the model."""
    grids: list[np.ndarray] = []
    for instance, mesh in meshes.items():
        m._memory.arrays["aux.sdf_attr"][MAX_ATTRIBUTES * instance] = sum(len(grid) for grid in grids)
        grids.append(mesh_grid(m, mesh))
    m._memory.attach("aux.sdf_grid", np.concatenate(grids))
    m.__dict__.pop("_view", None)
