"""Quantities in the frames centred at the trees' centres of mass: inertias, motion axes, velocities.

All spatial quantities (rotation first, then translation) have the orientation of the world and are taken about the
centre of mass of the body's kinematic tree (spec: computation, general framework; Featherstone 2008, chapter 2).
"""

from __future__ import annotations

from cardan.enums.codes import JNT_BALL, JNT_FREE, JNT_SLIDE
from cardan.jit import OK, kernel, stage
from cardan.maths.spatial import add_scaled6, cross_motion, get6, set6, set10
from cardan.maths.types import Inertia, Mat3, Vec3, Vec6
from cardan.maths.vector import MINVAL, cross, get3, get9, scale3, set3, sub3
from cardan.model.kernel_views import Data, Model


@kernel
def _subtree_com(m: Model, d: Data) -> None:
    """Compute the centres of mass of all subtrees: a backward pass over mass-weighted positions.

    Masses are summed here, because `body_subtreemass` is out of date after a mass was edited.
    """
    for body in range(m.nbody):
        set3(d.subtree_com, body, scale3(get3(d.xipos, body), m.body_mass[body]))
        d.work.subtree_mass[body] = m.body_mass[body]
    for body in range(m.nbody - 1, 0, -1):
        parent = m.body_parentid[body]
        d.work.subtree_mass[parent] += d.work.subtree_mass[body]
        for k in range(3):
            d.subtree_com[parent, k] += d.subtree_com[body, k]
    for body in range(m.nbody):
        mass = d.work.subtree_mass[body]
        if mass < MINVAL:
            set3(d.subtree_com, body, get3(d.xipos, body))
        else:
            set3(d.subtree_com, body, scale3(get3(d.subtree_com, body), 1.0 / mass))


@kernel
def _spatial_inertia(mat: Mat3, inertia: Vec3, mass: float, r: Vec3) -> Inertia:
    """Spatial inertia R diag(inertia) R' of a body whose centre of mass is at offset `r` from the reference point."""
    ixx, iyy, izz = inertia
    # columns of R scaled by the principal moments
    a0, a1, a2 = mat[0] * ixx, mat[1] * iyy, mat[2] * izz
    b0, b1, b2 = mat[3] * ixx, mat[4] * iyy, mat[5] * izz
    c0, c1, c2 = mat[6] * ixx, mat[7] * iyy, mat[8] * izz
    mx, my, mz = mass * r[0], mass * r[1], mass * r[2]
    return (
        a0 * mat[0] + a1 * mat[1] + a2 * mat[2] + my * r[1] + mz * r[2],
        b0 * mat[3] + b1 * mat[4] + b2 * mat[5] + mx * r[0] + mz * r[2],
        c0 * mat[6] + c1 * mat[7] + c2 * mat[8] + mx * r[0] + my * r[1],
        a0 * mat[3] + a1 * mat[4] + a2 * mat[5] - mx * r[1],
        a0 * mat[6] + a1 * mat[7] + a2 * mat[8] - mx * r[2],
        b0 * mat[6] + b1 * mat[7] + b2 * mat[8] - my * r[2],
        mx,
        my,
        mz,
        mass,
    )


