"""Derivatives of contacts: distance, position and frame as functions of the poses and parameters of the two sides.

Collision detection determines, for the current state, which pairs touch and at how many points; broad and mid phase
are not repeated. Within each kind of pair, the contacts are a function of the poses and sizes of the two sides. The
stages of this module evaluate that function again, and its tangents are the tangents of the contacts. Pair kinds:

| pair | number (`pair_code`) | how its contacts are computed again |
| --- | --- | --- |
| two geoms, by types | type1 * NTYPES + type2 | the pair's collision function |
| two geoms, function without tangents | type1 * NTYPES + type2 | their touching points move with the geoms |
| a flex (element or vertex) and a geom or a flex | `FIRST` and above | the near phase, `NEAR` |

A collision function takes the branches that it took before. Its tangents are therefore derivatives with fixed touching
features: faces, edges and vertices have the tangents of their geoms. On curved surfaces, support points move with the
search direction. Signed distances and user functions have no tangents. For them, the two touching points and the normal
are fixed in the geoms. The derivative of the distance is then exact if the surfaces are smooth. However, curvature also
turns and shifts the contact, and these changes are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.collision.capsule import axis_z
from cardan.collision.contact import (
    explicit_pair_margin,
    flex_side,
    force_range,
    geom_pair_margin,
    pair_margin,
    set_parameters,
)
from cardan.collision.detection import complete_contact
from cardan.collision.support import load_geom
from cardan.collision.table import COLLIDERS, stock_function, variants
from cardan.derive.distant import (
    convex_apart,
    distant_margin,
    distant_pair_margin,
    elements_apart,
    has_formula,
    is_distant,
    is_pair,
    side_of,
)
from cardan.enums import mjtFlexSelf
from cardan.enums.codes import GEOM_HFIELD, GEOM_PLANE
from cardan.jit import OK, exact, kernel, stage
from cardan.maths.types import Vec3
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
    set9,
    sub3,
)
from cardan.model import internals
from cardan.model.derived import NTYPES
from cardan.model.kernel_views import Data, Model
from cardan.soft.contacts import plane_vertex
from cardan.soft.flex import load_element
from cardan.soft.inside import OPPOSITE, vertex_element, vertex_face
from cardan.soft.near import (
    convex_contact,
    element_element,
    geom_segment,
    hfield_element,
    is_sphere_on_solid,
    point_triangle,
    sphere_tetrahedron,
)
from cardan.step.hooks import colliders_of

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

Stage = Callable[[Any, Any], int]
Function = Callable[..., Any]

WITHOUT_TANGENTS = "cardan.collision.sdf."
"""Package whose collision functions have no tangents, because they call other functions by address."""
FIRST = NTYPES * NTYPES
"""Number of the first kind of pair with a flex."""
ON_PLANE, ON_FIELD, ON_SEGMENT, ON_TRIANGLE, ON_CONVEX, ON_FACE, ON_VERTEX, OF_SEGMENTS, OF_ELEMENTS = range(
    FIRST, FIRST + 9
)
CONVEX_APART, ELEMENTS_APART = FIRST + 9, FIRST + 10
APART = {ON_CONVEX: CONVEX_APART, OF_ELEMENTS: ELEMENTS_APART}
"""Pair kinds with a different near phase for contacts at a distance; each maps to its kind at a distance."""


# pair kinds


@kernel
def kind_with_geom(kind: int, dim: int) -> int:
    """Return the number of the pair kind of a geom of type `kind` and a flex element of dimension `dim`."""
    if kind == GEOM_PLANE:
        return ON_PLANE
    if not has_formula(kind, dim):
        return ON_CONVEX
    if kind == GEOM_HFIELD:
        return ON_FIELD
    return ON_SEGMENT if dim == 1 else ON_TRIANGLE


@kernel
def soft_code(m: Model, d: Data, con: int, reach: float) -> int:
    """Return the number of the pair kind of a contact with a flex.

    If `reach` is positive, there can be contacts at a distance, some of which have their own pair kinds.
    """
    geom, flex1, flex2 = d.contact.geom[con, 0], d.contact.flex[con, 0], d.contact.flex[con, 1]
    apart = reach > 0.0 and is_distant(d, con)
    if geom >= 0:
        kind = kind_with_geom(m.geom_type[geom], m.flex_dim[flex2])
        return CONVEX_APART if apart and kind == ON_CONVEX else kind
    if d.contact.elem[con, 0] >= 0 and d.contact.vert[con, 1] >= 0:
        return ON_FACE
    if d.contact.vert[con, 0] >= 0:
        return ON_VERTEX
    if m.flex_dim[flex1] == 1 and m.flex_dim[flex2] == 1:
        return OF_SEGMENTS
    return ELEMENTS_APART if apart else OF_ELEMENTS


@kernel
def pair_code(m: Model, d: Data, con: int) -> int:
    """Return the number of a contact's pair kind, from the table in the module's docstring."""
    geom1, geom2 = d.contact.geom[con, 0], d.contact.geom[con, 1]
    if geom1 >= 0 and geom2 >= 0:
        return m.geom_type[geom1] * NTYPES + m.geom_type[geom2]
    return soft_code(m, d, con, d.work.reach)


@kernel
def side_key(m: Model, d: Data, con: int, side: int) -> int:
    """Unique number of a side of a contact: the geom's id, or a number below -1 for an element or vertex of a flex."""
    geom, flex = d.contact.geom[con, side], d.contact.flex[con, side]
    if geom >= 0:
        return geom
    if d.contact.elem[con, side] >= 0:
        return -2 - m.flex_elemadr[flex] - d.contact.elem[con, side]
    return -2 - m.nflexelem - m.flex_vertadr[flex] - d.contact.vert[con, side]


