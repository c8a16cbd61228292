"""Poses of bodies, geoms and sites have the reference's last bits, which decide ties between contacts.

Hulls whose faces are exactly parallel have several deepest points, and portal refinement takes one of them by rounding.
The reference is built without fused multiplication and addition on x86 only, so these tests are for x86.
"""

from __future__ import annotations

import platform
from pathlib import Path

import mujoco
import numpy as np
import pytest
from models_random import Features, random_model

import cardan

pytestmark = pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"), reason="the reference rounds in another way elsewhere"
)

MODELS = sorted((Path(__file__).parents[1] / "models").glob("*.xml"))
POSES = ("xpos", "xquat", "xmat", "xipos", "ximat", "xanchor", "xaxis", "geom_xpos", "geom_xmat")
STATIC = ("body_pos", "body_quat", "geom_pos", "geom_quat", "jnt_pos", "jnt_axis", "body_ipos", "body_iquat")
BRICK = "0 0 0 .3 0 0 0 .2 0 .3 .2 0 0 0 .1 .3 0 .1 0 .2 .1 .3 .2 .1"


def random_configuration(ref: mujoco.MjModel, rng: np.random.Generator) -> np.ndarray:
    """A configuration around qpos0."""
    qpos = ref.qpos0.copy()
    mujoco.mj_integratePos(ref, qpos, rng.normal(size=ref.nv), 1.0)
    return qpos


def both(ref: mujoco.MjModel, m: cardan.MjModel, qpos: np.ndarray) -> tuple[mujoco.MjData, cardan.MjData]:
    """Poses and contacts of one configuration in both engines."""
    ref_data, data = mujoco.MjData(ref), cardan.MjData(m)
    ref_data.qpos[:] = data.qpos[:] = qpos
    mujoco.mj_fwdPosition(ref, ref_data)
    cardan.mj_fwdPosition(m, data)
    return ref_data, data


def check_poses(xml: str, seed: int) -> None:
    """Compare poses of some configurations, of the same model in both engines."""
    ref, m = mujoco.MjModel.from_xml_string(xml), cardan.MjModel.from_xml_string(xml)
    for name in STATIC:
        getattr(m, name)[:] = getattr(ref, name)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        ref_data, data = both(ref, m, random_configuration(ref, rng))
        for name in POSES:
            np.testing.assert_array_equal(getattr(data, name), getattr(ref_data, name), err_msg=name)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_poses_of_the_projects_models(path):
    check_poses(path.read_text(), 0)


@pytest.mark.parametrize("seed", range(20))
def test_poses_of_random_models(seed):
    check_poses(random_model(seed, Features(bodies=12)), seed)


def test_contacts_of_bricks_that_slide_along_each_other():
    """Their faces stay exactly parallel, whatever the joints do: a tie in every configuration."""
    xml = f"""
        <mujoco>
          <asset><mesh name="brick" vertex="{BRICK}"/></asset>
          <worldbody>
            <body euler="12 34 56">
              <joint axis="1 2 3"/><geom type="mesh" mesh="brick"/>
              <body pos=".01 .02 .03">
                <joint type="slide" axis="1 0 0"/><geom type="mesh" mesh="brick" pos=".02 .01 .05"/>
                <body pos=".11 .1 .06"><joint type="slide" axis="0 1 0"/><geom type="mesh" mesh="brick"/></body>
              </body>
            </body>
          </worldbody>
        </mujoco>"""
    ref, m = mujoco.MjModel.from_xml_string(xml), cardan.MjModel.from_xml_string(xml)
    rng = np.random.default_rng(0)
    count = 0
    for _ in range(200):
        ref_data, data = both(ref, m, ref.qpos0 + rng.uniform(-0.05, 0.05, size=ref.nq) * [10.0, 1.0, 1.0])
        assert data.contact.geom.tolist() == ref_data.contact.geom.tolist()
        count += data.ncon
        for name in ("dist", "pos", "frame"):
            np.testing.assert_allclose(getattr(data.contact, name), getattr(ref_data.contact, name), atol=1e-9)
    assert count == 200


def test_meshes_of_bodies_fused_with_their_parent():
    """The pose of a mesh in its body is rounded before the body's pose in its parent comes on top."""
    vertices = " ".join(map(str, np.random.default_rng(0).uniform(-0.1, 0.1, 60).round(3)))
    parts = "".join(
        f'<body pos=".{k} 0 .1" euler="{7 * k} {k} {-3 * k}">'
        f'<geom type="mesh" mesh="hull" euler="{k} {5 * k} 2" pos="0 .{k} 0"/></body>'
        for k in range(1, 10)
    )
    xml = f"""
        <mujoco>
          <compiler fusestatic="true"/>
          <asset><mesh name="hull" vertex="{vertices}"/></asset>
          <worldbody><body><freejoint/><geom size=".1"/><body euler="3 4 5">{parts}</body></body></worldbody>
        </mujoco>"""
    ref, m = mujoco.MjModel.from_xml_string(xml), cardan.MjModel.from_xml_string(xml)
    assert m.nbody == ref.nbody == 2
    np.testing.assert_array_equal(m.geom_quat, ref.geom_quat)
    np.testing.assert_array_equal(m.geom_pos, ref.geom_pos)


def test_axes_of_joints():
    """They are divided by their length, which rounds differently from a product with its inverse."""
    rng = np.random.default_rng(0)
    axes = rng.normal(size=(50, 3)).round(3)
    bodies = "".join(f'<body><joint axis="{x} {y} {z}"/><geom size=".1"/></body>' for x, y, z in axes)
    xml = f"<mujoco><worldbody>{bodies}</worldbody></mujoco>"
    ref, m = mujoco.MjModel.from_xml_string(xml), cardan.MjModel.from_xml_string(xml)
    np.testing.assert_array_equal(m.jnt_axis, ref.jnt_axis)
