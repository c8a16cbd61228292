"""Stages that draw contacts, equality constraints, and the searches for overlaps with signed-distance shapes.

The searches are not stored in the data. Therefore they are repeated, as in `cardan.collision.sdf.descent`, for all
pairs whose bounding boxes overlap.
"""

from __future__ import annotations

from cardan.collision.broadphase import bits_match
from cardan.collision.sdf.descent import common_box, descend, start_of
from cardan.collision.sdf.field import has_distance, load_side
from cardan.dynamics.anchors import anchors_of
from cardan.dynamics.external import contact_force
from cardan.enums.codes import (
    CAT_DECOR,
    EQ_CONNECT,
    EQ_WELD,
    FRAME_CONTACT,
    GEOM_BOX,
    GEOM_CYLINDER,
    GEOM_SDF,
    GEOM_SPHERE,
    OBJ_EQUALITY,
    OBJ_UNKNOWN,
)
from cardan.jit import OK, exact, kernel, stage
from cardan.maths.types import Mat3, Vec3, Vec4
from cardan.maths.vector import MINVAL, add3, add_scaled3, get3, get9, mul_mat_t_vec3, norm3, scale3, sub3
from cardan.model.kernel_views import Data, Model
from cardan.visual.append import (
    EYE,
    GEOM_ARROW,
    GEOM_ARROW2,
    GEOM_LINE,
    decorate,
    frame_axes,
    island_rgba,
    link,
    name_it,
    rgba_of,
    shows,
)
from cardan.visual.memory import FRAME, LABELS, VIS

LABEL_CONSTRAINT, LABEL_CONTACTPOINT, LABEL_CONTACTFORCE = (
    LABELS[k] for k in ("CONSTRAINT", "CONTACTPOINT", "CONTACTFORCE")
)
VIS_POINT, VIS_FORCE, VIS_SPLIT = VIS["CONTACTPOINT"], VIS["CONTACTFORCE"], VIS["CONTACTSPLIT"]
VIS_ISLAND = VIS["ISLAND"]
IN_FORCE = 0
"""Value of `contact.exclude` for contacts that are included in the constraints."""
RADIUS = 0.2
"""Radius of the spheres at both ends of a search, relative to the mean size of bodies."""
LINE_WIDTH = 2.0
SHOWN = 0.95
"""Length of the line for a step of a search, relative to the length of the step."""


@kernel
def _ball(m: Model, d: Data, equality: int, pos: Vec3, mat: Mat3, rgba: Vec4) -> None:
    """Add a sphere at an anchor of a constraint, with the orientation of the anchor's body."""
    radius = m.vis.scale.constraint * m.stat.meansize
    g = decorate(d, OBJ_EQUALITY, equality, GEOM_SPHERE, (radius, radius, radius), pos, mat, rgba)
    name_it(d, g, LABEL_CONSTRAINT, equality)


@stage
def add_constraints(m: Model, d: Data) -> int:
    """Add two spheres for each active connect or weld constraint, at the points that the constraint holds together."""
    for equality in range(m.neq):
        kind = m.eq_type[equality]
        if d.eq_active[equality] == 0 or (kind != EQ_CONNECT and kind != EQ_WELD):
            continue
        body1, body2, point1, point2 = anchors_of(m, d, equality)
        _ball(m, d, equality, point1, get9(d.xmat, body1), rgba_of(m.vis.rgba.connect))
        _ball(m, d, equality, point2, get9(d.xmat, body2), rgba_of(m.vis.rgba.constraint))
    return OK


@kernel
def _frame_of(d: Data, k: int) -> Mat3:
    """Return the orientation of a contact's symbols: z is the normal of the contact, x and y are the tangents."""
    f = get9(d.contact.frame, k)
    return (f[3], f[6], f[0], f[4], f[7], f[1], f[5], f[8], f[2])


