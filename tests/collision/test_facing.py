"""Contacts of two polytopes at a face, found without a search: the same as those of a search, or not found."""

from __future__ import annotations

import numpy as np
import pytest

import cardan
from cardan.collision.distance import has_faces, load_core
from cardan.collision.facing import touches_face
from cardan.collision.stationary import touches_smoothly
from cardan.jit.front.stage import jit_enabled
from cardan.model import internals

POSES = 120 if jit_enabled else 12
CUBE = [[x, y, z] for x in (-0.2, 0.2) for y in (-0.25, 0.25) for z in (-0.3, 0.3)]
ANGLES = np.arange(6) * np.pi / 3
PRISM = [[0.25 * np.cos(a), 0.25 * np.sin(a), z] for z in (-0.2, 0.2) for a in ANGLES]
ROUND = np.random.default_rng(4).normal(size=(30, 3))
ROUND *= 0.25 / np.linalg.norm(ROUND, axis=1)[:, None]
MESHES = {"cube": CUBE, "prism": PRISM, "round": ROUND}
KINDS = {
    "box": 'type="box" size=".2 .25 .3"',
    "cylinder": 'type="cylinder" size=".25 .3"',
    "ellipsoid": 'type="ellipsoid" size=".2 .25 .3"',
    "capsule": 'type="capsule" size=".2 .3"',
    "sphere": 'size=".2"',
    "plate": 'type="box" size=".6 .5 .02"',
    **{name: f'type="mesh" mesh="{name}"' for name in MESHES},
}
REACH = 0.02
"""Distance below which there is a contact, m."""
TILTS = (0.0, 1e-9, 1e-6, 1e-3, 0.05, 3.0)


def pair(kind1: str, kind2: str) -> tuple[cardan.MjModel, cardan.MjData]:
    """Two free geoms with one contact, at the exact distance."""
    assets = "".join(
        f'<mesh name="{name}" vertex="{" ".join(f"{x:.7f}" for x in np.ravel(points))}"/>'
        for name, points in MESHES.items()
    )
    bodies = "".join(f'<body><freejoint/><geom {KINDS[kind]} margin="{REACH / 2}"/></body>' for kind in (kind1, kind2))
    text = f"<mujoco><asset>{assets}</asset><worldbody>{bodies}</worldbody></mujoco>"
    m = cardan.MjModel.from_xml_string(text, compat="4.0")
    m.opt.enableflags &= ~int(cardan.mjtEnableBit.mjENBL_MULTICCD)
    return m, cardan.MjData(m)


def place(m: cardan.MjModel, d: cardan.MjData, rng: np.random.Generator, tilt: float, distance: float) -> float:
    """Place the second geom at about `distance` from the first one; returns the distance that a search finds."""
    axis = rng.normal(size=3)
    axis *= np.sin(rng.uniform(0, tilt) / 2) / np.linalg.norm(axis)
    d.qpos[10:] = [np.sqrt(1 - axis @ axis), *axis]
    d.qpos[7:10] = rng.normal(size=3) * rng.choice([1.0, 0.05], size=3)
    found = np.inf
    for _ in range(6):
        cardan.mj_kinematics(m, d)
        found = cardan.mj_geomDistance(m, d, 0, 1, 10.0, None)
        if not abs(found - distance) > 1e-9:
            break
        along = d.geom_xpos[1] - d.geom_xpos[0]
        d.qpos[7:10] += along / np.linalg.norm(along) * (distance - found)
    return found


PAIRS = [
    ("box", "cube"),
    ("plate", "prism"),
    ("cube", "cube"),
    ("round", "prism"),
    ("ellipsoid", "plate"),
    ("cylinder", "plate"),
    ("cylinder", "cylinder"),
    ("capsule", "cube"),
    ("sphere", "prism"),
]


@pytest.mark.parametrize("kinds", PAIRS, ids="-".join)
def test_contacts_have_the_distance_that_a_search_finds(kinds):
    m, d = pair(*kinds)
    rng = np.random.default_rng(0)
    at_face = 0
    for k in range(POSES):
        distance = place(m, d, rng, TILTS[k % len(TILTS)], rng.choice([-1e-5, -1e-3, -0.02, -0.1, 5e-3]))
        if distance > REACH:  # along the line between the centres, a plate may not come closer
            continue
        radii = sum(load_core(m.view, d.view, shape, shape) for shape in range(2))
        internals.array(d, "work.shape_vertex")[:] = 0
        if touches_face(m.view, d.view, 0, 1, 1.0):
            at_face += 1
            assert -internals.number(d, "work.overlap_depth") - radii == pytest.approx(distance, abs=1e-9)
            apart = np.diff(internals.array(d, "work.witness"), axis=0)[0]
            normal = internals.array(d, "work.overlap_normal")[0]
            np.testing.assert_allclose(apart, (distance + radii) * normal, atol=1e-9)
        cardan.mj_collision(m, d)
        np.testing.assert_allclose(d.contact.dist, [distance], atol=1e-9)
    assert at_face > POSES / 12


@pytest.mark.parametrize("kinds", [("ellipsoid", "ellipsoid"), ("sphere", "ellipsoid")], ids="-".join)
def test_smooth_shapes_have_the_distance_that_a_search_finds(kinds):
    m, d = pair(*kinds)
    rng = np.random.default_rng(1)
    smooth = 0
    for k in range(POSES):
        distance = place(m, d, rng, TILTS[k % len(TILTS)], rng.choice([-1e-5, -1e-3, -0.02, -0.1, -0.3, 5e-3]))
        radii = sum(load_core(m.view, d.view, shape, shape) for shape in range(2))
        if touches_smoothly(m.view, d.view, 1.0):
            smooth += 1
            assert -internals.number(d, "work.overlap_depth") - radii == pytest.approx(distance, abs=1e-9)
        cardan.mj_collision(m, d)
        np.testing.assert_allclose(d.contact.dist, [distance], atol=1e-9)
    assert smooth > POSES / 2


def test_round_shapes_have_no_faces():
    m = cardan.MjModel.from_xml_string(
        '<mujoco><worldbody><body><freejoint/><geom type="box" size=".1 .1 .1"/></body>'
        '<body><freejoint/><geom type="capsule" size=".1 .1"/></body></worldbody></mujoco>'
    )
    d = cardan.MjData(m)
    cardan.mj_kinematics(m, d)
    for shape in range(2):
        load_core(m.view, d.view, shape, shape)
    assert has_faces(d.view, 0)
    assert not has_faces(d.view, 1)
