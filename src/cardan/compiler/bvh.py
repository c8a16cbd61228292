"""Bounding volume hierarchies of bodies (spec: computation, "Collision detection", mid phase).

The tree of a body is binary and axis-aligned in the body's inertial frame. A node is split at the median of its geoms'
positions along the longest side of its box. Geoms whose positions agree to 1e-14 keep the user's order. Compiled code
builds the trees directly in the model's arrays, after its bodies and geoms are complete.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from cardan.compiler.shapes import PLANE_HALF
from cardan.jit import Field, Struct, StructMemory, kernel
from cardan.jit.driver.program import call, native_over
from cardan.jit.front.stage import exact
from cardan.jit.memory.struct import Link
from cardan.maths.quaternion import mul_quat, neg_quat, quat2mat, rot_vec_quat
from cardan.maths.types import Quat, Vec3
from cardan.maths.vector import add3, get3, get4, scale3, set3, sub3
from cardan.model import internals
from cardan.model.kernel_views import Model

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.model.mjmodel import MjModel

_SAME = 1e-14  # positions that differ by at most this count as equal
_ENDLESS = PLANE_HALF[0]
_IN_MODEL = Link({
    "adr": "body_bvhadr",
    "num": "body_bvhnum",
    "depth": "bvh_depth",
    "child": "bvh_child",
    "nodeid": "bvh_nodeid",
    "aabb": "bvh_aabb",
})  # fmt: skip

BODY_TREES = Struct(
    "BodyTrees",
    [
        Field("adr", "i4", ("any",), "first node of each body's tree, or -1, written"),
        Field("num", "i4", ("any",), "number of nodes of each body's tree, written"),
        Field("depth", "i4", ("any",), "distance of each node from the root, written"),
        Field("child", "i4", ("any", 2), "children of each node, or -1, written"),
        Field("nodeid", "i4", ("any",), "geom of a leaf, or -1, written"),
        Field("aabb", "f8", ("any", 6), "centre and half sides of each node, written"),
        Field("pos", "f8", ("any", 3), "scratch: position of each geom in its body's inertial frame"),
        Field("centre", "f8", ("any", 3), "scratch: centre of the box around each geom, along the axes of that frame"),
        Field("half", "f8", ("any", 3), "scratch: half sides of that box"),
        Field("low", "f8", ("any", 3), "scratch: its low corner, for unions of boxes"),
        Field("high", "f8", ("any", 3), "scratch: its high corner"),
        Field("order", "i4", ("any",), "scratch: geoms in the order of the leaves"),
        Field("first", "i4", ("any",), "scratch: index in `order` of the first geom of each node"),
        Field("count", "i4", ("any",), "scratch: number of geoms of each node"),
    ],
    readonly=False,
)


def reserve_trees(build: Build) -> None:
    """Reserve the first rows of ``bvh_*`` for the trees of bodies, and set ``nbvh`` and ``nbvhstatic``.

    These trees contain only geoms that can collide.
    """
    count = 0
    for body in build.bodies:
        colliding = sum(1 for geom in body.geoms if geom.contype or geom.conaffinity)
        count += max(0, 2 * colliding - 1)
    for field in ("bvh_depth", "bvh_child", "bvh_nodeid", "bvh_aabb"):
        build.reserve(field, count)
    build.sizes["nbvh"] = build.sizes["nbvhstatic"] = count


def fill_trees(m: MjModel) -> None:
    """Fill ``body_bvh*`` and the bodies' rows of ``bvh_*`` of a model whose bodies and geoms are complete."""
    memory, sizes = StructMemory(BODY_TREES, {}), internals.sizes(m)
    memory.link(internals.memory(m), _IN_MODEL)
    ngeom, nodes = sizes["ngeom"], 2 * sizes["ngeom"]
    memory.attach_new({"pos": ngeom, "centre": ngeom, "half": ngeom, "low": ngeom, "high": ngeom})
    memory.attach_new({"order": ngeom, "first": nodes, "count": nodes})
    call(find_body_trees, internals.memory(m), memory)


