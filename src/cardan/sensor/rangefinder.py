"""Range finders: distance along a ray from a site to the nearest geom (spec: modelling, sensor)."""

from __future__ import annotations

from cardan.collision.ray_scene import ray_scene
from cardan.jit import kernel
from cardan.maths.vector import column3, get3, get9
from cardan.model.kernel_views import Data, Model
from cardan.sensor.output import put1


@kernel
def rangefinder(m: Model, d: Data, i: int) -> None:
    """Distance along the z axis of a site to the nearest visible geom of another body, m; -1 if no geom is hit."""
    site = m.sensor_objid[i]
    direction = column3(get9(d.site_xmat, site), 2)
    dist, _ = ray_scene(m, d, get3(d.site_xpos, site), direction, False, True, m.site_bodyid[site])
    put1(m, d, i, dist)
