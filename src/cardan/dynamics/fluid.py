"""Fluid forces on moving bodies, and their derivatives, from the inertia box of a body or ellipsoids of its geoms.

Spec: computation, passive forces; the ellipsoid model is described in the documentation's page on fluid forces
(Andersen, Pesavento and Wang 2005, extended to three dimensions; added masses after Lamb 1932, chapter 5). If
`geom_fluid[0]` is set for any geom of a body, the ellipsoids of such geoms are used, otherwise the inertia box.

Velocities and wrenches are six numbers (rotation or torque, then translation or force). They refer to the centre of
the shape and are expressed in its orientation. The velocity is relative to the wind.

The implicit integrators need the derivative of the wrench with respect to velocity, a 6 x 6 matrix. Its columns are
directional derivatives of the formulas. After transformation to the centre of mass of the tree, the matrices of a
subtree can be added, like composite inertias.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

from cardan.dynamics.com import velocity_at
from cardan.dynamics.derivatives import add_projection, add_to_parents, clear_matrices, unit6
from cardan.dynamics.free_bodies import is_part_of_standalone
from cardan.dynamics.switches import has_passive
from cardan.enums.codes import GEOM_CAPSULE, GEOM_CYLINDER, GEOM_SPHERE, INT_IMPLICITFAST
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Mat3, Vec2, Vec3, Vec6
from cardan.maths.vector import (
    MINVAL,
    add3,
    add_scaled3,
    cross,
    dot3,
    dot6,
    get3,
    get6,
    get9,
    mul3,
    mul_mat_t_vec3,
    mul_mat_vec3,
    norm3,
    scale3,
    set6,
    sub3,
)
from cardan.model.kernel_views import AnyModel, Data, Model


@kernel
def has_medium(m: AnyModel) -> bool:
    """Return whether the fluid has density or viscosity."""
    return m.opt.density > 0.0 or m.opt.viscosity > 0.0


@kernel
def has_fluid(m: Model) -> bool:
    """Return whether the fluid has density or viscosity and passive forces are enabled."""
    return has_medium(m) and has_passive(m)


@kernel
def uses_ellipsoids(m: Model, body: int) -> bool:
    """Return whether the fluid acts on the geoms of a body instead of its inertia box."""
    first = m.body_geomadr[body]
    for geom in range(first, first + m.body_geomnum[body]):
        if m.geom_fluid[geom, 0] > 0.0:
            return True
    return False


@kernel
def medium_velocity(m: Model, d: Data, body: int, point: Vec3, mat: Mat3) -> Vec6:
    """Velocity of a body at a point (world frame) relative to the fluid, expressed in the axes `mat`."""
    velocity = velocity_at(m, d, body, point)
    wind = (m.opt.wind[0], m.opt.wind[1], m.opt.wind[2])
    angular = mul_mat_t_vec3(mat, (velocity[0], velocity[1], velocity[2]))
    linear = mul_mat_t_vec3(mat, sub3((velocity[3], velocity[4], velocity[5]), wind))
    return (angular[0], angular[1], angular[2], linear[0], linear[1], linear[2])


@kernel
def inertia_box(m: Model, body: int) -> Vec3:
    """Edge lengths of the box of uniform density that has the mass and inertia of a body."""
    x, y, z = get3(m.body_inertia, body)
    scale = 6.0 / m.body_mass[body]
    return (
        sqrt(max(MINVAL, y + z - x) * scale),
        sqrt(max(MINVAL, z + x - y) * scale),
        sqrt(max(MINVAL, x + y - z) * scale),
    )


@kernel
def box_resistance(m: Model, box: Vec3) -> tuple[float, float, Vec6]:
    """Drag coefficients of a box: linear for all rotations, linear for all translations, quadratic for each axis."""
    diameter = (box[0] + box[1] + box[2]) / 3.0
    x4, y4, z4 = box[0] ** 4, box[1] ** 4, box[2] ** 4
    torque, force = m.opt.density / 64.0, m.opt.density / 2.0
    quadratic = (
        torque * box[0] * (y4 + z4),
        torque * box[1] * (z4 + x4),
        torque * box[2] * (x4 + y4),
        force * box[1] * box[2],
        force * box[2] * box[0],
        force * box[0] * box[1],
    )
    return pi * m.opt.viscosity * diameter**3, 3.0 * pi * m.opt.viscosity * diameter, quadratic


@kernel
def box_wrench(m: Model, body: int, velocity: Vec6) -> Vec6:
    """Wrench on the inertia box of a body: viscous resistance and drag of each face."""
    turning, moving, quadratic = box_resistance(m, inertia_box(m, body))
    return (
        -(turning + quadratic[0] * abs(velocity[0])) * velocity[0],
        -(turning + quadratic[1] * abs(velocity[1])) * velocity[1],
        -(turning + quadratic[2] * abs(velocity[2])) * velocity[2],
        -(moving + quadratic[3] * abs(velocity[3])) * velocity[3],
        -(moving + quadratic[4] * abs(velocity[4])) * velocity[4],
        -(moving + quadratic[5] * abs(velocity[5])) * velocity[5],
    )


@kernel
def semiaxes(m: Model, geom: int) -> Vec3:
    """Semi-axes of the ellipsoid that replaces a geom."""
    size = get3(m.geom_size, geom)
    kind = m.geom_type[geom]
    if kind == GEOM_SPHERE:
        return (size[0], size[0], size[0])
    if kind == GEOM_CAPSULE:
        return (size[0], size[0], size[1] + size[0])
    if kind == GEOM_CYLINDER:
        return (size[0], size[0], size[1])
    return size


@kernel
def added_mass(m: Model, geom: int) -> tuple[Vec3, Vec3]:
    """Added masses and added moments of inertia of an ellipsoid in the fluid."""
    rho, fluid = m.opt.density, m.geom_fluid
    mass = (rho * fluid[geom, 6], rho * fluid[geom, 7], rho * fluid[geom, 8])
    moment = (rho * fluid[geom, 9], rho * fluid[geom, 10], rho * fluid[geom, 11])
    return mass, moment


@kernel
def section_weights(axes: Vec3) -> Vec3:
    """Weights of a direction's components in the projected area of an ellipsoid: (b c)^2, (c a)^2, (a b)^2."""
    x2, y2, z2 = axes[0] ** 2, axes[1] ** 2, axes[2] ** 2
    return (y2 * z2, z2 * x2, x2 * y2)


