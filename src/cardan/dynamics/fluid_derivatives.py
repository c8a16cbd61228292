"""Derivatives of the fluid forces by velocity, for the implicit integrators (spec: computation, numerical integration).

The derivative of the wrench on a shape is a 6 x 6 matrix. Its columns are directional derivatives of the formulas of
`cardan.dynamics.fluid`. After transformation to the centre of mass of the tree, the matrices of a subtree can be added,
like composite inertias.
"""

from __future__ import annotations

from math import pi, sqrt

from cardan.dynamics.coriolis_derivatives import add_projection, add_to_parents, clear_matrices, unit6
from cardan.dynamics.fluid import (
    added_mass,
    angular_drag,
    box_resistance,
    ellipsoid_volume,
    has_fluid,
    inertia_box,
    largest_section,
    medium_velocity,
    section_weights,
    semiaxes,
    stokes_resistance,
    uses_ellipsoids,
)
from cardan.enums.codes import INT_IMPLICITFAST
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Mat3, Vec3, Vec6
from cardan.maths.vector import (
    MINVAL,
    add3,
    add_scaled3,
    cross,
    dot3,
    get3,
    get9,
    mul3,
    mul_mat_t_vec3,
    mul_mat_vec3,
    norm3,
    scale3,
    sub3,
)
from cardan.model.kernel_views import Data, Model


@kernel
def _box_slope(m: Model, body: int, velocity: Vec6, change: Vec6) -> Vec6:
    """Directional derivative of `fluid.box_wrench` at `velocity` along `change`."""
    turning, moving, quadratic = box_resistance(m, inertia_box(m, body))
    return (
        -(turning + 2.0 * quadratic[0] * abs(velocity[0])) * change[0],
        -(turning + 2.0 * quadratic[1] * abs(velocity[1])) * change[1],
        -(turning + 2.0 * quadratic[2] * abs(velocity[2])) * change[2],
        -(moving + 2.0 * quadratic[3] * abs(velocity[3])) * change[3],
        -(moving + 2.0 * quadratic[4] * abs(velocity[4])) * change[4],
        -(moving + 2.0 * quadratic[5] * abs(velocity[5])) * change[5],
    )


@kernel
def _potential_flow_slope(m: Model, geom: int, axes: Vec3, w: Vec3, v: Vec3, dw: Vec3, dv: Vec3) -> tuple[Vec3, Vec3]:
    """Directional derivative of the torque and force due to added mass and the Magnus effect."""
    mass, moment = added_mass(m, geom)
    p, dp = mul3(mass, v), mul3(mass, dv)
    spin, dspin = mul3(moment, w), mul3(moment, dw)
    torque = add3(add3(cross(dp, v), cross(p, dv)), add3(cross(dspin, w), cross(spin, dw)))
    magnus = m.geom_fluid[geom, 5] * m.opt.density * ellipsoid_volume(axes)
    force = add3(cross(dp, w), cross(p, dw))
    return torque, add_scaled3(force, add3(cross(dw, v), cross(w, dv)), magnus)


@kernel
def _drag_and_lift_slope(m: Model, geom: int, axes: Vec3, v: Vec3, dv: Vec3) -> Vec3:
    """Directional derivative of blunt and slender drag and Kutta lift."""
    speed = norm3(v)
    if speed < MINVAL:
        return (0.0, 0.0, 0.0)
    blunt, slender, kutta = m.geom_fluid[geom, 1], m.geom_fluid[geom, 2], m.geom_fluid[geom, 4]
    weights = section_weights(axes)
    a, da = mul3(weights, v), mul3(weights, dv)
    numerator, denominator = dot3(a, a), dot3(a, v)
    shape = sqrt(numerator / denominator)
    # changes of the projected area and of the speed, bounded as in the reference (it matters for thin plates)
    across, along = dot3(a, da), dot3(a, dv)
    area_slope = pi * (denominator * across - numerator * along) / max(MINVAL, sqrt(numerator * denominator**3))
    shape_rate = across / max(MINVAL, numerator) - along / denominator
    speed_rate = dot3(v, dv) / (speed * speed)
    drag = (blunt - slender) * pi * shape + slender * largest_section(axes)
    drag_slope = (blunt - slender) * area_slope + drag * speed_rate
    resisted = add_scaled3(scale3(v, -drag_slope * speed), dv, -drag * speed)
    # lift: scale (a x v) x v
    scale = kutta * pi * denominator / max(MINVAL, speed * sqrt(numerator * denominator))
    turned = cross(a, v)
    lift = add3(cross(add3(cross(da, v), cross(a, dv)), v), cross(turned, dv))
    lift = add_scaled3(lift, cross(turned, v), -shape_rate - speed_rate)
    return scale3(add_scaled3(resisted, lift, scale), m.opt.density)


