"""Contacts that a collision function finds for one pair of geoms, and the parameters of contacts.

A collision function writes its contacts to the rows of ``d.work.near_*`` and returns their number, at most
`MAXCONPAIR`. The stage turns these rows into contacts (`cardan.collision.detection`). A contact's parameters come from
an explicit pair, or from the properties of the two sides. A *side* is the id of a geom, or `flex_side` of a flex.

*Margin and gap.* In MuJoCo 3.1, a pair has the larger margin and the larger gap of its sides. The pair has a contact if
the distance is below the margin, and a force if the distance is below margin - gap. In MuJoCo 4.0, a pair has the sums
of margins and gaps, a contact below margin + gap, and a force below the margin. ``m.is_4_0``, 0 or 1, is a factor in
three functions (`joined`, `contact_range`, `force_range`), so that no branch is needed.

Spec: modelling, contact parameters and contact override.
"""

from __future__ import annotations

from typing import Any

from cardan.constants import mjMAXCONPAIR, mjMINMU
from cardan.enums.codes import ENBL_OVERRIDE
from cardan.jit import kernel
from cardan.maths.types import ConstArray1, ConstArray2, Vec3
from cardan.maths.vector import MINVAL, add_scaled3, cross, dot3, normalize3, set3
from cardan.model.kernel_views import Data, Model

MAXCONPAIR = mjMAXCONPAIR
STICKS, LAGGED = 1, 2
"""Bits of ``contact.law``: the contact sticks, and its friction is limited by the normal force of the last step."""


@kernel
def overridden(m: Model) -> bool:
    """Return whether contact parameters are taken from ``opt.o_*``."""
    return (m.opt.enableflags & ENBL_OVERRIDE) != 0


@kernel
def joined(m: Model, value1: float, value2: float) -> float:
    """Combine the margins or the gaps of two sides: the larger value, or in MuJoCo 4.0 their sum."""
    return max(value1, value2) + m.is_4_0 * min(value1, value2)


@kernel
def contact_range(m: Model, margin: float, gap: float) -> float:
    """Distance below which a pair has a contact, from its margin and gap."""
    return margin + m.is_4_0 * gap


@kernel
def force_range(m: Model, margin: float, gap: float) -> float:
    """Distance below which a contact has a force, from the margin and the gap of the pair."""
    return margin - (1 - m.is_4_0) * gap


@kernel
def geom_pair_margin(m: Model, geom1: int, geom2: int) -> float:
    """Distance below which two geoms have a contact."""
    margin = m.opt.o_margin if overridden(m) else joined(m, m.geom_margin[geom1], m.geom_margin[geom2])
    return contact_range(m, margin, joined(m, m.geom_gap[geom1], m.geom_gap[geom2]))


@kernel
def explicit_margin(m: Model, pair: int) -> float:
    """Margin of an explicit pair, or ``opt.o_margin`` if contacts are overridden."""
    return m.opt.o_margin if overridden(m) else m.pair_margin[pair]


@kernel
def explicit_pair_margin(m: Model, pair: int) -> float:
    """Distance below which an explicit pair has a contact."""
    return contact_range(m, explicit_margin(m, pair), m.pair_gap[pair])


@kernel
def geom_reach(m: Model, geom: int) -> float:
    """Upper bound on one geom's contribution to `geom_pair_margin`, which is at most the sum of both geoms' bounds."""
    return contact_range(m, m.opt.o_margin if overridden(m) else m.geom_margin[geom], m.geom_gap[geom])


@kernel
def flex_side(flex: int) -> int:
    """Convert the id of a flex to the number of a side of a contact, and vice versa."""
    return -1 - flex


@kernel
def of_side(of_geom: ConstArray1, of_flex: ConstArray1, side: int) -> Any:
    """Property of a side; `of_geom` and `of_flex` hold this property for all geoms and for all flexes."""
    return of_geom[side] if side >= 0 else of_flex[flex_side(side)]


@kernel
def row_of_side(of_geom: ConstArray2, of_flex: ConstArray2, side: int, i: int) -> float:
    """Element `i` of a side's property that has several numbers; `of_geom` and `of_flex` as in `of_side`."""
    return of_geom[side, i] if side >= 0 else of_flex[flex_side(side), i]


