"""Mobility of bodies and degrees of freedom: native recursions over the kinematic tree.

The *mobility* of a body is J M^-1 J', where J is the Jacobian of its spatial velocity. It maps a force on the body to
the body's acceleration. A first pass computes articulated inertias. A second pass computes each body's mobility from
the parent's mobility, dof by dof. Both passes take time proportional to the number of dofs. All vectors are about the
centre of mass of the whole tree, rotation first, like `cdof` and `cinert`. `s` is the structure `INITIAL` of
`cardan.compiler.initial`.

Sources: R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 7; K. Kreutz-Delgado, A. Jain, G. Rodriguez,
Recursive formulation of operational space control, International Journal of Robotics Research 11, 1992.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from cardan.constants import mjMINVAL
from cardan.dynamics.inertia import solve_ld, solve_lt
from cardan.dynamics.jacobian import is_sparse
from cardan.dynamics.reflected import added_armature
from cardan.jit import kernel
from cardan.jit.driver.program import native_over
from cardan.maths.vector import add6, add_scaled6, dot6, get6, get10, mul_inertia, set6
from cardan.model.kernel_views import Model

ROUNDING = 1e-14
"""Relative rounding error that can remain when terms cancel."""


@kernel
def _times(matrix: Any, body: int, v: Any) -> Any:
    """Multiply the symmetric matrix of a body by a vector of six numbers."""
    first = 6 * body
    return (
        dot6(get6(matrix, first), v),
        dot6(get6(matrix, first + 1), v),
        dot6(get6(matrix, first + 2), v),
        dot6(get6(matrix, first + 3), v),
        dot6(get6(matrix, first + 4), v),
        dot6(get6(matrix, first + 5), v),
    )


@kernel
def _add_product(matrix: Any, body: int, u: Any, v: Any, scale: float) -> None:
    """Add the outer product u v', multiplied by `scale`, to the matrix of a body."""
    first = 6 * body
    set6(matrix, first, add_scaled6(get6(matrix, first), v, scale * u[0]))
    set6(matrix, first + 1, add_scaled6(get6(matrix, first + 1), v, scale * u[1]))
    set6(matrix, first + 2, add_scaled6(get6(matrix, first + 2), v, scale * u[2]))
    set6(matrix, first + 3, add_scaled6(get6(matrix, first + 3), v, scale * u[3]))
    set6(matrix, first + 4, add_scaled6(get6(matrix, first + 4), v, scale * u[4]))
    set6(matrix, first + 5, add_scaled6(get6(matrix, first + 5), v, scale * u[5]))


