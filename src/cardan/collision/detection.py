"""Stage of collision detection: from the poses of geoms to the list of contacts.

For each candidate (`cardan.collision.midphase`), the collision function of its geom types is called. The stage adds
geom ids and parameters to the contacts found.

Spec: computation, collision detection; modelling, contact parameters.
"""

from __future__ import annotations

from cardan.collision.broadphase import find_body_pairs, lost_in_sweep
from cardan.collision.contact import MAXCONPAIR, explicit_pair_margin, flex_side, geom_pair_margin, set_parameters
from cardan.collision.midphase import find_trees, find_trees_of_pairs, gather_candidates
from cardan.collision.resting import find_active_pairs
from cardan.dynamics.awake import find_spans, is_active, sleeps, wake_cycle
from cardan.dynamics.com import centers_of_awake
from cardan.dynamics.waking import wake_connected
from cardan.enums.codes import DSBL_CONSTRAINT, DSBL_CONTACT, WARN_CONTACTFULL
from cardan.jit import CALLBACK_FAILED, COLLIDER_MISSING, OK, call_collider, kernel, stage
from cardan.maths.vector import get3, get9, set3, set9
from cardan.model.derived import NTYPES
from cardan.model.kernel_views import Data, Model
from cardan.model.reset import FULLY_AWAKE
from cardan.model.tables import GROW_CANDIDATE, GROW_CON, bytes_of_one

CONTACT_BYTES = bytes_of_one("ncon")
SINGLE = 2.0**-22
"""Twice the relative spacing of single-precision numbers."""
NO_CONTACT = DSBL_CONTACT | DSBL_CONSTRAINT


@kernel
def complete_contact(m: Model, d: Data, con: int, k: int, side1: int, side2: int, pair: int) -> None:
    """Write contact `con` from row `k` of the near phase. The caller sets elements and vertices of flexes.

    `side1` and `side2` are ids of geoms, or codes of flexes (`flex_side`); `pair` is the explicit pair, or -1.
    """
    d.contact.dist[con] = d.work.near_dist[k]
    set3(d.contact.pos, con, get3(d.work.near_pos, k))
    set9(d.contact.frame, con, get9(d.work.near_frame, k))
    set_parameters(m, d, con, side1, side2, pair)
    d.contact.exclude[con] = 1 if d.contact.dist[con] >= d.contact.includemargin[con] else 0
    if m.flg_adhesion != 0 and d.contact.adhesion[con] != 0.0 and d.contact.exclude[con] == 1:
        d.contact.exclude[con], d.contact.dim[con] = 0, 1  # adhesion acts in the gap too, without friction
    d.contact.efc_address[con] = -1
    d.contact.mu[con] = 0.0
    for i in range(36):
        d.contact.H[con, i] = 0.0
    for i in range(2):
        side = side1 if i == 0 else side2
        d.contact.geom[con, i] = max(side, -1)
        d.contact.flex[con, i] = flex_side(side) if side < 0 else -1
        d.contact.elem[con, i] = -1
        d.contact.vert[con, i] = -1


