"""Elastic forces of flexes: stretching of solids and shells, bending of shells (spec: modeling, flex/elasticity).

**Stretching.** The elongation e of an edge is its squared length minus its squared length at rest. An element has the
energy ``W = 1/4 e' K e``, with its matrix K in `flex_stiffness` (`cardan.compiler.flexes.elastic`). The derivative of
an edge's squared length by a dof is ``2 l J``, for its length l and its row J of the edge Jacobian. The element
therefore pulls edge a with the force ``-l_a (K e)_a`` along the edge. Damping adds ``-damping l_a (K r)_a``, where r is
the change of the squared length in the past time step h, if the velocity v of the length was constant, divided by h:
``r = (l^2 - (l - h v)^2) / h = 2 l v - h v^2``.

**Bending.** The hinge of an edge has four vertices x, and the energy ``W = 1/2 sum B_ij x_i'x_j + b det(d1, d2, d3)``.
Here d are the vectors from the first vertex to the others; B and b are in `flex_bending`. The determinant depends on
the signed angle of the hinge. Damping adds ``-damping B`` times the velocities of the vertices.

The energy of elasticity is not part of ``d.energy``, as in MuJoCo.

Sources: manual of MuJoCo 4.0, XML reference, flex/elasticity; the papers named in `cardan.soft.material` and
`cardan.compiler.flexes.elastic`; results of MuJoCo.
"""

from __future__ import annotations

from cardan.dynamics.jacobian import apply_ft, arm_of
from cardan.dynamics.switches import has_dampers, has_springs
from cardan.jit import OK, kernel, stack_array, stage
from cardan.maths.types import Array1, Array2, Vec3
from cardan.maths.vector import add3, add_scaled3, cross, get3, scale3, set3, sub3
from cardan.model.kernel_views import AnyModel, Data, Model
from cardan.soft.edges import add_edge_force, first_place, next_place

BENDING_NUMBERS = 17
"""Count of numbers of an edge in `flex_bending`: a matrix of four vertices, row by row, and the volume term."""
STIFFNESS_NUMBERS = {2: 21, 3: 24}
"""Count of numbers of an element in `flex_stiffness`, by dimension: an upper triangle, then zeros."""
_SHELL_ROW, _SOLID_ROW = STIFFNESS_NUMBERS[2], STIFFNESS_NUMBERS[3]
_MOST_EDGES = 6
NOTHING = (0.0, 0.0, 0.0)
"""No force, or no velocity."""


def has_elastic_flexes(m: AnyModel) -> bool:
    """Return whether the model has elastic flexes."""
    return m.nflexstiffness > 0


@kernel
def is_elastic(m: Model, flex: int) -> bool:
    """Return whether a flex has elastic forces; rigid flexes have none."""
    return m.flex_rigid[flex] == 0 and m.flex_stiffnessadr[flex] >= 0


@kernel
def element_edges(m: Model, flex: int) -> int:
    """Count of edges of an element of a flex of dimension 2 or 3."""
    return 3 if m.flex_dim[flex] == 2 else 6


@kernel
def element_stiffness(m: Model, flex: int, element: int) -> int:
    """Return the address in `flex_stiffness` of the matrix of an element."""
    return m.flex_stiffnessadr[flex] + element * (_SHELL_ROW if m.flex_dim[flex] == 2 else _SOLID_ROW)


@kernel
def upper_entry(count: int, i: int, j: int) -> int:
    """Index of entry (`i`, `j`) of a symmetric matrix with `count` rows, whose upper triangle is stored row by row."""
    low, high = min(i, j), max(i, j)
    return low * count - low * (low - 1) // 2 + high - low


@kernel
def elongate(m: Model, d: Data, flex: int) -> None:
    """Set `work.edge_strain` and `work.edge_rate` of a flex's edges to elongations e (m^2) and rates r (m^2/s)."""
    h = m.opt.timestep
    for edge in range(m.flex_edgeadr[flex], m.flex_edgeadr[flex] + m.flex_edgenum[flex]):
        length, velocity, rest = d.flexedge_length[edge], d.flexedge_velocity[edge], m.flexedge_length0[edge]
        d.work.edge_strain[edge] = length * length - rest * rest
        d.work.edge_rate[edge] = 2.0 * length * velocity - h * velocity * velocity
        d.work.edge_tension[edge] = 0.0
        d.work.edge_drag[edge] = 0.0