@kernel
def _point(m: Model, d: Data, k: int) -> None:
    """Add the point of a contact: a flat cylinder perpendicular to the normal."""
    size = m.stat.meansize
    width, height = m.vis.scale.contactwidth * size, m.vis.scale.contactheight * size
    if d.contact.exclude[k] != IN_FORCE:
        rgba = rgba_of(m.vis.rgba.contactgap)
    else:
        rgba = rgba_of(m.vis.rgba.contactpoint)
        row = d.contact.efc_address[k]
        if shows(d, VIS_ISLAND) and d.nisland > 0 and row >= 0 and d.efc_island[row] >= 0:
            rgba = island_rgba(d, d.efc_island[row])
    g = decorate(
        d, OBJ_UNKNOWN, k, GEOM_CYLINDER, (width, width, height), get3(d.contact.pos, k), _frame_of(d, k), rgba
    )
    name_it(d, g, LABEL_CONTACTPOINT, k)


@kernel
def _arrow(m: Model, d: Data, k: int, kind: int, force: Vec3, rgba: Vec4) -> int:
    """Add an arrow for a force, world frame, at contact `k`; return the geom's number or -1."""
    start, width = get3(d.contact.pos, k), m.vis.scale.forcewidth * m.stat.meansize
    stop = add_scaled3(start, force, m.vis.map.force / m.stat.meanmass)
    return link(d, CAT_DECOR, OBJ_UNKNOWN, k, kind, width, start, stop, rgba)


@kernel
def _forces(m: Model, d: Data, k: int) -> None:
    """Add the force of a contact: one arrow, or two arrows for the normal force and the friction force.

    The arrows show the forces on the body with the larger id. If neither body is the world, the single arrow points in
    both directions. Torques aren't drawn.
    """
    wrench = contact_force(m, d, k)
    if norm3((wrench[0], wrench[1], wrench[2])) < MINVAL:
        return
    frame = get9(d.contact.frame, k)
    # the bodies; for flexes, which have many bodies, a number above all bodies
    geom1, geom2 = d.contact.geom[k, 0], d.contact.geom[k, 1]
    one = m.geom_bodyid[geom1] if geom1 >= 0 else m.nbody
    other = m.geom_bodyid[geom2] if geom2 >= 0 else m.nbody
    sign = -1.0 if one > other else 1.0
    fx, fy, fz = sign * wrench[0], sign * wrench[1], sign * wrench[2]
    if not shows(d, VIS_SPLIT) or d.contact.dim[k] == 1:
        kind = GEOM_ARROW2 if one > 0 and other > 0 else GEOM_ARROW
        g = _arrow(m, d, k, kind, mul_mat_t_vec3(frame, (fx, fy, fz)), rgba_of(m.vis.rgba.contactforce))
        name_it(d, g, LABEL_CONTACTFORCE, k)
        return
    g = _arrow(m, d, k, GEOM_ARROW, mul_mat_t_vec3(frame, (fx, 0.0, 0.0)), rgba_of(m.vis.rgba.contactforce))
    name_it(d, g, LABEL_CONTACTFORCE, k)
    _arrow(m, d, k, GEOM_ARROW, mul_mat_t_vec3(frame, (0.0, fy, fz)), rgba_of(m.vis.rgba.contactfriction))


@kernel
def _surface_velocity(m: Model, d: Data, k: int) -> None:
    """Add an arrow along the surface velocity of a contact with forces; it is half a metre long for 1 m/s.

    As in 4.0.0, the arrow shows the surface of side 1 minus that of side 2.
    """
    if m.flg_surfacevel == 0 or d.contact.exclude[k] != IN_FORCE:
        return
    x, y = d.contact.surfacevel[k, 0], d.contact.surfacevel[k, 1]
    if x == 0.0 and y == 0.0:
        return
    frame, pos = get9(d.contact.frame, k), get3(d.contact.pos, k)
    arrow = add3(scale3((frame[3], frame[4], frame[5]), -0.5 * x), scale3((frame[6], frame[7], frame[8]), -0.5 * y))
    rgba = rgba_of(m.vis.rgba.contactpoint)
    width = m.vis.scale.forcewidth * m.stat.meansize
    link(d, CAT_DECOR, OBJ_UNKNOWN, 0, GEOM_ARROW, width, pos, add3(pos, arrow), rgba)


