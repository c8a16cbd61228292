"""Stage of collision detection for models with flexes.

Pairs of bodies and flexes are checked in the order of their ids, bodies first. Each body is checked against the bodies
after it, then against all flexes. Then flexes are checked against each other, and finally each flex against itself.
"""

from __future__ import annotations

from cardan.collision.detection import NO_CONTACT, collide_candidate, find_candidates
from cardan.jit import OK, exact, kernel, stage
from cardan.model.kernel_views import Data, Model
from cardan.soft.contacts import collide_body, collide_flexes
from cardan.soft.inside import collide_itself


@kernel
def first_body(m: Model, d: Data, k: int) -> int:
    """Lower of the two body ids of a pair of geoms."""
    return min(m.geom_bodyid[d.work.candidate[k, 0]], m.geom_bodyid[d.work.candidate[k, 1]])


@kernel
def collide_with_bodies(m: Model, d: Data, ncandidate: int) -> int:
    """Append all contacts of geoms with each other and with flexes; return a status."""
    k = 0
    for body in range(m.nbody):
        while k < ncandidate and first_body(m, d, k) <= body:
            status = collide_candidate(m, d, d.work.candidate[k, 0], d.work.candidate[k, 1], d.work.candidate[k, 2])
            if status != OK:
                return status
            k += 1
        if m.body_geomnum[body] > 0:
            for flex in range(m.nflex):
                status = collide_body(m, d, body, flex)
                if status != OK:
                    return status
    return OK


@kernel
def collide_between_flexes(m: Model, d: Data) -> int:
    """Append all contacts of flexes with each other and with themselves; return a status."""
    for flex1 in range(m.nflex):
        for flex2 in range(flex1 + 1, m.nflex):
            status = collide_flexes(m, d, flex1, flex2)
            if status != OK:
                return status
    for flex in range(m.nflex):
        status = collide_itself(m, d, flex)
        if status != OK:
            return status
    return OK


@stage
@exact
def soft_collision(m: Model, d: Data) -> int:
    """Find all contacts of geoms and flexes (``mj_collision``).

    Reads geom_xpos, geom_xmat, flexvert_xpos, flexelem_aabb, bvh_aabb_dyn; writes ncon, contact, and bvh_active (nbvh,)
    of the flexes' nodes.
    """
    d.ncon = 0
    for node in range(m.nbvhstatic, m.nbvh):
        d.bvh_active[node] = 0
    if m.opt.disableflags & NO_CONTACT or m.nconmax == 0:
        return OK
    status, ncandidate = find_candidates(m, d)
    if status == OK:
        status = collide_with_bodies(m, d, ncandidate)
    if status == OK:
        status = collide_between_flexes(m, d)
    return status