@kernel
def _set_rigid(s: Any, body: int) -> None:
    """Initialise the articulated inertia of a body with the body's own spatial inertia."""
    own = get10(s.cinert, body)
    set6(s.articulated, 6 * body, mul_inertia(own, (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
    set6(s.articulated, 6 * body + 1, mul_inertia(own, (0.0, 1.0, 0.0, 0.0, 0.0, 0.0)))
    set6(s.articulated, 6 * body + 2, mul_inertia(own, (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)))
    set6(s.articulated, 6 * body + 3, mul_inertia(own, (0.0, 0.0, 0.0, 1.0, 0.0, 0.0)))
    set6(s.articulated, 6 * body + 4, mul_inertia(own, (0.0, 0.0, 0.0, 0.0, 1.0, 0.0)))
    set6(s.articulated, 6 * body + 5, mul_inertia(own, (0.0, 0.0, 0.0, 0.0, 0.0, 1.0)))


@kernel
def _articulate(m: Model, s: Any) -> None:
    """Compute the articulated inertias of bodies, from the leaves to the root.

    For each dof, the pivot is the articulated inertia along the dof's axis plus the armature, at least mjMINVAL. The
    force is the articulated inertia times the axis, divided by the pivot.
    """
    for body in range(1, m.nbody):
        _set_rigid(s, body)
    for body in range(m.nbody - 1, 0, -1):
        for dof in range(m.body_dofadr[body] + m.body_dofnum[body] - 1, m.body_dofadr[body] - 1, -1):
            axis = get6(s.cdof, dof)
            force = _times(s.articulated, body, axis)
            pivot = dot6(axis, force) + m.dof_armature[dof]
            added = added_armature(m, m.dof_jntid[dof])
            if added != 0.0:
                pivot += added
            pivot = max(pivot, mjMINVAL)
            _add_product(s.articulated, body, force, force, -1.0 / pivot)
            s.pivot[dof] = pivot
            set6(s.force, dof, add_scaled6((0.0, 0.0, 0.0, 0.0, 0.0, 0.0), force, 1.0 / pivot))
        parent = m.body_parentid[body]
        if parent > 0:
            for k in range(6):
                total = add6(get6(s.articulated, 6 * parent + k), get6(s.articulated, 6 * body + k))
                set6(s.articulated, 6 * parent + k, total)


@kernel
def _weigh_body(s: Any, body: int) -> None:
    """Compute a body's translational and rotational inverse weights: means of its mobility at its centre of mass."""
    w = 6 * body
    x, y, z = s.arm[body, 0], s.arm[body, 1], s.arm[body, 2]
    o = s.mobility
    rotation = o[w, 0] + o[w + 1, 1] + o[w + 2, 2]
    centre = o[w + 3, 3] + o[w + 4, 4] + o[w + 5, 5]
    mixed = x * (o[w + 1, 5] - o[w + 2, 4]) + y * (o[w + 2, 3] - o[w, 5]) + z * (o[w, 4] - o[w + 1, 3])
    along = (
        x * (x * o[w, 0] + y * o[w, 1] + z * o[w, 2])
        + y * (x * o[w + 1, 0] + y * o[w + 1, 1] + z * o[w + 1, 2])
        + z * (x * o[w + 2, 0] + y * o[w + 2, 1] + z * o[w + 2, 2])
    )
    square = (x * x + y * y + z * z) * rotation - along
    moves = centre - 2.0 * mixed + square
    # if the centre of mass is on the axis, only rounding errors remain
    s.body_weight[body, 0] = moves / 3.0 if moves > ROUNDING * (centre + square) else 0.0
    s.body_weight[body, 1] = rotation / 3.0


@kernel
def find_mobilities(m: Model, s: Any) -> None:
    """Compute the inverse weights of all dofs and bodies from `cinert`, `cdof` and `arm`; 0 for the world body."""
    _articulate(m, s)
    s.body_weight[0, 0] = 0.0
    s.body_weight[0, 1] = 0.0
    for k in range(6):
        set6(s.mobility, k, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    for body in range(1, m.nbody):
        for k in range(6):
            set6(s.mobility, 6 * body + k, get6(s.mobility, 6 * m.body_parentid[body] + k))
        for dof in range(m.body_dofadr[body], m.body_dofadr[body] + m.body_dofnum[body]):
            axis, force = get6(s.cdof, dof), get6(s.force, dof)
            moved = _times(s.mobility, body, force)
            weight = 1.0 / s.pivot[dof] + dot6(force, moved)
            s.dof_weight[dof] = weight
            _add_product(s.mobility, body, axis, moved, -1.0)
            _add_product(s.mobility, body, moved, axis, -1.0)
            _add_product(s.mobility, body, axis, axis, weight)
        _weigh_body(s, body)


@kernel
def _row_weight(m: Model, s: Any, first: int) -> float:
    """Return x M^-1 x' for the row x in ``s.row`` that begins at `first`. The row is overwritten."""
    solve_lt(m, s.factor, s.row, first)
    total = 0.0
    for dof in range(m.nv):
        total += s.row[first + dof] * s.row[first + dof] * s.pivot_inv[dof]
    return total


@kernel
def weigh_tendons(m: Model, s: Any) -> None:
    """Compute the lengths and inverse weights of tendons; the tendon Jacobian may be sparse or dense."""
    nv, compressed = m.nv, is_sparse(m)
    for tendon in range(m.ntendon):
        for dof in range(nv):
            s.row[dof] = 0.0 if compressed else s.ten_J[tendon * nv + dof]
        if compressed:
            for k in range(s.ten_J_rowadr[tendon], s.ten_J_rowadr[tendon] + s.ten_J_rownnz[tendon]):
                s.row[s.ten_J_colind[k]] = s.ten_J[k]
        s.tendon_length0[tendon] = s.ten_length[tendon]
        s.tendon_invweight0[tendon] = _row_weight(m, s, 0)


@kernel
def weigh_actuators(m: Model, s: Any) -> None:
    """Compute, for each actuator, the transmission's length and the norm of the acceleration caused by a unit force."""
    nv = m.nv
    for i in range(m.nout):
        for dof in range(nv):
            s.row[dof] = s.actuator_moment[i * nv + dof]
        solve_ld(m, s.factor, s.pivot_inv, s.row, 0)
        total = 0.0
        for dof in range(nv):
            total += s.row[dof] * s.row[dof]
        s.actuator_length0[i] = s.actuator_length[i]
        s.actuator_acc0[i] = sqrt(total)


@native_over("Model", "Initial")
def weigh_rows(m: Model, s: Any, count: int, _unused: int) -> int:
    """Set the weight x M^-1 x' of each of `count` rows in ``s.row``; the rows are overwritten. Return 0.

    The integer `_unused` is required by `native_over`.
    """
    for k in range(count):
        s.row_weight[k] = _row_weight(m, s, k * m.nv)
    return 0
