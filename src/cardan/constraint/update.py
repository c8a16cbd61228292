"""The soft-constraint penalty s(J a - aref): cost, forces, states, cone Hessians (spec: reduced primal problem).

Given the residual acceleration ``jar = J qacc - efc_aref`` (nefc,), each constraint has a convex cost s whose negative
gradient is the constraint force. The primal solvers and inverse dynamics both use this cost:

=====================  ===============================  ==========================  ================================
rows                   where                            cost                        force
=====================  ===============================  ==========================  ================================
equality               everywhere (QUADRATIC)           D jar^2 / 2                 -D jar
friction loss f        abs(jar) < R f (QUADRATIC)       D jar^2 / 2                 -D jar
(Huber)                jar <= -R f (LINEARNEG)          -R f^2 / 2 - f jar          f
..                     jar >= R f (LINEARPOS)           -R f^2 / 2 + f jar          -f
limit, frictionless,   jar < 0 (QUADRATIC)              D jar^2 / 2                 -D jar
pyramid edge           jar >= 0 (SATISFIED)             0                           0
elliptic cone          N >= mu T (SATISFIED)            0                           0
(all rows at once)     mu N + T <= 0 (QUADRATIC)        sum of D jar^2 / 2          -D jar
..                     between (CONE)                   Dm (N - mu T)^2 / 2         -gradient
=====================  ===============================  ==========================  ================================

For an elliptic contact of dimension n, let ``U = (mu jar[0], friction[0] jar[1], ..., friction[n-2] jar[n-1])``, N =
U[0] and T = abs(U[1:]). In the coordinates U the regulariser is uniform, because ``efc_R`` is coupled accordingly (see
`contact.couple_ellipse`). The distance to the dual cone is ``N - mu T`` over sqrt(1 + mu^2), hence ``Dm = D[0] / (mu^2
(1 + mu^2))``. `cone_coordinates` and `cone_zone` compute N, T and the zone for a line search.

The lagged law (``contact.law``) replaces the cost of the cone by two separate ones. The normal row has that of a
one-sided row. The friction rows have a Huber cost of T, whose force is at most F, the normal force of the last step:
``W T^2 / 2`` with ``W = D[0] / mu^2`` for T <= F / W, else ``F T - F^2 / (2 W)``. Its zones are QUADRATIC (all rows
are quadratic), SATISFIED (no forces), and CONE in all other cases, with the Hessian in ``contact.H``.
"""

from __future__ import annotations

from math import sqrt

from cardan.collision.contact import LAGGED
from cardan.constraint.jacobian import mul_jac_t_vec, mul_jac_vec
from cardan.enums.codes import (
    CNSTR_CONTACT_ELLIPTIC,
    CNSTRSTATE_CONE,
    CNSTRSTATE_LINEARNEG,
    CNSTRSTATE_LINEARPOS,
    CNSTRSTATE_QUADRATIC,
    CNSTRSTATE_SATISFIED,
)
from cardan.jit import OK, kernel, stack_array, stage
from cardan.maths.types import Array1, ConstArray1
from cardan.maths.vector import MINVAL
from cardan.model.fields_arena import MAX_CONDIM
from cardan.model.kernel_views import Data, Model


@kernel
def constraint_update(d: Data, jar: ConstArray1, with_hessian: int) -> float:
    """Compute forces, states and cost of all constraint rows at the residual acceleration `jar` (nefc,).

    Write efc_force and efc_state, and return the cost. All rows of an elliptic contact have the same state. If
    `with_hessian` is not 0, also write ``contact.H`` of the elliptic contacts in state CONE: the n x n Hessian of s
    with respect to the contact's jar, row by row in the first n^2 of its 36 elements. In all other states the Hessian
    of s is diagonal: D for QUADRATIC, 0 otherwise.
    """
    bilateral, end = int(d.ne + d.nf), int(d.nefc - d.work.nloose)
    cost = update_equality(d, jar, 0, d.ne)
    cost += update_friction(d, jar, d.ne, bilateral)
    start = bilateral
    stop = start
    while start < end:
        # a range of one-sided rows, then one elliptic contact
        while stop < end and d.efc_type[stop] != CNSTR_CONTACT_ELLIPTIC:
            stop += 1
        cost += update_one_sided(d, jar, start, stop)
        if stop < end:
            con = int(d.efc_id[stop])
            cost += update_elliptic(d, jar, con, stop, with_hessian)
            stop += d.contact.dim[con]
        start = stop
    if end < d.nefc:
        cost += update_equality(d, jar, end, d.nefc)  # terms of the effective metric (`solver.effective`)
    return cost


@kernel
def update_equality(d: Data, jar: ConstArray1, start: int, stop: int) -> float:
    """Update equality rows `start` to `stop`, which are quadratic everywhere; return their cost."""
    weight, force, state = d.efc_D, d.efc_force, d.efc_state
    cost = 0.0
    for i in range(start, stop):
        f = -weight[i] * jar[i]
        cost -= 0.5 * f * jar[i]
        force[i] = f
        state[i] = CNSTRSTATE_QUADRATIC
    return cost


