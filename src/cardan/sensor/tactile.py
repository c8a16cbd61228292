"""Tactile sensors: depths and sliding speeds at the vertices of a mesh (spec 4.0: XML reference, tactile).

The vertices (taxels) are in the frame of the sensor's geom. A geom counts if it touches a geom of the sensor's weld
group. Depths at a taxel are those of the deepest such geom, and sliding speeds are summed over all of them. The speeds
are along the second and third of three normals of the vertex; a mesh without these has no speeds. Distances are those
of `cardan.collision.sdf.field`. Geoms with meshes and height fields do not count.
"""

from __future__ import annotations

from cardan.collision.sdf.field import evaluate, has_distance, load_side, primitive_distance
from cardan.dynamics.com import velocity_at
from cardan.enums.codes import GEOM_BOX, GEOM_PLANE, GEOM_SDF, GEOM_SPHERE
from cardan.jit import kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import add3, dot3, get3, get9, linear, mul_mat_t_vec3, mul_mat_vec3, sub3
from cardan.model.kernel_views import Data, Model

CHANNELS = 3
"""Blocks of values: depths, and speeds along two tangents."""
NORMALS = 3
"""Number of normals of a vertex: its normal and two tangents."""


@kernel
def _touched(m: Model, d: Data, con: int, group: int) -> int:
    """Return the geom of a contact that touches a geom of a weld group, or -1."""
    for side in range(2):
        own, other = int(d.contact.geom[con, side]), int(d.contact.geom[con, 1 - side])
        if own >= 0 and other >= 0 and m.body_weldid[m.geom_bodyid[own]] == group:
            return other
    return -1


@kernel
def _is_first(m: Model, d: Data, con: int, group: int, geom: int) -> bool:
    """Return whether no contact before `con` is one of the same geom with the weld group."""
    for earlier in range(con):
        if _touched(m, d, earlier, group) == geom:
            return False
    return True


@kernel
def _depth_in_primitive(m: Model, d: Data, geom: int, point: Vec3) -> float:
    """Return the depth of a point (world frame) in a primitive geom, m; negative outside."""
    local = mul_mat_t_vec3(get9(d.geom_xmat, geom), sub3(point, get3(d.geom_xpos, geom)))
    if m.geom_type[geom] == GEOM_PLANE:
        return -local[2]
    return -primitive_distance(m.geom_type[geom], get3(m.geom_size, geom), local)


@kernel
def _add(m: Model, d: Data, i: int, other: int, taxel: int, point: Vec3, depth: float) -> None:
    """Add the depth in a geom, and the speed at which it slides along the taxel."""
    mesh, geom, count = m.sensor_objid[i], m.sensor_refid[i], m.sensor_dim[i] // CHANNELS
    at = m.sensor_adr[i] + taxel
    d.sensordata[at] = max(d.sensordata[at], depth)
    if m.mesh_normalnum[mesh] != NORMALS * m.mesh_vertnum[mesh]:
        return
    own = linear(velocity_at(m, d, m.geom_bodyid[geom], point))
    sliding = mul_mat_t_vec3(get9(d.geom_xmat, geom), sub3(own, linear(velocity_at(m, d, m.geom_bodyid[other], point))))
    first = m.mesh_normaladr[mesh] + NORMALS * taxel
    for k in range(1, CHANNELS):
        speed = abs(dot3(get3(m.mesh_normal, first + k), sliding))
        d.sensordata[at + k * count] = d.sensordata[at + k * count] + speed


@kernel
def _clear(m: Model, d: Data, i: int) -> int:
    """Set the values of a sensor to 0; return the number of its taxels."""
    for k in range(m.sensor_dim[i]):
        d.sensordata[m.sensor_adr[i] + k] = 0.0
    return min(int(m.sensor_dim[i]) // CHANNELS, int(m.mesh_vertnum[m.sensor_objid[i]]))


@kernel
def _position(m: Model, d: Data, i: int, taxel: int) -> Vec3:
    """Return the position of a taxel, world frame."""
    geom = m.sensor_refid[i]
    vertex = get3(m.mesh_vert, m.mesh_vertadr[m.sensor_objid[i]] + taxel)
    return add3(get3(d.geom_xpos, geom), mul_mat_vec3(get9(d.geom_xmat, geom), vertex))


@kernel
def _has_depth(m: Model, geom: int) -> bool:
    """Return whether the depth in a geom can be computed without native functions of shapes: a plane or a primitive."""
    kind = m.geom_type[geom]
    return kind == GEOM_PLANE or (kind >= GEOM_SPHERE and kind <= GEOM_BOX)


@kernel
def tactile(m: Model, d: Data, i: int) -> None:
    """Depths and sliding speeds at the taxels, in a model without signed-distance shapes."""
    count, group = _clear(m, d, i), m.body_weldid[m.geom_bodyid[m.sensor_refid[i]]]
    for con in range(d.ncon):
        other = _touched(m, d, con, group)
        if other >= 0 and _has_depth(m, other) and _is_first(m, d, con, group, other):
            for taxel in range(count):
                point = _position(m, d, i, taxel)
                depth = _depth_in_primitive(m, d, other, point)
                if depth > 0.0:
                    _add(m, d, i, other, taxel, point, depth)


@kernel
def tactile_of_shapes(m: Model, d: Data, i: int) -> None:
    """Depths and sliding speeds at the taxels, in a model with signed-distance shapes."""
    count, group = _clear(m, d, i), m.body_weldid[m.geom_bodyid[m.sensor_refid[i]]]
    for con in range(d.ncon):
        other = _touched(m, d, con, group)
        known = other >= 0 and (_has_depth(m, other) or (m.geom_type[other] == GEOM_SDF and has_distance(m, other)))
        if known and _is_first(m, d, con, group, other):
            shape = m.geom_type[other] == GEOM_SDF
            if shape:
                load_side(m, d, 0, other)
            for taxel in range(count):
                point = _position(m, d, i, taxel)
                depth = -evaluate(m, d, 0, point, 0) if shape else _depth_in_primitive(m, d, other, point)
                if depth > 0.0:
                    _add(m, d, i, other, taxel, point, depth)