@kernel
def largest_section(axes: Vec3) -> float:
    """Largest projected area of an ellipsoid over all directions."""
    largest = max(axes[0], axes[1], axes[2])
    smallest = min(axes[0], axes[1], axes[2])
    return pi * largest * (axes[0] + axes[1] + axes[2] - largest - smallest)


@kernel
def angular_drag(m: Model, geom: int, axes: Vec3) -> Vec3:
    """Coefficients of the drag torque about each axis, from the spheroid that the ellipsoid sweeps in a full turn."""
    slender, angular = m.geom_fluid[geom, 2], m.geom_fluid[geom, 3]
    unit = 8.0 / 15.0 * pi
    swept = (
        unit * axes[0] * max(axes[1], axes[2]) ** 4,
        unit * axes[1] * max(axes[2], axes[0]) ** 4,
        unit * axes[2] * max(axes[0], axes[1]) ** 4,
    )
    largest = max(swept[0], swept[1], swept[2])
    return (
        angular * swept[0] + slender * (largest - swept[0]),
        angular * swept[1] + slender * (largest - swept[1]),
        angular * swept[2] + slender * (largest - swept[2]),
    )


@kernel
def stokes_resistance(m: Model, axes: Vec3) -> Vec2:
    """Coefficients of viscous torque and force (Stokes' law) of a sphere with the mean semi-axis as its radius."""
    radius = (axes[0] + axes[1] + axes[2]) / 3.0
    return 8.0 * pi * m.opt.viscosity * radius**3, 6.0 * pi * m.opt.viscosity * radius


