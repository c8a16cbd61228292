"""Contact parameters: the properties of two geoms, or of an explicit pair, as those of a contact.

Spec: modelling, contact parameters and contact override.
"""

from __future__ import annotations

from typing import Any

from cardan.constants import mjMINMU, mjMINVAL
from cardan.enums import mjtEnableBit
from cardan.jit import kernel

OVERRIDE = int(mjtEnableBit.mjENBL_OVERRIDE)
MINMU = mjMINMU
MINVAL = mjMINVAL


@kernel
def overridden(m: Any) -> bool:
    """Whether contact parameters are taken from ``opt.o_*``."""
    return (m.opt.enableflags & OVERRIDE) != 0


@kernel
def geom_pair_margin(m: Any, geom1: int, geom2: int) -> float:
    """Distance at which two geoms get a contact: the larger margin, or ``opt.o_margin``."""
    if overridden(m):
        return m.opt.o_margin
    return max(m.geom_margin[geom1], m.geom_margin[geom2])


@kernel
def explicit_pair_margin(m: Any, pair: int) -> float:
    """Distance at which an explicit pair gets a contact: its own margin, or ``opt.o_margin``."""
    if overridden(m):
        return m.opt.o_margin
    return m.pair_margin[pair]


@kernel
def mix_weight(m: Any, geom1: int, geom2: int) -> float:
    """Weight of the first geom's solver parameters: 1 or 0 by priority, else its share of solmix."""
    priority1 = m.geom_priority[geom1]
    priority2 = m.geom_priority[geom2]
    if priority1 != priority2:
        return 1.0 if priority1 > priority2 else 0.0
    mix1 = m.geom_solmix[geom1]
    mix2 = m.geom_solmix[geom2]
    if mix1 >= MINVAL and mix2 >= MINVAL:
        return mix1 / (mix1 + mix2)
    if mix1 < MINVAL and mix2 < MINVAL:
        return 0.5
    return 0.0 if mix1 < MINVAL else 1.0


@kernel
def mix_solver(m: Any, d: Any, con: int, geom1: int, geom2: int) -> None:
    """Solref and solimp of contact `con`: the weighted mean of those of two geoms.

    Geoms of the same priority of which one has a solref in direct format (first number not positive) get the smaller
    numbers of both instead of the mean.
    """
    weight = mix_weight(m, geom1, geom2)
    standard = m.geom_solref[geom1, 0] > 0.0 and m.geom_solref[geom2, 0] > 0.0
    average = standard or m.geom_priority[geom1] != m.geom_priority[geom2]
    for i in range(2):
        value1 = m.geom_solref[geom1, i]
        value2 = m.geom_solref[geom2, i]
        d.contact.solref[con, i] = weight * value1 + (1.0 - weight) * value2 if average else min(value1, value2)
    for i in range(5):
        d.contact.solimp[con, i] = weight * m.geom_solimp[geom1, i] + (1.0 - weight) * m.geom_solimp[geom2, i]


@kernel
def mix_friction(m: Any, d: Any, con: int, geom1: int, geom2: int) -> None:
    """Condim and friction of contact `con`: those of the geom of higher priority, else the larger ones.

    Sliding and rolling friction of a geom hold for two directions each.
    """
    for i in range(5):
        kind = (i + (i > 1)) // 2
        friction1 = m.geom_friction[geom1, kind]
        friction2 = m.geom_friction[geom2, kind]
        if m.geom_priority[geom1] > m.geom_priority[geom2]:
            friction2 = friction1
        elif m.geom_priority[geom1] < m.geom_priority[geom2]:
            friction1 = friction2
        d.contact.friction[con, i] = max(friction1, friction2)
    dim1 = m.geom_condim[geom1]
    dim2 = m.geom_condim[geom2]
    if m.geom_priority[geom1] > m.geom_priority[geom2]:
        dim2 = dim1
    elif m.geom_priority[geom1] < m.geom_priority[geom2]:
        dim1 = dim2
    d.contact.dim[con] = max(dim1, dim2)


@kernel
def set_geom_parameters(m: Any, d: Any, con: int, geom1: int, geom2: int) -> None:
    """All parameters of contact `con` from its two geoms."""
    d.contact.includemargin[con] = geom_pair_margin(m, geom1, geom2) - max(m.geom_gap[geom1], m.geom_gap[geom2])
    mix_friction(m, d, con, geom1, geom2)
    mix_solver(m, d, con, geom1, geom2)
    d.contact.solreffriction[con, 0] = 0.0
    d.contact.solreffriction[con, 1] = 0.0


@kernel
def set_pair_parameters(m: Any, d: Any, con: int, pair: int) -> None:
    """All parameters of contact `con` from an explicit pair."""
    d.contact.includemargin[con] = explicit_pair_margin(m, pair) - m.pair_gap[pair]
    d.contact.dim[con] = m.pair_dim[pair]
    for i in range(2):
        d.contact.solref[con, i] = m.pair_solref[pair, i]
        d.contact.solreffriction[con, i] = m.pair_solreffriction[pair, i]
    for i in range(5):
        d.contact.friction[con, i] = m.pair_friction[pair, i]
        d.contact.solimp[con, i] = m.pair_solimp[pair, i]


@kernel
def override_parameters(m: Any, d: Any, con: int) -> None:
    """Replace the solver parameters and the friction of contact `con` by ``opt.o_*``."""
    for i in range(2):
        d.contact.solref[con, i] = m.opt.o_solref[i]
        d.contact.solreffriction[con, i] = m.opt.o_solref[i]
    for i in range(5):
        d.contact.friction[con, i] = m.opt.o_friction[i]
        d.contact.solimp[con, i] = m.opt.o_solimp[i]


@kernel
def set_parameters(m: Any, d: Any, con: int, geom1: int, geom2: int, pair: int) -> None:
    """All parameters of contact `con`: of the explicit pair `pair` if it is not negative, else of its two geoms."""
    if pair >= 0:
        set_pair_parameters(m, d, con, pair)
    else:
        set_geom_parameters(m, d, con, geom1, geom2)
    if overridden(m):
        override_parameters(m, d, con)
    for i in range(5):
        d.contact.friction[con, i] = max(d.contact.friction[con, i], MINMU)
