"""Stage that adds the rays of rangefinders, and the segments of distance sensors, to the scene."""

from __future__ import annotations

from cardan.enums.codes import (
    CAT_DECOR,
    GEOM_SPHERE,
    OBJ_CAMERA,
    OBJ_UNKNOWN,
    SENS_GEOMFROMTO,
    SENS_RANGEFINDER,
)
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Vec3
from cardan.maths.vector import add_scaled3, dot3
from cardan.model.kernel_views import Data, Model
from cardan.sensor.rangefinder import DIST, NORMAL, POINT, data_of_rays, place_of, ray_of
from cardan.visual.append import EYE, GEOM_ARROW1, GEOM_LINE, decorate, link, rgba_of

LINE_WIDTH = 3.0
POINT_SIZE, POINT_SIZE_OF_CAMERA = 1.5, 1.3
"""Radii of hit points, in widths of frames."""
ARROW_LENGTH = 2.0
"""Length of a normal's arrow, in lengths of frames."""


@kernel
def _point(d: Data, at: int) -> Vec3:
    """Return three values of sensors from index `at` on."""
    return (d.sensordata[at], d.sensordata[at + 1], d.sensordata[at + 2])


@kernel
def _add_ray(m: Model, d: Data, sensor: int, k: int) -> None:
    """Add line, hit point and normal of ray `k` of a rangefinder, as far as they are among its values."""
    bits, count = data_of_rays(m, sensor)
    at, rgba = m.sensor_adr[sensor] + k * count, rgba_of(m.vis.rgba.rangefinder)
    start, direction = ray_of(m, d, sensor, k)
    if bits & DIST:
        distance = d.sensordata[at]
        point = add_scaled3(start, direction, distance)
        if distance < 0.0:
            return
        link(d, CAT_DECOR, OBJ_UNKNOWN, sensor, GEOM_LINE, LINE_WIDTH, start, point, rgba)
    else:
        point = start
    width, length = m.vis.scale.framewidth * m.stat.meansize, m.vis.scale.framelength * m.stat.meansize
    if bits & POINT:
        point = _point(d, at + place_of(bits, POINT))
        if dot3(point, point) == 0.0:  # nothing is hit
            return
        radius = width * (POINT_SIZE_OF_CAMERA if m.sensor_objtype[sensor] == OBJ_CAMERA else POINT_SIZE)
        decorate(d, OBJ_UNKNOWN, sensor, GEOM_SPHERE, (radius, radius, radius), point, EYE, rgba)
    if bits & NORMAL and bits & (DIST | POINT):
        normal = _point(d, at + place_of(bits, NORMAL))
        stop = add_scaled3(point, normal, ARROW_LENGTH * length)
        link(d, CAT_DECOR, OBJ_UNKNOWN, sensor, GEOM_ARROW1, width, point, stop, rgba)


@stage
def add_rangefinders(m: Model, d: Data) -> int:
    """Add the rays of rangefinders that hit a geom: lines, points and normals; and segments of sensors ``fromto``."""
    for sensor in range(m.nsensor):
        if m.sensor_type[sensor] == SENS_RANGEFINDER:
            _, count = data_of_rays(m, sensor)
            for k in range(m.sensor_dim[sensor] // count):
                _add_ray(m, d, sensor, k)
        elif m.sensor_type[sensor] == SENS_GEOMFROMTO:
            at, rgba = m.sensor_adr[sensor], rgba_of(m.vis.rgba.rangefinder)
            start, stop = _point(d, at), _point(d, at + 3)
            if dot3(start, start) + dot3(stop, stop) > 0.0:  # geoms are within the cutoff
                link(d, CAT_DECOR, OBJ_UNKNOWN, sensor, GEOM_LINE, LINE_WIDTH, start, stop, rgba)
    return OK
