"""Fields of MuJoCo 4.0 that describe kinematic trees and the lengths by which their rotations are measured.

A *tree* is a body that is fixed to the world by joints only, with all its descendants. Functions take a finished model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from cardan.enums import mjtWrap
from cardan.enums.codes import JNT_FREE, JNT_SLIDE
from cardan.jit import kernel
from cardan.maths.quaternion import rot_vec_quat
from cardan.maths.types import Array1, Vec3
from cardan.maths.vector import add3, get3, get4, norm3, sub3
from cardan.model.kernel_views import Model

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

SHORTEST = 1e-5
"""Smallest length of a rotation (m)."""
BODY_FRAME, INERTIA_FRAME = 1, 2
"""Values of ``*_sameframe``: the frame counts as that of the body, or of its inertia."""


def tree_bodies(m: MjModel) -> tuple[np.ndarray, np.ndarray]:
    """Return the first body and the number of bodies of each tree: (ntree,) each."""
    return _spans(m.body_treeid, m.ntree)


def tree_dofs(m: MjModel) -> tuple[np.ndarray, np.ndarray]:
    """Return the first degree of freedom and the number of degrees of freedom of each tree: (ntree,) each."""
    return _spans(m.dof_treeid, m.ntree)


def _spans(tree: np.ndarray, ntree: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first index and the number of elements of each tree; `tree` has the tree of each element, or -1."""
    inside = np.flatnonzero(tree >= 0)
    number = np.bincount(tree[inside], minlength=ntree)
    first = np.full(ntree, len(tree))
    np.minimum.at(first, tree[inside], inside)
    return first.astype(np.int32), number.astype(np.int32)


def tendon_trees(m: MjModel) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of trees along each tendon's path (ntendon,), and the first two of them, or -1 (ntendon, 2)."""
    number, first = np.zeros(m.ntendon, np.int32), np.full((m.ntendon, 2), -1, np.int32)
    for tendon, (start, length) in enumerate(zip(m.tendon_adr.tolist(), m.tendon_num.tolist(), strict=True)):
        found: list[int] = []
        for kind, obj in zip(m.wrap_type[start : start + length], m.wrap_objid[start : start + length], strict=True):
            owner = _BODY_OF_WRAP.get(int(kind))
            tree = int(m.body_treeid[getattr(m, owner)[obj]]) if owner else -1
            if tree >= 0 and tree not in found:
                found.append(tree)
        number[tendon] = len(found)
        first[tendon, : len(found)] = found[:2]
    return number, first


_BODY_OF_WRAP = {
    int(mjtWrap.mjWRAP_JOINT): "jnt_bodyid",
    int(mjtWrap.mjWRAP_SITE): "site_bodyid",
    int(mjtWrap.mjWRAP_SPHERE): "geom_bodyid",
    int(mjtWrap.mjWRAP_CYLINDER): "geom_bodyid",
}


def dof_lengths(m: MjModel) -> np.ndarray:
    """Return a length for each degree of freedom (nv,): velocity times length is a linear velocity (`find_lengths`)."""
    lengths = np.zeros(m.nv)
    find_lengths(cast("Any", m.view), np.zeros(m.nbody), lengths)
    return lengths


@kernel
def find_lengths(m: Model, radius: Array1, lengths: Array1) -> None:
    """Set `lengths` (nv,) to 1 for translations, and for rotations to the radius of the body.

    The radius is a distance from the body's centre of mass: the largest to any point of a geom's bounding sphere and to
    any anchor of its own or its children's joints. It is written to `radius` (nbody,).
    """
    for body in range(m.nbody):
        radius[body] = SHORTEST
    for geom in range(m.ngeom):
        body, distance = m.geom_bodyid[geom], 0.0
        if m.geom_sameframe[geom] != INERTIA_FRAME:
            place = (0.0, 0.0, 0.0) if m.geom_sameframe[geom] == BODY_FRAME else get3(m.geom_pos, geom)
            distance = norm3(sub3(place, _centre(m, body)))
        radius[body] = max(radius[body], distance + m.geom_rbound[geom])
    for joint in range(m.njnt):
        body, anchor = m.jnt_bodyid[joint], get3(m.jnt_pos, joint)
        parent = m.body_parentid[body]
        outside = add3(get3(m.body_pos, body), rot_vec_quat(anchor, get4(m.body_quat, body)))
        radius[body] = max(radius[body], norm3(sub3(anchor, _centre(m, body))))
        radius[parent] = max(radius[parent], norm3(sub3(outside, _centre(m, parent))))
    for dof in range(m.nv):
        joint = m.dof_jntid[dof]
        kind = m.jnt_type[joint]
        turns = kind != JNT_SLIDE and (kind != JNT_FREE or dof >= m.jnt_dofadr[joint] + 3)
        lengths[dof] = radius[m.dof_bodyid[dof]] if turns else 1.0


@kernel
def _centre(m: Model, body: int) -> Vec3:
    """Centre of mass of a body in its frame."""
    return (0.0, 0.0, 0.0) if m.body_sameframe[body] == BODY_FRAME else get3(m.body_ipos, body)
