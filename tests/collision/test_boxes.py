"""Collisions of boxes, spheres and capsules without a reference: known answers, invariance, rest."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from collision.harness import Pair, random_quat
from collision.shapes import extents

import cardan
from cardan.jit.front.stage import jit_enabled

SIZES = {"sphere": ".1", "capsule": ".1 .2", "cylinder": ".1 .2", "box": ".1 .15 .2"}
KINDS = [("box", "box"), ("sphere", "box"), ("sphere", "cylinder"), ("capsule", "box")]
POSES = 60 if jit_enabled else 4


def two_geoms(kind1: str, kind2: str, margin: float = 0.0) -> Pair:
    """Two free bodies with a geom each."""
    bodies = "".join(f'<body><freejoint/><geom type="{kind}" size="{SIZES[kind]}"/></body>' for kind in (kind1, kind2))
    return Pair(f'<mujoco><default><geom margin="{margin}"/></default><worldbody>{bodies}</worldbody></mujoco>')


def contacts(pair: Pair) -> np.ndarray:
    """Distance, position and normal of our contacts, sorted."""
    contact = pair.data.contact
    table = np.hstack([contact.dist[:, None], contact.pos, contact.frame[:, :3]])
    return table[np.lexsort(table.round(6).T)]


@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
def test_moving_the_scene_moves_the_contacts(kinds):
    pair = two_geoms(*kinds, margin=0.02)
    rng = np.random.default_rng(0)
    for _ in range(POSES):
        poses = [(rng.normal(size=3) * 0.12, random_quat(rng)) for _ in range(2)]
        for body in (1, 2):
            pair.set_pose(body, *poses[body - 1])
        pair.collide()
        dist, pos = pair.data.contact.dist.copy(), pair.data.contact.pos.copy()
        shift, turn, rotation = rng.normal(size=3), random_quat(rng), np.zeros(9)
        mujoco.mju_quat2Mat(rotation, turn)
        for body in (1, 2):
            quat = np.zeros(4)
            mujoco.mju_mulQuat(quat, turn, poses[body - 1][1])
            pair.set_pose(body, rotation.reshape(3, 3) @ poses[body - 1][0] + shift, quat)
        pair.collide()
        np.testing.assert_allclose(pair.data.contact.dist, dist, atol=1e-9)
        np.testing.assert_allclose(pair.data.contact.pos, pos @ rotation.reshape(3, 3).T + shift, atol=1e-9)


@pytest.mark.parametrize("gap", [-0.02, -1e-4, 1e-4, 0.009])
def test_parallel_faces(gap):
    pair = two_geoms("box", "box", margin=0.01)
    pair.set_pose(2, [0.05, 0.05, 0.4 + gap], [1, 0, 0, 0])
    pair.collide()
    table = contacts(pair)
    assert len(table) == 4
    np.testing.assert_allclose(table[:, 0], gap / 2, atol=1e-12)
    np.testing.assert_allclose(table[:, 3], 0.2 + gap / 2, atol=1e-12)
    np.testing.assert_allclose(table[:, 4:], [[0, 0, 1]] * 4, atol=1e-12)


def test_crossed_edges_meet_in_the_middle():
    pair = two_geoms("box", "box")
    eighth = np.pi / 8
    pair.set_pose(1, [0, 0, 0], [np.cos(eighth), np.sin(eighth), 0, 0])
    pair.set_pose(
        2, [0, 0, (0.15 + 0.2) / np.sqrt(2) + 0.3 / np.sqrt(2) - 0.01], [np.cos(eighth), 0, np.sin(eighth), 0]
    )
    pair.collide()
    assert pair.data.ncon >= 1
    assert pair.data.contact.dist.min() == pytest.approx(-0.01, abs=1e-9)
    np.testing.assert_allclose(np.abs(pair.data.contact.frame[0, :3]), [0, 0, 1], atol=1e-9)


def test_crossed_edges_that_are_apart_have_a_contact_between_them():
    pair = two_geoms("box", "box", margin=0.05)
    eighth = np.pi / 8
    height = (0.15 + 0.2) / np.sqrt(2) + (0.1 + 0.2) / np.sqrt(2)
    for offset in (0.0, 0.05, 0.09):
        pair.set_pose(1, [0, 0, 0], [np.cos(eighth), np.sin(eighth), 0, 0])
        pair.set_pose(2, [offset, 0.02, height + 0.03], [np.cos(eighth), 0, np.sin(eighth), 0])
        pair.collide()
        contact = pair.data.contact
        assert contact.dist.min() == pytest.approx(0.03, abs=1e-9)
        np.testing.assert_allclose(contact.frame[:, :3], [[0, 0, 1]] * pair.data.ncon, atol=1e-9)


def test_boxes_within_the_margin_always_have_a_contact():
    pair = two_geoms("box", "box", margin=0.1)
    rng = np.random.default_rng(3)
    directions = rng.normal(size=(2000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    close = 0
    for _ in range(20 * POSES):
        for body in (1, 2):
            pair.set_pose(body, rng.normal(size=3) * 0.2, random_quat(rng))
        pair.collide()
        gaps = [-extents(pair, 1, "box", -directions) - extents(pair, 0, "box", directions)]
        if np.max(gaps) < 0.0:
            close += 1
            assert pair.data.ncon > 0
    assert close > POSES


@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
@pytest.mark.parametrize("scale", [0.0, 1e-9, 1e-3, 1e6])
def test_degenerate_sizes_give_finite_contacts(kinds, scale):
    pair = two_geoms(*kinds, margin=0.01)
    pair.model.geom_size[0] *= scale
    rng = np.random.default_rng(1)
    for offset in ([0, 0, 0], [1e-12, 0, 0], [0, 0, 0.2], [0.1, 0.15, 0.2]):
        for quat in ([1, 0, 0, 0], random_quat(rng)):
            pair.set_pose(2, offset, quat)
            pair.collide()
            assert np.isfinite(contacts(pair)).all()


STACK = "".join(
    f'<body pos="0 0 {0.1 + 0.201 * k}"><freejoint/><geom type="box" size=".1 .1 .1"/></body>' for k in range(3)
)
CAPSULE = '<body pos="0 0 .66"><freejoint/><geom type="capsule" size=".05 .08" euler="0 90 0"/></body>'


@pytest.mark.skipif(not jit_enabled, reason="a thousand steps take long in the interpreter")
def test_a_stack_comes_to_rest_as_in_the_reference():
    xml = f'<mujoco><worldbody><geom type="plane" size="1 1 1"/>{STACK}{CAPSULE}</worldbody></mujoco>'
    drift = []
    for engine in (cardan, mujoco):
        m = engine.MjModel.from_xml_string(xml)
        d = engine.MjData(m)
        for _ in range(1500):
            engine.mj_step(m, d)
        drift.append(np.abs(np.array(d.qpos).reshape(-1, 7)[:, :2]).max())
        assert np.isfinite(d.qpos).all()
    assert drift[0] <= drift[1] + 1e-3
