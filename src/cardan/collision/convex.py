"""Collisions of convex geoms by their support functions.

One collision function serves all pairs of types without an analytic collision function. The types differ only in their
support functions (`cardan.collision.support`).

Spec: computation, collision detection, collision checking; modelling, multiccd.
"""

from __future__ import annotations

from cardan.collision.culling import boxes_apart
from cardan.collision.hull_search import recall_pair
from cardan.collision.mpr import portal_refinement
from cardan.collision.near import put_contact
from cardan.collision.separation import axis_separates, forget_axis, keep_axis
from cardan.collision.support import load_geom
from cardan.collision.surface import smooth_normal
from cardan.enums.codes import ENBL_MULTICCD, GEOM_ELLIPSOID, GEOM_SPHERE
from cardan.jit import collider, exact, kernel
from cardan.maths.quaternion import axis_angle2quat, rot_vec_quat
from cardan.maths.types import Vec3
from cardan.maths.vector import add3, column3, get3, get9, norm3, set3, set9, sub3
from cardan.model.kernel_views import Data, Model

SPACING = 1e-3
"""Smallest distance between two contacts, in units of the smaller bounding sphere."""
TILT = 1e-3
"""Angle by which geoms are tilted to find further contacts, rad."""


@kernel
def collide_shapes(m: Model, d: Data, k: int) -> int:
    """Write contact `k` of the two shapes in ``d.work.shape_*``, if there is one; return the new number of contacts.

    Each shape is enlarged by half of the margin, so the distance is the margin minus the depth.
    """
    d.work.shape_inflate = 0.5 * d.work.near_margin
    if not portal_refinement(m, d):
        return k
    pos = get3(d.work.overlap_pos, 0)
    dist = d.work.near_margin - d.work.overlap_depth
    put_contact(d, k, dist, pos, smooth_normal(d, pos, get3(d.work.overlap_normal, 0)))
    return k + 1


@kernel
def tilt_shape(d: Data, shape: int, geom: int, center: Vec3, axis: Vec3, angle: float) -> None:
    """Set the pose of shape `shape` to that of a geom rotated by `angle` about an axis through `center`."""
    quat = axis_angle2quat(axis, angle)
    set3(d.work.shape_pos, shape, add3(center, rot_vec_quat(sub3(get3(d.geom_xpos, geom), center), quat)))
    xmat = get9(d.geom_xmat, geom)
    x = rot_vec_quat(column3(xmat, 0), quat)
    y = rot_vec_quat(column3(xmat, 1), quat)
    z = rot_vec_quat(column3(xmat, 2), quat)
    set9(d.work.shape_mat, shape, (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]))


@kernel
def is_new(d: Data, k: int, tolerance: float) -> bool:
    """Whether contact `k` of the pair is farther than `tolerance` from all contacts before it."""
    for i in range(k):
        if norm3(sub3(get3(d.work.near_pos, i), get3(d.work.near_pos, k))) <= tolerance:
            return False
    return True


@kernel
def tilt_pair(d: Data, geom1: int, geom2: int, trial: int) -> None:
    """Tilt two geoms against each other about their first contact; trials 1 to 4 are both signs and both tangents."""
    tangent = 3 if trial <= 2 else 6
    axis = (d.work.near_frame[0, tangent], d.work.near_frame[0, tangent + 1], d.work.near_frame[0, tangent + 2])
    center = get3(d.work.near_pos, 0)
    angle = -TILT if trial % 2 == 1 else TILT
    tilt_shape(d, 0, geom1, center, axis, angle)
    tilt_shape(d, 1, geom2, center, axis, -angle)


@kernel
def is_round(m: Model, geom: int) -> bool:
    """Whether a geom has no flat part, so that it touches another geom at only one point."""
    return m.geom_type[geom] == GEOM_SPHERE or m.geom_type[geom] == GEOM_ELLIPSOID


@collider
@exact
def convex_convex(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Find one contact of two convex geoms, or up to five if ``multiccd`` is enabled.

    With ``multiccd``, geoms that have a contact and a flat part are tilted against each other. A contact found this way
    is added if its position is new; its distance is that of the first contact.
    """
    if boxes_apart(m, d, geom1, geom2, d.work.near_margin):
        return 0
    load_geom(m, d, 0, geom1)
    load_geom(m, d, 1, geom2)
    if axis_separates(m, d, geom1, geom2):
        return 0
    recall_pair(d, geom1, geom2)
    several = (m.opt.enableflags & ENBL_MULTICCD) != 0 and not (is_round(m, geom1) or is_round(m, geom2))
    spacing = SPACING * min(m.geom_rbound[geom1], m.geom_rbound[geom2])
    ncon = 0
    for trial in range(5 if several else 1):
        if trial == 0 or ncon > 0:
            if trial > 0:
                tilt_pair(d, geom1, geom2, trial)
            found = collide_shapes(m, d, ncon)
            if found > ncon and is_new(d, ncon, spacing):
                d.work.near_dist[ncon] = d.work.near_dist[0]
                ncon = found
    if ncon == 0:
        keep_axis(d, geom1, geom2)
    else:
        forget_axis(d, geom1, geom2)
    return ncon
