"""Stiffness of elastic flexes in the effective metric of the integrator discrete (`cardan.dynamics.metric`).

The metric has the terms ``(h^2 + h damping) K`` for the time step h, and the shift of forces h K v. K maps velocities
of vertices to forces. It is positive semi-definite and consists of these parts (notation of `cardan.soft.elastic`):

- ``2 x_a K_ab x_b`` for edges a, b of an element, with the vectors x of the edges: the elongations change linearly
- ``max((K e)_a, 0)`` times the relative velocity of the edge's vertices, for each edge of each element: the turning of
  edges under tension
- the matrices B of hinges; those of hinges that are folded by more than a right angle at rest are left out

Without springs (flags `spring`, `passive`), the terms of h^2 and the shift are left out; without dampers those of h.

`cardan.solver.elastic_rows` adds K to the solver. Sources: manual of MuJoCo 4.0, chapter computation, integrators
(discrete), and its changelog; results of MuJoCo.
"""

from __future__ import annotations

from cardan.dynamics.jacobian import apply_ft, arm_of, point_column
from cardan.dynamics.switches import has_dampers, has_springs
from cardan.jit import OK, kernel, stack_array, stage
from cardan.maths.types import Array1, ConstArray1, Vec3
from cardan.maths.vector import add_scaled3, dot3, get3, scale3, set3, sub3
from cardan.model.kernel_views import Data, Model
from cardan.soft.edges import edge_vector, edge_vertex
from cardan.soft.elastic import (
    NOTHING,
    add_to,
    bending_place,
    element_edges,
    element_stiffness,
    elongate,
    hinge_vertex,
    is_elastic,
    stretches,
    sum_elements,
    upper_entry,
)

_MOST_EDGES = 6


@kernel
def metric_weight(m: Model, flex: int) -> float:
    """Factor of K in the metric: h^2 if springs are enabled, and h times the damping if dampers are."""
    h = m.opt.timestep
    return (h * h if has_springs(m) else 0.0) + (h * max(m.flex_damping[flex], 0.0) if has_dampers(m) else 0.0)


@kernel
def resists_bending(m: Model, flex: int, edge: int) -> bool:
    """Return whether the hinge of an edge is part of K."""
    if m.flex_bendingadr[flex] < 0 or m.flex_edgeflap[edge, 1] < 0:
        return False
    return m.flex_bending[bending_place(m, flex, edge)] > 0.0


@kernel
def _sum_tension(m: Model, d: Data, flex: int) -> None:
    """Set `work.edge_pull` of a flex's edges to the sum of ``max((K e)_a, 0)`` over the elements at the edge."""
    start, count = m.flex_edgeadr[flex], element_edges(m, flex)
    elongate(m, d, flex)
    for edge in range(start, start + m.flex_edgenum[flex]):
        d.work.edge_pull[edge] = 0.0
    if not stretches(m, flex):
        return
    value = stack_array(_MOST_EDGES)
    for element in range(m.flex_elemnum[flex]):
        first, matrix = m.flex_elemedgeadr[flex] + element * count, element_stiffness(m, flex, element)
        for a in range(count):
            value[a] = d.work.edge_strain[start + m.flex_elemedge[first + a]]
        for a in range(count):
            pull = 0.0
            for b in range(count):
                pull += m.flex_stiffness[matrix + upper_entry(count, a, b)] * value[b]
            d.work.edge_pull[start + m.flex_elemedge[first + a]] += max(pull, 0.0)


@kernel
def _move_vertices(m: Model, d: Data, flex: int, vector: ConstArray1) -> None:
    """Set `work.vertex_speed` to the velocities of a flex's vertices at the generalised velocity `vector` (nv,)."""
    for vertex in range(m.flex_vertadr[flex], m.flex_vertadr[flex] + m.flex_vertnum[flex]):
        body = m.flex_vertbodyid[vertex]
        arm = arm_of(m, d, get3(d.flexvert_xpos, vertex), body)
        speed = NOTHING
        dof = m.aux.body_lastdof[body]
        while dof >= 0:
            speed = add_scaled3(speed, point_column(d, dof, arm), vector[dof])
            dof = m.dof_parentid[dof]
        set3(d.work.vertex_speed, vertex, speed)
        set3(d.work.vertex_force, vertex, NOTHING)