@native_over("Model", "BodyTrees")
@exact
def find_body_trees(m: Model, s: Any, _unused: int, _neither: int) -> int:
    """Build the trees of all bodies, one after the other, in the structure `s`. Return 0.

    The integers `_unused` and `_neither` are required by `native_over`.
    """
    start = 0
    for body in range(m.nbody):
        n = _collect(m, s, body)
        number = 2 * n - 1 if n > 0 else 0
        s.adr[body] = start if n > 0 else -1
        s.num[body] = number
        if n > 0:
            s.depth[start], s.first[0], s.count[0] = 0, 0, n
        for node in range(number):
            _fill_node(s, start, node, m.is_4_0)
        start += number
    return 0


@kernel
def _collect(m: Model, s: Any, body: int) -> int:
    """List the geoms of a body that may collide, compute their boxes, and return the number of these geoms."""
    n = 0
    for geom in range(m.body_geomadr[body], m.body_geomadr[body] + m.body_geomnum[body]):
        if m.geom_contype[geom] != 0 or m.geom_conaffinity[geom] != 0:
            _find_box(m, s, body, geom)
            s.order[n] = geom
            n += 1
    return n


@kernel
def _find_box(m: Model, s: Any, body: int, geom: int) -> None:
    """Compute a box along the axes of the body's inertial frame that contains the geom's own bounding box.

    Centre and half sides are computed from the box's two corners, and therefore have the corners' rounding errors. In
    3.1, unions of boxes use corners that are computed back from centre and half sides.
    """
    offset = sub3(get3(m.geom_pos, geom), get3(m.body_ipos, body))
    back = neg_quat(get4(m.body_iquat, body))
    low, high = _turned_corners(m, geom, offset, back) if m.is_4_0 == 1 else _turned_sides(m, geom, body, back)
    centre, half = scale3(add3(low, high), 0.5), scale3(sub3(high, low), 0.5)
    set3(s.pos, geom, rot_vec_quat(offset, back))
    set3(s.centre, geom, centre)
    set3(s.half, geom, half)
    set3(s.low, geom, low if m.is_4_0 == 1 else sub3(centre, half))
    set3(s.high, geom, high if m.is_4_0 == 1 else add3(centre, half))


@kernel
def _turned_sides(m: Model, geom: int, body: int, back: Quat) -> tuple[Vec3, Vec3]:
    """Return the corners of a geom's box in the inertial frame of its body, from the turned centre and half sides.

    `back` is the rotation from the body to its inertial frame.
    """
    pos, quat, ipos = get3(m.geom_pos, geom), get4(m.geom_quat, geom), get3(m.body_ipos, body)
    x, y, z = m.geom_aabb[geom, 3], m.geom_aabb[geom, 4], m.geom_aabb[geom, 5]
    own = (m.geom_aabb[geom, 0], m.geom_aabb[geom, 1], m.geom_aabb[geom, 2])
    centre = rot_vec_quat(sub3(add3(pos, rot_vec_quat(own, quat)), ipos), back)
    turn = mul_quat(back, quat)
    half = (x, y, z)
    if turn[0] != 1.0 or turn[1] != 0.0 or turn[2] != 0.0 or turn[3] != 0.0:
        r = quat2mat(turn)
        half = (
            abs(r[0]) * x + abs(r[1]) * y + abs(r[2]) * z,
            abs(r[3]) * x + abs(r[4]) * y + abs(r[5]) * z,
            abs(r[6]) * x + abs(r[7]) * y + abs(r[8]) * z,
        )
    return sub3(centre, half), add3(centre, half)