def contact_codes(m: MjModel, d: MjData) -> tuple[int, ...]:
    """Return the numbers of the pair kinds among the contacts of `d`, in increasing order."""
    geoms = d.contact.geom[: d.ncon]
    hard = (geoms >= 0).all(axis=1)
    codes = {int(type1 * NTYPES + type2) for type1, type2 in m.geom_type[geoms[hard]].astype(int)}
    kind_of: Function = soft_code
    reach = internals.number(d, "work.reach")
    return tuple(sorted(codes | {int(kind_of(m, d, con, reach)) for con in np.flatnonzero(~hard).tolist()}))


def all_codes(m: MjModel, distant: bool) -> tuple[int, ...]:
    """Return the numbers of all pair kinds that a model may have.

    They include pairs of geoms whose collision functions are ready, and pairs with flexes. If `distant` is set, they
    also include the pair kinds of contacts at a distance.
    """
    dims = {int(dim) for dim in m.flex_dim}
    found = {int(kind_with_geom(int(kind), dim)) for kind in set(m.geom_type.tolist()) for dim in dims}
    if m.flex_internal.any():
        found |= {ON_FACE if dim == 3 else ON_VERTEX for dim in dims}
    if m.nflex > 1 or (m.flex_selfcollide != mjtFlexSelf.mjFLEXSELF_NONE).any():
        found |= {OF_SEGMENTS if dim == 1 else OF_ELEMENTS for dim in dims}
        found |= {OF_ELEMENTS} if len(dims) > 1 else set()
    if distant:
        found |= {apart for kind, apart in APART.items() if kind in found}
    return (*np.flatnonzero(internals.array(m, "aux.collider") > 0).tolist(), *sorted(found))


# the contacts of a pair of geoms


@kernel
def distance_of_parameters(m: Model, d: Data, con: int, pair: int) -> float:
    """Sum of absolute differences between the parameters of a contact and of an explicit pair."""
    total = abs(m.pair_dim[pair] - d.contact.dim[con])
    total += abs(force_range(m, m.pair_margin[pair], m.pair_gap[pair]) - d.contact.includemargin[con])
    for i in range(5):
        total += abs(m.pair_friction[pair, i] - d.contact.friction[con, i])
        total += abs(m.pair_solimp[pair, i] - d.contact.solimp[con, i])
    for i in range(2):
        total += abs(m.pair_solref[pair, i] - d.contact.solref[con, i])
    return total


@kernel
def explicit_pair(m: Model, d: Data, con: int) -> int:
    """Return the explicit pair with the contact's geoms whose parameters are closest to the contact's, or -1."""
    geom1, geom2 = int(d.contact.geom[con, 0]), int(d.contact.geom[con, 1])
    found, least = -1, 0.0
    for pair in range(m.npair):
        if is_pair(m, pair, geom1, geom2):
            distance = distance_of_parameters(m, d, con, pair)
            if found < 0 or distance < least:
                found, least = pair, distance
    return found


@kernel
def end_of_pair(m: Model, d: Data, con: int) -> int:
    """Return the end (exclusive) of the run of contacts that belong to the same pair as contact `con`."""
    key1, key2, pair, end = side_key(m, d, con, 0), side_key(m, d, con, 1), explicit_pair(m, d, con), con + 1
    while (
        end < d.ncon
        and side_key(m, d, end, 0) == key1
        and side_key(m, d, end, 1) == key2
        and explicit_pair(m, d, end) == pair
    ):
        end += 1
    return end