@kernel
def ellipsoid_volume(axes: Vec3) -> float:
    """Volume of an ellipsoid."""
    return 4.0 / 3.0 * pi * axes[0] * axes[1] * axes[2]


@kernel
def _potential_flow(m: Model, geom: int, axes: Vec3, w: Vec3, v: Vec3) -> tuple[Vec3, Vec3]:
    """Torque and force due to added mass and the Magnus effect."""
    mass, moment = added_mass(m, geom)
    momentum = mul3(mass, v)
    torque = add3(cross(momentum, v), cross(mul3(moment, w), w))
    magnus = m.geom_fluid[geom, 5] * m.opt.density * ellipsoid_volume(axes)
    return torque, add_scaled3(cross(momentum, w), cross(w, v), magnus)


@kernel
def _scaled_weights(axes: Vec3, exact: bool) -> tuple[Vec3, float, float]:
    """Return `section_weights` times a factor, the square root of 1 / factor, and a lower bound for divisors.

    If `exact` is set, the factor makes the largest weight 1. Then no divisor can vanish, and the bound is 0. Otherwise,
    the factor is 1 and the bound is that of MuJoCo 3.1, which changes the forces on small geoms.
    """
    weights = section_weights(axes)
    if exact:
        largest = max(weights[0], weights[1], weights[2])
        return scale3(weights, 1.0 / largest), sqrt(largest), 0.0
    return weights, 1.0, MINVAL


@kernel
def _drag_and_lift(m: Model, geom: int, axes: Vec3, v: Vec3, exact: bool) -> Vec3:
    """Force due to the projected area: blunt and slender drag, and Kutta lift; `exact`: see `_scaled_weights`."""
    speed = norm3(v)
    if speed < MINVAL:
        return (0.0, 0.0, 0.0)
    blunt, slender, kutta = m.geom_fluid[geom, 1], m.geom_fluid[geom, 2], m.geom_fluid[geom, 4]
    weights, root, least = _scaled_weights(axes, exact)
    weighted = mul3(weights, v)
    # in MuJoCo 3.1, the lift of thin plates seen edge on is smaller than the formula gives
    squared, along = dot3(weighted, weighted), dot3(weighted, v)
    shape = root * sqrt(squared / max(least, along))
    circulation = kutta * m.opt.density * pi * shape * along / max(least, speed * squared)
    drag = (blunt - slender) * pi * shape + slender * largest_section(axes)
    lift = cross(cross(weighted, v), v)
    return add_scaled3(scale3(v, -m.opt.density * drag * speed), lift, circulation)


@kernel
def ellipsoid_wrench(m: Model, geom: int, velocity: Vec6, exact: bool) -> Vec6:
    """Wrench on the ellipsoid of a geom: added mass, Magnus and Kutta lift, drag, viscous resistance."""
    axes = semiaxes(m, geom)
    w = (velocity[0], velocity[1], velocity[2])
    v = (velocity[3], velocity[4], velocity[5])
    turning, moving = stokes_resistance(m, axes)
    resistance = mul3(angular_drag(m, geom, axes), w)
    torque, force = _potential_flow(m, geom, axes, w, v)
    torque = add_scaled3(torque, w, -(m.opt.density * norm3(resistance) + turning))
    force = add3(add_scaled3(force, v, -moving), _drag_and_lift(m, geom, axes, v, exact))
    return (torque[0], torque[1], torque[2], force[0], force[1], force[2])