@kernel
def update_friction(d: Data, jar: ConstArray1, start: int, stop: int) -> float:
    """Update friction loss rows `start` to `stop`: Huber cost, force at most `efc_frictionloss`. Return their cost."""
    weight, loss, softness, force, state = d.efc_D, d.efc_frictionloss, d.efc_R, d.efc_force, d.efc_state
    cost = 0.0
    for i in range(start, stop):
        # no branches: where joints come to rest, branches would be unpredictable
        x = jar[i]
        bound = loss[i]
        edge = softness[i] * bound
        quadratic = -weight[i] * x
        inside = -edge < x < edge
        f = quadratic if inside else (bound if x < 0.0 else -bound)
        cost -= 0.5 * f * x if inside else f * x + 0.5 * bound * edge
        force[i] = f
        state[i] = CNSTRSTATE_QUADRATIC if inside else (CNSTRSTATE_LINEARNEG if x < 0.0 else CNSTRSTATE_LINEARPOS)
    return cost


@kernel
def update_one_sided(d: Data, jar: ConstArray1, start: int, stop: int) -> float:
    """Update rows `start` to `stop` of limits, frictionless contacts and pyramids, and return their one-sided cost."""
    weight, force, state = d.efc_D, d.efc_force, d.efc_state
    cost = 0.0
    for i in range(start, stop):
        inside = min(jar[i], 0.0)
        f = -weight[i] * inside
        cost -= 0.5 * f * inside
        force[i] = f
        state[i] = CNSTRSTATE_QUADRATIC if jar[i] < 0.0 else CNSTRSTATE_SATISFIED
    return cost


@kernel
def cone_coordinates(d: Data, jar: ConstArray1, con: int, row: int, u: Array1) -> float:
    """Write the coordinates U of elliptic contact `con`, whose rows start at `row`, to `u` (6,); return T = |U[1:]|."""
    u[0] = jar[row] * d.contact.mu[con]
    squared = 0.0
    for j in range(1, d.contact.dim[con]):
        u[j] = jar[row + j] * d.contact.friction[con, j - 1]
        squared += u[j] * u[j]
    return sqrt(squared)


@kernel
def cone_zone(normal: float, tangent: float, mu: float) -> int:
    """State of an elliptic contact with N = `normal` and T = `tangent`: SATISFIED, QUADRATIC or CONE."""
    if normal >= mu * tangent or (tangent <= 0.0 and normal >= 0.0):
        return CNSTRSTATE_SATISFIED
    if mu * normal + tangent <= 0.0 or (tangent <= 0.0 and normal < 0.0):
        return CNSTRSTATE_QUADRATIC
    return CNSTRSTATE_CONE


@kernel
def update_elliptic(d: Data, jar: ConstArray1, con: int, row: int, with_hessian: int) -> float:
    """Update the rows of elliptic contact `con`, the first of which is `row`; return its cost."""
    if is_lagged(d, con):
        return update_lagged(d, jar, con, row, with_hessian)
    u = stack_array(MAX_CONDIM)
    mu = d.contact.mu[con]
    dim = int(d.contact.dim[con])
    tangent = cone_coordinates(d, jar, con, row, u)
    zone = cone_zone(u[0], tangent, mu)
    for j in range(dim):
        d.efc_state[row + j] = zone
    cost = 0.0
    if zone == CNSTRSTATE_CONE:
        dm = d.efc_D[row] / (mu * mu * (1.0 + mu * mu))
        gap = u[0] - mu * tangent
        cost = 0.5 * dm * gap * gap
        normal_force = -dm * gap * mu
        d.efc_force[row] = normal_force
        for j in range(1, dim):
            d.efc_force[row + j] = -normal_force / tangent * u[j] * d.contact.friction[con, j - 1]
        if with_hessian != 0:
            cone_hessian(d, con, dm, u, tangent)
    elif zone == CNSTRSTATE_QUADRATIC:
        for j in range(dim):
            f = -d.efc_D[row + j] * jar[row + j]
            d.efc_force[row + j] = f
            cost -= 0.5 * f * jar[row + j]
    else:
        for j in range(dim):
            d.efc_force[row + j] = 0.0
    return cost


@kernel
def is_lagged(d: Data, con: int) -> bool:
    """Return whether an elliptic contact has the lagged normal law."""
    return d.contact.law[con] & LAGGED != 0


@kernel
def friction_limit(d: Data, con: int, normal: float) -> float:
    """Normal force that limits the friction of an elliptic contact: `normal`, or with the lagged law the last one."""
    return d.contact.lagged[con] if is_lagged(d, con) else normal


