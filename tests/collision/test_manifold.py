"""Contact manifolds of exact convex collisions: ``nativeccd`` and ``multiccd`` together."""

from __future__ import annotations

import numpy as np
import pytest
from later import later_run

import cardan

CUBE = " ".join(f"{x} {y} {z}" for x in (-0.2, 0.2) for y in (-0.25, 0.25) for z in (-0.3, 0.3))
ANGLES = np.arange(6) * np.pi / 3
PRISM = " ".join(
    f"{0.25 * np.cos(a):.6f} {0.25 * np.sin(a):.6f} {z}" for z in (-0.2, 0.2) for a in ANGLES
)  # axis along z before the compiler turns it
ASSETS = f'<asset><mesh name="cube" vertex="{CUBE}"/><mesh name="prism" vertex="{PRISM}"/></asset>'
SHAPES = {
    "box": 'type="box" size=".2 .25 .3"',
    "cube": 'type="mesh" mesh="cube"',
    "prism": 'type="mesh" mesh="prism"',
    "cylinder": 'type="cylinder" size=".25 .3"',
    "capsule": 'type="capsule" size=".2 .3"',
    "ellipsoid": 'type="ellipsoid" size=".2 .25 .3"',
}
BOTH = cardan.mjtEnableBit.mjENBL_NATIVECCD | int(cardan.mjtEnableBit.mjENBL_MULTICCD)
HALF = np.array([0.2, 0.25, 0.3])


def text(kind1: str, kind2: str, attributes: str = "") -> str:
    """A model of two free bodies with a geom each."""
    bodies = "".join(f"<body><freejoint/><geom {SHAPES[kind]} {attributes}/></body>" for kind in (kind1, kind2))
    return f"<mujoco>{ASSETS}<worldbody>{bodies}</worldbody></mujoco>"


def quat(axis: tuple[float, float, float], angle: float) -> np.ndarray:
    """A rotation about an axis, which need not have length 1."""
    unit = np.array(axis) / np.linalg.norm(axis)
    return np.append(np.cos(angle / 2), np.sin(angle / 2) * unit)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The rotation `b`, then `a`."""
    result = np.zeros(4)
    cardan.mju_mulQuat(result, a, b)
    return result


def collided(xml: str, height: float, rotation: np.ndarray, aside: tuple[float, float] = (0.02, 0.03)) -> cardan.MjData:
    """The contacts of a shape above another, which is in the origin."""
    m = cardan.MjModel.from_xml_string(xml)
    m.opt.enableflags |= BOTH
    d = cardan.MjData(m)
    d.qpos[7:] = [*aside, height, *rotation]
    cardan.mj_fwdPosition(m, d)
    return d


IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])
DEEP = 0.01


@pytest.mark.parametrize("kinds", [("box", "cube"), ("cube", "cube")], ids="-".join)
def test_faces_that_lie_on_each_other_touch_at_the_corners_of_their_overlap(kinds):
    d = collided(text(*kinds), 0.6 - DEEP, IDENTITY)
    np.testing.assert_allclose(d.contact.dist, [-DEEP] * 4, atol=1e-6)
    np.testing.assert_allclose(d.contact.frame[:, :3], [[0, 0, 1]] * 4, atol=1e-9)
    corners = {tuple(pos) for pos in d.contact.pos.round(6).tolist()}
    assert corners == {(x, y, 0.295) for x in (-0.18, 0.2) for y in (-0.22, 0.25)}


def test_more_than_four_corners_become_a_wide_quadrilateral():
    d = collided(text("cube", "cube"), 0.6 - DEEP, quat((0, 0, 1), 0.6), (0.0, 0.0))
    assert d.ncon == 4
    # the overlap of the two rectangles, from the definition: points inside both that are on a side of one
    pos = d.contact.pos[:, :2]
    turn = np.array([[np.cos(0.6), -np.sin(0.6)], [np.sin(0.6), np.cos(0.6)]])
    for points in (pos, pos @ turn):
        assert (np.abs(points) <= HALF[:2] + 1e-6).all()
    crossed = sum(np.isclose(np.abs(points), HALF[:2], atol=1e-6).sum(axis=1) for points in (pos, pos @ turn))
    assert (crossed == 2).all()
    sides = np.diff(np.vstack([pos, pos[:1]]), axis=0)
    (x1, y1), (x2, y2) = pos[2] - pos[0], pos[3] - pos[1]
    assert 0.5 * abs(x1 * y2 - y1 * x2) > 0.54 * np.prod(2 * HALF[:2])
    assert (np.linalg.norm(sides, axis=1) > 0.1).all()


def test_the_disc_of_a_cylinder_touches_at_four_points():
    d = collided(text("cylinder", "box"), 0.6 - DEEP, IDENTITY, (0.1, 0.0))
    np.testing.assert_allclose(d.contact.dist, [-DEEP] * 4, atol=1e-6)
    assert (np.linalg.norm(d.contact.pos[:, :2], axis=1) < 0.2501).all()
    assert (np.abs(d.contact.pos[:, :2] - [0.1, 0.0]) < HALF[:2] + 1e-6).all()


def test_the_side_of_a_cylinder_touches_at_both_ends():
    turn = quat((0, 1, 0), np.pi / 2)
    d = collided(text("box", "cylinder"), 0.55 - DEEP, turn)
    np.testing.assert_allclose(d.contact.dist, [-DEEP] * 2, atol=1e-6)
    assert sorted(d.contact.pos[:, 0].round(6).tolist()) == [-0.2, 0.2]


def test_an_edge_on_a_face_touches_at_both_ends():
    turn = quat((1, 0, 0), 0.7)
    lowest = 0.25 * np.sin(0.7) + 0.3 * np.cos(0.7)
    d = collided(text("cube", "cube"), 0.3 + lowest - DEEP, turn)
    np.testing.assert_allclose(d.contact.dist, [-DEEP] * 2, atol=1e-6)
    assert sorted(d.contact.pos[:, 0].round(6).tolist()) == [-0.18, 0.2]


def test_ends_that_are_not_near_have_no_contact():
    d = collided(text("cube", "cube"), 0.6 - 1e-3, quat((1, 0, 0), 0.02))  # the far side is 1 cm higher
    assert d.ncon == 2
    d = collided(text("cube", "cube", 'margin="0.05"'), 0.6 - 1e-3, quat((1, 0, 0), 0.02))
    assert d.ncon == 4


def test_a_corner_on_a_face_is_one_contact():
    rotation = product(quat((1, 0, 0), 0.5), quat((0, 1, 0), 0.6))
    d = collided(text("cube", "cube"), 0.7, rotation, (0.0, 0.0))
    assert d.ncon == 1


@pytest.mark.parametrize("kinds", [("ellipsoid", "cube"), ("ellipsoid", "cylinder")], ids="-".join)
def test_shapes_without_faces_and_edges_have_one_contact(kinds):
    assert collided(text(*kinds), 0.6 - DEEP, IDENTITY).ncon == 1


def test_one_contact_without_multiccd():
    m = cardan.MjModel.from_xml_string(text("cube", "cube"))
    m.opt.enableflags |= cardan.mjtEnableBit.mjENBL_NATIVECCD
    d = cardan.MjData(m)
    d.qpos[9] = 0.6 - DEEP
    cardan.mj_fwdPosition(m, d)
    assert d.ncon == 1


LATER = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
out = []
for pose in poses:
    d.qpos[:] = pose
    mujoco.mj_fwdPosition(m, d)
    out.append((np.array(d.contact.dist), np.array(d.contact.pos), np.array(d.contact.frame)[:, :3]))
"""
TILTS = (0.0, 1e-3, 0.02, 0.06)
ATTITUDES = (IDENTITY, quat((1, 0, 0), 0.7), quat((0, 1, 0), np.pi / 2), quat((0.3, 1, 0.2), 0.9))
PAIRS = [
    ("box", "cube"),
    ("cube", "cube"),
    ("capsule", "cube"),
    ("capsule", "cylinder"),
]


