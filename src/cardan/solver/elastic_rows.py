"""Rows of the solver for the stiffness of elastic flexes in the effective metric (`cardan.soft.elastic_metric`).

A positive semi-definite term of the metric is a sum of squares ``w/2 (J x)^2``, and thus a set of rows J with weights
w, as those of tendons and actuators (`cardan.solver.effective`). A row of a flex measures a weighted sum of velocities
of up to four vertices. There are as many rows as an element has edges (from a Cholesky factor of its matrix), three for
each edge under tension, and three for each hinge.
"""

from __future__ import annotations

from math import sqrt

from cardan.constraint.jacobian_rows import BANK, fill_union, put_point_wrench, unite_chains
from cardan.dynamics.external import MAX_BODIES
from cardan.dynamics.jacobian import arm_of, is_sparse
from cardan.enums.codes import CNSTR_EQUALITY
from cardan.jit import OK, kernel, stack_array, stack_int_array
from cardan.maths.types import Array1, IntArray1, Vec3
from cardan.maths.vector import get3
from cardan.model.kernel_views import Data, Model
from cardan.model.tables import GROW_EFC, GROW_NNZJ
from cardan.soft.edges import edge_vector, edge_vertex
from cardan.soft.elastic import bending_place, element_edges, element_stiffness, hinge_vertex, is_elastic, stretches
from cardan.soft.elastic_metric import metric_weight, resists_bending
from cardan.soft.flex import element_vertex

NEED_ROWS, NEED_ENTRIES = int(GROW_EFC), int(GROW_NNZJ)
_FACTOR_SIZE = 36  # an element has at most 6 edges
_AXES = 3
_ROOM = 4 * BANK  # wrenches of rows on four bodies


@kernel
def open_loose(m: Model, d: Data, count: int, entries: int, index: int, weight: float) -> int:
    """Append `count` rows of the metric, without values; return the number of the first, or a request times -1.

    Args:
        m: the model.
        d: the data.
        count: number of rows.
        entries: number of entries of each row in sparse storage.
        index: number of the object that the rows belong to.
        weight: factor w of the rows' squares.
    """
    sparse = is_sparse(m)
    row, start, size = int(d.nefc), int(d.nnzJ), entries if sparse else int(m.nv)
    if row + count > len(d.efc_type):
        d.work.need = row + count
        return -NEED_ROWS
    if start + count * size > len(d.efc_J):
        d.work.need = start + count * size
        return -NEED_ENTRIES
    for r in range(row, row + count):
        if sparse:
            d.efc_J_rownnz[r] = size
            d.efc_J_rowadr[r] = start + (r - row) * size
        d.efc_type[r] = CNSTR_EQUALITY
        d.efc_id[r] = index
        d.efc_pos[r] = d.efc_margin[r] = d.efc_frictionloss[r] = d.efc_aref[r] = d.efc_vel[r] = 0.0
        d.efc_D[r] = weight
        d.efc_R[r] = 1.0 / weight
    if not sparse:
        for k in range(start, start + count * size):
            d.efc_J[k] = 0.0
    d.nefc = row + count
    d.nnzJ = start + count * size
    d.work.nloose += count
    return row


@kernel
def _put_rows(m: Model, d: Data, w: Array1, bodies: IntArray1, nbody: int, count: int, flex: int, weight: float) -> int:
    """Append `count` rows with the wrenches `w` on some bodies; return OK or a request."""
    n = unite_chains(m, d, bodies, nbody)
    if n == 0:
        return OK
    row = open_loose(m, d, count, n, flex, weight)
    if row < 0:
        return -row
    fill_union(m, d, w, bodies, nbody, n, row, count)
    return OK


@kernel
def _put_axes(m: Model, d: Data, w: Array1, bodies: IntArray1, k: int, vertex: int, scale: float) -> None:
    """Set body `k` of three rows, which measure the components of a vertex's velocity times `scale`."""
    body = m.flex_vertbodyid[vertex]
    bodies[k] = body
    arm = arm_of(m, d, get3(d.flexvert_xpos, vertex), body)
    put_point_wrench(w, k, 0, arm, (1.0, 0.0, 0.0), scale)
    put_point_wrench(w, k, 1, arm, (0.0, 1.0, 0.0), scale)
    put_point_wrench(w, k, 2, arm, (0.0, 0.0, 1.0), scale)