@kernel
def update_lagged(d: Data, jar: ConstArray1, con: int, row: int, with_hessian: int) -> float:
    """Update the rows of an elliptic contact with the lagged normal law; arguments and result as `update_elliptic`."""
    u = stack_array(MAX_CONDIM)
    dim, mu, limit = int(d.contact.dim[con]), d.contact.mu[con], d.contact.lagged[con]
    tangent = cone_coordinates(d, jar, con, row, u)
    weight = d.efc_D[row] / (mu * mu)
    normal = min(jar[row], 0.0)
    slips = weight * tangent > limit
    scale = limit / tangent if slips else weight
    d.efc_force[row] = -d.efc_D[row] * normal
    for j in range(1, dim):
        d.efc_force[row + j] = -scale * u[j] * d.contact.friction[con, j - 1]
    zone = CNSTRSTATE_CONE
    if normal < 0.0 and not slips:
        zone = CNSTRSTATE_QUADRATIC
    elif normal == 0.0 and scale * tangent == 0.0:
        zone = CNSTRSTATE_SATISFIED
    elif with_hessian != 0:
        lagged_hessian(d, con, d.efc_D[row] if normal < 0.0 else 0.0, scale, u, tangent if slips else 0.0)
    for j in range(dim):
        d.efc_state[row + j] = zone
    cost = 0.5 * d.efc_D[row] * normal * normal
    return cost + (limit * (tangent - 0.5 * limit / weight) if slips else 0.5 * weight * tangent * tangent)


@kernel
def lagged_hessian(d: Data, con: int, first: float, scale: float, u: ConstArray1, tangent: float) -> None:
    """Write the Hessian of the lagged law, packed n x n, into ``contact.H``.

    Args:
        d: data.
        con: the contact.
        first: second derivative of the normal row.
        scale: friction force divided by T, in the coordinates `u`.
        u: coordinates of the contact (`cone_coordinates`).
        tangent: T if the friction is at its limit, else 0.
    """
    dim = int(d.contact.dim[con])
    d.contact.H[con, 0] = first
    for j in range(1, dim):
        d.contact.H[con, j] = 0.0
        d.contact.H[con, j * dim] = 0.0
        for k in range(1, dim):
            entry = 1.0 if j == k else 0.0
            if tangent > 0.0:
                entry -= u[j] / tangent * u[k] / tangent
            slopes = d.contact.friction[con, j - 1] * d.contact.friction[con, k - 1]
            d.contact.H[con, j * dim + k] = scale * slopes * entry


@kernel
def cone_hessian(d: Data, con: int, dm: float, u: ConstArray1, tangent: float) -> None:
    """Compute the Hessian of Dm (N - mu T)^2 / 2 with respect to the contact's jar, packed n x n into `contact.H`.

    In the coordinates U, with t = U[1:] / T, the Hessian is Dm times
    ``[[1, -mu t'], [-mu t, mu N/T t t' + mu (mu - N/T) 1]]``.
    """
    mu = d.contact.mu[con]
    dim = int(d.contact.dim[con])
    tangent = max(tangent, MINVAL)
    ratio = u[0] / tangent
    d.contact.H[con, 0] = dm * mu * mu
    for j in range(1, dim):
        scale = dm * mu * d.contact.friction[con, j - 1]
        tj = u[j] / tangent
        d.contact.H[con, j] = -scale * mu * tj
        d.contact.H[con, j * dim] = -scale * mu * tj
        for k in range(1, dim):
            block = ratio * tj * u[k] / tangent
            if j == k:
                block += mu - ratio
            d.contact.H[con, j * dim + k] = scale * d.contact.friction[con, k - 1] * block


@kernel
def forces_at(m: Model, d: Data, acceleration: Array1) -> None:
    """Compute efc_force, efc_state and qfrc_constraint = J' efc_force for an acceleration (nv,) and efc_aref."""
    residual = d.work.efc_residual
    mul_jac_vec(m, d, acceleration, residual)
    for i in range(d.nefc):
        residual[i] = residual[i] - d.efc_aref[i]
    constraint_update(d, residual, 0)
    mul_jac_t_vec(m, d, d.efc_force, d.qfrc_constraint)


@stage
def inv_constraint(m: Model, d: Data) -> int:
    """Compute efc_force, efc_state and qfrc_constraint = J' efc_force, from qacc and efc_aref."""
    forces_at(m, d, d.qacc)
    return OK


@kernel
def set_reference(m: Model, d: Data) -> None:
    """Compute efc_vel = J qvel and efc_aref = -b efc_vel - k d(r) r, where r = efc_pos - efc_margin, for all rows."""
    mul_jac_vec(m, d, d.qvel, d.efc_vel)
    for i in range(d.nefc):
        pull = d.efc_KBIP[i, 0] * d.efc_KBIP[i, 2] * (d.efc_pos[i] - d.efc_margin[i])
        d.efc_aref[i] = -d.efc_KBIP[i, 1] * d.efc_vel[i] - pull


@stage
def reference_constraint(m: Model, d: Data) -> int:
    """Compute efc_vel and efc_aref for all rows; see `set_reference`."""
    set_reference(m, d)
    return OK
