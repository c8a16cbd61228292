"""Spatial tendons: paths through sites, past spheres and cylinders, over pulleys (spec: modeling, spatial tendon).

The path is a polygon of points fixed to bodies, with arcs on obstacles in between. Arcs don't contribute to the
Jacobian: the path is shortest, so moving a tangent point along the surface does not change its length to first order. A
straight segment with the direction u from a point of body a to a point of body b contributes ``u' (J_b - J_a)``. Dofs
that move both bodies cancel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.dynamics.jacobian import arm_of, dof_rate, is_sparse
from cardan.dynamics.tendon import clear_jacobian, clear_row, finish_row, fixed_tendon
from cardan.dynamics.wrapping import wrap
from cardan.enums.codes import WRAP_CYLINDER, WRAP_JOINT, WRAP_PULLEY, WRAP_SITE
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Vec3
from cardan.maths.vector import (
    add3,
    cross,
    get3,
    get9,
    mul_mat_t_vec3,
    mul_mat_vec3,
    norm3,
    normalize3,
    scale3,
    sub3,
)
from cardan.model.kernel_views import Data, Model

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

# values of `wrap_obj` that are not geoms
AT_SITE, AT_PULLEY = -1, -2
ORIGIN = (0.0, 0.0, 0.0)


@kernel
def _add_point(d: Data, number: int, what: int, point: Vec3) -> int:
    """Append a point to the paths, and return the new number of points."""
    d.wrap_obj[number // 2, number % 2] = what
    d.wrap_xpos[number // 2, 3 * (number % 2)] = point[0]
    d.wrap_xpos[number // 2, 3 * (number % 2) + 1] = point[1]
    d.wrap_xpos[number // 2, 3 * (number % 2) + 2] = point[2]
    return number + 1


@kernel
def _mark_chain(m: Model, d: Data, body: int, tendon: int) -> None:
    dof = m.aux.body_lastdof[body]
    while dof >= 0 and d.work.ten_mark[dof] != tendon + 1:
        d.work.ten_mark[dof] = tendon + 1
        dof = m.dof_parentid[dof]


@kernel
def _straight(m: Model, d: Data, tendon: int, a: int, p: Vec3, b: int, q: Vec3, share: float) -> float:
    """Return the length of the segment from `p`, fixed to body `a`, to `q`, fixed to body `b`, and add its moments.

    Length and moments are multiplied by `share`, which is 1 over the divisor of the pulley.
    """
    along = sub3(q, p)
    length = share * norm3(along)
    if a == b:
        return length
    if is_sparse(m):
        _mark_chain(m, d, a, tendon)
        _mark_chain(m, d, b, tendon)
    direction = scale3(normalize3(along), share)
    dof_a, dof_b = m.aux.body_lastdof[a], m.aux.body_lastdof[b]
    # a force along the segment has the same torque at all points of the segment
    tree = b if dof_b >= 0 else a
    torque_b = cross(arm_of(m, d, q, tree), direction)
    torque_a = torque_b
    if dof_a >= 0 and m.body_rootid[a] != m.body_rootid[tree]:
        torque_a = cross(arm_of(m, d, p, a), direction)
    # walk up both chains until they meet
    while dof_a != dof_b:
        if dof_a > dof_b:
            d.work.ten_row[dof_a] -= dof_rate(d, dof_a, direction, torque_a)
            dof_a = m.dof_parentid[dof_a]
        else:
            d.work.ten_row[dof_b] += dof_rate(d, dof_b, direction, torque_b)
            dof_b = m.dof_parentid[dof_b]
    return length


@kernel
def _past_geom(
    m: Model, d: Data, geom: int, side: int, is_cylinder: bool, p: Vec3, q: Vec3
) -> tuple[float, Vec3, Vec3]:
    """Path from `p` to `q` past a geom, in world coordinates; for the results see `wrapping.wrap`."""
    centre, frame = get3(d.geom_xpos, geom), get9(d.geom_xmat, geom)
    local_p = mul_mat_t_vec3(frame, sub3(p, centre))
    local_q = mul_mat_t_vec3(frame, sub3(q, centre))
    local_side = ORIGIN
    if side >= 0:
        local_side = mul_mat_t_vec3(frame, sub3(get3(d.site_xpos, side), centre))
    length, first, second = wrap(local_p, local_q, local_side, side >= 0, m.geom_size[geom, 0], is_cylinder)
    first = add3(centre, mul_mat_vec3(frame, first))
    second = add3(centre, mul_mat_vec3(frame, second))
    return length, first, second


@kernel
def _from_site(m: Model, d: Data, tendon: int, at: int, share: float, number: int) -> tuple[float, int, int]:
    """Add the part of the path from the site at wrap object `at` to the next site, which belongs to the next part.

    Returns:
        Length times `share`, number of points so far, wrap object of the next site.
    """
    site = m.wrap_objid[at]
    a, p = m.site_bodyid[site], get3(d.site_xpos, site)
    number = _add_point(d, number, AT_SITE, p)
    last = m.tendon_adr[tendon] + m.tendon_num[tendon] - 1
    if at == last or m.wrap_type[at + 1] == WRAP_PULLEY:
        return 0.0, number, at + 1
    # the next site, and the obstacle before it, if any
    end = at + 1 if m.wrap_type[at + 1] == WRAP_SITE else at + 2
    site = m.wrap_objid[end]
    b, q = m.site_bodyid[site], get3(d.site_xpos, site)
    body, first, second, arc = b, q, q, -1.0
    if end == at + 2:
        geom, side = m.wrap_objid[at + 1], round(m.wrap_prm[at + 1])
        arc, first, second = _past_geom(m, d, geom, side, m.wrap_type[at + 1] == WRAP_CYLINDER, p, q)
        if arc >= 0.0:
            number = _add_point(d, number, geom, first)
            number = _add_point(d, number, geom, second)
            body = m.geom_bodyid[geom]
        else:
            first = q
    length = share * max(0.0, arc)
    # to the obstacle and from it, or straight to the next site; a loop, since the code of its tangents is long
    for _ in range(2 if arc >= 0.0 else 1):
        length += _straight(m, d, tendon, a, p, body, first, share)
        a, p, body, first = body, second, b, q
    return length, number, end


@kernel
def _spatial(m: Model, d: Data, tendon: int, number: int) -> tuple[float, int]:
    """Return the length of a spatial tendon and the number of points of all paths so far; add to `work.ten_row`."""
    length, share = 0.0, 1.0
    at = m.tendon_adr[tendon]
    end = at + m.tendon_num[tendon]
    while at < end:
        if m.wrap_type[at] == WRAP_PULLEY:
            share = 1.0 / m.wrap_prm[at]
            number = _add_point(d, number, AT_PULLEY, ORIGIN)
            at += 1
        else:
            part, number, at = _from_site(m, d, tendon, at, share, number)
            length += part
    return length, number


@stage
def spatial_tendon(m: Model, d: Data) -> int:
    """Compute lengths and Jacobians of all tendons, fixed and spatial, and the paths of spatial tendons.

    Reads qpos, site_xpos, geom_xpos, geom_xmat, cdof, subtree_com; writes ten_length (ntendon,), ten_J in the format of
    `tendon`, ten_wrapadr and ten_wrapnum (first point of the path and number of points), wrap_obj (geom of each point,
    -1: site, -2: pulley) and wrap_xpos (world coordinates, m).
    """
    clear_jacobian(m, d)
    adr = 0
    number = 0
    for t in range(m.ntendon):
        clear_row(m, d, t)
        d.ten_wrapadr[t] = number
        if m.wrap_type[m.tendon_adr[t]] == WRAP_JOINT:
            d.ten_length[t] = fixed_tendon(m, d, t)
        else:
            length, number = _spatial(m, d, t, number)
            d.ten_length[t] = length
        d.ten_wrapnum[t] = number - d.ten_wrapadr[t]
        adr = finish_row(m, d, t, adr)
    return OK


def has_spatial_tendons(m: MjModel) -> bool:
    """Whether any tendon is spatial."""
    return bool((m.wrap_type != WRAP_JOINT).any())
