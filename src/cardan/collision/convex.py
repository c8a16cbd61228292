"""Collisions of convex shapes by their support functions.

Spec: computation, collision detection, collision checking.
"""

from __future__ import annotations

from typing import Any

from cardan.collision.mpr import portal_refinement
from cardan.collision.near import put_contact
from cardan.collision.support import load_geom
from cardan.jit import collider
from cardan.maths.vector import get3


@collider
def convex_convex(m: Any, d: Any, geom1: int, geom2: int) -> int:
    """Two convex geoms: one contact if they are closer than the margin.

    Each is enlarged by half of the margin; so the distance is the margin less the depth.
    """
    load_geom(m, d, 0, geom1)
    load_geom(m, d, 1, geom2)
    margin = d.work.near_margin
    d.work.shape_inflate = 0.5 * margin
    if not portal_refinement(m, d):
        return 0
    put_contact(d, 0, margin - d.work.overlap_depth, get3(d.work.overlap_pos, 0), get3(d.work.overlap_normal, 0))
    return 1
