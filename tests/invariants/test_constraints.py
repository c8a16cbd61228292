"""Identities of the constrained dynamics on random models: optimality, forward and inverse, contact forces."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from models_random import SEEDS, Features, fixed_examples, random_inputs, random_model, random_state

import cardan
from cardan.enums import mjtCone, mjtConstraint, mjtEq, mjtJacobian

# rows that nothing can move: their forces are rounding errors times their stiffness
IMMOVABLE = 1e14
ACTIVE = Features(sensors=False)


def solved(seed: int, features: Features = ACTIVE) -> tuple[cardan.MjModel, cardan.MjData]:
    """Model and data of a seed, after forward dynamics from a random state, solved to the end."""
    m = cardan.MjModel.from_xml_string(random_model(seed, features))
    m.opt.tolerance, m.opt.iterations = 1e-14, 200
    d = cardan.MjData(m)
    random_state(cardan, m, d, seed)
    random_inputs(m, d, seed)
    cardan.mj_forward(m, d)
    assume(m.nv > 0 and not np.any(d.efc_D > IMMOVABLE))
    return m, d


def force_scale(d: cardan.MjData) -> float:
    return max(1.0, float(np.abs(d.qfrc_constraint).max()), float(np.abs(d.qfrc_smooth).max()))


def jacobian(m: cardan.MjModel, d: cardan.MjData) -> np.ndarray:
    """Dense Jacobian of the constraints, column by column."""
    columns = np.zeros((m.nv, d.nefc))
    for dof in range(m.nv):
        cardan.mj_mulJacVec(m, d, columns[dof], np.eye(m.nv)[dof])
    return columns.T


@fixed_examples(40)
@given(SEEDS)
def test_forward_and_inverse(seed: int) -> None:
    m, d = solved(seed)
    applied = d.qfrc_applied + d.qfrc_actuator
    for body in range(1, m.nbody):
        force, torque = d.xfrc_applied[body, :3], d.xfrc_applied[body, 3:]
        cardan.mj_applyFT(m, d, force, torque, d.xipos[body], body, applied)
    scale = force_scale(d)
    cardan.mj_inverse(m, d)
    np.testing.assert_allclose(d.qfrc_inverse, applied, atol=1e-8 * scale)


@fixed_examples(40)
@given(SEEDS)
def test_the_gradient_vanishes(seed: int) -> None:
    m, d = solved(seed)
    product = np.zeros(m.nv)
    cardan.mj_mulM(m, d, product, d.qacc - d.qacc_smooth)
    np.testing.assert_allclose(product, d.qfrc_constraint, atol=1e-8 * force_scale(d))
    np.testing.assert_allclose(jacobian(m, d).T @ d.efc_force, d.qfrc_constraint, atol=1e-9 * force_scale(d))


@fixed_examples(40)
@given(SEEDS)
def test_forces_are_admissible(seed: int) -> None:
    m, d = solved(seed)
    kind, force = d.efc_type, d.efc_force
    friction = np.isin(kind, (mjtConstraint.mjCNSTR_FRICTION_DOF, mjtConstraint.mjCNSTR_FRICTION_TENDON))
    assert np.all(np.abs(force[friction]) <= d.efc_frictionloss[friction])
    elliptic = kind == mjtConstraint.mjCNSTR_CONTACT_ELLIPTIC
    pushing = ~friction & ~elliptic & (kind != mjtConstraint.mjCNSTR_EQUALITY)
    assert np.all(force[pushing] >= 0)
    if m.opt.cone == mjtCone.mjCONE_ELLIPTIC:
        for i in range(d.ncon):
            contact = d.contact[i]
            wrench = np.zeros(6)
            cardan.mj_contactForce(m, d, i, wrench)
            tangential = np.linalg.norm(wrench[1 : contact.dim] / contact.friction[: contact.dim - 1])
            assert wrench[0] >= 0 and tangential <= wrench[0] * (1 + 1e-9) + 1e-12


@fixed_examples(30)
@given(SEEDS)
def test_contacts_act_and_react(seed: int) -> None:
    m, d = solved(seed, Features(dissipation=False, equalities=False, limits=False, sensors=False))
    total = np.zeros(m.nv)
    for i in range(d.ncon):
        contact, wrench = d.contact[i], np.zeros(6)
        cardan.mj_contactForce(m, d, i, wrench)
        frame = contact.frame.reshape(3, 3)
        for sign, geom in ((-1, contact.geom1), (1, contact.geom2)):
            force, torque = sign * wrench[:3] @ frame, sign * wrench[3:] @ frame
            cardan.mj_applyFT(m, d, force, torque, contact.pos, m.geom_bodyid[geom], total)
    np.testing.assert_allclose(total, d.qfrc_constraint, atol=1e-9 * force_scale(d))


@fixed_examples(30)
@given(SEEDS)
def test_storage_and_start_do_not_matter(seed: int) -> None:
    m, d = solved(seed)
    qacc = d.qacc.copy()
    scale = max(1.0, float(np.abs(qacc).max()))
    rng = np.random.default_rng(seed)
    for storage in (mjtJacobian.mjJAC_DENSE, mjtJacobian.mjJAC_SPARSE):
        m.opt.jacobian = storage
        for start in (np.zeros(m.nv), qacc, rng.standard_normal(m.nv)):
            d.qacc_warmstart[:] = start
            cardan.mj_forward(m, d)
            np.testing.assert_allclose(d.qacc, qacc, atol=1e-7 * scale)


@fixed_examples(30)
@given(SEEDS)
def test_rows_of_equalities(seed: int) -> None:
    m, d = solved(seed, Features(contacts=False, limits=False, dissipation=False, sensors=False))
    rows = d.efc_type == mjtConstraint.mjCNSTR_EQUALITY
    expected, at = jacobian(m, d)[rows], d.qpos.copy()
    eps = 1e-6
    found = np.zeros_like(expected)
    for dof in range(m.nv):
        for sign in (1.0, -1.0):
            d.qpos[:] = at
            cardan.mj_integratePos(m, d.qpos, np.eye(m.nv)[dof], sign * eps)
            cardan.mj_fwdPosition(m, d)
            assume(d.ne == len(expected))
            found[:, dof] += sign * d.efc_pos[: d.ne] / (2 * eps)
    np.testing.assert_allclose(found, expected, atol=1e-6 * max(1.0, np.abs(expected).max(initial=0)))


def test_every_equality_is_drawn() -> None:
    kinds = set()
    for seed in range(60):
        m = cardan.MjModel.from_xml_string(random_model(seed, Features(contacts=False, sensors=False)))
        kinds.update(m.eq_type.tolist())
    assert kinds == {mjtEq.mjEQ_CONNECT, mjtEq.mjEQ_WELD, mjtEq.mjEQ_JOINT, mjtEq.mjEQ_TENDON}