@stage
def add_contacts(m: Model, d: Data) -> int:
    """Add the point, the frame and the force of each contact, as requested."""
    for k in range(d.ncon):
        if shows(d, VIS_POINT):
            _point(m, d, k)
            _surface_velocity(m, d, k)
        if d.work.scn_state[FRAME] == FRAME_CONTACT:
            frame_axes(m, d, k, get3(d.contact.pos, k), _frame_of(d, k), 0.5)
        if shows(d, VIS_FORCE) and d.contact.exclude[k] == IN_FORCE and d.contact.efc_address[k] >= 0:
            _forces(m, d, k)
    return OK


@kernel
def _searched(m: Model, geom1: int, geom2: int) -> bool:
    """Return whether collision detection searches for overlaps of `geom1` with the signed-distance shape `geom2`."""
    kind = m.geom_type[geom1]
    if kind == GEOM_SDF and geom1 > geom2:
        return False
    if (
        not (kind == GEOM_SDF or GEOM_SPHERE <= kind <= GEOM_BOX)
        or not has_distance(m, geom1)
        or not has_distance(m, geom2)
    ):
        return False
    if m.body_weldid[m.geom_bodyid[geom1]] == m.body_weldid[m.geom_bodyid[geom2]]:
        return False
    contype, conaffinity = m.geom_contype, m.geom_conaffinity
    return bits_match(contype[geom1], conaffinity[geom1], contype[geom2], conaffinity[geom2])


@kernel
def _draw(m: Model, d: Data, start: Vec3) -> None:
    """Add one search: spheres at its start and end, and for each step a line that is slightly shorter than the step."""
    radius = RADIUS * m.stat.meansize
    size = (radius, radius, radius)
    # the end, and the number of steps; a step that increases the value ends the search
    point, count = start, 0
    while count < m.opt.sdf_iterations:
        trial, before, after = descend(m, d, point, 0)
        if after > before:
            break
        point = trial
        count += 1
    # colours from blue, at the start, to red
    decorate(d, OBJ_UNKNOWN, -1, GEOM_SPHERE, size, start, EYE, (0.0, 0.0, 1.0, 1.0))
    decorate(d, OBJ_UNKNOWN, -1, GEOM_SPHERE, size, point, EYE, (1.0, 0.0, 0.0, 1.0))
    point = start
    for line in range(1, count + 1):
        here = point
        point, _, _ = descend(m, d, here, 0)
        stop, rgba = add_scaled3(here, sub3(point, here), SHOWN), (line / count, 0.0, 1.0 - line / count, 1.0)
        link(d, CAT_DECOR, OBJ_UNKNOWN, -1, GEOM_LINE, LINE_WIDTH, here, stop, rgba)


@stage
@exact
def add_searches(m: Model, d: Data) -> int:
    """Add the searches for overlaps of all pairs that contain a signed-distance shape."""
    d.work.sdf_rough = 1
    for geom2 in range(m.ngeom):
        if m.geom_type[geom2] != GEOM_SDF:
            continue
        for geom1 in range(m.ngeom):
            if geom1 == geom2 or not _searched(m, geom1, geom2):
                continue
            low, high = common_box(m, d, geom1, geom2)
            if not (low[0] >= high[0] or low[1] >= high[1] or low[2] >= high[2]):
                load_side(m, d, 0, geom1)
                load_side(m, d, 1, geom2)
                for k in range(m.opt.sdf_initpoints):
                    _draw(m, d, start_of(d, geom1, low, high, k))
    d.work.sdf_rough = 0
    return OK
