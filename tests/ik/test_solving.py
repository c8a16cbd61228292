"""Solutions for targets: forward kinematics of the solution is the target, and all demands are met."""

import ik_mechanisms as mechanisms
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import cardan
from cardan import ik


def poses_of(m, q, kind, name):
    """Poses of a frame in configurations (n, nq): position and quaternion."""
    d, found = cardan.MjData(m), []
    for row in np.atleast_2d(q):
        d.qpos[:] = row
        cardan.mj_kinematics(m, d)
        cardan.mj_comPos(m, d)
        x = getattr(d, kind)(name)
        quat = np.zeros(4)
        cardan.mju_mat2Quat(quat, x.xmat)
        found.append(np.concatenate([x.xpos, quat]))
    return np.array(found)


def assert_poses(found, wanted, place=2e-6, turn=2e-6):
    np.testing.assert_allclose(found[:, :3], wanted[:, :3], atol=place)
    cosine = np.abs(np.sum(found[:, 3:] * wanted[:, 3:], axis=1))
    assert np.all(2 * np.sqrt(np.maximum(0, 1 - cosine**2)) < turn)


def random_configurations(m, n, seed):
    return np.random.default_rng(seed).uniform(m.jnt_range[:, 0], m.jnt_range[:, 1], (n, m.nq))


def test_reachable_poses_of_an_arm():
    m = mechanisms.model(mechanisms.ARM)
    targets = poses_of(m, random_configurations(m, 500, 0), "site", "tool")
    q, error, ok = ik.solve(m, ik.FrameTask("tool", "site"), targets)
    assert ok.mean() >= 0.995
    assert np.all(error[ok] <= 1e-6)
    assert np.all((q >= m.jnt_range[:, 0]) & (q <= m.jnt_range[:, 1]))
    assert_poses(poses_of(m, q[ok], "site", "tool"), targets[ok])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["tool", "hand", "g7"]), st.booleans())
def test_forward_kinematics_of_the_solution_is_the_target(seed, name, limits):
    m = mechanisms.model(mechanisms.ARM)
    kind = {"tool": "site", "hand": "body", "g7": "geom"}[name]
    start = random_configurations(m, 1, seed)[0]
    target = poses_of(m, start, kind, name)
    q, _, ok = ik.solve(m, ik.FrameTask(name, kind), target[0], start + 0.1, limits=limits)
    assert ok and q.shape == (m.nq,)
    assert_poses(poses_of(m, q, kind, name), target)
    assert not limits or np.all((q >= m.jnt_range[:, 0]) & (q <= m.jnt_range[:, 1]))


def test_results_do_not_depend_on_threads_or_other_targets():
    m = mechanisms.model(mechanisms.ARM)
    targets = poses_of(m, random_configurations(m, 70, 1), "site", "tool")
    task = ik.FrameTask("tool", "site")
    alone = ik.solve(m, task, targets, threads=1)
    for found in (ik.solve(m, task, targets, threads=2), ik.solve(m, ik.FrameTask("tool", "site"), targets)):
        assert all(np.array_equal(a, b) for a, b in zip(alone, found, strict=True))
    some = ik.solve(m, task, targets[40:44])
    assert np.array_equal(some.q, alone.q[40:44])


def test_targets_out_of_reach_give_the_nearest_point():
    m = mechanisms.model(mechanisms.PLANAR)
    angle = np.linspace(-3, 3, 7)
    away = np.stack([3 * np.cos(angle), 3 * np.sin(angle), 0 * angle], axis=1)
    q, error, ok = ik.solve(m, ik.FrameTask("tip", "site", orientation_cost=0.0), away, steps=200)
    assert not ok.any()
    np.testing.assert_allclose(poses_of(m, q, "site", "tip")[:, :3], away * 1.7 / 3, atol=1e-3)
    np.testing.assert_allclose(error[:, 0], 1.3, atol=1e-6)


def test_both_elbows_are_found_from_their_sides():
    m = mechanisms.model(mechanisms.PLANAR)
    point = np.array([1.2, 0.3, 0.0])
    bend = np.arccos((point @ point - 1 - 0.49) / 1.4)
    task = ik.FrameTask("tip", "site", orientation_cost=0.0)
    q, _, ok = ik.solve(m, task, point, np.array([[0.0, 0.8], [0.0, -0.8]])[:, None, :].reshape(2, 2))
    assert ok.all()
    np.testing.assert_allclose(q[:, 1], [bend, -bend], atol=1e-5)


