"""Contacts at a distance, which take part in derivatives only (``contacts="smooth"``).

A contact that is not made yet has no derivative: a loss that depends on it has the gradient 0. Here pairs of geoms
within a distance ``reach`` of each other push each other away a little, in the model that is differentiated, and
nowhere else. The idea is that of contacts from distance (A. Paulus and others, Differentiable Simulation of Hard
Contacts with Soft Gradients for Learning and Control, 2025); the law is this one:

- A pair that touches is as it is. So derivatives with ``smooth`` are those without where all that is near touches.
- A pair at the distance r beyond its margin, 0 < r < reach, has contacts where it is nearest. Their impedance is
  ``NEAR (1 - r / reach)^2``, their depth ``reach - r``, and they have no damping. Everything else is the constraint
  model's: reference acceleration, regulariser, friction cones.

So the force grows from 0 at the reach to a small fraction of a real contact's, with a slope that is nowhere 0 in
between.
Distances, places and normals have tangents as those of real contacts have (`derive.contact`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardan.collision.broadphase import bits_match, bodies_may_collide
from cardan.collision.contact import explicit_pair_margin, geom_pair_margin
from cardan.collision.detection import NO_CONTACT, collision, complete_contact, find_collider, take_room
from cardan.collision.midphase import spheres_apart
from cardan.constraint.contact import contact_kind, row_count
from cardan.constraint.rows import MIN_IMPEDANCE, set_regularizer
from cardan.jit import CALLBACK_FAILED, OK, call_collider, kernel, stage
from cardan.model.kernel_views import Data, Model
from cardan.model.tables import GROW_CON

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

NEAR = 0.1
"""Impedance of a contact at a distance where it is about to touch."""
SLACK = 0.05
"""Share of the reach by which contacts of a pair may be farther than its nearest."""
SEARCHES = 4


@kernel
def is_distant(d: Data, con: int) -> bool:
    """Whether a contact is one at a distance: those in a margin's gap are excluded."""
    return d.contact.exclude[con] == 0 and d.contact.dist[con] >= d.contact.includemargin[con]


@kernel
def is_excluded(m: Model, body1: int, body2: int) -> bool:
    """Whether the user excluded a pair of bodies."""
    signature = (min(body1, body2) << 16) + max(body1, body2)
    for k in range(m.nexclude):
        if m.exclude_signature[k] == signature:
            return True
    return False


@kernel
def have_contact(d: Data, count: int, geom1: int, geom2: int) -> bool:
    """Whether two geoms are among the first `count` contacts."""
    for con in range(count):
        a, b = d.contact.geom[con, 0], d.contact.geom[con, 1]
        if (a == geom1 and b == geom2) or (a == geom2 and b == geom1):
            return True
    return False


@kernel
def least_distance(distances: Any, begin: int, end: int) -> float:
    """The least of some distances."""
    least = distances[begin]
    for k in range(begin + 1, end):
        least = min(least, distances[k])
    return least


@kernel
def nearest_contacts(m: Model, d: Data, address: int, geom1: int, geom2: int, margin: float, reach: float) -> int:
    """Number of contacts where two geoms are nearest, in the near phase; -1 if a function of the user failed.

    A collision function gives a few of the contacts within a margin, not the nearest: the margin is drawn in.
    """
    d.work.near_margin = margin + reach
    found = call_collider(address, m, d, geom1, geom2)
    if found <= 0:
        return found
    least = least_distance(d.work.near_dist, 0, found)
    for _ in range(SEARCHES):
        d.work.near_margin = least + SLACK * reach
        found = call_collider(address, m, d, geom1, geom2)
        if found <= 0:
            return found
        nearer = least_distance(d.work.near_dist, 0, found)
        if nearer >= least:
            return found
        least = nearer
    return found


@kernel
def distant_margin(d: Data, con: int, end: int) -> float:
    """The margin at which the contacts from `con` to `end`, those of a distant pair, were found."""
    return least_distance(d.contact.dist, con, end) + SLACK * d.work.reach


