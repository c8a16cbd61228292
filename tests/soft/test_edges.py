"""Vertices, boxes and edges of flexes: parity with the reference (level: forward, step), and derivatives."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from reference import copy_state, model_from_reference
from soft.comparison import compare, random_state
from soft.flex_models import CHAIN, CHAIN_FLEX, edge_models, text

import cardan

MODELS = dict(edge_models())


@pytest.mark.parametrize("name", MODELS)
def test_forward_and_step(name: str) -> None:
    compare(mujoco.MjModel.from_xml_string(MODELS[name]), 1)


def test_edge_velocity_is_derivative_of_length() -> None:
    rm = mujoco.MjModel.from_xml_string(text(CHAIN, CHAIN_FLEX))
    m, rd = model_from_reference(rm), mujoco.MjData(rm)
    d = cardan.MjData(m)
    random_state(rm, rd, 2)
    copy_state(rd, d)
    qpos, eps, lengths = d.qpos.copy(), 1e-6, []
    cardan.mj_forward(m, d)
    velocity = d.flexedge_velocity.copy()
    for sign in (1.0, -1.0):
        d.qpos[:] = qpos
        cardan.mj_integratePos(m, d.qpos, d.qvel, sign * eps)
        cardan.mj_fwdPosition(m, d)
        lengths.append(d.flexedge_length.copy())
    np.testing.assert_allclose((lengths[0] - lengths[1]) / (2 * eps), velocity, atol=1e-8)


def test_work_of_springs_is_change_of_energy() -> None:
    rm = mujoco.MjModel.from_xml_string(text(CHAIN, CHAIN_FLEX))
    m, rd = model_from_reference(rm), mujoco.MjData(rm)
    m.opt.gravity[:] = 0
    d = cardan.MjData(m)
    random_state(rm, rd, 3)
    copy_state(rd, d)
    qpos, eps, energy = d.qpos.copy(), 1e-6, []
    cardan.mj_forward(m, d)
    power = d.qfrc_spring @ d.qvel
    for sign in (1.0, -1.0):
        d.qpos[:] = qpos
        cardan.mj_integratePos(m, d.qpos, d.qvel, sign * eps)
        cardan.mj_forward(m, d)
        energy.append(d.energy[0])
    assert (energy[0] - energy[1]) / (2 * eps) == pytest.approx(-power, abs=1e-7)


def test_weights_of_edges_beside_edges_that_nothing_moves() -> None:
    joints = ('<joint type="ball"/>', "", '<joint axis="0 1 1" pos=".3 .2 .1"/>')
    bodies = "".join(
        f'<body name="b{k}" pos="{k} 0.1 {k * k}">{joint}<geom size=".05"/></body>' for k, joint in enumerate(joints)
    )
    flex = '<flex name="f" dim="1" body="b0 b1 b2" element="0 1 1 2"/>'
    xml = (
        f"<mujoco><worldbody>{bodies}</worldbody><deformable>{flex}</deformable>"
        '<equality><flex flex="f"/></equality></mujoco>'
    )
    rm = mujoco.MjModel.from_xml_string(xml)
    rm.opt.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE  # dense, the reference mixes up the weights
    rd = mujoco.MjData(rm)
    mujoco.mj_forward(rm, rd)
    for jacobian in (cardan.mjtJacobian.mjJAC_DENSE, cardan.mjtJacobian.mjJAC_SPARSE):
        m = cardan.MjModel.from_xml_string(xml)
        m.opt.jacobian = jacobian
        d = cardan.MjData(m)
        cardan.mj_forward(m, d)
        assert d.efc_diagApprox[d.nefc - 1] == pytest.approx(rm.flexedge_invweight0[1], rel=1e-9)
        assert d.qacc == pytest.approx(rd.qacc, rel=1e-9, abs=1e-9)
