"""Fields of MuJoCo 4.0 that describe kinematic trees and the lengths by which their rotations are measured.

A *tree* is a body that is fixed to the world by joints only, with all its descendants. Functions take a finished model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cardan.enums.codes import JNT_FREE, JNT_SLIDE
from cardan.maths.quaternion import rot_vec_quat
from cardan.maths.types import Vec3

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


def dof_lengths(m: MjModel) -> np.ndarray:
    """Return a length for each degree of freedom (nv,): velocity times length is a linear velocity.

    The length is 1 for translations. For rotations it is the radius of the body: the largest distance from its centre
    of mass to a point of a geom's bounding sphere, to an anchor of its own joints or of those of its children.
    """
    radius = np.full(m.nbody, SHORTEST)
    centre = np.where(m.body_sameframe[:, None] == BODY_FRAME, 0.0, m.body_ipos)
    place = np.where(m.geom_sameframe[:, None] == BODY_FRAME, 0.0, m.geom_pos) - centre[m.geom_bodyid]
    distance = np.where(m.geom_sameframe == INERTIA_FRAME, 0.0, np.linalg.norm(place, axis=1))
    np.maximum.at(radius, m.geom_bodyid, distance + m.geom_rbound)
    for joint in range(m.njnt):
        body = int(m.jnt_bodyid[joint])
        parent, anchor = int(m.body_parentid[body]), m.jnt_pos[joint]
        outside = m.body_pos[body] + rot_vec_quat(_vector(anchor), tuple(m.body_quat[body].tolist()))
        radius[body] = max(radius[body], float(np.linalg.norm(anchor - centre[body])))
        radius[parent] = max(radius[parent], float(np.linalg.norm(outside - centre[parent])))
    kind, place = m.jnt_type[m.dof_jntid], np.arange(m.nv) - m.jnt_dofadr[m.dof_jntid]
    turns = (kind != JNT_SLIDE) & ((kind != JNT_FREE) | (place >= 3))
    return np.where(turns, radius[m.dof_bodyid], 1.0)


def _vector(row: np.ndarray) -> Vec3:
    """Return a row of three numbers as a tuple."""
    x, y, z = row.tolist()
    return (x, y, z)
