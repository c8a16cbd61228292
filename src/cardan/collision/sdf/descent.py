"""Collisions of signed-distance shapes with each other and with primitives, by gradient descent.

If two shapes A and B overlap, max(A, B) is negative somewhere. Searches start from ``sdf_initpoints`` points of the
Halton sequence in the intersection of the bounding boxes. Each search makes up to ``sdf_iterations`` steps of gradient
descent on A + B + |max(A, B)|, which lead into the overlap, and one more step on max(A, B). The length of each step is
halved until the objective decreases by at least a tenth of what the gradient predicts (Armijo's rule).

Sources: spec: option sdf_iterations, sdf_initpoints; J. H. Halton, On the efficiency of certain quasi-random sequences
(1960); J. Nocedal, S. J. Wright, Numerical Optimization, 2nd edition (2006), section 3.1.
"""

from __future__ import annotations

from cardan.collision.capsule import from_geom, to_geom
from cardan.collision.contact import MAXCONPAIR, put_contact
from cardan.collision.culling import boxes_apart
from cardan.collision.sdf.field import evaluate, has_distance, load_side
from cardan.jit import collider, exact, kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import add3, add_scaled3, column3, dot3, get3, get9, mul_mat_t_vec3, normalize3, sub3
from cardan.model.kernel_views import Data, Model

ARMIJO = 0.1
SHORTEST = 1e-4
"""Length, in units of the gradient, below which a step is accepted without a test."""


@kernel
def halton(index: int, base: int) -> float:
    """Element `index` (from 0) of the van der Corput sequence with base `base`."""
    value = 0.0
    fraction = 1.0
    while index > 0:
        fraction /= base
        value += fraction * (index % base)
        index //= base
    return value


@kernel
def objective(a: float, b: float, overlap: int) -> float:
    """Objective of the search: max(A, B) if `overlap` (last step), else A + B + |max(A, B)|."""
    largest = max(a, b)
    return largest if overlap else a + b + abs(largest)


@kernel
def slope(d: Data, a: float, b: float, overlap: int) -> Vec3:
    """Gradient of the objective, computed from the gradients of both sides."""
    ga = get3(d.work.sdf_gradient, 0)
    gb = get3(d.work.sdf_gradient, 1)
    larger = ga if a > b else gb
    if overlap:
        return larger
    return add_scaled3(add3(ga, gb), larger, 1.0 if max(a, b) > 0.0 else -1.0)


@kernel
def value_at(m: Model, d: Data, point: Vec3, overlap: int) -> float:
    """Value of the objective at a point."""
    return objective(evaluate(m, d, 0, point, 0), evaluate(m, d, 1, point, 0), overlap)


@kernel
def descend(m: Model, d: Data, point: Vec3, overlap: int) -> tuple[Vec3, float, float]:
    """Make one step of gradient descent with line search; return the new point and the objectives before and after.

    In MuJoCo 4.0 (``m.is_4_0``), a shortest step that increases the objective is not made.
    """
    a = evaluate(m, d, 0, point, 1)
    b = evaluate(m, d, 1, point, 1)
    before = objective(a, b, overlap)
    gradient = slope(d, a, b, overlap)
    promise = ARMIJO * dot3(gradient, gradient)
    step = 1.0
    trial = sub3(point, gradient)
    after = value_at(m, d, trial, overlap)
    while after > before - step * promise and step >= SHORTEST:
        step *= 0.5
        trial = add_scaled3(point, gradient, -step)
        after = value_at(m, d, trial, overlap)
    if m.is_4_0 and after > before:
        return point, before, after
    return trial, before, after


@kernel
def minimise(m: Model, d: Data, point: Vec3) -> Vec3:
    """Run a search from `point`; return the last point of the search."""
    better = True
    iteration = 0
    while better and iteration < m.opt.sdf_iterations:
        point, before, after = descend(m, d, point, 0)
        better = after <= before
        iteration += 1
    point, _, _ = descend(m, d, point, 1)
    return point


