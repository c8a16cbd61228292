"""Contacts of flexes at their result, as `derive.contact` has those of geoms.

What touches is an element or a vertex of a flex, with a geom or with another element: contacts know their numbers. The
near phase of such a pair is computed again, for each kind of pair in a stage of its own, so that only those are
compiled that occur.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.collision.capsule import axis_z
from cardan.collision.contact import flex_side, pair_margin, set_parameters
from cardan.collision.support import load_geom
from cardan.derive.distant import is_distant
from cardan.derive.soft_distant import convex_apart, distant_pair_margin, elements_apart
from cardan.enums import mjtFlexSelf, mjtGeom
from cardan.jit import OK, exact, kernel, stage
from cardan.maths.vector import get3
from cardan.model import internals
from cardan.model.derived import NTYPES
from cardan.model.kernel_views import Data, Model
from cardan.soft.contacts import plane_vertex
from cardan.soft.flex import load_element
from cardan.soft.inside import OPPOSITE, vertex_element, vertex_face
from cardan.soft.near import convex_contact, element_element, geom_segment, hfield_element, point_triangle

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

Stage = Callable[[Any, Any], int]
Near = Callable[..., int]

SPHERE, CAPSULE, BOX = int(mjtGeom.mjGEOM_SPHERE), int(mjtGeom.mjGEOM_CAPSULE), int(mjtGeom.mjGEOM_BOX)
PLANE, HFIELD = int(mjtGeom.mjGEOM_PLANE), int(mjtGeom.mjGEOM_HFIELD)
FIRST = NTYPES * NTYPES
"""The number of the first kind: those below are of pairs of geoms."""
ON_PLANE, ON_FIELD, ON_SEGMENT, ON_TRIANGLE, ON_CONVEX, ON_FACE, ON_VERTEX, OF_SEGMENTS, OF_ELEMENTS = range(
    FIRST, FIRST + 9
)
CONVEX_APART, ELEMENTS_APART = FIRST + 9, FIRST + 10
APART = {ON_CONVEX: CONVEX_APART, OF_ELEMENTS: ELEMENTS_APART}
"""Kinds of contacts whose near phase is another one at a distance, and the kinds that these are then."""


@kernel
def kind_with_geom(kind: int, dim: int) -> int:
    """The number of a geom's type and an element's dimension."""
    if kind == PLANE:
        return ON_PLANE
    if kind == HFIELD:
        return ON_FIELD
    if dim == 1 and kind in (SPHERE, CAPSULE, BOX):
        return ON_SEGMENT
    return ON_TRIANGLE if dim == 2 and kind == SPHERE else ON_CONVEX


@kernel
def kind_of_contact(m: Model, d: Data, con: int, reach: float) -> int:
    """Number of the kind of a contact with a flex; those that aren't made take part up to a distance `reach`."""
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
def soft_code(m: Model, d: Data, con: int) -> int:
    """Number of the kind of a contact with a flex."""
    return kind_of_contact(m, d, con, d.work.reach)


@kernel
def side_key(m: Model, d: Data, con: int, side: int) -> int:
    """What a side of a contact belongs to: a geom, or below -1 an element or a vertex of a flex."""
    geom, flex = d.contact.geom[con, side], d.contact.flex[con, side]
    if geom >= 0:
        return geom
    if d.contact.elem[con, side] >= 0:
        return -2 - m.flex_elemadr[flex] - d.contact.elem[con, side]
    return -2 - m.nflexelem - m.flex_vertadr[flex] - d.contact.vert[con, side]


def side_keys(m: MjModel, d: MjData) -> np.ndarray:
    """The same for all contacts and sides: (ncon, 2)."""
    contact, keys = d.contact, d.contact.geom[: d.ncon].copy()
    soft = keys < 0
    flex, elem, vert = (getattr(contact, name)[: d.ncon][soft] for name in ("flex", "elem", "vert"))
    elements, vertices = -2 - m.flex_elemadr[flex] - elem, -2 - m.nflexelem - m.flex_vertadr[flex] - vert
    keys[soft] = np.where(elem >= 0, elements, vertices)
    return keys


# near phases: of contact `con`, whose flex on the second side is `flex`; they return the number of contacts


@kernel
def near_plane(m: Model, d: Data, con: int, flex: int) -> int:
    """A plane and a vertex."""
    plane = int(d.contact.geom[con, 0])
    return plane_vertex(m, d, plane, flex, d.contact.vert[con, 1], axis_z(d.geom_xmat, plane))


@kernel
def near_field(m: Model, d: Data, con: int, flex: int) -> int:
    """A height field and an element."""
    load_element(m, d, 1, flex, d.contact.elem[con, 1])
    return hfield_element(m, d, int(d.contact.geom[con, 0]), flex)


@kernel
def near_segment(m: Model, d: Data, con: int, flex: int) -> int:
    """A sphere, capsule or box and a segment."""
    return geom_segment(m, d, int(d.contact.geom[con, 0]), flex, d.contact.elem[con, 1])


@kernel
def near_triangle(m: Model, d: Data, con: int, flex: int) -> int:
    """A sphere and a triangle."""
    geom = int(d.contact.geom[con, 0])
    return point_triangle(m, d, get3(d.geom_xpos, geom), m.geom_size[geom, 0], flex, d.contact.elem[con, 1])