def test_limits_hold_exactly_and_optimally():
    # the point is out of reach within the limit of the second joint: the first joint minimises the distance
    m = cardan.MjModel.from_xml_string(
        mechanisms.PLANAR.replace('name="b" axis="0 0 1"', 'name="b" axis="0 0 1" range="0 60"')
    )
    point = np.array([0.5, 0.2, 0.0])
    q, error, ok = ik.solve(m, ik.FrameTask("tip", "site", orientation_cost=0.0), point, steps=200)
    assert not ok and q[1] == m.jnt_range[1, 1]
    reach = np.linalg.norm([1 + 0.7 * np.cos(q[1]), 0.7 * np.sin(q[1])])
    assert np.isclose(error[0], reach - np.linalg.norm(point), atol=1e-9)


def test_many_tasks_of_a_floating_tree():
    m, random = mechanisms.model(mechanisms.TREE), np.random.default_rng(2)
    n = 40
    q = np.repeat(m.qpos0[None], n, 0)
    q += random.uniform(-0.2, 0.2, q.shape)
    for adr in (3, 7):
        q[:, adr : adr + 4] /= np.linalg.norm(q[:, adr : adr + 4], axis=1, keepdims=True)
    tasks = [ik.FrameTask("trunk"), ik.FrameTask("tip", "site"), ik.FrameTask("low", orientation_cost=0.0)]
    names = [("body", "trunk"), ("site", "tip"), ("body", "low")]
    targets = [poses_of(m, q, *name) for name in names]
    found, _, ok = ik.solve(m, tasks, targets)
    assert ok.all()
    for target, name in zip(targets[:2], names[:2], strict=True):
        assert_poses(poses_of(m, found, *name), target)
    np.testing.assert_allclose(poses_of(m, found, *names[2])[:, :3], targets[2][:, :3], atol=2e-6)


def test_relative_pose():
    m = mechanisms.model(mechanisms.TREE)
    task = ik.RelativeFrameTask("low", "body", "slider", "body", orientation_cost=0.0)
    q, _, ok = ik.solve(m, task, [0.1, 0.2, 0.3])
    d = cardan.MjData(m)
    d.qpos[:] = q
    cardan.mj_kinematics(m, d)
    local = d.body("slider").xmat.reshape(3, 3).T @ (d.body("low").xpos - d.body("slider").xpos)
    assert ok
    np.testing.assert_allclose(local, [0.1, 0.2, 0.3], atol=2e-6)


def test_points_on_lines_and_planes_and_axes_that_look():
    m = mechanisms.model(mechanisms.ARM)
    line = np.array([0.4, 0.1, 0.3, 0.0, 1.0, 1.0])
    plane = np.array([0.0, 0.2, 0.0, 0.0, 2.0, 0.0])
    goal = np.array([0.8, -0.5, 0.2])
    tasks = [ik.PointOnLineTask("tool", "site"), ik.PointOnPlaneTask("tool", "site"), ik.LookAtTask("tool", "site")]
    q, error, ok = ik.solve(m, tasks, [line, plane, goal])
    d = cardan.MjData(m)
    d.qpos[:] = q
    cardan.mj_kinematics(m, d)
    tool = d.site("tool")
    assert ok and np.all(error <= 1e-6)
    np.testing.assert_allclose(tool.xpos, [0.4, 0.2, 0.4], atol=2e-6)
    ahead = (goal - tool.xpos) / np.linalg.norm(goal - tool.xpos)
    np.testing.assert_allclose(tool.xmat.reshape(3, 3)[:, 2], ahead, atol=2e-6)


def test_centre_of_mass_with_a_posture():
    m = mechanisms.model(mechanisms.ARM)
    tasks = [ik.ComTask(cost=1.0), ik.PostureTask(cost=1e-4)]
    d = cardan.MjData(m)
    d.qpos[:] = [0.2, 0.5, 0.1, -1.0, 0.1, 1.0, 0.3]
    cardan.mj_forward(m, d)
    wanted = d.subtree_com[0].copy()
    home = np.array([0.0, 0.2, 0.0, -1.2, 0.0, 1.0, 0.0])
    q, error, ok = ik.solve(m, tasks, [wanted, home], home, tolerance=(1e-5, 1e-5))
    assert ok and error[0] < 1e-5
    d.qpos[:] = q
    cardan.mj_forward(m, d)
    np.testing.assert_allclose(d.subtree_com[0], wanted, atol=2e-5)
    assert np.linalg.norm(q - home) < np.linalg.norm(np.array([0.2, 0.5, 0.1, -1.0, 0.1, 1.0, 0.3]) - home)


