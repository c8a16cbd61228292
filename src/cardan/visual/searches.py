"""Searches of signed-distance shapes for overlaps (stage): the start, the end and the steps of each search.

The data do not store the searches. They are repeated, as in `cardan.collision.sdf.descent`, for the pairs whose boxes
overlap.
"""

from __future__ import annotations

from typing import Any

from cardan.collision.sdf.descent import common_box, descend, halton
from cardan.collision.sdf.field import has_distance, load_side
from cardan.enums import mjtGeom
from cardan.jit import OK, exact, kernel, stage
from cardan.maths.vector import add3, add_scaled3, get3, get9, mul_mat_vec3, sub3
from cardan.model.kernel_views import Data, Model
from cardan.visual.append import (
    DECOR,
    EYE,
    GEOM_LINE,
    GEOM_SPHERE,
    UNKNOWN,
    connect,
    decorate,
    new_geom,
    put_rgba,
)

SPHERE, BOX, SDF = (int(k) for k in (mjtGeom.mjGEOM_SPHERE, mjtGeom.mjGEOM_BOX, mjtGeom.mjGEOM_SDF))
RADIUS = 0.2
"""Radius of the spheres at both ends of a search, relative to the mean size of bodies."""
LINE_WIDTH = 2.0
SHOWN = 0.95
"""Fraction of a step that its line covers."""


@kernel
def _mixed(share: float) -> Any:
    """Colour from blue, at the start of a search, to red, at its end."""
    return (share, 0.0, 1.0 - share, 1.0)


@kernel
def _searched(m: Model, geom1: int, geom2: int) -> bool:
    """Whether there are searches for a pair, whose second geom is a signed-distance shape."""
    kind = m.geom_type[geom1]
    if kind == SDF and geom1 > geom2:
        return False
    if not (kind == SDF or SPHERE <= kind <= BOX) or not has_distance(m, geom1) or not has_distance(m, geom2):
        return False
    if m.body_weldid[m.geom_bodyid[geom1]] == m.body_weldid[m.geom_bodyid[geom2]]:
        return False
    one, other = m.geom_contype[geom1] & m.geom_conaffinity[geom2], m.geom_contype[geom2] & m.geom_conaffinity[geom1]
    return (one | other) != 0


@kernel
def _end(m: Model, d: Data, start: Any) -> Any:
    """Return the end of a search and the number of its steps; a step that increases the value ends the search."""
    point, count = start, 0
    while count < m.opt.sdf_iterations:
        trial, before, after = descend(m, d, point, 0)
        if after > before:
            break
        point = trial
        count += 1
    return point, count


@kernel
def _draw(m: Model, d: Data, start: Any) -> None:
    """Add one search: spheres at its ends, and a line for each step, slightly shorter than the step."""
    radius = RADIUS * m.stat.meansize
    size = (radius, radius, radius)
    stop, count = _end(m, d, start)
    decorate(d, UNKNOWN, -1, GEOM_SPHERE, size, start, EYE, _mixed(0.0))
    decorate(d, UNKNOWN, -1, GEOM_SPHERE, size, stop, EYE, _mixed(1.0))
    point = start
    for line in range(1, count + 1):
        here = point
        point, _, _ = descend(m, d, here, 0)
        g = new_geom(d, DECOR, UNKNOWN, -1)
        if g >= 0:
            connect(d, g, GEOM_LINE, LINE_WIDTH, here, add_scaled3(here, sub3(point, here), SHOWN))
            put_rgba(d, g, _mixed(line / count))


@kernel
def _draw_pair(m: Model, d: Data, geom1: int, geom2: int) -> None:
    """Add all searches of a pair, if the boxes of the pair overlap."""
    low, high = common_box(m, d, geom1, geom2)
    if low[0] >= high[0] or low[1] >= high[1] or low[2] >= high[2]:
        return
    load_side(m, d, 0, geom1)
    load_side(m, d, 1, geom2)
    side = sub3(high, low)
    for k in range(m.opt.sdf_initpoints):
        local = (
            low[0] + halton(k, 2) * side[0],
            low[1] + halton(k, 3) * side[1],
            low[2] + halton(k, 5) * side[2],
        )
        _draw(m, d, add3(get3(d.geom_xpos, geom1), mul_mat_vec3(get9(d.geom_xmat, geom1), local)))


@stage
@exact
def add_searches(m: Model, d: Data) -> int:
    """Add the searches of all pairs that contain a signed-distance shape."""
    d.work.sdf_rough = 1
    for geom2 in range(m.ngeom):
        if m.geom_type[geom2] != SDF:
            continue
        for geom1 in range(m.ngeom):
            if geom1 != geom2 and _searched(m, geom1, geom2):
                _draw_pair(m, d, geom1, geom2)
    d.work.sdf_rough = 0
    return OK