@kernel
def _side_margin(m: Model, side1: int, side2: int) -> float:
    """Combined margin of two sides, or ``opt.o_margin`` if contacts are overridden."""
    if overridden(m):
        return m.opt.o_margin
    return joined(m, of_side(m.geom_margin, m.flex_margin, side1), of_side(m.geom_margin, m.flex_margin, side2))


@kernel
def _side_gap(m: Model, side1: int, side2: int) -> float:
    """Combined gap of two sides."""
    return joined(m, of_side(m.geom_gap, m.flex_gap, side1), of_side(m.geom_gap, m.flex_gap, side2))


@kernel
def pair_margin(m: Model, side1: int, side2: int) -> float:
    """Distance below which two sides have a contact."""
    return contact_range(m, _side_margin(m, side1, side2), _side_gap(m, side1, side2))


@kernel
def mix_weight(m: Model, side1: int, side2: int, lead: int) -> float:
    """Weight of the first side's solver parameters: 1 or 0 if priorities differ, else its share of both sides' solmix.

    `lead` is the priority of the first side minus that of the second.
    """
    if lead != 0:
        return 1.0 if lead > 0 else 0.0
    mix1, mix2 = of_side(m.geom_solmix, m.flex_solmix, side1), of_side(m.geom_solmix, m.flex_solmix, side2)
    if mix1 >= MINVAL and mix2 >= MINVAL:
        return mix1 / (mix1 + mix2)
    if mix1 < MINVAL and mix2 < MINVAL:
        return 0.5
    return 0.0 if mix1 < MINVAL else 1.0


@kernel
def mix_solver(m: Model, d: Data, con: int, side1: int, side2: int, lead: int) -> None:
    """Set solref and solimp of contact `con` to the weighted means of its sides' values.

    If the sides have the same priority, and one solref has the direct format (first number not positive), set solref to
    the element-wise minimum instead.
    """
    weight = mix_weight(m, side1, side2, lead)
    first1 = row_of_side(m.geom_solref, m.flex_solref, side1, 0)
    first2 = row_of_side(m.geom_solref, m.flex_solref, side2, 0)
    average = (first1 > 0.0 and first2 > 0.0) or lead != 0
    for i in range(2):
        value1 = row_of_side(m.geom_solref, m.flex_solref, side1, i)
        value2 = row_of_side(m.geom_solref, m.flex_solref, side2, i)
        d.contact.solref[con, i] = weight * value1 + (1.0 - weight) * value2 if average else min(value1, value2)
    for i in range(5):
        value1 = row_of_side(m.geom_solimp, m.flex_solimp, side1, i)
        value2 = row_of_side(m.geom_solimp, m.flex_solimp, side2, i)
        d.contact.solimp[con, i] = weight * value1 + (1.0 - weight) * value2


@kernel
def mix_friction(m: Model, d: Data, con: int, side1: int, side2: int, lead: int) -> None:
    """Set condim and friction of contact `con` to the values of the side with the higher priority.

    If the priorities are equal, take the larger value of the two sides. Sliding and rolling friction of a side apply to
    two directions each.
    """
    dominant1 = side1 if lead >= 0 else side2
    dominant2 = side2 if lead <= 0 else side1
    for i in range(5):
        kind = (i + (i > 1)) // 2
        friction1 = row_of_side(m.geom_friction, m.flex_friction, dominant1, kind)
        friction2 = row_of_side(m.geom_friction, m.flex_friction, dominant2, kind)
        d.contact.friction[con, i] = max(friction1, friction2)
    dim1 = of_side(m.geom_condim, m.flex_condim, dominant1)
    d.contact.dim[con] = max(dim1, of_side(m.geom_condim, m.flex_condim, dominant2))


@kernel
def mixed_adhesion(m: Model, side1: int, side2: int, lead: int) -> float:
    """Adhesive force of two sides, N: that of the side with the higher priority, else the sum; flexes have none."""
    adhesion1 = m.geom_adhesion[side1] if side1 >= 0 and lead >= 0 else 0.0
    adhesion2 = m.geom_adhesion[side2] if side2 >= 0 and lead <= 0 else 0.0
    return adhesion1 + adhesion2


