"""Axes of a coordinate frame (kernel)."""

from __future__ import annotations

from typing import Any

from cardan.jit import kernel
from cardan.maths.vector import add_scaled3, column3
from cardan.model.kernel_views import Data, Model
from cardan.visual.append import DECOR, GEOM_CYLINDER, UNKNOWN, connect, new_geom, put_rgba

AXIS_COLOUR = 0.9


@kernel
def frame_axes(m: Model, d: Data, objid: int, pos: Any, mat: Any, scale: float) -> None:
    """Add three cylinders along the axes of a frame: red x, green y, blue z. Scale 1 is the size of a body's frame."""
    length = scale * m.vis.scale.framelength * m.stat.meansize
    width = scale * m.vis.scale.framewidth * m.stat.meansize
    for axis in range(3):
        g = new_geom(d, DECOR, UNKNOWN, objid)
        if g < 0:
            return
        connect(d, g, GEOM_CYLINDER, width, pos, add_scaled3(pos, column3(mat, axis), length))
        put_rgba(d, g, (AXIS_COLOUR * (axis == 0), AXIS_COLOUR * (axis == 1), AXIS_COLOUR * (axis == 2), 1.0))
