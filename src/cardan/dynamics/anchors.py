"""Objects of equality constraints; anchors of connect and weld, on bodies or at sites (spec: computation, equality)."""

from __future__ import annotations

from cardan.enums.codes import EQ_CONNECT, EQ_FLEX, EQ_JOINT, EQ_TENDON, EQ_WELD, OBJ_SITE
from cardan.jit import kernel
from cardan.maths.quaternion import mul_quat, neg_quat
from cardan.maths.types import Quat, Vec3
from cardan.maths.vector import add3, get3, get4, get9, mul_mat_vec3
from cardan.model.kernel_views import Data, Model


@kernel
def body_point(d: Data, body: int, local: Vec3) -> Vec3:
    """World position of the point with the coordinates `local` in the frame of a body."""
    return add3(get3(d.xpos, body), mul_mat_vec3(get9(d.xmat, body), local))


@kernel
def data3(m: Model, e: int, k: int) -> Vec3:
    """Return elements `k` to `k` + 2 of the `eq_data` of constraint `e`."""
    return (m.eq_data[e, k], m.eq_data[e, k + 1], m.eq_data[e, k + 2])


@kernel
def is_of_sites(m: Model, e: int) -> bool:
    """Return whether a connect or weld constrains two sites instead of two bodies."""
    return m.eq_objtype[e] == OBJ_SITE


@kernel
def loop_rows(m: Model, e: int) -> int:
    """Return the number of rows of a connect (3) or weld (6) constraint `e`; 0 for constraints of other types."""
    if m.eq_type[e] == EQ_CONNECT:
        return 3
    return 6 if m.eq_type[e] == EQ_WELD else 0


@kernel
def object_count(m: Model, e: int) -> int:
    """Number of the model's objects (bodies, joints, ...) that equality `e` may refer to; 0 if its type is unknown."""
    kind = m.eq_type[e]
    if loop_rows(m, e) > 0:
        return int(m.nsite) if is_of_sites(m, e) else int(m.nbody)
    if kind == EQ_JOINT:
        return int(m.njnt)
    if kind == EQ_TENDON:
        return int(m.ntendon)
    return int(m.nflex) if kind == EQ_FLEX else 0


@kernel
def has_objects(m: Model, e: int) -> bool:
    """Return whether the type of an equality is known and its ids are valid. The user may have edited both."""
    object1, object2 = m.eq_obj1id[e], m.eq_obj2id[e]
    count = object_count(m, e)
    # joints and tendons may be held at a constant; a flex has no second object
    least = 0 if m.eq_type[e] == EQ_CONNECT or m.eq_type[e] == EQ_WELD else -1
    return object1 >= 0 and object1 < count and object2 >= least and (object2 < count or m.eq_type[e] == EQ_FLEX)


@kernel
def bodies_of(m: Model, e: int) -> tuple[int, int]:
    """Return the two bodies that a connect or weld constrains; if it is between sites, the bodies of the sites."""
    object1, object2 = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    if is_of_sites(m, e):
        return int(m.site_bodyid[object1]), int(m.site_bodyid[object2])
    return object1, object2


@kernel
def anchors_of(m: Model, d: Data, e: int) -> tuple[int, int, Vec3, Vec3]:
    """Return the two bodies of a connect or weld, and the positions of its anchors on them in the world frame.

    If the constraint is between sites, the anchors are the sites' origins. Otherwise, ``eq_data`` contains the anchors.
    For a connect, it is (anchor in body 1, anchor in body 2). For a weld, it is (anchor in body 2, anchor in body 1,
    relative quaternion, torquescale).
    """
    body1, body2 = bodies_of(m, e)
    if is_of_sites(m, e):
        return body1, body2, get3(d.site_xpos, m.eq_obj1id[e]), get3(d.site_xpos, m.eq_obj2id[e])
    weld = m.eq_type[e] == EQ_WELD
    point1 = body_point(d, body1, data3(m, e, 3 if weld else 0))
    point2 = body_point(d, body2, data3(m, e, 0 if weld else 3))
    return body1, body2, point1, point2


@kernel
def weld_quats(m: Model, d: Data, e: int) -> tuple[Quat, Quat]:
    """Return the quaternions q1 r1 and (q2 r2)^-1 of a weld. If the weld holds, (q2 r2)^-1 q1 r1 is the identity.

    q1 and q2 are the orientations of the bodies. If the weld is between sites, r1 and r2 are the sites' orientations in
    their bodies. Otherwise, r1 is the relative quaternion, and r2 is the identity.
    """
    body1, body2 = bodies_of(m, e)
    if is_of_sites(m, e):
        quat1 = mul_quat(get4(d.xquat, body1), get4(m.site_quat, m.eq_obj1id[e]))
        return quat1, neg_quat(mul_quat(get4(d.xquat, body2), get4(m.site_quat, m.eq_obj2id[e])))
    relquat = (m.eq_data[e, 6], m.eq_data[e, 7], m.eq_data[e, 8], m.eq_data[e, 9])
    return mul_quat(get4(d.xquat, body1), relquat), neg_quat(get4(d.xquat, body2))
