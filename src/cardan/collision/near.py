"""Near-phase results: the contacts that a collision function finds for one pair of geoms.

A collision function writes its contacts to the rows of ``d.work.near_*`` and returns their number, at most
`MAXCONPAIR`. The stage turns these rows into contacts (`cardan.collision.detection`).
"""

from __future__ import annotations

from cardan.constants import mjMAXCONPAIR
from cardan.jit import kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import add_scaled3, cross, dot3, normalize3, set3
from cardan.model.kernel_views import Data

MAXCONPAIR = mjMAXCONPAIR


@kernel
def default_tangent(normal: Vec3) -> Vec3:
    """Unit vector perpendicular to the unit vector `normal`, from the y axis, or from z if the normal is close to y."""
    if -0.5 < normal[1] < 0.5:
        axis = (0.0, 1.0, 0.0)
    else:
        axis = (0.0, 0.0, 1.0)
    return normalize3(add_scaled3(axis, normal, -dot3(normal, axis)))


@kernel
def put_contact_along(d: Data, k: int, dist: float, pos: Vec3, normal: Vec3, tangent: Vec3) -> None:
    """Write contact `k` of the pair, with a given first tangent.

    Args:
        d: data.
        k: row, from 0.
        dist: distance between the surfaces, negative if they penetrate, m.
        pos: point midway between the surfaces, world frame, m.
        normal: unit vector from the first to the second geom, world frame.
        tangent: second axis of the contact frame.
    """
    d.work.near_dist[k] = dist
    set3(d.work.near_pos, k, pos)
    third = cross(normal, tangent)
    for i in range(3):
        d.work.near_frame[k, i] = normal[i]
        d.work.near_frame[k, 3 + i] = tangent[i]
        d.work.near_frame[k, 6 + i] = third[i]


@kernel
def put_contact(d: Data, k: int, dist: float, pos: Vec3, normal: Vec3) -> None:
    """Write contact `k` of the pair, with default tangents; arguments as for `put_contact_along`."""
    put_contact_along(d, k, dist, pos, normal, default_tangent(normal))