@kernel
def _sum_elements(m: Model, d: Data, flex: int, count: int, room: int, source: Array1, target: Array1) -> None:
    """Add K times the numbers `source` of each element's edges to `target` (both (nflexedge,)).

    Elements have `count` edges, and `room` numbers in `flex_stiffness`.
    """
    value, total = stack_array(_MOST_EDGES), stack_array(_MOST_EDGES)
    start = m.flex_edgeadr[flex]
    for element in range(m.flex_elemnum[flex]):
        first = m.flex_elemedgeadr[flex] + element * count
        entry = m.flex_stiffnessadr[flex] + element * room
        for a in range(count):
            value[a] = source[start + m.flex_elemedge[first + a]]
            total[a] = 0.0
        for a in range(count):
            total[a] += m.flex_stiffness[entry] * value[a]
            for b in range(a + 1, count):
                stiffness = m.flex_stiffness[entry + b - a]
                total[a] += stiffness * value[b]
                total[b] += stiffness * value[a]
            entry += count - a
        for a in range(count):
            target[start + m.flex_elemedge[first + a]] += total[a]


@kernel
def sum_elements(m: Model, d: Data, flex: int, source: Array1, target: Array1) -> None:
    """Add to `target` the products of element matrices K with `source`, numbers of edges (both (nflexedge,))."""
    if m.flex_dim[flex] == 2:
        _sum_elements(m, d, flex, 3, _SHELL_ROW, source, target)
    else:
        _sum_elements(m, d, flex, 6, _SOLID_ROW, source, target)


@kernel
def stretches(m: Model, flex: int) -> bool:
    """Return whether an elastic flex resists stretching: a shell may only bend."""
    return m.flex_stiffness[m.flex_stiffnessadr[flex]] != 0.0


@kernel
def _stretch(m: Model, d: Data, flex: int, springs: bool, dampers: bool) -> None:
    """Add the forces of stretched elements of a flex to the generalised forces."""
    start, stop = m.flex_edgeadr[flex], m.flex_edgeadr[flex] + m.flex_edgenum[flex]
    damping = m.flex_damping[flex] if dampers else 0.0
    elongate(m, d, flex)
    if springs:
        sum_elements(m, d, flex, d.work.edge_strain, d.work.edge_tension)
    if damping != 0.0:
        sum_elements(m, d, flex, d.work.edge_rate, d.work.edge_drag)
    line, column = first_place(m, d, start)
    for edge in range(start, stop):
        length = d.flexedge_length[edge]
        d.work.edge_tension[edge] *= -length
        d.work.edge_drag[edge] *= -damping * length
        if springs:
            add_edge_force(m, d, edge, line, column, d.work.edge_tension[edge], d.qfrc_spring)
        if damping != 0.0:
            add_edge_force(m, d, edge, line, column, d.work.edge_drag[edge], d.qfrc_damper)
        line, column = next_place(m, edge, line, column)


@kernel
def hinge_vertex(m: Model, flex: int, edge: int, k: int) -> int:
    """Vertex `k` (0 to 3) of the hinge of an edge, numbered over all flexes: the ends, then the opposite vertices."""
    return m.flex_vertadr[flex] + (m.flex_edge[edge, k] if k < 2 else m.flex_edgeflap[edge, k - 2])


@kernel
def bending_place(m: Model, flex: int, edge: int) -> int:
    """Return the address in `flex_bending` of the numbers of an edge."""
    return m.flex_bendingadr[flex] + (edge - m.flex_edgeadr[flex]) * BENDING_NUMBERS


@kernel
def vertex_velocity(m: Model, d: Data, vertex: int) -> Vec3:
    """Velocity of a vertex, world frame. Reads cvel, flexvert_xpos."""
    body = m.flex_vertbodyid[vertex]
    turning = (d.cvel[body, 0], d.cvel[body, 1], d.cvel[body, 2])
    moving = (d.cvel[body, 3], d.cvel[body, 4], d.cvel[body, 5])
    return add3(moving, cross(turning, arm_of(m, d, get3(d.flexvert_xpos, vertex), body)))


@kernel
def add_to(target: Array2, row: int, force: Vec3) -> None:
    """Add a vector to a row of an array (n, 3)."""
    for i in range(3):
        target[row, i] += force[i]


