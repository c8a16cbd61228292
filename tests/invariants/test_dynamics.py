"""Identities of the smooth dynamics on random models: energy, momentum, inertia, derivatives of positions."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from models_random import FLOATING, SEEDS, SMOOTH, Features, fixed_examples, random_model, random_state

import cardan

EPS = 1e-6


def started(seed: int, features: Features, speed: float = 1.0) -> tuple[cardan.MjModel, cardan.MjData]:
    """Model and data of a seed, after forward dynamics from a random state."""
    m = cardan.MjModel.from_xml_string(random_model(seed, features))
    d = cardan.MjData(m)
    random_state(cardan, m, d, seed, speed)
    cardan.mj_forward(m, d)
    return m, d


def energy_drift(m: cardan.MjModel, seed: int, timestep: float, duration: float) -> float:
    m.opt.timestep = timestep
    d = cardan.MjData(m)
    random_state(cardan, m, d, seed)
    cardan.mj_forward(m, d)
    before = d.energy.sum()
    for _ in range(round(duration / timestep)):
        cardan.mj_step(m, d)
    cardan.mj_forward(m, d)
    return float(abs(d.energy.sum() - before) / max(1.0, d.energy[1]))


@fixed_examples(15)
@given(SEEDS)
def test_energy_is_conserved(seed: int) -> None:
    m = cardan.MjModel.from_xml_string(random_model(seed, SMOOTH))
    coarse, fine = (energy_drift(m, seed, h, 0.04) for h in (5e-4, 2.5e-4))
    # the scheme has order four, but two where quaternions are integrated by the mean of four velocities
    rotating = np.isin(m.jnt_type, (cardan.mjtJoint.mjJNT_FREE, cardan.mjtJoint.mjJNT_BALL)).any()
    assert fine <= max(coarse / (3 if rotating else 10), 1e-9)


def momenta(m: cardan.MjModel, d: cardan.MjData) -> np.ndarray:
    """Linear momentum of every tree, and the angular momentum about its centre of mass."""
    roots = np.flatnonzero((m.body_parentid == 0) & (np.arange(m.nbody) > 0))
    cardan.mj_forward(m, d)
    cardan.mj_subtreeVel(m, d)
    return np.concatenate([d.subtree_linvel[roots] * m.body_subtreemass[roots, None], d.subtree_angmom[roots]])


def momentum_drift(m: cardan.MjModel, seed: int, timestep: float, duration: float) -> float:
    m.opt.timestep = timestep
    d = cardan.MjData(m)
    random_state(cardan, m, d, seed)
    before = momenta(m, d)
    for _ in range(round(duration / timestep)):
        cardan.mj_step(m, d)
    return float(np.abs(momenta(m, d) - before).max() / max(1.0, np.abs(before).max()))


@fixed_examples(15)
@given(SEEDS)
def test_momentum_is_conserved(seed: int) -> None:
    m = cardan.MjModel.from_xml_string(random_model(seed, FLOATING))
    coarse, fine = (momentum_drift(m, seed, h, 0.02) for h in (5e-4, 2.5e-4))
    assert coarse <= 1e-4
    # quaternions are integrated to second order
    assert fine <= max(coarse / 3, 1e-9)


@fixed_examples(20)
@given(SEEDS)
def test_inertia(seed: int) -> None:
    m, d = started(seed, SMOOTH)
    full = np.zeros((m.nv, m.nv))
    cardan.mj_fullM(m, full, d.qM)
    np.testing.assert_array_equal(full, full.T)
    if m.nv == 0:
        return
    assert np.linalg.eigvalsh(full).min() > 0
    x, mx, back = np.random.default_rng(seed).standard_normal((1, m.nv)), np.zeros(m.nv), np.zeros((1, m.nv))
    cardan.mj_mulM(m, d, mx, x[0])
    np.testing.assert_allclose(mx, full @ x[0], atol=1e-11 * np.abs(full).max())
    cardan.mj_solveM(m, d, back, mx[None])
    np.testing.assert_allclose(back, x, atol=1e-13 * np.linalg.cond(full))
    np.testing.assert_allclose(d.energy[1], 0.5 * d.qvel @ full @ d.qvel, rtol=1e-10, atol=1e-12)


@fixed_examples(20)
@given(SEEDS)
def test_differentiate_integrate(seed: int) -> None:
    m, d = started(seed, SMOOTH)
    velocity = np.random.default_rng(seed).uniform(-0.5, 0.5, m.nv)
    moved, found = d.qpos.copy(), np.zeros(m.nv)
    cardan.mj_integratePos(m, moved, velocity, 1.3)
    cardan.mj_differentiatePos(m, found, 1.3, d.qpos, moved)
    np.testing.assert_allclose(found, velocity, atol=1e-12)


def derivative(m: cardan.MjModel, d: cardan.MjData, measure) -> np.ndarray:
    """Central differences of a measure by each dof, in the last axis."""
    at, columns = d.qpos.copy(), []
    for dof in range(m.nv):
        sides = []
        for sign in (1.0, -1.0):
            d.qpos[:] = at
            cardan.mj_integratePos(m, d.qpos, np.eye(m.nv)[dof], sign * EPS)
            cardan.mj_fwdPosition(m, d)
            sides.append(np.array(measure(), copy=True))
        columns.append((sides[0] - sides[1]) / (2 * EPS))
    d.qpos[:] = at
    cardan.mj_fwdPosition(m, d)
    return np.stack(columns, axis=-1)


@fixed_examples(15)
@given(SEEDS)
def test_jacobians(seed: int) -> None:
    m, d = started(seed, SMOOTH)
    if m.nv == 0:
        return
    body = m.nbody - 1
    local = np.array([0.1, -0.2, 0.3])
    cases = {
        "body": (lambda: d.xpos[body], lambda p, r: cardan.mj_jacBody(m, d, p, r, body)),
        "com": (lambda: d.xipos[body], lambda p, r: cardan.mj_jacBodyCom(m, d, p, r, body)),
        "geom": (lambda: d.geom_xpos[-1], lambda p, r: cardan.mj_jacGeom(m, d, p, r, m.ngeom - 1)),
        "subtree": (lambda: d.subtree_com[0], lambda p, r: cardan.mj_jacSubtreeCom(m, d, p, 0)),
        "point": (
            lambda: d.xpos[body] + d.xmat[body].reshape(3, 3) @ local,
            lambda p, r: cardan.mj_jac(m, d, p, r, d.xpos[body] + d.xmat[body].reshape(3, 3) @ local, body),
        ),
    }
    for name, (position, jacobian) in cases.items():
        jacp, jacr = np.zeros((3, m.nv)), np.zeros((3, m.nv))
        jacobian(jacp, jacr)
        np.testing.assert_allclose(jacp, derivative(m, d, position), atol=1e-7, err_msg=name)
    # rotation: dR/dq = [column of jacr] R
    turned = derivative(m, d, lambda: d.xmat[body].reshape(3, 3))
    cardan.mj_jacBody(m, d, None, jacr, body)
    matrix = d.xmat[body].reshape(3, 3)
    expected = np.stack([np.cross(jacr[:, dof], matrix, axisb=0, axisc=0) for dof in range(m.nv)], axis=-1)
    np.testing.assert_allclose(expected, turned, atol=1e-7)


@fixed_examples(20)
@given(SEEDS)
def test_lengths(seed: int) -> None:
    m, d = started(seed, Features(contacts=False, equalities=False, sensors=False))
    m.opt.jacobian = cardan.mjtJacobian.mjJAC_DENSE
    cardan.mj_forward(m, d)
    if m.nv == 0:
        return
    # actuators on ball and free joints have moments that aren't derivatives of a length
    joints = (cardan.mjtTrn.mjTRN_JOINT, cardan.mjtTrn.mjTRN_JOINTINPARENT)
    rotating = (cardan.mjtJoint.mjJNT_FREE, cardan.mjtJoint.mjJNT_BALL)
    plain = [
        i
        for i in range(m.nu)
        if not (m.actuator_trntype[i] in joints and m.jnt_type[m.actuator_trnid[i, 0]] in rotating)
    ]
    moment, arm = d.actuator_moment[plain].copy(), d.ten_J.copy()
    np.testing.assert_allclose(moment, derivative(m, d, lambda: d.actuator_length[plain]), atol=1e-7)
    np.testing.assert_allclose(arm.reshape(m.ntendon, m.nv), derivative(m, d, lambda: d.ten_length), atol=1e-7)
