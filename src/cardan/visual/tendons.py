"""Stages that add tendons and slider-cranks to the scene.

A slack tendon is drawn as a cord of length L that hangs between ends that are h apart horizontally and v vertically.
In the vertical plane of its ends its curve is y = a cosh((x - x0) / a) + y0. With b = h / (2 a),
sinh(b) / b = sqrt(L^2 - v^2) / h, which has one positive root (I. Bronshtein et al., Handbook of Mathematics,
"Catenary").
"""

from __future__ import annotations

from math import cosh, log, sinh, sqrt

from cardan.enums.codes import (
    CAT_DECOR,
    CAT_DYNAMIC,
    DSBL_GRAVITY,
    GEOM_CAPSULE,
    GEOM_CYLINDER,
    TRN_SLIDERCRANK,
)
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Vec3, Vec4
from cardan.maths.vector import MINVAL, add_scaled3, column3, dot3, get3, get4, get9, norm3, scale3, sub3
from cardan.model.kernel_views import Data, Model
from cardan.visual.append import (
    OBJ_ACTUATOR,
    OBJ_TENDON,
    colour,
    connect,
    island_rgba,
    link,
    name_it,
    new_geom,
    rgba_of,
    shown_group,
    shows,
)
from cardan.visual.memory import LABELS, TENDONGROUP, VIS

POINTS = 31
"""Number of points on the curve of a cord."""
STEEP = 0.01
"""Ratio of the ends' horizontal distance to the cord's length below which the cord hangs straight down and up again."""
_ITERATIONS = 50
Cord = tuple[int, Vec3, Vec3, float, float, float]
"""A hanging cord: the result of `hang`."""
LABEL_TENDON, LABEL_ACTUATOR = LABELS["TENDON"], LABELS["ACTUATOR"]
VIS_ISLAND = VIS["ISLAND"]
PULLEY = -2


@kernel
def _half_angle(ratio: float) -> float:
    """Solve sinh(b) / b = ratio > 1 for b > 0, by Newton steps on the convex log(sinh(b) / b)."""
    # for small b, sinh(b) / b = 1 + b^2 / 6 + ...; for large b, b = log(2 b ratio)
    b = sqrt(6.0 * (ratio - 1.0)) if ratio < 3.0 else log(2.0 * ratio) + log(log(2.0 * ratio))
    for _ in range(_ITERATIONS):
        s, c = sinh(b), cosh(b)
        step = log(s / (b * ratio)) / (c / s - 1.0 / b)
        b = max(0.1 * b, b - step)
        if abs(step) < 1e-12 * b:
            break
    return b


@kernel
def hang(start: Vec3, stop: Vec3, gravity: Vec3, length: float) -> Cord:
    """Return a hanging cord: number of points, horizontal vector between the ends, unit vector up, curve parameters.

    The cord connects `start` and `stop`. Its `length`, m, must exceed their distance, and gravity must not be zero.
    """
    up = scale3(gravity, -1.0 / norm3(gravity))
    line = sub3(stop, start)
    v = dot3(line, up)
    level = add_scaled3(line, up, -v)
    h = norm3(level)
    if h < STEEP * length:
        down = 0.5 * (length - v)
        return 3, level, up, down / length, -down, 0.0
    b = _half_angle(sqrt(length * length - v * v) / h)
    a = 0.5 * h / b
    # half the sum of the hyperbolic angles of both ends: their hyperbolic tangent is v / L
    middle = 0.5 * log((length + v) / (length - v))
    x0 = 0.5 * h - a * middle
    return POINTS, level, up, a, x0, h


@kernel
def point_of(start: Vec3, stop: Vec3, cord: Cord, k: int) -> Vec3:
    """Return point `k` of a cord made by `hang`; the first and the last point are the ends."""
    count, level, up, a, x0, h = cord
    if k == 0:
        return start
    if k == count - 1:
        return stop
    if count == 3:
        return add_scaled3(add_scaled3(start, level, a), up, x0)
    share = k / POINTS
    x = share * h
    y = a * (cosh((x - x0) / a) - cosh(x0 / a))
    return add_scaled3(add_scaled3(start, level, share), up, y)


@kernel
def cord_length(m: Model, d: Data, tendon: int) -> float:
    """Return the length of the hanging cord that shows a tendon, or 0 if the tendon is drawn straight.

    A tendon is drawn as a cord if it connects two sites, only pulls, and is slack: its limit or spring starts to act at
    a length greater than the distance of the ends. The tendon must have no damping and no friction, and there must be
    gravity.
    """
    if m.tendon_num[tendon] != 2 or d.ten_wrapnum[tendon] != 2:
        return 0.0
    if m.opt.disableflags & DSBL_GRAVITY or norm3((m.opt.gravity[0], m.opt.gravity[1], m.opt.gravity[2])) < MINVAL:
        return 0.0
    if m.tendon_damping[tendon] != 0.0 or m.tendon_frictionloss[tendon] != 0.0:
        return 0.0
    length = 0.0
    if m.tendon_stiffness[tendon] == 0.0:
        if m.tendon_limited[tendon] != 0 and m.tendon_range[tendon, 0] == 0.0:
            length = m.tendon_range[tendon, 1]
    elif m.tendon_lengthspring[tendon, 0] == 0.0:
        length = m.tendon_lengthspring[tendon, 1]
    return length if length > max(d.ten_length[tendon], MINVAL) else 0.0


