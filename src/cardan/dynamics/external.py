"""External forces on bodies (applied, contact, connect and weld forces), and the bodies on each side of a contact.

A side of a contact is a geom and its body, or a vertex or element of a flex and its bodies. The Jacobian of a contact
is a weighted sum of the Jacobians of its point on all these bodies; the weights of the first side are negative. The
body of a geom or of a vertex has weight 1. An element distributes the contact over the bodies of its vertices. In 3.1,
their weights are inversely proportional to the vertices' distances from the contact, and the squares of the weights sum
to 1. In 4.0, they are the barycentric coordinates of the element's point that is closest to the contact (spec:
modelling, deformable objects). The weighting schemes were derived from numerical results of MuJoCo.
"""

from __future__ import annotations

from math import sqrt

from cardan.dynamics.anchors import anchors_of
from cardan.dynamics.awake import BODY, span_range
from cardan.enums.codes import CONE_PYRAMIDAL, EQ_CONNECT, EQ_WELD
from cardan.jit import kernel
from cardan.maths.simplex import segment_weights, tetrahedron_weights, triangle_weights
from cardan.maths.types import Array1, IntArray1, Vec3, Vec6
from cardan.maths.vector import MINVAL, add3, cross, get3, get9, mul_mat_t_vec3, norm3, scale3, set6, sub3
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
    """Return whether at least one side of a contact is a flex."""
    return d.contact.geom[con, 0] < 0 or d.contact.geom[con, 1] < 0


@kernel
def _share(m: Model, d: Data, flex: int, adr: int, pos: Vec3, left_out: int, first: int, weights: Array1) -> None:
    """Write the weights of an element's vertices by the rule of MuJoCo 3.1, from ``weights[first]`` on.

    `adr` is the address of the element's vertices in `flex_elem`; the vertex `left_out` gets no weight.
    """
    n, total = first, 0.0
    for k in range(adr, adr + m.flex_dim[flex] + 1):
        if m.flex_elem[k] != left_out:
            vertex = m.flex_vertadr[flex] + m.flex_elem[k]
            weight = 1.0 / max(MINVAL, norm3(sub3(get3(d.flexvert_xpos, vertex), pos)))
            weights[n] = weight
            total += weight * weight
            n += 1
    scale = 1.0 / sqrt(total)
    for k in range(first, n):
        weights[k] *= scale


@kernel
def _interpolate(m: Model, d: Data, flex: int, adr: int, pos: Vec3, first: int, weights: Array1) -> None:
    """Write the weights of an element's vertices by the rule of MuJoCo 4.0, from ``weights[first]`` on.

    They are the barycentric coordinates of the element's point that is closest to `pos`. `adr` is as in `_share`.
    """
    dim, start = m.flex_dim[flex], m.flex_vertadr[flex]
    a = sub3(get3(d.flexvert_xpos, start + m.flex_elem[adr]), pos)
    b = sub3(get3(d.flexvert_xpos, start + m.flex_elem[adr + 1]), pos)
    if dim == 1:
        of_segment = segment_weights(a, b)
        weights[first], weights[first + 1] = of_segment[0], of_segment[1]
        return
    c = sub3(get3(d.flexvert_xpos, start + m.flex_elem[adr + 2]), pos)
    if dim == 2:
        of_triangle = triangle_weights(a, b, c)
        for k in range(3):
            weights[first + k] = of_triangle[k]
        return
    found = tetrahedron_weights(a, b, c, sub3(get3(d.flexvert_xpos, start + m.flex_elem[adr + 3]), pos))
    for k in range(4):
        weights[first + k] = found[k]


@kernel
def list_bodies(m: Model, d: Data, con: int, bodies: IntArray1, weights: Array1) -> int:
    """Write the bodies of both sides of a contact to `bodies`, and their weights to `weights`.

    The weights of the first side are negative. If the sides are a vertex and an element of the same flex, the element
    is used without this vertex. Both arrays have room for `MAX_BODIES`. Return the number of bodies; a body may occur
    twice.
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
            flex = d.contact.flex[con, side]
            count = m.flex_dim[flex] + 1
            adr = m.flex_elemdataadr[flex] + d.contact.elem[con, side] * count
            pos = get3(d.contact.pos, con)
            left_out = d.contact.vert[con, 1 - side] if d.contact.flex[con, 1 - side] == flex else -1
            for k in range(adr, adr + count):
                if m.flex_elem[k] != left_out:
                    bodies[n] = m.flex_vertbodyid[m.flex_vertadr[flex] + m.flex_elem[k]]
                    n += 1
            if m.is_4_0 != 0 and left_out < 0:
                _interpolate(m, d, flex, adr, pos, first, weights)
            else:
                _share(m, d, flex, adr, pos, left_out, first, weights)
        if side == 0:
            for k in range(first, n):
                weights[k] = -weights[k]
    return n


@kernel
def is_pyramidal(m: Model, d: Data, contact: int) -> bool:
    """Return whether a contact with friction has a pyramidal cone. Contacts that are remembered have elliptic cones."""
    return m.opt.cone == CONE_PYRAMIDAL and (m.nstick == 0 or d.contact.law[contact] == 0)


@kernel
def _contact_component(m: Model, d: Data, contact: int, k: int) -> float:
    """Component `k` of a contact's force in the contact frame (0: normal, then tangents, torsion, rolling)."""
    dim = d.contact.dim[contact]
    adr = d.contact.efc_address[contact]
    if k >= dim:
        return 0.0
    if dim == 1 or not is_pyramidal(m, d, contact):
        return d.efc_force[adr + k]
    if k > 0:
        edge = adr + 2 * (k - 1)
        return d.contact.friction[contact, k - 1] * (d.efc_force[edge] - d.efc_force[edge + 1])
    normal = 0.0
    for edge in range(adr, adr + 2 * (dim - 1)):
        normal += d.efc_force[edge]
    return normal


