"""Statistics of the model in the initial configuration (mjStatistic): means, extent, centre."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cardan.enums import mjtGeom

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

_LEAST = 1e-5
_SIZE_WITHOUT_BODIES = 0.2
_EXTENT_OF_A_POINT = 2.0
_RADIUS_OF_INFINITE_PLANE = 1.0
_RADIUS_OF_PLANE = 0.1  # relative to its longer half side


def set_statistics(m: MjModel, d: MjData) -> None:
    """Fill ``m.stat``."""
    stat = m.stat
    stat.meaninertia = float(np.mean(m.dof_M0)) if m.nv else 1.0
    stat.meanmass = float(np.mean(m.body_mass[1:])) if m.nbody > 1 else 1.0
    stat.meansize = _mean_size(m, d)
    low, high = _bounds(m, d)
    stat.center = 0.5 * (low + high)
    extent = float(np.max(high - low))
    stat.extent = max(extent if extent >= _LEAST else _EXTENT_OF_A_POINT, 2.0 * stat.meansize)


def _mean_size(m: MjModel, d: MjData) -> float:
    """Mean over bodies of the radius about the centre of mass that holds geoms, joints, joints of children, edges."""
    if m.nbody == 1:
        return _SIZE_WITHOUT_BODIES
    sizes = np.zeros(m.nbody)
    xipos = d.xipos
    solid = np.flatnonzero(m.geom_rbound > 0.0)
    bodies = m.geom_bodyid[solid]
    reach = np.linalg.norm(d.geom_xpos[solid] - xipos[bodies], axis=1) + m.geom_rbound[solid]
    np.maximum.at(sizes, bodies, reach)
    for owner in (m.jnt_bodyid, m.body_parentid[m.jnt_bodyid]):
        np.maximum.at(sizes, owner, np.linalg.norm(d.xanchor - xipos[owner], axis=1))
    if m.nflex:
        from cardan.compiler.flexes.constants import edge_vertices

        edge, _ = edge_vertices(m)
        for vertex in edge.T:
            np.maximum.at(sizes, m.flex_vertbodyid[vertex], m.flexedge_length0)
    return float(np.mean(np.maximum(sizes[1:], _LEAST)))


def _bounds(m: MjModel, d: MjData) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the box around bodies, joints, sites and geoms; planes count as small balls."""
    radius = m.geom_rbound.copy()
    planes = m.geom_type == int(mjtGeom.mjGEOM_PLANE)
    sides = m.geom_size[planes, :2].max(axis=1, initial=0.0)
    radius[planes] = np.where(sides > 0.0, _RADIUS_OF_PLANE * sides, _RADIUS_OF_INFINITE_PLANE)
    points = [d.xpos[1:], d.xipos[1:], d.xanchor, d.site_xpos]
    low = np.concatenate([*points, d.geom_xpos - radius[:, None]])
    high = np.concatenate([*points, d.geom_xpos + radius[:, None]])
    if not len(low):
        return np.zeros(3), np.zeros(3)
    return low.min(axis=0), high.max(axis=0)