def test_equality_constraints_hold():
    m = mechanisms.model(mechanisms.FOUR_BAR)
    d = cardan.MjData(m)
    task = ik.FrameTask("follower", orientation_cost=0.0, position_cost=(0.0, 0.0, 1.0))
    heights = np.linspace(0.0, 0.3, 5)
    targets = np.stack([0 * heights, 0 * heights + 1, heights], axis=1)
    q, _, ok = ik.solve(m, [task, ik.PointOnPlaneTask("follower")], [targets, np.array([0, 1.0, 0, 0, 1, 0])])
    del ok
    for row, height in zip(q, heights, strict=True):
        d.qpos[:] = row
        cardan.mj_kinematics(m, d)
        ends = [d.body("rod").xmat.reshape(3, 3)[:, 0] * 0.8 + d.body("rod").xpos]
        ends.append(d.body("rocker").xmat.reshape(3, 3)[:, 2] * 0.5 + d.body("rocker").xpos)
        np.testing.assert_allclose(d.body("follower").xpos[2], height, atol=1e-5)
        x = d.qpos[0]
        np.testing.assert_allclose(d.qpos[3], 0.1 + 0.5 * x + 0.2 * x * x, atol=2e-6)


def test_two_geoms_keep_their_distance():
    m = mechanisms.model(mechanisms.PLANAR)
    task = ik.FrameTask("b", orientation_cost=0.0)
    away = np.array([np.cos(-1.5), np.sin(-1.5), 0.0])
    d = cardan.MjData(m)
    near = cardan.MjModel.from_xml_string(mechanisms.PLANAR.replace("0 -3 0", "0 -1.5 0"))
    q, _, ok = ik.solve(near, task, away, np.array([-1.5, 0.1]), avoid=[("end", "post")], margin=0.1)
    assert ok
    d = cardan.MjData(near)
    d.qpos[:] = q
    cardan.mj_kinematics(near, d)
    assert cardan.mj_geomDistance(near, d, near.geom("end").id, near.geom("post").id, 9.0, None) >= 0.1
    free = ik.solve(near, task, away, np.array([-1.5, 0.1]))
    d.qpos[:] = free.q
    cardan.mj_kinematics(near, d)
    assert cardan.mj_geomDistance(near, d, near.geom("end").id, near.geom("post").id, 9.0, None) < 0.1


def test_an_arm_avoids_itself_and_the_floor():
    m = mechanisms.model(mechanisms.ARM)
    d = cardan.MjData(m)
    pairs = ik.pairs_of(m, "self")
    assert len(pairs) > 5

    def distance(q):
        d.qpos[:] = q
        cardan.mj_kinematics(m, d)
        return min(cardan.mj_geomDistance(m, d, int(a), int(b), 1.0, None) for a, b in pairs)

    configurations = [q for q in random_configurations(m, 400, 5) if distance(q) > 0.011][:100]
    targets = poses_of(m, configurations, "site", "tool")
    task = ik.FrameTask("tool", "site")
    q, _, ok = ik.solve(m, task, targets, avoid="self", margin=0.01)
    assert len(targets) > 50 and ok.mean() > 0.98
    assert min(distance(row) for row in q[ok]) >= 0.01
    without = ik.solve(m, task, targets)
    assert min(distance(row) for row in without.q) < 0.0


def test_joints_that_may_not_move_keep_their_start():
    m = mechanisms.model(mechanisms.ARM)
    start = np.array([0.1, 0.5, 0.2, -1.0, 0.1, 1.0, 0.3])
    task = ik.FrameTask("tool", "site", orientation_cost=0.0)
    target = poses_of(m, start, "site", "tool")[0, :3] + [0.05, 0.02, -0.03]
    q, _, ok = ik.solve(m, task, target, start, joints=["j1", "j2", "j4"])
    assert ok
    assert np.array_equal(q[[2, 4, 5, 6]], start[[2, 4, 5, 6]])


def test_edited_limits_count():
    m = cardan.MjModel.from_xml_string(mechanisms.ARM)
    task = ik.FrameTask("tool", "site", orientation_cost=0.0)
    target = [0.4, 0.0, 0.4]
    assert ik.solve(m, task, target).ok
    m.jnt_range[0] = 0.3, 0.4
    q, _, ok = ik.solve(m, task, target)
    assert ok and 0.3 <= q[0] <= 0.4
