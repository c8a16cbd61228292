"""Statistics of the model in the initial configuration (mjStatistic): means, extent, centre.

All kernels take the model and the structure `Initial` (`cardan.compiler.initial`). The size of a flex body is the
length of the edges at its vertices.
"""

from __future__ import annotations

from math import inf
from typing import Any

from cardan.enums.codes import GEOM_PLANE
from cardan.jit import kernel
from cardan.maths.vector import get3, norm3, sub3
from cardan.model.kernel_views import Model

_LEAST = 1e-5
_EXTENT_OF_A_POINT = 2.0
_RADIUS_OF_INFINITE_PLANE = 1.0
_RADIUS_OF_PLANE = 0.1  # relative to its longer half side


@kernel
def _reach(s: Any, body: int, place: Any, radius: float) -> None:
    """Extend the size of a body to include a ball about a place."""
    s.size[body] = max(s.size[body], norm3(sub3(place, get3(s.xipos, body))) + radius)


@kernel
def _enclose(s: Any, place: Any, radius: float) -> None:
    """Extend the box to include a ball about a place."""
    s.low[0] = min(s.low[0], place[0] - radius)
    s.low[1] = min(s.low[1], place[1] - radius)
    s.low[2] = min(s.low[2], place[2] - radius)
    s.high[0] = max(s.high[0], place[0] + radius)
    s.high[1] = max(s.high[1], place[1] + radius)
    s.high[2] = max(s.high[2], place[2] + radius)


@kernel
def _radius(m: Model, geom: int) -> float:
    """Return the radius of a geom for the extent of the model; planes count as small balls."""
    if m.geom_type[geom] != GEOM_PLANE:
        return m.geom_rbound[geom]
    side = max(m.geom_size[geom, 0], m.geom_size[geom, 1])
    return _RADIUS_OF_PLANE * side if side > 0.0 else _RADIUS_OF_INFINITE_PLANE


@kernel
def find_extent(m: Model, s: Any) -> None:
    """Compute sizes of bodies, which include geoms, joints and joints of children, and the box around all objects."""
    for body in range(m.nbody):
        s.size[body] = 0.0
    for k in range(3):
        s.low[k] = inf
        s.high[k] = -inf
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
    for flex in range(m.nflex):
        for edge in range(m.flex_edgeadr[flex], m.flex_edgeadr[flex] + m.flex_edgenum[flex]):
            for k in range(2):
                body = m.flex_vertbodyid[m.flex_vertadr[flex] + m.flex_edge[edge, k]]
                s.size[body] = max(s.size[body], m.flexedge_length0[edge])
    if s.low[0] > s.high[0]:  # the world is empty
        for k in range(3):
            s.low[k] = 0.0
            s.high[k] = 0.0


@kernel
def find_means(m: Model, s: Any) -> None:
    """Compute centre and extent of the model, and means of dof inertias, body masses and sizes without the world.

    If there are no dofs or no bodies, the respective means are not changed.
    """
    inertia = mass = size = extent = 0.0
    for dof in range(m.nv):
        inertia += s.diagonal[dof]
    for body in range(1, m.nbody):
        mass += m.body_mass[body]
        size += max(s.size[body], _LEAST)
    for k in range(3):
        s.center[k] = 0.5 * (s.low[k] + s.high[k])
        extent = max(extent, s.high[k] - s.low[k])
    count = m.nbody - 1
    if m.nv > 0:
        s.mean[0] = inertia / m.nv
    if count > 0:
        s.mean[1] = mass / count
        s.mean[2] = size / count
    s.mean[3] = max(extent if extent > 0.0 else _EXTENT_OF_A_POINT, 2.0 * s.mean[2])