@kernel
def _bend_hinge(m: Model, d: Data, flex: int, edge: int) -> None:
    """Add the forces of the hinge of an edge to `work.vertex_force` and `work.vertex_drag`."""
    at, damping = bending_place(m, flex, edge), m.flex_damping[flex]
    origin = get3(d.flexvert_xpos, hinge_vertex(m, flex, edge, 0))
    d1 = sub3(get3(d.flexvert_xpos, hinge_vertex(m, flex, edge, 1)), origin)
    d2 = sub3(get3(d.flexvert_xpos, hinge_vertex(m, flex, edge, 2)), origin)
    d3 = sub3(get3(d.flexvert_xpos, hinge_vertex(m, flex, edge, 3)), origin)
    for i in range(4):
        # rows of the matrix sum to 0, so that positions may refer to the first vertex
        row = at + 4 * i
        force = add3(scale3(d1, -m.flex_bending[row + 1]), scale3(d2, -m.flex_bending[row + 2]))
        vertex = hinge_vertex(m, flex, edge, i)
        add_to(d.work.vertex_force, vertex, add_scaled3(force, d3, -m.flex_bending[row + 3]))
        if damping != 0.0:
            drag = NOTHING
            for j in range(4):
                speed = get3(d.work.vertex_speed, hinge_vertex(m, flex, edge, j))
                drag = add_scaled3(drag, speed, -damping * m.flex_bending[row + j])
            add_to(d.work.vertex_drag, vertex, drag)
    volume = m.flex_bending[at + 16]
    if volume != 0.0:
        g1, g2, g3 = cross(d2, d3), cross(d3, d1), cross(d1, d2)
        add_to(d.work.vertex_force, hinge_vertex(m, flex, edge, 0), scale3(add3(add3(g1, g2), g3), volume))
        add_to(d.work.vertex_force, hinge_vertex(m, flex, edge, 1), scale3(g1, -volume))
        add_to(d.work.vertex_force, hinge_vertex(m, flex, edge, 2), scale3(g2, -volume))
        add_to(d.work.vertex_force, hinge_vertex(m, flex, edge, 3), scale3(g3, -volume))


@kernel
def _apply_at_vertices(m: Model, d: Data, flex: int, force: Array2, result: Array1) -> None:
    """Add the generalised forces of `force` (nflexvert, 3) on the vertices of a flex to `result` and qfrc_passive."""
    for vertex in range(m.flex_vertadr[flex], m.flex_vertadr[flex] + m.flex_vertnum[flex]):
        point, body = get3(d.flexvert_xpos, vertex), m.flex_vertbodyid[vertex]
        apply_ft(m, d, get3(force, vertex), NOTHING, point, body, result)
        apply_ft(m, d, get3(force, vertex), NOTHING, point, body, d.qfrc_passive)


@kernel
def _bend(m: Model, d: Data, flex: int, springs: bool, dampers: bool) -> None:
    """Add the forces of the hinges of a shell to the generalised forces."""
    for vertex in range(m.flex_vertadr[flex], m.flex_vertadr[flex] + m.flex_vertnum[flex]):
        set3(d.work.vertex_speed, vertex, vertex_velocity(m, d, vertex))
        set3(d.work.vertex_force, vertex, NOTHING)
        set3(d.work.vertex_drag, vertex, NOTHING)
    for edge in range(m.flex_edgeadr[flex], m.flex_edgeadr[flex] + m.flex_edgenum[flex]):
        if m.flex_edgeflap[edge, 1] >= 0:
            _bend_hinge(m, d, flex, edge)
    if springs:
        _apply_at_vertices(m, d, flex, d.work.vertex_force, d.qfrc_spring)
    if dampers and m.flex_damping[flex] != 0.0:
        _apply_at_vertices(m, d, flex, d.work.vertex_drag, d.qfrc_damper)


@stage
def elastic_forces(m: Model, d: Data) -> int:
    """Add the elastic forces of flexes and their damping to qfrc_spring, qfrc_damper and qfrc_passive (nv,).

    Reads flexvert_xpos, flexedge_length, flexedge_velocity, flexedge_J, cvel.
    """
    springs, dampers = has_springs(m), has_dampers(m)
    if not springs and not dampers:
        return OK
    for flex in range(m.nflex):
        if is_elastic(m, flex):
            if stretches(m, flex):
                _stretch(m, d, flex, springs, dampers)
            if m.flex_bendingadr[flex] >= 0:
                _bend(m, d, flex, springs, dampers)
    return OK