@kernel
def _factor_element(m: Model, count: int, matrix: int, factor: Array1) -> None:
    """Compute the upper Cholesky factor U (count, count) of an element's matrix U' U, stored at address `matrix`."""
    entry = matrix
    for i in range(count):
        for j in range(i, count):
            value = m.flex_stiffness[entry]
            for k in range(i):
                value -= factor[k * count + i] * factor[k * count + j]
            if j == i:
                factor[i * count + i] = sqrt(max(value, 0.0))
            else:
                factor[i * count + j] = value / factor[i * count + i] if factor[i * count + i] > 0.0 else 0.0
            entry += 1


@kernel
def _coefficient(m: Model, d: Data, flex: int, first: int, count: int, vertex: int, factor: Array1, i: int) -> Vec3:
    """Coefficient of a vertex's velocity in row `i` of an element: sum of U_ia times the vectors of its edges.

    `first` is the address of the element's edges in `flex_elemedge`.
    """
    x, y, z = 0.0, 0.0, 0.0
    for a in range(i, count):
        edge = m.flex_edgeadr[flex] + m.flex_elemedge[first + a]
        sign = 0.0
        if edge_vertex(m, flex, edge, 1) == vertex:
            sign = factor[i * count + a]
        elif edge_vertex(m, flex, edge, 0) == vertex:
            sign = -factor[i * count + a]
        if sign != 0.0:
            along = edge_vector(m, d, flex, edge)
            x, y, z = x + sign * along[0], y + sign * along[1], z + sign * along[2]
    return x, y, z


@kernel
def _append_elements(m: Model, d: Data, flex: int, weight: float) -> int:
    """Append the rows of all elements of a flex, as far as elongations change linearly; return OK or a request."""
    w, bodies = stack_array(_ROOM), stack_int_array(MAX_BODIES)
    factor = stack_array(_FACTOR_SIZE)
    count, corners = element_edges(m, flex), m.flex_dim[flex] + 1
    for element in range(m.flex_elemnum[flex]):
        first = m.flex_elemedgeadr[flex] + element * count
        _factor_element(m, count, element_stiffness(m, flex, element), factor)
        for k in range(corners):
            vertex = element_vertex(m, flex, element, k)
            bodies[k] = m.flex_vertbodyid[vertex]
            arm = arm_of(m, d, get3(d.flexvert_xpos, vertex), bodies[k])
            for i in range(count):
                axis = _coefficient(m, d, flex, first, count, vertex, factor, i)
                put_point_wrench(w, k, i, arm, axis, 1.0)
        status = _put_rows(m, d, w, bodies, corners, count, flex, 2.0 * weight)
        if status != OK:
            return status
    return OK


@kernel
def _append_edges(m: Model, d: Data, flex: int, weight: float) -> int:
    """Append the rows of edges under tension, and of hinges; return OK or a request."""
    w, bodies = stack_array(_ROOM), stack_int_array(MAX_BODIES)
    for edge in range(m.flex_edgeadr[flex], m.flex_edgeadr[flex] + m.flex_edgenum[flex]):
        pull, status = d.work.edge_pull[edge], OK
        if pull > 0.0:
            for k in range(2):
                _put_axes(m, d, w, bodies, k, edge_vertex(m, flex, edge, k), -1.0 if k == 0 else 1.0)
            status = _put_rows(m, d, w, bodies, 2, _AXES, flex, weight * pull)
        if status == OK and resists_bending(m, flex, edge):
            at = bending_place(m, flex, edge)
            stiffness = m.flex_bending[at]
            for k in range(4):
                # the matrix is a product of weights: its first row is one of them times all
                scale = m.flex_bending[at + k] / stiffness
                _put_axes(m, d, w, bodies, k, hinge_vertex(m, flex, edge, k), scale)
            status = _put_rows(m, d, w, bodies, 4, _AXES, flex, weight * stiffness)
        if status != OK:
            return status
    return OK


@kernel
def append_elastic(m: Model, d: Data) -> int:
    """Append rows for the stiffness of all elastic flexes; return OK or a request."""
    status = OK
    for flex in range(m.nflex):
        if is_elastic(m, flex):
            weight = metric_weight(m, flex)
            if weight > 0.0:
                if status == OK and stretches(m, flex):
                    status = _append_elements(m, d, flex, weight)
                if status == OK:
                    status = _append_edges(m, d, flex, weight)
    return status
