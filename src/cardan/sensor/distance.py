"""Sensors of distances between geoms, or between all geoms of two bodies (spec: modeling, sensor).

If the geoms are farther apart than the cutoff, the distance is the cutoff, and direction and end points are zero.
"""

from __future__ import annotations

from cardan.collision.geom_distance import geom_distance
from cardan.enums.codes import OBJ_GEOM
from cardan.jit import kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import get3, norm3, scale3, sub3
from cardan.model.kernel_views import Data, Model
from cardan.sensor.output import put1, put3


@kernel
def _first_geom(m: Model, kind: int, id: int) -> int:
    """Id of the geom, or of the body's first geom."""
    return id if kind == OBJ_GEOM else m.body_geomadr[id]


@kernel
def _geom_count(m: Model, kind: int, id: int) -> int:
    """Number of geoms of the object: 1 for a geom."""
    return 1 if kind == OBJ_GEOM else m.body_geomnum[id]


@kernel
def closest_geoms(m: Model, d: Data, i: int) -> tuple[float, Vec3, Vec3]:
    """Find the smallest distance between the geoms of sensor `i`; return it and the two end points."""
    best = m.sensor_cutoff[i]
    start = (0.0, 0.0, 0.0)
    end = (0.0, 0.0, 0.0)
    first1 = _first_geom(m, m.sensor_objtype[i], m.sensor_objid[i])
    first2 = _first_geom(m, m.sensor_reftype[i], m.sensor_refid[i])
    for geom1 in range(first1, first1 + _geom_count(m, m.sensor_objtype[i], m.sensor_objid[i])):
        for geom2 in range(first2, first2 + _geom_count(m, m.sensor_reftype[i], m.sensor_refid[i])):
            dist = geom_distance(m, d, geom1, geom2, best)
            if dist < best:
                best = dist
                start = get3(d.work.witness, 0)
                end = get3(d.work.witness, 1)
    return best, start, end


@kernel
def distance(m: Model, d: Data, i: int) -> None:
    """Signed distance between the closest geoms, at most the cutoff."""
    best, _, _ = closest_geoms(m, d, i)
    put1(m, d, i, best)


@kernel
def normal(m: Model, d: Data, i: int) -> None:
    """Unit vector from the first to the second geom along the shortest segment; 0 beyond the cutoff."""
    _, start, end = closest_geoms(m, d, i)
    between = sub3(end, start)
    length = norm3(between)
    put3(m, d, i, scale3(between, 1.0 / length if length > 0.0 else 0.0))


@kernel
def fromto(m: Model, d: Data, i: int) -> None:
    """Two end points of the shortest segment, world frame; 0 beyond the cutoff."""
    _, start, end = closest_geoms(m, d, i)
    put3(m, d, i, start)
    adr = m.sensor_adr[i] + 3
    for k in range(3):
        d.sensordata[adr + k] = end[k]
