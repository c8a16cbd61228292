"""Linear velocity and angular momentum of subtrees (spec: mj_subtreeVel; sensors subtreelinvel, subtreeangmom)."""

from __future__ import annotations

from cardan.dynamics.object import velocity_at
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Vec3
from cardan.maths.vector import (
    MINVAL,
    add3,
    cross,
    get3,
    get9,
    mul_mat_t_vec3,
    mul_mat_vec3,
    scale3,
    set3,
    sub3,
)
from cardan.model.kernel_views import Data, Model


@kernel
def _linear_momentum(m: Model, d: Data) -> None:
    """Store intermediate results: momenta of subtrees in `subtree_linvel`, spins of bodies in `subtree_angmom`."""
    for body in range(m.nbody):
        velocity = velocity_at(m, d, body, get3(d.xipos, body))
        mat = get9(d.ximat, body)
        spin = mul_mat_t_vec3(mat, (velocity[0], velocity[1], velocity[2]))
        inertia = get3(m.body_inertia, body)
        momentum = (inertia[0] * spin[0], inertia[1] * spin[1], inertia[2] * spin[2])
        set3(d.subtree_angmom, body, mul_mat_vec3(mat, momentum))
        set3(d.subtree_linvel, body, scale3((velocity[3], velocity[4], velocity[5]), m.body_mass[body]))
    for body in range(m.nbody - 1, 0, -1):
        parent = m.body_parentid[body]
        set3(d.subtree_linvel, parent, add3(get3(d.subtree_linvel, parent), get3(d.subtree_linvel, body)))


@kernel
def _moment_about(d: Data, mass: float, point: Vec3, velocity: Vec3, body: int) -> Vec3:
    """Angular momentum of a moving point mass about the moving centre of mass of a subtree."""
    arm = sub3(point, get3(d.subtree_com, body))
    return scale3(cross(arm, sub3(velocity, get3(d.subtree_linvel, body))), mass)


@stage
def subtree_vel(m: Model, d: Data) -> int:
    """Compute velocities of subtrees' centres of mass, and angular momenta about these centres.

    Reads cvel, xipos, ximat, subtree_com; writes subtree_linvel, subtree_angmom (nbody, 3), world frame.
    """
    _linear_momentum(m, d)
    for body in range(m.nbody):
        set3(d.subtree_linvel, body, scale3(get3(d.subtree_linvel, body), 1.0 / max(MINVAL, m.body_subtreemass[body])))
    for body in range(m.nbody - 1, -1, -1):
        # orbital angular momentum of the body itself
        velocity = velocity_at(m, d, body, get3(d.xipos, body))
        linear = (velocity[3], velocity[4], velocity[5])
        own = _moment_about(d, m.body_mass[body], get3(d.xipos, body), linear, body)
        total = add3(get3(d.subtree_angmom, body), own)
        set3(d.subtree_angmom, body, total)
        # orbital angular momentum of the subtree as part of its parent's
        if body > 0:
            parent = m.body_parentid[body]
            com, linvel = get3(d.subtree_com, body), get3(d.subtree_linvel, body)
            moment = _moment_about(d, m.body_subtreemass[body], com, linvel, parent)
            set3(d.subtree_angmom, parent, add3(get3(d.subtree_angmom, parent), add3(total, moment)))
    return OK