@kernel
def _turned_corners(m: Model, geom: int, offset: Vec3, back: Quat) -> tuple[Vec3, Vec3]:
    """Return the corners of a geom's box in the inertial frame of its body, from the geom's eight turned corners.

    `offset` is the vector from the centre of mass of the body to the geom, in the body's frame; `back` is the rotation
    from the body to its inertial frame. These are the operations of MuJoCo 4.0.
    """
    quat = get4(m.geom_quat, geom)
    low, high = (inf, inf, inf), (-inf, -inf, -inf)
    for corner in range(8):
        x = m.geom_aabb[geom, 0] + (m.geom_aabb[geom, 3] if corner & 1 else -m.geom_aabb[geom, 3])
        y = m.geom_aabb[geom, 1] + (m.geom_aabb[geom, 4] if corner & 2 else -m.geom_aabb[geom, 4])
        z = m.geom_aabb[geom, 2] + (m.geom_aabb[geom, 5] if corner & 4 else -m.geom_aabb[geom, 5])
        turned = rot_vec_quat(add3(rot_vec_quat((x, y, z), quat), offset), back)
        low = (min(low[0], turned[0]), min(low[1], turned[1]), min(low[2], turned[2]))
        high = (max(high[0], turned[0]), max(high[1], turned[1]), max(high[2], turned[2]))
    return low, high


@kernel
def _fill_node(s: Any, start: int, node: int, is_4_0: int) -> None:
    """Fill a node of the tree whose first row is `start`, and divide the node's geoms between its two children."""
    at, first, n = start + node, s.first[node], s.count[node]
    s.child[at, 0] = -1
    s.child[at, 1] = -1
    s.nodeid[at] = s.order[first] if n == 1 else -1
    if n == 1:
        for k in range(3):
            s.aabb[at, k] = s.centre[s.order[first], k]
            s.aabb[at, 3 + k] = s.half[s.order[first], k]
        return
    longest, axis = -inf, 0
    for k in range(3):
        low, high = inf, -inf
        for i in range(first, first + n):
            low = min(low, s.low[s.order[i], k])
            high = max(high, s.high[s.order[i], k])
        s.aabb[at, k] = 0.5 * (low + high)
        s.aabb[at, 3 + k] = 0.5 * (high - low)
        if high - low >= longest + _SAME:  # for 4.0. Of two infinite sides, the later counts: the tolerance is rounded
            longest, axis = high - low, k
    if is_4_0 == 0:
        axis = _longest(s.aabb[at, 3], s.aabb[at, 4], s.aabb[at, 5])
    _sort(s, first, n, axis)
    left, right, few = node + 1, node + 2 * (n // 2), n // 2
    s.child[at, 0] = left
    s.child[at, 1] = right
    s.first[left], s.count[left], s.depth[start + left] = first, few, s.depth[at] + 1
    s.first[right], s.count[right], s.depth[start + right] = first + few, n - few, s.depth[at] + 1


@kernel
def _longest(x: float, y: float, z: float) -> int:
    """Return the axis of the longest side by the rules of 3.1.

    If sides are equal, the first counts; if x and y are infinite, y counts.
    """
    if x == y and x >= _ENDLESS:
        return 1
    if x >= y and x >= z:
        return 0
    return 1 if y >= z else 2


@kernel
def _sort(s: Any, first: int, n: int, axis: int) -> None:
    """Sort the geoms of a node by their positions along an axis; geoms at equal positions keep the user's order."""
    _shell_sort(s, first, n, axis)
    begin = first
    for i in range(first + 1, first + n + 1):
        if i == first + n or s.pos[s.order[i], axis] - s.pos[s.order[i - 1], axis] > _SAME:
            _shell_sort(s, begin, i - begin, -1)
            begin = i


@kernel
def _shell_sort(s: Any, first: int, n: int, axis: int) -> None:
    """Sort a section of the list by position along an axis, or by id if `axis` is -1 (D. L. Shell, CACM 2, 1959)."""
    gap = 1
    while 3 * gap + 1 < n:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(first + gap, first + n):
            geom, k = s.order[i], i
            while k >= first + gap and _follows(s, s.order[k - gap], geom, axis):
                s.order[k] = s.order[k - gap]
                k -= gap
            s.order[k] = geom
        gap //= 3


@kernel
def _follows(s: Any, a: int, b: int, axis: int) -> bool:
    """Return whether geom `a` comes after geom `b` in the order of `_shell_sort`."""
    return a > b if axis < 0 else s.pos[a, axis] > s.pos[b, axis]
