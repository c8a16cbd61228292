"""Contacts that a collision function finds for one pair of geoms, and the parameters of contacts.

A collision function writes its contacts to the rows of ``d.work.near_*`` and returns their number, at most
`MAXCONPAIR`. The stage turns these rows into contacts (`cardan.collision.detection`). Their parameters come from an
explicit pair, or from the properties of the two sides. A *side* is the id of a geom, or the value of `flex_side` for a
flex.

Spec: modelling, contact parameters and contact override.
"""

from __future__ import annotations

from cardan.constants import mjMAXCONPAIR, mjMINMU, mjMINVAL
from cardan.enums.codes import ENBL_OVERRIDE
from cardan.jit import kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import add_scaled3, cross, dot3, normalize3, set3
from cardan.model.kernel_views import Data, Model

MINMU = mjMINMU
MINVAL = mjMINVAL


@kernel
def overridden(m: Model) -> bool:
    """Whether contact parameters are taken from ``opt.o_*``."""
    return (m.opt.enableflags & ENBL_OVERRIDE) != 0


@kernel
def geom_pair_margin(m: Model, geom1: int, geom2: int) -> float:
    """Distance below which two geoms have a contact: the larger margin, or ``opt.o_margin``."""
    if overridden(m):
        return m.opt.o_margin
    return max(m.geom_margin[geom1], m.geom_margin[geom2])


@kernel
def explicit_pair_margin(m: Model, pair: int) -> float:
    """Distance below which an explicit pair has a contact: its own margin, or ``opt.o_margin``."""
    if overridden(m):
        return m.opt.o_margin
    return m.pair_margin[pair]


@kernel
def flex_side(flex: int) -> int:
    """Convert the id of a flex to the number of a side of a contact, and vice versa."""
    return -1 - flex


@kernel
def pair_margin(m: Model, side1: int, side2: int) -> float:
    """Distance below which two sides have a contact: the larger margin, or ``opt.o_margin``."""
    if overridden(m):
        return m.opt.o_margin
    margin1 = m.geom_margin[side1] if side1 >= 0 else m.flex_margin[flex_side(side1)]
    margin2 = m.geom_margin[side2] if side2 >= 0 else m.flex_margin[flex_side(side2)]
    return max(margin1, margin2)


@kernel
def pair_gap(m: Model, side1: int, side2: int) -> float:
    """Part of the margin of two sides in which contacts have no force: the larger gap."""
    gap1 = m.geom_gap[side1] if side1 >= 0 else m.flex_gap[flex_side(side1)]
    gap2 = m.geom_gap[side2] if side2 >= 0 else m.flex_gap[flex_side(side2)]
    return max(gap1, gap2)


@kernel
def priority_of(m: Model, side: int) -> int:
    """Priority of a side's parameters."""
    return m.geom_priority[side] if side >= 0 else m.flex_priority[flex_side(side)]


@kernel
def solmix_of(m: Model, side: int) -> float:
    """Weight of a side's solver parameters."""
    return m.geom_solmix[side] if side >= 0 else m.flex_solmix[flex_side(side)]


@kernel
def solref_of(m: Model, side: int, i: int) -> float:
    """Element `i` of a side's solref."""
    return m.geom_solref[side, i] if side >= 0 else m.flex_solref[flex_side(side), i]


@kernel
def solimp_of(m: Model, side: int, i: int) -> float:
    """Element `i` of a side's solimp."""
    return m.geom_solimp[side, i] if side >= 0 else m.flex_solimp[flex_side(side), i]


@kernel
def friction_of(m: Model, side: int, i: int) -> float:
    """Element `i` of a side's friction."""
    return m.geom_friction[side, i] if side >= 0 else m.flex_friction[flex_side(side), i]


@kernel
def condim_of(m: Model, side: int) -> int:
    """Dimension of a side's contacts."""
    return m.geom_condim[side] if side >= 0 else m.flex_condim[flex_side(side)]


@kernel
def mix_weight(m: Model, side1: int, side2: int) -> float:
    """Weight of the first side's solver parameters: 1 or 0 by priority, else its share of solmix."""
    priority1 = priority_of(m, side1)
    priority2 = priority_of(m, side2)
    if priority1 != priority2:
        return 1.0 if priority1 > priority2 else 0.0
    mix1 = solmix_of(m, side1)
    mix2 = solmix_of(m, side2)
    if mix1 >= MINVAL and mix2 >= MINVAL:
        return mix1 / (mix1 + mix2)
    if mix1 < MINVAL and mix2 < MINVAL:
        return 0.5
    return 0.0 if mix1 < MINVAL else 1.0