@stage
def freeze_points(m: Model, d: Data) -> int:
    """Store the touching points of each contact in ``work.touching``, each in the frame of its geom.

    A side that is a flex has no touching point.
    """
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
def touching_point(d: Data, con: int, side: int) -> Vec3:
    """Touching point on one side of a contact (world frame); it moves with the geom."""
    geom = int(d.contact.geom[con, side])
    local = (
        d.work.touching[con, 3 * side],
        d.work.touching[con, 3 * side + 1],
        d.work.touching[con, 3 * side + 2],
    )
    return add3(get3(d.geom_xpos, geom), mul_mat_vec3(get9(d.geom_xmat, geom), local))


@kernel
def move_points(d: Data, con: int) -> None:
    """Compute the distance (along the unchanged normal) and position of a contact from its two touching points."""
    point1, point2 = touching_point(d, con, 0), touching_point(d, con, 1)
    d.contact.dist[con] = dot3(get3(d.contact.frame, con), sub3(point2, point1))
    set3(d.contact.pos, con, scale3(add3(point1, point2), 0.5))


@kernel
def repeat_points(m: Model, d: Data, con: int, end: int, move: Function) -> None:
    """Compute the contacts `con` to `end` - 1 from their touching points; `move` is `move_points`."""
    for k in range(con, end):
        move(d, k)


