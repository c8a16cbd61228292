"""Frames of the objects that sensors are about: position, orientation, and motion of bodies, geoms, sites and cameras.

An object is a pair of type (`mjtObj`) and id. ``body`` means the frame of the body's inertia, ``xbody`` the body's own frame.
"""

from __future__ import annotations

from typing import Any

from cardan.enums import mjtObj
from cardan.jit import kernel
from cardan.maths.quaternion import mul_quat
from cardan.maths.vector import add3, cross, get3, get4, get9, sub3

BODY = int(mjtObj.mjOBJ_BODY)
XBODY = int(mjtObj.mjOBJ_XBODY)
GEOM = int(mjtObj.mjOBJ_GEOM)
SITE = int(mjtObj.mjOBJ_SITE)
CAMERA = int(mjtObj.mjOBJ_CAMERA)


@kernel
def object_body(m: Any, kind: int, i: int) -> int:
    """Body that the object is attached to."""
    if kind == GEOM:
        return m.geom_bodyid[i]
    if kind == SITE:
        return m.site_bodyid[i]
    if kind == CAMERA:
        return m.cam_bodyid[i]
    return i


@kernel
def object_position(d: Any, kind: int, i: int) -> Any:
    """Position of the object in the world, m."""
    if kind == BODY:
        return get3(d.xipos, i)
    if kind == GEOM:
        return get3(d.geom_xpos, i)
    if kind == SITE:
        return get3(d.site_xpos, i)
    if kind == CAMERA:
        return get3(d.cam_xpos, i)
    return get3(d.xpos, i)


@kernel
def object_rotation(d: Any, kind: int, i: int) -> Any:
    """Rotation matrix from the object's frame to the world: nine numbers, row by row."""
    if kind == BODY:
        return get9(d.ximat, i)
    if kind == GEOM:
        return get9(d.geom_xmat, i)
    if kind == SITE:
        return get9(d.site_xmat, i)
    if kind == CAMERA:
        return get9(d.cam_xmat, i)
    return get9(d.xmat, i)


@kernel
def object_quaternion(m: Any, d: Any, kind: int, i: int) -> Any:
    """Orientation of the object in the world; that of a camera is as it is mounted, whatever it tracks."""
    body = get4(d.xquat, object_body(m, kind, i))
    if kind == BODY:
        return mul_quat(body, get4(m.body_iquat, i))
    if kind == GEOM:
        return mul_quat(body, get4(m.geom_quat, i))
    if kind == SITE:
        return mul_quat(body, get4(m.site_quat, i))
    if kind == CAMERA:
        return mul_quat(body, get4(m.cam_quat, i))
    return body


@kernel
def angular_velocity(d: Any, body: int) -> Any:
    """Angular velocity of a body in the world frame, rad/s."""
    return (d.cvel[body, 0], d.cvel[body, 1], d.cvel[body, 2])


@kernel
def angular_acceleration(d: Any, body: int) -> Any:
    """Angular acceleration of a body in the world frame, rad/s^2."""
    return (d.cacc[body, 0], d.cacc[body, 1], d.cacc[body, 2])


@kernel
def from_tree_centre(m: Any, d: Any, body: int, point: Any) -> Any:
    """Vector to `point` from the centre of mass of the body's tree, about which spatial vectors are expressed."""
    return sub3(point, get3(d.subtree_com, m.body_rootid[body]))


@kernel
def point_velocity(m: Any, d: Any, body: int, point: Any) -> Any:
    """Velocity in the world frame of the point of a body that is at `point` now, m/s."""
    linear = (d.cvel[body, 3], d.cvel[body, 4], d.cvel[body, 5])
    return add3(linear, cross(angular_velocity(d, body), from_tree_centre(m, d, body, point)))


@kernel
def point_acceleration(m: Any, d: Any, body: int, point: Any) -> Any:
    """Acceleration of a point of a body as an accelerometer feels it (less gravity), world frame, m/s^2."""
    linear = (d.cacc[body, 3], d.cacc[body, 4], d.cacc[body, 5])
    turning = cross(angular_acceleration(d, body), from_tree_centre(m, d, body, point))
    centripetal = cross(angular_velocity(d, body), point_velocity(m, d, body, point))
    return add3(add3(linear, turning), centripetal)
