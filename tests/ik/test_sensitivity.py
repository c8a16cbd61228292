"""Derivatives of solutions with respect to targets, against differences of solutions."""

import ik_mechanisms as mechanisms
import numpy as np
import pytest

import cardan
from cardan import ik

STEP = 1e-4
EXACT = {"tolerance": (1e-11, 1e-11), "steps": 300, "starts": 0}


def rotated(pose, axis, angle):
    quat, turn = np.zeros(4), np.zeros(4)
    cardan.mju_axisAngle2Quat(turn, np.eye(3)[axis], angle)
    cardan.mju_mulQuat(quat, turn, pose[3:])
    return np.concatenate([pose[:3], quat])


def shifted(task, target, k, step):
    """Target moved in one of its directions."""
    target = np.array(target, float)
    if isinstance(task, ik.FrameTask | ik.RelativeFrameTask) and k >= 3:
        return rotated(target, k - 3, step)
    target[k] += step
    return target


def differences(m, tasks, q, targets, counts):
    """Central differences of the solutions from start `q`, as columns."""
    found = []
    for t, count in enumerate(counts):
        for k in range(count):
            ends = []
            for step in (STEP, -STEP):
                moved = list(targets)
                moved[t] = shifted(tasks[t], targets[t], k, step)
                ends.append(ik.solve(m, tasks, moved, q, **EXACT).q)
            velocity = np.zeros(m.nv)
            cardan.mj_differentiatePos(m, velocity, 2 * STEP, ends[1], ends[0])
            found.append(velocity)
    return np.array(found).T


def test_two_links():
    m = mechanisms.model(mechanisms.PLANAR)
    task = ik.FrameTask("tip", "site", orientation_cost=0.0)
    q = ik.solve(m, task, [1.2, 0.3, 0.0], np.array([0.0, 0.8]), tolerance=(1e-12, 1e-12)).q
    found = ik.derivative(m, task, q, [1.2, 0.3, 0.0])
    a, b = q[0], q[0] + q[1]
    jacobian = [[-np.sin(a) - 0.7 * np.sin(b), -0.7 * np.sin(b)], [np.cos(a) + 0.7 * np.cos(b), 0.7 * np.cos(b)]]
    np.testing.assert_allclose(found[:, :2], np.linalg.inv(jacobian), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(found[:, 2:], 0.0, atol=1e-8)


def test_a_target_out_of_reach():
    # the tip is on the circle of radius 1.7, so that its angle alone follows the target
    m = mechanisms.model(mechanisms.PLANAR)
    tasks = [ik.FrameTask("tip", "site", orientation_cost=0.0), ik.PostureTask(1e-2)]
    targets = [np.array([2.0, 1.0, 0.0, 1, 0, 0, 0]), np.array([0.4, 0.1])]
    q = ik.solve(m, tasks, targets, np.array([0.4, 0.1]), **EXACT).q
    expected = differences(m, tasks, q, targets, (6, 2))
    np.testing.assert_allclose(ik.derivative(m, tasks, q, targets), expected, rtol=1e-4, atol=1e-5)


def test_a_joint_at_its_limit_stays_there():
    xml = mechanisms.PLANAR.replace('name="b" axis="0 0 1"', 'name="b" axis="0 0 1" range="0 60"')
    m = mechanisms.model(xml)
    task, target = ik.FrameTask("tip", "site", orientation_cost=0.0), np.array([0.5, 0.2, 0.0, 1, 0, 0, 0])
    q = ik.solve(m, task, target, np.array([0.1, 0.5]), **EXACT).q
    assert q[1] == m.jnt_range[1, 1]
    found = ik.derivative(m, task, q, target)
    assert np.all(found[1] == 0.0)
    np.testing.assert_allclose(found[0, :2], np.array([-0.2, 0.5]) / 0.29, rtol=1e-6)


def test_an_arm_with_a_posture():
    m = mechanisms.model(mechanisms.ARM)
    home = np.array([0.1, 0.5, 0.2, -1.0, 0.1, 1.0, 0.3])
    tasks = [ik.FrameTask("tool", "site"), ik.PostureTask(0.05)]
    targets = [np.array([0.45, 0.1, 0.35, 0.1, 0.9, 0.2, 0.1]), home]
    targets[0][3:] /= np.linalg.norm(targets[0][3:])
    q = ik.solve(m, tasks, targets, home, **EXACT).q
    expected = differences(m, tasks, q, targets, (6, 7))
    np.testing.assert_allclose(ik.derivative(m, tasks, q, targets), expected, rtol=1e-4, atol=1e-5)


def test_a_redundant_arm_follows_its_target_by_the_smallest_motion():
    m = mechanisms.model(mechanisms.ARM)
    d = cardan.MjData(m)
    d.qpos[:] = [0.1, 0.5, 0.2, -1.0, 0.1, 1.0, 0.3]
    cardan.mj_forward(m, d)
    quat = np.zeros(4)
    cardan.mju_mat2Quat(quat, d.site("tool").xmat)
    target = np.concatenate([d.site("tool").xpos, quat])
    found = ik.derivative(m, ik.FrameTask("tool", "site"), [d.qpos, d.qpos], target)
    place, turn = np.zeros((3, m.nv)), np.zeros((3, m.nv))
    cardan.mj_jacSite(m, d, place, turn, d.site("tool").id)
    np.testing.assert_allclose(found[0], np.linalg.pinv(np.vstack([place, turn])), rtol=1e-6, atol=1e-6)
    assert np.array_equal(found[0], found[1])


def test_equality_constraints_are_followed():
    m = mechanisms.model(mechanisms.FOUR_BAR)
    task = ik.ComTask(body="follower", cost=1.0)
    target = np.array([0.0, 1.0, 0.15])
    q = ik.solve(m, task, target, **EXACT | {"starts": 20}).q
    found = ik.derivative(m, task, q, target)
    expected = differences(m, [task], q, [target], (3,))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    assert found[3, 2] == pytest.approx(1.0, rel=1e-6)


def test_points_lines_planes_and_axes():
    m = mechanisms.model(mechanisms.ARM)
    home = np.array([0.1, 0.5, 0.2, -1.0, 0.1, 1.0, 0.3])
    tasks = [
        ik.PointOnLineTask("tool", "site"),
        ik.PointOnPlaneTask("upper", offset=(0.1, 0, 0)),
        ik.LookAtTask("hand"),
    ]
    tasks += [ik.ComTask(0.3), ik.PostureTask(0.1)]
    targets = [[0.4, 0.1, 0.3, 0, 0.6, 0.8], [0, 0.02, 0, 0, 1, 0], [0.8, -0.5, 0.2], [0.02, 0.01, 0.4], home]
    targets = [np.array(x, float) for x in targets]
    q = ik.solve(m, tasks, targets, home, **EXACT).q
    expected = differences(m, tasks, q, targets, (6, 6, 3, 3, 7))
    np.testing.assert_allclose(ik.derivative(m, tasks, q, targets), expected, rtol=1e-4, atol=1e-5)


def test_errors():
    m = mechanisms.model(mechanisms.TREE)
    with pytest.raises(ValueError, match="without quaternions"):
        ik.derivative(m, [ik.FrameTask("tip", "site"), ik.PostureTask()], m.qpos0, [np.eye(4), m.qpos0])
    with pytest.raises(ValueError, match="configurations of 15 numbers"):
        ik.derivative(m, ik.FrameTask("tip", "site"), m.qpos0[:5], np.eye(4))
