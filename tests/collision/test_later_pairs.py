"""Pairs with other collision functions in MuJoCo 4.0 (``compat="4.0"``): two boxes, a plane and a mesh."""

from __future__ import annotations

import numpy as np
import pytest
from later import later_run

import cardan

POINTS = np.random.default_rng(4).normal(size=(20, 3))
POINTS = (POINTS / np.linalg.norm(POINTS, axis=1)[:, None] * [0.3, 0.25, 0.2]).round(3)
CUBE = np.array([[x, y, z] for x in (-0.2, 0.2) for y in (-0.25, 0.25) for z in (-0.3, 0.3)])
MESHES = {"round": POINTS, "cube": CUBE}
HALF = {"box": ".3 .2 .25", "flat": ".5 .4 .05"}
CONTACTS = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
out = []
for pose in poses:
    d.qpos[:] = pose
    mujoco.mj_fwdPosition(m, d)
    out.append((np.array(d.contact.dist), np.array(d.contact.pos), np.array(d.contact.frame)))
"""


def boxes(kind1: str, kind2: str, margin: float) -> str:
    """A model of two free boxes."""
    bodies = "".join(
        f'<body><freejoint/><geom type="box" size="{HALF[kind]}" margin="{margin}"/></body>' for kind in (kind1, kind2)
    )
    return f"<mujoco><worldbody>{bodies}</worldbody></mujoco>"


def mesh_on_plane(kind: str) -> str:
    """A model of a free mesh and a plane."""
    points = " ".join(map(str, MESHES[kind].ravel()))
    return (
        f'<mujoco><asset><mesh name="m" vertex="{points}"/></asset><worldbody><geom type="plane" size="1 1 1"/>'
        '<body><freejoint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
    )


def pose(rng: np.random.Generator, spread: float, tilt: float) -> np.ndarray:
    """A random position, and a rotation by up to `tilt` about a random axis."""
    axis = rng.normal(size=3)
    angle = rng.uniform(0, tilt)
    return np.concatenate(
        [rng.normal(size=3) * spread, [np.cos(angle / 2)], np.sin(angle / 2) * axis / np.linalg.norm(axis)]
    )


def check(xml: str, poses: np.ndarray, least: int, *, ordered: bool = False) -> None:
    """The contacts are those of 4.0.0, in any order unless `ordered`; at least `least` of them."""
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    d, number = cardan.MjData(m), 0
    for qpos, (dist, pos, frame) in zip(poses, later_run(CONTACTS, xml=xml, poses=poses), strict=True):
        d.qpos[:] = qpos
        cardan.mj_fwdPosition(m, d)
        assert d.ncon == len(dist), qpos
        number += d.ncon
        for k in range(d.ncon):
            gap = np.abs(pos - d.contact.pos[k]).max(axis=1) + np.abs(dist - d.contact.dist[k])
            gap += np.abs(frame - d.contact.frame[k]).max(axis=1)
            assert (gap[k] if ordered else gap.min()) < 1e-6, qpos
    assert number >= least


@pytest.mark.parametrize("margin", [0.0, 0.02])
@pytest.mark.parametrize("kinds", [("box", "box"), ("box", "flat")], ids="-".join)
@pytest.mark.parametrize("tilt", [0.05, 3.0])
def test_contacts_of_two_boxes(kinds, margin, tilt):
    rng = np.random.default_rng(7)
    poses = [np.concatenate([pose(rng, 0.15, 3.0), pose(rng, 0.15, tilt)]) for _ in range(60)]
    check(boxes(*kinds, margin), np.array(poses), 60, ordered=True)


@pytest.mark.parametrize("kind", MESHES)
@pytest.mark.parametrize("tilt", [0.05, 3.0])
def test_contacts_of_a_plane_and_a_mesh(kind, tilt):
    rng = np.random.default_rng(8)
    poses = np.array([pose(rng, 0.1, tilt) for _ in range(60)])
    poses[:, 2] = 0.2 + 0.05 * rng.normal(size=60)
    check(mesh_on_plane(kind), poses, 40)


def test_a_box_on_a_box_has_the_corners_of_the_overlap():
    m = cardan.MjModel.from_xml_string(boxes("flat", "box", 0.0), compat="4.0")
    d = cardan.MjData(m)
    d.qpos[7:10] = [0.1, 0.3, 0.29]
    cardan.mj_fwdPosition(m, d)
    np.testing.assert_allclose(d.contact.dist, [-0.01] * 4, atol=1e-9)
    corners = {(round(x, 6), round(y, 6)) for x, y, _ in d.contact.pos.tolist()}
    assert corners == {(x, y) for x in (-0.2, 0.4) for y in (0.1, 0.4)}


def test_edges_that_cross_have_one_contact():
    m = cardan.MjModel.from_xml_string(boxes("box", "box", 0.0), compat="4.0")
    d = cardan.MjData(m)
    s, c = np.sin(np.pi / 8), np.cos(np.pi / 8)
    d.qpos[3:7] = [c, s, 0, 0]
    d.qpos[7:] = [0, 0, 0.7, c, 0, s, 0]
    low = (0.2 + 0.25) / np.sqrt(2) + (0.3 + 0.25) / np.sqrt(2)
    d.qpos[9] = low - 0.01
    cardan.mj_fwdPosition(m, d)
    assert d.ncon == 1
    assert d.contact.dist[0] == pytest.approx(-0.01)
    np.testing.assert_allclose(d.contact.frame[0, :3], [0, 0, 1], atol=1e-9)


def test_meshes_on_a_plane_keep_their_contacts_in_3_1():
    m = cardan.MjModel.from_xml_string(mesh_on_plane("cube"))
    d = cardan.MjData(m)
    d.qpos[2] = 0.295
    cardan.mj_fwdPosition(m, d)
    assert d.ncon == 3