@kernel
def add_distant(m: Model, d: Data, count: int, geom1: int, geom2: int, pair: int) -> int:
    """Append the contacts of two geoms that don't touch and are within reach; returns a status.

    Args:
        m: model.
        d: data.
        count: number of real contacts.
        geom1: a geom.
        geom2: another.
        pair: the explicit pair that they are, or -1.
    """
    if m.geom_type[geom1] > m.geom_type[geom2]:
        geom1, geom2 = geom2, geom1
    margin = explicit_pair_margin(m, pair) if pair >= 0 else geom_pair_margin(m, geom1, geom2)
    reach = d.work.reach
    if spheres_apart(m, d, geom1, geom2, margin + reach) or have_contact(d, count, geom1, geom2):
        return OK
    status, address = find_collider(m, d, geom1, geom2, pair)
    if status != OK or address == 0:
        return status
    found = nearest_contacts(m, d, address, geom1, geom2, margin, reach)
    if found < 0:
        return CALLBACK_FAILED
    found = take_room(m, d, found)
    if found < 0:
        return GROW_CON
    for k in range(found):
        con = int(d.ncon)
        complete_contact(m, d, con, k, geom1, geom2, pair)
        if d.contact.dist[con] > d.contact.includemargin[con]:
            d.contact.exclude[con] = 0
            d.ncon = con + 1
    return OK


@kernel
def geoms_may_meet(m: Model, geom1: int, geom2: int) -> bool:
    """Whether two geoms pass the filters of bodies and bits, and are no explicit pair."""
    body1, body2 = int(m.geom_bodyid[geom1]), int(m.geom_bodyid[geom2])
    if not bits_match(
        m.geom_contype[geom1], m.geom_conaffinity[geom1], m.geom_contype[geom2], m.geom_conaffinity[geom2]
    ):
        return False
    if not bodies_may_collide(m, body1, body2) or is_excluded(m, body1, body2):
        return False
    for pair in range(m.npair):
        a, b = m.pair_geom1[pair], m.pair_geom2[pair]
        if (a == geom1 and b == geom2) or (a == geom2 and b == geom1):
            return False
    return True


@kernel
def distant_contacts(m: Model, d: Data) -> int:
    """Append the contacts of all pairs of geoms within ``work.reach`` that don't touch; returns a status.

    All pairs of geoms are looked at.
    """
    while d.ncon > 0 and is_distant(d, d.ncon - 1):
        d.ncon -= 1  # of a run that was stopped
    count = int(d.ncon)
    if m.opt.disableflags & NO_CONTACT or m.nconmax == 0:
        return OK
    for pair in range(m.npair):
        status = add_distant(m, d, count, int(m.pair_geom1[pair]), int(m.pair_geom2[pair]), pair)
        if status != OK:
            return status
    for geom1 in range(m.ngeom):
        for geom2 in range(geom1 + 1, m.ngeom):
            if geoms_may_meet(m, geom1, geom2):
                status = add_distant(m, d, count, geom1, geom2, -1)
                if status != OK:
                    return status
    return OK


@stage
def collision_with_distance(m: Model, d: Data) -> int:
    """`collision`, and then the contacts at a distance."""
    status = collision(m, d)
    return distant_contacts(m, d) if status == OK else status


@stage
def soften_distant(m: Model, d: Data) -> int:
    """Give the rows of contacts at a distance their impedance and depth, and no damping."""
    reach = d.work.reach
    for con in range(d.ncon):
        row = int(d.contact.efc_address[con])
        if row >= 0 and is_distant(d, con):
            beyond = d.contact.dist[con] - d.contact.includemargin[con]
            share = max(1.0 - beyond / reach, 0.0)
            impedance = max(NEAR * share * share, MIN_IMPEDANCE)
            before = d.efc_KBIP[row, 2]
            scale = (1.0 - impedance) / impedance * before / (1.0 - before)
            for i in range(row, row + row_count(m, d, con, contact_kind(m, d, con))):
                d.efc_KBIP[i, 1] = 0.0
                d.efc_KBIP[i, 2] = impedance
                d.efc_margin[i] = d.contact.includemargin[con] + reach
                set_regularizer(d, i, scale * d.efc_R[i])
    return OK


def reach_of(name: str, m: MjModel, contacts: str, reach: float | None) -> float:
    """The distance, in m, up to which contacts take part in derivatives that a user asks for; 0 for none.

    Args:
        name: the function that was called, for errors.
        m: model.
        contacts: "exact" or "smooth".
        reach: the distance, with "smooth"; None for the mean size of the model's bodies (``stat.meansize``).

    Raises:
        ValueError: `contacts` is something else, or `reach` is not positive, or given with "exact".
    """
    if contacts not in ("exact", "smooth"):
        raise ValueError(f'{name}: contacts must be "exact" or "smooth", not {contacts!r}')
    if contacts == "exact":
        if reach is not None:
            raise ValueError(f'{name}: reach is for contacts="smooth"')
        return 0.0
    found = float(m.stat.meansize if reach is None else reach)
    if not 0.0 < found < float("inf"):
        raise ValueError(f"{name}: reach must be a positive distance in m, got {found}")
    return found
