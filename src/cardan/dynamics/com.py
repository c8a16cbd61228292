"""Inertias, motion axes and velocities about the trees' centres of mass; velocities and accelerations of objects.

All spatial quantities (rotation first, then translation) have the orientation of the world and are taken about the
centre of mass of the body's kinematic tree (spec: computation, general framework; Featherstone 2008, chapter 2).
Velocities and accelerations of objects (bodies, geoms, sites, cameras) are those of the object's centre, expressed in
the world frame or the object's frame (spec: mj_objectVelocity, mj_objectAcceleration).
"""

from __future__ import annotations

from cardan.dynamics.awake import BODY, HANGS, JOINT, REST_BODY, REST_JOINT, moving_bodies, rest_range, span_range
from cardan.enums.codes import JNT_BALL, JNT_FREE, JNT_SLIDE, OBJ_BODY, OBJ_GEOM, OBJ_SITE, OBJ_XBODY
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Inertia, Mat3, Vec3, Vec6
from cardan.maths.vector import (
    MINVAL,
    add3,
    add_scaled6,
    cross,
    cross_motion,
    get3,
    get6,
    get9,
    mul_mat_t_vec3,
    scale3,
    set3,
    set6,
    set10,
    sub3,
)
from cardan.model.kernel_views import Data, Model


@kernel
def subtree_centres(m: Model, d: Data) -> None:
    """Compute the centres of mass of all subtrees: a backward pass over mass-weighted positions.

    Masses are summed here, because `body_subtreemass` is outdated if a mass was edited.
    """
    _weigh_bodies(m, d, 0, m.nbody)
    _add_to_parents(m, d, 1, m.nbody)
    _divide_by_mass(d, 0, m.nbody)


@kernel
def _weigh_bodies(m: Model, d: Data, first: int, stop: int) -> None:
    """Write mass, and mass times centre, of the bodies `first` to `stop` (exclusive) to subtree_mass, subtree_com."""
    for body in range(first, stop):
        set3(d.subtree_com, body, scale3(get3(d.xipos, body), m.body_mass[body]))
        d.work.subtree_mass[body] = m.body_mass[body]


@kernel
def _add_to_parents(m: Model, d: Data, first: int, stop: int) -> None:
    """Add the values of the bodies `first` to `stop` (exclusive) to those of their parents, from the last body on."""
    for body in range(stop - 1, first - 1, -1):
        parent = m.body_parentid[body]
        d.work.subtree_mass[parent] += d.work.subtree_mass[body]
        for k in range(3):
            d.subtree_com[parent, k] += d.subtree_com[body, k]


@kernel
def _divide_by_mass(d: Data, first: int, stop: int) -> None:
    """Divide subtree_com of the bodies `first` to `stop` (exclusive) by their subtree_mass."""
    for body in range(first, stop):
        mass = d.work.subtree_mass[body]
        if mass < MINVAL:
            set3(d.subtree_com, body, get3(d.xipos, body))
        else:
            set3(d.subtree_com, body, scale3(get3(d.subtree_com, body), 1.0 / mass))


@kernel
def _spatial_inertia(mat: Mat3, inertia: Vec3, mass: float, r: Vec3) -> Inertia:
    """Spatial inertia, about a point, of a body with its centre at `r` from the point and the principal axes `mat`."""
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
def _rotation_about(axis: Vec3, offset: Vec3) -> Vec6:
    """Motion vector of a rotation about `axis`; `offset` is the vector from the axis to the reference point."""
    v = cross(axis, offset)
    return (axis[0], axis[1], axis[2], v[0], v[1], v[2])


@kernel
def _set_body_rotations(d: Data, dof: int, body: int, offset: Vec3) -> None:
    """Set the motion vectors of the three rotations about the body's own axes."""
    for k in range(3):
        axis = (d.xmat[body, k], d.xmat[body, 3 + k], d.xmat[body, 6 + k])
        set6(d.cdof, dof + k, _rotation_about(axis, offset))