@kernel
def near_convex(m: Model, d: Data, con: int, flex: int) -> int:
    """A convex geom and an element."""
    load_element(m, d, 1, flex, d.contact.elem[con, 1])
    load_geom(m, d, 0, int(d.contact.geom[con, 0]))
    return convex_contact(m, d, 0)


@kernel
def near_face(m: Model, d: Data, con: int, flex: int) -> int:
    """A face of a tetrahedron and the vertex opposite to it."""
    element, vertex, face = int(d.contact.elem[con, 0]), d.contact.vert[con, 1], 0
    for k in range(4):
        at = m.flex_elemdataadr[flex] + 4 * element + OPPOSITE[k]
        if m.flex_elem[at] == vertex:
            face = k
    return vertex_face(m, d, flex, element, face)


@kernel
def near_element(m: Model, d: Data, con: int, flex: int) -> int:
    """Two elements, or a vertex and a segment or a triangle of the same flex."""
    if d.contact.vert[con, 0] >= 0:
        return vertex_element(m, d, flex, d.contact.vert[con, 0], d.contact.elem[con, 1])
    return element_element(m, d, d.contact.flex[con, 0], d.contact.elem[con, 0], flex, d.contact.elem[con, 1])


@kernel
def near_convex_apart(m: Model, d: Data, con: int, flex: int) -> int:
    """A convex geom and an element at a distance."""
    return convex_apart(m, d, int(d.contact.geom[con, 0]), flex, d.contact.elem[con, 1])


@kernel
def near_elements_apart(m: Model, d: Data, con: int, flex: int) -> int:
    """Two elements at a distance."""
    return elements_apart(m, d, d.contact.flex[con, 0], d.contact.elem[con, 0], flex, d.contact.elem[con, 1])


NEAR: dict[int, Near] = {
    ON_PLANE: near_plane,
    ON_FIELD: near_field,
    ON_SEGMENT: near_segment,
    ON_TRIANGLE: near_triangle,
    ON_CONVEX: near_convex,
    ON_FACE: near_face,
    ON_VERTEX: near_element,
    OF_SEGMENTS: near_element,
    OF_ELEMENTS: near_element,
    CONVEX_APART: near_convex_apart,
    ELEMENTS_APART: near_elements_apart,
}


@kernel
def same_sides(m: Model, d: Data, con1: int, con2: int) -> bool:
    """Whether two contacts are of the same pair."""
    return side_key(m, d, con1, 0) == side_key(m, d, con2, 0) and side_key(m, d, con1, 1) == side_key(m, d, con2, 1)


@kernel
def take_result(m: Model, d: Data, con: int, k: int, side1: int, side2: int) -> None:
    """Distance, position, frame and parameters of a contact from row `k` of the near phase."""
    d.contact.dist[con] = d.work.near_dist[k]
    for i in range(3):
        d.contact.pos[con, i] = d.work.near_pos[k, i]
    for i in range(9):
        d.contact.frame[con, i] = d.work.near_frame[k, i]
    dim = d.contact.dim[con]
    set_parameters(m, d, con, side1, side2, -1)
    d.contact.dim[con] = dim
    if side1 == side2:
        d.contact.includemargin[con] = 0.0


@cache
def soft_contacts_again(code: int) -> Stage:
    """The stage that computes again the contacts of one kind of pairs with flexes.

    Reads flexvert_xpos, flexelem_aabb, geom_xpos, geom_xmat; writes what the contacts of `derive.contact` have.
    """
    near = NEAR[code]

    def again(m: Model, d: Data) -> int:
        con = 0
        while con < d.ncon:
            end = con + 1
            if d.contact.flex[con, 1] >= 0 and soft_code(m, d, con) == code:
                while end < d.ncon and same_sides(m, d, con, end):
                    end += 1
                flex2 = int(d.contact.flex[con, 1])
                side1 = int(d.contact.geom[con, 0])
                if side1 < 0:
                    side1 = flex_side(int(d.contact.flex[con, 0]))
                side2 = flex_side(flex2)
                distant = is_distant(d, con)
                if distant:
                    d.work.near_margin = distant_pair_margin(d, con)
                else:
                    d.work.near_margin = 0.0 if side1 == side2 else pair_margin(m, side1, side2)
                found = near(m, d, con, flex2)
                for k in range(min(found, end - con)):
                    take_result(m, d, con + k, k, side1, side2)
                    if distant:
                        d.contact.exclude[con + k] = 0
            con = end
        return OK

    again.__qualname__ = again.__name__ = f"{near.__name__}_again_{code - FIRST}"
    return stage(exact(again))


def soft_codes_at(m: MjModel, d: MjData, contacts: list[int]) -> set[int]:
    """Numbers of the kinds of some contacts with flexes."""
    kind_of: Callable[..., int] = kind_of_contact
    reach = internals.number(d, "work.reach")
    return {int(kind_of(m, d, con, reach)) for con in contacts}


def soft_codes(m: MjModel, distant: bool) -> set[int]:
    """Numbers of all kinds of contacts that the flexes of a model may have.

    Args:
        m: model.
        distant: whether contacts at a distance are among them.
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
    return found
