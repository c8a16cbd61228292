"""Contacts at their result: distance, position and frame as functions of the poses and parameters of the geoms.

Which geoms touch, and in how many points, is what the collision detection found for the present state; broad and mid
phase are not run again. What is left is, for each pair of geoms, a function of their poses and sizes. The stages here
compute it anew, and their tangents are those of the contacts:

- `repeated_contacts` calls the pair's own collision function again. It takes the branches that it took before, so its
  tangents are the derivatives with the touching features frozen: the faces, edges and vertices at which a search over
  polyhedra ends don't depend on the direction, and have the tangents of their geoms. On curved surfaces support points
  move with the direction that they are asked for.
- `pointwise_contacts` serves the pairs whose functions have no tangents (signed distances, functions of the user): the
  two touching points are frozen in their geoms, and so is the normal. That is the derivative of the distance,
  exactly, where the surfaces are smooth; the turning and sliding of the contact by their curvature are left out.
  `freeze_points` notes the points.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.collision.contact import explicit_pair_margin, geom_pair_margin
from cardan.collision.detection import complete_contact
from cardan.collision.table import COLLIDERS, EXACT
from cardan.constants import mjENBL_NATIVECCD
from cardan.derive.distant import distant_margin, is_distant
from cardan.derive.soft_contact import FIRST, NEAR, soft_code, soft_codes, soft_codes_at, soft_contacts_again
from cardan.jit import OK, exact, kernel, stage
from cardan.maths.vector import (
    add3,
    add_scaled3,
    dot3,
    get3,
    get9,
    mul_mat_t_vec3,
    mul_mat_vec3,
    scale3,
    set3,
    sub3,
)
from cardan.model import internals
from cardan.model.derived import NTYPES
from cardan.model.kernel_views import Data, Model
from cardan.step.hooks import colliders_of

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

Stage = Callable[[Any, Any], int]
Collider = Callable[..., Any]

NO_TANGENTS = ("cardan.collision.sdf.",)
"""Modules whose collision functions call others by their addresses."""


@kernel
def same_parameters(d: Data, con1: int, con2: int) -> bool:
    """Whether two contacts have the same dimension, margin, friction, reference and impedance."""
    if d.contact.dim[con1] != d.contact.dim[con2] or d.contact.includemargin[con1] != d.contact.includemargin[con2]:
        return False
    for i in range(5):
        if d.contact.friction[con1, i] != d.contact.friction[con2, i]:
            return False
        if d.contact.solimp[con1, i] != d.contact.solimp[con2, i]:
            return False
    for i in range(2):
        if d.contact.solref[con1, i] != d.contact.solref[con2, i]:
            return False
    return True


@kernel
def end_of_pair(d: Data, con: int) -> int:
    """The contact after the last one of the geoms of contact `con` with its parameters."""
    end = con + 1
    while (
        end < d.ncon
        and d.contact.geom[end, 0] == d.contact.geom[con, 0]
        and d.contact.geom[end, 1] == d.contact.geom[con, 1]
        and same_parameters(d, con, end)
    ):
        end += 1
    return end


@kernel
def distance_of_parameters(m: Model, d: Data, con: int, pair: int) -> float:
    """How far the parameters of a contact are from those of an explicit pair."""
    total = abs(m.pair_dim[pair] - d.contact.dim[con])
    total += abs(m.pair_margin[pair] - m.pair_gap[pair] - d.contact.includemargin[con])
    for i in range(5):
        total += abs(m.pair_friction[pair, i] - d.contact.friction[con, i])
        total += abs(m.pair_solimp[pair, i] - d.contact.solimp[con, i])
    for i in range(2):
        total += abs(m.pair_solref[pair, i] - d.contact.solref[con, i])
    return total


@kernel
def explicit_pair(m: Model, d: Data, con: int) -> int:
    """The explicit pair of a contact: of those with its geoms the one with its parameters; -1 if there is none."""
    geom1, geom2 = d.contact.geom[con, 0], d.contact.geom[con, 1]
    found, least = -1, 0.0
    for pair in range(m.npair):
        first, second = m.pair_geom1[pair], m.pair_geom2[pair]
        if (first == geom1 and second == geom2) or (first == geom2 and second == geom1):
            distance = distance_of_parameters(m, d, con, pair)
            if found < 0 or distance < least:
                found, least = pair, distance
    return found


@kernel
def pair_code(m: Model, d: Data, con: int) -> int:
    """Number of the geom types of a contact, as the table of collision functions numbers them; with flexes, its kind's.

    (`derive.soft_contact`)
    """
    geom1, geom2 = d.contact.geom[con, 0], d.contact.geom[con, 1]
    if geom1 >= 0 and geom2 >= 0:
        return m.geom_type[geom1] * NTYPES + m.geom_type[geom2]
    return soft_code(m, d, con)


@stage
def freeze_points(m: Model, d: Data) -> int:
    """Note the two touching points of each contact of geoms, in the frames of the geoms, in ``work.touching``."""
    for con in range(d.ncon):
        half = 0.5 * d.contact.dist[con]
        for side in range(2):
            geom = int(d.contact.geom[con, side])
            if geom >= 0:
                shift = half if side == 1 else -half
                point = add_scaled3(get3(d.contact.pos, con), get3(d.contact.frame, con), shift)
                local = mul_mat_t_vec3(get9(d.geom_xmat, geom), sub3(point, get3(d.geom_xpos, geom)))
                for i in range(3):
                    d.work.touching[con, 3 * side + i] = local[i]
    return OK


@kernel
def touching_point(d: Data, con: int, side: int) -> Any:
    """The touching point of a geom, global frame."""
    geom = int(d.contact.geom[con, side])
    local = (
        d.work.touching[con, 3 * side],
        d.work.touching[con, 3 * side + 1],
        d.work.touching[con, 3 * side + 2],
    )
    return add3(get3(d.geom_xpos, geom), mul_mat_vec3(get9(d.geom_xmat, geom), local))


@kernel
def move_points(d: Data, con: int) -> None:
    """Distance and position of a contact from its two touching points, along its normal as it is."""
    point1, point2 = touching_point(d, con, 0), touching_point(d, con, 1)
    d.contact.dist[con] = dot3(get3(d.contact.frame, con), sub3(point2, point1))
    set3(d.contact.pos, con, scale3(add3(point1, point2), 0.5))


@kernel
def repeat_pair(m: Model, d: Data, con: int, end: int, collide: Any) -> None:
    """Compute the contacts from `con` to `end`, those of a pair of geoms, by their collision function `collide`.

    Several explicit pairs of the same geoms and parameters have them several times. If there are others than the
    function finds (somebody removed some), their touching points are moved.
    """
    geom1, geom2 = int(d.contact.geom[con, 0]), int(d.contact.geom[con, 1])
    pair = explicit_pair(m, d, con)
    distant = is_distant(d, con)
    if distant:
        d.work.near_margin = distant_margin(d, con, end)
    else:
        d.work.near_margin = explicit_pair_margin(m, pair) if pair >= 0 else geom_pair_margin(m, geom1, geom2)
    found = collide(m, d, geom1, geom2)
    if found > 0 and (end - con) % found == 0:
        for k in range(end - con):
            complete_contact(m, d, con + k, k % found, geom1, geom2, pair)
            if distant:
                d.contact.exclude[con + k] = 0
    else:
        for k in range(con, end):
            move_points(d, k)


@cache
def repeated_contacts(collide: Collider) -> Stage:
    """The stage that computes again the contacts of all pairs of types that a collision function of the engine serves.

    It reads geom_xpos, geom_xmat and the geoms' parameters, and writes all of these contacts but the ids of what they
    belong to.
    """
    served = [types for types, function in COLLIDERS.items() if collide in (function, EXACT.get(function))]
    codes = tuple(type1 * NTYPES + type2 for type1, type2 in served)

    def again(m: Model, d: Data) -> int:
        con = 0
        while con < d.ncon:
            end = end_of_pair(d, con)
            code, is_served = pair_code(m, d, con), False
            for known in codes:
                is_served = is_served or code == known
            if is_served:  # called in one place: what is inlined many times takes minutes to compile
                repeat_pair(m, d, con, end, collide)
            con = end
        return OK

    again.__qualname__ = again.__name__ = f"{collide.__name__}_again"
    return stage(exact(again) if "__cardan_exact__" in collide.__dict__ else again)


@cache
def pointwise_contacts(code: int) -> Stage:
    """The stage that moves the touching points of the contacts of a pair of types, by its number."""

    def points(m: Model, d: Data) -> int:
        for con in range(d.ncon):
            if pair_code(m, d, con) == code:
                move_points(d, con)
        return OK

    points.__qualname__ = points.__name__ = f"pointwise_contacts_{code}"
    return stage(points)


def _is_without_tangents(function: Collider) -> bool:
    return f"{function.__module__}.".startswith(NO_TANGENTS)


def collider_of(m: MjModel, code: int) -> Collider | None:
    """The collision function of a pair of types if it has tangents, else None."""
    types = (code // NTYPES, code % NTYPES)
    function = None if types in colliders_of(m) else COLLIDERS.get(types)
    if function is None or _is_without_tangents(function):
        return None
    return EXACT.get(function, function) if m.opt.enableflags & mjENBL_NATIVECCD else function


def contact_codes(m: MjModel, d: MjData) -> tuple[int, ...]:
    """Numbers of the pairs of types among the contacts of a data, in increasing order."""
    geoms = d.contact.geom[: d.ncon]
    hard = (geoms >= 0).all(axis=1)
    codes = {int(type1 * NTYPES + type2) for type1, type2 in m.geom_type[geoms[hard]].astype(int)}
    codes |= soft_codes_at(m, d, np.flatnonzero(~hard).tolist())
    return tuple(sorted(codes))


def contact_stages(m: MjModel, codes: tuple[int, ...]) -> list[Stage]:
    """The stages whose tangents are those of the contacts of some pairs of types; `freeze_points` goes before them."""
    hard = [code for code in codes if code < FIRST]
    functions = [collider_of(m, code) for code in hard]
    found = [repeated_contacts(function) for function in dict.fromkeys(functions) if function is not None]
    found += [soft_contacts_again(code) for code in codes if code >= FIRST]
    others = [code for code, function in zip(hard, functions, strict=True) if function is None]
    return [*found, *map(pointwise_contacts, others)]


def all_contact_stages() -> list[Stage]:
    """The stages of all pairs of types, by the engine's own collision functions."""
    functions = dict.fromkeys((*COLLIDERS.values(), *EXACT.values()))
    found = [repeated_contacts(function) for function in functions if not _is_without_tangents(function)]
    apart = [type1 * NTYPES + type2 for (type1, type2), function in COLLIDERS.items() if _is_without_tangents(function)]
    return [*found, *map(pointwise_contacts, apart), *map(soft_contacts_again, NEAR)]


def all_codes(m: MjModel, distant: bool) -> tuple[int, ...]:
    """Numbers of all pairs of types whose collision functions a model has ready, and of its flexes' contacts.

    Args:
        m: model.
        distant: whether contacts at a distance are among them.
    """
    return (*np.flatnonzero(internals.array(m, "aux.collider") > 0).tolist(), *sorted(soft_codes(m, distant)))