@kernel
def _add_wrench(m: Model, d: Data, body: int, point: Vec3, mat: Mat3, wrench: Vec6) -> None:
    """Add a wrench at a point, expressed in the axes `mat`, to the fluid force on a body (`work.fluid_force`)."""
    torque = mul_mat_vec3(mat, (wrench[0], wrench[1], wrench[2]))
    force = mul_mat_vec3(mat, (wrench[3], wrench[4], wrench[5]))
    moment = add3(torque, cross(sub3(point, get3(d.subtree_com, m.body_rootid[body])), force))
    for k in range(3):
        d.work.fluid_force[body, k] += moment[k]
        d.work.fluid_force[body, 3 + k] += force[k]


@kernel
def _add_fluid(m: Model, d: Data, exact: bool) -> None:
    """Compute qfrc_fluid, and add it to qfrc_passive; `exact`: see `_scaled_weights`."""
    # force on each body, about the centre of mass of its tree
    for body in range(1, m.nbody):
        set6(d.work.fluid_force, body, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        if m.body_mass[body] >= MINVAL:
            if uses_ellipsoids(m, body):
                first = m.body_geomadr[body]
                for geom in range(first, first + m.body_geomnum[body]):
                    if m.geom_fluid[geom, 0] > 0.0:
                        point, mat = get3(d.geom_xpos, geom), get9(d.geom_xmat, geom)
                        velocity = medium_velocity(m, d, body, point, mat)
                        _add_wrench(m, d, body, point, mat, ellipsoid_wrench(m, geom, velocity, exact))
            else:
                point, mat = get3(d.xipos, body), get9(d.ximat, body)
                velocity = medium_velocity(m, d, body, point, mat)
                _add_wrench(m, d, body, point, mat, box_wrench(m, body, velocity))
    # backward pass: forces on the subtrees
    for body in range(m.nbody - 1, 0, -1):
        parent = m.body_parentid[body]
        if parent > 0:
            for k in range(6):
                d.work.fluid_force[parent, k] += d.work.fluid_force[body, k]
    # projection onto the joint axes
    for dof in range(m.nv):
        force = dot6(get6(d.cdof, dof), get6(d.work.fluid_force, m.dof_bodyid[dof]))
        d.qfrc_fluid[dof] = force
        d.qfrc_passive[dof] += force


@stage
def fluid(m: Model, d: Data) -> int:
    """Compute the fluid forces, after `passive`.

    Reads cvel, cdof, xipos, ximat, geom_xpos, geom_xmat; writes qfrc_fluid (nv,) and adds it to qfrc_passive.
    """
    if has_fluid(m):
        _add_fluid(m, d, False)
    return OK


@stage
def exact_fluid(m: Model, d: Data) -> int:
    """Do as `fluid`, by the rules of MuJoCo 4.0: divisors have no lower bound, which matters for small ellipsoids."""
    if has_fluid(m):
        _add_fluid(m, d, True)
    return OK


@kernel
def _box_slope(m: Model, body: int, velocity: Vec6, change: Vec6) -> Vec6:
    """Directional derivative of `box_wrench` at `velocity` along `change`."""
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
    """Directional derivative of `_potential_flow` at (`w`, `v`) along (`dw`, `dv`)."""
    mass, moment = added_mass(m, geom)
    p, dp = mul3(mass, v), mul3(mass, dv)
    spin, dspin = mul3(moment, w), mul3(moment, dw)
    torque = add3(add3(cross(dp, v), cross(p, dv)), add3(cross(dspin, w), cross(spin, dw)))
    magnus = m.geom_fluid[geom, 5] * m.opt.density * ellipsoid_volume(axes)
    force = add3(cross(dp, w), cross(p, dw))
    return torque, add_scaled3(force, add3(cross(dw, v), cross(w, dv)), magnus)


@kernel
def _drag_and_lift_slope(m: Model, geom: int, axes: Vec3, v: Vec3, dv: Vec3, exact: bool, kutta: float) -> Vec3:
    """Directional derivative of `_drag_and_lift` at `v` along `dv`, with the lift coefficient `kutta`."""
    speed = norm3(v)
    if speed < MINVAL:
        return (0.0, 0.0, 0.0)
    blunt, slender = m.geom_fluid[geom, 1], m.geom_fluid[geom, 2]
    weights, root, least = _scaled_weights(axes, exact)
    a, da = mul3(weights, v), mul3(weights, dv)
    numerator, denominator = dot3(a, a), dot3(a, v)
    shape = root * sqrt(numerator / denominator)
    # changes of the projected area and of the speed; in MuJoCo 3.1, bounds matter for thin plates
    across, along = dot3(a, da), dot3(a, dv)
    area_slope = root * pi * (denominator * across - numerator * along) / max(least, sqrt(numerator * denominator**3))
    shape_rate = across / max(least, numerator) - along / denominator
    speed_rate = dot3(v, dv) / (speed * speed)
    drag = (blunt - slender) * pi * shape + slender * largest_section(axes)
    drag_slope = (blunt - slender) * area_slope + drag * speed_rate
    resisted = add_scaled3(scale3(v, -drag_slope * speed), dv, -drag * speed)
    # lift: scale (a x v) x v
    scale = root * kutta * pi * denominator / max(least, speed * sqrt(numerator * denominator))
    turned = cross(a, v)
    lift = add3(cross(add3(cross(da, v), cross(a, dv)), v), cross(turned, dv))
    lift = add_scaled3(lift, cross(turned, v), -shape_rate - speed_rate)
    return scale3(add_scaled3(resisted, lift, scale), m.opt.density)


@kernel
def _ellipsoid_slope(m: Model, geom: int, velocity: Vec6, change: Vec6, exact: bool, drag: Any) -> Vec6:
    """Directional derivative of `ellipsoid_wrench` at `velocity` along `change`.

    If `drag` is not None, only viscous resistance and drag are included, the parts that dissipate energy.
    """
    axes = semiaxes(m, geom)
    w, v = (velocity[0], velocity[1], velocity[2]), (velocity[3], velocity[4], velocity[5])
    dw, dv = (change[0], change[1], change[2]), (change[3], change[4], change[5])
    turning, moving = stokes_resistance(m, axes)
    coefficients = angular_drag(m, geom, axes)
    resistance = mul3(coefficients, w)
    size = norm3(resistance)
    growth = dot3(resistance, mul3(coefficients, dw)) / max(MINVAL, size)
    torque, force, kutta = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0
    if drag is None:
        torque, force = _potential_flow_slope(m, geom, axes, w, v, dw, dv)
        kutta = m.geom_fluid[geom, 4]
    torque = add_scaled3(torque, dw, -(m.opt.density * size + turning))
    torque = add_scaled3(torque, w, -m.opt.density * growth)
    force = add3(add_scaled3(force, dv, -moving), _drag_and_lift_slope(m, geom, axes, v, dv, exact, kutta))
    return (torque[0], torque[1], torque[2], force[0], force[1], force[2])


@kernel
def _local_motion(mat: Mat3, arm: Vec3, motion: Vec6) -> Vec6:
    """Transform a motion from the tree's centre of mass to the offset `arm`, and express it in the axes `mat`."""
    angular = (motion[0], motion[1], motion[2])
    linear = mul_mat_t_vec3(mat, add3((motion[3], motion[4], motion[5]), cross(angular, arm)))
    angular = mul_mat_t_vec3(mat, angular)
    return (angular[0], angular[1], angular[2], linear[0], linear[1], linear[2])


@kernel
def _set_column(d: Data, body: int, column: int, mat: Mat3, arm: Vec3, wrench: Vec6) -> None:
    """Transform a local wrench back to the tree's centre of mass, and add it to a column of the body's matrix."""
    torque = mul_mat_vec3(mat, (wrench[0], wrench[1], wrench[2]))
    force = mul_mat_vec3(mat, (wrench[3], wrench[4], wrench[5]))
    torque = add3(torque, cross(arm, force))
    for k in range(3):
        d.work.composite[body, 6 * k + column] += torque[k]
        d.work.composite[body, 6 * (3 + k) + column] += force[k]


@kernel
def _body_matrices(m: Model, d: Data, exact: bool, drag: Any) -> None:
    """Write to `work.composite` the derivative of the fluid force on each body with respect to the body's velocity.

    If `drag` is not None, forces of ellipsoids include only the parts that dissipate energy.
    """
    clear_matrices(m, d)
    for body in range(1, m.nbody):
        if m.body_mass[body] >= MINVAL:
            if uses_ellipsoids(m, body):
                first = m.body_geomadr[body]
                for geom in range(first, first + m.body_geomnum[body]):
                    if m.geom_fluid[geom, 0] > 0.0:
                        point, mat = get3(d.geom_xpos, geom), get9(d.geom_xmat, geom)
                        arm = sub3(point, get3(d.subtree_com, m.body_rootid[body]))
                        velocity = medium_velocity(m, d, body, point, mat)
                        for column in range(6):
                            change = _local_motion(mat, arm, unit6(column))
                            wrench = _ellipsoid_slope(m, geom, velocity, change, exact, drag)
                            _set_column(d, body, column, mat, arm, wrench)
            else:
                point, mat = get3(d.xipos, body), get9(d.ximat, body)
                arm = sub3(point, get3(d.subtree_com, m.body_rootid[body]))
                velocity = medium_velocity(m, d, body, point, mat)
                for column in range(6):
                    change = _local_motion(mat, arm, unit6(column))
                    _set_column(d, body, column, mat, arm, _box_slope(m, body, velocity, change))


@kernel
def _symmetrise(d: Data, body: int) -> None:
    """Replace the matrix of a body by its symmetric part."""
    matrix = d.work.composite
    for row in range(6):
        for column in range(row):
            mean = 0.5 * (matrix[body, 6 * row + column] + matrix[body, 6 * column + row])
            matrix[body, 6 * row + column] = mean
            matrix[body, 6 * column + row] = mean


@stage
def fluid_derivatives(m: Model, d: Data) -> int:
    """Add d qfrc_fluid / d qvel to qDeriv; for implicitfast, add only its symmetric part.

    Reads cvel, cdof, and the poses of bodies and geoms.
    """
    if not has_fluid(m):
        return OK
    _body_matrices(m, d, False, None)
    if m.opt.integrator == INT_IMPLICITFAST:
        for body in range(1, m.nbody):
            _symmetrise(d, body)
    add_to_parents(m, d)
    add_projection(m, d)
    return OK


@stage
def exact_fluid_derivatives(m: Model, d: Data) -> int:
    """Do as `fluid_derivatives`, by the rules of MuJoCo 4.0: divisors have no lower bound.

    For implicitfast, use the complete, unsymmetric derivatives of standalone free bodies.
    """
    if not has_fluid(m):
        return OK
    _body_matrices(m, d, True, None)
    if m.opt.integrator == INT_IMPLICITFAST:
        for body in range(1, m.nbody):
            if not is_part_of_standalone(m, body):
                _symmetrise(d, body)
    add_to_parents(m, d)
    add_projection(m, d)
    return OK


@stage
def drag_derivatives(m: Model, d: Data) -> int:
    """Set qDeriv to the symmetric part of the derivative of drag and viscous resistance with respect to qvel.

    The integrator discrete uses it. Lift, Magnus forces and forces of added mass are left out.
    """
    for k in range(m.nD):
        d.qDeriv[k] = 0.0
    if not has_fluid(m):
        return OK
    _body_matrices(m, d, True, True)
    for body in range(1, m.nbody):
        _symmetrise(d, body)
    add_to_parents(m, d)
    add_projection(m, d)
    return OK
