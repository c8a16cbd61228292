"""Orientations of the objects that sensors measure, and the parts of spatial vectors."""

from __future__ import annotations

from cardan.dynamics.object import object_body
from cardan.enums.codes import OBJ_BODY, OBJ_GEOM, OBJ_SITE, OBJ_XBODY
from cardan.jit import kernel
from cardan.maths.quaternion import mul_quat
from cardan.maths.types import Vec3, Vec4, Vec6
from cardan.maths.vector import get4
from cardan.model.kernel_views import Data, Model


@kernel
def object_quaternion(m: Model, d: Data, kind: int, i: int) -> Vec4:
    """Orientation of an object in the world; for a camera, the mounted orientation, whatever the camera tracks."""
    body = get4(d.xquat, object_body(m, kind, i))
    if kind == OBJ_XBODY:
        return body
    if kind == OBJ_BODY:
        return mul_quat(body, get4(m.body_iquat, i))
    if kind == OBJ_GEOM:
        return mul_quat(body, get4(m.geom_quat, i))
    if kind == OBJ_SITE:
        return mul_quat(body, get4(m.site_quat, i))
    return mul_quat(body, get4(m.cam_quat, i))


@kernel
def angular(spatial: Vec6) -> Vec3:
    """Rotational part of a spatial vector."""
    return (spatial[0], spatial[1], spatial[2])


@kernel
def linear(spatial: Vec6) -> Vec3:
    """Translational part of a spatial vector."""
    return (spatial[3], spatial[4], spatial[5])
