"""Statistics of the model in the initial configuration (mjStatistic): means, extent, centre."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.enums import mjtGeom
from cardan.jit import Field, Struct, StructMemory, kernel
from cardan.jit.driver.direct import call, native_over
from cardan.maths.vector import get3, norm3, sub3
from cardan.model.kernel_views import Model

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

_LEAST = 1e-5
_SIZE_WITHOUT_BODIES = 0.2
_EXTENT_OF_A_POINT = 2.0
_RADIUS_OF_INFINITE_PLANE = 1.0
_RADIUS_OF_PLANE = 0.1  # relative to its longer half side
_PLANE = int(mjtGeom.mjGEOM_PLANE)

_PLACES = ("xpos", "xipos", "xanchor", "site_xpos", "geom_xpos")

EXTENT = Struct(
    "Extent",
    [
        *(Field(name, "f8", ("any", 3), "as in the data") for name in _PLACES),
        Field("size", "f8", ("any",), "radius of each body about its centre of mass"),
        Field("low", "f8", ("any",), "low corner of the box around all (3,)"),
        Field("high", "f8", ("any",), "high corner"),
    ],
    readonly=False,
)


def set_statistics(m: MjModel, d: MjData) -> None:
    """Fill ``m.stat``."""
    memory = StructMemory(EXTENT, {})
    for name in _PLACES:
        memory.attach(name, d._memory.arrays[name])
    size, low, high = np.zeros(m.nbody), np.full(3, inf), np.full(3, -inf)
    memory.attach("size", size)
    memory.attach("low", low)
    memory.attach("high", high)
    call(find_extent, m._memory, memory)
    if m.nflex:
        _add_edges(m, size)
    if low[0] > high[0]:  # nothing but an empty world
        low[:] = high[:] = 0.0
    stat = m.stat
    stat.meaninertia = float(m.dof_M0.mean()) if m.nv else 1.0
    stat.meanmass = float(m.body_mass[1:].mean()) if m.nbody > 1 else 1.0
    stat.meansize = float(np.maximum(size[1:], _LEAST).mean()) if m.nbody > 1 else _SIZE_WITHOUT_BODIES
    stat.center = 0.5 * (low + high)
    extent = float((high - low).max())
    stat.extent = max(extent if extent >= _LEAST else _EXTENT_OF_A_POINT, 2.0 * stat.meansize)


def _add_edges(m: MjModel, size: np.ndarray) -> None:
    """Bodies of flexes are as large as the edges at their vertices are long."""
    from cardan.compiler.flexes.constants import edge_vertices

    edge, _ = edge_vertices(m)
    for vertex in edge.T:
        np.maximum.at(size, m.flex_vertbodyid[vertex], m.flexedge_length0)


@kernel
def _reach(s: Any, body: int, place: Any, radius: float) -> None:
    """Let the size of a body reach to a ball about a place."""
    s.size[body] = max(s.size[body], norm3(sub3(place, get3(s.xipos, body))) + radius)


@kernel
def _enclose(s: Any, place: Any, radius: float) -> None:
    """Let the box enclose a ball about a place."""
    s.low[0] = min(s.low[0], place[0] - radius)
    s.low[1] = min(s.low[1], place[1] - radius)
    s.low[2] = min(s.low[2], place[2] - radius)
    s.high[0] = max(s.high[0], place[0] + radius)
    s.high[1] = max(s.high[1], place[1] + radius)
    s.high[2] = max(s.high[2], place[2] + radius)


@kernel
def _radius(m: Model, geom: int) -> float:
    """Radius of a geom in the extent of the model; planes count as small balls."""
    if m.geom_type[geom] != _PLANE:
        return m.geom_rbound[geom]
    side = max(m.geom_size[geom, 0], m.geom_size[geom, 1])
    return _RADIUS_OF_PLANE * side if side > 0.0 else _RADIUS_OF_INFINITE_PLANE


@native_over("Model", "Extent")
def find_extent(m: Model, s: Any, _unused: int, _neither: int) -> int:
    """Sizes of bodies, which hold their geoms, joints and joints of children; the box around all that has a place."""
    for body in range(1, m.nbody):
        _enclose(s, get3(s.xpos, body), 0.0)
        _enclose(s, get3(s.xipos, body), 0.0)
    for geom in range(m.ngeom):
        place = get3(s.geom_xpos, geom)
        if m.geom_rbound[geom] > 0.0:
            _reach(s, m.geom_bodyid[geom], place, m.geom_rbound[geom])
        _enclose(s, place, _radius(m, geom))
    for joint in range(m.njnt):
        place, body = get3(s.xanchor, joint), m.jnt_bodyid[joint]
        _reach(s, body, place, 0.0)
        _reach(s, m.body_parentid[body], place, 0.0)
        _enclose(s, place, 0.0)
    for site in range(m.nsite):
        _enclose(s, get3(s.site_xpos, site), 0.0)
    return 0