@kernel
def _segment(
    m: Model, d: Data, tendon: int, objtype: int, objid: int, width: float, a: Vec3, b: Vec3, rgba: Vec4
) -> int:
    """Add a segment of a tendon, or of an actuator on a tendon; return the geom's number or -1."""
    own = objtype == OBJ_TENDON
    g = new_geom(d, CAT_DYNAMIC if own else CAT_DECOR, objtype, objid)
    if g >= 0:
        connect(d, g, GEOM_CAPSULE, width, a, b)
        material = m.tendon_matid[tendon] if own else -1
        if own and shows(d, VIS_ISLAND) and d.nisland > 0 and d.tendon_efcadr[tendon] >= 0:
            island = d.efc_island[d.tendon_efcadr[tendon]]
            if island >= 0:
                material = -1
                rgba = island_rgba(d, island)
        colour(m, d, g, material, rgba)
    return g


@kernel
def _path_point(d: Data, k: int) -> Vec3:
    """Return point `k` of the tendon paths; each row of `wrap_xpos` contains two points."""
    row, column = k // 2, 3 * (k % 2)
    return (d.wrap_xpos[row, column], d.wrap_xpos[row, column + 1], d.wrap_xpos[row, column + 2])


@kernel
def tendon_path(m: Model, d: Data, tendon: int, objtype: int, objid: int, label: int, width: float, rgba: Vec4) -> None:
    """Add the path of a spatial tendon as capsules: a hanging cord, or straight segments, which are thinner on geoms.

    `objtype` and `objid` identify the shown object: the tendon, or an actuator on it. `label` is the kind of label,
    `width` the radius of the capsules in m.
    """
    length = cord_length(m, d, tendon)
    first = d.ten_wrapadr[tendon]
    if length > 0.0:
        start, stop = _path_point(d, first), _path_point(d, first + 1)
        cord = hang(start, stop, (m.opt.gravity[0], m.opt.gravity[1], m.opt.gravity[2]), length)
        here = start
        for k in range(1, cord[0]):
            there = point_of(start, stop, cord, k)
            name_it(d, _segment(m, d, tendon, objtype, objid, width, here, there, rgba), label, objid)
            here = there
        return
    for k in range(first, first + d.ten_wrapnum[tendon] - 1):
        # the geom on which each end lies, or a negative number
        here_on, there_on = d.wrap_obj[k // 2, k % 2], d.wrap_obj[(k + 1) // 2, (k + 1) % 2]
        if PULLEY in (here_on, there_on):
            continue
        wrapped = here_on >= 0 and here_on == there_on
        radius = 0.5 * width if wrapped else width
        g = _segment(m, d, tendon, objtype, objid, radius, _path_point(d, k), _path_point(d, k + 1), rgba)
        if k == first:
            name_it(d, g, label, objid)


@stage
def add_tendons(m: Model, d: Data) -> int:
    """Add the tendons whose groups are shown."""
    for tendon in range(m.ntendon):
        if shown_group(d, TENDONGROUP, m.tendon_group[tendon]):
            width, rgba = m.tendon_width[tendon], get4(m.tendon_rgba, tendon)
            tendon_path(m, d, tendon, OBJ_TENDON, tendon, LABEL_TENDON, width, rgba)
    return OK


@stage
def add_slider_cranks(m: Model, d: Data) -> int:
    """Add sliders as cylinders, and cranks as capsules, in another colour if a crank can't reach its slider.

    As in MuJoCo, the slider-cranks of all groups are shown.
    """
    width = m.vis.scale.slidercrank * m.stat.meansize
    for actuator in range(m.nactuator):
        if m.actuator_trntype[actuator] != TRN_SLIDERCRANK:
            continue
        crank, slider = m.actuator_trnid[actuator, 0], m.actuator_trnid[actuator, 1]
        axis = column3(get9(d.site_xmat, slider), 2)
        base, pin = get3(d.site_xpos, slider), get3(d.site_xpos, crank)
        line = sub3(pin, base)
        rod = m.actuator_cranklength[actuator]
        along = dot3(line, axis)
        square = along * along + rod * rod - dot3(line, line)
        whole = rgba_of(m.vis.rgba.slidercrank)
        rgba = whole if square >= 0.0 else rgba_of(m.vis.rgba.crankbroken)
        end = add_scaled3(base, axis, along - sqrt(max(0.0, square)))
        g = link(d, CAT_DYNAMIC, OBJ_ACTUATOR, actuator, GEOM_CYLINDER, width, base, end, whole)
        name_it(d, g, LABEL_ACTUATOR, actuator)
        link(d, CAT_DYNAMIC, OBJ_ACTUATOR, actuator, GEOM_CAPSULE, 0.5 * width, end, pin, rgba)
    return OK
