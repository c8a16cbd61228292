"""Native distance functions and attributes of a model's plugin instances, made ready for the colliders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cardan.collision.sdf.registry import MAX_ATTRIBUTES, SHAPES, Shape
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
    for instance in np.unique(m.geom_plugin[m.geom_type == mjtGeom.mjGEOM_SDF]).tolist():
        if instance < 0:
            raise ValueError("a geom of type sdf has no plugin instance")
        shape = shape_of(m, instance)
        start = int(m.plugin_attradr[instance])
        texts = m.plugin_attr.tobytes()[start:].split(b"\0")[: len(shape.attributes)]
        config = {key: text.decode() for key, text in zip(shape.attributes, texts, strict=True)}
        adr = MAX_ATTRIBUTES * instance
        m._memory.arrays["aux.sdf_attr"][adr : adr + MAX_ATTRIBUTES] = shape.values(config)
        (m._memory.arrays["aux.sdf_shape"][instance],) = addresses([shape.entry])