@kernel
def contact_law(m: Model, side1: int, side2: int, lead: int, pair: int) -> int:
    """Bits of ``contact.law``: those of the pair, else of the side with the higher priority, else of both sides.

    Contacts with flexes have none.
    """
    if pair >= 0:
        return STICKS * m.pair_stick[pair] + LAGGED * m.pair_lagged[pair]
    law = 0
    if side1 >= 0 and side2 >= 0:
        if lead >= 0:
            law |= STICKS * m.geom_stick[side1] | LAGGED * m.geom_lagged[side1]
        if lead <= 0:
            law |= STICKS * m.geom_stick[side2] | LAGGED * m.geom_lagged[side2]
    return law


@kernel
def set_parameters(m: Model, d: Data, con: int, side1: int, side2: int, pair: int) -> None:
    """Set all parameters of contact `con` from the explicit pair `pair`, or from its sides if `pair` is negative.

    If the override flag is enabled, the solver parameters and the friction come from ``opt.o_*``.
    """
    lead = 0
    if pair >= 0:
        d.contact.includemargin[con] = force_range(m, explicit_margin(m, pair), m.pair_gap[pair])
        d.contact.dim[con] = m.pair_dim[pair]
        for i in range(2):
            d.contact.solref[con, i] = m.pair_solref[pair, i]
            d.contact.solreffriction[con, i] = m.pair_solreffriction[pair, i]
        for i in range(5):
            d.contact.friction[con, i] = m.pair_friction[pair, i]
            d.contact.solimp[con, i] = m.pair_solimp[pair, i]
        if m.flg_adhesion != 0:
            d.contact.adhesion[con] = m.pair_adhesion[pair]
    else:
        margin, gap = _side_margin(m, side1, side2), _side_gap(m, side1, side2)
        d.contact.includemargin[con] = force_range(m, margin, gap)
        lead = of_side(m.geom_priority, m.flex_priority, side1)
        lead -= of_side(m.geom_priority, m.flex_priority, side2)
        mix_friction(m, d, con, side1, side2, lead)
        mix_solver(m, d, con, side1, side2, lead)
        d.contact.solreffriction[con, 0] = 0.0
        d.contact.solreffriction[con, 1] = 0.0
        if m.flg_adhesion != 0:
            d.contact.adhesion[con] = mixed_adhesion(m, side1, side2, lead)
    d.contact.law[con] = contact_law(m, side1, side2, lead, pair) if m.nstick != 0 else 0
    if overridden(m):
        for i in range(2):
            d.contact.solref[con, i] = m.opt.o_solref[i]
            d.contact.solreffriction[con, i] = m.opt.o_solref[i]
        for i in range(5):
            d.contact.friction[con, i] = m.opt.o_friction[i]
            d.contact.solimp[con, i] = m.opt.o_solimp[i]
    for i in range(5):
        d.contact.friction[con, i] = max(d.contact.friction[con, i], mjMINMU)


@kernel
def default_tangent(normal: Vec3) -> Vec3:
    """Unit vector perpendicular to the unit vector `normal`: the projected y axis, or z if y is nearly parallel."""
    if -0.5 < normal[1] < 0.5:
        axis = (0.0, 1.0, 0.0)
    else:
        axis = (0.0, 0.0, 1.0)
    return normalize3(add_scaled3(axis, normal, -dot3(normal, axis)))


@kernel
def put_contact_along(d: Data, k: int, dist: float, pos: Vec3, normal: Vec3, tangent: Vec3) -> None:
    """Write contact `k` (from 0) of the pair, with a given first tangent.

    All vectors are in the world frame. `dist` is the distance between the surfaces, negative if they penetrate (m).
    `pos` is the point midway between them; `normal` is the unit vector from the first to the second geom.
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
    """Write contact `k` of the pair, with default tangents; `dist`, `pos`, `normal` as for `put_contact_along`."""
    put_contact_along(d, k, dist, pos, normal, default_tangent(normal))