@kernel
def mix_solver(m: Model, d: Data, con: int, side1: int, side2: int) -> None:
    """Set solref and solimp of contact `con` to the weighted mean of those of its sides.

    If the sides have the same priority, and one has a solref in direct format (first number not positive), the smaller
    numbers of both are used instead of the mean.
    """
    weight = mix_weight(m, side1, side2)
    standard = solref_of(m, side1, 0) > 0.0 and solref_of(m, side2, 0) > 0.0
    average = standard or priority_of(m, side1) != priority_of(m, side2)
    for i in range(2):
        value1 = solref_of(m, side1, i)
        value2 = solref_of(m, side2, i)
        d.contact.solref[con, i] = weight * value1 + (1.0 - weight) * value2 if average else min(value1, value2)
    for i in range(5):
        d.contact.solimp[con, i] = weight * solimp_of(m, side1, i) + (1.0 - weight) * solimp_of(m, side2, i)


@kernel
def mix_friction(m: Model, d: Data, con: int, side1: int, side2: int) -> None:
    """Set condim and friction of contact `con` to those of the side of higher priority, else to the larger ones.

    Sliding and rolling friction of a side apply to two directions each.
    """
    priority1 = priority_of(m, side1)
    priority2 = priority_of(m, side2)
    for i in range(5):
        kind = (i + (i > 1)) // 2
        friction1 = friction_of(m, side1, kind)
        friction2 = friction_of(m, side2, kind)
        if priority1 > priority2:
            friction2 = friction1
        elif priority1 < priority2:
            friction1 = friction2
        d.contact.friction[con, i] = max(friction1, friction2)
    dim1 = condim_of(m, side1)
    dim2 = condim_of(m, side2)
    if priority1 > priority2:
        dim2 = dim1
    elif priority1 < priority2:
        dim1 = dim2
    d.contact.dim[con] = max(dim1, dim2)


@kernel
def set_side_parameters(m: Model, d: Data, con: int, side1: int, side2: int) -> None:
    """Set all parameters of contact `con` from its two sides."""
    d.contact.includemargin[con] = pair_margin(m, side1, side2) - pair_gap(m, side1, side2)
    mix_friction(m, d, con, side1, side2)
    mix_solver(m, d, con, side1, side2)
    d.contact.solreffriction[con, 0] = 0.0
    d.contact.solreffriction[con, 1] = 0.0


@kernel
def set_pair_parameters(m: Model, d: Data, con: int, pair: int) -> None:
    """Set all parameters of contact `con` from an explicit pair."""
    d.contact.includemargin[con] = explicit_pair_margin(m, pair) - m.pair_gap[pair]
    d.contact.dim[con] = m.pair_dim[pair]
    for i in range(2):
        d.contact.solref[con, i] = m.pair_solref[pair, i]
        d.contact.solreffriction[con, i] = m.pair_solreffriction[pair, i]
    for i in range(5):
        d.contact.friction[con, i] = m.pair_friction[pair, i]
        d.contact.solimp[con, i] = m.pair_solimp[pair, i]


@kernel
def override_parameters(m: Model, d: Data, con: int) -> None:
    """Replace the solver parameters and the friction of contact `con` by ``opt.o_*``."""
    for i in range(2):
        d.contact.solref[con, i] = m.opt.o_solref[i]
        d.contact.solreffriction[con, i] = m.opt.o_solref[i]
    for i in range(5):
        d.contact.friction[con, i] = m.opt.o_friction[i]
        d.contact.solimp[con, i] = m.opt.o_solimp[i]


@kernel
def set_parameters(m: Model, d: Data, con: int, side1: int, side2: int, pair: int) -> None:
    """Set all parameters of contact `con` from the explicit pair `pair`, or from its sides if `pair` is negative."""
    if pair >= 0:
        set_pair_parameters(m, d, con, pair)
    else:
        set_side_parameters(m, d, con, side1, side2)
    if overridden(m):
        override_parameters(m, d, con)
    for i in range(5):
        d.contact.friction[con, i] = max(d.contact.friction[con, i], MINMU)


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