@kernel
def take_room(m: Model, d: Data, found: int) -> int:
    """Check the memory for `found` more contacts; return the number that fits, or -1 to request more memory.

    Contacts that would exceed the user's memory limit are left out, with a warning.
    """
    first = d.ncon
    if m.narena > 0 and (first + found) * CONTACT_BYTES > m.narena:
        fitting = max(m.narena // CONTACT_BYTES - first, 0)
        d.work.left_out = d.work.left_out + found - fitting
        found = fitting
        d.warning.number[WARN_CONTACTFULL] += 1
        d.warning.lastinfo[WARN_CONTACTFULL] = first + found
    if first + found > len(d.contact.dist):
        d.work.need = first + max(found, MAXCONPAIR)
        return -1
    return found


@kernel
def find_collider(m: Model, d: Data, geom1: int, geom2: int, pair: int) -> tuple[int, int]:
    """Find the function that computes the contacts of two geoms, unless the user's filter rejects the pair.

    `geom1` has the lower type; `pair` is the id of the explicit pair, or -1.

    Returns:
        A status, and the function's address. The address is 0 if the filter rejects the pair, if the geoms cannot have
        contacts, or if the function is missing (`COLLIDER_MISSING`).
    """
    if pair < 0 and m.aux.contact_filter[0]:
        verdict = call_collider(m.aux.contact_filter[0], m, d, geom1, geom2)
        if verdict:
            return (OK if verdict > 0 else CALLBACK_FAILED), 0
    address = m.aux.collider[m.geom_type[geom1] * NTYPES + m.geom_type[geom2]]
    if address < 0:
        return OK, 0
    if address == 0:
        d.work.missing_geom[0] = geom1
        d.work.missing_geom[1] = geom2
        return COLLIDER_MISSING, 0
    return OK, address


@kernel
def collide_candidate(m: Model, d: Data, geom1: int, geom2: int, pair: int) -> int:
    """Find the contacts of two geoms, append them, and return a status. Arguments as for `find_collider`."""
    status, address = find_collider(m, d, geom1, geom2, pair)
    if status != OK or address == 0:
        return status
    d.work.near_margin = explicit_pair_margin(m, pair) if pair >= 0 else geom_pair_margin(m, geom1, geom2)
    found = call_collider(address, m, d, geom1, geom2)
    if found < 0:
        return CALLBACK_FAILED
    # a first contact that is within the margin only by a difference below single precision
    x, y, z = d.work.near_pos[0, 0], d.work.near_pos[0, 1], d.work.near_pos[0, 2]
    touching = d.work.near_margin - d.work.near_dist[0] <= SINGLE * (abs(x) + abs(y) + abs(z))
    if pair < 0 and found > 0 and touching:
        body1, body2 = m.geom_bodyid[geom1], m.geom_bodyid[geom2]
        if lost_in_sweep(m, d, min(body1, body2), max(body1, body2)):
            found = 0
    found = take_room(m, d, found)
    if found < 0:
        return GROW_CON
    first = d.ncon
    for k in range(found):
        complete_contact(m, d, first + k, k, geom1, geom2, pair)
    d.ncon = first + found
    return OK


@kernel
def find_candidates(m: Model, d: Data, some_sleep: bool) -> tuple[int, int]:
    """Run the broad phase, which finds pairs of bodies, and the mid phase, which finds pairs of geoms.

    Returns:
        A status, and the number of candidates in ``d.work.candidate``. If `some_sleep` is set, most of the pairs of
        geoms of which neither is awake are left out.
    """
    npair = find_active_pairs(m, d) if some_sleep else find_body_pairs(m, d)
    if npair > len(d.work.bodypair):
        d.work.need = npair
        return GROW_CANDIDATE, 0
    if some_sleep:
        find_trees_of_pairs(m, d, npair)
    else:
        find_trees(m, d)
    ncandidate = gather_candidates(m, d, npair)
    if ncandidate > len(d.work.candidate):
        d.work.need = ncandidate
        return GROW_CANDIDATE, 0
    return OK, ncandidate


@stage
def collision(m: Model, d: Data) -> int:
    """Find all contacts of geoms (``mj_collision``), and return a status.

    Read ``geom_xpos`` and ``geom_xmat``; write ``ncon`` and ``contact``. Contacts are ordered by the ids of the bodies,
    explicit pairs first, then by the ids of the geoms. Distances may be positive, up to the margin of the pair.
    """
    return collide(m, d, False)


@stage
def collision_awake(m: Model, d: Data) -> int:
    """Do as `collision`, but leave out pairs of geoms of which neither is awake. Wake trees that touch what is awake.

    If any tree wakes, detection is repeated: its contacts with other trees and with the world were left out.
    """
    status = collide(m, d, True)
    while status == OK and wake_by_contacts(m, d):
        status = collide(m, d, True)
    return status


@kernel
def collide(m: Model, d: Data, some_sleep: bool) -> int:
    """Find all contacts of geoms; if `some_sleep` is set, not of pairs of which neither is awake. Return a status."""
    d.ncon = 0
    if m.opt.disableflags & NO_CONTACT or m.nconmax == 0:
        return OK
    status, ncandidate = find_candidates(m, d, some_sleep)
    if status != OK:
        return status
    for k in range(ncandidate):
        if some_sleep and not pair_is_active(m, d, d.work.candidate[k, 0], d.work.candidate[k, 1]):
            continue
        status = collide_candidate(m, d, d.work.candidate[k, 0], d.work.candidate[k, 1], d.work.candidate[k, 2])
        if status != OK:
            return status
    return OK


@kernel
def pair_is_active(m: Model, d: Data, geom1: int, geom2: int) -> bool:
    """Return whether one of two geoms can move at present."""
    return is_active(m, d, m.geom_bodyid[geom1]) or is_active(m, d, m.geom_bodyid[geom2])


@kernel
def wake_by_contacts(m: Model, d: Data) -> bool:
    """Wake the sleeping trees that have contacts with something that is awake; return whether there are any.

    They take over the number of steps at rest of the tree that wakes them.
    """
    for con in range(d.ncon):
        geom1, geom2 = d.contact.geom[con, 0], d.contact.geom[con, 1]
        if geom1 >= 0 and geom2 >= 0:
            tree1, tree2 = int(m.body_treeid[m.geom_bodyid[geom1]]), int(m.body_treeid[m.geom_bodyid[geom2]])
            if sleeps(d, tree1):
                wake_cycle(d, tree1, steps_of(d, tree2))
            elif sleeps(d, tree2):
                wake_cycle(d, tree2, steps_of(d, tree1))
    if d.work.spans_known != 0:
        return False
    find_spans(m, d)
    wake_connected(m, d)
    centers_of_awake(m, d)
    return True


@kernel
def steps_of(d: Data, tree: int) -> int:
    """Return `tree_asleep` of a tree that is awake; if there is no tree, that of a tree that has just moved."""
    return int(d.tree_asleep[tree]) if tree >= 0 else FULLY_AWAKE