@kernel
def contact_force(m: Model, d: Data, contact: int) -> Vec6:
    """Force and torque of a contact in the contact frame (6 numbers: force, then torque); 0 if it has no rows.

    The normal force is net of adhesion: negative if the contact pulls.
    The wrench acts on the body of the second geom; the body of the first geom gets the opposite (spec:
    mj_contactForce).
    """
    if d.contact.efc_address[contact] < 0:
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    return (
        _contact_component(m, d, contact, 0) - d.contact.adhesion[contact],
        _contact_component(m, d, contact, 1),
        _contact_component(m, d, contact, 2),
        _contact_component(m, d, contact, 3),
        _contact_component(m, d, contact, 4),
        _contact_component(m, d, contact, 5),
    )


@kernel
def add_wrench(m: Model, d: Data, body: int, point: Vec3, force: Vec3, torque: Vec3) -> None:
    """Add a force at a point (world frame) and a torque to the `cfrc_ext` of a body."""
    arm = sub3(point, get3(d.subtree_com, m.body_rootid[body]))
    moment = add3(torque, cross(arm, force))
    for k in range(3):
        d.cfrc_ext[body, k] += moment[k]
        d.cfrc_ext[body, 3 + k] += force[k]


@kernel
def add_pair(m: Model, d: Data, body1: int, body2: int, point1: Vec3, point2: Vec3, force: Vec3, torque: Vec3) -> None:
    """Add `force` (N) and `torque` (N m) to `cfrc_ext` of `body2` and the opposites to `body1`; skip the world body.

    The force acts at `point2`, the opposite force at `point1`; all vectors are in the world frame.
    """
    if body1 > 0:
        add_wrench(m, d, body1, point1, scale3(force, -1.0), scale3(torque, -1.0))
    if body2 > 0:
        add_wrench(m, d, body2, point2, force, torque)


@kernel
def _set_applied(m: Model, d: Data, first: int, stop: int) -> None:
    """Set `cfrc_ext` of the bodies `first` to `stop` (exclusive) to the forces that the user applies."""
    for body in range(first, stop):
        set6(d.cfrc_ext, body, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    for body in range(max(first, 1), stop):
        applied = d.xfrc_applied
        force = (applied[body, 0], applied[body, 1], applied[body, 2])
        torque = (applied[body, 3], applied[body, 4], applied[body, 5])
        add_wrench(m, d, body, get3(d.xipos, body), force, torque)


@kernel
def add_applied_and_contacts(m: Model, d: Data, some_sleep: bool) -> None:
    """Write `cfrc_ext` (nbody, 6): the sum of applied and contact forces on each body, without contacts of flexes.

    If `some_sleep` is set, bodies that sleep keep their forces.
    """
    if some_sleep:
        for span in range(d.work.nspan):
            first, stop = span_range(d, span, BODY)
            _set_applied(m, d, first, stop)
    else:
        _set_applied(m, d, 0, m.nbody)
    for contact in range(d.ncon):
        if d.contact.efc_address[contact] >= 0 and not has_flex(d, contact):
            body1, body2 = side_body(m, d, contact, 0), side_body(m, d, contact, 1)
            local = contact_force(m, d, contact)
            frame = get9(d.contact.frame, contact)
            force = mul_mat_t_vec3(frame, (local[0], local[1], local[2]))
            torque = mul_mat_t_vec3(frame, (local[3], local[4], local[5]))
            point = get3(d.contact.pos, contact)
            add_pair(m, d, body1, body2, point, point, force, torque)


@kernel
def add_external_forces(m: Model, d: Data, some_sleep: bool) -> None:
    """Write `cfrc_ext` (nbody, 6): the sum of applied, contact (no flexes), connect and weld forces on each body.

    If `some_sleep` is set, bodies that sleep keep their forces.
    """
    add_applied_and_contacts(m, d, some_sleep)
    row = 0
    while row < d.ne:
        eq = d.efc_id[row]
        kind = m.eq_type[eq]
        if kind == EQ_CONNECT:
            body1, body2, point1, point2 = anchors_of(m, d, eq)
            force = (-d.efc_force[row], -d.efc_force[row + 1], -d.efc_force[row + 2])
            add_pair(m, d, body1, body2, point1, point2, force, (0.0, 0.0, 0.0))
            row += 3
        elif kind == EQ_WELD:
            body1, body2, point1, point2 = anchors_of(m, d, eq)
            force = (-d.efc_force[row], -d.efc_force[row + 1], -d.efc_force[row + 2])
            torque = (-d.efc_force[row + 3], -d.efc_force[row + 4], -d.efc_force[row + 5])
            add_pair(m, d, body1, body2, point1, point2, force, torque)
            row += 6
        else:
            row += 1