@kernel
def common_box(m: Model, d: Data, geom1: int, geom2: int) -> tuple[Vec3, Vec3]:
    """Lower and upper corner of the intersection of both geoms' bounding boxes, in the frame of `geom1`."""
    xmat1 = get9(d.geom_xmat, geom1)
    xmat2 = get9(d.geom_xmat, geom2)
    center2 = (m.geom_aabb[geom2, 0], m.geom_aabb[geom2, 1], m.geom_aabb[geom2, 2])
    center = to_geom(d, geom1, from_geom(d, geom2, center2))
    half = (0.0, 0.0, 0.0)
    for k in range(3):
        axis = mul_mat_t_vec3(xmat1, column3(xmat2, k))
        half = add_scaled3(half, (abs(axis[0]), abs(axis[1]), abs(axis[2])), m.geom_aabb[geom2, 3 + k])
    center1 = (m.geom_aabb[geom1, 0], m.geom_aabb[geom1, 1], m.geom_aabb[geom1, 2])
    half1 = (m.geom_aabb[geom1, 3], m.geom_aabb[geom1, 4], m.geom_aabb[geom1, 5])
    low = sub3(center, half)
    high = add3(center, half)
    low1 = sub3(center1, half1)
    high1 = add3(center1, half1)
    return (
        (max(low[0], low1[0]), max(low[1], low1[1]), max(low[2], low1[2])),
        (min(high[0], high1[0]), min(high[1], high1[1]), min(high[2], high1[2])),
    )


@kernel
def start_of(d: Data, geom: int, low: Vec3, high: Vec3, k: int) -> Vec3:
    """Start point of search `k`, world frame: element `k` of the Halton sequence in a box.

    The box is given by its corners in the frame of a geom.
    """
    side = sub3(high, low)
    x, y, z = low[0] + halton(k, 2) * side[0], low[1] + halton(k, 3) * side[1], low[2] + halton(k, 5) * side[2]
    return from_geom(d, geom, (x, y, z))


@kernel
def put_overlap(m: Model, d: Data, ncon: int, point: Vec3) -> int:
    """If the shapes overlap at the end point of a search, write a contact; return the new number of contacts.

    The contact's normal has the direction of the difference between the two normalised gradients. The contact is half
    the depth away from the end point: along the normal, in MuJoCo 4.0 against it.
    """
    depth = max(evaluate(m, d, 0, point, 1), evaluate(m, d, 1, point, 1))
    if depth >= 0.0:
        return ncon
    normal = normalize3(sub3(normalize3(get3(d.work.sdf_gradient, 0)), normalize3(get3(d.work.sdf_gradient, 1))))
    put_contact(d, ncon, depth, add_scaled3(point, normal, (m.is_4_0 - 0.5) * depth), normal)
    return ncon + 1


@collider
@exact
def sdf_descent(m: Model, d: Data, geom1: int, geom2: int) -> int:
    """Write contacts of a signed-distance shape (`geom2`) with a second shape or a primitive; return their number.

    Each successful search gives one contact, up to `MAXCONPAIR`. All contacts have negative distances; the margin is
    not used. In MuJoCo 4.0 (``m.is_4_0``), geoms whose bounding boxes are apart are not searched.
    """
    if not (has_distance(m, geom1) and has_distance(m, geom2)):
        return 0
    if m.is_4_0 and boxes_apart(m, d, geom1, geom2, 0.0):
        return 0
    load_side(m, d, 0, geom1)
    load_side(m, d, 1, geom2)
    low, high = common_box(m, d, geom1, geom2)
    ncon = 0
    for k in range(m.opt.sdf_initpoints):
        d.work.sdf_rough = 1
        point = minimise(m, d, start_of(d, geom1, low, high, k))
        d.work.sdf_rough = 0
        if ncon < MAXCONPAIR:
            ncon = put_overlap(m, d, ncon, point)
    return ncon
