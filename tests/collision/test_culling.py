"""Pairs that are apart are left out, and nothing else: boxes around geoms, and axes kept from earlier calls."""

from __future__ import annotations

import numpy as np
import pytest
from collision.harness import Pair, random_quat
from collision.shapes import KINDS, geom, two_geoms

import cardan
from cardan.collision.culling import boxes_apart
from cardan.jit.front.stage import jit_enabled

POSES = 100 if jit_enabled else 20
STEPS = 60 if jit_enabled else 2
WHOLE = ("dist", "pos", "frame", "geom")


@pytest.mark.parametrize("kinds", [("box", "box"), ("capsule", "cylinder"), ("ellipsoid", "mesh")], ids="-".join)
def test_boxes_are_apart_where_their_distance_says_so(kinds):
    m = cardan.MjModel.from_xml_string(two_geoms(*kinds))
    box = cardan.MjModel.from_xml_string(two_geoms("box", "box"))
    box.geom_size[:] = m.geom_aabb[:, 3:]
    d, boxes = cardan.MjData(m), cardan.MjData(box)
    rng = np.random.default_rng(0)
    apart = 0
    for _ in range(POSES):
        for k in range(2):
            xmat = np.linalg.qr(rng.normal(size=(3, 3)))[0]
            d.geom_xpos[k] = rng.normal(size=3) * 0.5
            d.geom_xmat[k] = boxes.geom_xmat[k] = (xmat * np.linalg.det(xmat)).ravel()
            boxes.geom_xpos[k] = d.geom_xpos[k] + d.geom_xmat[k].reshape(3, 3) @ m.geom_aabb[k, :3]
        distance = cardan.mj_geomDistance(box, boxes, 0, 1, 10.0, None)
        for margin in (0.0, 0.1):
            found = boxes_apart(m.view, d.view, 0, 1, margin)
            assert not (found and distance <= margin)
            assert found or distance < 1.8 * margin + 1e-6
            apart += found
    assert apart > 0


def scene(seed: int) -> str:
    """Bodies of several shapes and hulls of random points, close together."""
    rng = np.random.default_rng(seed)
    meshes, bodies = [], []
    for k in range(6):
        points = rng.normal(size=(60, 3)) * rng.uniform(0.05, 0.2, size=3)
        meshes.append(f'<mesh name="m{k}" vertex="{" ".join(map(str, points.round(6).ravel()))}"/>')
        bodies.append(f'<body><freejoint/><geom type="mesh" mesh="m{k}" margin="{0.02 * (k % 2)}"/></body>')
    for kind in ("ellipsoid", "cylinder", "capsule"):
        bodies.append(f"<body><freejoint/>{geom(kind)}</body>")
    return f"<mujoco><asset>{''.join(meshes)}</asset><worldbody>{''.join(bodies)}</worldbody></mujoco>"


def contacts(m: cardan.MjModel, d: cardan.MjData, qpos: np.ndarray) -> list[bytes]:
    """All bits of the contacts in a configuration."""
    d.qpos[:] = qpos
    cardan.mj_kinematics(m, d)
    cardan.mj_comPos(m, d)
    cardan.mj_collision(m, d)
    return [getattr(d.contact, name).tobytes() for name in WHOLE]


def walk(m: cardan.MjModel, rng: np.random.Generator) -> list[np.ndarray]:
    """Configurations one after the other in which all bodies move a little."""
    bodies = m.nq // 7
    start = np.hstack([rng.normal(size=(bodies, 3)) * 0.3, [random_quat(rng) for _ in range(bodies)]])
    drift = rng.normal(size=start.shape) * 0.002
    return [(start + k * drift).ravel() for k in range(STEPS)]


@pytest.mark.parametrize("seed", range(3))
def test_contacts_do_not_depend_on_what_was_computed_before(seed):
    m = cardan.MjModel.from_xml_string(scene(seed))
    used = cardan.MjData(m)
    found = 0
    for qpos in walk(m, np.random.default_rng(seed)):
        assert contacts(m, used, qpos) == contacts(m, cardan.MjData(m), qpos)
        found += used.ncon
    assert found > 0
    assert (np.array(used._memory.arrays["work.axis_pair"]) != 0).any()


def folded(m: cardan.MjModel, mesh: int) -> int:
    """Push a vertex of a mesh's hull inwards, so that the hull is not convex there; returns the vertex."""
    graph = m.mesh_graphadr[mesh]
    nvert = m.mesh_graph[graph]
    vertex = m.mesh_vertadr[mesh] + m.mesh_graph[graph + 2 + nvert]
    m.mesh_vert[vertex] *= 0.3
    m.finalize()
    return int(vertex)


def test_hulls_of_points_are_convex_everywhere():
    m = cardan.MjModel.from_xml_string(scene(0))
    certain = np.array(m._memory.arrays["aux.vertex_certain"])
    for mesh in range(m.nmesh):
        graph, first = m.mesh_graphadr[mesh], m.mesh_vertadr[mesh]
        nvert = m.mesh_graph[graph]
        on_hull = np.zeros(m.mesh_vertnum[mesh], bool)
        on_hull[m.mesh_graph[graph + 2 + nvert : graph + 2 + 2 * nvert]] = True
        assert (certain[first : first + m.mesh_vertnum[mesh]] == on_hull).all()


def test_a_hull_that_is_not_convex_is_uncertain_there():
    m = cardan.MjModel.from_xml_string(scene(0))
    before = np.array(m._memory.arrays["aux.vertex_certain"])
    vertex = folded(m, 0)
    after = np.array(m._memory.arrays["aux.vertex_certain"])
    assert before[vertex] == 1
    assert after[vertex] == 0
    assert after.sum() < before.sum()
    used = cardan.MjData(m)
    for qpos in walk(m, np.random.default_rng(5)):
        assert contacts(m, used, qpos) == contacts(m, cardan.MjData(m), qpos)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "sphere"])
def test_an_edited_size_is_seen(kind):
    """Boxes around shapes follow their sizes."""
    pair = Pair(two_geoms(kind, "ellipsoid"))
    pair.set_pose(1, [0, 0, 0], [1, 0, 0, 0])
    pair.set_pose(2, [0, 0, 1.0], [1, 0, 0, 0])
    pair.collide()
    assert pair.data.ncon == 0
    pair.model.geom_size[1] *= 2.5
    pair.model.geom_rbound[1] *= 2.5
    pair.collide()
    assert pair.data.ncon == 1
