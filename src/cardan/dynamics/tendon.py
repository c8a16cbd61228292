"""Tendons: lengths, Jacobians, velocities (spec: computation, tendons; modeling, fixed tendon, spatial tendon).

The dofs that can change the length of tendon t are ``m.aux.ten_colind[k]`` for k from ``m.aux.ten_rowadr[t]`` to
``m.aux.ten_rowadr[t + 1]`` (exclusive), in ascending order. `tendon_moment` reads the entries of `ten_J` in this order
from dense or sparse storage. Compressed rows also store zeros, for dofs that move a whole segment of the path.

Compressed rows are stored one after the other in the (n, nv) array, as in `flexedge_J`. Entry ``adr`` of all rows is at
the line and column ``(adr // nv, adr % nv)``, so that a row may begin on one line and end on the next.

A separate stage handles *spatial tendons*: paths through sites, past spheres and cylinders, over pulleys. The path is a
polygon of points fixed to bodies, with arcs on obstacles in between. Arcs don't contribute to the Jacobian: the path is
shortest, so moving a tangent point along the surface does not change its length to first order. A straight segment with
the direction u from a point of body a to a point of body b contributes ``u' (J_b - J_a)``. Contributions of dofs that
move both bodies cancel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cardan.dynamics.jacobian import arm_of, dof_rate, is_sparse
from cardan.dynamics.wrapping import NEARER_SIDE, NO_SIDE, SAME_WINDING, wrap
from cardan.enums.codes import WRAP_CYLINDER, WRAP_JOINT, WRAP_PULLEY, WRAP_SITE
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Vec3
from cardan.maths.vector import add3, cross, get3, get9, mul_mat_t_vec3, mul_mat_vec3, norm3, normalize3, scale3, sub3
from cardan.model.kernel_views import Data, Model

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel


@kernel
def place_of(m: Model, adr: int) -> tuple[int, int]:
    """Line and column of entry `adr` of the compressed rows."""
    return adr // m.nv, adr % m.nv


@kernel
def place_after(m: Model, line: int, column: int, count: int) -> tuple[int, int]:
    """Line and column of the entry that is `count` entries later; `count` is at most nv."""
    return (line, column + count) if column + count < m.nv else (line + 1, column + count - m.nv)


@kernel
def _stored_moment(m: Model, d: Data, tendon: int, dof: int) -> float:
    """Entry of a tendon's compressed row of `ten_J` for a dof, found by bisection; 0 if no entry is stored."""
    low = d.ten_J_rowadr[tendon]
    end = low + d.ten_J_rownnz[tendon]
    high = end
    while low < high:
        middle = (low + high) // 2
        if d.ten_J_colind[middle // m.nv, middle % m.nv] < dof:
            low = middle + 1
        else:
            high = middle
    if low < end and d.ten_J_colind[low // m.nv, low % m.nv] == dof:
        return d.ten_J[low // m.nv, low % m.nv]
    return 0.0


@kernel
def tendon_moment(m: Model, d: Data, tendon: int, k: int) -> float:
    """Derivative of a tendon's length with respect to the position of the dof ``m.aux.ten_colind[k]``."""
    if is_sparse(m):
        return _stored_moment(m, d, tendon, m.aux.ten_colind[k])
    return d.ten_J[tendon, m.aux.ten_colind[k]]


@kernel
def clear_row(m: Model, d: Data, tendon: int) -> None:
    """Clear all entries of `work.ten_row` that a tendon can write."""
    for k in range(m.aux.ten_rowadr[tendon], m.aux.ten_rowadr[tendon + 1]):
        d.work.ten_row[m.aux.ten_colind[k]] = 0.0


@kernel
def fixed_tendon(m: Model, d: Data, tendon: int) -> float:
    """Return the length of a fixed tendon; add the weights of its joints to `work.ten_row`, and mark their dofs."""
    length = 0.0
    first = m.tendon_adr[tendon]
    for k in range(first, first + m.tendon_num[tendon]):
        joint = m.wrap_objid[k]
        coefficient = m.wrap_prm[k]
        length += coefficient * d.qpos[m.jnt_qposadr[joint]]
        d.work.ten_row[m.jnt_dofadr[joint]] += coefficient
        d.work.ten_mark[m.jnt_dofadr[joint]] = tendon + 1
    return length


@kernel
def clear_jacobian(m: Model, d: Data) -> None:
    """Clear `ten_J` in dense storage, or the marks of dofs (`work.ten_mark`) in sparse storage."""
    if is_sparse(m):
        for dof in range(m.nv):
            d.work.ten_mark[dof] = 0
        return
    for tendon in range(m.ntendon):
        for dof in range(m.nv):
            d.ten_J[tendon, dof] = 0.0


@kernel
def finish_row(m: Model, d: Data, tendon: int, adr: int) -> int:
    """Copy `work.ten_row` to `ten_J` in the model's storage format. Return the start of the next compressed row.

    In dense storage, the result is 0.
    """
    if is_sparse(m):
        d.ten_J_rowadr[tendon] = adr
        line, column = place_of(m, adr)
        at = m.aux.ten_rowadr[tendon]
        stop = m.aux.ten_rowadr[tendon + 1]
        for k in range(m.aux.ten_J_rowadr[tendon], m.aux.ten_J_rowadr[tendon + 1]):
            dof = m.aux.ten_J_colind[k]
            value = 0.0
            if at < stop and m.aux.ten_colind[at] == dof:
                value = d.work.ten_row[dof]
                at += 1
            if d.work.ten_mark[dof] == tendon + 1:
                d.ten_J_colind[line, column] = dof
                d.ten_J[line, column] = value
                line, column = place_after(m, line, column, 1)
                adr += 1
        d.ten_J_rownnz[tendon] = adr - d.ten_J_rowadr[tendon]
        return adr
    for k in range(m.aux.ten_rowadr[tendon], m.aux.ten_rowadr[tendon + 1]):
        dof = m.aux.ten_colind[k]
        d.ten_J[tendon, dof] = d.work.ten_row[dof]
    return 0


@stage
def tendon(m: Model, d: Data) -> int:
    """Compute lengths of fixed tendons and their Jacobians.

    Reads qpos; writes ten_length (ntendon,) and ten_J. Dense storage is (ntendon, nv). Sparse storage has rows packed
    one after the other, with ten_J_rownnz, ten_J_rowadr, ten_J_colind.
    """
    clear_jacobian(m, d)
    adr = 0
    for t in range(m.ntendon):
        clear_row(m, d, t)
        d.ten_length[t] = fixed_tendon(m, d, t)
        adr = finish_row(m, d, t, adr)
    return OK


@stage
def tendon_velocity(m: Model, d: Data) -> int:
    """Compute rates of change of tendon lengths: ten_velocity (ntendon,) = ten_J qvel."""
    sparse = is_sparse(m)
    for t in range(m.ntendon):
        velocity = 0.0
        if sparse:
            line, column = place_of(m, d.ten_J_rowadr[t])
            for _ in range(d.ten_J_rownnz[t]):
                velocity += d.ten_J[line, column] * d.qvel[d.ten_J_colind[line, column]]
                line, column = place_after(m, line, column, 1)
        else:
            for k in range(m.aux.ten_rowadr[t], m.aux.ten_rowadr[t + 1]):
                dof = m.aux.ten_colind[k]
                velocity += d.ten_J[t, dof] * d.qvel[dof]
        d.ten_velocity[t] = velocity
    return OK


# values of `wrap_obj` that are not geoms
AT_SITE, AT_PULLEY = -1, -2
ORIGIN = (0.0, 0.0, 0.0)


@kernel
def _add_point(d: Data, number: int, what: int, point: Vec3) -> int:
    """Append a point to the paths; `what` is a geom id, AT_SITE or AT_PULLEY. Return the new number of points."""
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
    """Return the length of the segment from `p`, fixed to body `a`, to `q`, fixed to body `b`.

    Add its moments to `work.ten_row` and, in sparse storage, mark the dofs that move its ends. Length and moments are
    multiplied by `share`, the reciprocal of the pulley's divisor.
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
def _from_site(m: Model, d: Data, tendon: int, at: int, share: float, number: int, rule: int) -> tuple[float, int, int]:
    """Add the part of a path from the site at wrap object `at` up to, but not including, the next site.

    Return the part's length times `share`, the number of points so far, and the wrap object of the next site. `rule`
    applies to side sites (`cardan.dynamics.wrapping`).
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
        centre, frame = get3(d.geom_xpos, geom), get9(d.geom_xmat, geom)
        local_p = mul_mat_t_vec3(frame, sub3(p, centre))
        local_q = mul_mat_t_vec3(frame, sub3(q, centre))
        local_side = ORIGIN
        if side >= 0:
            local_side = mul_mat_t_vec3(frame, sub3(get3(d.site_xpos, side), centre))
        arc, first, second = wrap(
            local_p,
            local_q,
            local_side,
            rule if side >= 0 else NO_SIDE,
            m.geom_size[geom, 0],
            m.wrap_type[at + 1] == WRAP_CYLINDER,
        )
        first = add3(centre, mul_mat_vec3(frame, first))
        second = add3(centre, mul_mat_vec3(frame, second))
        if arc >= 0.0:
            number = _add_point(d, number, geom, first)
            number = _add_point(d, number, geom, second)
            body = m.geom_bodyid[geom]
        else:
            first = q
    length = share * max(0.0, arc)
    # to the obstacle and from it, or straight to the next site; a loop, because `_straight` has long tangent code
    for _ in range(2 if arc >= 0.0 else 1):
        length += _straight(m, d, tendon, a, p, body, first, share)
        a, p, body, first = body, second, b, q
    return length, number, end


@kernel
def _all_tendons(m: Model, d: Data, rule: int) -> int:
    """Do as `spatial_tendon`, with the rule `rule` for side sites (`cardan.dynamics.wrapping`)."""
    clear_jacobian(m, d)
    adr, number = 0, 0
    for t in range(m.ntendon):
        clear_row(m, d, t)
        d.ten_wrapadr[t] = number
        if m.wrap_type[m.tendon_adr[t]] == WRAP_JOINT:
            d.ten_length[t] = fixed_tendon(m, d, t)
        else:
            length, share = 0.0, 1.0
            at = m.tendon_adr[t]
            end = at + m.tendon_num[t]
            while at < end:
                if m.wrap_type[at] == WRAP_PULLEY:
                    share = 1.0 / m.wrap_prm[at]
                    number = _add_point(d, number, AT_PULLEY, ORIGIN)
                    at += 1
                else:
                    part, number, at = _from_site(m, d, t, at, share, number, rule)
                    length += part
            d.ten_length[t] = length
        d.ten_wrapnum[t] = number - d.ten_wrapadr[t]
        adr = finish_row(m, d, t, adr)
    return OK


@stage
def spatial_tendon(m: Model, d: Data) -> int:
    """Compute lengths and Jacobians of all tendons, fixed and spatial, and the paths of spatial tendons.

    Reads qpos, site_xpos, geom_xpos, geom_xmat, cdof, subtree_com; writes ten_length (ntendon,), ten_J in the format of
    `tendon`, ten_wrapadr and ten_wrapnum (first point of the path and number of points), wrap_obj (geom of each point,
    -1: site, -2: pulley) and wrap_xpos (world coordinates, m).
    """
    return _all_tendons(m, d, NEARER_SIDE)


@stage
def winding_tendon(m: Model, d: Data) -> int:
    """Do as `spatial_tendon`, but interpret side sites by the rules of MuJoCo 4.0."""
    return _all_tendons(m, d, SAME_WINDING)


def has_tendons(m: MjModel) -> bool:
    """Return whether the model has tendons."""
    return m.ntendon > 0


def has_spatial_tendons(m: MjModel) -> bool:
    """Return whether any tendon is spatial."""
    return bool((m.wrap_type != WRAP_JOINT).any())


def spatial_tendon_stage(m: MjModel) -> Callable[[Any, Any], int]:
    """Return the stage that computes spatial tendons by the rules of the model's version (3.1 or 4.0)."""
    return winding_tendon if m.is_4_0 else spatial_tendon