@kernel
def _cinert(m: Model, d: Data) -> None:
    """Compute the inertia of each body about the centre of mass of its tree."""
    set10(d.cinert, 0, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    for body in range(1, m.nbody):
        offset = sub3(get3(d.xipos, body), get3(d.subtree_com, m.body_rootid[body]))
        inertia = get3(m.body_inertia, body)
        set10(d.cinert, body, _spatial_inertia(get9(d.ximat, body), inertia, m.body_mass[body], offset))


@kernel
def _rotation_about(axis: Vec3, offset: Vec3) -> Vec6:
    """Motion vector of a rotation about `axis`, where `offset` goes from a point of the axis to the reference point."""
    v = cross(axis, offset)
    return (axis[0], axis[1], axis[2], v[0], v[1], v[2])


@kernel
def _set_body_rotations(d: Data, dof: int, body: int, offset: Vec3) -> None:
    """Set the motion vectors of the three rotations about the body's own axes."""
    for k in range(3):
        axis = (d.xmat[body, k], d.xmat[body, 3 + k], d.xmat[body, 6 + k])
        set6(d.cdof, dof + k, _rotation_about(axis, offset))


@kernel
def _set_translations(d: Data, dof: int) -> None:
    """Set the motion vectors of the three translations along the world's axes."""
    set6(d.cdof, dof, (0.0, 0.0, 0.0, 1.0, 0.0, 0.0))
    set6(d.cdof, dof + 1, (0.0, 0.0, 0.0, 0.0, 1.0, 0.0))
    set6(d.cdof, dof + 2, (0.0, 0.0, 0.0, 0.0, 0.0, 1.0))


@kernel
def _cdof(m: Model, d: Data) -> None:
    """Compute the motion vector of each degree of freedom."""
    for joint in range(m.njnt):
        body = m.jnt_bodyid[joint]
        dof = m.jnt_dofadr[joint]
        kind = m.jnt_type[joint]
        offset = sub3(get3(d.subtree_com, m.body_rootid[body]), get3(d.xanchor, joint))
        if kind == JNT_FREE:
            _set_translations(d, dof)
            _set_body_rotations(d, dof + 3, body, offset)
        elif kind == JNT_BALL:
            _set_body_rotations(d, dof, body, offset)
        elif kind == JNT_SLIDE:
            set6(d.cdof, dof, (0.0, 0.0, 0.0, d.xaxis[joint, 0], d.xaxis[joint, 1], d.xaxis[joint, 2]))
        else:
            set6(d.cdof, dof, _rotation_about(get3(d.xaxis, joint), offset))


@stage
def com_pos(m: Model, d: Data) -> int:
    """Compute centres of mass of subtrees, and inertias and motion axes about them.

    Reads xipos, ximat, xmat, xanchor, xaxis; writes subtree_com (nbody, 3), cinert (nbody, 10), cdof (nv, 6).
    """
    _subtree_com(m, d)
    _cinert(m, d)
    _cdof(m, d)
    return OK


@kernel
def _add_dofs(d: Data, velocity: Vec6, dof: int, number: int) -> Vec6:
    """Add the motion of `number` dofs from `dof` on to the velocity of a body."""
    for k in range(dof, dof + number):
        velocity = add_scaled6(velocity, get6(d.cdof, k), d.qvel[k])
    return velocity


@kernel
def _add_rotations(d: Data, velocity: Vec6, dof: int) -> Vec6:
    """Add the three rotations of a ball or free joint to `velocity`, and write their `cdof_dot`.

    The axes of the three rotations move with the velocity before any of the three is added.
    """
    for k in range(dof, dof + 3):
        set6(d.cdof_dot, k, cross_motion(velocity, get6(d.cdof, k)))
    return _add_dofs(d, velocity, dof, 3)


@kernel
def _add_joint(m: Model, d: Data, velocity: Vec6, joint: int) -> Vec6:
    """Add the motion of one joint to the velocity of a body, and write the joint's `cdof_dot`."""
    dof = m.jnt_dofadr[joint]
    kind = m.jnt_type[joint]
    if kind == JNT_FREE:
        for k in range(dof, dof + 3):
            set6(d.cdof_dot, k, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        velocity = _add_rotations(d, _add_dofs(d, velocity, dof, 3), dof + 3)
    elif kind == JNT_BALL:
        velocity = _add_rotations(d, velocity, dof)
    else:
        axis = get6(d.cdof, dof)
        set6(d.cdof_dot, dof, cross_motion(velocity, axis))
        velocity = add_scaled6(velocity, axis, d.qvel[dof])
    return velocity


@stage
def com_vel(m: Model, d: Data) -> int:
    """Compute velocities of bodies and rates of change of motion axes (Featherstone 2008, section 5.3, forward pass).

    Reads qvel, cdof; writes cvel (nbody, 6), cdof_dot (nv, 6).
    """
    set6(d.cvel, 0, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    for body in range(1, m.nbody):
        velocity = get6(d.cvel, m.body_parentid[body])
        first = m.body_jntadr[body]
        for joint in range(first, first + m.body_jntnum[body]):
            velocity = _add_joint(m, d, velocity, joint)
        set6(d.cvel, body, velocity)
    return OK
