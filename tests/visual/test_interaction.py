"""The mouse, perturbations, selection, cameras in room and model: beside the reference."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import mujoco
import numpy as np
import pytest
from models import model_path
from visual.scenes_compared import Pair, filled, scene

import cardan

OFFSET = """
<mujoco>
  <worldbody>
    <geom type="plane" size="2 2 .1" pos="0 0 -1"/>
    <body name="a" pos="0 0 1" euler="10 20 30">
      <freejoint/>
      <geom type="box" size=".1 .2 .3" pos=".05 .1 .2" euler="40 0 10"/>
      <body name="b" pos=".5 0 0" euler="0 20 0">
        <joint axis="0 1 0" pos=".1 0 0"/>
        <geom type="box" size=".1 .05 .2" pos=".3 .1 0" euler="0 20 10"/>
      </body>
    </body>
    <body name="m" mocap="true" pos="2 0 0">
      <geom size=".1" pos=".1 .2 .3"/>
      <geom type="box" size=".1 .2 .3" euler="10 20 30"/>
    </body>
    <body name="static" pos="0 3 0"><geom size=".1"/></body>
  </worldbody>
</mujoco>"""
CAMERA = {"lookat": [0.3, 0.1, 0.9], "distance": 4.0, "azimuth": 37.0, "elevation": -28.0}
TRANSFORM = {"enabletransform": 1, "translate": [1, 2, 3], "rotate": [0.8, 0.6, 0, 0], "scale": 2.0}
SIDES = ((mujoco, "r"), (cardan, ""))


@pytest.fixture(scope="module")
def pair() -> Pair:
    return Pair(OFFSET)


def both(pair: Pair) -> Iterator[tuple[ModuleType, Any, Any]]:
    """Package, model and data of both engines."""
    yield mujoco, pair.rm, pair.rd
    yield cardan, pair.m, pair.d


def same(left: Any, right: Any) -> None:
    """Members of two structures agree."""
    for row in (row for row in right.table if row.since is None):
        np.testing.assert_allclose(getattr(right, row.name), getattr(left, row.name), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("action", range(1, 6))
@pytest.mark.parametrize("kind", range(4))
def test_moving_the_camera(pair: Pair, action: int, kind: int) -> None:
    cameras = []
    for package, m, d in both(pair):
        scn = scene(package, m, d, camera=CAMERA)
        cam = filled(package.MjvCamera(), {**CAMERA, "type": kind, "trackbodyid": 1, "lookat": [0.5, 0, 0]})
        for dx, dy in ((0.11, -0.07), (-2.0, 0.3), (0.5, -0.9), (1.3, 3.0)):
            package.mjv_moveCamera(m, action, dx, dy, scn, cam)
        cameras.append(cam)
    same(*cameras)


@pytest.mark.parametrize("action", range(1, 6))
@pytest.mark.parametrize("up", [(0, 0, 1), (0, 1, 0)])
def test_moving_the_model(pair: Pair, action: int, up: tuple[float, float, float]) -> None:
    scenes = []
    for package, m, d in both(pair):
        scn = filled(scene(package, m, d, camera=CAMERA), TRANSFORM)
        for dx, dy in ((0.11, -0.07), (0.4, 0.2)):
            package.mjv_moveModel(m, action, dx, dy, np.array(up, float), scn)
        scenes.append(np.hstack([scn.translate, scn.rotate, scn.scale]))
    np.testing.assert_allclose(*scenes, rtol=1e-5, atol=1e-5)


def test_moving_the_model_needs_its_flag(pair: Pair) -> None:
    scn = scene(cardan, pair.m, pair.d, camera=CAMERA)
    cardan.mjv_moveModel(pair.m, 3, 0.5, 0.5, [0, 0, 1], scn)
    assert scn.translate.tolist() == [0, 0, 0]


@pytest.mark.parametrize("action", range(1, 6))
@pytest.mark.parametrize("body", [1, 2, 3, 4])
def test_moving_a_perturbation(pair: Pair, action: int, body: int) -> None:
    perturbations = []
    for package, m, d in both(pair):
        scn = scene(package, m, d, camera=CAMERA)
        pert = filled(package.MjvPerturb(), {"select": body, "localpos": [0.1, 0.2, 0.3]})
        package.mjv_initPerturb(m, d, scn, pert)
        for dx, dy in ((0.11, -0.07), (0.2, 0.1), (0.3, 0.2)):
            package.mjv_movePerturb(m, d, action, dx, dy, scn, pert)
        perturbations.append(pert)
    same(*perturbations)


@pytest.mark.parametrize("body", [-1, 0, 99])
def test_nothing_is_selected(pair: Pair, body: int) -> None:
    pert = filled(cardan.MjvPerturb(), {"select": body, "active": 3})
    before = pair.d.xfrc_applied.copy()
    cardan.mjv_initPerturb(pair.m, pair.d, cardan.MjvScene(), pert)
    cardan.mjv_applyPerturbForce(pair.m, pair.d, pert)
    cardan.mjv_applyPerturbPose(pair.m, pair.d, pert, 1)
    assert pert == filled(cardan.MjvPerturb(), {"select": body, "active": 3})
    np.testing.assert_array_equal(pair.d.xfrc_applied, before)


@pytest.mark.parametrize("active", [(1, 0), (2, 0), (3, 0), (0, 1), (0, 2), (0, 0)])
@pytest.mark.parametrize("body", [1, 2])
def test_forces_of_a_perturbation(active: tuple[int, int], body: int) -> None:
    forces = []
    for package, m, d in both(Pair(OFFSET)):
        d.qvel[:] = [0.3, -0.2, 0.1, 0, 0, 0, 0.7] if active[0] == 2 else [0.3, -0.2, 0.1, 0, 0, 0, 0]
        package.mj_forward(m, d)
        pert = filled(package.MjvPerturb(), {"select": body, "localpos": [0.1, 0.2, 0.3]})
        package.mjv_initPerturb(m, d, scene(package, m, d, camera=CAMERA), pert)
        pert.active, pert.active2 = active
        pert.refselpos = pert.refselpos + [0.1, -0.2, 0.3]
        pert.refquat = [0.6, 0.8, 0, 0]
        d.xfrc_applied[:] = 1
        package.mjv_applyPerturbForce(m, d, pert)
        forces.append(d.xfrc_applied.copy())
    np.testing.assert_allclose(*forces, rtol=1e-6, atol=1e-6)  # the reference keeps stiffness in single precision


@pytest.mark.parametrize("body", [3, 4])
def test_bodies_that_cannot_be_pulled(pair: Pair, body: int) -> None:
    before = pair.d.xfrc_applied.copy()
    pert = filled(cardan.MjvPerturb(), {"select": body, "active": 3, "localmass": 1, "refselpos": [1, 2, 3]})
    cardan.mjv_applyPerturbForce(pair.m, pair.d, pert)
    np.testing.assert_array_equal(pair.d.xfrc_applied, before)


@pytest.mark.parametrize("paused", [0, 1])
@pytest.mark.parametrize("body", [1, 2, 3, 4])
def test_poses_of_a_perturbation(body: int, paused: int) -> None:
    poses = []
    for package, m, d in both(Pair(OFFSET)):
        pert = filled(package.MjvPerturb(), {"select": body, "active": 2, "refpos": [0.1, 0.2, 0.3]})
        pert.refquat = [0.6, 0.8, 0, 0]
        package.mjv_applyPerturbPose(m, d, pert, paused)
        poses.append(np.hstack([d.qpos, d.mocap_pos.ravel(), d.mocap_quat.ravel()]))
    np.testing.assert_allclose(*poses, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("transform", [{}, TRANSFORM])
def test_cameras_in_room_and_model(pair: Pair, transform: dict[str, Any]) -> None:
    results = []
    for package, m, d in both(pair):
        scn = filled(scene(package, m, d, camera=CAMERA), transform)
        vectors = np.zeros((6, 3))
        package.mjv_cameraInModel(*vectors[:3], scn)
        package.mjv_cameraInRoom(*vectors[3:], scn)
        scn.camera[1].frustum_top, scn.camera[1].forward = 0.5, [1, 0, 0]
        results.append((vectors, package.mjv_frustumHeight(scn), package.mjv_averageCamera(*scn.camera)))
    (left, height, mean), (right, own_height, own_mean) = results
    np.testing.assert_allclose(right, left, rtol=1e-6, atol=1e-6)
    assert own_height == pytest.approx(height, rel=1e-6)
    same(mean, own_mean)


def test_room_and_model_are_inverse(pair: Pair) -> None:
    pos, quat = np.array([0.1, 0.2, 0.3]), np.array([0.6, 0.0, 0.8, 0.0])
    results = []
    for package, m, d in both(pair):
        scn = filled(scene(package, m, d), TRANSFORM)
        there = np.zeros(3), np.zeros(4)
        package.mjv_room2model(*there, pos, quat, scn)
        results.append(np.hstack(there))
    np.testing.assert_allclose(*results, rtol=1e-6, atol=1e-6)  # rotations of scenes are in single precision
    back = np.zeros(3), np.zeros(4)
    cardan.mjv_model2room(*back, *there, scn)
    np.testing.assert_allclose(np.hstack(back), np.hstack([pos, quat]), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("forward", [(0.6, 0.8, 5.0), (0.0, 0.0, 1.0), (3.0, 1.0, 5.0), (-1.0, 0.0, 0.0)])
def test_aligning_to_the_camera(forward: tuple[float, float, float]) -> None:
    results = np.zeros((2, 3))
    for package, out in zip((mujoco, cardan), results, strict=True):
        package.mjv_alignToCamera(out, np.array([1.0, 2.0, 3.0]), np.array(forward))
    np.testing.assert_allclose(*results, rtol=1e-12)


def selected(package: ModuleType, m: Any, d: Any, scn: Any, x: float, y: float, **option: Any) -> list[float]:
    """What `mjv_select` finds: body, ids, point."""
    point, ids = np.zeros(3), np.zeros((3, 1), np.int32)
    opt = filled(package.MjvOption(), option)
    body = package.mjv_select(m, d, opt, 1.5, x, y, scn, point, *ids)
    return [body, *ids.ravel(), *point]


@pytest.mark.parametrize(("name", "height"), [("humanoid", 1.2), ("flag", 1.0), ("flag_flex", 1.4)])
def test_selection(name: str, height: float) -> None:
    pair = Pair(model_path(name), steps=3)
    camera = {"lookat": [0, 0.1, height], "distance": 1.5}
    found = {"mujoco": [], "cardan": []}
    for package, m, d in both(pair):
        scn = scene(package, m, d, camera=camera)
        for x, y in np.random.default_rng(0).uniform(0, 1, (20, 2)):
            found[package.__name__].append(selected(package, m, d, scn, x, y))
            found[package.__name__].append(selected(package, m, d, scn, x, y, geomgroup=0, skingroup=0))
    np.testing.assert_allclose(found["cardan"], found["mujoco"], rtol=1e-5, atol=1e-5)
    assert len({row[0] for row in found["cardan"]}) > 2


def test_bad_arguments(pair: Pair) -> None:
    scn = scene(cardan, pair.m, pair.d)
    with pytest.raises(cardan.FatalError, match="unexpected action 9"):
        cardan.mjv_moveCamera(pair.m, 9, 0, 0, scn, cardan.MjvCamera())
    with pytest.raises(cardan.FatalError, match="frustum_near too small"):
        cardan.mjv_frustumHeight(cardan.MjvScene())
    with pytest.raises(TypeError, match="pert must be an MjvPerturb"):
        cardan.mjv_initPerturb(pair.m, pair.d, scn, None)
    with pytest.raises(TypeError, match="headpos should be"):
        cardan.mjv_cameraInRoom(np.zeros(2), np.zeros(3), np.zeros(3), scn)