@kernel
def _relative_speed(m: Model, d: Data, flex: int, edge: int) -> Vec3:
    """Velocity of the second vertex of an edge relative to the first."""
    first = get3(d.work.vertex_speed, edge_vertex(m, flex, edge, 0))
    return sub3(get3(d.work.vertex_speed, edge_vertex(m, flex, edge, 1)), first)


@kernel
def _pull_edges(m: Model, d: Data, flex: int) -> None:
    """Add the part of K that concerns edges, times the velocities of vertices, to `work.vertex_force`."""
    start, stop = m.flex_edgeadr[flex], m.flex_edgeadr[flex] + m.flex_edgenum[flex]
    for edge in range(start, stop):
        d.work.edge_rate[edge] = dot3(edge_vector(m, d, flex, edge), _relative_speed(m, d, flex, edge))
        d.work.edge_drag[edge] = 0.0
    sum_elements(m, d, flex, d.work.edge_rate, d.work.edge_drag)
    for edge in range(start, stop):
        along = scale3(edge_vector(m, d, flex, edge), 2.0 * d.work.edge_drag[edge])
        force = add_scaled3(along, _relative_speed(m, d, flex, edge), d.work.edge_pull[edge])
        add_to(d.work.vertex_force, edge_vertex(m, flex, edge, 1), force)
        add_to(d.work.vertex_force, edge_vertex(m, flex, edge, 0), scale3(force, -1.0))


@kernel
def _pull_hinges(m: Model, d: Data, flex: int) -> None:
    """Add the part of K that concerns hinges, times the velocities of vertices, to `work.vertex_force`."""
    for edge in range(m.flex_edgeadr[flex], m.flex_edgeadr[flex] + m.flex_edgenum[flex]):
        if resists_bending(m, flex, edge):
            at = bending_place(m, flex, edge)
            for i in range(4):
                force = NOTHING
                for j in range(4):
                    speed = get3(d.work.vertex_speed, hinge_vertex(m, flex, edge, j))
                    force = add_scaled3(force, speed, m.flex_bending[at + 4 * i + j])
                add_to(d.work.vertex_force, hinge_vertex(m, flex, edge, i), force)


@kernel
def add_stiffness(m: Model, d: Data, flex: int, weight: float, vector: ConstArray1, result: Array1) -> None:
    """Add `weight` K `vector` of one flex to `result` (both (nv,), different arrays)."""
    _move_vertices(m, d, flex, vector)
    if stretches(m, flex):
        _pull_edges(m, d, flex)
    if m.flex_bendingadr[flex] >= 0:
        _pull_hinges(m, d, flex)
    for vertex in range(m.flex_vertadr[flex], m.flex_vertadr[flex] + m.flex_vertnum[flex]):
        force, point = scale3(get3(d.work.vertex_force, vertex), weight), get3(d.flexvert_xpos, vertex)
        apply_ft(m, d, force, NOTHING, point, m.flex_vertbodyid[vertex], result)


@kernel
def add_elastic_metric(m: Model, d: Data, vector: ConstArray1, result: Array1) -> None:
    """Add the terms of elastic flexes in the metric, times `vector`, to `result` (both (nv,), different arrays)."""
    for flex in range(m.nflex):
        if is_elastic(m, flex):
            add_stiffness(m, d, flex, metric_weight(m, flex), vector, result)


@stage
def elastic_metric(m: Model, d: Data) -> int:
    """Prepare the stiffness of elastic flexes for the effective metric; runs after `effective_metric`.

    Writes work.edge_pull (nflexedge,), adds h K v to work.metric_shift, and 1 for each flex to work.metric_nloose.
    """
    for flex in range(m.nflex):
        if is_elastic(m, flex):
            _sum_tension(m, d, flex)
            if metric_weight(m, flex) > 0.0:
                d.work.metric_nloose += 1
            if has_springs(m):
                add_stiffness(m, d, flex, m.opt.timestep, d.qvel, d.work.metric_shift)
    return OK
