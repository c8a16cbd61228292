"""Velocities for control loops."""

import ik_mechanisms as mechanisms
import numpy as np
import pytest

import cardan
from cardan import ik

START = np.array([0.1, 0.5, 0.2, -1.0, 0.1, 1.0, 0.3])
DT = 0.01


def tool_of(m, q):
    d = cardan.MjData(m)
    d.qpos[:] = q
    cardan.mj_kinematics(m, d)
    return d.site("tool").xpos.copy(), d.site("tool").xmat.reshape(3, 3).copy()


def test_first_step_follows_the_error():
    m = mechanisms.model(mechanisms.ARM)
    place, _ = tool_of(m, START)
    ahead = np.array([0.001, -0.002, 0.0015])
    task = ik.FrameTask("tool", "site", orientation_cost=0.0, gain=0.5)
    v = ik.velocity(m, START, task, DT, place + ahead)
    moved, _ = tool_of(m, START + 1e-3 * DT * v)
    np.testing.assert_allclose((moved - place) / 1e-3, 0.5 * ahead, atol=1e-5)


def test_steps_reach_the_target_within_velocity_limits():
    m = mechanisms.model(mechanisms.ARM)
    goal = START + [0.3, -0.2, 0.2, 0.3, -0.2, 0.3, 0.1]
    place, mat = tool_of(m, goal)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = mat, place
    task = ik.FrameTask("tool", "site", target=pose)
    limits = {"j1": 0.7, "j4": 0.5}
    q, fastest = START.copy(), np.zeros(m.nv)
    for _ in range(300):
        v = ik.velocity(m, q, task, DT, velocity_limits=limits)
        fastest = np.maximum(fastest, np.abs(v))
        q += DT * v
    now, turned = tool_of(m, q)
    np.testing.assert_allclose(now, place, atol=1e-8)
    np.testing.assert_allclose(turned, mat, atol=1e-8)
    np.testing.assert_allclose(fastest[[0, 3]], [0.7, 0.5], atol=1e-9)
    free = ik.velocity(m, START, task, DT)
    assert np.abs(free).max() > 1.0


def test_many_configurations_give_the_same_as_one():
    m = mechanisms.model(mechanisms.ARM)
    q = START + np.random.default_rng(0).uniform(-0.2, 0.2, (40, m.nq))
    task = ik.FrameTask("tool", "site", lm_damping=0.1)
    target = [0.4, 0.1, 0.5, 1.0, 0, 0, 0]
    together = ik.velocity(m, q, task, DT, target, avoid="self", velocity_limits=2.0)
    alone = [ik.velocity(m, row, task, DT, target, avoid="self", velocity_limits=2.0) for row in q]
    assert np.array_equal(together, np.array(alone))


def test_joints_never_leave_their_limits():
    m = mechanisms.model(mechanisms.ARM)
    task = ik.FrameTask("tool", "site", orientation_cost=0.0, target=[0.0, 0.0, -1.0])
    q = START.copy()
    for _ in range(200):
        q += DT * ik.velocity(m, q, task, DT, damping=1e-6)
        assert np.all((q >= m.jnt_range[:, 0] - 1e-14) & (q <= m.jnt_range[:, 1] + 1e-14))


def test_a_hand_stops_before_the_floor():
    m = mechanisms.model(mechanisms.ARM)
    d = cardan.MjData(m)
    task = ik.FrameTask("tool", "site", orientation_cost=0.0, target=[0.5, 0.0, -0.3])
    pairs = [("g7", "floor")]
    q, nearest = START.copy(), np.inf
    for _ in range(300):
        q += DT * ik.velocity(m, q, task, DT, avoid=pairs, margin=0.02, damping=1e-4, velocity_limits=1.0)
        d.qpos[:] = q
        cardan.mj_kinematics(m, d)
        nearest = min(nearest, cardan.mj_geomDistance(m, d, m.geom("g7").id, m.geom("floor").id, 9.0, None))
    assert 0.015 < nearest < 0.021


def test_equality_constraints_hold_in_velocities():
    m = mechanisms.model(mechanisms.FOUR_BAR)
    tasks = [ik.FrameTask("follower", orientation_cost=0.0)]
    q = ik.solve(m, tasks, [[0.0, 1.0, 0.1]]).q
    v = ik.velocity(m, q, tasks, DT, [[0.0, 1.0, 0.101]])
    d = cardan.MjData(m)
    for step in (0.0, 1e-6):
        d.qpos[:] = q + step * v
        cardan.mj_fwdPosition(m, d)
        if step == 0.0:
            first = d.efc_pos[:4].copy()
    np.testing.assert_allclose((d.efc_pos[:4] - first) / 1e-6, 0.0, atol=1e-3)
    assert v[3] == pytest.approx(0.1, rel=1e-3)


def test_configurations_of_a_floating_tree():
    m = mechanisms.model(mechanisms.TREE)
    tasks = [ik.FrameTask("trunk", position_cost=10.0), ik.FrameTask("tip", "site"), ik.PostureTask(1e-2)]
    targets = [[0.1, 0.2, 1.1, 1, 0.1, 0, 0], [0.5, 0.3, 1.4, 1, 0, 0, 0.2], m.qpos0]
    q = m.qpos0.copy()
    errors = []
    for _ in range(100):
        v = ik.velocity(m, q, tasks, DT, targets)
        cardan.mj_integratePos(m, q, v, DT)
        errors.append(np.abs(v).max() * DT)
    assert errors[-1] < 1e-6


def test_a_controller_gives_the_same_velocities():
    m = mechanisms.model(mechanisms.ARM)
    task = ik.FrameTask("tool", "site", lm_damping=0.1)
    target, options = [0.4, 0.1, 0.5, 1.0, 0, 0, 0], {"avoid": "self", "velocity_limits": 2.0}
    controller = ik.Controller(m, task, DT, target, **options)
    for q in START + np.random.default_rng(1).uniform(-0.2, 0.2, (5, m.nq)):
        assert np.array_equal(controller.velocity(q), ik.velocity(m, q, task, DT, target, **options))
        assert controller.ok
    place, _ = tool_of(m, q)
    assert np.isclose(controller.error[0], np.linalg.norm(place - target[:3]))
    controller.set_targets([0.3, 0.1, 0.5, 1.0, 0, 0, 0])
    assert not np.array_equal(controller.velocity(q), ik.velocity(m, q, task, DT, target, **options))
    with pytest.raises(ValueError, match="2 rows"):
        controller.set_targets([target] * 2)