@kernel
def motion_axes(m: Model, d: Data, joint: int) -> None:
    """Compute the motion vectors `cdof` of the degrees of freedom of a joint, about `subtree_com` of its tree."""
    body = m.jnt_bodyid[joint]
    dof = m.jnt_dofadr[joint]
    kind = m.jnt_type[joint]
    offset = sub3(get3(d.subtree_com, m.body_rootid[body]), get3(d.xanchor, joint))
    if kind == JNT_FREE:
        set6(d.cdof, dof, (0.0, 0.0, 0.0, 1.0, 0.0, 0.0))
        set6(d.cdof, dof + 1, (0.0, 0.0, 0.0, 0.0, 1.0, 0.0))
        set6(d.cdof, dof + 2, (0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
        _set_body_rotations(d, dof + 3, body, offset)
    elif kind == JNT_BALL:
        _set_body_rotations(d, dof, body, offset)
    elif kind == JNT_SLIDE:
        set6(d.cdof, dof, (0.0, 0.0, 0.0, d.xaxis[joint, 0], d.xaxis[joint, 1], d.xaxis[joint, 2]))
    else:
        set6(d.cdof, dof, _rotation_about(get3(d.xaxis, joint), offset))


@kernel
def _cdof(m: Model, d: Data, first: int, stop: int) -> None:
    """Compute the motion vectors of the dofs of the joints `first` to `stop` (exclusive)."""
    for joint in range(first, stop):
        motion_axes(m, d, joint)


@stage
def com_pos(m: Model, d: Data) -> int:
    """Compute centres of mass of subtrees, and inertias and motion axes about them.

    Reads xipos, ximat, xmat, xanchor, xaxis; writes subtree_com (nbody, 3), cinert (nbody, 10), cdof (nv, 6).
    """
    subtree_centres(m, d)
    set10(d.cinert, 0, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    _cinert(m, d, 1, m.nbody)
    _cdof(m, d, 0, m.njnt)
    return OK


@kernel
def _cinert(m: Model, d: Data, first: int, stop: int) -> None:
    """Compute the inertias of the bodies `first` to `stop` (exclusive) about the centres of mass of their trees."""
    for body in range(first, stop):
        arm = sub3(get3(d.xipos, body), get3(d.subtree_com, m.body_rootid[body]))
        inertia = get3(m.body_inertia, body)
        set10(d.cinert, body, _spatial_inertia(get9(d.ximat, body), inertia, m.body_mass[body], arm))


@kernel
def centers_of_awake(m: Model, d: Data) -> None:
    """Do as `com_pos`, for trees that are awake. The other trees keep their centres of mass.

    A tree that hangs from a body without degrees of freedom has the same reference point as other trees there. Its
    inertias and motion axes are about this point, which moves, so that they are computed even if the tree sleeps.
    """
    for span in range(d.work.nspan):
        first, stop = span_range(d, span, BODY)
        _weigh_bodies(m, d, first, stop)
    for span in range(d.work.nspan - 1, -1, -1):
        first, stop = moving_bodies(d, span)
        _add_to_parents(m, d, first, stop)
    for span in range(d.work.nspan):
        first, stop = span_range(d, span, BODY)
        for body in range(first, stop):
            if m.body_treeid[body] < 0:
                d.work.subtree_mass[body] += d.work.rest_mass[body, 3]
                for k in range(3):
                    d.subtree_com[body, k] += d.work.rest_mass[body, k]
        _divide_by_mass(d, first, stop)
    set10(d.cinert, 0, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    for span in range(d.work.nspan):
        first, stop = moving_bodies(d, span)
        _cinert(m, d, first, stop)
        first, stop = span_range(d, span, JOINT)
        _cdof(m, d, first, stop)
    for rest in range(d.work.nrest):
        if d.work.rest[rest, HANGS] != 0:
            first, stop = rest_range(d, rest, REST_BODY)
            _cinert(m, d, first, stop)
            first, stop = rest_range(d, rest, REST_JOINT)
            _cdof(m, d, first, stop)


@stage
def com_pos_awake(m: Model, d: Data) -> int:
    """Do as `com_pos`, for trees that are awake (`centers_of_awake`)."""
    centers_of_awake(m, d)
    return OK


@kernel
def _add_rotations(d: Data, velocity: Vec6, dof: int) -> Vec6:
    """Return `velocity` plus the three rotations of a ball or free joint, and write their `cdof_dot`.

    `cdof_dot` depends on `velocity` as it is before the rotations are added.
    """
    for k in range(dof, dof + 3):
        set6(d.cdof_dot, k, cross_motion(velocity, get6(d.cdof, k)))
    for k in range(dof, dof + 3):
        velocity = add_scaled6(velocity, get6(d.cdof, k), d.qvel[k])
    return velocity


@stage
def com_vel(m: Model, d: Data) -> int:
    """Compute velocities of bodies and rates of change of motion axes (Featherstone 2008, section 5.3, forward pass).

    Reads qvel, cdof; writes cvel (nbody, 6), cdof_dot (nv, 6).
    """
    set6(d.cvel, 0, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    _velocities(m, d, 1, m.nbody)
    return OK


@stage
def com_vel_awake(m: Model, d: Data) -> int:
    """Do as `com_vel`, for trees that are awake; the others keep their velocities, which are 0."""
    set6(d.cvel, 0, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    for span in range(d.work.nspan):
        first, stop = moving_bodies(d, span)
        _velocities(m, d, first, stop)
    return OK


@kernel
def _velocities(m: Model, d: Data, first: int, stop: int) -> None:
    """Write cvel of the bodies `first` to `stop` (exclusive), and cdof_dot of their dofs."""
    for body in range(first, stop):
        velocity = get6(d.cvel, m.body_parentid[body])
        first = m.body_jntadr[body]
        for joint in range(first, first + m.body_jntnum[body]):
            dof = m.jnt_dofadr[joint]
            kind = m.jnt_type[joint]
            if kind == JNT_FREE:
                for k in range(dof, dof + 3):
                    set6(d.cdof_dot, k, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
                    velocity = add_scaled6(velocity, get6(d.cdof, k), d.qvel[k])
                velocity = _add_rotations(d, velocity, dof + 3)
            elif kind == JNT_BALL:
                velocity = _add_rotations(d, velocity, dof)
            else:
                axis = get6(d.cdof, dof)
                set6(d.cdof_dot, dof, cross_motion(velocity, axis))
                velocity = add_scaled6(velocity, axis, d.qvel[dof])
        set6(d.cvel, body, velocity)


@kernel
def object_body(m: Model, kind: int, k: int) -> int:
    """Body to which object `k` of type `kind` (mjtObj) belongs."""
    if kind in (OBJ_BODY, OBJ_XBODY):
        return k
    if kind == OBJ_GEOM:
        return m.geom_bodyid[k]
    if kind == OBJ_SITE:
        return m.site_bodyid[k]
    return m.cam_bodyid[k]


@kernel
def object_pos(d: Data, kind: int, k: int) -> Vec3:
    """World position of an object's centre; for `mjOBJ_BODY`, of the centre of the body's inertial frame."""
    if kind == OBJ_BODY:
        return get3(d.xipos, k)
    if kind == OBJ_XBODY:
        return get3(d.xpos, k)
    if kind == OBJ_GEOM:
        return get3(d.geom_xpos, k)
    if kind == OBJ_SITE:
        return get3(d.site_xpos, k)
    return get3(d.cam_xpos, k)


@kernel
def object_mat(d: Data, kind: int, k: int) -> Mat3:
    """Orientation of an object, a 3 x 3 matrix; for `mjOBJ_BODY`, the orientation of the body's inertial frame."""
    if kind == OBJ_BODY:
        return get9(d.ximat, k)
    if kind == OBJ_XBODY:
        return get9(d.xmat, k)
    if kind == OBJ_GEOM:
        return get9(d.geom_xmat, k)
    if kind == OBJ_SITE:
        return get9(d.site_xmat, k)
    return get9(d.cam_xmat, k)


@kernel
def _shifted(m: Model, d: Data, spatial: Vec6, body: int, point: Vec3) -> Vec6:
    """Transform a body's motion vector from the centre of mass of its tree to a point."""
    arm = sub3(point, get3(d.subtree_com, m.body_rootid[body]))
    angular = (spatial[0], spatial[1], spatial[2])
    linear = add3((spatial[3], spatial[4], spatial[5]), cross(angular, arm))
    return (angular[0], angular[1], angular[2], linear[0], linear[1], linear[2])


@kernel
def _in_frame(mat: Mat3, spatial: Vec6) -> Vec6:
    """Express a spatial vector in a frame with the orientation `mat`."""
    angular = mul_mat_t_vec3(mat, (spatial[0], spatial[1], spatial[2]))
    linear = mul_mat_t_vec3(mat, (spatial[3], spatial[4], spatial[5]))
    return (angular[0], angular[1], angular[2], linear[0], linear[1], linear[2])


@kernel
def velocity_at(m: Model, d: Data, body: int, point: Vec3) -> Vec6:
    """Velocity of a body at a point (world frame)."""
    return _shifted(m, d, get6(d.cvel, body), body, point)


@kernel
def acceleration_at(m: Model, d: Data, spatial: Vec6, body: int, point: Vec3) -> Vec6:
    """Acceleration of a body's material point (world frame): angular, then linear. Needs `com_vel`.

    `spatial` is the body's spatial acceleration about the centre of mass of its tree.
    """
    velocity = velocity_at(m, d, body, point)
    shifted = _shifted(m, d, spatial, body, point)
    # from the spatial acceleration to that of the material point
    turn = cross((velocity[0], velocity[1], velocity[2]), (velocity[3], velocity[4], velocity[5]))
    linear = add3((shifted[3], shifted[4], shifted[5]), turn)
    return (shifted[0], shifted[1], shifted[2], linear[0], linear[1], linear[2])


@kernel
def object_velocity(m: Model, d: Data, kind: int, k: int, local: bool) -> Vec6:
    """Velocity (rad/s, m/s) of object `k` of type `kind` (mjtObj) at its centre: angular, then linear.

    The velocity is expressed in the object's frame if `local` is set, otherwise in the world frame. Needs `com_vel`.
    """
    velocity = velocity_at(m, d, object_body(m, kind, k), object_pos(d, kind, k))
    if local:
        return _in_frame(object_mat(d, kind, k), velocity)
    return velocity


@kernel
def object_acceleration(m: Model, d: Data, kind: int, k: int, local: bool) -> Vec6:
    """Acceleration (rad/s², m/s²) of object `k` of type `kind` (mjtObj) at its centre: angular, then linear.

    If `local` is set, the result is expressed in the object's frame, otherwise in the world frame. Needs
    `rne_post_constraint`.
    """
    body = object_body(m, kind, k)
    acceleration = acceleration_at(m, d, get6(d.cacc, body), body, object_pos(d, kind, k))
    if local:
        return _in_frame(object_mat(d, kind, k), acceleration)
    return acceleration
