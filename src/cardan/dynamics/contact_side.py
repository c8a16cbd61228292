"""Sides of a contact: each is a geom and its body, or a vertex or element of a flex and its bodies.

The Jacobian of a contact is a weighted sum of the Jacobians of its point on all these bodies; the weights of the first
side are negative. The body of a geom or of a vertex has weight 1. An element distributes the contact over the bodies of
its vertices. Their weights are inverse to the distances of the vertices from the contact point, and the squares of the
weights sum to 1.

Spec: modelling, deformable objects ("a weighting scheme to assign each contact point to multiple bodies"). The scheme
was derived from numerical results of the reference.
"""

from __future__ import annotations

from math import sqrt

from cardan.jit import kernel
from cardan.maths.types import Array1, IntArray1
from cardan.maths.vector import MINVAL, get3, norm3, sub3
from cardan.model.kernel_views import Data, Model

MAX_BODIES = 8
"""Maximum number of bodies of a contact: the vertices of two tetrahedra."""


@kernel
def side_body(m: Model, d: Data, con: int, side: int) -> int:
    """Body of the geom on a side of a contact, or -1 if the side is a flex."""
    geom = d.contact.geom[con, side]
    return m.geom_bodyid[geom] if geom >= 0 else -1


@kernel
def has_flex(d: Data, con: int) -> bool:
    """Whether a side of a contact is a flex."""
    return d.contact.geom[con, 0] < 0 or d.contact.geom[con, 1] < 0


@kernel
def other_vertex(d: Data, con: int, side: int) -> int:
    """Vertex on the other side of a contact if it belongs to the same flex, else -1."""
    return d.contact.vert[con, 1 - side] if d.contact.flex[con, 1 - side] == d.contact.flex[con, side] else -1


@kernel
def list_element(m: Model, d: Data, con: int, side: int, n: int, bodies: IntArray1, weights: Array1) -> int:
    """Append the bodies of a flex element's vertices and their weights; return the new number of bodies.

    If a vertex of the element is the other side of the contact, it is left out.
    """
    flex = d.contact.flex[con, side]
    count = m.flex_dim[flex] + 1
    adr = m.flex_elemdataadr[flex] + d.contact.elem[con, side] * count
    pos, left_out = get3(d.contact.pos, con), other_vertex(d, con, side)
    first, total = n, 0.0
    for k in range(adr, adr + count):
        if m.flex_elem[k] != left_out:
            vertex = m.flex_vertadr[flex] + m.flex_elem[k]
            weight = 1.0 / max(MINVAL, norm3(sub3(get3(d.flexvert_xpos, vertex), pos)))
            bodies[n] = m.flex_vertbodyid[vertex]
            weights[n] = weight
            total += weight * weight
            n += 1
    scale = 1.0 / sqrt(total)
    for k in range(first, n):
        weights[k] *= scale
    return n


@kernel
def list_bodies(m: Model, d: Data, con: int, bodies: IntArray1, weights: Array1) -> int:
    """List the bodies of both sides of a contact, with their weights; those of the first side are negative.

    Args:
        m: model.
        d: data.
        con: contact.
        bodies: buffer for `MAX_BODIES` body ids.
        weights: buffer for their weights.

    Returns:
        The number of bodies; a body may occur twice.
    """
    n = 0
    for side in range(2):
        first = n
        if d.contact.geom[con, side] >= 0 or d.contact.vert[con, side] >= 0:
            bodies[n] = side_body(m, d, con, side)
            if bodies[n] < 0:
                flex = d.contact.flex[con, side]
                bodies[n] = m.flex_vertbodyid[m.flex_vertadr[flex] + d.contact.vert[con, side]]
            weights[n] = 1.0
            n += 1
        else:
            n = list_element(m, d, con, side, n, bodies, weights)
        if side == 0:
            for k in range(first, n):
                weights[k] = -weights[k]
    return n
