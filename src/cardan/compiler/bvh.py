"""Bounding volume hierarchies of bodies (spec: computation, "Collision detection", mid phase).

The tree of a body is binary and axis-aligned in the body's inertial frame. A node is split at the median of its geoms'
positions along the longest side of its box; among positions that agree to 1e-14 the user's order holds.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

from cardan.compiler.shapes import PLANE_HALF
from cardan.maths.pose import IDENTITY
from cardan.maths.quaternion import mul_quat, neg_quat, quat2mat, rot_vec_quat
from cardan.maths.vector import add3, scale3, sub3

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.compiler.nodes import Body, Geom
    from cardan.maths.pose import Vec3


_SAME = 1e-14  # positions that differ by no more count as equal


class Box(NamedTuple):
    """A geom's position and its bounding box, centre and half sides, in its body's inertial frame."""

    geom: int
    pos: Vec3
    centre: Vec3
    half: Vec3


def put_bvh(build: Build) -> None:
    """Columns ``bvh_*`` and ``body_bvh*``; geoms that never collide are left out."""
    for body in build.bodies:
        boxes = [_box(body, geom) for geom in body.geoms if geom.collides]
        start = len(build.columns["bvh_depth"])
        if boxes:
            _add_node(build, start, boxes, 0)
        number = len(build.columns["bvh_depth"]) - start
        build.put(body_bvhadr=start if number else -1, body_bvhnum=number)
    build.sizes["nbvh"] = build.sizes["nbvhstatic"] = len(build.columns["bvh_depth"])


def _box(body: Body, geom: Geom) -> Box:
    """The box around a geom's own bounding box, with sides along the axes of the body's inertial frame."""
    back = neg_quat(body.iquat)
    pos = rot_vec_quat(sub3(geom.pos, body.ipos), back)
    centre = add3(geom.pos, rot_vec_quat(geom.centre, geom.quat))
    centre = rot_vec_quat(sub3(centre, body.ipos), back)
    turn = mul_quat(back, geom.quat)
    if turn == IDENTITY[1]:
        return _between(geom.id, pos, centre, geom.half)
    r = [abs(value) for value in quat2mat(turn)]
    x, y, z = geom.half
    half = (r[0] * x + r[1] * y + r[2] * z, r[3] * x + r[4] * y + r[5] * z, r[6] * x + r[7] * y + r[8] * z)
    return _between(geom.id, pos, centre, half)


def _between(geom: int, pos: Vec3, centre: Vec3, half: Vec3) -> Box:
    """The box between its two corners: endless boxes lose there what rounding takes from their centres."""
    low, high = sub3(centre, half), add3(centre, half)
    return Box(geom, pos, scale3(add3(low, high), 0.5), scale3(sub3(high, low), 0.5))


def _bounds(boxes: list[Box]) -> tuple[Vec3, Vec3]:
    """Centre and half sides of the box around boxes."""
    low = [min(box.centre[k] - box.half[k] for box in boxes) for k in range(3)]
    high = [max(box.centre[k] + box.half[k] for box in boxes) for k in range(3)]
    centre = (0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), 0.5 * (low[2] + high[2]))
    return centre, (0.5 * (high[0] - low[0]), 0.5 * (high[1] - low[1]), 0.5 * (high[2] - low[2]))


def _longest(half: Vec3) -> int:
    """The axis of the longest side; the first of equals, but the second of endless ones, as the reference."""
    if half[0] == half[1] >= PLANE_HALF[0]:
        return 1
    return max(range(3), key=lambda k: half[k])


def _by_position(boxes: list[Box], axis: int) -> list[Box]:
    """Boxes in the order of their geoms' positions along an axis, those at the same one in the user's order."""
    group, ordered = 0, []
    last = -inf
    for box in sorted(boxes, key=lambda box: box.pos[axis]):
        group += box.pos[axis] - last > _SAME
        last = box.pos[axis]
        ordered.append((group, box.geom, box))
    return [box for _, _, box in sorted(ordered)]


def _add_node(build: Build, start: int, boxes: list[Box], depth: int) -> int:
    """Add the tree over boxes, root first; return the root's number in the body's tree."""
    columns = build.columns
    number = len(columns["bvh_depth"]) - start
    if len(boxes) == 1:
        box = boxes[0]
        build.put(bvh_depth=depth, bvh_child=(-1, -1), bvh_nodeid=box.geom, bvh_aabb=(*box.centre, *box.half))
        return number
    centre, half = _bounds(boxes)
    build.put(bvh_depth=depth, bvh_child=(-1, -1), bvh_nodeid=-1, bvh_aabb=(*centre, *half))
    # split at the median along the longest side
    axis = _longest(half)
    ordered = _by_position(boxes, axis)
    middle = len(ordered) // 2
    left = _add_node(build, start, ordered[:middle], depth + 1)
    right = _add_node(build, start, ordered[middle:], depth + 1)
    columns["bvh_child"][start + number] = (left, right)
    return number