@kernel
def _ellipsoid_slope(m: Model, geom: int, velocity: Vec6, change: Vec6) -> Vec6:
    """Directional derivative of `fluid.ellipsoid_wrench` at `velocity` along `change`."""
    axes = semiaxes(m, geom)
    w, v = (velocity[0], velocity[1], velocity[2]), (velocity[3], velocity[4], velocity[5])
    dw, dv = (change[0], change[1], change[2]), (change[3], change[4], change[5])
    turning, moving = stokes_resistance(m, axes)
    coefficients = angular_drag(m, geom, axes)
    resistance = mul3(coefficients, w)
    size = norm3(resistance)
    growth = dot3(resistance, mul3(coefficients, dw)) / max(MINVAL, size)
    torque, force = _potential_flow_slope(m, geom, axes, w, v, dw, dv)
    torque = add_scaled3(torque, dw, -(m.opt.density * size + turning))
    torque = add_scaled3(torque, w, -m.opt.density * growth)
    force = add3(add_scaled3(force, dv, -moving), _drag_and_lift_slope(m, geom, axes, v, dv))
    return (torque[0], torque[1], torque[2], force[0], force[1], force[2])


@kernel
def _local_motion(mat: Mat3, arm: Vec3, motion: Vec6) -> Vec6:
    """Transform a motion from the centre of mass of the tree to the offset `arm`, in the orientation `mat`."""
    angular = (motion[0], motion[1], motion[2])
    linear = mul_mat_t_vec3(mat, add3((motion[3], motion[4], motion[5]), cross(angular, arm)))
    angular = mul_mat_t_vec3(mat, angular)
    return (angular[0], angular[1], angular[2], linear[0], linear[1], linear[2])


@kernel
def _set_column(d: Data, body: int, column: int, mat: Mat3, arm: Vec3, wrench: Vec6) -> None:
    """Add a local wrench, transformed back to the centre of mass of the tree, to a column of the body's matrix."""
    torque = mul_mat_vec3(mat, (wrench[0], wrench[1], wrench[2]))
    force = mul_mat_vec3(mat, (wrench[3], wrench[4], wrench[5]))
    torque = add3(torque, cross(arm, force))
    for k in range(3):
        d.work.composite[body, 6 * k + column] += torque[k]
        d.work.composite[body, 6 * (3 + k) + column] += force[k]


@kernel
def _add_box(m: Model, d: Data, body: int) -> None:
    point, mat = get3(d.xipos, body), get9(d.ximat, body)
    arm = sub3(point, get3(d.subtree_com, m.body_rootid[body]))
    velocity = medium_velocity(m, d, body, point, mat)
    for column in range(6):
        change = _local_motion(mat, arm, unit6(column))
        _set_column(d, body, column, mat, arm, _box_slope(m, body, velocity, change))


@kernel
def _add_ellipsoids(m: Model, d: Data, body: int) -> None:
    first = m.body_geomadr[body]
    for geom in range(first, first + m.body_geomnum[body]):
        if m.geom_fluid[geom, 0] > 0.0:
            point, mat = get3(d.geom_xpos, geom), get9(d.geom_xmat, geom)
            arm = sub3(point, get3(d.subtree_com, m.body_rootid[body]))
            velocity = medium_velocity(m, d, body, point, mat)
            for column in range(6):
                change = _local_motion(mat, arm, unit6(column))
                _set_column(d, body, column, mat, arm, _ellipsoid_slope(m, geom, velocity, change))


@kernel
def _symmetrize(m: Model, d: Data) -> None:
    """Replace each body's matrix by its symmetric part."""
    matrix = d.work.composite
    for body in range(1, m.nbody):
        for row in range(6):
            for column in range(row):
                mean = 0.5 * (matrix[body, 6 * row + column] + matrix[body, 6 * column + row])
                matrix[body, 6 * row + column] = mean
                matrix[body, 6 * column + row] = mean


@stage
def fluid_derivatives(m: Model, d: Data) -> int:
    """Add the derivative of qfrc_fluid by qvel to qDeriv; for implicitfast, add only its symmetric part.

    Reads cvel, cdof, and the poses of bodies and geoms.
    """
    if not has_fluid(m):
        return OK
    clear_matrices(m, d)
    for body in range(1, m.nbody):
        if m.body_mass[body] >= MINVAL:
            if uses_ellipsoids(m, body):
                _add_ellipsoids(m, d, body)
            else:
                _add_box(m, d, body)
    if m.opt.integrator == INT_IMPLICITFAST:
        _symmetrize(m, d)
    add_to_parents(m, d)
    add_projection(m, d)
    return OK