@kernel
def repeat_geoms(m: Model, d: Data, con: int, end: int, collide: Function) -> None:
    """Compute the contacts `con` to `end` - 1 of a pair of geoms again with the collision function `collide`.

    Identical explicit pairs repeat the same contacts. If the number of contacts is not a multiple of the
    number that `collide` finds (for example, because the user removed some), move the touching points instead.
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
        repeat_points(m, d, con, end, move_points)


# the contacts of a pair with a flex: near phases of contact `con`, whose second side is of `flex`


@kernel
def _near_plane(m: Model, d: Data, con: int, flex: int) -> int:
    plane = int(d.contact.geom[con, 0])
    return plane_vertex(m, d, plane, flex, d.contact.vert[con, 1], axis_z(d.geom_xmat, plane))


@kernel
def _near_field(m: Model, d: Data, con: int, flex: int) -> int:
    load_element(m, d, 1, flex, d.contact.elem[con, 1])
    return hfield_element(m, d, int(d.contact.geom[con, 0]), flex)


@kernel
def _near_segment(m: Model, d: Data, con: int, flex: int) -> int:
    return geom_segment(m, d, int(d.contact.geom[con, 0]), flex, d.contact.elem[con, 1])


@kernel
def _near_triangle(m: Model, d: Data, con: int, flex: int) -> int:
    geom = int(d.contact.geom[con, 0])
    return point_triangle(m, d, get3(d.geom_xpos, geom), m.geom_size[geom, 0], flex, d.contact.elem[con, 1])


@kernel
def _near_convex(m: Model, d: Data, con: int, flex: int) -> int:
    if is_sphere_on_solid(m, int(d.contact.geom[con, 0]), flex):
        return sphere_tetrahedron(m, d, int(d.contact.geom[con, 0]), flex, d.contact.elem[con, 1])
    load_element(m, d, 1, flex, d.contact.elem[con, 1])
    load_geom(m, d, 0, int(d.contact.geom[con, 0]))
    return convex_contact(m, d, 0)


@kernel
def _near_face(m: Model, d: Data, con: int, flex: int) -> int:
    element, vertex, face = int(d.contact.elem[con, 0]), d.contact.vert[con, 1], 0
    for k in range(4):
        at = m.flex_elemdataadr[flex] + 4 * element + OPPOSITE[k]
        if m.flex_elem[at] == vertex:
            face = k
    return vertex_face(m, d, flex, element, face)


@kernel
def _near_element(m: Model, d: Data, con: int, flex: int) -> int:
    if d.contact.vert[con, 0] >= 0:
        return vertex_element(m, d, flex, d.contact.vert[con, 0], d.contact.elem[con, 1])
    return element_element(m, d, d.contact.flex[con, 0], d.contact.elem[con, 0], flex, d.contact.elem[con, 1])


@kernel
def _near_convex_apart(m: Model, d: Data, con: int, flex: int) -> int:
    return convex_apart(m, d, int(d.contact.geom[con, 0]), flex, d.contact.elem[con, 1])


@kernel
def _near_elements_apart(m: Model, d: Data, con: int, flex: int) -> int:
    return elements_apart(m, d, d.contact.flex[con, 0], d.contact.elem[con, 0], flex, d.contact.elem[con, 1])


NEAR: dict[int, Function] = {
    ON_PLANE: _near_plane,
    ON_FIELD: _near_field,
    ON_SEGMENT: _near_segment,
    ON_TRIANGLE: _near_triangle,
    ON_CONVEX: _near_convex,
    ON_FACE: _near_face,
    ON_VERTEX: _near_element,
    OF_SEGMENTS: _near_element,
    OF_ELEMENTS: _near_element,
    CONVEX_APART: _near_convex_apart,
    ELEMENTS_APART: _near_elements_apart,
}
"""Near phase of each kind of pair with a flex; each function returns the number of contacts."""


@kernel
def repeat_soft(m: Model, d: Data, con: int, end: int, near: Function) -> None:
    """Compute the contacts `con` to `end` - 1 of a pair with a flex again with the near phase `near`."""
    side1, side2 = side_of(d, con, 0), side_of(d, con, 1)
    distant = is_distant(d, con)
    if distant:
        d.work.near_margin = distant_pair_margin(d, side1, side2)
    else:
        d.work.near_margin = 0.0 if side1 == side2 else pair_margin(m, side1, side2)
    found = near(m, d, con, flex_side(side2))
    for k in range(min(found, end - con)):
        d.contact.dist[con + k] = d.work.near_dist[k]
        set3(d.contact.pos, con + k, get3(d.work.near_pos, k))
        set9(d.contact.frame, con + k, get9(d.work.near_frame, k))
        dim = d.contact.dim[con + k]
        set_parameters(m, d, con + k, side1, side2, -1)
        d.contact.dim[con + k] = dim
        if side1 == side2:
            d.contact.includemargin[con + k] = 0.0
        if distant:
            d.contact.exclude[con + k] = 0


# stages


@cache
def contacts_again(codes: tuple[int, ...], function: Function, name: str = "") -> Stage:
    """Make a stage that recomputes the contacts whose pair kinds are in `codes`. It keeps the ids in the contacts.

    `function` is a collision function of geoms, the near phase of pairs with a flex, or `move_points`.
    """
    repeat: Function = repeat_points if function is move_points else repeat_geoms if codes[0] < FIRST else repeat_soft

    def again(m: Model, d: Data) -> int:
        con = 0
        while con < d.ncon:
            end = end_of_pair(m, d, con)
            code, is_served = pair_code(m, d, con), False
            for known in codes:
                is_served = is_served or code == known
            if is_served:  # a single call: if it were inlined several times, compilation would take minutes
                repeat(m, d, con, end, function)
            con = end
        return OK

    again.__qualname__ = again.__name__ = f"{name or function.__name__}_again"
    return stage(exact(again) if codes[0] >= FIRST or "__cardan_exact__" in function.__dict__ else again)


def pointwise_contacts(code: int) -> Stage:
    """Make the stage that computes contacts from touching points, for the pair of geom types with number `code`."""
    return contacts_again((code,), move_points, f"points_{code}")


def _stage_of(code: int, function: Function | None) -> Stage:
    """Make the stage that recomputes the contacts of a pair kind.

    For two geoms, if `function` is None or has no tangents, the contacts follow from their touching points. All pairs
    of geom types with the same collision function share one stage.
    """
    if code >= FIRST:
        return contacts_again((code,), NEAR[code], f"{NEAR[code].__name__}_{code - FIRST}")
    if function is None or f"{function.__module__}.".startswith(WITHOUT_TANGENTS):
        return pointwise_contacts(code)
    served = [types for types, other in COLLIDERS.items() if function in variants(other)]
    return contacts_again(tuple(type1 * NTYPES + type2 for type1, type2 in served), function)


def contact_stages(m: MjModel, codes: tuple[int, ...]) -> list[Stage]:
    """Return the stages that recompute contacts of the pair kinds `codes`. They must run after `freeze_points`.

    Their tangents are those of the contacts.
    """
    found = []
    for code in codes:
        types = code // NTYPES, code % NTYPES
        found.append(_stage_of(code, None if types in colliders_of(m) else stock_function(m, types)))
    return list(dict.fromkeys(found))


def all_contact_stages() -> list[Stage]:
    """Return the stages of all pair kinds, with the engine's own collision functions."""
    pairs = [(type1 * NTYPES + type2, function) for (type1, type2), function in COLLIDERS.items()]
    pairs = [(code, variant) for code, function in pairs for variant in variants(function)]
    return list(dict.fromkeys([_stage_of(*pair) for pair in pairs] + [_stage_of(code, None) for code in NEAR]))
