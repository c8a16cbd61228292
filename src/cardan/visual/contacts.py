"""Contacts and equality constraints in the scene (stages)."""

from __future__ import annotations

from typing import Any

from cardan.constants import mjMINVAL
from cardan.dynamics.external import contact_force
from cardan.enums import mjtEq, mjtLabel, mjtVisFlag
from cardan.enums.codes import FRAME_CONTACT, OBJ_EQUALITY
from cardan.jit import OK, kernel, stage
from cardan.maths.vector import add3, add_scaled3, get3, get9, mul_mat_t_vec3, mul_mat_vec3, norm3
from cardan.model.kernel_views import Data, Model
from cardan.visual.append import (
    DECOR,
    GEOM_ARROW,
    GEOM_ARROW2,
    GEOM_CYLINDER,
    GEOM_SPHERE,
    UNKNOWN,
    connect,
    decorate,
    name_it,
    new_geom,
    put_rgba,
    rgba_of,
    shows,
)
from cardan.visual.axes import frame_axes
from cardan.visual.islands import island_rgba
from cardan.visual.memory import FLAGS, FRAME

EQ_CONNECT, EQ_WELD = int(mjtEq.mjEQ_CONNECT), int(mjtEq.mjEQ_WELD)
LABEL_CONSTRAINT, LABEL_CONTACTPOINT, LABEL_CONTACTFORCE = (
    int(getattr(mjtLabel, f"mjLABEL_{k}")) for k in ("CONSTRAINT", "CONTACTPOINT", "CONTACTFORCE")
)
SHOW_POINT, SHOW_FORCE, SPLIT, BY_ISLAND = (
    FLAGS + int(getattr(mjtVisFlag, f"mjVIS_{k}")) for k in ("CONTACTPOINT", "CONTACTFORCE", "CONTACTSPLIT", "ISLAND")
)
IN_FORCE = 0
"""Value of `contact.exclude` for contacts that have constraint rows."""


@kernel
def _ball(m: Model, d: Data, equality: int, body: int, column: int, rgba: Any) -> None:
    radius = m.vis.scale.constraint * m.stat.meansize
    pos, mat = _anchor(m, d, equality, body, column), get9(d.xmat, body)
    g = decorate(d, OBJ_EQUALITY, equality, GEOM_SPHERE, (radius, radius, radius), pos, mat, rgba)
    name_it(d, g, LABEL_CONSTRAINT, equality)


@kernel
def _anchor(m: Model, d: Data, equality: int, body: int, column: int) -> Any:
    """Convert a point in `eq_data`, given in the frame of a body, to the world frame."""
    data = m.eq_data
    local = (data[equality, column], data[equality, column + 1], data[equality, column + 2])
    return add3(get3(d.xpos, body), mul_mat_vec3(get9(d.xmat, body), local))


@stage
def add_constraints(m: Model, d: Data) -> int:
    """Add the two points that each active connect or weld constraint holds together."""
    for equality in range(m.neq):
        kind = m.eq_type[equality]
        if d.eq_active[equality] == 0 or (kind != EQ_CONNECT and kind != EQ_WELD):
            continue
        first = 0 if kind == EQ_CONNECT else 3
        one, other = m.eq_obj1id[equality], m.eq_obj2id[equality]
        _ball(m, d, equality, one, first, rgba_of(m.vis.rgba.connect))
        _ball(m, d, equality, other, 3 - first, rgba_of(m.vis.rgba.constraint))
    return OK


@kernel
def _frame_of(d: Data, k: int) -> Any:
    """Orientation whose z axis is the normal of a contact; x and y are the tangents."""
    f = get9(d.contact.frame, k)
    return (f[3], f[6], f[0], f[4], f[7], f[1], f[5], f[8], f[2])


@kernel
def _point(m: Model, d: Data, k: int) -> None:
    """Add the point of a contact: a flat cylinder across the normal."""
    size = m.stat.meansize
    width, height = m.vis.scale.contactwidth * size, m.vis.scale.contactheight * size
    if d.contact.exclude[k] != IN_FORCE:
        rgba = rgba_of(m.vis.rgba.contactgap)
    else:
        rgba = rgba_of(m.vis.rgba.contactpoint)
        row = d.contact.efc_address[k]
        if shows(d, BY_ISLAND) and d.nisland > 0 and row >= 0 and d.efc_island[row] >= 0:
            rgba = island_rgba(d, d.efc_island[row])
    g = decorate(d, UNKNOWN, k, GEOM_CYLINDER, (width, width, height), get3(d.contact.pos, k), _frame_of(d, k), rgba)
    name_it(d, g, LABEL_CONTACTPOINT, k)


@kernel
def _body(m: Model, geom: int) -> int:
    """Body on one side of a contact. For flexes, which have many bodies, return a number above all bodies."""
    return m.geom_bodyid[geom] if geom >= 0 else m.nbody


@kernel
def _arrow(m: Model, d: Data, k: int, kind: int, force: Any, rgba: Any) -> int:
    """Add an arrow for a force in the world frame; return its number or -1."""
    g = new_geom(d, DECOR, UNKNOWN, k)
    if g >= 0:
        start = get3(d.contact.pos, k)
        scale = m.vis.map.force / m.stat.meanmass
        width = m.vis.scale.forcewidth * m.stat.meansize
        connect(d, g, kind, width, start, add_scaled3(start, force, scale))
        put_rgba(d, g, rgba)
    return g


@kernel
def _forces(m: Model, d: Data, k: int) -> None:
    """Add the force of a contact: one arrow, or two for the normal force and the friction force.

    The forces act on the body with the larger id. If neither body is the world, the single arrow points in both
    directions. Torques aren't drawn.
    """
    wrench = contact_force(m, d, k)
    if norm3((wrench[0], wrench[1], wrench[2])) < mjMINVAL:
        return
    frame = get9(d.contact.frame, k)
    one, other = _body(m, d.contact.geom[k, 0]), _body(m, d.contact.geom[k, 1])
    sign = -1.0 if one > other else 1.0
    fx, fy, fz = sign * wrench[0], sign * wrench[1], sign * wrench[2]
    if not shows(d, SPLIT) or d.contact.dim[k] == 1:
        kind = GEOM_ARROW2 if one > 0 and other > 0 else GEOM_ARROW
        g = _arrow(m, d, k, kind, mul_mat_t_vec3(frame, (fx, fy, fz)), rgba_of(m.vis.rgba.contactforce))
        name_it(d, g, LABEL_CONTACTFORCE, k)
        return
    g = _arrow(m, d, k, GEOM_ARROW, mul_mat_t_vec3(frame, (fx, 0.0, 0.0)), rgba_of(m.vis.rgba.contactforce))
    name_it(d, g, LABEL_CONTACTFORCE, k)
    _arrow(m, d, k, GEOM_ARROW, mul_mat_t_vec3(frame, (0.0, fy, fz)), rgba_of(m.vis.rgba.contactfriction))


@stage
def add_contacts(m: Model, d: Data) -> int:
    """Add the point, the frame and the force of each contact, as requested."""
    for k in range(d.ncon):
        if shows(d, SHOW_POINT):
            _point(m, d, k)
        if d.work.scn_state[FRAME] == FRAME_CONTACT:
            frame_axes(m, d, k, get3(d.contact.pos, k), _frame_of(d, k), 0.5)
        if shows(d, SHOW_FORCE) and d.contact.exclude[k] == IN_FORCE and d.contact.efc_address[k] >= 0:
            _forces(m, d, k)
    return OK