def poses_of(m: cardan.MjModel) -> np.ndarray:
    """Poses in which the second geom is on the first, 2 to 10 mm deep, in several attitudes and tilts."""
    d, poses = cardan.MjData(m), []
    for k, attitude in enumerate(ATTITUDES):
        for tilt in TILTS:
            rotation = product(quat((1, 0.7, 0.1 * k), tilt), product(quat((0, 0, 1), 0.0 if k < 2 else 0.1), attitude))
            low, high = 0.0, 2.0
            for _ in range(45):
                d.qpos[7:] = [0.021, 0.033, 0.5 * (low + high), *rotation]
                cardan.mj_kinematics(m, d)
                deep = cardan.mj_geomDistance(m, d, 0, 1, 3.0, None) < -0.002 * (k + 1)
                low, high = (d.qpos[9], high) if deep else (low, d.qpos[9])
            poses.append(d.qpos.copy())
    return np.array(poses)


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_contacts_are_those_of_4_0(kinds):
    xml = text(*kinds)
    m = cardan.MjModel.from_xml_string(xml)
    m.opt.enableflags |= BOTH
    d, poses = cardan.MjData(m), poses_of(m)
    for pose, (dist, pos, normal) in zip(poses, later_run(LATER, xml=xml, poses=poses), strict=True):
        d.qpos[:] = pose
        cardan.mj_fwdPosition(m, d)
        assert d.ncon == len(dist)
        if d.ncon == 4:  # corners of faces, also in the same order
            np.testing.assert_allclose(d.contact.pos, pos, atol=1e-6)
            np.testing.assert_allclose(d.contact.frame[:, :3], normal, atol=1e-6)
            continue
        for k in range(d.ncon):
            gap = np.abs(pos - d.contact.pos[k]).max(axis=1) + np.abs(dist - d.contact.dist[k])
            assert gap.min() < 1e-6, (kinds, pose)


@pytest.mark.parametrize("kinds", [("box", "cube"), ("cube", "cube"), ("cube", "box")], ids="-".join)
def test_corners_of_faces_are_those_of_4_0_in_the_same_order(kinds):
    """Faces that are turned against each other: up to eight corners, of which four are kept."""
    xml = text(*kinds)
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    d = cardan.MjData(m)
    poses = [
        [
            0,
            0,
            0,
            1,
            0,
            0,
            0,
            0.01 * k,
            0.013 * k,
            0.6 - DEEP,
            *product(quat((1, 0.3, 0), 1e-3), quat((0, 0, 1), 0.3 * k)),
        ]
        for k in range(1, 12)
    ]
    equal = 0
    for pose, (dist, pos, normal) in zip(poses, later_run(LATER, xml=xml, poses=np.array(poses)), strict=True):
        d.qpos[:] = pose
        cardan.mj_fwdPosition(m, d)
        assert d.ncon == len(dist) == 4
        if len(np.unique(pos.round(9), axis=0)) < 4:  # 4.0.0 takes a corner twice
            continue
        equal += 1
        np.testing.assert_allclose(d.contact.pos, pos, atol=1e-6)
        np.testing.assert_allclose(d.contact.dist, dist, atol=1e-6)
        np.testing.assert_allclose(d.contact.frame[:, :3], normal, atol=1e-6)
    assert equal >= 8
